"""Make the modules beside the tests importable, under names that nothing else has."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.drawn import is_all, is_named

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from contract_run import shared  # noqa: E402 - found by the line above
from deep import is_drawn  # noqa: E402
from jittor_operators import operators  # noqa: E402, F401 - a fixture of all tests here

QUICK = ("test_child_process.py", "test_deep.py")
"""They start no framework."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark as slow what starts a framework, and leave out what is not drawn, unless it was named."""
    mine = [item for item in items if HERE in item.path.parents]
    for item in mine:
        if item.path.name not in QUICK:
            item.add_marker("slow")
    if is_all() or is_named(config):
        return
    tried = [item for item in mine if isinstance(item, pytest.Function) and hasattr(item, "callspec")]
    left_out = {item for item in tried if not is_drawn(item.originalname, item.callspec.params)}
    items[:] = [item for item in items if item not in left_out]
    config.hook.pytest_deselected(items=list(left_out))


@pytest.fixture(scope="session", autouse=True)
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Share one folder among all processes of this run of the tests, and leave no process running."""
    yield from shared(tmp_path_factory)
