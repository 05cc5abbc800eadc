"""Whether outputs say something of their inputs: they differ from sample to sample."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bakeoff.certify.sample import largest

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray


ALIKE = "is the same"
"""How outputs are told of that say nothing of their inputs."""


def same_for_all(outputs: Sequence[NDArray[Any]], share: float = 0.0) -> Iterator[tuple[str, str]]:
    """Yield which outputs differ between samples by no more than a share of the largest, and among which samples.

    Each output is of one batch, and is looked at by itself. Batches of one sample have nothing to differ within: they
    are looked at together, of sequences of different lengths the places that all have.
    """
    if outputs and all(len(output) == 1 for output in outputs):
        if _constant(_together(outputs), share):
            yield "each output", f"{ALIKE} in all {len(outputs)} batches of one sample"
        return
    for index, output in enumerate(outputs):
        if _constant(output, share):
            yield f"output {index}", f"{ALIKE} for every sample of the batch"


def _together(outputs: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Return outputs of one sample each as one array; zeros where they have not even the same axes."""
    if len({output.ndim for output in outputs}) > 1:
        return np.zeros((1, 1))
    shortest = np.min([output.shape for output in outputs], axis=0)
    return np.concatenate([output[tuple(map(slice, shortest))] for output in outputs])


def _constant(output: NDArray[Any], share: float) -> bool:
    """Return whether all samples of an output are the same."""
    return float(np.ptp(output, axis=0).max()) <= share * largest(output)
