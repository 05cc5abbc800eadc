from __future__ import annotations

import sys
from pathlib import Path

import pytest
from tests.drawn import first, is_all, is_named, sources

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

READY_MADE = HERE / "test_ready_made.py"
"""Of its models one is drawn: a compiler works for half a minute for each."""

# The files beside this one import asking.py by its name, and what compiles Jittor's operators for the contract.
sys.path.insert(0, str(HERE))
sys.path.append(str(HERE.parent / "contract"))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark as slow what starts a framework, and leave out what is not drawn, unless it was named."""
    for item in items:
        if HERE in item.path.parents and item.path.name not in WITHOUT:
            item.add_marker("slow")
    if is_all() or is_named(config):
        return
    tried = [item for item in items if isinstance(item, pytest.Function) and item.path == READY_MADE]
    models = {item: str(item.callspec.params["name"]) for item in tried}
    drawn = first(set(models.values()), 1, sources())
    left_out = {item for item, name in models.items() if name not in drawn}
    items[:] = [item for item in items if item not in left_out]
    config.hook.pytest_deselected(items=list(left_out))
