"""Races of suspects as they are asked for: which gap first, with how much time, of whom; nothing is raced."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from tests.explaining.conftest import gap, planned, row
from tests.report.conftest import outcome, ranked

from bakeoff.judge.causes import DENORMALS
from bakeoff.judge.checks import Checks, Link, read_checks, write_checks
from bakeoff.judge.explanation import Explanation, Gap, Suspect
from bakeoff.race import budget, counterfactual
from bakeoff.race.counterfactual import check, gaps_to_fastest, is_checked, lacks
from bakeoff.race.progress import ContenderActivity, Event, Prepared
from bakeoff.race.stages import explain, late
from bakeoff.race.stages.stage import Checkpoint, RaceState, WantedTrials
from bakeoff.spec.request import Request
from bakeoff.spec.verdict import Interval
from bakeoff.store.files import COMPARISON_FILE, read_record, write_end, write_record

KEPT = Path(__file__).parents[2] / "docs" / "records" / "mlp-mnist-07d5"
QUICK, SLOW, SLOWER = "quick", "slow", "slower"
SWITCH = "donate=yes"
STEP_S = Interval(estimate=0.001, low=0.001, high=0.001)


class World:
    """A comparison of three whose two gaps have suspects, and a clock that moves while races run."""

    def __init__(self, folder: Path) -> None:
        """Begin without any race; those begun from now on take 10 s, and leave their traces undone if told so."""
        self.folder = folder
        self.now_s = 0.0
        self.ran: list[tuple[Request, tuple[Any, ...]]] = []
        self.traced: list[tuple[str, Request]] = []
        self.asked_for: list[Link] = []
        self.untraced: set[str] = set()
        self.suspects: list[Suspect] = []
        self.seen: list[Event] = []
        self.devices = {QUICK: "1", SLOW: "1", SLOWER: "1"}
        self.gaps = [
            gap(row("convolution", 1.0, 1.5), first=QUICK, second=SLOW),
            gap(row("convolution", 1.0, 3.0), first=QUICK, second=SLOWER),
            gap(row("convolution", 1.5, 3.0), first=SLOW, second=SLOWER),
        ]

    def explained(self) -> Explanation:
        """Give the explanation."""
        contenders = []
        for label, devices in self.devices.items():
            plan = planned(label, devices=devices, threads="4")
            plan = msgspec.structs.replace(plan, asked={"mode": "graph"})
            contenders.append(msgspec.structs.replace(ranked(label, STEP_S, 0.1, 100), plan=plan))
        made = outcome(contenders, [], path=str(self.folder))
        comparison = msgspec.structs.replace(made.comparison, contenders=[one.plan for one in contenders])
        made = msgspec.structs.replace(made, comparison=comparison)
        return Explanation(outcome=made, profiles=[], gaps=self.gaps)

    def link(self, _: Explanation, of: Gap, __: Request) -> Link:
        """Give the suspects of a gap."""
        link = Link(first=of.first, second=of.second, suspects=self.suspects, labels={SWITCH: f"{of.second}:{SWITCH}"})
        self.asked_for.append(link)
        return link

    def race_of(self, second: str) -> Path:
        """Give the folder of the race of a gap."""
        return self.folder / "checks" / f"race-{second}"

    def run(self, request: Request, observe: Any, *, stages: tuple[Any, ...], **_: Any) -> None:
        """Race suspects to the end, or as far as the time goes."""
        self.ran.append((request, stages))
        second = request.contenders[1].partition(":")[0]
        race = self.race_of(second)
        race.mkdir(parents=True, exist_ok=True)
        (race / COMPARISON_FILE).write_text("{}")
        observe(Prepared(SimpleNamespace(), str(race), 0, calm=None))  # type: ignore[arg-type]
        write_end(race, "rounds")
        self.now_s += 10.0

    def add(self, race: Path, request: Request, stages: list[Any], observe: Any, **_: Any) -> None:
        """Trace what has raced."""
        assert stages == [explain.wanted]
        observe(ContenderActivity("a", "tracing"))
        self.traced.append((race.name, request))
        self.untraced.discard(race.name)
        self.now_s += 10.0

    def check(self, **asked: Any) -> list[str]:
        """Check the suspects; return the slower contenders of the races that were run."""
        before = len(self.ran)
        request = Request(**({"workload": "mlp-mnist", "contenders": (QUICK,)} | asked))
        check(self.explained(), request, self.seen.append)
        return [request.contenders[1].partition(":")[0] for request, _ in self.ran[before:]]


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    """Give a world whose races are only noted."""
    made = World(tmp_path)
    monkeypatch.setattr(counterfactual, "link_of", made.link)
    monkeypatch.setattr(counterfactual, "conductor", made)
    monkeypatch.setattr(counterfactual, "lacks_traces", lambda race: race.name in made.untraced)
    monkeypatch.setattr(budget, "time", SimpleNamespace(monotonic=lambda: made.now_s))
    return made


def test_the_widest_gap_to_the_fastest_is_raced_first(world: World) -> None:
    """Each of the two has a race of its own, which is noted, traced, and not run again."""
    assert world.check() == [SLOWER, SLOW]
    assert [name for name, _ in world.traced] == ["race-slower", "race-slow"]
    assert [(one.second, one.comparison) for one in read_checks(world.folder).links] == [
        (SLOW, "race-slow"),
        (SLOWER, "race-slower"),
    ]
    assert [type(one) for one in world.seen] == [Prepared, ContenderActivity] * 2
    assert len(world.asked_for) == 2
    assert world.check() == []
    assert len(world.asked_for) == len(world.traced) == 2, "what is noted is not looked for again"


def test_time_is_shared_by_the_races_that_are_still_to_be_run(world: World) -> None:
    """Of 100 s half is the first gap's and two thirds of that its race's; what is left then is all the second gap's."""
    world.check(budget_s=100.0)
    (first, _), (second, _) = world.ran
    assert (first.budget_s, second.budget_s) == (pytest.approx(100 / 2 * 2 / 3), pytest.approx(80 * 2 / 3))
    assert [request.budget_s for _, request in world.traced] == [pytest.approx(40.0), pytest.approx(70.0)]


