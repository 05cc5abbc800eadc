"""Check per-sample gradients: every sample's norm against the reference's, and the noise by its statistics.

A norm is held as any result is; the clipped mean is among the gradients, and what a step makes of it among the updates.
Noise is each framework's own, so that its numbers are held by what they are declared to be: independent draws of
N(0, (max_norm * noise_multiplier / batch size)^2). What the noise is added to is the contender's own gradient, which is
held; and the step that is timed has to follow from the sum of both (`certify.update`), so that noise cannot be shown
and left out. Losses after the first, and parameters, are as different as the draws are: they are not held where there
is noise.
"""

from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from bakeoff.certify.errors import bound, finite, norms_errors
from bakeoff.spec.verdict import Check

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from bakeoff.spec.per_sample import PerSample
    from bakeoff.workloads.optimizers import Arrays

NOISE_POSITIONS = 512
"""How many elements of a parameter's noise are kept at most: see `noise_positions`."""

SIGMAS = 7.0
"""Standard errors that a statistic may be off. Of 20,000 draws of 500 normal numbers each the worst variance was 5.2 of
its standard errors off, and the worst fourth moment 5.3; of 20,000 draws of 200 the worst variance was 4.3 off. Uniform
noise of the right variance is off by 1.2 in its fourth moment, which 3,300 numbers tell."""

FEWEST_DRAWS = 200
"""Of an array whose variance is held by itself: of fewer, SIGMAS standard errors are more than 0.7 of the variance."""

FEWEST_PAIRS = 64
"""Of values by which two arrays or steps are compared: SIGMAS standard errors of their correlation are 0.9 then, and
equal arrays have 1; of 100,000 pairs of independent arrays of 64 the largest was 0.54."""


