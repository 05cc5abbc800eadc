"""Which GPU a comparison is on, and which contenders cannot run on their device.

All interpreters are asked at once, before anything else: an environment without CUDA shows in the seconds that an
import takes, and not after the reference's certificate.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from bakeoff.environments.builds import NVIDIA, PROCESSOR
from bakeoff.environments.declared import framework
from bakeoff.environments.probe import probe
from bakeoff.environments.usable import compiled_at_first, is_shared, why_not
from bakeoff.measure.energy import meters
from bakeoff.measure.gpus import VISIBLE, choose, uuid_in, variables_for
from bakeoff.measure.machine import describe
from bakeoff.race.scaling import facts_of
from bakeoff.spec.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bakeoff.measure.system_settings import Facts
    from bakeoff.spec.comparison import Comparison, ContenderPlan
    from bakeoff.spec.probe import ProbeAnswer
    from bakeoff.spec.request import Request
    from bakeoff.spec.trial import TrialSpec


class _Question(NamedTuple):
    """What one process is asked; several contenders may have the same."""

    interpreter: str
    folder: str
    device: str
    gpu_uuid: str


_found: dict[_Question, ProbeAnswer] = {}
"""Answers of this process that named the device: the comparisons of a study do not ask for it again."""


def machine_of(request: Request, plans: Sequence[ContenderPlan]) -> tuple[Facts, str]:
    """Return the machine's facts, with those of the GPU that work on CUDA runs on, and why it is this one.

    Raises UsageError for a GPU that there is not, or that no contender would run on, and the reference neither.
    """
    if any(plan.contender.on_cuda for plan in plans):
        chosen = choose(request.gpu)
        return (describe(facts_of(chosen.gpu.uuid, plans)), chosen.why) if chosen else (describe(), "")
    if request.reference_device == NVIDIA:
        msg = "--reference-device cuda is the contenders' GPU, and none of these is on one: add --device cuda"
        raise UsageError(msg)
    if request.gpu is not None:
        msg = f"--gpu {request.gpu} names the GPU of contenders on CUDA, and none of these is one: add --device cuda"
        raise UsageError(msg)
    return describe(), ""


def on_gpu_of(before: Comparison, wanted: Comparison, request: Request) -> Comparison:
    """Return a comparison that goes on, on the GPU that it was begun on unless the user names one now."""
    uuid = uuid_in(before.machine)
    is_named = request.gpu is not None or VISIBLE in os.environ
    if is_named or not uuid or wanted.machine.get("gpu_uuid") == uuid:
        return wanted
    return msgspec.structs.replace(wanted, machine=describe(facts_of(uuid, wanted.contenders)), gpu_why="as before")


def no_energy(plans: Sequence[ContenderPlan], machine: Facts) -> str:
    """Return why nobody's energy is measured; empty where some contender's device has meters."""
    uuid = uuid_in(machine)
    devices = dict.fromkeys(plan.contender.device for plan in plans)
    reasons = [meters(device, uuid)[1] for device in devices]
    return "; ".join(dict.fromkeys(reasons)) if all(reasons) else ""


def without_device(device: str | None, names: tuple[str, ...]) -> dict[str, str]:
    """Return which of these frameworks, that nobody has named, do not have the device that is asked for, and why."""
    support = {name: framework(name).info.options.get("device") for name in names}
    lacks = {name: one for name, one in support.items() if one and device not in (None, *one.values)}
    if len(lacks) == len(names):
        return {}  # A device that nobody has is no reason to leave one out: it is refused, with those that there are.
    return {name: f"has no device={device}" + (f": {one.why}" if one.why else "") for name, one in lacks.items()}


def lacking(plans: Sequence[ContenderPlan], machine: Facts) -> dict[str, str]:
    """Return, by label, why contenders cannot run on their device; nobody is asked for a processor.

    `machine` are its facts with those of the GPU that work on CUDA would run on.
    """
    questions = {plan.contender.label: _question(plan, machine) for plan in plans if plan.contender.device != PROCESSOR}
    answers = _answers(list(dict.fromkeys(questions.values())), together=is_shared(machine))
    found: dict[str, str] = {}
    for plan in plans:
        contender = plan.contender
        if contender.label in questions:
            answer, info = answers[questions[contender.label]], framework(contender.framework).info
            if reason := why_not(info, answer, contender.options, machine, contender.environment):
                found[contender.label] = reason
    return found


def why_late(trial: TrialSpec) -> str:
    """Return what a worker that did not answer in time may have waited for; "" where nothing is known of that.

    A driver that compiles a framework's kernels for a GPU newer than the wheel takes longer than a trial may.
    """
    device = trial.contender.device
    asked = [one for one in _found if (one.folder, one.device) == (trial.framework_path, device)]
    slow = next((found for one in asked if (found := compiled_at_first(_found[one], trial.gpu or {}))), "")
    if not slow:
        return ""
    return (
        f"; the framework has no kernels for this GPU, and the driver may still have been compiling {slow}, which "
        "takes 30 minutes or longer: --trial-limit 1h, once"
    )


def _question(plan: ContenderPlan, machine: Facts) -> _Question:
    """Return what a contender's interpreter is asked."""
    return _Question(plan.interpreter, plan.framework_path, plan.contender.device, uuid_in(machine))


def _answers(questions: list[_Question], *, together: bool) -> dict[_Question, ProbeAnswer]:
    """Ask every interpreter, at the same time or one after another; what was found before is known."""
    new = [question for question in questions if question not in _found]
    if not new:
        return {question: _found[question] for question in questions}
    with ThreadPoolExecutor(max_workers=len(new) if together else 1) as pool:
        answers = dict(zip(new, pool.map(_ask, new), strict=True))
    _found.update({question: answer for question, answer in answers.items() if question.device in answer.devices})
    return {question: _found.get(question) or answers[question] for question in questions}


def _ask(question: _Question) -> ProbeAnswer:
    """Ask one interpreter, which sees the GPU that its worker would see."""
    variables = variables_for(question.gpu_uuid)
    return probe(question.interpreter, Path(question.folder), device=question.device, variables=variables)
