"""Every way in which implementations of the same network are known to differ, put into a workload on purpose."""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest
from contract_run import LIMIT_S, REFERENCE, WORKLOADS, computed_of

from bakeoff.certify.certificate import certify
from bakeoff.spec.trial import TrialSpec

if TYPE_CHECKING:
    from contract_run import Found

pytestmark = pytest.mark.timeout(LIMIT_S)

CERTIFY_STEPS = next(field.default for field in msgspec.structs.fields(TrialSpec) if field.name == "certify_steps")

TANH_GELU = """
def tanh_gelu(nn, x):
    return 0.5 * x * (1.0 + nn.tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)))


def loss("""

TRAPS: dict[str, tuple[str, list[tuple[str, str]]]] = {
    "v1, whose stages have their stride in the first 1x1": (
        "resnet50",
        [
            ("ConvNorm(inputs, width, 1)", "ConvNorm(inputs, width, 1, stride)"),
            ("ConvNorm(width, width, 3, stride)", "ConvNorm(width, width, 3)"),
        ],
    ),
    "convolutions with a bias": ("resnet50", [("bias=False", "bias=True")]),
    "another epsilon in BatchNorm": ("resnet50", [("epsilon=1e-5", "epsilon=1e-3")]),
    "a pooling without padding": ("resnet50", [("nn.max_pool2d(x, 3, stride=2, padding=1)", "nn.max_pool2d(x, 2)")]),
    "SGD without momentum": ("resnet50", [("momentum=0.9", "momentum=0.0")]),
    "SGD without L2": ("resnet50", [("weight_decay=1e-4", "weight_decay=0.0")]),
    "RMSprop with Keras' decay": ("resnet50-cifar10", [("decay=0.99", "decay=0.9")]),
    "RMSprop with Keras' epsilon": ("resnet50-cifar10", [("epsilon=1e-8", "epsilon=1e-7")]),
    "the map flattened in the framework's own order": (
        "vgg16",
        [("(height // halvings, width // halvings, channels[-1])", "4 * channels[-1]")],
    ),
    "another epsilon in Inception's BatchNorm": ("inceptionv3", [("_EPSILON = 1e-3", "_EPSILON = 1e-5")]),
    "a maximum where Inception has a mean": (
        "inceptionv3",
        [("nn.avg_pool2d(x, 3, stride=1, padding=1)", "nn.max_pool2d(x, 3, stride=1, padding=1)")],
    ),
    "another weight of the auxiliary head": ("inceptionv3", [("_AUXILIARY_WEIGHT = 0.4", "_AUXILIARY_WEIGHT = 0.3")]),
    "an auxiliary head that is never trained": (
        "inceptionv3",
        [(" + _AUXILIARY_WEIGHT * nn.cross_entropy(auxiliary, targets)", "")],
    ),
    "GELU by tanh": ("vit-b16", [("nn.gelu(", "tanh_gelu(nn, "), ("\ndef loss(", TANH_GELU)]),
    "Keras' epsilon in LayerNorm": ("vit-b16", [("_EPSILON = 1e-6", "_EPSILON = 1e-3")]),
    "AdamW without decay": ("vit-b16", [("weight_decay=0.1", "weight_decay=0.0")]),
}


@functools.cache
def trapped() -> Found:
    """Give what the reference computes of all traps, and of the workloads themselves."""
    with tempfile.TemporaryDirectory() as folder:
        files = {name: (name, WORKLOADS[name].path) for name in {workload for workload, _ in TRAPS.values()}}
        for number, (trap, (workload, changes)) in enumerate(TRAPS.items()):
            text = WORKLOADS[workload].path.read_text()
            for old, new in changes:
                assert text.count(old) == 1, (trap, old)
                text = text.replace(old, new)
            path = Path(folder) / f"trap_{number}.py"
            path.write_text(text)
            files[trap] = (workload, path)
        return computed_of(files)


def judged(name: str, workload: str) -> list[str]:
    """Give the checks that a changed workload fails against the workload itself."""
    loaded = WORKLOADS[workload]
    certificate = certify(
        trapped().exhibit(name, name, "train"),
        trapped().exhibit(f"{REFERENCE} in float64", workload, "train"),
        workload=loaded.workload,
        size=loaded.size("reduced"),
        scenario="train",
        steps=CERTIFY_STEPS + 1,
    )
    return [check.name for check in certificate.checks if not check.passed]


@pytest.mark.parametrize("trap", TRAPS)
def test_no_trap_gets_a_certificate(trap: str) -> None:
    """A workload in which one thing is as another implementation has it does not pass for the workload."""
    workload, _ = TRAPS[trap]
    assert judged(trap, workload)
    assert not judged(workload, workload)
