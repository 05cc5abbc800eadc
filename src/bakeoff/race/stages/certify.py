"""The evidence for the certificates: the reference's, and every contender's in float64 and in the settings to be timed.

What float64 itself loses is measured behind the programs, where one of them is off, from BEHIND_MACS of a step on. What
is computed in float64 is remembered by all that it could depend on, so that the next race does not pay for it.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from bakeoff.judge.certificate import failed_reference, is_off
from bakeoff.race import fitting
from bakeoff.race.least import least
from bakeoff.race.progress import Certified, Event
from bakeoff.race.remembered import keep, name_of, recall, saw_these_variables
from bakeoff.race.stages.stage import Adopted, RaceState, WantedTrials, adopted, alone, built_then, in_turn
from bakeoff.spec.protocol import Certify, MeasureSpread
from bakeoff.store.evidence import EVIDENCE_FILE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from bakeoff.race.specs import Trial
    from bakeoff.spec.comparison import ContenderPlan
    from bakeoff.spec.protocol import Command

KIND = "programs"
"""The folder of what is remembered."""

COMPUTING = ("certify/*.py", "trial/*.py", "frameworks/*.py", "workloads/*.py", "spec/*.py")
"""Bakeoff's own code that evidence depends on, below the package's folder; a framework's folder has a hash of its own.
"""

PATIENCE = 20.0
"""A certificate that takes so many times as long as the longest part of it takes at least, by operations alone, hangs,
whatever the time limit of a trial: in float64 frameworks have slow code for some of a model's operations."""


def wanted(state: RaceState, *, anew: bool = False) -> Iterator[WantedTrials | Adopted | Event]:
    """Want the reference's trial and those of each contender, and report each certificate.

    With `anew`, nothing that is remembered stands for a trial. What would be held against a failed reference is not
    computed: of a large model that takes an hour, and certifies nothing.
    """
    programs, references = state.comparison.programs(), state.comparison.references()
    trial = state.specs.trial
    exact = [_in_float64(state, one, trial(one, "reference"), anew=anew) for one in references.values()]
    firsts, twins = _apart_from_twins(programs.values())
    in_float64 = [(own, _in_float64(state, own, trial(own, "program"), anew=anew)) for own in firsts]
    timed = [(plan, evidence(state, trial(plan, "certify"))) for plan in state.comparison.contenders]
    yield from _started_together(state, [*((None, one) for one in exact), *in_float64])
    yield from _started_together(state, [(own, _as_its_twin(state, first, own)) for own, first in twins])
    yield from _spreads_behind(state, anew=anew)
    yield from _started_together(state, timed)
    agreed: set[str] = set()
    for plan in state.comparison.contenders:
        certificate = state.certificate(plan)
        agreed |= {plan.whose} if certificate.passed and not certificate.ready_made else set()
        if certificate.passed and plan.contender.label in programs:
            own = programs[plan.contender.label]
            _remember(state, own, trial(own, "program"))
        yield Certified(certificate)
    for whose in agreed & references.keys():
        reference = references[whose]
        for one in (trial(reference, "reference"), state.specs.spread_behind(reference)):
            _remember(state, reference, one)


def _spreads_behind(state: RaceState, *, anew: bool) -> Iterator[WantedTrials | Adopted]:
    """Yield the trials that measure what float64 itself loses in a model, where a program is off by more than any may.

    Most are within what float64 is allowed in any model, and need none.
    """
    for whose, reference in state.comparison.references().items():
        trial, before = state.specs.spread_behind(reference), state.records.get(whose)
        if trial is None or before is None or before.evidence is None:
            continue
        held = [plan for plan in state.comparison.contenders if plan.whose == whose]
        if any(is_off(state.comparison, state.records, state.folder, plan) for plan in held):
            arrays = (state.folder / before.trial.name / EVIDENCE_FILE).resolve()
            measured = MeasureSpread(precision="float64", evidence=before.evidence, arrays=str(arrays))
            yield _in_float64(state, reference, trial, measured, anew=anew)


def _apart_from_twins(
    programs: Iterable[ContenderPlan],
) -> tuple[list[ContenderPlan], list[tuple[ContenderPlan, ContenderPlan]]]:
    """Return programs of which each is another one, and the others, each with the one that it is the same as.

    Contenders that differ in their precision, in how batches come or in malloc have one and the same.
    """
    firsts: list[ContenderPlan] = []
    twins = []
    for own in programs:
        first = next((one for one in firsts if own.runs_as(one)), None)
        if first is None:
            firsts.append(own)
        else:
            twins.append((own, first))
    return firsts, twins