def noise_positions(shape: tuple[int, ...]) -> NDArray[np.int64]:
    """Return the elements of a parameter, in canonical order, whose noise is kept: the first, and as many behind.

    Two arrays that are drawn from the same state begin alike. The second half begins with a row (an index of the last
    axis), as the first does, so that a draw of one row for all rows is seen; and it is near the array's end, so that
    noise for the first elements alone is.
    """
    size = math.prod(shape)
    width = shape[-1] if shape and size else 1
    rows = size // width
    half = min(NOISE_POSITIONS // 2, rows // 2 * width if rows > 1 else size // 2)
    if not half:
        return np.arange(size)
    start = size - (-(-half // width) * width if rows > 1 else half)
    return np.concatenate([np.arange(half), np.arange(start, start + half)])


def check_norms(arrays: Arrays, reference: Arrays, asked: PerSample, *, batch_size: int, allowed: float) -> Check:
    """Check `norms/N` (batch,), every sample's norm, against the reference's."""
    names = sorted(name for name in reference if name.startswith("norms/"))
    sides = arrays, reference
    wrong = [name for name in names if any(one.get(name, np.empty(0)).shape != (batch_size,) for one in sides)]
    if wrong or not names:
        detail = f"no evidence: {wrong[0] if wrong else 'norms'} is missing or not of {batch_size} samples"
        return Check(name="norms", passed=False, detail=detail, allowed=finite(allowed))
    errors = {name: norms_errors(arrays[name], reference[name]) for name in names}
    error, worst, sample = max((one, name, at) for name in names for at, one in enumerate(errors[name]))
    every = np.concatenate([reference[name] for name in names])
    clipped = int((every > asked.max_norm).sum())
    detail = (
        f"sample {sample} of batch {worst.removeprefix('norms/')}: {arrays[worst][sample]:.6g} against "
        f"{reference[worst][sample]:.6g}; largest error of a norm {error:.1e} ({bound(allowed)}); "
        f"{clipped} of {len(every)} samples are clipped"
    )
    passed = math.isfinite(error) and error <= allowed
    return Check(name="norms", passed=passed, detail=detail, error=finite(error), allowed=finite(allowed))


def check_noise(names: Sequence[str], arrays: Arrays, asked: PerSample, *, batch_size: int, steps: int) -> Check:
    """Check `noise/<parameter>` (steps, positions), what each of `steps` steps added to the mean of the gradients."""
    rows = {name: arrays.get(f"noise/{name}", np.empty((0, 0))) for name in names}
    missing = [name for name, found in rows.items() if len(found) != steps or not np.isfinite(found).all()]
    if missing or not rows:
        which = f"noise/{missing[0]} is missing, not finite, or not of {steps} steps" if missing else "no parameters"
        return Check(name="noise", passed=False, detail=f"no evidence: {which}")
    deviation = asked.deviation / batch_size
    found = {name: row / deviation for name, row in rows.items()}
    faults = list(_faults(found))
    every = np.concatenate([row.reshape(-1) for row in found.values()])
    told = (
        f"{every.size:,} draws of {len(names)} arrays in {steps} steps: mean {every.mean():+.3f} and standard "
        f"deviation {every.std():.3f} of what is asked for, {deviation:.3g}"
    )
    detail = "; ".join([*faults, told])
    return Check(name="noise", passed=not faults, detail=detail, error=abs(float(every.std()) - 1.0))


def _faults(found: Mapping[str, NDArray[np.float64]]) -> Iterator[str]:
    """Yield what independent draws of N(0, 1) would not show; arrays are (steps, positions)."""
    every = np.concatenate([row.reshape(-1) for row in found.values()])
    yield from _of_normal(every, "the noise", fourth=True)
    for name, row in found.items():
        if not row.any():
            yield f"{name} gets no noise"
        elif row.size >= FEWEST_DRAWS:
            yield from _of_normal(row.reshape(-1), f"the noise of {name}")
        head, tail = (half.reshape(-1) for half in np.split(row[:, : row.shape[1] // 2 * 2], 2, axis=1))
        if is_same := _alike(head, tail):
            yield f"the noise of {name} repeats itself ({is_same})"
    steps = np.concatenate(list(found.values()), axis=1)
    for first, second in combinations(range(len(steps)), 2):
        if is_same := _alike(steps[first], steps[second]):
            yield f"steps {first} and {second} draw the same noise ({is_same})"
            break
    for one, other in combinations(found, 2):
        fewest, largest = sorted((found[one].shape[1], found[other].shape[1]))
        most = fewest if fewest == largest else min(fewest, largest // 2)  # second halves begin elsewhere
        if is_same := _alike(found[one][:, :most].reshape(-1), found[other][:, :most].reshape(-1)):
            yield f"{one} and {other} get the same noise ({is_same})"
            break


def _of_normal(values: NDArray[np.float64], what: str, *, fourth: bool = False) -> Iterator[str]:
    """Yield the moments in which values differ from N(0, 1), each by more than its standard errors allow."""
    error = SIGMAS / math.sqrt(values.size)
    mean, square = float(values.mean()), float((values**2).mean())
    if abs(mean) > error:
        yield f"{what} has the mean {mean:+.3f} (allowed {error:.3f})"
    if abs(square - 1.0) > (allowed := math.sqrt(2.0) * error):
        yield f"{what} has {math.sqrt(square):.3f} times its standard deviation (its square: within {allowed:.3f})"
    elif fourth and abs(float((values**4).mean()) - 3.0) > math.sqrt(96.0) * error:
        yield f"{what} is not normal: its fourth moment is {float((values**4).mean()):.2f}, and a normal one's 3"


def _alike(first: NDArray[np.float64], second: NDArray[np.float64]) -> str:
    """Return the correlation of two arrays in words where it is more than chance; empty where it is not."""
    if first.size < FEWEST_PAIRS:
        return ""
    together = float((first * second).mean())
    scale = float(np.sqrt((first**2).mean() * (second**2).mean()))
    found = together / scale if scale else 0.0
    return f"correlation {found:.2f}" if abs(found) > SIGMAS / math.sqrt(first.size) else ""
