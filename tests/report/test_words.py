from __future__ import annotations

import re
from itertools import combinations
from typing import TYPE_CHECKING, Literal

import msgspec
import pytest
from tests.report.conftest import ROUNDS, TORCH, plan, verdict
from tests.report.conftest import outcome as made_of
from tests.report.shown import data_of

from bakeoff.report.coldruns import runs_of
from bakeoff.report.pages import page_of
from bakeoff.report.pages.comparison import cautions, work
from bakeoff.report.sections.certificate import accuracy
from bakeoff.report.sections.figures import absent, against, summary
from bakeoff.report.sections.noise import evidence
from bakeoff.report.sections.runs import short_runs
from bakeoff.report.sections.verdicts import headline, sentences
from bakeoff.report.standings import ranked
from bakeoff.report.words import machine_line
from bakeoff.spec.trial import Entries
from bakeoff.stats.boundaries import LOOKS
from bakeoff.stats.dependence import Resemblance, Trend
from bakeoff.stats.levels import LevelRatio, Levels

if TYPE_CHECKING:
    from collections.abc import Callable

    from bakeoff.judge.outcome import Outcome
    from bakeoff.spec.comparison import Aim


def said(outcome: Outcome) -> str:
    """Give all that a report says of an outcome, in one text."""
    page = page_of(outcome)
    return "\n".join([page.headline, page.trust, *(word for section in page.sections for word in section.words)])


def test_the_headline_has_ratio_and_interval(noisy: Outcome) -> None:
    """A decided pair is a line with its ratio and its interval; behind it why to believe it."""
    assert headline(noisy) == "jax is faster: 2.1x torch (2.0 to 2.2)."
    within = "(outputs within 4e-7, losses within 2e-7)"
    assert page_of(noisy).trust == f"Same work: verified {within}. 7 rounds, 14 fresh processes."


def test_one_contender_alone_is_told_in_time(noisy: Outcome) -> None:
    """To time one contender is a question of its own, whose answer is its step time."""
    alone = msgspec.structs.replace(noisy, contenders=noisy.contenders[:1], verdicts=[])
    assert headline(alone) == "torch takes 2.1 ms a step (95 % CI 2.0 to 2.2): 15,200 samples/s."
    assert summary(alone).heads[:3] == ["contender", "step, ms", "95 % CI"]


def test_every_other_decided_pair_is_a_sentence(undecided: Outcome) -> None:
    """Pairs that the headline leaves out are sentences of the faster one, whichever way round their verdicts are."""
    assert "tensorflow is 2.2x as fast as torch (2.1 to 2.3)." in said(undecided)
    assert "jax is 2.1x as fast as torch (2.0 to 2.2)." in said(undecided)


def test_equal_names_the_margin(same: Outcome) -> None:
    """An equal pair is practically equal, within the margin that is told."""
    expected = "torch and torch (2) are practically equal (within 5 %): torch (2) over torch 1.00 (0.99 to 1.02)."
    assert expected in said(same)


def test_undecided_says_what_would_decide(undecided: Outcome) -> None:
    """An undecided pair tells about how many rounds are missing, and the command that runs up to the next look."""
    expected = (
        "jax and tensorflow are undecided: ratio 1.04 (0.99 to 1.09) after 7 rounds; about 6 more rounds would be "
        "needed:\n  bakeoff run mlp-mnist --resume --rounds 14"
    )
    assert expected in said(undecided)


def test_more_rounds_than_the_procedure_has_are_not_offered(undecided: Outcome) -> None:
    """Where the last look would not do, no command is offered that could not help."""
    verdicts = [msgspec.structs.replace(pair, more_rounds=pair.more_rounds and 70) for pair in undecided.verdicts]
    text = said(msgspec.structs.replace(undecided, verdicts=verdicts))
    assert "about 70 more rounds would be needed, beyond the 20 that the procedure allows" in text
    assert "--resume" not in text


def present(outcome: Outcome, **changes: object) -> str:
    """Give what is said of an outcome whose verdicts are by the present rules."""
    verdicts = [
        msgspec.structs.replace(pair, level=0.95, fewest=5, **(changes if pair.verdict == "undecided" else {}))
        for pair in outcome.verdicts
    ]
    return said(msgspec.structs.replace(outcome, verdicts=verdicts, round_s=12.0))


