"""A constant mask of attention whose row allows nothing is refused with its line; what cannot be known passes."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_interpreter import HEADS, checked, write

from bakeoff.spec.errors import ModelFileError

SAMPLE = (
    'inputs={"ids": ArraySpec(shape=(7,), dtype="int32", high=11), "seen": ArraySpec(shape=(7,), dtype="bool")}, '
    "classes=5"
)
TABLE = "import numpy; self.table = nn.Embedding(11, 5)"
EMPTY = f"{TABLE}; mask = numpy.ones((7, 7), bool); mask[3] = False; self.mask = nn.constant(mask)"
ROUND = f"{TABLE}; self.mask = nn.constant(numpy.tri(7, dtype=bool))"
"""Row 0 sees itself alone, and column 0 is seen by all."""


def _written(folder: Path, layers: str, mask: str, more: str = "") -> Path:
    """Write a model that attends with a mask, by an expression in which m is that of the layers."""
    attended = f"nn.attention(x, x, x, mask={mask}{more})[:, 0, 0]"
    forward = f"seen = x['seen']; x = x['ids']; m = self.mask; {HEADS}; return {attended}"
    return write(folder, SAMPLE, layers, forward)


@pytest.mark.parametrize(
    ("layers", "mask", "row"),
    [
        (EMPTY, "nn.reshape(m, (1, 1, 7, 7))", (0, 0, 3)),
        (EMPTY, "nn.broadcast_to(nn.reshape(m, (1, 1, 7, 7)), (4, 1, 7, 7))", (0, 0, 3)),
        (EMPTY, "nn.reshape(m[3:4], (1, 1, 1, 7))", (0, 0, 0)),
        (EMPTY, "nn.reshape(nn.logical_and(m, nn.logical_not(nn.logical_not(m))), (1, 1, 7, 7))", (0, 0, 3)),
        (ROUND, "nn.reshape(nn.logical_not(m), (1, 1, 7, 7))", (0, 0, 6)),
        (ROUND, "nn.reshape(nn.logical_not(nn.permute_dims(m, (1, 0))), (1, 1, 7, 7))", (0, 0, 0)),
    ],
)
def test_a_row_that_allows_nothing_is_refused(layers: str, mask: str, row: tuple[int, ...], tmp_path: Path) -> None:
    """With the place of the first such row, however the constant is brought into shape."""
    path = _written(tmp_path, layers, mask)
    with pytest.raises(ModelFileError) as refused:
        checked(path)
    told = f"row {row} of the mask, by (batch, head, place in q), attends to nothing at all"
    assert str(refused.value).startswith(f"{path}:18: in forward: nn.attention: {told}")


def test_a_row_that_causal_leaves_nothing_of_is_refused(tmp_path: Path) -> None:
    """Each of both allows something, and both together nothing: the first place sees none but those behind."""
    mask = "nn.reshape(nn.permute_dims(m, (1, 0)), (1, 1, 7, 7))"
    checked(_written(tmp_path, ROUND, mask))
    layers = f"{TABLE}; self.mask = nn.constant(~numpy.eye(7, dtype=bool))"
    checked(_written(tmp_path, layers, mask))
    with pytest.raises(ModelFileError, match=r"row \(0, 0, 0\) of the mask, .* attends to nothing behind causal"):
        checked(_written(tmp_path, layers, mask, ", causal=True"))


@pytest.mark.parametrize(
    ("layers", "mask", "more"),
    [
        (ROUND, "nn.reshape(m, (1, 1, 7, 7))", ""),
        (ROUND, "nn.reshape(m, (1, 1, 7, 7))", ", causal=True"),
        (EMPTY, "nn.reshape(nn.logical_or(m, nn.logical_not(m)), (1, 1, 7, 7))", ""),
        (EMPTY, "nn.reshape(seen, (4, 1, 1, 7))", ""),
        (EMPTY, "nn.logical_or(nn.reshape(m, (1, 1, 7, 7)), nn.reshape(seen, (4, 1, 1, 7)))", ""),
    ],
)
def test_a_mask_whose_rows_allow_something_passes(layers: str, mask: str, more: str, tmp_path: Path) -> None:
    """And so does one that hangs on the batch, of which nothing is known."""
    checked(_written(tmp_path, layers, mask, more))
