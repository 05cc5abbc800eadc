"""What all tests share."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from types import ModuleType

ROOT = Path(__file__).parent.parent


@pytest.fixture
def root() -> Path:
    """Give the repository's folder."""
    return ROOT


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give bakeoff an empty home of its own, so that a test sees no environment of this machine."""
    folder = tmp_path / "home"
    monkeypatch.setenv("BAKEOFF_HOME", str(folder))
    return folder


@pytest.fixture(scope="session")
def simulation() -> ModuleType:
    """Load benchmarks/simulation.py, which is a script and no part of the package."""
    spec = importlib.util.spec_from_file_location("simulation", ROOT / "benchmarks" / "simulation.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