def test_rounds_to_come_have_their_seconds_and_their_chance(undecided: Outcome) -> None:
    """An undecided pair tells the look that may decide it, how long that takes here, and how probable it is."""
    expected = (
        "about 3 more rounds, 36 s, would decide it with a chance of 71 %:\n"
        "  bakeoff run mlp-mnist --resume --rounds 10"
    )
    assert expected in present(undecided, more_rounds=3, chance=0.71)


def test_no_calmer_machine_is_asked_for(undecided: Outcome) -> None:
    """Where no coming look is likely to decide, that is said; where one is, nothing else."""
    text = present(undecided, more_rounds=None)
    assert "no coming look is likely to decide it" in text
    assert "calmer machine" not in text
    assert "no coming look" not in present(undecided, more_rounds=3, chance=0.71)


def test_an_interval_that_decides_nothing_says_so(undecided: Outcome) -> None:
    """The interval of one pair alone may leave out 1 where the boundaries of all looks and pairs do not."""
    words = "an interval of this pair alone, which does not decide"
    assert words in present(undecided, low=0.93, high=0.99)
    assert words not in present(undecided, low=0.93, high=1.01)


def test_the_level_of_an_interval_is_told(decided: Outcome, undecided: Outcome, same: Outcome) -> None:
    """By the present rules an interval says what it is: a 95 % CI of that pair."""
    assert "tensorflow is fastest: 1.12x jax (95 % CI 1.04 to 1.19), 2.2x torch (2.1 to 2.3)" in present(decided)
    assert "torch (2) over torch 1.00 (95 % CI 0.99 to 1.02)." in present(same)
    assert "ratio 1.04 (95 % CI 0.99 to 1.09) after 7 rounds" in present(undecided)
    assert "95 % CI" not in said(decided)


def test_rounds_that_follow_each_other_are_a_caution(decided: Outcome) -> None:
    """What was found of rounds and turns is told in plain words, with its size."""
    found = Resemblance(ratio=0.8, low=1.3, rounds=12, contenders=3)
    told = cautions(msgspec.structs.replace(decided, resemblance=found))
    assert any("neighbouring rounds resemble each other more than independent ones do" in one for one in told)
    calm = msgspec.structs.replace(found, ratio=1.9)
    assert not any("resemble" in one for one in cautions(msgspec.structs.replace(decided, resemblance=calm)))
    moving = Trend(change=0.4, low=0.2, high=0.6, rounds=5)
    first, *others = decided.contenders
    changed = msgspec.structs.replace(decided, contenders=[msgspec.structs.replace(first, trend=moving), *others])
    assert any(
        "its step gets 40 % longer from the first turn to the last (in 5 rounds)" in one for one in cautions(changed)
    )


def test_a_machine_that_changed_its_speed_is_a_caution_and_is_not_called_calm(decided: Outcome) -> None:
    """How often and by how much, the ratios that it moved beyond the margin, and no claim of calm."""
    pairs = [("jax", "torch", 0.5, 0.4), ("jax", "tensorflow", 0.81, 0.8)]
    ratios = [LevelRatio(first=a, second=b, then=then, otherwise=otherwise) for a, b, then, otherwise in pairs]
    changed = [(2, 6), (3, 3), (6, 6), (6, 7)]
    levels = Levels(turns=80, changed=changed, low=1.31, high=1.88, is_found=True, ratios=ratios)
    machine = msgspec.structs.replace(
        decided, levels=levels, calm=True, flagged_rounds=0, foreign_share=0.004, rounds=10
    )
    (told,) = [one for one in cautions(machine) if "itself changed its speed" in one]
    assert (
        "in 4 of 80 turns (rounds 2, 3 and 6), beside no other process, all contenders took 1.3 to 1.9 times as long"
        in told
    )
    assert "torch over jax is 2.0 in these turns and 2.5 in the others: verdicts take both together" in told
    assert "over tensorflow" not in told
    assert "tensorflow over" not in told
    assert machine_line(machine).endswith(", its speed changed in 3 of 10 rounds (other processes 0.4 %)")
    more = [LevelRatio(first="jax", second=f"{n}", then=1.0 + n / 10, otherwise=1.0) for n in range(1, 6)]
    (told,) = [
        one
        for one in cautions(msgspec.structs.replace(machine, levels=msgspec.structs.replace(levels, ratios=more)))
        if "itself changed its speed" in one
    ]
    assert re.findall(r"jax over (\d) is", told) == ["5", "4", "3"]  # those that it moved most
    busy = msgspec.structs.replace(machine, calm=False, flagged_rounds=1)
    assert ", its speed changed in 3 of 10 rounds, busy in 1 of 10 rounds (" in machine_line(busy)
    steady = msgspec.structs.replace(machine, levels=msgspec.structs.replace(levels, is_found=False))
    assert not any("itself changed its speed" in one for one in cautions(steady))
    assert ", calm (" in machine_line(steady)


