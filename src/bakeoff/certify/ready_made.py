"""The certificate of a ready-made model: what it is, and that it computes something; compared with no reference."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from bakeoff.certify.ran import check_ran
from bakeoff.certify.tolerances import OWN_OUTPUTS, SCALED
from bakeoff.certify.varying import same_for_all
from bakeoff.spec.scenario import SCENARIOS
from bakeoff.spec.verdict import Certificate, Check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bakeoff.certify.checks import Exhibit
    from bakeoff.spec.evidence import Evidence
    from bakeoff.spec.scenario import Scenario
    from bakeoff.spec.workload import Size


LEAST_CHANGED = 0.25
"""Share of the arrays of parameters that training has to change: a deep network whose head alone is trained changes a
few in a hundred. An honest one may leave some: a bias before a normalisation has no gradient, and is one of four."""


def certify_ready_made(contender: Exhibit, *, size: Size, scenario: Scenario, batch_size: int) -> Certificate:
    """Report the parameters beside the workload's, and check that outputs are numbers and training does something."""
    checks = [_parameters(contender, size), _informative(contender, scenario, batch_size, size.classes)]
    if contender.evidence.version >= 1 and scenario in SCENARIOS and "ran" in SCENARIOS[scenario].evidence:
        count, allowed = contender.evidence.outputs, OWN_OUTPUTS
        checks.insert(1, check_ran(contender.arrays, count, contender.precision, reference=None, allowed=allowed))
    failed = [f"{check.name}: {check.detail}" for check in checks if not check.passed]
    return Certificate(
        contender=contender.label,
        reference="",
        passed=not failed,
        checks=tuple(checks),
        reason="; ".join(failed),
        ready_made=contender.evidence.ready_made,
    )


def _parameters(contender: Exhibit, size: Size) -> Check:
    """Report how many there are; another number than the workload's is no failure."""
    count = sum(math.prod(shape) for shape in contender.evidence.parameter_shapes.values())
    return Check(name="parameters", passed=count > 0, detail=_counted(count, size.parameters))


def _counted(count: int, declared: int | None) -> str:
    """Return the number of parameters beside the workload's, in words."""
    if declared is None or count == declared:
        return f"{count:,} parameters" + (", as many as the workload has" if declared else "")
    return f"{count:,} parameters where the workload has {declared:,}"


def _informative(contender: Exhibit, scenario: Scenario, batch_size: int, classes: int) -> Check:
    """Check that it computes: outputs of the right shape that differ between samples, and steps that change something.

    With `classes` 0, as of a size that declares its targets by name, only the number of samples is known of the shape.
    """
    faults = []
    if scenario not in SCENARIOS:
        faults.append(f"nothing says which evidence the scenario {scenario!r} owes")
    for index in range(contender.evidence.outputs):
        output = contender.arrays.get(f"output/{index}")
        shape = (batch_size, classes) if classes or output is None else (batch_size, *output.shape[1:])
        if output is None or output.shape != shape:
            faults.append(f"output {index} is {None if output is None else output.shape} instead of {shape}")
        elif not np.isfinite(output).all():
            faults.append(f"output {index} is not finite")
    if not faults:
        outputs = [contender.arrays[f"output/{index}"] for index in range(contender.evidence.outputs)]
        faults += [f"{which} {what}" for which, what in same_for_all(outputs)]
    faults += _standing_still(contender, scenario)
    honest = "outputs differ between samples, and nothing is constant or NaN"
    detail = "; ".join(faults) or honest + _left(contender.evidence)
    return Check(name="informative", passed=not faults, detail=detail)


def _left(evidence: Evidence) -> str:
    """Return how many arrays of parameters steps leave as they were, in words; empty where that is none, or unknown."""
    arrays = len(evidence.parameter_shapes)
    if evidence.changed is None or evidence.changed >= arrays:
        return ""
    left = arrays - evidence.changed
    return f"; {len(evidence.losses)} steps leave {left:,} of its {arrays:,} arrays of parameters as they were"


def _standing_still(contender: Exhibit, scenario: Scenario) -> Iterator[str]:
    """Yield that losses do not change over the steps, and that parameters do not, or that most are frozen.

    Each step has another batch, so that losses change without any training; parameters change by training alone. An
    array has changed with any of its elements, so that a small step leaves none behind: only what is frozen stays.
    """
    if scenario not in SCENARIOS or not SCENARIOS[scenario].has_loss:
        return
    losses, changed = contender.evidence.losses, contender.evidence.changed
    if None in losses or len(set(losses)) < 2:  # noqa: PLR2004 (two that differ)
        yield "its losses are missing, not finite, or do not change over the steps"
    if changed is None or contender.precision == SCALED:
        return
    arrays = len(contender.evidence.parameter_shapes)
    if changed == 0:
        yield f"its {len(losses)} steps change none of its {arrays:,} arrays of parameters: it does not train"
    elif changed < LEAST_CHANGED * arrays:
        yield f"its {len(losses)} steps change {changed:,} of its {arrays:,} arrays of parameters: most are frozen"
