"""Where the batches of a trial's steps come from: from the device, or from the framework's own way of input."""

from __future__ import annotations

import hashlib
from collections import Counter
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bakeoff.frameworks.engine import Samples
from bakeoff.spec.errors import UnsupportedError
from bakeoff.spec.evidence import InputPass
from bakeoff.spec.options import RESIDENT
from bakeoff.spec.trial import KINDS
from bakeoff.trial.framework import part_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from bakeoff.frameworks.engine import Feed, Step
    from bakeoff.spec.trial import TrialSpec
    from bakeoff.trial.inputs import Batches


def resident(step: Step, batches: Batches) -> list[Any]:
    """Put every batch on the device and return them."""
    return [step.prepare(batches.at(index)) for index in range(batches.count)]


def mode_of(trial: TrialSpec) -> str:
    """Return how the contender takes its batches; a framework without the option has them on the device."""
    return trial.contender.options.get("input", RESIDENT)


def feed_of(trial: TrialSpec, step: Step, batches: Batches) -> Feed | None:
    """Return the framework's own way of input, from its folder's input.py; None where batches are on the device."""
    if mode_of(trial) == RESIDENT or not KINDS[trial.purpose].own_input:
        return None
    folder = Path(trial.framework_path)
    module = part_of(folder, "input")
    if module is None:
        msg = f"{folder.name} has no input={mode_of(trial)}: its folder has no input.py"
        raise UnsupportedError(msg)
    samples = Samples(arrays=batches.samples(), batch_size=trial.batch_size, seed=trial.seed)
    feed: Feed = module.feed(step, samples, trial.contender.options)
    return feed


def input_pass(trial: TrialSpec, step: Step, batches: Batches) -> InputPass | None:
    """Take one pass from the framework's own way of input and compare it with the batches themselves."""
    feed = feed_of(trial, step, batches)
    if feed is None:
        return None
    try:
        wanted = [key for index in range(batches.count) for key in _keys(feed, [step.prepare(batches.at(index))])]
        given = list(_keys(feed, islice(feed, batches.count)))
    finally:
        feed.close()
    return InputPass(
        mode=mode_of(trial),
        samples=len(wanted),
        missing=(Counter(wanted) - Counter(given)).total(),
        unexpected=(Counter(given) - Counter(wanted)).total(),
        in_order=given == wanted,
    )


def _keys(feed: Feed, prepared: Iterable[Any]) -> Iterable[bytes]:
    """Yield a short name for each sample, made of all that it has in every array."""
    for batch in prepared:
        rows = zip(*feed.read(batch).arrays.values(), strict=True)
        yield from (_key(row) for row in rows)


def _key(row: Iterable[NDArray[Any]]) -> bytes:
    """Return a digest of a sample's arrays."""
    return hashlib.blake2b(b"".join(np.ascontiguousarray(part).tobytes() for part in row), digest_size=16).digest()