def test_other_processes_are_not_said_to_be_away_where_nobody_can_see_them(decided: Outcome) -> None:
    """A system that does not count their time leaves open whether they are why the machine's speed changed."""
    levels = Levels(turns=80, changed=[(2, turn) for turn in range(8)], low=1.3, high=1.3, is_found=True)
    for share, beside in ((0.004, ", beside no other process, all contenders"), (None, ", all contenders")):
        machine = msgspec.structs.replace(decided, levels=levels, foreign_share=share)
        (told,) = [one for one in cautions(machine) if "itself changed its speed" in one]
        assert f"in 8 of 80 turns (round 2){beside} took 1.3 times as long" in told


def test_ratios_at_both_speeds_have_the_digits_that_tell_them_apart(decided: Outcome) -> None:
    """What moved a ratio by more than the margin does not read as the same number twice."""
    for then, otherwise, told in (
        (2.0, 2.5, "2.0 in these turns and 2.5"),
        (1.16, 1.24, "1.16 in these turns and 1.24"),
    ):
        ratio = LevelRatio(first="torch", second="jax", then=then, otherwise=otherwise)
        levels = Levels(turns=80, changed=[(2, 6)], low=1.3, high=1.3, is_found=True, ratios=[ratio])
        assert any(
            f"torch over jax is {told}" in one for one in cautions(msgspec.structs.replace(decided, levels=levels))
        )


@pytest.mark.parametrize(
    ("stopped", "words"),
    [("futility", "given up"), ("budget", "the time budget has ended"), ("rounds", "all rounds that were asked for")],
)
def test_undecided_says_why_it_stopped(undecided: Outcome, stopped: str, words: str) -> None:
    """An undecided pair tells why no more rounds were run."""
    verdicts = [msgspec.structs.replace(pair, stopped=stopped) for pair in undecided.verdicts]
    assert words in said(msgspec.structs.replace(undecided, verdicts=verdicts))


def test_under_the_margin_is_told(decided: Outcome) -> None:
    """A decided pair whose interval reaches into the margin says that it may be under it."""
    assert headline(decided).endswith("; the lead over jax may be under the 5 % margin.")


def test_winner_is_named_only_when_decided(decided: Outcome, undecided: Outcome) -> None:
    """One contender is called faster than every other only if each of these pairs is decided."""
    assert headline(decided).startswith("tensorflow is fastest: 1.12x jax")
    assert against(decided) == "vs the fastest (deciding interval)"
    assert headline(undecided) == (
        "tensorflow and jax are undecided: jax over tensorflow 1.04 (0.99 to 1.09); torch is slower than both."
    )
    assert against(undecided) == "vs the first (deciding interval)"


def test_too_few_rounds_give_no_verdict(early: Outcome) -> None:
    """Fewer than three rounds are told as "no verdict", without an interval."""
    assert (
        headline(early)
        == "No verdict yet: 2 of the 3 rounds that one needs; so far jax leads: 2.10x torch (no interval yet)."
    )
    rows = [line.cells for line in summary(early).lines]
    assert {row[1] for row in rows} == {"", "no verdict, 2.10x (no interval yet)"}
    assert {row[3] for row in rows} == {""}


def test_the_answer_holds_no_ratio_of_turns_that_were_all_disturbed(early: Outcome) -> None:
    """Found on a machine that was busy on every core, where one round had made JAX 199 times PyTorch."""
    disturbed = [msgspec.structs.replace(pair, flagged_blocks=24, ratio_unflagged=None) for pair in early.verdicts]
    assert (
        headline(msgspec.structs.replace(early, verdicts=disturbed))
        == "No verdict yet: 2 of the 3 rounds that one needs, and other processes disturbed every turn."
    )


