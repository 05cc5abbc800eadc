"""What `bakeoff verify` prints of one certificate."""

from __future__ import annotations

import pytest

from bakeoff.cli import verify
from bakeoff.spec.verdict import Certificate, Check

PROGRAM = Check(name="outputs", stage="program", passed=False, detail="largest error in output/0: 2e-3; it is far off")
TIMED = Check(name="gradients", stage="timed", passed=False, detail="largest error in gradient/w: 0.3")
HELD = Check(name="loss", stage="timed", passed=True, detail="loss at step 0: 2.3 against 2.3")
FAILED = (PROGRAM, HELD, TIMED)
ADVICE = "jax:variance=two-pass would lose fewer digits"


def refused(*besides: str, checks: tuple[Check, ...] = FAILED) -> list[str]:
    """Give the lines of a certificate that did not pass for these checks, with what its reason says besides."""
    failed = [(PROGRAM, "outputs in float64"), (TIMED, "gradients")]
    reason = [f"{name}: {check.detail}" for check, name in failed if check in checks]
    certificate = Certificate(
        contender="jax", reference="torch", passed=False, checks=checks, reason="; ".join([*reason, *besides])
    )
    return verify._text(certificate).splitlines()


@pytest.mark.parametrize("besides", [(), (ADVICE,), ("it differs in float32 alone", ADVICE)])
def test_the_first_line_names_the_failed_checks(besides: tuple[str, ...]) -> None:
    """It has their names, and all of the reason that stands in no check's own line."""
    head, *lines = refused(*besides)
    named = "; ".join(["outputs in float64, gradients", *besides])
    assert head == f"jax, against torch: NOT passed: {named}"
    assert [line.split()[0] for line in lines] == ["FAILED", "passed", "FAILED"]
    assert [line.endswith(check.detail) for line, check in zip(lines, FAILED, strict=True)] == [True] * 3


def test_without_checks_the_reason_is_whole() -> None:
    """What was never compared is told in its reason's own words."""
    assert refused("the reference (torch) failed: killed; by a signal", checks=()) == [
        "jax, against torch: NOT passed: the reference (torch) failed: killed; by a signal"
    ]
