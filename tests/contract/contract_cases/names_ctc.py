"""The case of connectionist temporal classification, and what it means in NumPy: by recursion, and over all alignments.

Graves et al. 2006: an alignment has a class for each frame; leaving out repeats and then blanks gives its labels. The
probability of labels is the sum of those of their alignments.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from contract_cases.vocabulary import BATCH, Case, linear, log_softmax, model, random

if TYPE_CHECKING:
    from contract_cases.vocabulary import Array

CLASSES, FRAMES = 4, 6
BLANK = 0


def log_likelihood(log_probs: Array, labels: list[int]) -> float:
    """Return log p(labels) of (time, classes), by the sum over the places of each path; minus infinity for none.

    `reached[k]` is the log probability of having come, in this frame, to the k-th of blank, label, blank, ..., blank.
    """
    places = [BLANK, *itertools.chain.from_iterable((label, BLANK) for label in labels)]
    reached = [0.0] + [-np.inf] * len(places)  # before the first frame: in front of everything
    before = [*reached]
    for frame in log_probs:
        reached = [-np.inf] * (len(places) + 1)
        for place, label in enumerate(places, start=1):
            ways = [before[place], before[place - 1]]
            if place > 2 and label not in (BLANK, places[place - 3]):
                ways.append(before[place - 2])
            if place == 2:
                ways.append(before[0])
            reached[place] = np.logaddexp.reduce(ways) + frame[label]
        before = reached
    return float(np.logaddexp.reduce(before[-2:] if labels else before[-1:]))


def log_likelihood_by_alignments(log_probs: Array, labels: list[int]) -> float:
    """Return the same by definition."""
    frames, classes = log_probs.shape
    found = [
        sum(log_probs[frame, one] for frame, one in enumerate(alignment))
        for alignment in itertools.product(range(classes), repeat=frames)
        if [one for one, _ in itertools.groupby(alignment) if one != BLANK] == labels
    ]
    return float(np.logaddexp.reduce(found)) if found else -np.inf


def ctc(logits: Array, targets: Any) -> float:
    """Return the sum over the samples whose labels fit, over the batch size."""
    total = 0.0
    rows = zip(logits, targets["labels"], targets["frames"], targets["lengths"], strict=True)
    for one, labels, frames, length in rows:
        found = log_likelihood(log_softmax(one[:frames]), labels[:length].tolist())
        total -= found if np.isfinite(found) else 0.0
    return total / len(logits)


TARGETS = {
    # What stands behind a sample's length is no label of it, though it looks like one, and does not repeat.
    "labels": np.array([[1, 1, 3, 2], [2, 3, 3, 3], [3, 3, 3, 3], [1, 2, 3, 0]], np.int32),
    "lengths": np.array([3, 1, 3, 3], np.int32),
    # The third has three times the same label, for which it would need five frames.
    "frames": np.array([FRAMES, 2, 4, 3], np.int32),
}

CASES: dict[str, Case] = {
    "ctc": Case(
        names=("ctc",),
        build=lambda nn: model(nn, {"first": nn.Linear(3, CLASSES)}, lambda m, x: m.first(x) * 3.0),
        forward=lambda w, x: linear(w, "first", x) * 3,
        x=random(BATCH, FRAMES, 3),
        targets=TARGETS,
        loss=lambda nn, outputs, targets: nn.ctc(outputs, targets["labels"], targets["frames"], targets["lengths"]),
        expected_loss=ctc,
    ),
}