def test_what_goes_on_can_reach_a_verdict(early: Outcome) -> None:
    """A race that was asked for fewer rounds than a verdict needs is continued with as many, named once."""

    def short(command: str) -> Outcome:
        procedure = msgspec.structs.replace(early.comparison.procedure, max_rounds=2)
        comparison = msgspec.structs.replace(early.comparison, procedure=procedure, command=command)
        return msgspec.structs.replace(early, comparison=comparison)

    for rounds in ("", " --rounds 2", " --rounds=2", " --rounds '2'"):
        command = f"bakeoff run mlp-mnist{rounds} --seed 2"
        assert "\n  bakeoff run mlp-mnist --seed 2 --resume --rounds 3\n" in said(short(command))
    assert "--rounds" not in said(early)


def test_what_goes_on_has_time_for_it(early: Outcome, undecided: Outcome) -> None:
    """A race whose time budget is for fewer rounds than are missing is continued with one that is for them."""

    def with_budget(outcome: Outcome, budget_s: float) -> Outcome:
        procedure = msgspec.structs.replace(outcome.comparison.procedure, budget_s=budget_s)
        comparison = msgspec.structs.replace(outcome.comparison, procedure=procedure)
        return msgspec.structs.replace(outcome, comparison=comparison, round_s=40.0)

    assert "1 more round, about 40 s, for a verdict:\n  bakeoff run mlp-mnist --resume --budget 50s" in said(
        with_budget(early, 30.0)
    )
    assert "--budget" not in said(with_budget(early, 40.0))
    comparison = msgspec.structs.replace(early.comparison, command="bakeoff run mlp-mnist --budget 30s --seed 2")
    again = with_budget(msgspec.structs.replace(early, comparison=comparison), 30.0)
    assert "bakeoff run mlp-mnist --seed 2 --resume --budget 50s" in said(again)
    assert "bakeoff run mlp-mnist --resume --budget 340s --rounds 14" in said(with_budget(undecided, 60.0))
    assert "--budget" not in said(with_budget(undecided, 300.0))


def test_what_nobody_named_is_not_missing(mixed: Outcome) -> None:
    """Where no contender was named, what is not installed is not among those that are not ranked."""
    asked = msgspec.structs.replace(mixed.comparison, uninstalled=["other"])
    rows = [line.cells for line in absent(msgspec.structs.replace(mixed, comparison=asked)).lines]
    assert rows
    assert not [cells for cells in rows if cells[0] == "other"]


def test_who_is_not_ranked_has_no_rank(mixed: Outcome) -> None:
    """Uncertified, failed, pending and excluded contenders stand apart, each with its reason."""
    assert [line.cells[0] for line in summary(mixed).lines] == ["jax", "torch@<b>[red]|*x*"]
    rows = [line.cells for line in absent(mixed).lines]
    assert [(label, status) for label, status, _ in rows] == [
        ("jax:mode=eager", "uncertified"),
        ("tensorflow", "failed"),
        ("torch (2)", "pending"),
        ("other", "excluded"),
    ]
    assert all(reason for *_, reason in rows)


def test_warnings(noisy: Outcome) -> None:
    """Load, disturbed blocks that matter, disagreeing means, drift and damaged records are each told."""
    (pair,) = noisy.verdicts
    pair = msgspec.structs.replace(pair, ratio_unflagged=1.0 / 1.9 if pair.ratio < 1 else 1.9)
    text = "\n".join(cautions(msgspec.structs.replace(noisy, verdicts=[pair])))
    for words in (
        "The machine was not calm: other processes were busy in parts of 2 of 7 rounds (12 % of its processors",
        "torch over jax: 1.90 without the 9 of 168 blocks that other processes disturbed, 2.09 with them.",
        "torch over jax: 2.40 by mean step times, 2.09 by medians",
        "torch: its warm-up found no steady state",
        "r03-jax: record.json is truncated",
    ):
        assert words in text


def test_what_changes_no_belief_is_no_warning(noisy: Outcome) -> None:
    """A ratio that hardly moves without the disturbed blocks, and page faults, are for those who look for them."""
    text = "\n".join(cautions(noisy))
    assert "that other processes disturbed" not in text
    assert "page faults" not in text
    folds = [note for section in page_of(noisy).sections if section.kind == "fold" for note in section.notes]
    assert any("torch: 560 page faults a step" in note for note in folds)


