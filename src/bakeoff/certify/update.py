"""Check what each training step did to the parameters, against the optimiser's formula on the step's own gradients.

The formula is applied in float64 to the contender's own gradients, from its own parameters before each step, so that
nothing adds up from step to step, and no kink or normalisation magnifies anything: what is left is the optimiser's
arithmetic, and what two compilations of one function differ by. A step that was skipped, of another rate, of half the
batch, of other labels, of a part of the parameters, by gradients that were not cleared, or in another precision is off
by more, however deep the model is.

Where these two compilations may round a place of a map to either side of a kink, the formula is applied to the
gradients that the optimiser was given, as closely; and these are held by the ones before the step, in a model that has
kinks by no more than they are worth.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bakeoff.certify.errors import GRADIENT_FLOOR, finite, gradient_floor, named
from bakeoff.certify.sample import largest
from bakeoff.certify.tolerances import (
    FEWEST_HELD,
    diverges_at,
    largest_held,
    parameter_rounding,
    roundings_of_a_step,
    widest,
)
from bakeoff.spec.optimizer import decay_of, of_parameter, trained_of
from bakeoff.spec.verdict import Check
from bakeoff.workloads.optimizers import clipped_share, norm_of, updated

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from bakeoff.certify.tolerances import UpdateTolerance
    from bakeoff.spec.optimizer import Optimizer
    from bakeoff.workloads.optimizers import Arrays

POSITIONS = 512
"""How many elements of a parameter are kept at most: the formulas are by element, so that a sample of them is exact,
and a median of so many is off by a few percent of the elements' spread."""

HELD = 1e-3
"""Elements are held whose largest gradient so far is at least this share of the array's largest. Below it a gradient
may be nothing but rounding, and Adam makes a whole step of its sign."""

ZERO = 1e-10
"""Share of the largest gradient of all parameters below which an array's gradient is zero but for the reference's
rounding in float64: that of a bias before a normalisation, or of the keys in an attention."""


DIVERGES = "training diverges"
"""Words of the check's detail by which a report knows of it."""

ALL_ROUNDINGS = 4
"""Unit roundoffs of all gradients together within which an array's gradient may be another one: it is the sum of terms
that cancel, as that of a bias before a BatchNorm over a batch without padding. Found: 1.2, of Jittor in deepspeech2 at
reduced size with one sample, whose elements that are kept have less than half of the norm of all."""


class _Error(NamedTuple):
    """How far one array is off after one step."""

    median: float
    """Of the elements' errors, each relative to its own change, or to the one that gradients of one sign would have
    made: where momentum is what is left of gradients that cancel, the rounding of each is in it."""
    norm: float
    """L2 norm of the errors, relative to that of these changes."""


def positions(gradient: NDArray[Any]) -> NDArray[np.int64]:
    """Return the positions that are kept of a parameter: of its largest gradients, and seeded ones, in order."""
    flat = np.abs(np.asarray(gradient, np.float64).reshape(-1))
    if flat.size <= POSITIONS:
        return np.arange(flat.size)
    half = POSITIONS // 2
    # Many gradients of an embedding, or behind a ReLU, are zero, and say little of what a step has to do.
    chosen = np.argpartition(np.nan_to_num(flat), flat.size - half)[-half:]
    seeded = np.random.RandomState(POSITIONS).randint(0, flat.size, half, dtype=np.int64)
    return np.union1d(chosen, seeded)


