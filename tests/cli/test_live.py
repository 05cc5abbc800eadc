"""The live screen: what it draws for each event, without a terminal."""

from __future__ import annotations

import io

import msgspec
import pytest
from rich.console import Console
from rich.live import Live
from tests.race.test_least import large, plan

from bakeoff.cli.live import BAR, STEPS, LiveScreen, bar
from bakeoff.cli.progress import Lines
from bakeoff.cli.telling import to_come
from bakeoff.race.progress import (
    BlockTimed,
    ContenderActivity,
    Finished,
    Prepared,
    ReadingData,
    RoundEnded,
    RoundStarted,
    TrialStarted,
)
from bakeoff.report.units import elapsed
from bakeoff.spec.trial import KINDS, Purpose
from bakeoff.spec.verdict import Verdict


def verdict(ratio: float, low: float | None, high: float | None, rounds: int = 3) -> Verdict:
    """Return an undecided verdict by the present rules."""
    known = {"ratio": ratio, "low": low, "high": high, "rounds": rounds}
    return Verdict(first="torch", second="jax", verdict="undecided", fewest=5, level=0.95, **known)


def round_ended(number: int, **changes: object) -> RoundEnded:
    """Return the end of a round of 10 s."""
    pair = verdict(1.5, 1.2, 1.9, number)
    fields = {"max_rounds": 20, "elapsed_s": 30.0, "left_s": 60.0, "round_s": 10.0, "verdicts": (pair,)} | changes
    return RoundEnded(round_number=number, **fields)


def screen(encoding: str = "utf-8") -> tuple[LiveScreen, Console]:
    """Return a live screen of 80 columns and its console."""
    console = Console(file=io.TextIOWrapper(io.BytesIO(), encoding=encoding), width=80, force_terminal=True)
    return LiveScreen(Live(console=console, auto_refresh=False)), console


def drawn(live: LiveScreen) -> str:
    """Return what a screen of 80 columns shows, on paper wide enough that nothing is broken."""
    console = Console(file=io.StringIO(), width=300)
    console.print(live.drawing())
    return console.file.getvalue()


def test_every_kind_of_trial_is_a_step_in_words() -> None:
    """Whatever is run, the screen has a word for it."""
    assert set(STEPS) == set(KINDS)


def test_the_screen_follows_a_race() -> None:
    """The step so far is the median of the round's blocks; a pair has its interval beside its ratio."""
    live, _ = screen()
    live(TrialStarted("r01-jax", "jax", "time"))
    live(RoundStarted(1, ("jax",)))
    for step_s in (0.001, 0.002, 0.009):
        live(BlockTimed("jax", step_s))
    live(ContenderActivity("torch in float64", "computing"))
    live(round_ended(3))
    text = drawn(live)
    assert "now race, round 1" in text
    assert "torch / jax" in text
    assert "1.5 (1.2 to 1.9) interim" in text


def test_what_computes_the_reference_is_no_contender() -> None:
    """It is told beside the steps, and has no line of its own."""
    live, _ = screen()
    live(TrialStarted("reference", "torch in float64", "reference"))
    assert "torch in float64: starting" in drawn(live)
    live(Finished("budget"))
    assert "finished: the time budget is spent" in drawn(live)


def test_a_budget_that_is_spent_is_no_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """What has begun may end behind the budget: the clock then names it beside, and is no part of it."""
    live, _ = screen()
    live._budget_s, now = 20.0, live._began_s  # as a comparison would set it
    for passed_s, clock in ((19.0, "19 s of 20 s"), (26.0, "26 s (budget 20 s)")):
        monkeypatch.setattr("bakeoff.cli.live.time.monotonic", lambda at=now + passed_s: at)
        assert clock in drawn(live)


def test_a_step_that_is_taken_up_again_is_the_one_that_is_done_now() -> None:
    """Rounds may go on behind a self-test: the screen then says so, and counts both."""
    live, _ = screen()
    for purpose in ("time", "selftest", "time"):
        live(TrialStarted(f"{purpose}-jax", "jax", purpose))
    text = drawn(live)
    assert "now race" in text
    assert text.count("race") == 1
    assert "timers' self-test 0 s" in text


@pytest.mark.parametrize("first", ["torch", "tensorflow:mode=compiled", "x" * 60])
def test_a_pair_has_one_line_of_80_columns(first: str) -> None:
    """However long names are the bar takes what they leave, and is left out where that is too little."""
    live, _ = screen()
    pair = verdict(1.66, 1.64, 1.68)
    named = Verdict(**{name: getattr(pair, name) for name in pair.__struct_fields__} | {"first": first})
    live(round_ended(3, verdicts=(named,)))
    (line,) = [one for one in drawn(live).splitlines() if "interim" in one]
    assert len(line.rstrip()) <= max(80, len(first) + len(" / jax  1.66 (1.64 to 1.68) interim"))
    assert ("\N{BLACK CIRCLE}" in line) is (len(first) < 40)


