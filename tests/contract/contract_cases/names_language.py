"""Attention with causal, masks, bias, scale, dropout and fewer heads of keys; an embedding that attends."""

from __future__ import annotations

import math
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from bakeoff.frameworks.dropping import standing_for
from bakeoff.spec.vocabulary import VOCABULARY
from contract_cases.vocabulary import BATCH, CLASSES, Case, linear, model, softmax

if TYPE_CHECKING:
    from collections.abc import Callable

    from contract_cases.vocabulary import Array, Weights

LENGTH, HEADS, FEATURES = 5, 4, 3

_SEEN = np.random.RandomState(3).uniform(size=(BATCH, LENGTH, LENGTH)) < 0.5
MASKS = _SEEN | np.eye(LENGTH, dtype=bool)
"""By sample, what attends to what: each position to itself at least, so that no row is empty, also a causal one."""


def causal(nn: Any) -> Any:
    """Attend causally, two heads of queries to each head of keys, and all of them to a single one."""
    layers = {
        "q": nn.Parameter((1, LENGTH, HEADS, FEATURES)),
        "k": nn.Parameter((1, LENGTH, 2, FEATURES)),
        "v": nn.Parameter((1, LENGTH, 2, FEATURES)),
        "first": nn.Linear(LENGTH, FEATURES),
        "head": nn.Linear(HEADS * FEATURES, CLASSES),
    }

    def forward(m: Any, x: Any) -> Any:
        own = nn.reshape(m.first(x), (BATCH, LENGTH, 1, FEATURES))
        q, k, v = (nn.broadcast_to(one, (BATCH, *one.shape[1:])) for one in (m.q, m.k, m.v))
        attended = nn.attention(q, k, v, causal=True) + nn.attention(q, own, own)
        return m.head(nn.mean(nn.reshape(attended, (BATCH, LENGTH, HEADS * FEATURES)), 1))

    return model(nn, layers, forward)


def causal_in_numpy(weights: Weights, x: Array) -> Array:
    """Return the same."""
    own = linear(weights, "first", x)[:, :, None]
    q, k, v = (np.repeat(weights[name], len(x), 0) for name in "qkv")
    attended = in_numpy(q, k, v, EARLIER) + in_numpy(q, own, own)
    return linear(weights, "head", attended.reshape(len(x), LENGTH, -1).mean(1))


def masked(nn: Any) -> Any:
    """Attend by a mask, by all at once with a trained bias and a scale, and by that bias with and without causal.

    Behind it to fewer places, in fewer heads, whose values have other features than the keys.
    """
    layers = {name: nn.Parameter((1, LENGTH, HEADS, FEATURES)) for name in "qkv"}
    layers |= {"bias": nn.Parameter((1, HEADS, LENGTH, LENGTH)), "head": nn.Linear(HEADS * (FEATURES + 2), CLASSES)}
    layers |= {"few": nn.Parameter((1, 3, 2, FEATURES)), "narrow": nn.Parameter((1, 3, 2, 2))}
    layers |= {"near": nn.Parameter((1, 1, LENGTH, 3))}

    def forward(m: Any, x: Any) -> Any:
        mask = nn.reshape(x, (BATCH, 1, LENGTH, LENGTH))
        q, k, v, few, narrow = (
            nn.broadcast_to(one, (BATCH, *one.shape[1:])) for one in (m.q, m.k, m.v, m.few, m.narrow)
        )
        attended = nn.attention(q, k, v, mask=mask)
        attended = attended + nn.attention(q, k, v, causal=True, mask=mask, bias=m.bias, scale=0.4)
        attended = attended + nn.attention(q, k, v, bias=m.bias) * nn.attention(q, k, v, causal=True, bias=m.bias)
        attended = nn.concat([attended, nn.attention(q, few, narrow, bias=m.near)], 3)
        return m.head(nn.mean(nn.reshape(attended, (BATCH, LENGTH, HEADS * (FEATURES + 2))), 1))

    return model(nn, layers, forward)


def masked_in_numpy(weights: Weights, x: Array) -> Array:
    """Return the same."""
    mask = x[:, None] > 0
    q, k, v, few, narrow = (np.repeat(weights[name], len(x), 0) for name in ("q", "k", "v", "few", "narrow"))
    attended = in_numpy(q, k, v, mask) + in_numpy(q, k, v, mask & EARLIER, weights["bias"], 0.4)
    attended += in_numpy(q, k, v, bias=weights["bias"]) * in_numpy(q, k, v, EARLIER, weights["bias"])
    attended = np.concatenate([attended, in_numpy(q, few, narrow, bias=weights["near"])], 3)
    return linear(weights, "head", attended.reshape(len(x), LENGTH, -1).mean(1))


EARLIER = np.tril(np.ones((LENGTH, LENGTH), bool))


def in_numpy(q: Array, k: Array, v: Array, mask: Any = 1, bias: Any = 0.0, scale: float | None = None) -> Array:
    """Attend by the formula; each head of keys serves the next few of queries."""
    groups = q.shape[2] // k.shape[2]
    q, k, v = (one.transpose(0, 2, 1, 3) for one in (q, np.repeat(k, groups, 2), np.repeat(v, groups, 2)))
    scores = q @ k.swapaxes(-1, -2) * (1 / math.sqrt(q.shape[-1]) if scale is None else scale) + bias
    return (softmax(np.where(np.asarray(mask, bool), scores, -1e30)) @ v).transpose(0, 2, 1, 3)


def dropping(build: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a case's `build` in which attention is computed as where weights are dropped, and drops nothing."""

    def build_with(nn: Any) -> Any:
        drop = standing_for(0.5, nn.Dropout(0.0))
        names = {name: getattr(nn, name) for name in VOCABULARY if hasattr(nn, name)}
        made = build(SimpleNamespace(**names | {"attention": partial(nn.attention, dropout=drop)}))
        made.drop = drop
        return made

    return build_with


def tied(nn: Any) -> Any:
    """Use one table for the rows of the inputs and for the product of the outputs."""
    layers = {"table": nn.Embedding(7, 4)}
    return model(nn, layers, lambda m, x: nn.mean(m.table.attend(nn.tanh(m.table(x))), 1))


CASES: dict[str, Case] = {
    "attention that is causal, with fewer heads of keys": Case(
        names=("attention",),
        build=causal,
        forward=causal_in_numpy,
        x=np.random.RandomState(1).standard_normal((BATCH, LENGTH, LENGTH)).astype(np.float32),
    ),
    "attention with mask, bias and scale": Case(names=("attention",), build=masked, forward=masked_in_numpy, x=MASKS),
    "attention with dropout that is causal, with fewer heads of keys": Case(
        names=("attention",),
        build=dropping(causal),
        forward=causal_in_numpy,
        x=np.random.RandomState(1).standard_normal((BATCH, LENGTH, LENGTH)).astype(np.float32),
    ),
    "attention with dropout, mask, bias and scale": Case(
        names=("attention",), build=dropping(masked), forward=masked_in_numpy, x=MASKS
    ),
    "embedding that attends": Case(
        names=("Embedding",),
        build=tied,
        forward=lambda w, x: (np.tanh(w["table.weight"][x.astype(int)]) @ w["table.weight"].T).mean(1),
        x=np.array([[0, 6, 6], [1, 2, 3], [5, 5, 5], [3, 0, 1]], np.int32),
    ),
}
