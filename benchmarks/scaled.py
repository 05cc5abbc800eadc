"""A shipped workload at its full width on smaller images or batches: what a processor can time in minutes."""

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


def scaled(name: str, side: int, batch: int, folder: Path) -> Path:
    """Write the workload's file into a folder; its name and its parameters stay those of the shipped one."""
    module = load(name).path.stem
    path = folder / f"{module}.py"
    path.write_text(_FILE.format(name=name, module=module, side=side, batch=batch))
    return path