def check_updates(  # noqa: PLR0913 - both sides' arrays, and what they are held by
    names: list[str],
    arrays: Arrays,
    reference: Arrays,
    optimizer: Optimizer | None,
    *,
    steps: int,
    precision: str,
    allowed: UpdateTolerance,
    losses: Sequence[float | None] = (),
    own_gradients: int | None = None,
) -> Check:
    """Check each of `steps` updates of every parameter that is trained; arrays are named as `Evidence` says.

    `losses` are the reference's, in each of which there may be several updates: where one is beyond what the precision
    holds, none is held from it on. `own_gradients` is how many of them have the contender's own; None: all.
    """
    names = trained_of(optimizer, names)
    held = names if optimizer is None else with_gradient(names, reference)
    rows: dict[str, Any] = {name: arrays.get(f"update/{name}") for name in names}
    used = {name: arrays[f"used/{name}"] for name in held if f"used/{name}" in arrays}
    shares = [] if optimizer is None else _shares(arrays, optimizer, steps)
    whole = _whole_steps(reference, losses, steps, precision)
    why = _unheld(rows, used, shares, steps) if held and optimizer is not None else "nothing has to change"
    if not why and whole < min(steps, FEWEST_HELD):
        why = f"{DIVERGES} in step {whole}, beyond what {widest(precision)} holds"
    if why or optimizer is None or shares is None:
        return Check(name="update", passed=False, detail=f"no evidence: {why}", allowed=allowed.median)
    known = whole if own_gradients is None else min(whole, max(1, own_gradients))  # a stranger may say of none
    rows = {name: found[: 2 * known + 1] for name, found in rows.items()}
    used, shares = {name: own[:known] for name, own in used.items()}, shares[:known]
    held = held + [name for name in names if _only_decays(name, rows[name], reference, optimizer)]
    rounding = parameter_rounding(precision)
    following = {name: _following(rows[name], used.get(name), shares) for name in held}
    errors = {
        (step, name): error
        for name in held
        for step, error in enumerate(_errors(name, following[name], optimizer, rounding))
    }
    if why := _followed_others(rows, used, shares, allowed, precision):
        return Check(name="update", passed=False, detail=why, allowed=allowed.median)
    (step, name), error = max(errors.items(), key=lambda item: _excess(item[1], allowed))
    passed = _excess(error, allowed) <= 1.0
    detail = (
        f"{name} in step {step}: half of its elements off by {error.median:.1e} of their change or more "
        f"(allowed {allowed.median:.0e}), its norm by {error.norm:.1e} (allowed {allowed.norm:.0e})"
    )
    if len(held) < len(names):
        detail += f"; {len(names) - len(held)} of {len(names)} arrays have no gradient but rounding, and are not held"
    if whole < steps:
        detail += f"; of {steps} steps the first {whole} are held: behind them {DIVERGES}, beyond {widest(precision)}"
    if known < whole:
        detail += f"; of {whole} steps the first {known} by gradients of its own, the others by where they lead"
    worst = max(found.median for found in errors.values())
    return Check(name="update", passed=passed, detail=detail, error=finite(worst), allowed=allowed.median)


def _unheld(rows: dict[str, Any], used: Arrays, shares: Sequence[float] | None, steps: int) -> str:
    """Return what of a contender's arrays is missing or of other steps; empty where all is there."""
    missing = [name for name, found in rows.items() if found is None or len(found) != 2 * steps + 1]
    misshapen = [name for name, own in used.items() if name not in missing and own.shape != rows[name][1::2].shape]
    wrong = [*(f"update/{name}" for name in missing), *(f"used/{name}" for name in misshapen)]
    wrong += ["norm, by which gradients are clipped,"] if shares is None else []
    return f"{wrong[0]} is missing or not of {steps} steps" if wrong else ""


def _whole_steps(reference: Arrays, losses: Sequence[float | None], steps: int, precision: str) -> int:
    """Return how many steps are before the first in which training diverges so far that a precision cannot hold it.

    By the reference in float64, whatever the contender has: it is where a gradient or a parameter is more than the root
    of the largest number, so that its square is infinite, or a loss is beyond what the precision holds.
    """
    if (diverges := diverges_at(losses, precision)) is not None:
        steps = diverges * steps // len(losses)
    most = largest_held(precision)
    every = [np.abs(reference[name]) for name in named(reference, "update")]
    for step in range(steps):
        if any(not np.all(one[1 + 2 * step : 3 + 2 * step] <= most) for one in every):
            return step
    return steps


def _following(rows: Any, used: NDArray[Any] | None, shares: Sequence[float]) -> NDArray[np.float64]:
    """Return rows with the gradients that the optimiser followed: clipped, and the step's own where they are kept."""
    followed = np.array(rows, np.float64)
    followed[1::2] = followed[1::2] * np.array(shares)[:, None] if used is None else used
    return followed