def test_times_of_the_last_round_stay_until_there_are_others() -> None:
    """While processes start nothing new is known, and what is known is not taken away."""
    live, _ = screen()
    live(BlockTimed("jax", 0.001))
    live._doing = {"jax": ""}
    live(RoundStarted(2, ("jax",)))
    assert "1.0 ms" in drawn(live)
    live(BlockTimed("jax", 0.003))
    assert "3.0 ms" in drawn(live)


def test_what_was_to_come_goes_with_the_rounds() -> None:
    """Behind the verdict nothing says how long rounds will take."""
    live, _ = screen()
    live(round_ended(3))
    assert "until a verdict is possible" in drawn(live)
    live(TrialStarted("late-jax", "jax", "late"))
    assert "until a verdict is possible" not in drawn(live)


@pytest.mark.parametrize("is_ascii", [True, False])
def test_a_bar_narrows(is_ascii: bool) -> None:  # noqa: FBT001 - a parameter of the table above
    """A wide interval takes more of the axis than a narrow one; both show the ratio, and equality where it is free."""
    reach = (0.8, 3.0)
    wide, narrow = (bar(verdict(2.0, *ends), reach, is_ascii=is_ascii) for ends in ((1.2, 3.0), (1.9, 2.1)))
    assert len(wide) == len(narrow) == BAR
    assert wide.count(" ") < narrow.count(" ")
    for drawn_bar in (wide, narrow):
        assert ("|" if is_ascii else "\N{BOX DRAWINGS LIGHT VERTICAL}") in drawn_bar
        assert ("o" if is_ascii else "\N{BLACK CIRCLE}") in drawn_bar
        assert not is_ascii or drawn_bar.isascii()
    undecided = bar(verdict(1.05, 0.9, 1.2), reach, is_ascii=is_ascii)
    assert ("+" if is_ascii else "\N{BOX DRAWINGS VERTICAL LIGHT AND HORIZONTAL HEAVY}") in undecided
    assert bar(verdict(1.0, None, None, 1), (1.0, 1.0), is_ascii=True).count("o") == 1


def test_what_is_to_come_is_by_the_looks() -> None:
    """Before the first look the rounds until it count, then those that the open pairs are thought to need."""
    assert to_come(round_ended(3)) == "about 20 s until a verdict is possible (2 rounds)"
    open_pair = verdict(1.1, 0.9, 1.3, 6)
    more = Verdict(**{name: getattr(open_pair, name) for name in open_pair.__struct_fields__} | {"more_rounds": 4})
    assert to_come(round_ended(6, verdicts=(more,))) == "about 40 s to a full answer (4 rounds)"
    assert to_come(round_ended(6, verdicts=(more,), max_rounds=7)) == ""
    assert to_come(round_ended(6, verdicts=())) == ""


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0.4, "0 s"), (99.4, "99 s"), (125, "2 min 05 s"), (3599, "59 min 59 s"), (3900, "1 h 05 min")],
)
def test_a_clock_is_read_at_a_glance(seconds: float, said: str) -> None:
    """Seconds alone are shown as long as two digits hold them."""
    assert elapsed(seconds) == said


@pytest.mark.parametrize(("left_s", "is_said"), [(60.0, True), (0.0, False), (None, False)])
def test_behind_the_last_round_nothing_is_said_to_be_left(left_s: float | None, is_said: object) -> None:
    """Late steps, self-tests and peaks follow it: of a large model they take minutes."""
    event = round_ended(1, left_s=left_s, max_rounds=1, verdicts=())
    log, (live, _) = io.StringIO(), screen()
    for observe in (Lines(log), live):
        observe(event)
    for said in (log.getvalue(), drawn(live)):
        assert ("at most" in said) == is_said


def test_data_that_are_read_are_told() -> None:
    """Before the comparison is there: a file's own data may take minutes, in which nothing else is told."""
    log = io.StringIO()
    Lines(log)(ReadingData("own"))
    assert log.getvalue().endswith("reading the data: own\n")
    live, _ = screen()
    live(ReadingData("own"))
    assert "reading the data: own" in drawn(live)


@pytest.mark.parametrize(
    ("macs", "purpose", "device", "is_said"),
    [
        (10**13, "reference", "cpu", True),
        (10**13, "reference", "cuda", False),
        (10**6, "reference", "cpu", False),
        (10**13, "time", "cpu", False),
    ],
)
def test_what_is_waited_for_is_said(macs: int, purpose: Purpose, device: str, is_said: object) -> None:
    """Of a large model the first trial takes minutes, in which nothing else is told; on a GPU it takes seconds."""
    raced = large(plan("torch"), macs=macs)
    asked = msgspec.structs.replace(raced, reference=plan("torch", precision="float64", device=device))
    log, (live, console) = io.StringIO(), screen()
    lines = Lines(log)
    for observe in (lines, live):
        observe(Prepared(asked, "results/x", 0, calm=None))
    log.truncate(log.seek(0))
    for observe in (lines, live):
        observe(TrialStarted("r01-torch" if purpose == "time" else "reference", "torch in float64", purpose))
    console.file.seek(0)
    for said in (log.getvalue(), console.file.read()):
        assert ("in float64 on this machine's processor" in " ".join(said.split())) == is_said