@pytest.mark.parametrize(("budget_s", "raced"), [(None, 2), (3.9, 0), (7.9, 0), (8.1, 1), (28.0, 2), (20.0, 1)])
def test_no_race_begins_where_no_process_has_time(world: World, budget_s: float | None, raced: int) -> None:
    """A process takes about 4 s: less of a gap's own share begins none, and suspects are noted all the same."""
    assert world.check(budget_s=budget_s) == [SLOWER, SLOW][:raced]
    assert [(one.first, one.second) for one in read_checks(world.folder).links] == [(QUICK, SLOW), (QUICK, SLOWER)]


@pytest.mark.parametrize(("end", "goes_on"), [("budget", True), ("", True), ("rounds", False), ("decided", False)])
def test_a_race_that_was_cut_goes_on_and_one_that_ended_does_not(world: World, end: str, goes_on: bool) -> None:  # noqa: FBT001 - a case
    """By its budget or by an interruption: it is gone on with in its own folder, where a new one begins one."""
    world.check()
    assert [request.resume for request, _ in world.ran] == [False, False]
    write_end(world.race_of(SLOW), end)
    (link,) = (one for one in read_checks(world.folder).links if one.second == SLOW)
    assert lacks(link, world.folder) == goes_on
    assert world.check() == [SLOW] * goes_on
    assert [request.resume for request, _ in world.ran[2:]] == [True] * goes_on


def test_a_race_without_its_traces_is_traced_and_not_raced_again(world: World) -> None:
    """Rounds that are done stay; one whose folder was removed lacks nothing."""
    world.check()
    world.untraced = {"race-slow"}
    assert world.check() == []
    assert [name for name, _ in world.traced[2:]] == ["race-slow"]
    world.untraced = {"race-slow"}
    (world.race_of(SLOW) / COMPARISON_FILE).unlink()
    write_end(world.race_of(SLOW), "budget")
    assert world.check() == []
    assert len(world.traced) == 3


def test_the_race_of_a_gap_asks_for_its_contenders_and_nothing_else(world: World) -> None:
    """Options, devices and tiers stand in the contenders' texts; rounds and aim are its own, and no whole runs."""
    asked = {
        "options": {"mode": "eager"},
        "device": "cuda",
        "threads": 3,
        "tiers": ("best",),
        "devices": (2,),
        "max_rounds": 99,
        "aim": "order",
        "epochs": 2,
        "steps": 7,
        "resume": True,
        "results": "elsewhere",
        "seed": 5,
    }
    world.check(**asked)
    request, stages = world.ran[0]
    assert request.contenders == ("quick:mode=graph", "slower:mode=graph", "slower:donate=yes,mode=graph")
    assert request == Request(
        workload="mlp-mnist",
        contenders=request.contenders,
        max_rounds=10,
        aim="size",
        seed=5,
        results=str(world.folder / "checks"),
    )
    assert stages == counterfactual.STAGES


