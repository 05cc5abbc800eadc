"""A study from its elements: study.json gets what each node looked up, its comparison, or why there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from bakeoff.cluster import states
from bakeoff.cluster.plans import named, study_of
from bakeoff.store import studies
from bakeoff.store.locks import locked
from bakeoff.store.studies import LOG_ENDS, PointState

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from bakeoff.cluster.plans import JobPlan
    from bakeoff.cluster.status import ElementStatus

REASON_LINES = 3
"""Of a log in a study's table: its last words; `bakeoff slurm collect --json` has more."""


def gather(folder: Path, plan: JobPlan, rows: Sequence[ElementStatus]) -> None:
    """Write study.json anew, so that every report reads the study as if one process had run it; again and again."""
    known = states.read_every(folder, len(plan.elements))
    points = [state.point or named(element) for state, element in zip(known, plan.elements, strict=True)]
    titled = [
        msgspec.structs.replace(point, title=element.title)
        for point, element in zip(points, plan.elements, strict=True)
    ]
    found = [
        PointState(comparison=state.comparison, reason=reason_of(row)) for state, row in zip(known, rows, strict=True)
    ]
    with locked(folder, "study"):
        before = studies.read(folder)
        studies.write(folder, msgspec.structs.replace(before, study=study_of(plan, titled), states=found))


def reason_of(row: ElementStatus) -> str:
    """Return why an element has no outcome, with the end of its log; "" where it has one, or its turn comes."""
    if row.state != "failed":
        return "" if row.comparison else f"{row.state}: no comparison yet"
    end = " / ".join(line.strip() for line in row.log_end.splitlines()[-REASON_LINES:])
    return f"{row.reason}{LOG_ENDS}{end}" if end else row.reason
