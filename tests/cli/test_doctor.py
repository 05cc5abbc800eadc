from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from bakeoff.environments import declared, interpreters
from bakeoff.environments.probe import Answer
from bakeoff.measure import noise

if TYPE_CHECKING:
    from tests.cli.conftest import Cli


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Watch the noise for a moment only: its figures are not what these tests are about."""
    watch = noise.probe
    monkeypatch.setattr(noise, "probe", lambda: watch(0.05))


def test_doctor_tells_machine_noise_and_frameworks(cli: Cli) -> None:
    """Without any framework, the machine and its noise are told, and how to get each framework."""
    said = cli("doctor")
    assert said.code == 0
    words = [line.split()[0] for line in said.out.splitlines() if not line.startswith(" ")]
    assert words[:8] == ["bakeoff", "processor", "memory", "system", "gpu", "energy", "clock", "kernel"]
    assert "huge pages" in said.out
    assert "foreign load" in said.out
    assert "not available: not installed here: bakeoff env create" in said.out


def test_doctor_starts_each_framework(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """An available framework is imported in its interpreter, and its devices are told."""
    monkeypatch.setattr(interpreters, "available", lambda: ({"fake": sys.executable}, {"other": "not here"}))
    said = cli("doctor").out
    assert "devices: cpu" in said
    assert sys.executable in said
    assert "other       not available: not here" in said


def test_doctor_tells_why_an_import_fails(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """A framework that is installed but cannot be imported is told with its reason."""
    monkeypatch.setattr(interpreters, "available", lambda: ({"fake": sys.executable}, {}))

    def fail(interpreter: str, folder: Path) -> Answer:
        assert (interpreter, folder) == (sys.executable, declared.framework("fake").path)
        return Answer(error="OSError: libnothing.so: cannot open")

    monkeypatch.setattr("bakeoff.environments.probe.probe", fail)
    assert "cannot be used: OSError: libnothing.so" in cli("doctor").out
