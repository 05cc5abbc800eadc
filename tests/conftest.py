"""What all tests share."""

from __future__ import annotations

from pathlib import Path

import pytest

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
