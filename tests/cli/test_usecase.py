"""`bakeoff use-case`: by a number and a benchmark, and `run` in all else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from bakeoff.cli import MISUSED, usecase
from bakeoff.measure import gpus
from bakeoff.spec.scenario import SCENARIOS
from bakeoff.spec.use_cases import BENCHMARKS, USE_CASES
from bakeoff.study.reproduction import DefaultDevice
from bakeoff.workloads.load import load

if TYPE_CHECKING:
    from tests.cli.conftest import Cli
    from tests.gpu.pretended import PretendedGpus

PAGE = Path(__file__).parents[2] / "docs" / "use-cases.md"
DRY = ("--size", "reduced", "--data", "synthetic", "--dry-run", "--json")


def told(cli: Cli, *arguments: str) -> dict[str, Any]:
    """Give the one comparison that would run."""
    said = cli("use-case", *arguments)
    assert said.code == 0, said.err
    (comparison,) = json.loads(said.out)["comparisons"]
    found: dict[str, Any] = comparison
    return found


def test_the_first_is_training_on_one_device(cli: Cli) -> None:
    """The workload and the scenario are the table's, and contenders and all options are those that were given."""
    found = told(cli, "1", "--benchmark", "cifar10", "fake", "fake:step_ms=2", "--batch-size", "4", *DRY)
    assert (found["workload"], found["scenario"], found["batch_size"]) == ("cnn-cifar10", "train", 4)
    assert [one["label"] for one in found["contenders"]] == ["fake", "fake:step_ms=2"]


def test_torch_and_jax_race_where_nobody_is_named(monkeypatch: pytest.MonkeyPatch, cli: Cli) -> None:
    """As in the pipeline, whose two frameworks they are."""
    asked: dict[str, Any] = {}
    monkeypatch.setattr(usecase.run, "run", lambda context, **given: asked.update(given))
    assert cli("use-case", "1", "--benchmark", "mnist").code == 0
    assert (asked["contenders"], asked["workload"], asked["device"]) == (["torch", "jax"], "mnist-cnn", None)


def test_the_second_is_on_two_devices_unless_it_is_said(cli: Cli) -> None:
    """Every contender races on one and on several."""
    data = ("--size", "reduced", "--dry-run", "--json")
    found = told(cli, "2", "--benchmark", "gnn", "fake", *data)
    assert (found["workload"], found["scenario"]) == ("gcn-cora", "train")
    assert [one["label"] for one in found["contenders"]] == ["fake", "fake:devices=2"]
    found = told(cli, "2", "--benchmark", "gnn", "fake", "--devices", "3", *data)
    assert [one["label"] for one in found["contenders"]] == ["fake", "fake:devices=3"]


def test_the_third_and_the_fourth_have_per_sample_gradients(cli: Cli) -> None:
    """Of molecules, where the benchmark is graphs, and in batches that memory holds; of what is asked for otherwise."""
    found = told(cli, "3", "--benchmark", "gnn", "fake", *DRY)
    assert (found["workload"], found["scenario"], found["batch_size"]) == ("gnn-molecules", "per-sample-gradients", 64)
    assert told(cli, "3", "--benchmark", "gnn", "fake", "--batch-size", "2", *DRY)["batch_size"] == 2
    found = told(cli, "4", "--benchmark", "nlp", "fake", *DRY)
    assert (found["workload"], found["scenario"]) == ("text-transformer", "per-sample-gradients")
    assert [one["label"] for one in found["contenders"]] == ["fake", "fake:devices=2"]


@pytest.mark.slow
@pytest.mark.usefixtures("inline")
def test_a_use_case_is_run(cli: Cli) -> None:
    """It ends as `run` does, and what goes on with it is the same command."""
    said = cli("use-case", "1", "--benchmark", "mnist", "fake", "fake:step_ms=2", *DRY[:4])
    assert said.code == 0
    assert "\nfake is faster: " in said.out


