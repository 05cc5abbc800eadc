from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest
from tests.report.shown import data_of, html, markdown, printed

if TYPE_CHECKING:
    from bakeoff.judge.outcome import Outcome

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
