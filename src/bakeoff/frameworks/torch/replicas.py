"""PyTorch on several devices: DistributedDataParallel, a process for each device, over gloo or NCCL.

With batch_statistics=global, which GPUs alone have, BatchNorm is torch.nn.SyncBatchNorm.
"""

from __future__ import annotations

import os
import sys
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import torch
import torch.distributed
from torch.nn.parallel import DistributedDataParallel

from bakeoff.frameworks.torch.maps import BatchNorm
from bakeoff.spec.errors import UnsupportedError
from bakeoff.spec.group import BATCH_STATISTICS, DEVICES, LOCAL, SYNC

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bakeoff.spec.group import Group

_BACKENDS = {"cpu": "gloo", "cuda": "nccl"}

_LOOPBACKS = {"linux": "lo", "darwin": "lo0"}
"""The interface of the loopback, which gloo is told: by itself it asks what the host's name resolves to."""


class Replicas:
    """This process's place in a group, or none."""

    def __init__(self, group: Group | None = None, options: Mapping[str, str] | None = None) -> None:
        """Meet the others, where there are others; raise UnsupportedError where this PyTorch cannot."""
        given = options or {}
        self._group, self._statistics = group, given.get(BATCH_STATISTICS, LOCAL)
        self._device = device = given.get("device", "cpu")
        self._wrapped: Any = None
        if group is None:
            return
        if not torch.distributed.is_available() or device not in _BACKENDS:
            msg = f"this PyTorch has no torch.distributed on device={device}"
            raise UnsupportedError(msg)
        if device == "cuda":
            torch.cuda.set_device(group.rank)
        elif sys.platform in _LOOPBACKS:
            os.environ.setdefault("GLOO_SOCKET_IFNAME", _LOOPBACKS[sys.platform])
        torch.distributed.init_process_group(
            _BACKENDS[device],
            init_method=f"tcp://{group.address}:{group.ports[0]}",
            rank=group.rank,
            world_size=group.world,
            timeout=timedelta(seconds=group.timeout_s),
        )
        # Every replica drops elements of its own: else all would draw the same.
        torch.manual_seed(torch.initial_seed() + group.rank)

    def wrapped(self, network: Any) -> Any:
        """Return the network as steps call it: the backward pass averages its gradients over all replicas."""
        if self._group is None:
            return network
        if self._statistics != LOCAL:
            join(network)
        ids = [torch.cuda.current_device()] if self._device == "cuda" else None
        self._wrapped = DistributedDataParallel(network, device_ids=ids)
        return self._wrapped

    @property
    def world(self) -> int:
        """How many replicas there are."""
        return 1 if self._group is None else self._group.world

    @property
    def is_first(self) -> bool:
        """Whether this is the first of them."""
        return self._group is None or self._group.rank == 0

    def started_alike(self, network: Any) -> Any:
        """Return the network, with the first replica's parameters; nothing is averaged in its backward pass."""
        if self._group is not None:
            for parameter in network.parameters():
                torch.distributed.broadcast(parameter.data, src=0)
        return network

    def summed(self, tensors: Sequence[Any]) -> list[Any]:
        """Return the sums of tensors over all replicas, by one collective over all of them end to end."""
        if self._group is None:
            return list(tensors)
        flat = torch.cat([one.reshape(-1) for one in tensors])
        torch.distributed.all_reduce(flat)
        parts = flat.split([one.numel() for one in tensors])
        return [part.view_as(one) for part, one in zip(parts, tensors, strict=True)]

    def settings(self, options: Mapping[str, str]) -> dict[str, str | int | float | bool | None]:
        """Read back how replicas are kept equal; a single device is one."""
        if self._group is None:
            return {DEVICES: 1}
        found: dict[str, str | int | float | bool | None] = {
            DEVICES: torch.distributed.get_world_size(),
            SYNC: options[SYNC],
            BATCH_STATISTICS: self._statistics,
            "collectives": torch.distributed.get_backend(),
            "collective_timeout_s": self._group.timeout_s,
        }
        return found if self._wrapped is None else found | self._buckets()

    def _buckets(self) -> dict[str, str | int | float | bool | None]:
        """Read back how gradients are put together for their collectives."""
        return {
            "bucket_mb": self._wrapped.bucket_bytes_cap / 2**20,
            "gradient_as_bucket_view": self._wrapped.gradient_as_bucket_view,
            "broadcast_buffers": self._wrapped.broadcast_buffers,
            "static_graph": self._wrapped.static_graph,
        }


def join(network: Any) -> None:
    """Have each BatchNorm of a network take the statistics of all replicas' samples, as torch.nn.SyncBatchNorm does.

    PyTorch's `convert_sync_batchnorm` would put layers in their place that take no sequence with its features last.
    """
    for layer in network.modules():
        if isinstance(layer, BatchNorm):
            own = type(layer)
            layer.__class__ = type(own.__name__, (own, torch.nn.SyncBatchNorm), {})
            layer.process_group = None  # of all processes
