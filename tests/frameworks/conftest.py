from __future__ import annotations

import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent

# The files beside this one import asking.py by its name.
sys.path.insert(0, str(HERE))


@pytest.hookimpl(tryfirst=True)  # before that of tests/conftest.py, and of `pytest -n`
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark as slow what starts a framework; Jittor's operators are compiled by one process at a time, in one folder."""
    for item in items:
        if HERE in item.path.parents and item.path.name != "test_jittor_install.py":
            item.add_marker("slow")
        if item.path == HERE / "test_jittor.py":
            item.add_marker(pytest.mark.xdist_group("jittor compiled"))
