"""Which races checked which suspects of a comparison: kept beside it, and judged from the records of both."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from bakeoff.judge.checked import NOT_RUN, SuspectRace, judged
from bakeoff.judge.explanation import Suspect
from bakeoff.judge.gap import less_in
from bakeoff.judge.suspects import unraced
from bakeoff.judge.switches import acts_on
from bakeoff.spec.errors import StoreError
from bakeoff.store.files import write_json
from bakeoff.store.reading import read_as
from bakeoff.store.results import read_records

if TYPE_CHECKING:
    from collections.abc import Callable

    from bakeoff.judge.explanation import Explanation, Gap

CHECKS_FOLDER = "checks"
"""Within a comparison's folder: the comparisons in which its suspects were raced."""

CHECKS_FILE = "checks.json"


class Link(msgspec.Struct, frozen=True, kw_only=True):
    """A gap, its suspects as they were before any race, and the race that checks them."""

    first: str
    second: str
    """The gap's labels in the comparison that is explained."""
    suspects: list[Suspect]
    comparison: str = ""
    """The folder of the race, in the folder of checks; empty where no suspect has a switch."""
    first_again: str = ""
    second_again: str = ""
    """Their labels in that race."""
    labels: dict[str, str] = {}
    """By switch, the label of the slower one with it turned."""

    @property
    def is_open(self) -> bool:
        """Return whether there is something to race, and no race."""
        return bool(self.labels) and not self.comparison


class Checks(msgspec.Struct, frozen=True, kw_only=True):
    """The content of checks.json."""

    version: int = 1
    links: list[Link] = []


def write_checks(folder: Path, checks: Checks) -> None:
    """Write what was checked of the comparison in a folder; raise StoreError with the cause."""
    write_json(folder / CHECKS_FOLDER / CHECKS_FILE, checks)


def read_checks(folder: Path) -> Checks:
    """Return what was checked of the comparison in a folder; nothing where there is no such file.

    Raises StoreError for a file that is damaged, or that names a race elsewhere.
    """
    path = folder / CHECKS_FOLDER / CHECKS_FILE
    found = read_as(Checks, path) if path.exists() else Checks()
    for link in found.links:
        if link.comparison == ".." or link.comparison != Path(link.comparison).name:
            msg = f"{path} is damaged: {link.comparison!r} is no folder beside it"
            raise StoreError(msg)
    return found


def are_noted(folder: Path) -> bool:
    """Return whether the suspects of the comparison in a folder were looked for."""
    return (folder / CHECKS_FOLDER / CHECKS_FILE).exists()


def with_checks(explanation: Explanation, folder: Path, explain: Callable[[Path], Explanation]) -> Explanation:
    """Return an explanation with what races said of its suspects; `explain` reads the explanation of such a race."""
    gaps = {(gap.first, gap.second): gap for gap in explanation.gaps}
    suspects = []
    for link in read_checks(folder).links:
        gap = gaps.get((link.first, link.second))
        if gap is not None:
            suspects += _judged(link, gap, folder, explain)
    return msgspec.structs.replace(explanation, suspects=suspects)


def _judged(link: Link, gap: Gap, folder: Path, explain: Callable[[Path], Explanation]) -> list[Suspect]:
    """Return the suspects of one gap; as they were before the race where its folder cannot be read."""
    if not link.comparison:
        return unraced(link.suspects, NOT_RUN) if link.labels else link.suspects
    place = folder / CHECKS_FOLDER / link.comparison
    try:
        found, records = explain(place), list(read_records(place).records.values())
    except StoreError as error:
        return unraced(link.suspects, str(error))
    turned = {
        switch: less_in(acts_on(switch), found.outcome, records, before=link.second_again, after=label)
        for switch, label in link.labels.items()
    }
    race = SuspectRace(
        outcome=found.outcome,
        first=link.first_again,
        second=link.second_again,
        labels=link.labels,
        gaps=found.gaps,
        causes=found.causes,
        unjudged=found.unjudged,
        less_s={switch: less for switch, less in turned.items() if less is not None},
        comparison=str(place),
    )
    return judged(link.suspects, gap, race)
