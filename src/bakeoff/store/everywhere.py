"""Every comparison below some folders: those of a results directory, those of its studies, and a folder that is one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bakeoff.spec.errors import StoreError
from bakeoff.store.files import COMPARISON_FILE, read_comparison
from bakeoff.store.results import comparisons, is_study
from bakeoff.store.studies import studies

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


def every_comparison(places: Iterable[Path]) -> list[Path]:
    """Return the folders of all comparisons in these places, each once: a place's own first, then those of its studies.

    A place is a results directory, a study or a comparison; one that does not exist has none.
    """
    found: dict[Path, Path] = {}
    for place in places:
        if (place / COMPARISON_FILE).is_file():
            folders = [place]
        elif is_study(place):
            folders = comparisons(place)
        else:
            folders = [one for folder in (place, *studies(place)) for one in comparisons(folder)]
        for folder in folders:
            found.setdefault(folder.resolve(), folder)
    return list(found.values())


def of_workload(results: Path, name: str) -> list[Path]:
    """Return the folders of a workload's comparisons, the newest first; those that cannot be read are none of them."""
    return [folder for folder in reversed(comparisons(results)) if _workload(folder) == name]


def raced(results: Path) -> list[str]:
    """Return the names of all workloads that were raced, and the ids of all comparisons, in a results directory."""
    folders = comparisons(results)
    return sorted({name for folder in folders for name in (_workload(folder), folder.name) if name})


def _workload(folder: Path) -> str:
    """Return the name of a comparison's workload; "" where its file cannot be read."""
    try:
        return read_comparison(folder).workload.name
    except StoreError:
        return ""