def _as_its_twin(state: RaceState, first: ContenderPlan, own: ContenderPlan) -> WantedTrials | Adopted:
    """Return a program's trial, or the record of the same one, of another contender, that was computed before it."""
    trial, record = state.specs.trial(own, "program"), state.records.get(state.specs.trial(first, "program").spec.name)
    computed = evidence(state, trial)
    if record is None or record.outcome != "done" or record.evidence is None:
        return computed
    return adopted(record, trial.spec, state.folder / record.trial.name / EVIDENCE_FILE, computed)


def _started_together(
    state: RaceState, asked: Sequence[tuple[ContenderPlan | None, WantedTrials | Adopted]]
) -> Iterator[WantedTrials | Adopted]:
    """Yield what is remembered, then the trials that are missing: together where their steps are small.

    So their imports overlap; they compute one after another. Each trial comes with its contender, whose reference may
    have failed by then; None for a reference.
    """
    yield from (one for _, one in asked if isinstance(one, Adopted))
    trials = [(plan, one.instead if isinstance(one, Adopted) else one) for plan, one in asked]
    missing = [(plan, one) for plan, one in trials if one and one.trials[0].spec.name not in state.records]
    work = state.comparison.work
    is_apart = work is None or work.macs > fitting.SMALL_MACS or _apart_on_the_gpu(state, [one for _, one in missing])
    useful = (one for plan, one in missing if plan is None or not failed_reference(state.records, plan))
    if is_apart:
        yield from useful
    elif together := list(useful):
        yield in_turn(together)


def _apart_on_the_gpu(state: RaceState, asked: Sequence[WantedTrials]) -> str:
    """Return why small trials cannot start together on a GPU, before anything of them is measured; empty else."""
    named = [fitting.small_need(trial.spec.contender) for one in asked for trial in one.trials]
    return fitting.why_apart_on_the_gpu(state.comparison, [one for one in named if one.contender.on_cuda])


every_one = partial(wanted, anew=True)
"""The stage of `bakeoff verify`, which is asked for because somebody wants to see it."""


def evidence(state: RaceState, trial: Trial, *commands: Command) -> WantedTrials:
    """Return the trial that computes a contender's evidence, by these commands where it is not all."""
    spreads = [MeasureSpread(precision=precision) for precision in trial.spec.spreads]
    told = least(state.comparison)
    least_s = PATIENCE * told.longest_s if told else 0.0
    return alone(trial, built_then(trial.spec.purpose, *(commands or (Certify(), *spreads)), limit_s=least_s))


def _in_float64(
    state: RaceState, plan: ContenderPlan, trial: Trial, *commands: Command, anew: bool
) -> WantedTrials | Adopted:
    """Return the trial, or the record of one in the same settings that was certified before."""
    name = _name(state, plan, trial)
    before = None if anew or not name else recall(KIND, name)
    computed = evidence(state, trial, *commands)
    if before is None:
        return computed
    return adopted(before.record, trial.spec, before.folder / EVIDENCE_FILE, computed)


def _remember(state: RaceState, plan: ContenderPlan, trial: Trial | None) -> None:
    """Keep a trial's record and arrays, if it was run here."""
    if trial is None or (record := state.records.get(trial.spec.name)) is None:
        return
    name = _name(state, plan, trial) if saw_these_variables(record, plan) else ""
    if name and record.outcome == "done" and record.trial.comparison == state.comparison.id:
        keep(KIND, name, record, state.folder / trial.spec.name / EVIDENCE_FILE)


def _name(state: RaceState, plan: ContenderPlan, trial: Trial) -> str:
    """Return the name under which a trial in float64 is remembered; empty where something it depends on is unknown."""
    spec = trial.spec
    asked = [
        spec.purpose,
        spec.scenario,
        spec.per_sample,
        spec.size,
        spec.batch_size,
        spec.seed,
        spec.certify_steps,
        spec.spreads,
        spec.steps_sha256,
        spec.lines_sha256,
        state.comparison.numbers_sha256,
    ]
    sources = [spec.workload_sha256, spec.framework_sha256, state.comparison.data.sha256]
    asked += [spec.joined, spec.shards]
    facts = [*asked, sorted(state.comparison.machine.items()), sorted(plan.contender.options.items())]
    return name_of(COMPUTING, plan, [*facts, *sources]) if all(sources) else ""
