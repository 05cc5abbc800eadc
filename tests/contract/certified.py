"""The certificate of what a contender has computed of a workload at reduced size."""

from __future__ import annotations

from typing import TYPE_CHECKING

from contract_run import KNOWN, LATER_STEPS, REFERENCE, clipped, reference

from bakeoff.certify.certificate import certify

if TYPE_CHECKING:
    from bakeoff.certify.checks import Exhibit
    from bakeoff.spec.scenario import Scenario
    from bakeoff.spec.verdict import Certificate

IN_FLOAT64 = f"{REFERENCE} in float64"
"""The label of the evidence that contenders are held against."""


def certificate_of(
    contender: Exhibit,
    workload: str,
    scenario: Scenario,
    *,
    program: Exhibit | None = None,
    against: Exhibit | None = None,
) -> Certificate:
    """Return the certificate of a contender's evidence, and of its program's in float64 where there is one.

    `against` is the reference's evidence where that is not of the workload's usual batches.
    """
    loaded = KNOWN[workload]
    return certify(
        contender,
        against or reference().exhibit(IN_FLOAT64, workload, scenario),
        workload=loaded.workload,
        size=loaded.size("reduced"),
        scenario=scenario,
        per_sample=clipped(workload, scenario),
        steps=LATER_STEPS + 1,
        program=program,
    )