def test_equal_ratios_are_not_told_apart(decided: Outcome) -> None:
    """A ratio that leaves the interval by a rounding error is no finding."""
    pair = msgspec.structs.replace(decided.verdicts[0], verdict="slower", ratio=1.2, low=1.2, high=1.2)
    pair = msgspec.structs.replace(pair, ratio_of_means=1.2 - 1e-15, ratio_unflagged=None)
    assert cautions(msgspec.structs.replace(decided, verdicts=[pair])) == []


def test_no_calm_turn_leaves_no_other_ratio(noisy: Outcome) -> None:
    """Where every turn was disturbed, that is said instead of a ratio."""
    pair = msgspec.structs.replace(noisy.verdicts[0], ratio_unflagged=None, flagged_blocks=168)
    text = "\n".join(cautions(msgspec.structs.replace(noisy, verdicts=[pair])))
    assert "torch over jax: other processes disturbed 168 of 168 blocks, so that no turn is left" in text


def test_pairs_without_a_calm_turn_are_told_at_once(noisy: Outcome) -> None:
    """Several pairs that were disturbed throughout are one warning."""
    pair = msgspec.structs.replace(noisy.verdicts[0], ratio_unflagged=None, flagged_blocks=168)
    other = msgspec.structs.replace(pair, first="tensorflow", flagged_blocks=160)
    said = [one for one in cautions(msgspec.structs.replace(noisy, verdicts=[pair, other])) if "no turn is left" in one]
    assert len(said) == 1
    assert "torch over jax; tensorflow over jax: other processes disturbed 98 % of the blocks" in said[0]


def test_all_pairs_are_not_named_one_by_one(noisy: Outcome) -> None:
    """Of six contenders there are fifteen: where a sentence is about all of them, it says so."""
    one = msgspec.structs.replace(noisy.verdicts[0], ratio_unflagged=None, flagged_blocks=168)
    pairs = [msgspec.structs.replace(one, first=f"torch{number}") for number in range(4)]
    for left_out, name in ((0, "all 4 pairs: other"), (1, "torch1 over jax; torch2 over jax; torch3 over jax: other")):
        kept = [msgspec.structs.replace(pair, flagged_blocks=0) for pair in pairs[:left_out]] + pairs[left_out:]
        said = cautions(msgspec.structs.replace(noisy, verdicts=kept))
        assert any(one.startswith(f"{name} processes disturbed 100 % of the blocks") for one in said), said


@pytest.mark.parametrize(
    ("stopped", "why"), [("budget", "the time budget has ended"), ("rounds", "all rounds are done")]
)
def test_a_wide_interval_is_told(decided: Outcome, stopped: Literal["budget", "rounds"], why: str) -> None:
    """A size that is not known as narrowly as was asked for is a warning with its reason."""
    pair = msgspec.structs.replace(decided.verdicts[0], wide=True, stopped=stopped)
    assert f"the size is known less narrowly than was asked for ({why})" in "\n".join(
        cautions(msgspec.structs.replace(decided, verdicts=[pair]))
    )


@pytest.mark.parametrize(
    ("aim", "option"), [("how-much", "(--how-much)"), ("direction", "(--direction)"), ("until-sure", "(--until-sure)")]
)
def test_the_evidence_tells_the_aim(decided: Outcome, aim: Aim, option: str) -> None:
    """What the rounds were run for stands beside their number; the plain verdict needs no word."""
    assert "--" not in evidence(decided)
    procedure = msgspec.structs.replace(decided.comparison.procedure, aim=aim)
    comparison = msgspec.structs.replace(decided.comparison, procedure=procedure)
    assert evidence(msgspec.structs.replace(decided, comparison=comparison)).endswith(option)


def test_until_sure_can_always_go_on(undecided: Outcome) -> None:
    """Where no round is the last, more rounds need no number, and no machine is too noisy."""
    procedure = msgspec.structs.replace(undecided.comparison.procedure, aim="until-sure", max_rounds=None)
    comparison = msgspec.structs.replace(undecided.comparison, procedure=procedure)
    pairs = [msgspec.structs.replace(pair, more_rounds=300) for pair in undecided.verdicts]
    text = "\n".join(sentences(msgspec.structs.replace(undecided, comparison=comparison, verdicts=pairs)))
    assert "about 300 more rounds would be needed:\n  bakeoff" in text
    assert text.endswith("--resume")


def test_calm_machine_has_no_warning(decided: Outcome) -> None:
    """Nothing is warned of where nothing is wrong."""
    assert cautions(decided) == []


