"""Following comparisons while they run: which of them have new records, and which are over."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

from bakeoff.store.files import END_FILE, RECORD_FILE
from bakeoff.store.locks import is_locked
from bakeoff.store.results import comparisons, is_study

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

LOOK_S = 5.0
"""Between two looks at a folder that is followed: rare, because what looks shares the machine with what is timed."""


class ComparisonUpdate(NamedTuple):
    """A comparison that has new records, or is over."""

    folder: Path
    is_running: bool


def comparisons_in(places: Iterable[Path]) -> list[Path]:
    """Return the folders of comparisons, each once: those that were named, and those that studies have begun."""
    found = [one for place in places for one in (comparisons(place) if is_study(place) else [place])]
    return list(dict.fromkeys(found))


def as_they_are(places: Sequence[Path]) -> list[ComparisonUpdate]:
    """Return every comparison of these places, each once, with whether it runs at this moment."""
    growing = _growing(places)
    return [ComparisonUpdate(folder, _is_running(folder, growing)) for folder in comparisons_in(places)]


def following(places: Sequence[Path], look_s: float = LOOK_S) -> Iterator[ComparisonUpdate]:
    """Yield comparisons whenever they have new records, each for the last time when it is over.

    It is over when its reason is written down, or when no process has its lock or that of its study, which may go on
    with it. A study that runs is looked into for comparisons that it has begun meanwhile.
    """
    seen: dict[Path, frozenset[tuple[str, int]]] = {}
    over: set[Path] = set()
    while True:
        # In this order: what is written between the two looks is seen in the next one, or before the end.
        growing = _growing(places)
        left = [folder for folder in comparisons_in(places) if folder not in over]
        for folder in left:
            is_running = _is_running(folder, growing)
            now = _records(folder)
            if not is_running:
                over.add(folder)
            if now != seen.get(folder) or not is_running:
                seen[folder] = now
                yield ComparisonUpdate(folder, is_running)
        if not growing and over.issuperset(left):
            return
        time.sleep(look_s)


def _growing(places: Iterable[Path]) -> set[Path]:
    """Return the studies that run, and may begin comparisons."""
    return {place for place in places if is_study(place) and is_locked(place)}


def _is_running(folder: Path, growing: set[Path]) -> bool:
    """Return whether a comparison may get more records: it has no end, and a process has its lock or its study's."""
    return not (folder / END_FILE).exists() and (folder.parent in growing or is_locked(folder))


def _records(folder: Path) -> frozenset[tuple[str, int]]:
    """Return the records of a comparison, each with when it was written; nothing is opened."""
    found = set()
    for path in folder.glob(f"*/{RECORD_FILE}"):
        try:
            found.add((path.parent.name, path.stat().st_mtime_ns))
        except OSError:
            continue  # Set aside at this moment.
    return frozenset(found)
