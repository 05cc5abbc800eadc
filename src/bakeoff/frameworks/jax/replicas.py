"""Several devices in JAX: a mesh of one axis, parameters replicated over it, and batches sharded along their samples.

sync=sharding has all devices in one process, sync=distributed a process for each of them, which meet by
jax.distributed. In both the step is one jitted program over the mesh. With batch_statistics=global XLA partitions it as
it is, as JAX's guide to distributed arrays has it, so that a mean over samples is one over all of them. With
batch_statistics=local jax.shard_map differentiates each device's own loss, and jax.lax.pmean takes the mean over the
devices.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from bakeoff.frameworks.jax import devices
from bakeoff.spec.errors import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from bakeoff.spec.group import Group

AXIS = "replica"
"""The name of the mesh's axis."""

_MEETING_S = 300
"""As JAX has it: how long a process waits for the others at the start."""


class Replicas:
    """The devices of this process's steps, and how arrays lie on them."""

    def __init__(self, options: Mapping[str, str], group: Group | None) -> None:
        """Start the backend with the devices of these options; raise UnsupportedError, or RuntimeError as JAX does."""
        self.count = int(options.get("devices", "1"))
        self._is_group = group is not None
        self.apart = self.count > 1 and options["batch_statistics"] == "local"
        """Whether each device differentiates the loss of its own samples."""
        if self.count > 1 and options["mode"] != "compiled":
            msg = "a step on several devices is one program of jax.jit; it needs mode=compiled"
            raise UnsupportedError(msg)
        self._platform = options["device"]
        self._prepare_backend(int(options["threads"]), group)
        self.first, *others = devices.started(self._platform)
        self.first, *others = [self.first, *others][: self.count]
        if (found := 1 + len(others)) < self.count:
            msg = f"devices={self.count}: JAX finds {found} of {self._platform} here"
            raise UnsupportedError(msg)
        self.mesh = Mesh(np.array([self.first, *others]), (AXIS,)) if self.count > 1 else None
        if self._is_group:
            (self.first,) = jax.local_devices()

    def _prepare_backend(self, threads: int, group: Group | None) -> None:
        """Set what the backend reads when it starts."""
        if group is not None:
            jax.config.update("jax_platforms", devices.PLATFORMS[self._platform])
            jax.config.update("jax_cpu_collectives_implementation", "gloo")
            _join(group, on_cpu=self._platform == "cpu")
        elif self.count > 1 and self._platform == "cpu":
            jax.config.update("jax_num_cpu_devices", self.count)
            # All of a process's devices have one pool, and XLA reads its size when it starts the backend.
            os.environ["NPROC"] = str(threads * self.count)

    @property
    def in_process(self) -> int:
        """The number of devices that this process has."""
        return 1 if self._is_group else self.count

    @property
    def waits(self) -> bool:
        """Whether each step is waited for before the next one starts.

        Of steps that wait in a queue for several devices of a processor, some hold the threads that others need for
        their all-reduce: XLA then ends the process after 40 seconds ("rendezvous.cc: Termination timeout").
        """
        return self._platform == "cpu" and self.in_process > 1

    def sharded(self, array: NDArray[Any]) -> jax.Array:
        """Put samples on the devices: all of them, or in a group those of this process."""
        if self.mesh is None:
            return jax.numpy.array(array)
        return jax.make_array_from_process_local_data(NamedSharding(self.mesh, PartitionSpec(AXIS)), array)

    def replicated(self, tree: Any) -> Any:
        """Return arrays with a copy on each device; on one device they are what they were."""
        if self.mesh is None:
            return tree
        everywhere = NamedSharding(self.mesh, PartitionSpec())
        local = [device for device in self.mesh.devices.flat if device.process_index == jax.process_index()]

        def copies(array: jax.Array) -> jax.Array:
            each = [jax.device_put(array, device, may_alias=False) for device in local]
            return jax.make_array_from_single_device_arrays(array.shape, everywhere, each)

        return jax.block_until_ready(jax.tree.map(copies, tree))

    def settled(self, state: Any) -> Any:
        """Return what a step gives back, replicated as it came: XLA would be free to shard it."""
        if self.mesh is None:
            return state
        return jax.lax.with_sharding_constraint(state, NamedSharding(self.mesh, PartitionSpec()))

    def own(self, tree: Any) -> Any:
        """Return arrays as a program without collectives takes them: in a group, what this process has of each."""
        return jax.tree.map(lambda array: array.addressable_data(0), tree) if self._is_group else tree

    def differentiated(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return `precision.differentiated` of a loss as a step calls it; its loss is one of each device where apart.

        The function has taken means of gradients over the axis already: the loss scaling of float16 looks at those.
        """
        if not self.apart:
            return function

        def each(scale: Any, parameters: Any, statistics: Any, key: Any, batch: Any) -> tuple[Any, ...]:
            if key is not None:
                key = jax.random.fold_in(key, jax.lax.axis_index(AXIS))
            scale, finite, (loss, statistics), gradients = function(scale, parameters, statistics, key, batch)
            return scale, finite, (loss[None], jax.lax.pmean(statistics, AXIS)), gradients

        return jax.shard_map(
            each,
            mesh=self.mesh,
            in_specs=(PartitionSpec(), PartitionSpec(), PartitionSpec(), PartitionSpec(), PartitionSpec(AXIS)),
            out_specs=(PartitionSpec(), PartitionSpec(), (PartitionSpec(AXIS), PartitionSpec()), PartitionSpec()),
            check_vma=False,  # it would sum gradients by itself, and refuses loops whose carry begins equal on all
        )

    def mapped(self, function: Callable[..., Any], given: Any) -> Callable[..., Any]:
        """Return a function of (parameters, keys, batch) that runs on each device with its own keys and samples.

        `given` says how each of its results lies. As jax.jit partitions vectorised convolutions, losses and norms of
        samples are others.
        """
        # check_vma as in `differentiated`.
        return jax.shard_map(
            function,
            mesh=self.mesh,
            in_specs=(PartitionSpec(), PartitionSpec(AXIS), PartitionSpec(AXIS)),
            out_specs=given,
            check_vma=False,
        )

    def settings(self) -> dict[str, str | int | float | bool | None]:
        """Read back how many devices there are, and how they agree on a step; nothing on one device."""
        if self.mesh is None:
            return {}
        gloo = jax.config.jax_cpu_collectives_implementation if self._is_group else "in process"
        return {
            "devices": self.mesh.size,
            "sync": "distributed" if jax.process_count() > 1 else "sharding",
            "batch_statistics": "local" if self.apart else "global",
            "partitioning": "jax.shard_map, jax.lax.pmean" if self.apart else "jax.jit",
            "collectives": gloo if self._platform == "cpu" else "NCCL",
            "each_step": "waited for" if self.waits else "queued",
        }


def copies(array: jax.Array) -> list[NDArray[Any]]:
    """Return what each of this process's devices has of an array."""
    return [np.asarray(shard.data) for shard in array.addressable_shards]


def in_shards(function: Callable[..., Any], shards: int) -> Callable[..., Any]:
    """Return `precision.differentiated` of a loss over shards of a batch, one after another; all it gives are means."""
    if shards == 1:
        return function

    def each(scale: Any, parameters: Any, statistics: Any, key: Any, batch: Any) -> Any:
        parts = [jax.tree.map(lambda array, at=at: jax.numpy.split(array, shards)[at], batch) for at in range(shards)]
        found = [function(scale, parameters, statistics, key, part) for part in parts]
        return jax.tree.map(lambda *values: sum(values) / shards, *found)

    return each


def _join(group: Group, *, on_cpu: bool) -> None:
    """Meet the other processes; heartbeats are answered in the background, while a group pauses, too."""
    jax.distributed.initialize(
        f"{group.address}:{group.ports[0]}",
        num_processes=group.world,
        process_id=group.rank,
        local_device_ids=None if on_cpu else [group.rank],
        initialization_timeout=_MEETING_S,
        heartbeat_timeout_seconds=int(group.timeout_s),
        coordinator_bind_address=f"{group.address}:{group.ports[0]}",
    )
