"""A fault is planted in a contender and not in its reference, as benchmarks/planted_faults.py has it at full size."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from catalogue.mutant import Mutant
from planting import contenders_found_in, planted
from tests.conftest import script
from tests.report.conftest import plan

from bakeoff.race import prepare
from bakeoff.workloads.load import load

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("home")]

FAULT = Mutant(
    "fake",
    "engine",
    "engine.py",
    "a loss that stays",
    [("return 2.3 * 0.98**self._trained * wrong", "return 2.3 * wrong")],
    {"mlp-mnist/train": "loss"},
)


def test_a_fault_is_in_the_contender_alone(tmp_path: Path) -> None:
    """The scripted framework is its own reference: without the fault it is certified, with it the loss is another."""
    benchmark = script("planted_faults")
    asked = SimpleNamespace(workload="mlp-mnist", size="reduced", batch_size=4, contender="fake", limit=60.0)
    request: Any = benchmark.request_for(asked, str(tmp_path / "results"))
    rows = [
        benchmark.row(name, benchmark.certified(request, fault), 0.0)
        for name, fault in ((benchmark.HONEST, None), (FAULT.name, FAULT))
    ]
    assert [one["certified"] for one in rows] == ["yes", "no"]
    assert rows[0]["caught by"] == ""
    assert "loss" in rows[1]["caught by"]
    assert benchmark.faulty(rows) == ""
    assert FAULT.name in benchmark.faulty([rows[0], rows[1] | {"certified": "yes"}])


def test_a_reference_of_another_framework_is_found(tmp_path: Path) -> None:
    """Where contenders are found in a folder of one framework's copy, what the reference's declares still is."""
    loaded, reference = load("deepspeech2"), plan("torch")
    with pytest.MonkeyPatch.context() as patch:
        contenders_found_in(patch, planted(FAULT, tmp_path).parent)
        own = prepare.with_own_layers(reference, loaded, loaded.size("full"), "train").own_layers
    assert own == ("LSTM",)


@pytest.mark.parametrize("contender", ["torch", "jax:mode=eager", "tensorflow", "mlx", "jittor"])
def test_every_fault_of_the_benchmark_is_in_the_catalogue(contender: str) -> None:
    """A framework has all that are certified at full size; a name that nobody has ends it with those that there are."""
    benchmark = script("planted_faults")
    assert tuple(benchmark.of_framework(contender, None)) == benchmark.FAULTS
    with pytest.raises(SystemExit, match="no fault of torch: no such; there are: "):
        benchmark.of_framework("torch", ["no such"])
