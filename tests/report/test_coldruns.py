"""Runs of any length from a cold start: who is overtaken by whom, and when, by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest
from tests.report.conftest import TORCH, outcome, ranked, verdict

from bakeoff.report.coldruns import ColdRun, crossings, longest, run_of
from bakeoff.report.pictures import comparison
from bakeoff.report.sections.figures import first_step_after
from bakeoff.report.sections.runs import run_table, short_runs
from bakeoff.spec.verdict import Interval, Verdict, VerdictKind

if TYPE_CHECKING:
    from bakeoff.judge.outcome import Outcome


def run(label: str, overhead_s: float, step_s: float) -> ColdRun:
    """Make a contender that takes so long until it steps."""
    return ColdRun(label=label, overhead_s=overhead_s, step=Interval(estimate=step_s, low=step_s, high=step_s))


def pair(first: str, second: str, kind: VerdictKind = "slower") -> Verdict:
    """Make a verdict on the step of the first against the second's."""
    ratio = {"slower": 2.0, "faster": 0.5}.get(kind, 1.0)
    return verdict(first, second, kind, ratio, ratio * 0.9, ratio * 1.1)


EARLY, MIDDLE, LATE = run("early", 1.0, 0.010), run("middle", 2.0, 0.005), run("late", 4.0, 0.004)
ALL = [pair("early", "middle"), pair("early", "late"), pair("middle", "late")]


def test_every_decided_pair_has_its_crossing_the_earliest_first() -> None:
    """Whatever the order of contenders; each names who was ahead, who has caught up, and at what time that is."""
    found = crossings([MIDDLE, LATE, EARLY], ALL)
    told = [(one.early, one.late, one.steps) for one in found]
    assert told == [
        ("early", "middle", pytest.approx(200, abs=1)),
        ("early", "late", pytest.approx(500, abs=1)),
        ("middle", "late", pytest.approx(2000, abs=1)),
    ]
    assert [one.seconds for one in found] == pytest.approx([3.0, 6.0, 12.0], rel=0.01)


@pytest.mark.parametrize("kind", ["undecided", "equal", "faster"])
def test_a_pair_that_is_not_shown_to_be_faster_catches_up_with_nobody(kind: VerdictKind) -> None:
    """However its estimates are: no interval stands behind them."""
    assert crossings([EARLY, MIDDLE], [pair("early", "middle", kind)]) == []
    assert crossings([EARLY, MIDDLE], []) == []


def test_starts_that_are_about_equal_have_no_crossing() -> None:
    """Closer than a tenth, no start is the earlier one."""
    near = run("near", 1.05, 0.005)
    assert crossings([EARLY, near], [pair("early", "near")]) == []


def test_who_is_ahead_is_overtaken_by_the_first_that_passes_it() -> None:
    """And not by one that passes another contender before."""
    said = short_runs([LATE, EARLY, MIDDLE], ALL)
    assert said.startswith("Short runs: early starts fastest (first step after 1.0 s")
    assert said.endswith("and is ahead until about step 200, where middle catches up.")
    quick = run("quick", 0.5, 0.001)
    behind = [pair(one, "quick") for one in ("early", "middle", "late")]
    assert short_runs([EARLY, MIDDLE, LATE, quick], [*ALL, *behind]).endswith("and stays ahead.")
    undecided = [*behind[:2], pair("late", "quick", "undecided")]
    assert short_runs([EARLY, MIDDLE, LATE, quick], [*ALL, *undecided]).endswith(
        "and no other contender is shown to catch up."
    )
    early = [msgspec.structs.replace(one, rounds=2, fewest=5) for one in behind]
    assert short_runs([EARLY, MIDDLE, LATE, quick], [*ALL, *early]).endswith(
        "; whether another one catches up is not known before a verdict."
    )


def test_the_axis_reaches_beyond_an_epoch_and_every_crossing() -> None:
    """To a power of ten beyond three times the last crossing, and a thousand steps at least."""
    assert longest([EARLY, MIDDLE], ALL, None) == 1000
    assert longest([EARLY, LATE], ALL, None) == 10_000
    assert longest([EARLY, MIDDLE], ALL, 20_000) == 100_000


def test_a_row_says_whom_its_contender_overtakes(undecided: Outcome) -> None:
    """Each that it catches up with, and at which step; the others overtake nobody."""
    table = run_table(undecided)
    told = {line.cells[0]: line.cells[-1] for line in table.lines}
    assert told == {"tensorflow": "torch at step 1,400", "jax": "torch at step 1,500", "torch": ""}
    assert table.heads[1:-1] == ["1 step", "10 steps", "100 steps", "1,000 steps", "10,000 steps"]


def test_a_line_has_its_band_on_both_sides(undecided: Outcome) -> None:
    """The longer the run, the more the interval of a step is."""
    last = comparison.lines(undecided)[-1]
    assert last["low"] < last["seconds"] < last["high"]


def test_an_epoch_is_a_pass_over_real_data_alone(undecided: Outcome) -> None:
    """Data that are made up have no epoch."""
    assert comparison.epoch_steps(undecided) == 45
    data = msgspec.structs.replace(undecided.comparison.data, has_test=False)
    made_up = msgspec.structs.replace(undecided.comparison, data=data)
    assert comparison.epoch_steps(msgspec.structs.replace(undecided, comparison=made_up)) is None


def test_a_run_of_one_step_ends_with_its_first_step() -> None:
    """Import, build and first step: what a run costs beyond its steps is that without the time of one step."""
    run = run_of(TORCH)
    assert run is not None
    assert run.seconds(1) == pytest.approx(first_step_after(TORCH))


@pytest.mark.parametrize(("longest_s", "is_logarithmic"), [(0.019, False), (0.03, True)])
def test_step_times_of_other_magnitudes_have_a_logarithmic_axis(longest_s: float, *, is_logarithmic: bool) -> None:
    """From twenty times the shortest on; else the shortest would stand at 0."""
    steps = (("torch", 0.001), ("jax", longest_s / 1.1))
    ways = [ranked(label, Interval(estimate=time, low=0.98 * time, high=1.02 * time), 0.1, 95) for label, time in steps]
    assert comparison.step_domain(outcome([msgspec.structs.replace(one, blocks=[]) for one in ways], []))[2] == (
        is_logarithmic
    )
