"""One file a subject of a comparison: its words, tables, warnings and JSON fields together, from the judge's outcome.

A new kind of measurement is a file here, and a line in the list of `bakeoff.report.pages.comparison`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from bakeoff.judge.outcome import ContenderOutcome, Outcome
    from bakeoff.report.page import Section


class Subject(NamedTuple):
    """What one subject adds to a comparison's page; what it leaves out is empty."""

    sections: Callable[[Outcome], list[Section]] = lambda _: []
    cautions: Callable[[Outcome], list[str]] = lambda _: []
    """What a reader must know before trusting a number, in sentences."""
    data: Callable[[Outcome], dict[str, Any]] = lambda _: {}
    """Keys of the JSON object."""
    fields: Callable[[ContenderOutcome], dict[str, Any]] = lambda _: {}
    """Keys of a contender in the JSON object."""
