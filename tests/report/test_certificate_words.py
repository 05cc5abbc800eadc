"""What a report says of certificates: in the line below its answer, in their own line, and in warnings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from bakeoff.report.pages import page_of
from bakeoff.report.pages.comparison import cautions
from bakeoff.report.sections.certificate import certificate_line
from bakeoff.spec.verdict import Check

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bakeoff.judge.outcome import Outcome
    from bakeoff.spec.verdict import Stage

NO_FLOAT64 = "there is no float64 of it"


def test_who_has_no_certificate_is_named(mixed: Outcome) -> None:
    """The same work is said to be verified of those alone whose certificate passed."""
    held, others = "torch@<b>[red]|*x* and jax", "jax:mode=eager, tensorflow and torch (2)"
    words = f"Same work: verified for {held} (outputs within 4e-7, losses within 2e-7); not for {others}. "
    assert page_of(mixed).trust.startswith(words)


def test_certificate_is_told_as_bounds(undecided: Outcome, mixed: Outcome) -> None:
    """Errors of the certificate are rounded up, so that they bound; who has none is not counted in."""
    expected = (
        "same 407,050 parameters; outputs within 4e-7, losses within 2e-7, gradients within 5e-7, "
        "optimiser steps within 2e-8 of float64 (torch)"
    )
    assert certificate_line(undecided) == f"{expected}; passed"
    assert certificate_line(mixed) == f"{expected}; passed by torch@<b>[red]|*x* and jax"


def staged(found: Mapping[Stage, Mapping[str, float]], allowed: float | None = None) -> tuple[Check, ...]:
    """Return checks that passed, by stage and name, with their errors."""
    return tuple(
        Check(name=name, stage=stage, passed=True, detail="", error=error, allowed=allowed)  # type: ignore[arg-type]
        for stage, errors in found.items()
        for name, error in errors.items()
    )


def holding(outcome: Outcome, *changes: Mapping[str, Any]) -> Outcome:
    """Return an outcome with other fields of its first contenders' certificates."""
    changed = [
        msgspec.structs.replace(one, certificate=msgspec.structs.replace(one.certificate, **fields))
        for one, fields in zip(outcome.contenders, changes, strict=False)
        if one.certificate is not None
    ]
    return msgspec.structs.replace(outcome, contenders=[*changed, *outcome.contenders[len(changed) :]])


def line_of(outcome: Outcome, *changes: Mapping[str, Any]) -> str:
    """Give what the line below the answer says of the work, with other fields of the first certificates."""
    trust = page_of(holding(outcome, *changes)).trust
    return trust.removesuffix(". 7 rounds, 14 fresh processes.").removeprefix("Same work: ")


NEAR: Mapping[Stage, Mapping[str, float]] = {
    "program": {"outputs": 2e-14, "gradients": 6e-13},
    "timed": {"outputs": 4e-7, "loss": 2e-7, "gradients": 0.3},
}
FAR: Mapping[Stage, Mapping[str, float]] = {
    "program": {"outputs": 1e-15, "state": 3.1e-12},
    "timed": {"outputs": 6e-7, "loss": 1e-7, "gradients": 1e-3},
}
BOTH = {"checks": staged(NEAR)}, {"checks": staged(FAR)}
WITHIN = "in float64: within 4e-12; as timed: outputs within 6e-7, losses within 2e-7"


def test_the_line_below_the_answer_has_both_stages(noisy: Outcome) -> None:
    """It bounds all checks in float64, and as timed outputs and losses, by the contender that is farthest off."""
    assert line_of(noisy, *BOTH) == f"verified ({WITHIN})"
    assert line_of(noisy, *BOTH[::-1]) == f"verified ({WITHIN})"


def test_who_has_one_stage_alone_is_told(noisy: Outcome) -> None:
    """Who was not run in float64 is named; of what is timed in float64, or infers, there is nothing else to tell."""
    near, far = BOTH
    _, second = noisy.contenders
    alone = {"checks": staged({"timed": FAR["timed"]}), "alone": NO_FLOAT64}
    timed = "as timed: outputs within 6e-7, losses within 2e-7"
    without = f"{second.label} not run in float64"
    assert line_of(noisy, near, alone) == f"verified (in float64: within 6e-13; {without}; {timed})"
    nobody = {"checks": staged({"timed": NEAR["timed"]}), "alone": NO_FLOAT64}
    assert line_of(noisy, nobody, alone).startswith("verified (torch and jax not run in float64; as timed: outputs")
    in_float64 = [{"checks": staged({"program": one["program"]})} for one in (NEAR, FAR)]
    assert line_of(noisy, *in_float64) == "verified (in float64: within 4e-12)"
    inferred = {"checks": staged({"program": {"outputs": 2e-14}, "timed": {"outputs": 4e-7}})}
    assert line_of(noisy, inferred, inferred) == "verified (in float64: within 2e-14; as timed: outputs within 4e-7)"
    few = near | {"losses": 1}
    assert line_of(noisy, few, far).endswith("as timed: outputs within 6e-7, first loss within 2e-7)")
    assert line_of(noisy, near | {"losses": 4}, far | {"losses": 2}).endswith("first 2 losses within 2e-7)")


