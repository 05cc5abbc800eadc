"""Each framework's own ways of input give the samples that every contender takes."""

from __future__ import annotations

import numpy as np
import pytest
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
    assert np.array_equal(found["x"], np.concatenate([found["samples_x"]] * 2))
    assert np.array_equal(found["y"], np.concatenate([found["samples_y"]] * 2))


LOADERS = [(framework, "pipeline") for framework in FRAMEWORKS]
LOADERS += [(framework, "hand") for framework in FRAMEWORKS if "loader" in DECLARED[framework].info.options]
"""Every loader; a framework may have one written by hand, too."""


@pytest.mark.parametrize(("framework", "loader"), LOADERS)
@pytest.mark.parametrize("model", MODELS)
def test_a_loader_gives_each_sample_once_an_epoch_with_its_own_label(framework: str, loader: str, model: str) -> None:
    """Each epoch is all samples in an order of its own: none is lost, none comes twice, no label is another's."""
    found = computed(framework).of(f"input/{loader}/{model}")
    count = len(found["samples_x"])
    # No number occurs twice in the samples: the first number of a sample identifies it.
    first = found["samples_x"].reshape(count, -1)[:, 0]
    epochs = [np.searchsorted(first, given.reshape(count, -1)[:, 0]) for given in np.split(found["x"], 2)]
    for epoch, x, y in zip(epochs, np.split(found["x"], 2), np.split(found["y"], 2), strict=True):
        assert sorted(epoch) == list(range(count))
        assert np.array_equal(x, found["samples_x"][epoch])
        assert np.array_equal(y, found["samples_y"][epoch])
    assert list(epochs[0]) != list(epochs[1])
    assert list(epochs[0]) != list(range(count))


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
