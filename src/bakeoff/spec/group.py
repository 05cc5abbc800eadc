"""Several devices: how replicas are started, which part of a batch is whose, and what a framework declares of it.

A global batch is the replicas' shards, joined in their order: replica r has rows r * B to (r + 1) * B of every array.
Each replica computes the mean loss of its own shard, and a step's gradient is the mean of the replicas' gradients.
"""

from __future__ import annotations

from typing import Literal

import msgspec

Scaling = Literal["weak", "strong"]
"""weak: the batch size is a device's, so that the global batch grows with them; strong: it is the global batch's."""

DEVICES, SYNC, BATCH_STATISTICS = "devices", "sync", "batch_statistics"
"""The options of several devices. BatchNorm and means over counts follow the last one: local or global."""

LOCAL = "local"

BOUND_TO = "bound_to"
"""The setting that tells which processors each process is bound to, in the order of the replicas: "0-3; 4-7"."""

LOOPBACK = "127.0.0.1"
"""All replicas are on this machine."""

TIMEOUT_S = 3600.0
"""After which a collective, or a heartbeat, that was not answered fails by itself. A group pauses while others have
their turns, and a parent ends a group whose replica is lost at once: so it is far above any round."""


class Group(msgspec.Struct, frozen=True, kw_only=True):
    """One process of several that are one trial; each has one device."""

    rank: int
    world: int
    """How many processes."""
    ports: tuple[int, ...]
    """Free ports on `address`, one for each rank: the first is where they meet."""
    address: str = LOOPBACK
    timeout_s: float = TIMEOUT_S


class SyncSupport(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a framework declares of a value of its option `sync`."""

    meaning: str
    """What it is, in the framework's own words."""
    processes: bool
    """Whether each device has a process of its own, which gets its own shard. False: one process has all devices, and
    gets the joined batch."""
    statistics: Literal["first", "mean"] = "mean"
    """What running statistics hold after a step where batch_statistics=local: the first replica's, or the mean."""
    tolerance: float = 0.0
    """How far replicas' parameters may be apart after the same steps, relative to the largest; 0.0: not in any bit."""
    reason: str = ""
    """Why they may be."""


def devices_of(options: dict[str, str]) -> int:
    """Return how many devices a contender with these options has; 1 where its framework has no such option."""
    return int(options.get(DEVICES, "1"))


def replica_folder(rank: int) -> str:
    """Return the name of the folder of a replica but the first, in the folder of the group's trial."""
    return f"replica-{rank}"
