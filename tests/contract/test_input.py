"""Each framework's own ways of input give the samples that every contender takes."""

from __future__ import annotations

import pytest
from contract_checks import in_order, shuffled
from contract_run import DECLARED, LIMIT_S, computed

pytestmark = pytest.mark.timeout(LIMIT_S)

FRAMEWORKS = sorted(DECLARED)
MODELS = ("linear", "conv2d")
"""Samples that are rows, and samples that are feature maps, whose layout is each framework's own."""


@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.parametrize("model", MODELS)
def test_a_copy_each_step_gives_the_batches_in_their_order(framework: str, model: str) -> None:
    """Step i gets batch i with its own labels, epoch after epoch."""
    found = computed(framework).of(f"input/per-step/{model}")
    assert [held for held in in_order(found) if not held.passed] == []


LOADERS = [(framework, "pipeline") for framework in FRAMEWORKS]
LOADERS += [(framework, "hand") for framework in FRAMEWORKS if "loader" in DECLARED[framework].info.options]
"""Every loader; a framework may have one written by hand, too."""


@pytest.mark.parametrize(("framework", "loader"), LOADERS)
@pytest.mark.parametrize("model", MODELS)
def test_a_loader_gives_each_sample_once_an_epoch_with_its_own_label(framework: str, loader: str, model: str) -> None:
    """Each epoch is all samples in an order of its own: none is lost, none comes twice, no label is another's."""
    found = computed(framework).of(f"input/{loader}/{model}")
    assert [held for held in shuffled(found) if not held.passed] == []


@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.parametrize("mode", ["per-step", "pipeline"])
@pytest.mark.parametrize("model", MODELS)
def test_a_step_takes_what_they_give(framework: str, mode: str, model: str) -> None:
    """The loss of a batch that comes this way equals that of the same batch put on the device beforehand."""
    found = computed(framework).of(f"input/{mode}/{model}")
    given, prepared = found["losses"]
    assert given == pytest.approx(prepared, rel=1e-6)


@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.parametrize("mode", ["per-step", "pipeline"])
def test_nothing_is_left_running(framework: str, mode: str) -> None:
    """The processes of a loader are gone after the feed was closed."""
    found = computed(framework).of(f"input/{mode}/linear")
    assert not found["left"].size
    assert str(found["call"])
