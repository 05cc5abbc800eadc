"""What cross_entropy takes beside labels: shares of the classes and weights of them; all else has its line."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_interpreter import VECTOR, checked, write

from bakeoff.spec.errors import ModelFileError
from bakeoff.workloads.interpreter import check_model
from bakeoff.workloads.load import load

SHARES = 'input_shape=(6,), targets={"t": ArraySpec(shape=(5,))}'
ONE = 'input_shape=(6,), targets={"t": ArraySpec(shape=(1,))}'
WEIGHTS = "weight=(1.0, 2.0, 0.5, 1, 0)"


def written(folder: Path, sample: str, asked: str) -> Path:
    """Write a model whose loss is the cross-entropy with some arguments."""
    call = f"return nn.cross_entropy(outputs, {asked})"
    return write(folder, sample, "self.head = nn.Linear(6, 5)", "return self.head(x)", call)


@pytest.mark.parametrize(
    ("sample", "asked"),
    [
        (SHARES, "targets"),
        (SHARES, f"targets, 0.1, {WEIGHTS}"),
        (SHARES, "nn.stop_gradient(nn.softmax(outputs))"),
        (VECTOR, f"targets, 0.1, 2, {WEIGHTS}"),
        (VECTOR, "nn.one_hot(targets, 5) * 0.9 + 0.02"),
        (VECTOR, "targets, weight=nn.stop_gradient(nn.mean(outputs, 0))"),
    ],
)
def test_shares_and_weights_are_taken(tmp_path: Path, sample: str, asked: str) -> None:
    """As targets or made in the loss, and weights as a tuple or an array that is not trained."""
    checked(written(tmp_path, sample, asked))


@pytest.mark.parametrize(
    ("sample", "asked", "told"),
    [
        (SHARES, "targets, ignore=2", "ignore=2 beside targets of real numbers, in which no label stands"),
        (SHARES, "targets[:, :4]", "or real numbers of the logits' own shape, the share of each class"),
        (VECTOR, "targets, weight=2.0", "weight=2.0; it must be a number for each class, a tuple of 5 finite numbers"),
        (VECTOR, "targets, weight=(1.0, 2.0)", "weight=(1.0, 2.0); it must be"),
        (VECTOR, "targets, weight=(1.0, 2.0, 1.0, 1.0, -1.0)", "none below 0"),
        (VECTOR, "targets, weight=(0.0, 0.0, 0.0, 0.0, 0)", "not all 0"),
        (VECTOR, "targets, weight=(1.0, 2.0, 1.0, 1.0, 1e999)", "finite numbers"),
        (VECTOR, "targets, weight=nn.arange(5)", "an array (5,) of real numbers"),
        (VECTOR, "targets, weight=nn.mean(outputs, 0)", "or an array (5,) of real numbers that is not trained"),
    ],
)
def test_anything_else_is_refused_with_its_line(tmp_path: Path, sample: str, asked: str, told: str) -> None:
    """A label to ignore where there is none, and weights that are not one for each class."""
    path = written(tmp_path, sample, asked)
    with pytest.raises(ModelFileError) as refused:
        checked(path)
    assert str(refused.value).startswith(f"{path}:24: in loss: nn.cross_entropy")
    assert told in str(refused.value)


@pytest.mark.parametrize(
    ("sample", "layer", "loss"),
    [
        (VECTOR, 5, f"cross_entropy(outputs, targets, {WEIGHTS})"),
        (ONE, 1, "binary_cross_entropy(outputs, targets, weights=targets + 1.0)"),
        (ONE, 1, "mse(outputs, targets, weights=targets + 1.0)"),
    ],
)
def test_a_weighted_mean_is_no_samples_own(tmp_path: Path, sample: str, layer: int, loss: str) -> None:
    """In a step of per-sample gradients the weights would cancel: refused, with the line and what to do."""
    head = f"self.head = nn.Linear(6, {layer})"
    loaded = load(write(tmp_path, sample, head, "return self.head(x)", f"return nn.{loss}"))
    with pytest.raises(ModelFileError, match=r'mine.py:\d+: in loss: nn.\w+\(..., weights?=...\) .*reduction="sum"'):
        check_model(loaded, loaded.size("full"), "per-sample-gradients")
    check_model(loaded, loaded.size("full"), "train")


@pytest.mark.parametrize(
    ("sample", "loss"),
    [
        (VECTOR, f"cross_entropy(outputs, targets, {WEIGHTS}, reduction='sum')"),
        (SHARES, f"cross_entropy(outputs, targets, {WEIGHTS})"),
        (SHARES, "mse(outputs, targets, weights=targets)"),
    ],
)
def test_weights_that_are_a_samples_own_are_taken(tmp_path: Path, sample: str, loss: str) -> None:
    """A sum, the mean of shares, which counts places and not weights, and a mask of a sample's elements."""
    head = "self.head = nn.Linear(6, 5)"
    loaded = load(write(tmp_path, sample, head, "return self.head(x)", f"return nn.{loss}"))
    check_model(loaded, loaded.size("full"), "per-sample-gradients")


def test_samples_held_against_each_other_have_no_gradients_of_their_own(tmp_path: Path) -> None:
    """A contrastive loss of one sample is zero: refused with the line, where every framework's steps did nothing."""
    forward = "h = self.head(x); return nn.matmul(h, nn.permute_dims(h, (1, 0)))"
    loss = "return nn.cross_entropy(outputs, nn.arange(outputs.shape[0]))"
    loaded = load(write(tmp_path, VECTOR, "self.head = nn.Linear(6, 5)", forward, loss))
    with pytest.raises(ModelFileError, match=r"mine.py:\d+: in forward: .* 4 samples and an array \(1, 1\) for one"):
        check_model(loaded, loaded.size("full"), "per-sample-gradients")
    check_model(loaded, loaded.size("full"), "train")


def test_a_model_that_counts_on_its_batch_has_no_per_sample_gradients(tmp_path: Path) -> None:
    """Told with the line, and that each sample is a batch there."""
    forward = "return nn.reshape(self.head(x), (size.batch_size, 5))"
    loaded = load(write(tmp_path, VECTOR, "self.head = nn.Linear(6, 5)", forward, "return nn.mean(outputs, (0, 1))"))
    with pytest.raises(
        ModelFileError, match=r"mine.py:\d+: in forward: nn.reshape .* each sample is a batch of its own"
    ):
        check_model(loaded, loaded.size("full"), "per-sample-gradients")
    check_model(loaded, loaded.size("full"), "train")
