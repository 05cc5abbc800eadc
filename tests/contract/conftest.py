"""Make the modules beside the tests importable, under names that nothing else has; group the tests of a process."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from contract_run import DECLARED, Session  # noqa: E402 - found by the line above


@pytest.hookimpl(tryfirst=True)  # before those of tests/conftest.py, and of `pytest -n`
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Group the tests of one process: tests/conftest.py keeps a group together, and in one worker of `pytest -n`."""
    for item in items:
        if HERE not in item.path.parents or item.path.name == "test_child_process.py":
            continue
        item.add_marker("slow")
        parameters = item.callspec.params if hasattr(item, "callspec") else {}
        framework = parameters.get("framework")
        if framework in DECLARED:
            modes = DECLARED[framework].info.options["mode"]
            mode = parameters.get("mode")
            item.add_marker(pytest.mark.xdist_group(f"{framework} {mode if mode in modes.values else modes.default}"))


@pytest.fixture(scope="session", autouse=True)
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Share one folder among all processes of this run of the tests, and leave no process running."""
    base = tmp_path_factory.getbasetemp()
    Session.folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "contract"
    Session.folder.mkdir(exist_ok=True)
    yield
    Session.end()
