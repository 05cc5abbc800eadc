"""Faults in the certificate's own checks."""

from __future__ import annotations

from functools import partial

from catalogue.mutant import Mutant

in_metric = partial(Mutant, "", "certificate", "certify/metric.py")
in_ready_made = partial(Mutant, "", "certificate", "certify/ready_made.py")

OF_METRIC = "unit/tests/certify/test_metric.py"
OF_READY_MADE = "unit/tests/certify/test_ready_made.py"

MUTANTS = [
    in_metric(
        "any metric passes",
        [("passed=error <= most", "passed=True")],
        {OF_METRIC: "test_a_metric_within_the_roundings_passes"},
    ),
    in_ready_made(
        "a ready-made model that does not train passes",
        [("if changed == 0 and contender.precision != SCALED:", "if False:")],
        {OF_READY_MADE: "test_what_computes_nothing_is_refused"},
    ),
]
