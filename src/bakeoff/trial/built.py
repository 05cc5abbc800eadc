"""The second state of a trial: the step exists; either it is run, or evidence is computed on a step that never ran."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from bakeoff.measure import memory
from bakeoff.measure.clock import Stepper
from bakeoff.spec.errors import UnequalError, UnsupportedError
from bakeoff.spec.group import devices_of
from bakeoff.spec.protocol import Built
from bakeoff.spec.trial import KINDS
from bakeoff.trial.arithmetic import check_tf32, measured_tf32
from bakeoff.trial.compiled import compiled_between
from bakeoff.trial.cores import told_cores
from bakeoff.trial.epochs import LongRun
from bakeoff.trial.evidence import free_at_once
from bakeoff.trial.feeding import feed_of, mode_of, resident
from bakeoff.trial.framework import make_tracer
from bakeoff.trial.lines import Watch
from bakeoff.trial.model import make_model, metric_of
from bakeoff.trial.ready_made import build_ready_made, ready_made_name
from bakeoff.trial.saved import SavedState
from bakeoff.trial.tied import Ties
from bakeoff.workloads import plan

if TYPE_CHECKING:
    from bakeoff.frameworks.engine import Feed, Model, Step
    from bakeoff.frameworks.tracing import Tracer
    from bakeoff.spec.record import Compilation
    from bakeoff.trial.arithmetic import Settings
    from bakeoff.trial.draft import Draft
    from bakeoff.trial.opened import Opened


@dataclass
class Unrun:
    """A step that was never run, with the model that it was built from: evidence is computed on it."""

    opened: Opened
    step: Step | None
    """None once it is released."""
    model: Model
    """Without its weights, unless spreads are to be measured with them."""
    watch: Watch | None = None
    """Holds the lines that ran while it was built."""

    def conclude(self, draft: Draft) -> None:
        """Note what is in force; raise UnsupportedError where that is another arithmetic than was asked.

        Raises UnequalError where this process's devices have not the same parameters.
        """
        if self.step is not None:
            _check_copies(self.opened, self.step)
            _note_settings(self.opened, draft, self.step.settings())

    def release(self, draft: Draft) -> None:
        """Note what is in force while there is a step, and give its memory back; raise as `conclude` does."""
        self.conclude(draft)
        self.step = None
        free_at_once(self.model.weights)


@dataclass(frozen=True)
class Running:
    """A step that has run once, with its batches and its clock.

    The model is not kept: the canonical weights are bakeoff's own, and a user's process does not hold them beside it.
    """

    opened: Opened
    step: Step
    feed: Feed | None
    """The contender's own way of input; None where batches are on the device."""
    stepper: Stepper
    compiled_before: Compilation
    """The reading before the first step."""
    ties: Ties
    saved: SavedState
    peak: memory.ResidentPeak
    """Of the resident memory, from before the first step on."""
    drops: bool = False
    """Whether the model has Dropout."""
    watch: Watch | None = None
    """Holds the lines that run behind all that is timed; None in a trial that times none of the race's steps."""
    long_run: LongRun = field(default_factory=LongRun)
    tracer: Tracer | None = None
    """Only in a trial that explains, where the framework has one."""

    def processes(self) -> list[int]:
        """Return the processes whose work is this contender's: those that load batches, and the group's others."""
        return [*(self.feed.processes() if self.feed else []), *self.opened.companions.pids]

    def conclude(self, draft: Draft) -> None:
        """Note what is known only in the end, and end what loads batches; raise as Unrun does."""
        _check_copies(self.opened, self.step)
        # Counted first: what settings are read back by may be compiled for it.
        draft.put(compilations=compiled_between(self.compiled_before, self.step.compilation()).count)
        _note_settings(self.opened, draft, self.step.settings() | self._close_feed())

    def _close_feed(self) -> Settings:
        """Return how batches came, read back, and end what loads them."""
        if self.feed is None:
            return {}
        settings = self.feed.settings()
        self.feed.close()
        return {"input": mode_of(self.opened.trial)} | settings


