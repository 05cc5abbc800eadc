"""Each framework's own ways of input give the samples that every contender takes."""

from __future__ import annotations

import numpy as np
import pytest
from contract_run import DECLARED, LIMIT_S, fed

pytestmark = pytest.mark.timeout(LIMIT_S)

FRAMEWORKS = sorted(DECLARED)
MODELS = ("linear", "conv2d")
"""Whose samples are rows, and feature maps, whose layout is each framework's own."""


@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.parametrize("model", MODELS)
def test_a_copy_each_step_gives_the_batches_in_their_order(framework: str, model: str) -> None:
    """Batch i at step i, epoch after epoch, with its own labels."""
    found = fed(framework).of(f"input/per-step/{model}")
    assert np.array_equal(found["x"], np.concatenate([found["samples_x"]] * 2))
    assert np.array_equal(found["y"], np.concatenate([found["samples_y"]] * 2))


LOADERS = [(framework, "pipeline") for framework in FRAMEWORKS]
LOADERS += [(framework, "hand") for framework in FRAMEWORKS if "loader" in DECLARED[framework].info.options]
"""Every loader; one may be by hand."""


@pytest.mark.parametrize(("framework", "loader"), LOADERS)
@pytest.mark.parametrize("model", MODELS)
def test_a_loader_gives_each_sample_once_an_epoch_with_its_own_label(framework: str, loader: str, model: str) -> None:
    """Each epoch is all samples in an order of its own: none is lost, none comes twice, no label is another's."""
    found = fed(framework).of(f"input/{loader}/{model}")
    count = len(found["samples_x"])
    # Every number of the samples is another one: the first of a sample tells which it is.
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
    """The loss of a batch that comes this way is that of the same batch put on the device beforehand."""
    found = fed(framework).of(f"input/{mode}/{model}")
    given, prepared = found["losses"]
    assert given == pytest.approx(prepared, rel=1e-6)


@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.parametrize("mode", ["per-step", "pipeline"])
def test_nothing_is_left_running(framework: str, mode: str) -> None:
    """Processes that load are gone after the end."""
    found = fed(framework).of(f"input/{mode}/linear")
    assert not found["left"].size
    assert str(found["call"])
