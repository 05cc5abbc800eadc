from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest
from tests.study.conftest import request_of

from bakeoff.environments.declared import Framework
from bakeoff.spec.contender import Contender
from bakeoff.spec.errors import UnavailableError, UnknownNameError, UsageError
from bakeoff.study import sweep as sweeping
from bakeoff.study.sweep import Axis, read_values, sweep_of

if TYPE_CHECKING:
    from tests.study.conftest import Swept


def test_every_combination_is_a_point() -> None:
    """Two axes give their product, the first varying slowest, and each point its request."""
    axes = [Axis(name="batch size", values=("8", "16")), Axis(name="precision", values=("float32", "float64"))]
    study = sweep_of(request_of("fake", options={"threads": "1"}), axes)
    assert [point.title for point in study.points] == [
        "batch size 8, precision float32",
        "batch size 8, precision float64",
        "batch size 16, precision float32",
        "batch size 16, precision float64",
    ]
    assert study.points[1].request.batch_size == 8
    assert study.points[1].request.options == {"threads": "1", "precision": "float64"}
    assert study.axes() == {"batch size": ["8", "16"], "precision": ["float32", "float64"]}


def test_a_contender_that_cannot_is_left_out_with_the_reason() -> None:
    """Where a framework lacks a value its contender is a hole with that reason; its own word wins and is no hole."""
    study = sweep_of(request_of("fake", "torch", "torch:mode=eager"), [Axis(name="mode", values=("eager", "graph"))])
    assert study.points[0].request.contenders == ("fake", "torch", "torch:mode=eager")
    assert study.points[1].request.contenders == ("torch:mode=eager",)
    assert "does not have mode=graph; possible: eager, compiled" in study.points[1].left_out["fake"]


def test_a_framework_that_is_not_here_is_left_out_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a comparison the others race on, and the reason is told at every point."""

    def absent(contender: Contender, declared: Framework) -> str:
        if contender.framework == "torch":
            msg = "not installed here"
            raise UnavailableError(msg)
        return sys.executable

    monkeypatch.setattr(sweeping, "resolve", absent)
    study = sweep_of(request_of("fake", "torch"), [Axis(name="batch size", values=("8", "16"))])
    assert [point.request.contenders for point in study.points] == [("fake",), ("fake",)]
    assert [point.left_out for point in study.points] == [{"torch": "not installed here"}] * 2


@pytest.mark.parametrize(
    ("axis", "values", "error"),
    [
        ("colour", ("red", "blue"), "unknown option 'colour'"),
        ("mode", ("eager", "quick"), "mode=quick; possible: eager, compiled"),
        ("batch size", ("8", "x"), "batch size 'x' cannot be; valid: a whole number"),
        ("batch size", ("8", "0"), "batch size 0 cannot be"),
        (
            "threads",
            tuple(str(number) for number in range(1, 90)),
            r"89 combinations.* some 1.5 hours; valid: up to 64",
        ),
    ],
)
def test_what_cannot_be_is_said_before_anything_runs(axis: str, values: tuple[str, ...], error: str) -> None:
    """An option or value that nobody has, a wrong number, too many combinations: one clear error."""
    with pytest.raises(UsageError, match=error):
        sweep_of(request_of("fake"), [Axis(name=axis, values=values)])


def test_a_contender_s_own_words_must_be_possible() -> None:
    """A misspelt option of a contender, or one that has none of the values, is an error, never a hole."""
    with pytest.raises(UsageError, match="'step_ms'"):
        sweep_of(request_of("fake", "torch"), [Axis(name="step_ms", values=("1", "2"))])
    with pytest.raises(UnknownNameError, match="did you mean 'mode'"):
        sweep_of(request_of("fake", "fake:mod=eager"), [Axis(name="batch size", values=("8", "16"))])


def test_values_are_read_as_they_are_written() -> None:
    """Values stand between commas; a missing one and one that is there twice are errors."""
    assert read_values("8, 16,32", "--batch-size") == ("8", "16", "32")
    assert read_values("8", "--batch-size") == ("8",)
    for text, error in (("8,,16", "lacks a value"), ("", "lacks a value"), ("8,16,8", "has the value 8 twice")):
        with pytest.raises(UsageError, match=error):
            read_values(text, "--batch-size")


def test_options_are_in_force(swept: Swept) -> None:
    """An axis' value reaches the framework, which tells it back."""
    outcome = swept("fake", axes={"step_ms": ("1", "4")})
    steps = [one.contenders[0].median_step_s for one in outcome.outcomes]
    assert steps == pytest.approx([1e-3, 4e-3])
