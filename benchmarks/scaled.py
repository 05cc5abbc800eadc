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
