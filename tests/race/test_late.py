"""Late steps of training beside early ones: a scripted step that training slows down."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from tests.explaining.test_causes import block, record

from bakeoff.judge.late import Late, late_step
from bakeoff.judge.late import late as judged
from bakeoff.race import remembered
from bakeoff.race.progress import Event, TrialStarted
from bakeoff.race.stages import late
from bakeoff.report.sections.late import FOLD, LATE, late_table, sentences, why_not
from bakeoff.spec.record import DenormalCount, LateReading
from bakeoff.spec.trial import SNAPSHOT_STEPS
from bakeoff.spec.verdict import Interval
from bakeoff.store.files import read_record, write_record
from bakeoff.store.results import read_records

if TYPE_CHECKING:
    from bakeoff.spec.record import Record

SLOWS = 0.001
"""Growth of a step's time by each step of training: at step 1,000 twice what it is at its start."""


def test_a_step_that_training_slows_down_is_found(race: Any) -> None:
    """The early blocks begin where the race's do, the late ones at the same later step for all contenders."""
    outcome = race("fake", f"fake:slows={SLOWS},denormals=keep", max_rounds=1)
    steady, slowed = (one.late for one in outcome.contenders)
    assert (steady.early_step, steady.late_step, steady.pairs) == (SNAPSHOT_STEPS, 1000, 8)
    assert slowed.late_step == steady.late_step
    assert not steady.differs(0.02)
    assert slowed.differs(0.02)
    assert slowed.ratio.low <= slowed.ratio.estimate <= slowed.ratio.high
    assert slowed.ratio.estimate == pytest.approx((1 + 1000 * SLOWS) / (1 + SNAPSHOT_STEPS * SLOWS), rel=0.05)
    assert slowed.denormal() == {"first moment": pytest.approx(0.5, abs=0.01)}
    assert steady.denormal() == {}


def test_the_report_says_it_where_it_matters(race: Any) -> None:
    """A sentence names the array, the share and what the option would do; the table has both contenders."""
    outcome = race("fake", f"fake:slows={SLOWS},denormals=keep", max_rounds=1)
    (said,) = sentences(outcome)
    assert said.startswith(f"{outcome.contenders[1].label}: step 1,000 of training takes 1.9")
    assert f"x as long as step {SNAPSHOT_STEPS} (95 % CI 1.9" in said
    assert "50 % of Adam's first moment is denormal; the option denormals=flush sets such numbers to zero." in said
    table = late_table(outcome)
    assert [line.marked for line in table.lines].count(True) == 1
    assert table.heads[-2:] == ["denormal: first moment", "denormal: gradients"]


def test_nothing_is_recommended_that_is_in_force(race: Any) -> None:
    """A contender that flushes denormal numbers already gets no advice to do so."""
    outcome = race(f"fake:slows={SLOWS},denormals=flush", max_rounds=1)
    (said,) = sentences(outcome)
    assert "denormals=flush` sets" not in said


def test_every_block_begins_with_its_own_state(race: Any) -> None:
    """Blocks come in pairs of both states, mirrored, and each timed part begins at one of the two steps."""
    outcome = race("fake", max_rounds=1)
    (record,) = [one for one in read_records(Path(outcome.path)).records.values() if one.trial.purpose == "late"]
    assert [block.first_step for block in record.late.blocks[:4]] == [SNAPSHOT_STEPS, 1000, 1000, SNAPSHOT_STEPS]
    assert [block.turn for block in record.late.blocks] == [pair for pair in range(8) for _ in range(2)]
    assert all(block.restored for block in record.late.blocks)


def late_of(outcome: Any) -> dict[str, Record]:
    """Return the records of late steps in a comparison's folder, by the contender's label."""
    records = read_records(Path(outcome.path)).records.values()
    return {record.trial.contender.label: record for record in records if record.trial.purpose == "late"}


def test_a_calm_reading_is_remembered(race: Any) -> None:
    """The next comparison takes it in instead of making it, and its report names the date."""
    first = race("fake", max_rounds=1)
    events: list[Event] = []
    second = race("fake", "fake:step_ms=3", observe=events.append, max_rounds=1)
    started = [event.label for event in events if isinstance(event, TrialStarted) and event.purpose == "late"]
    assert started == ["fake:step_ms=3"]
    assert late_of(second)["fake"].late == late_of(first)["fake"].late
    taken, made = (one.late for one in second.contenders)
    assert (taken.comparison, made.comparison) == (first.comparison.id, second.comparison.id)
    (fold,) = [one for one in LATE.sections(second) if one.title == FOLD]
    assert any(note.startswith("Measured before: fake's on 20") for note in fold.notes)
    assert not any("fake:step_ms=3" in note for note in fold.notes)


