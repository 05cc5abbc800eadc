"""From a study's records to its outcome, which is all that a report reads."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from bakeoff.judge.comparison import judge_comparison
from bakeoff.judge.explanation import ContenderProfile
from bakeoff.judge.outcome import Outcome
from bakeoff.judge.profile import profiles_of
from bakeoff.spec.errors import BakeoffError
from bakeoff.spec.study import Point, Study
from bakeoff.store.absurd import told_if_absurd
from bakeoff.store.results import read_records
from bakeoff.store.studies import read

if TYPE_CHECKING:
    from bakeoff.spec.record import Record
    from bakeoff.store.studies import PointState


NOT_BEGUN = "its turn has not come"
"""Why there is nothing of a comparison before it is begun."""


class PointOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """One point, judged."""

    point: Point
    outcome: Outcome | None = None
    """None where no comparison was begun."""
    profiles: list[ContenderProfile] = []
    """What the contenders' steps consist of, where the study asks for traces."""
    reason: str = ""
    """Why there is no outcome, or why it is not finished, in a sentence; empty where all is well."""


class StudyOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """A study, judged."""

    study: Study
    id: str
    path: str
    """The study's folder."""
    created_at: str
    bakeoff: str
    """The version of bakeoff that began it."""
    points: list[PointOutcome]
    """In the order in which they were declared."""

    @property
    def outcomes(self) -> list[Outcome]:
        """Every comparison that was begun."""
        return [point.outcome for point in self.points if point.outcome is not None]


def judge_study(folder: Path) -> StudyOutcome:
    """Return the outcome of the study in a folder, every comparison judged from its own records."""
    stored = read(folder)
    return StudyOutcome(
        study=stored.study,
        id=stored.id,
        path=str(folder),
        created_at=stored.created_at,
        bakeoff=stored.bakeoff,
        points=[
            _judged(folder, state, msgspec.structs.replace(PointOutcome(point=point), reason=state.reason))
            for point, state in zip(stored.study.points, stored.states, strict=True)
        ],
    )


def _judged(folder: Path, state: PointState, known: PointOutcome) -> PointOutcome:
    """Return the point with its outcome, where its comparison was begun."""
    if not state.comparison:
        return known if known.reason else msgspec.structs.replace(known, reason=NOT_BEGUN)
    if state.comparison != Path(state.comparison).name:
        return msgspec.structs.replace(known, reason=f"{state.comparison!r} is no folder of this study")
    try:
        with told_if_absurd():
            outcome = judge_comparison(folder / state.comparison)
            traced = profiles_of(outcome, _records(folder / state.comparison)) if known.point.request.traced else []
    except BakeoffError as error:
        return msgspec.structs.replace(known, reason=str(error))
    return msgspec.structs.replace(known, outcome=outcome, profiles=traced)


def _records(folder: Path) -> list[Record]:
    """Return the records of a comparison."""
    return list(read_records(folder).records.values())
