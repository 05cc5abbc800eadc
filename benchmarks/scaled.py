"""A shipped workload at its full width on smaller images or batches, or with fewer layers: what takes minutes only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bakeoff.workloads.load import load

if TYPE_CHECKING:
    from pathlib import Path

_FILE = '''"""{name} as it is shipped, on images of {side} x {side}."""

import msgspec

from bakeoff.workloads.{module} import WORKLOAD as SHIPPED
from bakeoff.workloads.{module} import build, loss

FULL = SHIPPED.sizes["full"]
SIZE = msgspec.structs.replace(FULL, input_shape=({side}, {side}, FULL.input_shape[-1]), batch_size={batch}, macs=None)
WORKLOAD = msgspec.structs.replace(SHIPPED, sizes={{"full": SIZE}})
'''

_SEQUENCES = '''"""{name} as it is shipped, with {layers} layers on windows of {length} tokens."""

import msgspec

from bakeoff.workloads.{module} import WORKLOAD as SHIPPED
from bakeoff.workloads.{module} import build, loss

FULL = SHIPPED.sizes["full"]
WINDOW = max(spec.shape for spec in FULL.inputs.values())


def cut(arrays):
    """Return the arrays of a window with those of a shorter one."""
    return {{
        name: msgspec.structs.replace(spec, shape=({length},)) if spec.shape == WINDOW else spec
        for name, spec in arrays.items()
    }}


SIZE = msgspec.structs.replace(
    FULL,
    inputs=cut(FULL.inputs),
    targets=cut(FULL.targets),
    config=FULL.config | {{"layers": {layers}}},
    batch_size={batch},
    parameters=None,
    macs=None,
)
WORKLOAD = msgspec.structs.replace(SHIPPED, sizes={{"full": SIZE}})
'''

_RECURRENT = '''"""One recurrent layer, and classes by the mean of what it gives."""

from bakeoff.spec.batch import ArraySpec
from bakeoff.spec.optimizer import SGD
from bakeoff.spec.workload import Size, Workload

SIZE = Size(
    batch_size={batch},
    inputs={{"x": ArraySpec(shape=(100, 128))}},
    targets={{"labels": ArraySpec(dtype="int32", high=10)}},
)
WORKLOAD = Workload(
    name="recurrent", summary="one recurrent layer", source="bakeoff", sizes={{"full": SIZE}},
    optimizer=SGD(learning_rate=0.01),
)


def build(nn, size):
    class Network(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.{layer}(128, 256, bidirectional={both})
            self.head = nn.Linear({width}, 10)

        def forward(self, x):
            return self.head(nn.mean(self.layer(x)[0], 1))

    return Network()


def loss(nn, outputs, targets):
    return nn.cross_entropy(outputs, targets)
'''


def scaled(name: str, side: int, batch: int, folder: Path) -> Path:
    """Write the workload's file into a folder; its name and its parameters stay those of the shipped one."""
    module = load(name).path.stem
    path = folder / f"{module}.py"
    path.write_text(_FILE.format(name=name, module=module, side=side, batch=batch))
    return path


def shorter(name: str, layers: int, length: int, batch: int, folder: Path) -> Path:
    """Write the file of a workload on tokens with fewer layers, all of full width, and shorter windows."""
    module = load(name).path.stem
    path = folder / f"{module}.py"
    path.write_text(_SEQUENCES.format(name=name, module=module, layers=layers, length=length, batch=batch))
    return path


def recurrent(layer: str, both: bool, batch: int, folder: Path) -> Path:  # noqa: FBT001 - a layer's own argument
    """Write the file of one recurrent layer, LSTM or GRU, of one direction or of both."""
    path = folder / "recurrent.py"
    path.write_text(_RECURRENT.format(layer=layer, both=both, batch=batch, width=512 if both else 256))
    return path
