"""Contenders on several devices: each beside itself on one, with the same cores a device, and what cannot be."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any, get_args

import msgspec

from bakeoff.measure import gpu_facts
from bakeoff.measure.cores import shares, usable
from bakeoff.measure.gpus import all_gpus, uuid_in, uuids_for, visible
from bakeoff.measure.machine import usable_cores
from bakeoff.spec.contender import parse_contender
from bakeoff.spec.errors import UnknownNameError, UsageError
from bakeoff.spec.group import BATCH_STATISTICS, DEVICES, LOCAL, SYNC, Scaling, SyncSupport, devices_of
from bakeoff.spec.options import MOST_DIGITS, RESIDENT
from bakeoff.spec.scenario import SCENARIOS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bakeoff.measure.system_settings import Facts
    from bakeoff.spec.comparison import ContenderPlan
    from bakeoff.spec.contender import Contender
    from bakeoff.spec.framework import FrameworkInfo
    from bakeoff.spec.request import Request
    from bakeoff.spec.scenario import Scenario


def scaled(contenders: Sequence[Contender], devices: Sequence[int]) -> list[Contender]:
    """Return every contender on one device and on each of these numbers; one with an option of its own stays single."""
    counts = sorted({1, *devices}) if devices else []
    return [
        one
        for contender in contenders
        for one in (
            [contender] if DEVICES in contender.options or not counts else [_on(contender, count) for count in counts]
        )
    ]


def _on(contender: Contender, devices: int) -> Contender:
    """Return a contender on so many devices, named so where they are several."""
    options = contender.options | {DEVICES: str(devices)}
    if devices == 1:
        return msgspec.structs.replace(contender, options=options)
    has_options = bool(parse_contender(contender.label.partition(" ")[0]).options)
    name, space, rest = contender.label.partition(" ")
    label = f"{name}{',' if has_options else ':'}{DEVICES}={devices}{space}{rest}"
    return msgspec.structs.replace(contender, label=label, options=options)


def cores_of_each(contenders: Sequence[Contender], wide: Mapping[str, str]) -> int:
    """Return the cores of a device, one at least: the machine's, shared out among the most devices of any contender.

    Contenders on fewer devices have as many for each, so that one device is what several are held against.
    """
    counts = [contender.options.get(DEVICES, wide.get(DEVICES, "1")) for contender in contenders]
    # What is no such number is refused later, with the contender that has it.
    read = [int(count) for count in counts if count.isascii() and count.isdigit() and len(count) <= MOST_DIGITS]
    most = max(read, default=1)
    return max(1, usable_cores() // max(1, most))


def core_sets(plans: Sequence[ContenderPlan]) -> list[tuple[int, ...]]:
    """Return the processors of each device of a comparison with several on a processor, disjoint and as many for each.

    None where threads want more than there are, so that nobody is bound, and where the system binds nobody.
    """
    options = [plan.contender.options for plan in plans if _is_on_processor(plan)]
    most = max((devices_of(own) for own in options), default=1)
    found = shares(most, usable()) if most > 1 else []
    threads = [int(text) for own in options if (text := own.get("threads", "")).isdigit()]
    return found if found and max(threads, default=1) <= len(found[0]) else []


def cores_of(plan: ContenderPlan, sets: Sequence[tuple[int, ...]]) -> tuple[tuple[int, ...], ...]:
    """Return the processors of each of a contender's processes: those of its device, or of all its devices."""
    mine = tuple(sets[: plan.devices]) if _is_on_processor(plan) else ()
    if plan.sync is None or not plan.sync.processes:
        return (tuple(sorted(chain.from_iterable(mine))),) if mine else ()
    return mine


def _is_on_processor(plan: ContenderPlan) -> bool:
    """Return whether a contender's steps run on processors."""
    return plan.contender.device == "cpu"


def sync_of(info: FrameworkInfo, options: Mapping[str, str]) -> SyncSupport | None:
    """Return how a framework's devices are started and kept equal; None on one device."""
    return info.syncs.get(options.get(SYNC, "")) if devices_of(dict(options)) > 1 else None


