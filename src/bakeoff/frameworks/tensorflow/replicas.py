"""Several devices in TensorFlow: tf.distribute's strategies, whose replicas run one step with samples of their own.

sync=mirrored is MirroredStrategy, one process with all devices: the GPUs, or logical devices of the processor.
sync=multi-worker is MultiWorkerMirroredStrategy, a process for each device. A step is what TensorFlow's guide to custom
training loops writes: `strategy.run` of a function that takes the mean of the replicas' gradients by
`ReplicaContext.all_reduce` and applies it. Keras would sum them after it has clipped each; here the mean is clipped.
With batch_statistics=global BatchNorm is Keras' own `BatchNormalization(synchronized=True)`, adding up the replicas'
sums; each replica still takes the mean loss of its own samples.
"""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import keras
import tensorflow as tf
from tensorflow.python.distribute.collective_all_reduce_strategy import (  # the switch of its checks has no public name
    CollectiveAllReduceExtended,
)

from bakeoff.spec.errors import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from bakeoff.spec.group import Group


class BatchStatistics:
    """Of which samples BatchNorm takes its statistics in this process."""

    of_all = False
    """Of those of all replicas: batch_statistics=global. Layers ask when they are made."""


class Replicas:
    """The devices of this process's steps; with one of them, all of this hands on what it is given."""

    def __init__(self, options: Mapping[str, str], group: Group | None) -> None:
        """Make the strategy, before TensorFlow's runtime starts; raise UnsupportedError for want of devices."""
        self.count = int(options.get("devices", "1"))
        self.in_process = 1 if group is not None else self.count
        """How many devices this process has."""
        self._strategy: Any = None
        BatchStatistics.of_all = self.count > 1 and options["batch_statistics"] == "global"
        if self.count > 1:
            on_cpu = options["device"] == "cpu"
            self._strategy = _mirrored(self.count, on_cpu=on_cpu) if group is None else _multi_worker(group, on_cpu)

    def scope(self) -> Any:
        """Return the context in which variables get a copy on each device."""
        return self._strategy.scope() if self._strategy else tf.name_scope("")

    def each(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that runs another one on every replica, with what `shared` has made."""
        return (lambda *args: self._strategy.run(function, args=args)) if self._strategy else function

    def mean(self, gradients: list[Any]) -> list[Any]:
        """Return the mean of the replicas' gradients, on each of them."""
        if not self._strategy:
            return gradients
        context = tf.distribute.get_replica_context()
        reduced: list[Any] = context.all_reduce(tf.distribute.ReduceOp.MEAN, gradients)
        return reduced

    def taken_as_mean(self, optimizer: Any) -> Any:
        """Return a Keras optimiser that takes gradients as they are: they are means over the replicas already."""
        if self._strategy:
            optimizer._all_reduce_sum_gradients = list  # noqa: SLF001 - Keras has no argument for it
        return optimizer

    def shared(self, array: Any, place: Callable[[Any], Any]) -> Any:
        """Return an array's rows on the devices of this process, each its shard, placed by a function."""
        if self.in_process == 1:
            return place(array)
        rows = len(array) // self.in_process
        names = self._strategy.extended.worker_devices

        def shard(context: Any) -> Any:
            replica = context.replica_id_in_sync_group
            with tf.device(names[replica]):
                return place(array[replica * rows : (replica + 1) * rows])

        return self._strategy.experimental_distribute_values_from_function(shard)

    def local(self, value: Any) -> tuple[Any, ...]:
        """Return what each replica of this process has of a value."""
        return tuple(self._strategy.experimental_local_results(value)) if self._strategy else (value,)

    def settings(self) -> dict[str, str | int | float | bool | None]:
        """Read back how many replicas there are, and how they agree on a step; nothing on one device."""
        if not self._strategy:
            return {}
        is_group = isinstance(self._strategy, tf.distribute.MultiWorkerMirroredStrategy)
        extended = self._strategy.extended
        how = extended._communication_options.implementation.value if is_group else ""  # noqa: SLF001 - no public name
        reduction = type(extended._get_cross_device_ops(tf.constant(0.0))).__name__ if not is_group else how  # noqa: SLF001
        return {
            "devices": self._strategy.num_replicas_in_sync,
            "sync": "multi-worker" if is_group else "mirrored",
            "strategy": type(self._strategy).__name__,
            "collectives": reduction,
            "batch_statistics": "global" if BatchStatistics.of_all else "local",
        }


class ReplicaSeeds(keras.random.SeedGenerator):
    """Keras' generator of seeds with another stream on each replica, from the same state."""

    def next(self, ordered: bool = True) -> Any:  # noqa: FBT001, FBT002 - Keras' signature
        """Return the next seed: the replica's number is added to the half that does not count."""
        seed = super().next(ordered)
        context = tf.distribute.get_replica_context()
        if context is None or context.num_replicas_in_sync == 1:
            return seed
        replica = tf.cast(context.replica_id_in_sync_group, seed.dtype)
        return seed + tf.stack([replica * _STRIDE, tf.zeros_like(replica)])


def drawing_apart(generator: keras.random.SeedGenerator) -> keras.random.SeedGenerator:
    """Return a layer's generator, under a strategy as one by which each replica draws its own.

    A layer that is built takes no other object, and Keras' Dropout is built when it is made.
    """
    if tf.distribute.has_strategy():
        generator.__class__ = ReplicaSeeds
    return generator


_STRIDE = 100_003
"""A prime above the number of any model's layers that draw, so that no replica has another layer's stream."""


def in_shards(function: Callable[..., Any], shards: int, put_back: Sequence[Any]) -> Callable[..., Any]:
    """Return a loss and its gradients over shards of a batch, one after another, as means.

    So are running statistics, which every shard moves from the same values.
    """
    if shards == 1:
        return function

    def each(inputs: Any, targets: Any) -> tuple[Any, list[Any]]:
        before = [tf.identity(variable) for variable in put_back]
        found, moved = [], []
        for at in range(shards):
            for variable, value in zip(put_back, before, strict=True):
                variable.assign(value)
            part = tf.nest.map_structure(lambda array, at=at: tf.split(array, shards)[at], (inputs, targets))
            found.append(function(*part))
            moved.append([tf.identity(variable) for variable in put_back])
        for variable, values in zip(put_back, zip(*moved, strict=True), strict=True):
            variable.assign(tf.add_n(values) / shards)
        losses, gradients = zip(*found, strict=True)
        return tf.add_n(losses) / shards, [tf.add_n(same) / shards for same in zip(*gradients, strict=True)]

    return each


def components(variable: Any) -> list[Any]:
    """Return a Keras variable's TensorFlow variables: one on each device of this process."""
    value = variable.value
    return list(value.values) if isinstance(value, tf.distribute.DistributedValues) else [value]


@contextmanager
def averaging(*, wanted: bool) -> Iterator[None]:
    """Make variables as running statistics where it is wanted: each replica has its own, and their mean is read.

    So tf.keras made those of BatchNormalization; Keras 3 has no argument for it.
    """
    if not wanted or not tf.distribute.has_strategy():
        yield
        return

    def create(next_creator: Callable[..., Any], **options: Any) -> Any:
        options["synchronization"] = tf.VariableSynchronization.ON_READ
        options["aggregation"] = tf.VariableAggregation.MEAN
        return next_creator(**options)

    with tf.variable_creator_scope(create):
        yield


def _mirrored(count: int, *, on_cpu: bool) -> Any:
    """Return the strategy of one process with so many devices."""
    if on_cpu:
        (cpu,) = tf.config.list_physical_devices("CPU")
        tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * count)
    kind = "CPU" if on_cpu else "GPU"
    found = count if on_cpu else len(tf.config.get_visible_devices("GPU"))
    if found < count:
        msg = f"devices={count}: TensorFlow finds {found} GPUs here"
        raise UnsupportedError(msg)
    return tf.distribute.MirroredStrategy([f"/{kind}:{index}" for index in range(count)])


def _multi_worker(group: Group, on_cpu: bool) -> Any:  # noqa: FBT001 - the one switch
    """Return the strategy of several processes, which meet while it is made."""
    workers = [f"{group.address}:{port}" for port in group.ports]
    task = {"type": "worker", "index": group.rank}
    os.environ["TF_CONFIG"] = json.dumps({"cluster": {"worker": workers}, "task": task})
    # Its thread asks the other processes every 30 s, and ends all that do not answer within 10: not while others pause.
    CollectiveAllReduceExtended._enable_check_health = False  # noqa: SLF001
    kinds = tf.distribute.experimental.CommunicationImplementation
    options = tf.distribute.experimental.CommunicationOptions(
        implementation=kinds.RING if on_cpu else kinds.NCCL, timeout_seconds=group.timeout_s
    )
    return tf.distribute.MultiWorkerMirroredStrategy(communication_options=options)
