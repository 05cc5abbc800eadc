"""Pools whose last windows reach beyond the padded map, by `ceil_mode`: which there are, and what counts in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from contract_cases.names_maps import conv2d
from contract_cases.vocabulary import BATCH, CLASSES, Case, linear, model, pair, random

if TYPE_CHECKING:
    from contract_cases.vocabulary import Array, Pair, Weights


def places(length: int, kernel: int, stride: int, padding: int) -> list[int]:
    """Return where windows begin: until one reaches the end of the padded axis, and before the axis itself ends."""
    found = [-padding]
    while found[-1] + kernel < length + padding and found[-1] + stride < length:
        found.append(found[-1] + stride)
    return found


def pooled(x: Array, kernel: Pair, stride: Pair, padding: Pair = 0, *, edge: Pair | None = None) -> Array:
    """Take the largest of each window, or with `edge` its sum over how many points it has on the map and its edge."""
    axes = list(zip(x.shape[1:3], pair(kernel), pair(stride), pair(padding), strict=True))
    rows, columns = (places(*axis) for axis in axes)
    found = np.zeros((len(x), len(rows), len(columns), x.shape[3]))
    for row, column in np.ndindex(len(rows), len(columns)):
        starts = rows[row], columns[column]
        ends = [start + window for start, window in zip(starts, pair(kernel), strict=True)]
        seen = x[:, max(0, starts[0]) : ends[0], max(0, starts[1]) : ends[1]]
        if edge is None:
            found[:, row, column] = seen.max((1, 2))
            continue
        sides = zip(starts, ends, x.shape[1:3], pair(edge), strict=True)
        counts = [min(end, length + more) - max(start, -more) for start, end, length, more in sides]
        found[:, row, column] = seen.sum((1, 2)) / np.prod(counts)
    return found


def cut() -> Case:
    """Pool with windows that are cut at an end, or left out where they would begin in the padding behind the map."""

    def build(nn: Any) -> Any:
        layers = {"first": nn.Conv2d(2, 2, 1), "head": nn.Linear(2 * 2 + 2, CLASSES)}

        def forward(m: Any, x: Any) -> Any:
            x = nn.max_pool2d(m.first(x), (3, 2), (2, 3), (1, 0), ceil_mode=True)  # 8 x 6 to 5 x 2
            x = nn.avg_pool2d(nn.tanh(x), (4, 2), (2, 1), 1, count_padding=True, ceil_mode=True)  # to 3 x 3
            x = nn.avg_pool2d(nn.tanh(x * 3.0), 2, 2, (0, 1), ceil_mode=True)  # to 2 x 2
            whole = nn.max_pool2d(x, 3, 2, ceil_mode=True)  # a window that is larger than the map
            parts = nn.max_pool1d(nn.tokens(nn.tanh(x)), 3, 2, 0, True)  # noqa: FBT003 - as a model may write it
            return m.head(nn.concat([nn.flatten(parts), nn.flatten(nn.tokens(whole))], 1))

        return model(nn, layers, forward)

    def forward(weights: Weights, x: Array) -> Array:
        x = pooled(conv2d(weights, "first", x), (3, 2), (2, 3), (1, 0))
        x = pooled(np.tanh(x), (4, 2), (2, 1), 1, edge=1)
        x = pooled(np.tanh(x * 3), 2, 2, (0, 1), edge=0)
        assert x.shape[1:3] == (2, 2)
        parts = pooled(np.tanh(x).reshape(BATCH, 1, 4, 2), (1, 3), (1, 2))
        whole = x.max((1, 2))
        return linear(weights, "head", np.concatenate([parts.reshape(BATCH, -1), whole], 1))

    return Case(
        names=("max_pool2d", "avg_pool2d", "max_pool1d"), build=build, forward=forward, x=random(BATCH, 8, 6, 2)
    )


CASES: dict[str, Case] = {"pools that are cut at their ends": cut()}
