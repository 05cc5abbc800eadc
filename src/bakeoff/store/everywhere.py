"""Every comparison below some folders: those of a results directory, those of its studies, and a folder that is one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bakeoff.store.files import COMPARISON_FILE
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