def test_forbidden_words(each: Callable[[], list[Outcome]]) -> None:
    """No report says "significant" or "x faster", and no multiple stands without its interval."""
    for outcome in each():
        text = said(outcome)
        assert "significant" not in text.lower()
        assert not re.search(r"x (faster|slower)|times (faster|slower)", text)
        multiples = [text[found.end() :].partition(")")[0] for found in re.finditer(r"\dx ", text)]
        assert all(" to " in rest or "no interval yet" in rest for rest in multiples)


def test_accuracy_is_told_with_its_steps(undecided: Outcome) -> None:
    """What was learned is told with the data and the number of steps, and where it is known with its standard error."""
    said = "Accuracy on held-out digits after 450 training steps"
    assert accuracy(undecided) == [f"{said}: tensorflow 0.957, jax 0.957, torch 0.956 (one run each)."]
    known = [msgspec.structs.replace(one, test_samples=400) for one in undecided.contenders[:1]]
    (sentence,) = accuracy(msgspec.structs.replace(undecided, contenders=known))
    # The binomial standard error of 0.957 in 400 samples.
    assert sentence == f"{said}: {known[0].label} 0.956 ± 0.010 (one run each; ± standard error over 400 samples)."


def test_short_runs_name_the_break_even(undecided: Outcome) -> None:
    """Who starts fastest is told with the step at which a decidedly faster one has caught up."""
    expected = (
        "Short runs: torch starts fastest (first step after 1.4 s, no interval) and is ahead until about step 1,400, "
        "where tensorflow catches up."
    )
    assert short_runs(runs_of(ranked(undecided)), undecided.verdicts) == expected


def test_equal_starts_are_not_ranked(same: Outcome) -> None:
    """Starts that are about equal are told as such: no interval stands behind a difference."""
    assert short_runs(runs_of(ranked(same)), same.verdicts).startswith(
        "Short runs: torch and torch (2) start about equally fast"
    )


def test_unknown_is_said(bare: Outcome) -> None:
    """What is not known reads "unknown", never 0."""
    for line in summary(bare).lines:
        assert {line.cells[2], *line.cells[4:]} == {"unknown"}
    assert machine_line(bare) == "unknown processor, noise unknown"


def on(outcome: Outcome, *devices: str, unranked: str = "") -> str:
    """Give the line of the work where contenders ran on these devices, and one that is not ranked was to run there."""
    contenders = outcome.contenders
    for place, device in enumerate([*devices, unranked] if unranked else devices):
        one = contenders[place]
        spoken = msgspec.structs.replace(one.plan.contender, options=one.plan.contender.options | {"device": device})
        changed = msgspec.structs.replace(one, plan=msgspec.structs.replace(one.plan, contender=spoken))
        status: Literal["ranked", "uncertified"] = "ranked" if place < len(devices) else "uncertified"
        contenders = [*contenders[:place], msgspec.structs.replace(changed, status=status), *contenders[place + 1 :]]
    return work(msgspec.structs.replace(outcome, contenders=contenders))


def test_the_devices_are_those_of_the_ranked(noisy: Outcome) -> None:
    """A device on which nothing was measured is not named with the work; where several were, all of them are."""
    assert "mps" not in on(noisy, "cpu", unranked="mps")
    assert ", cuda, " in on(noisy, "cuda", "cuda")
    assert ", cpu/cuda, " in on(noisy, "cpu", "cuda")


def test_why_nobody_is_ranked(mixed: Outcome) -> None:
    """The first sentence says what became of each, and never that a refused contender lacks its certificate."""
    unranked = [one for one in mixed.contenders if one.status != "ranked"]
    refused = [msgspec.structs.replace(one, status="refused") for one in mixed.contenders if one.status == "ranked"]
    assert headline(msgspec.structs.replace(mixed, contenders=[*refused, *unranked])) == (
        "No contender is ranked: jax:mode=eager without a passing certificate; torch@<b>[red]|*x* and jax refused; "
        "tensorflow without a finished round; torch (2) not begun."
    )
    assert headline(msgspec.structs.replace(mixed, contenders=[])) == "No contender is ranked."


