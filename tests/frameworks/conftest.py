from __future__ import annotations

import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent

# The files beside this one import asking.py by its name.
sys.path.insert(0, str(HERE))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark as slow what starts a framework."""
    for item in items:
        if HERE in item.path.parents and item.path.name != "test_jittor_install.py":
            item.add_marker("slow")
