"""What is asked of each trial: its folder's name, and the content of its trial.json."""

from __future__ import annotations

import os
import random
import socket
from contextlib import ExitStack
from itertools import chain, count
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from bakeoff.measure.gpus import uuid_in, uuids_for, variables_for
from bakeoff.measure.memory import for_large_arrays, to_keep
from bakeoff.race.scaling import core_sets, cores_of
from bakeoff.spec.contender import slug
from bakeoff.spec.group import LOOPBACK, Group
from bakeoff.spec.trial import (
    CACHE_FOLDER,
    KINDS,
    CacheState,
    Purpose,
    TrialSpec,
    certify_steps,
    is_spread_behind,
    spread_name,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from bakeoff.spec.comparison import Comparison, ContenderPlan

LONGEST_NAME = 200
"""Bytes of a label in a folder's name: file systems allow 255, and the kind of trial stands before it."""


class Trial(NamedTuple):
    """A trial that can be started: what is asked of its worker, and the interpreter that runs it."""

    spec: TrialSpec
    interpreter: str


class Specs:
    """Composes the trials of one comparison."""

    def __init__(self, comparison: Comparison, folder: Path, inputs: Path) -> None:
        """Take the comparison, its folder and the folder of its batches."""
        self._comparison = comparison
        self._folder = folder
        self._inputs = inputs
        self._names = folder_names([plan.contender.label for plan in comparison.contenders])
        self._cores = core_sets(comparison.contenders)

    def trial(  # noqa: PLR0913 - what sets one trial apart from another
        self,
        plan: ContenderPlan,
        purpose: Purpose,
        round_number: int = 0,
        *,
        resident: bool = False,
        apart: str = "",
        cache: CacheState = "",
        batch_size: int | None = None,
        ceiling_bytes: int | None = None,
    ) -> Trial:
        """Return a contender's trial; the batch size is by default the comparison's."""
        comparison = self._comparison
        cache = cache or self._cache_state(plan, purpose)
        joined = comparison.joined(plan.devices) if batch_size is None else 1
        batch_size = comparison.batch_size * joined if batch_size is None else batch_size
        # The reference is no contender, and its folder is not named by one.
        label, kind = self._names.get(plan.contender.label, ""), KINDS[purpose]
        named = {"purpose": purpose, "label": label, "round": round_number, "cache": cache, "batch": batch_size}
        name = kind.folder.format(**named, whose=plan.whose)
        kept = (self.cache_folder(plan) if cache else self._folder / name / CACHE_FOLDER).resolve()
        spec = TrialSpec(
            comparison=comparison.id,
            name=name,
            purpose=purpose,
            round_number=round_number,
            resident=resident,
            apart=apart,
            contender=plan.contender,
            injected=plan.injected if purpose == "certify" else {},
            variables=self._variables(plan, purpose, kept, is_cached=bool(cache)),
            watched=plan.watched,
            joins_steps=plan.joins_steps,
            gpu={name: fact for name, fact in comparison.machine.items() if name.startswith("gpu")},
            framework_path=plan.framework_path,
            framework_sha256=plan.framework_sha256,
            interpreter=plan.interpreter,
            packages_sha256=plan.packages_sha256,
            workload_path=comparison.workload_path,
            workload_sha256=comparison.workload_sha256,
            steps_sha256=comparison.steps_sha256,
            lines_sha256=comparison.lines_sha256,
            workload_name=comparison.workload.name,
            scenario=comparison.scenario,
            per_sample=comparison.per_sample,
            size=comparison.size,
            batch_size=batch_size,
            seed=comparison.procedure.seed,
            inputs_path=str(self._inputs.resolve()),
            pass_steps=1 if kind.batches == "one" else max(1, comparison.data.pass_steps // joined),
            certify_steps=certify_steps(comparison.work),
            cache=cache,
            ceiling_bytes=ceiling_bytes,
            joined=joined,
            learning_steps=comparison.workload.learning_steps if kind.learns else 0,
            spreads=spreads_of(comparison) if purpose == "reference" else (),
            own_layers=plan.own_layers,
        )
        return Trial(_in_group(spec, plan, self._cores), plan.interpreter)

    def _variables(self, plan: ContenderPlan, purpose: Purpose, kept: Path, *, is_cached: bool) -> dict[str, str]:
        """Return what a worker sets in its environment before the import, with the folder of its compiler's work."""
        variables = plan.variables | ((plan.cache_variables or {}) if is_cached else {})
        if plan.contender.on_cuda:
            variables |= variables_for(",".join(uuids_for(uuid_in(self._comparison.machine), plan.devices)))
        malloc = for_large_arrays(os.environ) if KINDS[purpose].large_arrays else {}
        malloc |= to_keep(os.environ) if plan.contender.options.get("malloc") == "keep" else {}
        return malloc | _filled(variables, plan, str(kept))

    def _cache_state(self, plan: ContenderPlan, purpose: Purpose) -> CacheState:
        """Return whether a contender's compiler finds anything in the cache that its trials share."""
        if not KINDS[purpose].cached or plan.cache_variables is None or plan.cache_kept:
            return ""
        cache = self.cache_folder(plan)
        return "warm" if cache.is_dir() and any(cache.iterdir()) else "cold"

    def spread_behind(self, reference: ContenderPlan) -> Trial | None:
        """Return the reference's trial that measures its spread in float64, where its own one leaves that out.

        Its evidence has the other spreads, too: they are among what it is remembered by.
        """
        spec, interpreter = self.trial(reference, "reference")
        if "float64" in spec.spreads:
            return None
        name, spreads = spread_name(spec.name), tuple(sorted({*spec.spreads, "float64"}))
        kept = (self._folder / name / CACHE_FOLDER).resolve()
        variables = self._variables(reference, "reference", kept, is_cached=False)
        return Trial(msgspec.structs.replace(spec, name=name, variables=variables, spreads=spreads), interpreter)

    def cache_folder(self, plan: ContenderPlan) -> Path:
        """Return the folder in which a contender's compiler keeps its work from one round to the next.

        It lies beside the batches and ends with this run: nobody's records bring programs along.
        """
        return self._inputs / f"{CACHE_FOLDER}-{self._names[plan.contender.label]}"

    def shuffled(self, plans: Sequence[ContenderPlan], round_number: int) -> list[ContenderPlan]:
        """Return a round's contenders in their random order, which the comparison's seed fixes."""
        by_label = {plan.contender.label: plan for plan in plans}
        return [by_label[one] for one in start_order(list(by_label), self._comparison.procedure.seed, round_number)]


def spreads_of(comparison: Comparison) -> tuple[str, ...]:
    """Return the precisions that contenders run in, as timed and, unless that is measured behind, as programs."""
    precisions = {plan.contender.precision for plan in comparison.contenders}
    is_asked = any(plan.program for plan in comparison.contenders) and not is_spread_behind(comparison.work)
    return tuple(sorted(precisions | ({"float64"} if is_asked else set())))


def _in_group(spec: TrialSpec, plan: ContenderPlan, cores: Sequence[tuple[int, ...]]) -> TrialSpec:
    """Return a trial as that of a group's first process, where each device has one, or of the reference for several.

    `cores` are those of each device, where contenders are bound to some; the reference is nobody's competitor.
    """
    if KINDS[spec.purpose].grouped and spec.purpose != "reference":
        spec = msgspec.structs.replace(spec, cores=cores_of(plan, cores))
    sync = plan.sync
    if sync is None or not sync.processes or not KINDS[spec.purpose].grouped:
        return msgspec.structs.replace(spec, shards=plan.shards)
    group = Group(rank=0, world=plan.devices, ports=free_ports(plan.devices))
    return msgspec.structs.replace(spec, group=group, tolerance=sync.tolerance)


def free_ports(count: int) -> tuple[int, ...]:
    """Return so many ports of the loopback that nobody listens on now, different from each other."""
    with ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind((LOOPBACK, 0))
        return tuple(int(one.getsockname()[1]) for one in sockets)


def _filled(variables: Mapping[str, str], plan: ContenderPlan, cache: str) -> dict[str, str]:
    """Return variables with the number of threads, that of a process's devices, and a folder put in."""
    local = 1 if plan.sync is None or plan.sync.processes else plan.devices
    threads = plan.contender.options.get("threads", "")
    return {name: text.format(threads=threads, devices=local, cache=cache) for name, text in variables.items()}


def start_order(labels: Sequence[str], seed: int, round_number: int) -> list[str]:
    """Return the order in which a round's workers are built, or run where they run one after another."""
    return random.Random(f"{seed}/{round_number}/start").sample(list(labels), len(labels))  # noqa: S311 - an order


def folder_names(labels: Sequence[str]) -> dict[str, str]:
    """Return for each label a name that its trials' folders end with: readable, short enough, and no other label's."""
    names: dict[str, str] = {}
    taken: set[str] = set()
    for label in labels:
        short = slug(label).encode()[:LONGEST_NAME].decode(errors="ignore")
        candidates = chain([short], (f"{short}-{number}" for number in count(2)))
        # Case is folded because file systems may do so.
        name = next(name for name in candidates if name.casefold() not in taken)
        names[label] = name
        taken.add(name.casefold())
    return names