def _followed_others(
    rows: Arrays, used: Arrays, shares: Sequence[float], allowed: UpdateTolerance, precision: str
) -> str:
    """Return which step followed other gradients than those that were given before it; empty where none did.

    Two compilations round differently, and where a place of a map lies that near to a kink, all gradients before it
    differ by what the kink is worth. What lies behind it does not: a step in which no array is as close as two
    compilations of one function are has computed something else. So has a kink in the loss itself.
    """
    for step, share in enumerate(shares if used else ()):
        pairs = {name: (rows[name][1 + 2 * step], own[step]) for name, own in used.items()}
        apart = _apart(pairs, share, allowed)
        with np.errstate(over="ignore", invalid="ignore"):
            norm = norm_of({name: given for name, (given, _) in pairs.items()})
        rounding = ALL_ROUNDINGS * parameter_rounding(precision) * share * norm
        beside = f"step {step} followed other gradients than the contender gives on its batch: "
        for name, error in apart.items():
            off = _beyond_rounding(error.norm, pairs[name], share, rounding)
            if _excess(error, allowed) > 1.0 and not off <= allowed.used:
                return f"{beside}{name} is off by {off:.1e} (allowed {allowed.used:.0e})"
        close = [_excess(apart[name], allowed) <= 1.0 for name, (given, _) in pairs.items() if np.any(given)]
        if close and not any(close):
            return f"{beside}no array is as close as {allowed.median:.0e}, and a kink leaves what lies behind it alone"
    return ""


def _beyond_rounding(error: float, pair: tuple[NDArray[Any], NDArray[Any]], share: float, rounding: float) -> float:
    """Return a gradient's relative error; 0 where it is within the rounding of all gradients together.

    That of queries and keys behind many layers may be a billionth of them, and is the sum of terms that cancel.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        norm = max(share * float(np.linalg.norm(pair[0])), float(np.linalg.norm(pair[1])))
    return 0.0 if np.isfinite(error) and error * norm <= rounding else error


def _apart(
    pairs: Mapping[str, tuple[NDArray[Any], NDArray[Any]]], share: float, allowed: UpdateTolerance
) -> dict[str, _Error]:
    """Return how far the gradients that a step followed are from the given ones, times the share of their clipping.

    What a kink moves, moves their norm, too, and with it the share of all: where they are clipped, it is taken from the
    array that is closest to its own, as far as gradients may be off. A single element is always as close.
    """
    if share < 1.0:
        own_shares = [(_ratio(*pair), pair) for pair in pairs.values() if pair[0].size > 1 and np.any(pair[0])]
        near = [(own, pair) for own, pair in own_shares if abs(own / share - 1.0) <= allowed.used]
        closest = min(near, key=lambda one: _difference(one[0] * one[1][0], one[1][1]).norm, default=(share, None))
        share = closest[0]
    return {name: _difference(share * given, own) for name, (given, own) in pairs.items()}


def _ratio(given: NDArray[np.float64], used: NDArray[np.float64]) -> float:
    """Return by what an array has to be multiplied to be as near as it can be to another."""
    with np.errstate(over="ignore", invalid="ignore"):
        return float(np.divide(given @ used, given @ given))


def _difference(given: NDArray[np.float64], used: NDArray[np.float64]) -> _Error:
    """Return how far one array's gradient is from another, over all elements that are large in either."""
    size = np.maximum(np.abs(given), np.abs(used))
    large = size >= HELD * size.max(initial=0.0)
    return _error(given[large], used[large])


def _excess(error: _Error, allowed: UpdateTolerance) -> float:
    """Return an error in units of what is allowed."""
    return max(error.median / allowed.median, error.norm / allowed.norm)


def with_gradient(names: Sequence[str], reference: Arrays) -> list[str]:
    """Return the parameters whose gradient is more than rounding, by the reference's first gradients in float64."""
    sizes = {name: largest(reference[f"gradient/{name}"]) for name in names if f"gradient/{name}" in reference}
    least = ZERO * max(sizes.values(), default=0.0)
    return [name for name in names if sizes.get(name, np.inf) > least]


