"""Drawing a part of what is tried in one run of the tests: by the hash of bakeoff's own sources.

It is the same part for all runs of a commit on all machines, and another one with every change of the sources, so that
the parts go round as the project goes on. Naming a test, or `-k`, draws nothing: what is named is tried.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pytest

import bakeoff
from bakeoff.store.fingerprints import files_sha256

VARIABLE = "BAKEOFF_TESTS"
"""With the value `all`, as `make test-all` sets it, all is tried."""


def is_all() -> bool:
    """Return whether everything is asked for."""
    return os.environ.get(VARIABLE) == "all"


def is_named(config: pytest.Config) -> bool:
    """Return whether tests were asked for by name."""
    return bool(config.option.keyword) or any("::" in argument for argument in config.args)


def first(names: Iterable[str], count: int, seed: str) -> set[str]:
    """Return so many of these names, drawn by the seed."""
    return set(sorted(names, key=lambda name: hashlib.sha256(f"{seed} {name}".encode()).digest())[:count])


@cache
def sources() -> str:
    """Return the seed of a run: the hash of bakeoff's sources."""
    root = Path(bakeoff.__file__).parent
    return files_sha256(root, sorted(root.rglob("*.py")))


MUTANTS_VARIABLE = "BAKEOFF_MUTANTS"
"""With the value `all`, as `make mutants` sets it, all faults are planted (tests/mutants/drawing.py)."""


def later_steps(many: int, few: int) -> int:
    """Return the steps of a run's certificates: few in every second version of the sources; many where all is run."""
    is_whole = is_all() or os.environ.get(MUTANTS_VARIABLE) == "all"
    return few if not is_whole and int(sources(), 16) % 2 else many
