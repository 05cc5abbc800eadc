from __future__ import annotations

import platform
import subprocess
from types import SimpleNamespace
from typing import Any

import pytest

from bakeoff.measure import machine


def apple(monkeypatch: pytest.MonkeyPatch, answer: Any) -> None:
    """Make a macOS whose sysctl gives this answer."""

    def run(command: list[str], **_: Any) -> Any:
        assert command[-1] == "machdep.cpu.brand_string"
        if isinstance(answer, Exception):
            raise answer
        return SimpleNamespace(stdout=answer)

    monkeypatch.setattr(machine, "Path", _missing)
    monkeypatch.setattr(platform, "system", lambda: "Darwin")
    monkeypatch.setattr(platform, "processor", lambda: "arm")
    monkeypatch.setattr(subprocess, "run", run)


def _missing(path: str) -> Any:
    """Give a path that nothing is at."""

    def read_text() -> str:
        raise FileNotFoundError(path)

    return SimpleNamespace(read_text=read_text)


def test_an_apple_chip_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """On macOS the chip's own name is the processor, not the architecture that Python knows."""
    apple(monkeypatch, "Apple M2 Pro\n")
    assert machine.processor() == "Apple M2 Pro"


@pytest.mark.parametrize("answer", ["", OSError("no such program"), subprocess.TimeoutExpired("sysctl", 5)])
def test_a_silent_system_has_python_s_answer(monkeypatch: pytest.MonkeyPatch, answer: Any) -> None:
    """Where sysctl says nothing, fails or hangs, Python's own word stands."""
    apple(monkeypatch, answer)
    assert machine.processor() == "arm"