@pytest.mark.parametrize("other", [{"batch_size": 4}, {"seed": 5}, {"size": "full"}, {"data": "digits"}])
def test_a_reading_of_other_training_does_not_hold(race: Any, other: dict[str, Any]) -> None:
    """Another batch, data or first weights are another training, whose numbers become denormal elsewhere."""
    race("fake", max_rounds=1)
    later = race("fake", max_rounds=1, **other)
    assert later.contenders[0].late.comparison == later.comparison.id


def test_a_reading_up_to_another_step_does_not_hold(race: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A contender whose steps have become longer stops earlier."""
    race("fake", max_rounds=1)
    monkeypatch.setattr(late, "late_step", lambda _: 300)
    later = race("fake", max_rounds=1)
    assert later.contenders[0].late.late_step == 300


@pytest.mark.parametrize("pairs", [1, 2])
def test_a_disturbed_reading_holds_for_an_hour(race: Any, monkeypatch: pytest.MonkeyPatch, pairs: int) -> None:
    """One disturbed pair of eight is outvoted; with more, the reading is made again after a while."""
    first = race("fake", max_rounds=1)
    (folder,) = (remembered.base() / "late").iterdir()
    record = read_record(folder)
    shares = [(block, 0.5 if block.turn < pairs else 0.0) for block in record.late.blocks]  # whatever else runs here
    others = {"steal_share": 0.0, "wall_ns": 10**9}
    busy = [
        msgspec.structs.replace(block, signals=msgspec.structs.replace(block.signals, foreign_share=one, **others))
        for block, one in shares
    ]
    write_record(folder, msgspec.structs.replace(record, late=msgspec.structs.replace(record.late, blocks=busy)))
    assert race("fake", max_rounds=1).contenders[0].late.comparison == first.comparison.id
    monkeypatch.setattr(late, "DISTURBED_HOLDS", timedelta(0))
    again = race("fake", max_rounds=1)
    assert (again.contenders[0].late.comparison == first.comparison.id) is (pairs == 1)


def test_inference_has_no_late_steps(race: Any) -> None:
    """Where steps change nothing there is nothing to measure, and nothing is said."""
    outcome = race("fake", scenario="infer", max_rounds=1)
    assert outcome.contenders[0].late is None
    assert why_not(outcome) == ""


def test_long_steps_are_left_out_with_the_reason(race: Any) -> None:
    """Where no contender can do 100 steps in 10 s, the report says so."""
    outcome = race("fake:step_ms=150", max_rounds=1)
    assert outcome.contenders[0].late is None
    assert "100 steps take more than 10 s" in why_not(outcome)


def test_a_spent_budget_is_said(race: Any) -> None:
    """Where no time was left the stage runs nothing, and the report says that it was not measured."""
    outcome = race("fake", max_rounds=1, budget_s=0.001)
    records = read_records(Path(outcome.path)).records.values()
    assert [record for record in records if record.trial.purpose == "time"]
    assert not [record for record in records if record.trial.purpose == "late"]
    assert why_not(outcome).startswith("Late steps of training were not measured: the time budget was spent")


@pytest.mark.parametrize(("step_s", "steps"), [(0.001, 1000), (0.01, 1000), (0.011, 300), (0.05, 100), (0.11, None)])
def test_the_late_step_is_what_a_contender_reaches(step_s: float, steps: int | None) -> None:
    """Each has its own, so that a slow one hides no finding of a quick one."""
    assert late_step(step_s) == steps


@pytest.mark.parametrize(
    ("ratio", "differs"),
    [
        ((1.5, 1.4, 1.6), True),
        ((1.5, 0.9, 2.0), False),
        ((1.01, 1.005, 1.015), False),
        ((0.7, 0.6, 0.8), True),
        (None, False),
    ],
)
def test_a_difference_is_beyond_the_margin_and_its_interval_excludes_one(
    ratio: tuple[float, float, float] | None,
    differs: bool,  # noqa: FBT001 - a parameter of the table above
) -> None:
    """A wide interval, or a ratio within the margin, is no finding; a step that gets faster is one."""
    interval = None if ratio is None else Interval(estimate=ratio[0], low=ratio[1], high=ratio[2])
    found = Late(early_step=10, late_step=1000, ratio=interval, pairs=8, early_s=1.0, late_s=1.0)
    assert found.differs(0.02) is differs


def test_what_was_denormal_before_is_no_change() -> None:
    """A group counts that holds more denormal numbers late than early, and at least 1 %."""
    early = {
        "parameters": DenormalCount(elements=100, denormal=5),
        "first moment": DenormalCount(elements=1000, denormal=0),
    }
    after = early | {"first moment": DenormalCount(elements=1000, denormal=9)}
    reading = Late(early_step=1, late_step=2, ratio=None, pairs=0, early_s=1.0, late_s=1.0, early=early, late=after)
    assert reading.denormal() == {}


# --- By hand ------------------------------------------------------------------------------------------------------

MS = 1_000_000
"""In nanoseconds."""


def reading(*pairs_ms: tuple[float, float], **more: Any) -> LateReading:
    """Give blocks of pairs of step times, early and late, mirrored; the early blocks have twice as many steps."""
    blocks = []
    for turn, times_ms in enumerate(pairs_ms):
        both = [
            block(turn=turn, first_step=first, elapsed_ns=int(steps * step_ms * MS), steps_ns=[1] * steps)
            for first, steps, step_ms in zip((10, 300), (10, 5), times_ms, strict=True)
        ]
        blocks += both[:: -1 if turn % 2 else 1]
    return LateReading(early_step=10, late_step=300, blocks=blocks, **more)


def of_late(found: LateReading | None, outcome: str = "done") -> Record:
    """Give the record of a trial of late steps."""
    made = record("torch")
    trial = msgspec.structs.replace(made.trial, purpose="late")
    return msgspec.structs.replace(made, trial=trial, outcome=outcome, late=found, started_at="2026-11-29T12:00:00")


def test_late_is_held_against_early_within_each_pair() -> None:
    """The pair in the middle is told, and the middle times: one disturbed pair of seven is outvoted."""
    few, many = DenormalCount(elements=10, denormal=1), DenormalCount(elements=10, denormal=9)
    pairs = [(1.0, 2.0), (2.0, 4.0), (3.0, 6.0), (4.0, 8.0), (5.0, 10.0), (6.0, 12.0), (100.0, 5000.0)]
    found = judged([of_late(reading(*pairs, early={"gradients": few}, late={"gradients": many}))])
    assert found is not None
    assert found.ratio is not None
    assert (found.ratio.estimate, found.pairs) == (pytest.approx(2.0), 7)
    assert found.ratio.low == pytest.approx(2.0)
    assert found.ratio.high > 5.0, "95 % of seven pairs leave out no half of the disturbed one"
    assert (found.early_step, found.late_step) == (10, 300)
    assert (found.early_s, found.late_s) == (pytest.approx(0.004), pytest.approx(0.008))
    assert (found.early["gradients"], found.late["gradients"]) == (few, many)
    assert (found.measured_at, found.comparison) == ("2026-11-29T12:00:00", "mlp-mnist-4f2a")


@pytest.mark.parametrize(("pairs", "has_interval"), [(5, False), (6, True)])
def test_fewer_than_six_pairs_have_no_interval(pairs: int, *, has_interval: bool) -> None:
    """Their times are told all the same."""
    found = judged([of_late(reading(*[(1.0, 3.0)] * pairs))])
    assert found is not None
    assert (found.ratio is not None, found.pairs, found.late_s) == (has_interval, pairs, pytest.approx(0.003))


def test_what_counts_is_the_last_trial_that_came_to_its_end() -> None:
    """One that was lost says nothing, nor does one without a block."""
    first, second = (of_late(reading(*[(1.0, times)] * 6)) for times in (2.0, 3.0))
    lost = of_late(reading((1.0, 9.0)), "crashed")
    found = judged([first, second, lost, of_late(None)])
    assert found is not None
    assert found.late_s == pytest.approx(0.003)
    assert judged([lost]) is None
    assert judged([of_late(reading())]) is None


def test_a_hundredth_of_an_array_is_denormal_enough() -> None:
    """As in the docs: from 1 % on, where early in training it was less."""
    one = DenormalCount(elements=100, denormal=1)
    known = judged([of_late(reading((1.0, 1.0), early={"b": one}, late={"a": one, "b": one}))])
    assert known is not None
    assert known.denormal() == {"a": 0.01}