def test_threads_are_asked_for_where_any_contender_is_on_several_devices(world: World) -> None:
    """They were shared out among its devices; other options that nobody asked for stay unsaid."""
    world.devices[SLOWER] = "2"
    assert world.check() == [SLOW]
    assert world.ran[0][0].contenders[0] == "quick:mode=graph,threads=4"


def test_late_steps_are_run_where_denormal_numbers_are_suspected(world: World) -> None:
    """By one suspect of several: they are behind the other stages of its race."""
    world.suspects = [
        Suspect(first=QUICK, second=SLOW, label=SLOW, cause=cause, switch=SWITCH) for cause in ("", DENORMALS)
    ]
    world.check()
    assert [stages for _, stages in world.ran] == [(*counterfactual.STAGES, late.wanted)] * 2


def test_suspects_that_no_time_was_left_for_are_looked_for_again(world: World) -> None:
    """The race that they are of may have gone on since, and told more rows apart."""
    world.check(budget_s=1.0)
    assert (len(world.asked_for), world.ran) == (2, [])
    world.check()
    assert len(world.asked_for) == 4


def test_what_one_contender_takes_more_on_several_devices_is_no_gap_to_check(world: World) -> None:
    """The gaps are those to the fastest with as many devices."""
    world.devices = {QUICK: "1", SLOW: "2", SLOWER: "2"}
    assert [(one.first, one.second) for one in gaps_to_fastest(world.explained())] == [(SLOW, SLOWER)]


def test_suspects_are_checked_when_none_is_missing(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not before they were looked for, nor while one of two races lacks its end, nor where one more is suspected."""
    monkeypatch.setattr(counterfactual.explained, "explain", lambda _: world.explained())
    gaps, world.gaps = world.gaps, []
    assert not is_checked(world.folder), "nobody has looked yet whether there is a gap"
    world.check()
    assert is_checked(world.folder)
    world.gaps = gaps
    assert not is_checked(world.folder)
    world.check()
    assert is_checked(world.folder)
    write_end(world.race_of(SLOW), "budget")
    assert not is_checked(world.folder)
    write_end(world.race_of(SLOW), "rounds")
    _, slower = read_checks(world.folder).links
    nothing = Link(first=QUICK, second=SLOW, suspects=[])
    write_checks(world.folder, Checks(links=[nothing, slower]))
    assert not is_checked(world.folder), "the gap's row is not noted"

    def noted(**about: Any) -> Checks:
        said = msgspec.structs.replace(world.gaps[0].by_kind[0], **about)
        suspect = Suspect(first=QUICK, second=SLOW, label=SLOW, row=said)
        return Checks(links=[msgspec.structs.replace(nothing, suspects=[suspect]), slower])

    for about, is_known in (({}, True), ({"kind": "optimiser"}, False), ({"phase": "forward"}, False)):
        write_checks(world.folder, noted(**about))
        assert is_checked(world.folder) == is_known
    layer = msgspec.structs.replace(row("convolution", 1.0, 4.0), kind=None, layer="stem")
    world.gaps[0] = msgspec.structs.replace(world.gaps[0], by_layer=[layer])
    write_checks(world.folder, noted())
    assert is_checked(world.folder), "notes of before layers were looked into have none of them"


@pytest.mark.parametrize(
    ("wishes", "lacking"), [([], False), ([Checkpoint()], False), ([Checkpoint(), WantedTrials((), list)], True)]
)
def test_traces_are_lacking_where_a_trial_of_them_would_be_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wishes: list[Any], *, lacking: bool
) -> None:
    """In so many rounds as are asked for; a trial that came to nothing is run again, and so it is not there."""
    for name in ("comparison.json", "r01-torch/record.json", "r01-jax/record.json"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(KEPT / name, tmp_path / name)
    kept = read_record(tmp_path / "r01-jax")
    trace = msgspec.structs.replace(kept.trial, purpose="explain")
    write_record(tmp_path / "r01-jax", msgspec.structs.replace(kept, trial=trace, outcome="crashed", reason="it ended"))
    told = []

    def wanted(state: RaceState, *, rounds: int | None) -> list[Any]:
        told.append((list(state.records), rounds))
        return wishes

    monkeypatch.setattr(explain, "wanted", wanted)
    assert counterfactual.lacks_traces(tmp_path, 7) is lacking
    assert told == [(["r01-torch"], 7)]
