from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest
from tests.report.shown import data_of, html, markdown, printed

from bakeoff.report.sections.timing import TIMING, latency, timer_table
from bakeoff.spec.selftest import TimerCheck, TimerVerdict

if TYPE_CHECKING:
    from bakeoff.judge.outcome import Outcome
    from bakeoff.spec.selftest import TimerOutcome

LATENCY = (
    "Latency of a batch of 32 samples, from its call to its outputs: "
    "tensorflow p50 1.1 ms, p90 1.3 ms (n 180); jax p50 1.1 ms, p90 1.3 ms (n 180); "
    "torch p50 2.3 ms, p90 2.7 ms (n 180)."
)


@pytest.fixture
def inferred(undecided: Outcome) -> Outcome:
    """Three contenders in the scenario infer."""
    return msgspec.structs.replace(
        undecided, comparison=msgspec.structs.replace(undecided.comparison, scenario="infer")
    )


def test_inference_has_throughput_and_latency_in_every_form(inferred: Outcome) -> None:
    """In the scenario infer, terminal, Markdown, HTML and JSON tell samples a second and the latency of a batch."""
    for text in (printed(inferred, 400), markdown(inferred), html(inferred)):
        assert "samples/s" in text
        assert LATENCY in text
    for contender in data_of(inferred)["contenders"]:
        assert contender["samples_per_s"] > 0
        assert 0 < contender["fenced_p50_s"] < contender["fenced_p90_s"]


def test_training_has_no_latency(undecided: Outcome) -> None:
    """Nobody waits for a single training step: its reports tell no latency."""
    assert not any("Latency" in text for text in (printed(undecided), markdown(undecided), html(undecided)))


def test_who_was_never_waited_for_has_no_latency(inferred: Outcome) -> None:
    """The others are told in the unit of their medians, each with the number of its steps."""
    first, second, *_ = inferred.contenders
    waited = msgspec.structs.replace(first, fenced_p50_s=0.00009, fenced_p90_s=0.0031, fenced_steps=7)
    unwaited = msgspec.structs.replace(second, fenced_p50_s=None, fenced_p90_s=None, fenced_steps=0)
    (said,) = latency(msgspec.structs.replace(inferred, contenders=[waited, unwaited]))
    assert said.endswith(f"to its outputs: {waited.label} p50 90 µs, p90 3,100 µs (n 7).")
    assert latency(msgspec.structs.replace(inferred, contenders=[unwaited])) == []


def test_a_wait_is_dear_beside_the_median_step_that_is_waited_for(inferred: Outcome) -> None:
    """Three percent of it are told, and one percent is not; however long the slowest steps are."""
    (first, *_) = inferred.contenders
    for share, is_told in ((0.03, True), (0.01, False)):
        one = msgspec.structs.replace(first, fenced_p50_s=0.001, fenced_p90_s=0.004, wait_s=0.001 * share)
        said = " ".join(TIMING.cautions(msgspec.structs.replace(inferred, contenders=[one])))
        assert ("3 % of its fenced step" in said) == is_told


@pytest.mark.parametrize(("outcome", "marked"), [("failed", True), ("untold", True), ("passed", False)])
def test_a_check_of_a_timer_that_did_not_pass_is_marked(
    inferred: Outcome,
    outcome: TimerOutcome,
    marked: bool,  # noqa: FBT001 - a case of the table
) -> None:
    """Whether it failed or could not be decided."""
    (first, *_) = inferred.contenders
    check = TimerCheck(name="doubling", outcome=outcome, detail="twice the work")
    tested = TimerVerdict(contender=first.label, outcome="passed", checks=(check,))
    (line,) = timer_table(
        msgspec.structs.replace(inferred, contenders=[msgspec.structs.replace(first, timer=tested)])
    ).lines
    assert line.marked == marked
