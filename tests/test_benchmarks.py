"""Benchmarks of a device ask for it before they measure anything."""

from __future__ import annotations

import argparse
from typing import Any

import pytest
from tests.conftest import script

from bakeoff.environments.probe import ProbeAnswer


@pytest.fixture
def devices(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Load the check, in which every interpreter has a processor only."""
    module = script("devices")
    monkeypatch.setattr(module, "resolve", lambda *_: "/an/interpreter")
    monkeypatch.setattr(module, "probe", lambda *_, **__: ProbeAnswer(devices=["cpu"]))
    monkeypatch.setattr(module.gpu_facts, "gpu", lambda: {"gpu": "NVIDIA L4"})
    return module


def test_a_device_that_is_not_there_ends_a_benchmark(devices: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """The message names the framework, and what to type; exit code 2."""
    with pytest.raises(SystemExit) as ended:
        devices.check(argparse.ArgumentParser(), ["fake"], "cuda")
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert "fake: Fake (scripted) finds no device cuda." in said
    assert "bakeoff env create fake --device cuda" in said


def test_a_processor_is_always_there(devices: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a device asked for no interpreter is started for the question."""
    monkeypatch.setattr(devices, "probe", lambda *_: 1 / 0)
    devices.check(argparse.ArgumentParser(), ["fake"], "cpu")
