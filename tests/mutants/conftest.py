"""Make the modules beside the tests and those of the contract importable; plant a part of the mutants, or all."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.drawn import is_named

HERE = Path(__file__).parent

HELD_PAGE = ("test_the_page_has_every_mutant", "test_the_page_says_what_caught_each")

sys.path[:0] = [str(HERE), str(HERE.parent / "contract")]

import table  # noqa: E402 - found by the line above
from contract_run import shared  # noqa: E402
from drawing import drawn, is_all  # noqa: E402
from jittor_operators import operators  # noqa: E402, F401 - a fixture of all tests here


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark as slow what plants faults, and leave out what is not drawn, unless it was named."""
    mine = [item for item in items if item.path == HERE / "test_mutants.py"]
    for item in mine:
        item.add_marker("slow")
    if is_all():  # The page is written at the end of this run: what is there is of another catalogue.
        of_page = [item for item in items if item.path == HERE / "test_table.py" and item.name in HELD_PAGE]
        items[:] = [item for item in items if item not in of_page]
        config.hook.pytest_deselected(items=of_page)
        return
    if is_named(config):
        return
    part = drawn()
    planting = [item for item in mine if "mutant" in item.callspec.params]
    left_out = [item for item in planting if item.callspec.params["mutant"] not in part]
    items[:] = [item for item in items if item not in set(left_out)]
    config.hook.pytest_deselected(items=left_out)


@pytest.fixture(scope="session", autouse=True)
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Share the contract's folder and processes."""
    yield from shared(tmp_path_factory)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Keep what was found, in the process that started the run."""
    table.take(report)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write docs/mutants.md once all mutants were planted and caught."""
    if is_all() and not session.testsfailed and not hasattr(session.config, "workerinput"):
        assert session.config.cache is not None
        table.write(session.config.cache)
