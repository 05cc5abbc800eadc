"""The request that asks for a comparison again, from its own file: to add to what is there."""

from __future__ import annotations

import shlex
from itertools import pairwise
from typing import TYPE_CHECKING

from bakeoff.environments.builds import NVIDIA
from bakeoff.judge.explain_again import by_its_file, named_files
from bakeoff.spec.contender import quoted
from bakeoff.spec.errors import UsageError
from bakeoff.spec.request import Request
from bakeoff.stats.boundaries import LOOKS

if TYPE_CHECKING:
    from pathlib import Path

    from bakeoff.spec.comparison import Comparison, ContenderPlan

NAMES_DATA = "--data"


def request_again(folder: Path, comparison: Comparison, *, budget_s: float | None, data: str | None = None) -> Request:
    """Return what asks for the same work of the same contenders; the time budget is a new one.

    `data` is the source, which a comparison's file does not name whole; None: as the command line that began it says.
    Raises UsageError where it would have to start or import a file that only the comparison names.
    """
    _check_named(comparison)
    procedure, sample = comparison.procedure, comparison.per_sample
    return Request(
        workload=comparison.workload.name,
        contenders=tuple(text_of(plan) for plan in comparison.contenders),
        scenario=comparison.scenario,
        batch_size=comparison.batch_size,
        size=comparison.size,
        scaling=comparison.scaling,
        reference_device=_reference_device(comparison),
        max_norm=sample.max_norm if sample else None,
        noise_multiplier=sample.noise_multiplier if sample else None,
        data=data or _data(comparison),
        padding=comparison.data.padding,
        margin=procedure.margin,
        aim=procedure.aim,
        max_rounds=_max_rounds(comparison),
        budget_s=budget_s,
        trial_limit_s=procedure.trial_limit_s,
        seed=procedure.seed,
        epochs=procedure.epochs,
        steps=procedure.steps,
        repeats=procedure.repeats,
        results=str(folder.parent),
        command=comparison.command,
    )


def _max_rounds(comparison: Comparison) -> int | None:
    """Return the most rounds that can be asked for: one that made up for trials that were gone may have had more."""
    most = comparison.procedure.max_rounds
    return most if most is None or comparison.procedure.aim == "until-sure" else min(most, LOOKS[-1])


def _reference_device(comparison: Comparison) -> str | None:
    """Return where the reference was asked to compute; None for where it does by itself."""
    reference = comparison.reference
    return NVIDIA if reference is not None and reference.contender.on_cuda else None


def _check_named(comparison: Comparison) -> None:
    """Raise UsageError for a workload or an environment that is a path: a folder may be a stranger's."""
    if paths := named_files(comparison):
        by_name = by_its_file(comparison) or "bakeoff explain WORKLOAD CONTENDER [CONTENDER...] --resume"
        msg = (
            f"{comparison.id} was run with {paths[-1]}, and a file that only a results folder names is not started: if "
            f"you trust it, name workload and contenders again:\n  {by_name}"
        )
        raise UsageError(msg)


def text_of(plan: ContenderPlan, switch: str = "") -> str:
    """Return a contender as its user could have written it, with every option that was asked for.

    `switch`, as OPTION=VALUE, stands in the place of its own value.
    """
    one = plan.contender
    where = f"@{quoted(one.environment)}" if one.environment else ""
    option, _, turned = switch.partition("=")
    options = plan.asked | ({option: turned} if switch else {})
    asked = ",".join(f"{name}={quoted(value)}" for name, value in sorted(options.items()))
    return f"{one.framework}{where}{':' if asked else ''}{asked}"


def _data(comparison: Comparison) -> str | None:
    """Return the source that the command line names or, without one, that the data call themselves; None for none."""
    words = _words(comparison.command)
    named = [word.partition("=")[2] for word in words if word.startswith(f"{NAMES_DATA}=")]
    named += [after for word, after in pairwise(words) if word == NAMES_DATA]
    own = comparison.data.source.split(maxsplit=1)[0] if comparison.data.source else ""
    return named[-1] if named else own if own in comparison.workload.data else None


def _words(command: str) -> list[str]:
    """Return the words of a command line; none of one that cannot be read."""
    try:
        return shlex.split(command)
    except ValueError:
        return []
