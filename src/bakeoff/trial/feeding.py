"""Where the batches of a trial's steps come from: from the device, or from the framework's own way of input."""

from __future__ import annotations

import hashlib
import importlib
from collections import Counter
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import bakeoff.frameworks
from bakeoff.frameworks.engine import Samples
from bakeoff.spec.record import Fed
from bakeoff.spec.trial import KINDS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from bakeoff.frameworks.engine import Feed, Step
    from bakeoff.spec.trial import TrialSpec
    from bakeoff.trial.inputs import Batches

RESIDENT = "resident"


def resident(step: Step, batches: Batches) -> list[Any]:
    """Put every batch on the device."""
    return [step.prepare(*batches.at(index)) for index in range(batches.count)]


def mode_of(trial: TrialSpec) -> str:
    """Give how the contender takes its batches; a framework without the option has them on the device."""
    return trial.contender.options.get("input", RESIDENT)


def feed_of(trial: TrialSpec, step: Step, batches: Batches) -> Feed | None:
    """Give the framework's own way of input, from its folder's input.py; None where batches are on the device.

    The timer is tested with batches on the device: it is the clock and `wait` that have to be honest.
    """
    if mode_of(trial) == RESIDENT or not KINDS[trial.purpose].own_input:
        return None
    module: Any = importlib.import_module(f"{bakeoff.frameworks.__name__}.{Path(trial.framework_path).name}.input")
    x, y = batches.samples()
    samples = Samples(x=x, y=y, batch_size=trial.batch_size, seed=trial.seed)
    found: Feed = module.feed(step, samples, trial.contender.options)
    return found


def examined(trial: TrialSpec, step: Step, batches: Batches) -> Fed | None:
    """Take one pass from the framework's own way of input and hold it against the batches themselves."""
    feed = feed_of(trial, step, batches)
    if feed is None:
        return None
    try:
        wanted = [key for index in range(batches.count) for key in _keys(feed, [step.prepare(*batches.at(index))])]
        given = list(_keys(feed, islice(feed, batches.count)))
    finally:
        feed.close()
    return Fed(
        mode=mode_of(trial),
        samples=len(wanted),
        missing=(Counter(wanted) - Counter(given)).total(),
        strange=(Counter(given) - Counter(wanted)).total(),
        in_order=given == wanted,
    )


def _keys(feed: Feed, batches: Iterable[Any]) -> Iterable[bytes]:
    """Give a short name for each sample with its label."""
    for batch in batches:
        x, y = feed.read(batch)
        yield from (_key(sample, label) for sample, label in zip(x, y, strict=True))


def _key(sample: NDArray[Any], label: NDArray[Any]) -> bytes:
    """Name a sample with its label by what is in it."""
    return hashlib.blake2b(np.ascontiguousarray(sample).tobytes() + label.tobytes(), digest_size=16).digest()
