"""What keeps float32 from being TF32 on a GPU: programs for CUDA, made on a processor, and the measurement of it."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from contract_cases.lowered import HIGHEST, LOWERED
from contract_run import DECLARED, IN_EVERY_PRECISION, LIMIT_S, MODES, WORKLOADS, computed

from bakeoff.workloads.interpreter import forward
from bakeoff.workloads.shape_functions import Counter

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bakeoff.workloads.layers import Layer

pytestmark = pytest.mark.timeout(LIMIT_S)

TRAINED = [name for name, loaded in WORKLOADS.items() if "train" in loaded.workload.scenarios]

MODE = "compiled"

COMPILED_SLOWLY = {("torch", MODE)}
"""What starts Inductor's compiler for some 20 s to multiply two matrices, by the same kernels as its eager mode."""

WITH_CUDA = [
    (name, mode)
    for name, mode in MODES
    if "cuda" in DECLARED[name].info.options["device"].values and (name, mode) not in COMPILED_SLOWLY
]

MEASURED = ("tf32_matmul_measured", "tf32_convolution_measured")

ROUNDED = {
    "torch": ("from_numpy(left).to(device)", "from_numpy(left).to(device).bfloat16().float()"),
    "jax": ("made(jnp.asarray(left),", "made(jnp.asarray(left).astype(jnp.bfloat16).astype(jnp.float32),"),
    "tensorflow": ("made(tf.constant(left),", "made(tf.cast(tf.cast(tf.constant(left), tf.bfloat16), tf.float32),"),
}
"""For each framework a text in tf32.py, and what rounds the first operand as TF32 does this number."""

FAULTS = {
    "jax": ("nn.py", "features, out_features, use_bias=bias", 'features, out_features, precision="default"'),
    "tensorflow": ("precision.py", 'execution(enabled=name == "tf32")', "execution(enabled=True)"),
}
"""For each framework the file, a text in it, and what makes products of float32 less than that."""


def at_highest(products: Iterable[str]) -> list[bool]:
    """Tell of each product whether both of its operands have the highest precision."""
    return [str(product).split()[1:] == [HIGHEST, HIGHEST] for product in products]


class Reading(Counter):
    """Notes which layers multiply by their weights; an embedding's rows are taken, unless it is an output, too."""

    def __init__(self) -> None:
        """Start with none."""
        self.found: dict[int, Layer] = {}

    def read(self, layer: Layer) -> None:
        """Note a layer."""
        self.found[id(layer)] = layer


def layers(workload: str) -> int:
    """Count a workload's weights that are multiplied."""
    loaded, counter = WORKLOADS[workload], Reading()
    forward(loaded.build, loaded.size("reduced"), counter, trains=True)
    arrays = [named for layer in counter.found.values() for named in layer.parameters.items()]
    return sum(name.endswith("weight") and len(array.shape) in (2, 4) for name, array in arrays)


def fewest(workload: str) -> int:
    """Return how many products a training step has at least.

    Each weight: the product itself, its gradient, and that of its input, which the layers of the model's own inputs
    need not: one for each input of real numbers. A tenth may be merged with others: JAX has 59 for gnmt's 62.
    """
    inputs = WORKLOADS[workload].size("reduced").inputs.values()
    return int(0.9 * (3 * layers(workload) - max(1, sum(array.dtype.startswith("float") for array in inputs))))


def planted(framework: str, file: str, text: str, fault: str, folder: Path) -> Path:
    """Copy a framework's folder with another text in one of its files."""
    copy = folder / framework
    shutil.copytree(DECLARED[framework].path, copy, ignore=shutil.ignore_patterns("__pycache__"))
    sources = (copy / file).read_text()
    assert sources.count(text) == 1
    (copy / file).write_text(sources.replace(text, fault))
    return copy


@pytest.mark.parametrize("mode", [MODE])
@pytest.mark.parametrize("framework", LOWERED)
@pytest.mark.parametrize("workload", TRAINED)
def test_every_product_in_float32_stays_in_float32_on_a_gpu(framework: str, mode: str, workload: str) -> None:
    """Every convolution and product of a training step, forward and backward, has the highest precision."""
    found = computed(framework, mode).lowered(workload, "float32")
    assert len(found) >= fewest(workload)
    assert all(at_highest(found))


@pytest.mark.parametrize("mode", [MODE])
@pytest.mark.parametrize("framework", LOWERED)
@pytest.mark.parametrize("workload", IN_EVERY_PRECISION)
def test_every_product_in_tf32_may_be_so_on_a_gpu(framework: str, mode: str, workload: str) -> None:
    """Where TF32 is asked, no convolution and no product has the highest precision."""
    found = computed(framework, mode).lowered(workload, "tf32")
    assert len(found) >= fewest(workload)
    assert not any(at_highest(found))


@pytest.mark.parametrize("mode", [MODE])
@pytest.mark.parametrize("framework", LOWERED)
def test_a_product_in_less_than_float32_is_found(framework: str, mode: str, tmp_path: Path) -> None:
    """A layer, or a switch, that lets a GPU take TF32 where float32 was asked is seen in the program."""
    file, text, fault = FAULTS[framework]
    copy = planted(framework, file, text, fault, tmp_path)
    assert not all(at_highest(computed(framework, mode).lowered("mlp-mnist", "float32", copy)))


@pytest.mark.parametrize(("framework", "mode"), WITH_CUDA)
def test_a_processor_computes_float32_exactly(framework: str, mode: str) -> None:
    """Each framework's own products and convolutions, executed as its steps are, are measured to be no TF32."""
    found = computed(framework, mode).of("tf32")
    assert {name: bool(value) for name, value in found.items()} == dict.fromkeys(MEASURED, False)


@pytest.mark.parametrize("framework", ROUNDED)
def test_a_rounded_operand_is_measured(framework: str, tmp_path: Path) -> None:
    """A product of which one operand was rounded as TF32 does it is measured to be less than float32."""
    copy = planted(framework, "tf32.py", *ROUNDED[framework], tmp_path)
    assert computed(framework).of("tf32", folder=copy)["tf32_matmul_measured"]
