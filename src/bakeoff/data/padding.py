"""How sequences of different lengths become batches: which samples go together, and how far each batch is padded."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from bakeoff.spec.errors import UsageError
from bakeoff.spec.trial import FIXED, Entries

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bakeoff.spec.batch import Batch, SampleSpec

BUCKETS = 8
"""Where no number is given: tf.data's and torchaudio's examples have 4 to 10, and each is a shape to compile."""

VALID = "fixed, longest, buckets or buckets:N"


class Padding(NamedTuple):
    """How batches are padded."""

    kind: Literal["fixed", "longest", "buckets"]
    buckets: int = 0

    def __str__(self) -> str:
        """Write it as it may be asked for."""
        return f"buckets:{self.buckets}" if self.kind == "buckets" else self.kind


class Arranged(NamedTuple):
    """Samples in the order in which they fill batches."""

    order: NDArray[np.int64]
    """Of the samples; those that fill no batch are not in it."""
    entries: dict[str, list[int]]
    """Of each sequence, how many entries each batch keeps."""


def padding_of(text: str, sample: SampleSpec) -> Padding:
    """Return what is asked for; raise UsageError for what there is not, or where nothing has lengths."""
    found = re.fullmatch(r"(fixed|longest|buckets)(?::(\d{1,4}))?", text)
    if found is None or (found[2] and (found[1] != "buckets" or int(found[2]) < 1)):
        msg = f"padding {text!r} cannot be; valid: {VALID}, N from 1 on"
        raise UsageError(msg)
    if found[1] == FIXED:
        return Padding("fixed")
    if not sample.varying:
        msg = f"padding {text!r}: this workload's samples have no lengths, all are {sample}; valid: {FIXED}"
        raise UsageError(msg)
    return Padding("longest") if found[1] == "longest" else Padding("buckets", int(found[2] or BUCKETS))


def arranged(samples: Batch, sample: SampleSpec, batch_size: int, padding: Padding) -> Arranged:
    """Return which samples fill which batch, and how far each is padded.

    With buckets, samples keep their order within each; a batch stands where its last sample does, as a loader that
    fills all buckets at once gives them. A sample is in the first bucket that holds all of its sequences.
    """
    lengths = {name: np.maximum(1, samples.arrays[spec.length]) for name, spec in sample.varying.items()}
    longest = {name: spec.shape[spec.along] for name, spec in sample.varying.items()}
    if padding.kind == "buckets":
        needed = [-(-lengths[name] * padding.buckets // longest[name]) for name in lengths]
        bucket = np.clip(np.max(needed, axis=0), 1, padding.buckets)
        batches = _filled(bucket, batch_size)
        entries = {
            name: [-(-most * int(bucket[batch[0]]) // padding.buckets) for batch in batches]
            for name, most in longest.items()
        }
    else:
        count = len(samples) // batch_size
        batches = list(np.arange(count * batch_size).reshape(count, batch_size))
        entries = {
            name: [min(int(lengths[name][batch].max()), most) for batch in batches] for name, most in longest.items()
        }
    order = np.concatenate(batches) if batches else np.zeros(0, np.int64)
    return Arranged(order, entries if padding.kind != "fixed" else {})


def _filled(bucket: NDArray[np.int64], batch_size: int) -> list[NDArray[np.int64]]:
    """Return batches of samples of one bucket each, in the order in which they are full."""
    filling: dict[int, list[int]] = {}
    batches: list[NDArray[np.int64]] = []
    for index, one in enumerate(bucket.tolist()):
        filling.setdefault(one, []).append(index)
        if len(filling[one]) == batch_size:
            batches.append(np.array(filling.pop(one), np.int64))
    return batches


def counted(samples: Batch, sample: SampleSpec, batch_size: int, cut: dict[str, list[int]]) -> dict[str, Entries]:
    """Return how many entries of each sequence are real and how many padding; nothing where nothing has lengths.

    `samples` are whole batches in their order; `cut` says how many entries each batch keeps of a sequence that is cut.
    """
    batches = len(samples) // batch_size
    found = {}
    for name, spec in sample.varying.items():
        kept = np.array(cut[name][:batches], np.int64) if name in cut else np.full(batches, spec.shape[spec.along])
        real = int(np.minimum(samples.arrays[spec.length], np.repeat(kept, batch_size)).sum())
        found[name] = Entries(real=real, padding=batch_size * int(kept.sum()) - real)
    return found
