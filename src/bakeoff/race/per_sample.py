"""What a request says of per-sample gradients, checked before anything is started."""

from __future__ import annotations

import linecache
from itertools import count
from typing import TYPE_CHECKING

from bakeoff.spec.errors import UsageError
from bakeoff.spec.per_sample import OPTION, PLAIN, PerSample
from bakeoff.spec.scenario import SCENARIOS
from bakeoff.workloads import plan

if TYPE_CHECKING:
    from bakeoff.environments.declared import Framework
    from bakeoff.spec.comparison import ContenderPlan
    from bakeoff.spec.request import Request
    from bakeoff.spec.scenario import Scenario
    from bakeoff.workloads.load import LoadedWorkload

MIXING = "BatchNorm"
"""The vocabulary's layer whose running statistics follow all samples of a batch together."""

_PER_SAMPLE = [name for name, spec in SCENARIOS.items() if spec.per_sample]


def asked_of(request: Request, scenario: Scenario) -> PerSample | None:
    """Return how gradients are clipped; None in a scenario that does not clip each sample's.

    Raises UsageError for a number that cannot be, and for one that would be passed over.
    """
    given = {name: getattr(request, name) for name in PerSample.__struct_fields__}
    given = {name: value for name, value in given.items() if value is not None}
    if SCENARIOS[scenario].per_sample:
        found = PerSample(**given)
        found.check()
        return found
    if given:
        flags = " and ".join(f"--{name.replace('_', '-')}" for name in given)
        msg = (
            f"{flags}: only the scenario {_PER_SAMPLE[0]} clips each sample's gradient, and this one is {scenario}; "
            f"add --scenario {_PER_SAMPLE[0]}"
        )
        raise UsageError(msg)
    return None


def check_separable(loaded: LoadedWorkload, size_name: str, wanted: str | None) -> None:
    """Raise UsageError for a model whose samples have no gradients of their own, where these are asked for."""
    if wanted not in _PER_SAMPLE:
        return
    kept = plan.state(loaded.build, loaded.size(size_name))
    if not kept:
        return
    layer = next(iter(kept)).rpartition(".")[0]
    path = loaded.build.__code__.co_filename
    line = _line_of(path, f".{MIXING}(")
    msg = (
        f"{path}{f':{line}' if line else ''}: {layer} normalises over the batch, so that a sample's gradient "
        f"depends on the others and {wanted} is not defined; use nn.GroupNorm or nn.LayerNorm, or another workload"
    )
    raise UsageError(msg)


def _line_of(path: str, text: str) -> int | None:
    """Return the first line of a file that has a text; None where none has."""
    lines = linecache.getlines(path)
    return next((number for number, line in zip(count(1), lines, strict=False) if text in line), None)


def check_option(plans: list[ContenderPlan], scenario: Scenario) -> None:
    """Raise UsageError where an option asks how per-sample gradients are computed, and the scenario has none."""
    if SCENARIOS[scenario].per_sample:
        return
    for one in plans:
        if OPTION in one.asked:
            msg = (
                f"contender {one.contender.label!r}: {OPTION}={one.asked[OPTION]} says how per-sample gradients are "
                f"computed, and the scenario is {scenario}: add --scenario {_PER_SAMPLE[0]}, or leave it out"
            )
            raise UsageError(msg)


def plainest(declared: Framework, scenario: Scenario) -> dict[str, str]:
    """Return the option by which a reference computes per-sample gradients: one sample after another."""
    support = declared.info.options.get(OPTION)
    is_there = support is not None and PLAIN in support.values
    return {OPTION: PLAIN} if is_there and SCENARIOS[scenario].per_sample else {}