def test_an_equal_program_is_not_off_by_zero(noisy: Outcome) -> None:
    """A contender that computes the reference itself agrees in float64 to the last bit, which is told in words."""
    same = {"checks": staged({"program": {"outputs": 0.0, "loss": 0.0}, "timed": NEAR["timed"]})}
    said = "verified (in float64: no difference; as timed: outputs within 4e-7, losses within 2e-7)"
    assert line_of(noisy, same, same) == said


def test_only_those_that_are_held_bound_the_line(noisy: Outcome) -> None:
    """What failed, and what is ready-made and compared with nothing, has no part in what is verified within."""
    first, second = (one.label for one in noisy.contenders)
    near, far = BOTH
    within = "in float64: within 6e-13; as timed: outputs within 4e-7, losses within 2e-7"
    assert line_of(noisy, near, far | {"passed": False}) == f"verified for {first} ({within}); not for {second}"
    ready_made = line_of(noisy, near, far | {"ready_made": "resnet18"})
    assert ready_made == f"verified for {first} ({within}); ready-made and compared with nothing: {second}"


@pytest.mark.parametrize(
    ("check", "allowed", "told"),
    [
        ("gradients", 0.3, "single elements of gradients that are off by up to 3e-1 pass its certificate"),
        ("gradients", None, "single elements of gradients however far off pass its certificate"),
        ("outputs", 0.3, "outputs that are off by up to 3e-1 pass its certificate"),
    ],
)
def test_a_certificate_that_holds_little_is_told(noisy: Outcome, check: str, allowed: float, told: str) -> None:
    """Who is held as timed alone, in a model that magnifies rounding, has a warning of what would pass."""

    def said(stage: Stage = "timed", allowed: float | None = allowed, **fields: Any) -> list[str]:
        weak = {"checks": staged({stage: {check: 1e-3}}, allowed), "alone": NO_FLOAT64}
        return [one for one in cautions(holding(noisy, weak | fields)) if "magnifies rounding" in one]

    (found,) = said()
    assert found.startswith(f"{noisy.contenders[0].label} was not run in float64, and as timed this model magnifies")
    assert told in found
    assert not said(allowed=0.05)
    assert not said(alone="")
    assert not said(passed=False)
    assert not said(ready_made="resnet18")
    assert not said(stage="program")


def test_a_training_that_diverges_is_told_once(noisy: Outcome) -> None:
    """Though all are certified: by the reference's losses, and by the stronger words where numbers are not finite."""

    def said(*details: tuple[str, str], passed: bool = True) -> list[str]:
        checks = [Check(name=name, passed=True, detail=detail, stage="timed") for name, detail in details]
        every = cautions(holding(noisy, {"checks": checks, "passed": passed}))
        return [one for one in every if "diverges" in one]

    far = ("informative", "nothing is zero; training diverges: in 6 steps the reference's loss goes from 3 to 4e+05")
    beyond = ("update", "of 6 steps the first 3 are held: behind them training diverges, beyond float32")
    (found,) = said(far)
    assert found.startswith("Training diverges: in 6 steps the reference's loss goes from 3 to 4e+05. A smaller")
    (found,) = said(far, beyond)
    assert "numbers that are not finite" in found
    assert not said(far, passed=False)
    assert not said(("informative", "nothing is zero"))


def test_parameters_are_the_same_where_all_were_counted(undecided: Outcome) -> None:
    """One certificate in which they were not counted leaves that out."""
    first = undecided.contenders[0].certificate
    assert first is not None
    uncounted = tuple(check for check in first.checks if check.name != "parameters")
    assert "same 407,050 parameters" in certificate_line(undecided)
    assert "parameters;" not in certificate_line(holding(undecided, {"checks": uncounted}))
