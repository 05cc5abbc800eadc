"""Names of trials' folders."""

from __future__ import annotations

from itertools import chain, count
from typing import TYPE_CHECKING

from bakeoff.spec.contender import slug

if TYPE_CHECKING:
    from collections.abc import Sequence

LONGEST_NAME = 200
"""Bytes of a label in a folder's name: file systems allow 255, and the stage stands before it."""


def folder_names(labels: Sequence[str]) -> dict[str, str]:
    """Give each label a name for its trials' folders: readable, short enough, and no other label's."""
    names: dict[str, str] = {}
    taken: set[str] = set()
    for label in labels:
        short = slug(label).encode()[:LONGEST_NAME].decode(errors="ignore")
        candidates = chain([short], (f"{short}-{number}" for number in count(2)))
        # Case is folded because file systems may do so.
        name = next(name for name in candidates if name.casefold() not in taken)
        names[label] = name
        taken.add(name.casefold())
    return names
