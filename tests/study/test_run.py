from __future__ import annotations

import json
import re
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest

from bakeoff.judge.study import judge_study
from bakeoff.race.progress import (
    Event,
    PointEnded,
    PointStarted,
    Prepared,
    RoundEnded,
    StudyEvent,
    StudyStarted,
    TrialStarted,
)
from bakeoff.spec.errors import StoreError, UsageError
from bakeoff.store.files import read_record, write_record
from bakeoff.store.locks import locked

if TYPE_CHECKING:
    from tests.study.conftest import Swept

pytestmark = pytest.mark.slow


def test_every_point_is_a_comparison_of_its_own(swept: Swept) -> None:
    """Each point has its verdict, its records stand beside study.json, and the same is judged from disk again."""
    outcome = swept("fake", "fake:step_ms=2")
    assert [point.point.coordinates for point in outcome.points] == [{"batch size": "8"}, {"batch size": "16"}]
    assert [one.comparison.batch_size for one in outcome.outcomes] == [8, 16]
    assert [one.verdicts[0].verdict for one in outcome.outcomes] == ["faster", "faster"]
    assert {Path(one.path).parent for one in outcome.outcomes} == {Path(outcome.path)}
    assert judge_study(Path(outcome.path)) == outcome


def test_a_point_that_fails_does_not_end_the_study(swept: Swept) -> None:
    """A batch that the data cannot fill is told with its reason, and the next point is run."""
    outcome = swept("fake", data="digits", axes={"batch size": ("8", "100000", "16")})
    assert [bool(point.outcome) for point in outcome.points] == [True, False, True]
    assert "has only" in outcome.points[1].reason


def test_what_the_first_point_cannot_have_is_an_error(swept: Swept, tmp_path: Path) -> None:
    """Words that no point can have leave nothing behind."""
    with pytest.raises(UsageError, match="has only"):
        swept("fake", data="digits", axes={"batch size": ("100000", "16")})
    assert not list(tmp_path.glob("results/*/study.json"))


def test_a_study_goes_on_where_it_was_interrupted(swept: Swept) -> None:
    """After Ctrl-C finished points are not touched, the one that ran goes on, and the others follow."""

    def interrupt(event: StudyEvent | Event) -> None:
        if isinstance(event, PointStarted) and event.number == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        swept("fake", "fake:step_ms=2", observe=interrupt)
    events: list[StudyEvent | Event] = []
    outcome = swept("fake", "fake:step_ms=2", observe=events.append, resume=True)
    assert [event.done for event in events if isinstance(event, StudyStarted)] == [1]
    assert [event.number for event in events if isinstance(event, PointStarted)] == [2]
    assert [one.ended for one in outcome.outcomes] == ["decided", "decided"]


@pytest.mark.by_turns
def test_rounds_behind_the_last_look_are_not_missing(swept: Swept) -> None:
    """Of 6 rounds the sixth could bring no verdict and is not run; the study is finished until more are asked for."""
    pair = ("fake:process_noise=0.2", "fake:process_noise=0.2,step_ms=1.05")
    outcome = swept(*pair, max_rounds=6)
    assert {(one.ended, one.rounds) for one in outcome.outcomes} == {("rounds", 5)}
    events: list[StudyEvent | Event] = []
    swept(*pair, observe=events.append, max_rounds=6, resume=True)
    swept(*pair, observe=events.append, max_rounds=7, resume=True)
    assert [event.done for event in events if isinstance(event, StudyStarted)] == [2, 0]


def test_a_point_whose_trial_is_gone_is_not_finished(swept: Swept) -> None:
    """Going on with a study makes up for it by another round, once; points that lack none are finished."""
    pair = ("fake:process_noise=0.2", "fake:process_noise=0.2,step_ms=1.05")
    outcome = swept(*pair, max_rounds=5)
    gone = next(Path(outcome.outcomes[1].path).glob("r02-*step_ms*"))
    shutil.rmtree(gone)
    events: list[StudyEvent | Event] = []
    for _ in range(2):
        made = swept(*pair, observe=events.append, max_rounds=5, resume=True)
        assert [(one.rounds, one.verdicts[0].rounds) for one in made.outcomes] == [(5, 5), (6, 5)]
    assert [event.done for event in events if isinstance(event, StudyStarted)] == [1, 2]


def _interrupt_behind_a_round(event: StudyEvent | Event) -> None:
    """Press Ctrl-C where a comparison has a round."""
    if isinstance(event, RoundEnded):
        raise KeyboardInterrupt


def test_within_a_point_finished_trials_are_not_done_again(swept: Swept) -> None:
    """A comparison that was cut off goes on from its records, in its own folder."""
    noisy = ("fake:process_noise=0.02", "fake:process_noise=0.02")
    with pytest.raises(KeyboardInterrupt):
        swept(*noisy, observe=_interrupt_behind_a_round)
    events: list[StudyEvent | Event] = []
    outcome = swept(*noisy, observe=events.append, resume=True)
    first_point = events[: next(index for index, event in enumerate(events) if isinstance(event, PointEnded))]
    started = [event.name for event in first_point if isinstance(event, TrialStarted)]
    assert started[0].startswith("r02-")
    assert len(list(Path(outcome.path).glob("*/comparison.json"))) == 2