@pytest.mark.parametrize(("real", "padding"), [(0, 0), (5, -5), (-3, 2), (2**62, 2**62)])
def test_any_count_of_entries_in_a_strangers_comparison_is_told(mixed: Outcome, real: int, padding: int) -> None:
    """A sequence without entries has no padding, and divides nothing by zero."""
    asked = mixed.comparison
    data = msgspec.structs.replace(asked.data, sequences={"x": Entries(real=real, padding=padding)})
    page = page_of(msgspec.structs.replace(mixed, comparison=msgspec.structs.replace(asked, data=data)))
    assert 0 <= page.data["padding"]["padded_share"] <= 1
    assert any("entries of x (" in word for section in page.sections for word in section.words)


def test_pairs_that_lack_unlike_numbers_of_rounds_wait_for_the_most(early: Outcome) -> None:
    """What is said to be missing, and asked for, is enough for a verdict on each of them."""
    (pair,) = early.verdicts
    assert (pair.rounds, pair.fewest) == (2, 3)
    behind = msgspec.structs.replace(pair, second="tensorflow", rounds=0)
    assert "3 more rounds, about 120 s" in said(msgspec.structs.replace(early, verdicts=[pair, behind], round_s=40.0))


def test_rounds_beyond_the_procedures_last_count_with_those_that_were_run(undecided: Outcome) -> None:
    """Nineteen more rounds after some already go beyond twenty."""
    verdicts = [msgspec.structs.replace(pair, more_rounds=pair.more_rounds and 19) for pair in undecided.verdicts]
    text = said(msgspec.structs.replace(undecided, verdicts=verdicts))
    assert "about 19 more rounds would be needed, beyond the 20 that the procedure allows" in text
    assert "--resume" not in text


def test_pairs_are_called_all_where_no_other_is_left() -> None:
    """Four of six pairs that lack rounds are named one by one: the two others have their verdict."""
    labels = ["torch", "jax", "tensorflow", "mlx"]
    ways = [msgspec.structs.replace(TORCH, label=label, plan=plan(label)) for label in labels]
    pairs = [verdict(one, other, "undecided", 1.1, 0.9, 1.3) for one, other in combinations(labels, 2)]
    early = [msgspec.structs.replace(pair, rounds=2) for pair in pairs]
    assert "all 6 pairs: 1 more round," in " ".join(sentences(made_of(ways, early)))
    said = " ".join(sentences(made_of(ways, [*early[:4], *pairs[4:]])))
    assert "all 4 pairs" not in said
    assert "torch / jax, " in said


def test_the_last_look_is_still_offered(undecided: Outcome) -> None:
    """Rounds that end at the last look are within what the procedure allows: the command is there."""
    last = LOOKS[-1] - ROUNDS
    pairs = [msgspec.structs.replace(pair, more_rounds=pair.more_rounds and last) for pair in undecided.verdicts]
    said = " ".join(sentences(msgspec.structs.replace(undecided, verdicts=pairs)))
    assert f"--rounds {LOOKS[-1]}" in said
    assert "beyond the" not in said


def test_a_mean_is_no_median_for_programs(decided: Outcome) -> None:
    """Each of a contender's step times stands under its own key."""
    for told, one in zip(data_of(decided)["contenders"], decided.contenders, strict=True):
        assert (told["step_s"], told["mean_step_s"]) == (one.median_step_s, one.mean_step_s)


def test_a_pair_without_a_verdict_leaves_open_who_catches_up(undecided: Outcome) -> None:
    """One pair that lacks rounds is enough for that, whatever is known of the others."""
    torch, *others = undecided.verdicts
    pairs = [msgspec.structs.replace(torch, verdict="undecided", rounds=2), *others]
    pairs[1] = msgspec.structs.replace(pairs[1], verdict="undecided")
    said = short_runs(runs_of(undecided.contenders), pairs)
    assert said.endswith("whether another one catches up is not known before a verdict.")


@pytest.mark.parametrize(("level", "is_told"), [(None, True), (0.95, False)])
def test_a_pair_given_up_by_the_first_procedure_is_told_its_rounds(
    undecided: Outcome, level: float | None, *, is_told: bool
) -> None:
    """It knew how many more would be needed; by the present one, what is given up is told no number."""
    pairs = [
        msgspec.structs.replace(pair, stopped="futility", level=level) if pair.more_rounds else pair
        for pair in undecided.verdicts
    ]
    said = " ".join(sentences(msgspec.structs.replace(undecided, verdicts=pairs)))
    assert "given up, because at this noise" in said
    assert ("more rounds would be needed" in said) == is_told