def build(opened: Opened, draft: Draft) -> tuple[Unrun | Running, Built]:
    """Build the step and, in a trial that runs it, put the batches on the device and run it once."""
    trial, clock = opened.trial, opened.clock
    model = make_model(trial)
    is_ready_made = bool(ready_made_name(trial))
    kind = KINDS[trial.purpose]
    watch = Watch(trial) if not kind.steps or (kind.tied and kind.saves) else None
    began_ns = clock()
    tracer = None if is_ready_made else _tracer(opened)
    # Where steps are timed nothing is noted yet: to look on takes JAX half as long again for its first step.
    with watch.noting() if watch and not kind.steps else nullcontext():
        step = build_ready_made(trial, model) if is_ready_made else _built(opened, model, tracer)
    build_ns = clock() - began_ns
    draft.put(build_ns=build_ns)
    if not kind.steps:
        # Asked here, too, because evidence takes minutes; where steps are timed, the first one is to find nothing warm.
        if found := measured_tf32(opened):
            check_tf32(step.settings() | found)
        # A step has its own copy of the weights; only draws begin with them once more.
        kept = model if trial.spreads else msgspec.structs.replace(model, weights={})
        return Unrun(opened, step, kept, watch), Built(build_ns=build_ns, first_step_ns=0)
    drops = plan.drops(model.build, model.size)
    metric = metric_of(trial, model.size) if trial.purpose == "epochs" else None
    del model
    feed = feed_of(trial, step, opened.batches)
    batches = feed or resident(step, opened.batches)
    peak = memory.ResidentPeak()
    if hasattr(step, "reset_device_peak"):
        step.reset_device_peak()
    stepper = Stepper(step, batches, clock)
    before = step.compilation()
    (first_step_ns,) = stepper.fenced(1)
    draft.put(first_step_ns=first_step_ns, compilation=compiled_between(before, step.compilation()))
    saved = SavedState(step, stepper)
    with peak.left_out():
        ties = Ties(opened, step, saved, drops=drops)
    running = Running(opened, step, feed, stepper, before, ties, saved, peak, drops, watch, LongRun(metric), tracer)
    return running, Built(build_ns=build_ns, first_step_ns=first_step_ns)


def _tracer(opened: Opened) -> Tracer | None:
    """Return what traces a trial that explains; None in any other, and where the framework has none."""
    return make_tracer(Path(opened.trial.framework_path)) if opened.trial.purpose == "explain" else None


def _built(opened: Opened, model: Model, tracer: Tracer | None) -> Step:
    """Return the step, in a trial that is traced with the scopes that a trace needs."""
    trial = opened.trial
    if model.size.collected and devices_of(trial.options) > 1:
        msg = "a workload that collects before it updates runs on one device; take devices=... away"
        raise UnsupportedError(msg)
    if tracer is None or tracer.level == "none":
        return opened.engine.build(model, trial.scenario, trial.options)
    scoped = msgspec.structs.replace(model, build=tracer.scoped(model.build))
    step = opened.engine.build(scoped, trial.scenario, trial.options)
    tracer.attach(step)
    return step


def _check_copies(opened: Opened, step: Step) -> None:
    """Raise UnequalError where the devices of this process have not the same parameters."""
    if devices_of(opened.trial.contender.options) == 1:
        return  # There is one copy, which need not be fetched.
    # An engine whose processes have one device each is written without the method.
    if name := getattr(step, "unequal", str)():
        raise UnequalError(name)


def _note_settings(opened: Opened, draft: Draft, settings: Settings) -> None:
    """Note what is in force, with TF32 as it was measured, and then raise UnsupportedError where that is another."""
    told = settings | opened.in_force() | told_cores(draft) | measured_tf32(opened)
    draft.put(settings=told)
    check_tf32(told)
