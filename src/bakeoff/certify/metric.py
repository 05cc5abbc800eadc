"""Whether a workload's own metric of trained parameters is the reference's at the end of the trajectory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bakeoff.certify.errors import bound, finite, relative
from bakeoff.spec.text import count
from bakeoff.spec.verdict import Check

if TYPE_CHECKING:
    from bakeoff.certify.checks import Case
    from bakeoff.spec.metric import Metric


def check_metric(metric: Metric, case: Case) -> Check:
    """Check the metric after the last step against the reference's, as far as the model lets it be held."""
    found, expected = case.contender.evidence.metric, case.reference.evidence.metric
    most = case.allowed.metric
    if found is None or expected is None:
        whose = "the contender" if found is None else "the reference"
        detail = f"no evidence: {whose} has no finite {metric.name}"
        return Check(name="metric", passed=False, detail=detail, allowed=finite(most))
    error = relative(found, expected)
    after = f"{metric.title} after {count(case.steps, 'step')}: {found:.6g} against {expected:.6g}"
    detail = f"{after} (relative {error:.1e}, {bound(most)})"
    return Check(name="metric", passed=error <= most, detail=detail, error=finite(error), allowed=finite(most))
