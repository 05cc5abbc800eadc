from __future__ import annotations

import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent

WITHOUT = (
    "test_jittor_install.py",
    "test_tf32.py",
    "test_xla.py",
    "test_planes.py",
    "test_origins.py",
    "test_operators.py",
)
"""Files that start no framework."""

# The files beside this one import asking.py by its name, and what compiles Jittor's operators for the contract.
sys.path.insert(0, str(HERE))
sys.path.append(str(HERE.parent / "contract"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark as slow what starts a framework."""
    for item in items:
        if HERE in item.path.parents and item.path.name not in WITHOUT:
            item.add_marker("slow")
