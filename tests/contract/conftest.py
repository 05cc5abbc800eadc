"""Make the modules beside the tests importable, under names that nothing else has."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from contract_run import shared  # noqa: E402 - found by the line above
from jittor_operators import operators  # noqa: E402, F401 - a fixture of all tests here


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark as slow what starts a framework."""
    for item in items:
        if HERE in item.path.parents and item.path.name != "test_child_process.py":
            item.add_marker("slow")


@pytest.fixture(scope="session", autouse=True)
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Share one folder among all processes of this run of the tests, and leave no process running."""
    yield from shared(tmp_path_factory)
