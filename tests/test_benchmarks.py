"""Benchmarks of a device ask for it before they measure anything."""

from __future__ import annotations

import argparse
import math
from typing import Any

import msgspec
import pytest
from tests.conftest import script

from bakeoff import data
from bakeoff.certify.certificate import refuse
from bakeoff.environments.probe import ProbeAnswer
from bakeoff.spec.errors import UsageError
from bakeoff.spec.verdict import Certificate
from bakeoff.workloads.load import load, names


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


@pytest.fixture
def over_processes() -> Any:
    """Load what makes one ratio of several processes."""
    return script("over_processes")


def process_of(ratio: float, turns: int = 20) -> dict[str, list[float]]:
    """Return what a process gives in which every step by hand takes so many times as long as ours."""
    ours = [1.0 + turn / turns for turn in range(turns)]
    return {"ours": ours, "by hand": [ratio * step_s for step_s in ours]}


def test_processes_that_differ_widen_the_interval_whatever_their_turns_say(over_processes: Any) -> None:
    """Turns that agree within every process do not make a ratio sharp that processes disagree on."""
    ratios = (0.95, 0.96, 0.98, 1.0, 1.0, 1.02, 1.03)
    row = over_processes.told(("jax:vmap", "mnist-cnn"), 64, [process_of(ratio) for ratio in ratios])
    assert row["told"] == "cannot be told"
    assert (row["processes"], row["turns"]) == (7, 20)
    assert row["of each process"] == "0.950 0.960 0.980 1.000 1.000 1.020 1.030"
    agreed = over_processes.told(("jax:vmap", "mnist-cnn"), 64, [process_of(0.95)] * 7)
    assert (agreed["ratio"], agreed["told"]) == ("0.950 [0.950, 0.950]", "SLOWER")


def test_every_case_is_measured_before_any_again(over_processes: Any) -> None:
    """A machine that changes meets all pairs; one that is refused is asked once, and its reason is told."""
    asked = []

    def measure(pair: str, workload: str) -> dict[str, Any]:
        asked.append(pair)
        return {"refused": "no Opacus here"} if pair == "torch:hooks" else process_of(1.0)

    cases = [("torch:vmap", "mnist-cnn"), ("torch:hooks", "mnist-cnn"), ("jax:vmap", "mnist-cnn")]
    found = over_processes.measured(cases, 3, measure)
    assert asked == ["torch:vmap", "torch:hooks", "jax:vmap", "torch:vmap", "jax:vmap", "torch:vmap", "jax:vmap"]
    rows = [over_processes.told(case, 64, taken) for case, taken in found.items()]
    assert [row["processes"] for row in rows] == [3, 0, 3]
    assert rows[1]["told"] == "no Opacus here"
    assert [list(row) for row in rows] == [list(rows[0])] * 3


def test_too_few_processes_are_refused(over_processes: Any) -> None:
    """Two processes hardly show how much they differ, so that there is no interval of them."""
    with pytest.raises(argparse.ArgumentTypeError, match="2 processes give no interval: at least 3"):
        over_processes.count("2")


@pytest.fixture
def certificates() -> Any:
    """Load what certifies at full size."""
    return script("certificates")


def test_what_could_not_be_certified_stands_in_the_table(certificates: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A contender that is refused beforehand, or was not computed, is a row with its reason, and no gap."""

    def verify(request: Any) -> list[Certificate]:
        if "broken" in request.contenders:
            msg = "broken | is not\ninstalled"
            raise UsageError(msg)
        return [refuse("slow", "torch in float64", "no answer within 900 s")]

    monkeypatch.setattr(certificates, "verify", verify)
    case = ("mlp-mnist", "train", "full", 32, ("slow", "broken"))
    slow, broken = certificates.rows_of(case, "results", 900.0)
    assert list(slow) == list(broken)
    assert [row["passed"] for row in (slow, broken)] == ["not made"] * 2
    assert (slow["contender"], slow["why not"]) == ("slow", "no answer within 900 s")
    assert (broken["contender"], broken["why not"]) == ("broken", "broken / is not installed")


def test_an_ended_case_goes_on_with_what_it_has_left(certificates: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was computed for hours is not computed again; where nothing was left, it begins."""
    asked = []

    def verify(request: Any) -> list[Certificate]:
        asked.append((request.resume, request.results))
        if request.resume and len(asked) == 1:
            msg = "nothing to go on with"
            raise UsageError(msg)
        return [refuse("torch", "torch in float64", "")]

    monkeypatch.setattr(certificates, "verify", verify)
    for _ in range(2):
        certificates.rows_of(("mlp-mnist", "train", "full", 32, ("torch",)), "kept.records", 900.0)
    assert asked == [(True, "kept.records"), (False, "kept.records"), (True, "kept.records")]


def test_a_batch_is_halved_to_what_is_asked(certificates: Any) -> None:
    """By multiply-accumulates, by samples, and never below one; a file need not declare any."""
    size = load("mlp-mnist").workload.sizes["full"]
    assert certificates.batch_within(size, 1.0) == 1
    assert certificates.batch_within(size, math.inf) == size.batch_size
    assert certificates.batch_within(size, size.macs * 8.5) == 8
    undeclared = msgspec.structs.replace(size, macs=None)
    assert certificates.batch_within(undeclared, 1.0, 4) == 4


def test_every_workload_has_data_to_be_certified_on(certificates: Any) -> None:
    """Synthetic ones where there are any, and else what needs no network: none is left out."""
    found = {case[0]: certificates.data_of(case[0]) for case in certificates.full_cases()}
    assert set(found) == set(names())
    for workload, source in found.items():
        data.named(source, load(workload).workload)
    assert {found["gcn-cora"], found["rl-venv-ppo"], found["mlp-mnist"]} == {"graphs", "own", "synthetic"}