def gradient_floors(reference: Arrays) -> dict[str, float]:
    """Return the least scale of each gradient's error, by the reference's arrays.

    Of one that is zero but for rounding it is the largest gradient: a sum of terms that cancel has the rounding of its
    terms. Biases before a BatchNorm were off by 1e-6 of the largest gradient in float32 over 40 places, and by 2e-6 in
    gcn-arxiv at reduced size; by a wrong formula one would be as large as others.
    """
    names = named(reference, "gradient")
    floor = gradient_floor(names, reference)
    held = with_gradient([name.partition("/")[2] for name in names], reference)
    return dict.fromkeys(names, floor / GRADIENT_FLOOR) | {f"gradient/{name}": floor for name in held}


def _only_decays(name: str, rows: Any, reference: Arrays, optimizer: Optimizer) -> bool:
    """Return whether decay alone has to change a parameter: its gradient is no rounding but zero, on both sides.

    So it is where the loss never uses the parameter; the formula has no other case for it.
    """
    gradient = reference.get(f"gradient/{name}")
    unused = gradient is not None and not np.any(gradient) and not np.any(rows[1::2])
    return unused and decay_of(optimizer, name) > 0


def _shares(arrays: Arrays, optimizer: Optimizer, steps: int) -> list[float] | None:
    """Return what the gradients of each step are multiplied by, by the contender's own norms; None without them."""
    if optimizer.clip_norm is None:
        return [1.0] * steps
    norms = arrays.get("norm")
    if norms is None or norms.shape != (steps,):
        return None
    return [clipped_share(optimizer, float(norm)) for norm in norms]


def _errors(name: str, rows: NDArray[np.float64], optimizer: Optimizer, rounding: float) -> Iterator[_Error]:
    """Yield the error of each step's update of one parameter; what is not finite anywhere is off without bound."""
    if not np.isfinite(rows).all():
        yield _Error(np.inf, np.inf)
        return
    before = rows[0]
    own = of_parameter(optimizer, name)
    roundings = roundings_of_a_step(optimizer, name)
    first, second, magnitude = np.zeros_like(before), np.zeros_like(before), np.zeros_like(before)
    whole, square = first, second  # of gradients of one sign, which do not cancel
    for t, (gradient, after) in enumerate(zip(rows[1::2], rows[2::2], strict=True), start=1):
        with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is found below
            uncancelled, whole, square = updated(own, before, np.abs(gradient), whole, square, t)
            expected, first, second = updated(own, before, gradient, first, second, t)
        magnitude = np.maximum(magnitude, np.abs(gradient))
        held = magnitude >= HELD * magnitude.max(initial=0.0)
        noise = roundings * rounding * np.maximum(np.abs(before), np.abs(expected))
        changes = (one[held] - before[held] for one in (expected, after, uncancelled))
        yield _error(*changes, noise=noise[held])
        before = after


def _error(
    expected: NDArray[np.float64],
    found: NDArray[np.float64],
    uncancelled: NDArray[np.float64] | float = 0.0,
    *,
    noise: NDArray[np.float64] | float = 0.0,
) -> _Error:
    """Return how far the changes of one parameter are off, beyond what rounding the parameter explains."""
    if not all(np.isfinite(one).all() for one in (expected, found, uncancelled)):
        return _Error(np.inf, np.inf)
    excess = np.maximum(np.abs(found - expected) - noise, 0.0)
    if not excess.any():
        return _Error(0.0, 0.0)
    scale = np.maximum(np.maximum(np.abs(expected), np.abs(found)), np.abs(uncancelled))
    relative = np.divide(excess, scale, out=np.zeros_like(excess), where=excess > 0)
    with np.errstate(over="ignore", invalid="ignore"):
        error = _Error(float(np.median(relative)), float(np.linalg.norm(excess) / np.linalg.norm(scale)))
    return error if np.isfinite(error).all() else _Error(np.inf, np.inf)