def test_several_devices_are_all_gpus(pretended_gpus: PretendedGpus, monkeypatch: pytest.MonkeyPatch, cli: Cli) -> None:
    """Where contenders can use the GPU, it is taken and never asked for; two and more of them are all taken."""
    asked: dict[str, Any] = {}
    monkeypatch.setattr(usecase.run, "run", lambda context, **given: asked.update(given))
    monkeypatch.setattr("bakeoff.study.reproduction.place_of", lambda texts, who: DefaultDevice("cuda"))
    assert cli("use-case", "2", "--benchmark", "mnist").code == 0
    assert (asked["device"], asked["devices"]) == ("cuda", "2")
    for number in range(1, 4):
        pretended_gpus.add({"name": "NVIDIA L4", "uuid": f"GPU-00000000-0000-0000-0000-00000000000{number}"})
    assert cli("use-case", "2", "--benchmark", "mnist").code == 0
    assert asked["devices"] == "4"
    assert gpus.visible_count({"CUDA_VISIBLE_DEVICES": "0,2,1"}) == 3
    assert gpus.visible_count({"CUDA_VISIBLE_DEVICES": ""}) == 0


def test_a_gpu_that_some_contender_cannot_use_is_told(monkeypatch: pytest.MonkeyPatch, cli: Cli) -> None:
    """The use case runs on the processor then, and says why and what to do."""
    monkeypatch.setattr(usecase.run, "run", lambda context, **given: None)
    monkeypatch.setattr(
        "bakeoff.study.reproduction.place_of", lambda texts, who: DefaultDevice("cpu", f"a GPU is here, {who} not")
    )
    said = cli("use-case", "1", "--benchmark", "mnist")
    assert "a GPU is here, the use case runs not; --device cuda races those that can" in said.err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("5", "--benchmark", "mnist"), "use case"),
        (("1", "--benchmark", "cora"), "benchmark"),
        (("1", "--benchmark", "mnist", "--scenario", "infer"), "No such option"),
    ],
)
def test_what_there_is_not_is_refused(cli: Cli, arguments: tuple[str, ...], told: str) -> None:
    """Other numbers, names and options end with one message that says what is valid."""
    said = cli("use-case", *arguments)
    assert said.code == MISUSED
    assert told in said.err


@pytest.mark.parametrize(
    ("number", "devices", "other"),
    [("1", "2", "2"), ("1", "1,2", "2"), ("2", "1", "1"), ("3", "2", "4"), ("4", "1", "3")],
)
def test_devices_that_contradict_the_number_are_refused(cli: Cli, number: str, devices: str, other: str) -> None:
    """One message says what the number is, and which use case is meant."""
    said = cli("use-case", number, "--benchmark", "mnist", "fake", "--devices", devices, *DRY)
    assert said.code == MISUSED
    assert f"use case {number} is {USE_CASES[number].meaning}" in " ".join(said.err.split())
    assert f"that is use case {other}, {USE_CASES[other].meaning}" in " ".join(said.err.split())


def test_devices_that_the_number_allows_are_taken(cli: Cli) -> None:
    """One device where it says one, two and more where it says several."""
    assert told(cli, "1", "--benchmark", "mnist", "fake", "--devices", "1", *DRY)["scenario"] == "train"
    found = told(cli, "4", "--benchmark", "mnist", "fake", "--devices", "1,2,3", *DRY)
    assert [one["label"] for one in found["contenders"]] == ["fake", "fake:devices=2", "fake:devices=3"]


def test_every_workload_of_the_table_has_its_scenario() -> None:
    """What the four use cases ask for, each benchmark's workload has."""
    for one in BENCHMARKS.values():
        assert "train" in load(one.workload).workload.scenarios
        assert "per-sample-gradients" in load(one.per_sample).workload.scenarios
    assert {one.scenario for one in USE_CASES.values()} <= SCENARIOS.keys()


def test_the_page_has_the_table() -> None:
    """docs/use-cases.md says of each number and each benchmark what it is."""
    text = PAGE.read_text("utf-8")
    for number, case in USE_CASES.items():
        assert f"| {number} | {case.meaning} | `{case.scenario}` |" in text
    for name, one in BENCHMARKS.items():
        batch = f", batch {one.batch_size}" if one.batch_size else ""
        assert f"| `{name}` | `{one.workload}` | `{one.per_sample}`{batch} |" in text
