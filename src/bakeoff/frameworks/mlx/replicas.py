"""Several devices in MLX: a process for each, which take the mean of their gradients by mlx.nn.average_gradients.

sync=ring is mx.distributed's backend over TCP, in which every process sends to the next one. mlx.launch, as MLX's users
start it, sets the same two variables.
"""

from __future__ import annotations

import json
import os
import tempfile
from typing import TYPE_CHECKING, Any

import mlx.core as mx
import mlx.nn

if TYPE_CHECKING:
    from bakeoff.spec.group import Group

_BACKEND = "ring"


class Replicas:
    """The group that this process is in; alone, gradients are what they were."""

    def __init__(self, group: Group | None) -> None:
        """Meet the other processes of a group."""
        self.rank = 0 if group is None else group.rank
        self.count = 1 if group is None else group.world
        self._ring = None if group is None else _met(group)

    def mean(self, gradients: Any) -> Any:
        """Return the mean of all replicas' gradients."""
        return gradients if self._ring is None else mlx.nn.average_gradients(gradients, self._ring)

    def settings(self) -> dict[str, str | int | float | bool | None]:
        """Read back how many replicas there are, and how they agree on a step; nothing on one device."""
        if self._ring is None:
            return {}
        return {
            "devices": self._ring.size(),
            "sync": "ring",
            "collectives": f"{_BACKEND} over TCP, mlx.nn.average_gradients",
            "batch_statistics": "local",
        }


def _met(group: Group) -> Any:
    """Return MLX's group once all processes are connected; it reads who they are from a file."""
    hosts = [[f"{group.address}:{port}"] for port in group.ports]
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(hosts, file)
        file.flush()
        os.environ |= {"MLX_RANK": str(group.rank), "MLX_HOSTFILE": file.name}
        return mx.distributed.init(strict=True, backend=_BACKEND)
