"""Sums of products by letters, and what mixtures of experts choose by: the largest few, and those of segments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from contract_cases.vocabulary import BATCH, CLASSES, Case, linear, model, random, softmax

if TYPE_CHECKING:
    from contract_cases.vocabulary import Array, Weights

EXPERTS, CHOSEN = 4, 2
TIED = np.array([[1.0, 3.0, 3.0], [2.0, -1.0, 2.0], [5.0, 5.0, 5.0], [0.0, 0.0, 1.0]])
SEGMENTS = np.array([3, 0, 3, 5, 0, 3, 1, 0])
"""Of two rows a sample; 2 and 4 have none."""


def products(nn: Any) -> Any:
    """Multiply two arrays and three, with the axes of the result in another order, and to a single number."""
    layers = {
        "first": nn.Linear(5, 12),
        "near": nn.Parameter((2, 4, 3)),
        "far": nn.Parameter((2, 4, CLASSES)),
        "gate": nn.Parameter((2,)),
    }

    def forward(m: Any, x: Any) -> Any:
        queries = nn.reshape(m.first(x), (BATCH, 2, 2, 3))
        scores = nn.tanh(nn.einsum("bhqd,hkd->qbhk", queries, m.near))
        mixed = nn.einsum("qbhk,hkc,q->cb", scores, m.far, m.gate)
        return nn.permute_dims(mixed, (1, 0)) + nn.einsum("hkd,hkc->", m.near, m.far)

    return model(nn, layers, forward)


def products_in_numpy(weights: Weights, x: Array) -> Array:
    """Return the same by products of matrices."""
    queries = linear(weights, "first", x).reshape(BATCH, 2, 2, 3)
    scores = np.tanh(queries @ weights["near"].swapaxes(-1, -2))
    mixed = (scores @ weights["far"]).sum(1)
    together = (weights["near"].sum(2) * weights["far"].sum(2)).sum()
    return mixed[:, 0] * weights["gate"][0] + mixed[:, 1] * weights["gate"][1] + together


def routed(nn: Any) -> Any:
    """Mix the two experts of the largest scores, add the largest, what stands at its place, and that of segments."""
    layers = {
        "router": nn.Linear(5, EXPERTS),
        "rows": nn.Linear(5, 2 * CLASSES),
        "experts": nn.Parameter((EXPERTS, 5 * CLASSES)),
        "own": nn.Parameter((EXPERTS, CLASSES)),
        "tied": nn.constant(TIED),
        "segments": nn.constant(SEGMENTS),
    }

    def forward(m: Any, x: Any) -> Any:
        scores = m.router(x)
        values, places = nn.top_k(scores, CHOSEN)
        experts = nn.reshape(nn.take(m.experts, places), (BATCH, CHOSEN, 5, CLASSES))
        mixed = nn.einsum("bi,bkic,bk->bc", x, experts, nn.softmax(values))
        best = nn.take(m.own, nn.argmax(scores, axis=1)) * nn.one_hot(nn.argmax(m.tied, -1), CLASSES)
        column = nn.to_float(nn.argmax(m.tied, 0))
        largest = nn.segment_max(nn.reshape(m.rows(x), (2 * BATCH, CLASSES)), m.segments, 7)
        return mixed + values[:, :1] + best + largest[1:5] * largest[3:4] + column * largest[0]

    return model(nn, layers, forward)


def routed_in_numpy(weights: Weights, x: Array) -> Array:
    """Return the same, sample by sample."""
    scores, rows = linear(weights, "router", x), linear(weights, "rows", x).reshape(-1, CLASSES)
    found = np.zeros((BATCH, CLASSES))
    for sample, (one, score) in enumerate(zip(x, scores, strict=True)):
        places = np.argsort(-score)[:CHOSEN]
        found[sample] += score[places[0]]
        for place, share in zip(places, softmax(score[places]), strict=True):
            found[sample] += share * (one @ weights["experts"][place].reshape(5, CLASSES))
        first = list(TIED[sample]).index(TIED[sample].max())
        found[sample, first] += weights["own"][places[0], first]
    largest = np.zeros((7, CLASSES))
    for segment in set(SEGMENTS):
        largest[segment] = rows[segment == SEGMENTS].max(0)
    column = np.array([list(values).index(max(values)) for values in TIED.T])
    return found + largest[1:5] * largest[3:4] + column * largest[0]


CASES: dict[str, Case] = {
    "sums of products by letters": Case(
        names=("einsum",), build=products, forward=products_in_numpy, x=random(BATCH, 5)
    ),
    "routing by the largest": Case(
        names=("top_k", "argmax", "segment_max", "einsum"), build=routed, forward=routed_in_numpy, x=random(BATCH, 5)
    ),
}
