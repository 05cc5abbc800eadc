"""Searches for the largest batch in a results directory: results/<search>/search.json, with the trials beside it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from bakeoff.spec.comparison import Search
from bakeoff.spec.errors import StoreError
from bakeoff.store import folders
from bakeoff.store.files import COMPARISON_FILE, STUDY_FILE, write_json
from bakeoff.store.reading import read_as
from bakeoff.store.resuming import LIKENESSES

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from bakeoff.spec.comparison import Comparison

SEARCH_FILE = "search.json"


def write_search(folder: Path, search: Search) -> None:
    """Write search.json, before the first trial."""
    write_json(folder / SEARCH_FILE, search)


def read_search(folder: Path) -> Search:
    """Return the search of a folder; raise StoreError with the reason."""
    return read_as(Search, folder / SEARCH_FILE)


def latest_like(results: Path, wanted: Search) -> tuple[Path, Search] | None:
    """Return the latest search that asked for the same; None where there is none.

    As of comparisons, one whose workload's file or data are others now counts where no other is there.
    """
    known = searches(results)
    found = (folders.latest_like(known, read_search, partial(_asked, likeness), wanted) for likeness in LIKENESSES)
    return next(filter(None, found), None)


def _asked(likeness: Callable[[Comparison], object], search: Search) -> tuple[object, ...]:
    """Return what must agree for a search to be resumed with another's records, as far as this likeness says."""
    return likeness(search.plan), search.asked_bytes, search.precision


def searches(results: Path) -> list[Path]:
    """Return the folders of all searches that can be read, oldest first."""
    dated = [
        (created, path.parent)
        for path in folders.holding(results, SEARCH_FILE)
        if (created := _created_at(path.parent))
    ]
    return [folder for _, folder in sorted(dated)]


def find_search(results: Path, name: str) -> Path | None:
    """Return the folder of a search, by its id, the end of its id, or its path; None where there is no such search."""
    return folders.by_name(name, SEARCH_FILE, searches(results))


def latest_search(results: Path) -> Path | None:
    """Return the folder of the latest search; None where a comparison or a study was begun or resumed after it."""
    files = folders.holding(results, SEARCH_FILE, COMPARISON_FILE, STUDY_FILE)
    latest = max(files, key=lambda path: path.lstat().st_mtime_ns, default=None)
    return latest.parent if latest is not None and latest.name == SEARCH_FILE else None


def _created_at(folder: Path) -> str:
    """Return when a search began; "" where its file cannot be read."""
    try:
        return read_search(folder).plan.created_at
    except StoreError:
        return ""
