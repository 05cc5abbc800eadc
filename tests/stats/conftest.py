"""The simulated machine of the benchmarks, for the tests that need one."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from types import ModuleType

SIMULATION = Path(__file__).parents[2] / "benchmarks" / "simulation.py"


@pytest.fixture(scope="session")
def simulation() -> ModuleType:
    """Load benchmarks/simulation.py, which is a script and no part of the package."""
    spec = importlib.util.spec_from_file_location("simulation", SIMULATION)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
