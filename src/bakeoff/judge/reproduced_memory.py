"""Memory that a document gives, beside what the records of the same rows hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from bakeoff.judge.reproduction import both, contender_of, hole, machine_of
from bakeoff.spec.published import MemoryKind

if TYPE_CHECKING:
    from bakeoff.judge.study import StudyOutcome
    from bakeoff.spec.published import PublishedStudy
    from bakeoff.spec.record import Memory

ELSE: MemoryKind = "process at its peak"
"""What stands beside a figure of which a study does not say it."""


class MemoryLine(msgspec.Struct, frozen=True, kw_only=True):
    """One figure of one row."""

    comparison: str
    row: str
    machine: str
    name: str
    """The document's, for what it measured."""
    published_gb: float
    kind: MemoryKind
    """What of ours stands beside it."""
    held_bytes: int | None
    """Ours; None: unknown, as a GPU's on a processor."""
    hole: str
    """Why nothing was measured; empty where something was."""


def memory_lines(study: StudyOutcome, published: PublishedStudy) -> list[MemoryLine]:
    """Return every figure of memory, in the document's order."""
    found = []
    for declared, point in both(study, published):
        for figure in declared.figures:
            known = contender_of(point, figure.row)
            for name, value in figure.memory_gb.items():
                kind = published.memory.get(name, ELSE)
                line = MemoryLine(
                    comparison=declared.name,
                    row=figure.row,
                    machine=machine_of(published, figure),
                    name=name,
                    published_gb=value,
                    kind=kind,
                    held_bytes=held_bytes(known.memory, kind) if known and known.memory else None,
                    hole=hole(point, figure.row),
                )
                found.append(line)
    return found


def held_bytes(memory: Memory, kind: MemoryKind) -> int | None:
    """Return what a process held, of a kind."""
    held = {
        "process after its import": memory.baseline_bytes,
        "process at its peak": memory.peak_bytes,
        "GPU at its peak": memory.device_process_bytes,
    }
    return held.get(kind)
