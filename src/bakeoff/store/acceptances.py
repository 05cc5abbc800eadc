"""Acceptances on disk: results/<acceptance>/acceptance.json, with a folder beside it for the records of each check."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bakeoff.spec.acceptance import Acceptance
from bakeoff.spec.errors import StoreError
from bakeoff.store import folders
from bakeoff.store.files import write_json
from bakeoff.store.reading import read_as

if TYPE_CHECKING:
    from pathlib import Path

ACCEPTANCE_FILE = "acceptance.json"


def write(folder: Path, acceptance: Acceptance) -> None:
    """Write acceptance.json, with how far each check is."""
    write_json(folder / ACCEPTANCE_FILE, acceptance)


def read(folder: Path) -> Acceptance:
    """Return the acceptance of a folder; raise StoreError with the reason."""
    return read_as(Acceptance, folder / ACCEPTANCE_FILE)


def acceptances(results: Path) -> list[Path]:
    """Return the folders of all acceptances that can be read, oldest first."""
    dated = []
    for path in folders.holding(results, ACCEPTANCE_FILE):
        try:
            dated.append((read(path.parent).created_at, path.parent))
        except StoreError:
            continue  # When it was made is unknown.
    return [folder for _, folder in sorted(dated)]


def latest_like(results: Path, wanted: Acceptance) -> tuple[Path, Acceptance] | None:
    """Return the latest acceptance that asked for the same; None where there is none."""
    return folders.latest_like(acceptances(results), read, _asked_of, wanted)


def find_acceptance(results: Path, name: str) -> Path | None:
    """Return the folder of an acceptance by its id, the end of its id, or its path; None where there is none."""
    return folders.by_name(name, ACCEPTANCE_FILE, acceptances(results))


def _asked_of(acceptance: Acceptance) -> tuple[object, ...]:
    """Return what must agree for an acceptance to be gone on with."""
    keys = [(check.key, check.title) for check in acceptance.checks]
    return acceptance.contenders, acceptance.device, acceptance.size, acceptance.quick, acceptance.seed, keys