@pytest.mark.by_turns
def test_a_budget_is_shared(swept: Swept) -> None:
    """Each point speaks of its share of what is left; without time it is not begun, and --resume goes on."""
    events: list[StudyEvent | Event] = []
    swept("fake", "fake:step_ms=2", observe=events.append, budget_s=100.0)
    shares = [event.budget_s for event in events if isinstance(event, PointStarted)]
    assert shares[0] == pytest.approx(50, abs=1)
    assert 60 < (shares[1] or 0) < 100

    foreseen: list[str] = []

    def dawdle(event: StudyEvent | Event) -> None:
        if isinstance(event, Prepared):
            foreseen.append(event.foreseen)
        if isinstance(event, PointEnded):
            time.sleep(0.2)

    late = swept("fake", "fake:step_ms=3", observe=dawdle, budget_s=0.1)
    assert [bool(point.outcome) for point in late.points] == [True, False]
    assert "the time budget had ended" in late.points[1].reason
    assert re.match(r"this point's share of the time, 0\.0\d+ s, buys about 1 of the 5 rounds", foreseen[0])
    assert foreseen[0].endswith("give --budget 60s or more for all points")
    on = swept("fake", "fake:step_ms=3", resume=True)
    assert [point.reason for point in on.points] == ["", ""]


def test_what_was_begun_before_is_never_called_not_begun(swept: Swept) -> None:
    """A comparison that was cut off keeps its rounds where a resumed study has no time for it, and its reason fits."""
    noisy = ("fake:process_noise=0.02", "fake:process_noise=0.02")
    with pytest.raises(KeyboardInterrupt):
        swept(*noisy, observe=_interrupt_behind_a_round)
    late = swept(*noisy, resume=True, budget_s=1e-9)
    assert [bool(point.outcome) for point in late.points] == [True, False]
    assert all(point.reason.startswith("not run this time: ") for point in late.points)
    with pytest.raises(KeyboardInterrupt):
        swept(*noisy, observe=_interrupt_behind_a_round, resume=True)
    again = judge_study(Path(late.path)).points
    assert [point.reason[:12] for point in again] == ["", "not run this"]  # the first has run since


def test_a_study_goes_on_as_long_as_a_comparison_may(swept: Swept) -> None:
    """More repeats of whole runs can be asked for when a study is resumed, as when a comparison is."""
    swept("fake", steps=5, repeats=1)
    on = swept("fake", steps=5, repeats=2, resume=True)
    assert on.study.points[0].request.repeats == 2


def test_there_must_be_something_to_go_on_with(swept: Swept) -> None:
    """--resume without such a study is an error that says what to do; other values are another study."""
    with pytest.raises(UsageError, match="run it without --resume"):
        swept("fake", resume=True)
    swept("fake")
    with pytest.raises(UsageError, match="run it without --resume"):
        swept("fake", axes={"batch size": ("8", "32")}, resume=True)


def test_a_second_parent_is_kept_away(swept: Swept) -> None:
    """Two runs never write into one study."""
    folder = Path(swept("fake").path)
    with locked(folder, "study"), pytest.raises(StoreError, match="start a new study without --resume"):
        swept("fake", resume=True)


def test_a_damaged_study_is_named(swept: Swept) -> None:
    """A study.json that is not as it was written is an error that names it, and a comparison that is gone a reason."""
    outcome = swept("fake", "fake:step_ms=2")
    folder = Path(outcome.path)
    (Path(outcome.outcomes[0].path) / "comparison.json").unlink()
    judged = judge_study(folder)
    assert "cannot read" in judged.points[0].reason
    assert judged.points[1].outcome is not None
    (folder / "study.json").write_text("{")
    with pytest.raises(StoreError, match=r"study\.json is damaged"):
        judge_study(folder)


def test_a_comparison_that_cannot_be_ends_no_study(swept: Swept) -> None:
    """Of what a stranger has sealed the reason is told, and the other comparisons are, in a report and going on."""
    outcome = swept("fake", "fake:step_ms=2", max_rounds=1)
    trial = Path(outcome.outcomes[0].path) / "r01-fake"
    record = read_record(trial)
    blocks = [msgspec.structs.replace(block, steps_ns=[]) for block in record.blocks]
    write_record(trial, msgspec.structs.replace(record, blocks=blocks))
    reported = judge_study(Path(outcome.path))
    for found in (reported, swept("fake", "fake:step_ms=2", max_rounds=1, resume=True)):
        assert [bool(point.outcome) for point in found.points] == [False, True]
        assert "they are sealed, and yet not what bakeoff writes (ZeroDivisionError" in found.points[0].reason


def test_a_study_without_a_state_for_each_point_is_damaged(swept: Swept) -> None:
    """A study.json that has lost states is named where it is read, and --resume passes over it as over others."""
    outcome = swept("fake", "fake:step_ms=2")
    file = Path(outcome.path, "study.json")
    content = json.loads(file.read_text())
    file.write_text(json.dumps(content | {"states": content["states"][:1]}))
    with pytest.raises(StoreError, match=r"study\.json is damaged: 2 points have 1 states"):
        judge_study(file.parent)
    with pytest.raises(UsageError, match="run it without --resume"):
        swept("fake", "fake:step_ms=2", resume=True)
