"""Which records belong to whom: the one way in which they are looked up."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bakeoff.spec.record import Record
    from bakeoff.spec.trial import Purpose


def of_contender(records: Iterable[Record], label: str) -> list[Record]:
    """Return a contender's records, in their order."""
    return [record for record in records if record.trial.contender.label == label]


def of_purpose(records: Iterable[Record], purpose: Purpose) -> list[Record]:
    """Return the records of trials of one purpose, in their order."""
    return [record for record in records if record.trial.purpose == purpose]


def finished(records: Iterable[Record]) -> list[Record]:
    """Return the records of trials that did all that was asked, in their order."""
    return [record for record in records if record.outcome == "done"]


def last(records: Iterable[Record], purpose: Purpose) -> Record | None:
    """Return the last record of a purpose; None where there is none."""
    return next(reversed(of_purpose(records, purpose)), None)
