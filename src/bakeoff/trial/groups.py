"""What a worker does only in a group of replicas: it tells what it has computed, and the first one joins it all."""

from __future__ import annotations

import hashlib
import math
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from bakeoff.certify.checksum import checksums
from bakeoff.spec import protocol
from bakeoff.spec.evidence import Evidence
from bakeoff.spec.group import replica_folder
from bakeoff.spec.record import Memory, ReplicaReport, Tie
from bakeoff.store.evidence import EVIDENCE_FILE, read_arrays
from bakeoff.trial.cores import cores_in_force
from bakeoff.trial.evidence import save
from bakeoff.trial.opened import Opened

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bakeoff.frameworks.engine import Arrays
    from bakeoff.trial.built import Running, Unrun
    from bakeoff.trial.draft import Draft


def note_block(running: Running, draft: Draft, command: protocol.NoteGroup) -> None:
    """Note how long the last block took in the whole group."""
    del running
    draft.amend_last("blocks", elapsed_ns=command.elapsed_ns, replicas_ns=command.replicas_ns)


def report(state: Running | Unrun | Opened, draft: Draft, command: protocol.Report) -> protocol.Reported:
    """Return what this replica has computed so far: collectives are none of it, so each tells it by itself."""
    del command
    group = draft.trial.group
    found = ReplicaReport(
        rank=group.rank if group else 0,
        tie=draft.seen("tie", Tie),
        memory=draft.seen("memory", Memory),
        evidence=draft.seen("evidence", Evidence),
        cores=cores_in_force(draft.trial),
    )
    if isinstance(state, Opened) or state.step is None:
        return protocol.Reported(report=found)
    parameters = state.step.parameters()
    values = [np.ascontiguousarray(parameters[name]) for name in sorted(parameters)]
    digest = hashlib.sha256()
    for value in values:  # One by one: all replicas do this at once, and a copy of a model's parameters is gigabytes.
        digest.update(value.reshape(-1).data)
    told = msgspec.structs.replace(found, parameters_sha256=digest.hexdigest(), checksums=checksums(*values))
    return protocol.Reported(report=told)


def gather(state: Running | Unrun | Opened, draft: Draft, command: protocol.Gather) -> None:
    """Note what all replicas have computed, and make of it what the whole group has."""
    del state
    reports = command.reports
    draft.put(replicas=reports)
    if all(one.memory for one in reports):
        draft.put(memory=_all_memory([one.memory for one in reports if one.memory]))
    if all(one.tie for one in reports):
        draft.put(tie=_all_ties([one.tie for one in reports if one.tie]))
    if all(one.evidence for one in reports):
        draft.put(evidence=_all_evidence([one.evidence for one in reports if one.evidence], draft))


def _all_memory(held: Sequence[Memory]) -> Memory:
    """Return what processes hold together; on accelerators, each of which has its own, what the fullest holds."""
    first = held[0]

    def over(function: Callable[[list[int]], int], name: str) -> int | None:
        values = [getattr(one, name) for one in held]
        return None if None in values else function(values)

    return msgspec.structs.replace(
        first,
        baseline_bytes=over(sum, "baseline_bytes"),
        peak_bytes=over(sum, "peak_bytes"),
        device_peak_bytes=over(max, "device_peak_bytes"),
        device_reserved_bytes=over(max, "device_reserved_bytes"),
    )


def _all_ties(ties: Sequence[Tie]) -> Tie:
    """Return what ties a group to its certificate: the means of its replicas' losses."""
    losses, from_saved, repeated = (
        [mean_loss(of_step) for of_step in zip(*of_replicas, strict=True)]
        for of_replicas in zip(*((one.losses, one.from_saved, one.repeated) for one in ties), strict=True)
    )
    again = mean_loss([one.again for one in ties])
    return msgspec.structs.replace(ties[0], losses=losses, again=again, from_saved=from_saved, repeated=repeated)


def mean_loss(losses: Sequence[float | None]) -> float | None:
    """Return the mean of the losses of all replicas; None where one is not finite."""
    known = [loss for loss in losses if loss is not None]
    return math.fsum(known) / len(known) if len(known) == len(losses) and known else None


def _all_evidence(parts: Sequence[Evidence], draft: Draft) -> Evidence:
    """Return the evidence of a group, and write its arrays: outputs joined, losses averaged, all else the first's."""
    folders = [draft.folder, *(draft.folder / replica_folder(rank) for rank in range(1, len(parts)))]
    arrays = [read_arrays(one / EVIDENCE_FILE, part.arrays_sha256) for one, part in zip(folders, parts, strict=True)]
    joined: Arrays = dict(arrays[0])
    for name in joined:
        if name.startswith(SHARDED):
            joined[name] = np.concatenate([own[name] for own in arrays])
    changes: dict[str, Any] = {
        "losses": [mean_loss(of_step) for of_step in zip(*(part.losses for part in parts), strict=True)],
        "checksums": checksums(joined["output/0"]),
        "others": checksums(joined["output/1"]),
        "arrays_sha256": save(joined, folders[0] / EVIDENCE_FILE),
    }
    return msgspec.structs.replace(parts[0], **changes)


SHARDED = ("output/", "ran/", "norms/")
"""Arrays of evidence whose first axis is the samples of a replica's own shard."""