def check_scaling(request: Request, plans: Sequence[ContenderPlan], scenario: Scenario, batch_size: int) -> None:
    """Raise UsageError for what several devices cannot be asked."""
    if request.scaling not in get_args(Scaling):  # as a file of a study may say
        raise UnknownNameError("scaling", request.scaling, get_args(Scaling))
    groups = [plan for plan in plans if plan.devices > 1]
    if request.scaling != "weak" and not groups:
        msg = "--scaling strong shares a batch out over several devices, and every contender has one: add --devices 2"
        raise UsageError(msg)
    if groups and not SCENARIOS[scenario].trains:
        label = groups[0].contender.label
        msg = f"{label}: on several devices contenders train, and {scenario} does not; leave devices out"
        raise UsageError(msg)
    if groups and request.epochs is not None and request.steps is None:
        msg = (
            f"{groups[0].contender.label}: an epoch of the data set has other numbers of steps on several devices; "
            "name --steps, of which each epoch then has as many"
        )
        raise UsageError(msg)
    check_gpus(groups)
    for plan in groups:
        _check_group(plan, request.scaling, batch_size)


def _check_group(plan: ContenderPlan, scaling: Scaling, batch_size: int) -> None:
    """Raise UsageError for what one contender on several devices cannot have."""
    label, options = plan.contender.label, plan.contender.options
    if options.get("input", RESIDENT) != RESIDENT:
        msg = (
            f"{label}: on several devices batches are on them already; input={options['input']} cannot be: leave it out"
        )
        raise UsageError(msg)
    if options.get("tier") == "native":
        msg = f"{label}: a ready-made model is not run on several devices; leave devices or tier=native out"
        raise UsageError(msg)
    if options.get("device") == "mps":
        msg = f"{label}: a Mac has one GPU; several devices need device=cpu or device=cuda"
        raise UsageError(msg)
    if scaling == "strong" and batch_size % plan.devices:
        msg = (
            f"{label}: with --scaling strong the batch of {batch_size} samples is shared out, and {plan.devices} "
            f"devices do not divide it; valid: a multiple of {plan.devices}"
        )
        raise UsageError(msg)


def parts_of(scaling: Scaling, plans: Sequence[ContenderPlan], batch_size: int) -> list[int]:
    """Return the samples of a shared batch that devices normalise by themselves, each number once."""
    alone = [plan for plan in plans if plan.contender.options.get(BATCH_STATISTICS, LOCAL) == LOCAL]
    return sorted({batch_size // plan.devices for plan in alone if plan.devices > 1}) if scaling == "strong" else []


def check_single(plans: Sequence[ContenderPlan]) -> None:
    """Raise UsageError where a contender has several devices, which a search for the largest batch does not know."""
    groups = [plan.contender.label for plan in plans if plan.devices > 1]
    if groups:
        msg = f"{groups[0]}: --max-batch searches what one device holds; leave devices out"
        raise UsageError(msg)


def check_gpus(plans: Sequence[ContenderPlan]) -> None:
    """Raise UsageError where contenders on CUDA have more devices than there are GPUs that they may take."""
    most = max((plan.devices for plan in plans if plan.contender.on_cuda), default=1)
    known = len(visible()) if most > 1 else most
    if most > known:
        label = next(plan.contender.label for plan in plans if plan.contender.on_cuda and plan.devices == most)
        msg = f"{label} needs {most} GPUs, and {known} may be taken here; valid: devices up to {known}"
        raise UsageError(msg)


def facts_of(uuid: str, plans: Sequence[ContenderPlan]) -> Facts:
    """Return the facts of a GPU and, where a contender is on several, what these are linked by."""
    most = max((plan.devices for plan in plans if plan.contender.on_cuda), default=1)
    found = gpu_facts.gpu(uuid)
    return found if most == 1 else found | {"gpu_links": gpu_facts.links(uuids_for(uuid, most))}


def unlike_gpus(plans: Sequence[ContenderPlan], machine: Mapping[str, Any]) -> list[str]:
    """Return that the GPUs of a contender are of several models, in a sentence; nothing where they are of one."""
    most = max((plan.devices for plan in plans if plan.contender.on_cuda), default=1)
    if most == 1:
        return []
    taken = uuids_for(uuid_in(machine), most)
    models = dict.fromkeys(gpu.name for gpu in all_gpus() if gpu.uuid in taken)
    if len(models) <= 1:
        return []
    return [
        f"the {most} GPUs are of several models, {', '.join(models)}: a step on all takes as long as the slowest does."
    ]
