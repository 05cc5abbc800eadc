"""How much a workload magnifies roundings: the reference, from parameters that were moved at random.

A precision loses what its roundings are magnified to, and that is the model's own: fifty normalisations magnify, a
ReLU near zero or two candidates of a maximum send a gradient the other way (a kink), and an optimiser's first steps
throw losses apart. So it is measured on the very model, batch and seed: the reference's program is run again in
float64, from parameters each of which is moved by a random share of it. No code of the reduced precision takes part,
so that a contender is never its own yardstick.

The share is far more than one rounding, because a kink is hit or missed: a contender hits one that is as near as its
own roundings, and the moved reference has to show what that is worth. Two draws are each other's mirror, so that a
place which both move farther than its kink is sent across by one of them.

In float32 the results of operations are moved, too, by as little as an operation loses: what the same parameters make
twice moves together with them, and its difference, which a contender has with the roundings of both, not at all.

Where a batch is padded, a contender's own roundings are more than that: sums of many equal terms, which the statistics
of a batch are there (`tolerances.SUMS`). What they do to gradients is measured by draws of their own, in which every
normalisation is moved as if its statistics were off.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from bakeoff.certify.errors import (
    STATE_FLOOR,
    finite,
    loss_errors,
    named,
    norm_error,
    norms_error,
    quotient,
    relative,
)
from bakeoff.certify.sample import distance, kept
from bakeoff.certify.tolerances import ROOM, STATISTICS, amplitude
from bakeoff.certify.trajectory import trajectory_errors
from bakeoff.certify.update import gradient_floors, with_gradient
from bakeoff.spec.evidence import Spread
from bakeoff.spec.optimizer import Adam, AdamW, RMSprop
from bakeoff.workloads.schedules import rate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from bakeoff.spec.optimizer import Optimizer
    from bakeoff.workloads.optimizers import Arrays

DRAWS = 2
"""Times that the reference is moved for each precision but float64, which is so fine that its kinks are not hit."""

KINDS = ("output", "gradient", "state", "later", "update", "position", "norms")
"""The arrays that are compared."""

_SEED = 19_470_101  # any fixed number


class Results:
    """What one run of the reference gave: arrays by the names of `Evidence`, the losses, and the workload's metric."""

    def __init__(self, arrays: Arrays, losses: Sequence[float | None], metric: float | None = None) -> None:
        """Keep what is compared alone; `metric` is the workload's own, None where it has none."""
        self.arrays = {name: arrays[name] for kind in KINDS for name in named(arrays, kind)}
        self.losses = list(losses)
        self.metric = metric


def moved(weights: Arrays, precision: str) -> Iterator[Arrays]:
    """Yield the parameters of each draw: each moved by a random share of itself, at most the amplitude.

    Every second draw is the mirror of the one before it: a place that is nearer to its kink than both move it is sent
    across by one of them.
    """
    share = amplitude(precision)
    for draw in range(1 if precision == "float64" else DRAWS):
        stream, sign = np.random.RandomState(_SEED + draw // 2), (-1) ** draw
        yield {
            name: value * (1.0 + sign * share * stream.uniform(-1.0, 1.0, value.shape))
            for name, value in weights.items()
        }


def moved_statistics(weights: Arrays, state: Iterable[str]) -> Iterator[Arrays]:
    """Yield the parameters of each draw in which the statistics of a batch, by their names, are off by STATISTICS.

    A variance that is off by a share scales by half of it; a mean that is off is another bias, on the scale of one.
    Off by all of it, once in all channels alike, as sums lose alike, and once to either side; and the mirror of both.
    """
    norms = sorted({name.rpartition(".")[0] for name in state})
    for sides in ([1.0], [-1.0, 1.0]):
        for sign in (1.0, -1.0):
            stream, found = np.random.RandomState(_SEED), dict(weights)
            for name in norms:
                scale, bias = weights[f"{name}.scale"], weights[f"{name}.bias"]
                found[f"{name}.scale"] = scale * (1.0 + sign * STATISTICS * stream.choice(sides, scale.shape))
                found[f"{name}.bias"] = bias + scale * sign * STATISTICS * stream.choice(sides, bias.shape)
            yield found


def spread(
    precision: str,
    reference: Results,
    draws: Sequence[Results],
    statistics: Sequence[Results] = (),
    *,
    optimizer: Optimizer | None = None,
) -> Spread:
    """Return how far the draws are from the reference; of `statistics` the gradients alone, which have no ROOM."""
    signs = max([1, *(_other_signs(one, reference) for one in statistics)])
    turned = [] if precision == "float64" else [_turned(optimizer, reference, signs)]
    losses = zip(*(loss_errors(one.losses, reference.losses) for one in draws), *turned, strict=True)
    return Spread(
        amplitude=amplitude(precision),
        draws=len(draws),
        output=finite(max(_worst("output", one, reference) for one in draws)),
        losses=[finite(max(errors)) for errors in losses],
        trajectory=[finite(error) for error in _trajectory(draws, reference)],
        gradient=finite(_gradients(partial(_worst, "gradient"), reference, draws, statistics)),
        gradient_norm=finite(_gradients(_norm, reference, draws, statistics)),
        state=finite(max(_worst("state", one, reference) for one in draws)),
        later=finite(max(_worst("later", one, reference) for one in draws)),
        norms=finite(max(_norms(one, reference) for one in draws)),
        metric=finite(max(_metric(one, reference) for one in draws)),
    )


def _other_signs(one: Results, reference: Results) -> int:
    """Return of how many elements a draw's gradient has the other sign; of a zero but for rounding it says nothing."""
    names = [name.removeprefix("gradient/") for name in named(reference.arrays, "gradient")]
    pairs = (
        (kept(one.arrays[f"gradient/{name}"]), kept(reference.arrays[f"gradient/{name}"]))
        for name in with_gradient(names, reference.arrays)
    )
    return sum(int(np.count_nonzero(np.sign(mine) != np.sign(other))) for mine, other in pairs)


def _turned(optimizer: Optimizer | None, reference: Results, signs: int) -> list[float]:
    """Return what each loss moves by where the step before it sends so many elements the other way.

    Where a gradient is within its rounding of zero, Adam and RMSprop make a whole step of either sign, and in the next
    batch it may be as large as others: as the root mean square of an array's, the largest that has a hundredth of all
    elements. Of a small model's elements a contender meets one that no draw has met: deepspeech2 at reduced size in
    PyTorch on an AMD EPYC of 2025, one gradient of 1e-6 of its array's largest moved the next loss by 2.2e-5 of itself.
    Where statistics are off they are many, and no draw takes steps with them: there, with batch 16, 38 signs were other
    ones in Keras and 37 in MLX, and losses off by up to 1.3e-4. Of so many the root counts: some go with each other.
    """
    gradients = [kept(reference.arrays[name]) for name in named(reference.arrays, "gradient")]
    least = sum(one.size for one in gradients) / 100
    typical = max((float(np.sqrt(np.mean(np.square(one)))) for one in gradients if one.size >= least), default=0.0)
    most = max((abs(loss) for loss in reference.losses if loss is not None), default=0.0)
    typical *= math.sqrt(signs)
    moves = [2 * _whole_step(optimizer, t) * typical if t else 0.0 for t in range(len(reference.losses))]
    return [quotient(move, most) for move in moves]


def _whole_step(optimizer: Optimizer | None, t: int) -> float:
    """Return how far step t, from 1 on, may go by the sign of a gradient alone; 0 where it goes by its size."""
    most = max([1.0, *(factor for _, factor in optimizer.rates)]) if optimizer is not None else 1.0
    match optimizer:
        case Adam() | AdamW():
            return most * rate(optimizer, t)
        case RMSprop(decay=decay, momentum=momentum):
            # Signs of all steps up to this one add up in the momentum.
            return most * rate(optimizer, t) / math.sqrt(1.0 - decay) * (1.0 - momentum**t) / (1.0 - momentum)
        case _:
            return 0.0


def _gradients(
    error: Callable[[Results, Results], float],
    reference: Results,
    draws: Sequence[Results],
    statistics: Sequence[Results],
) -> float:
    """Return the largest error of the draws' gradients, or that of the statistics' over the ROOM that it has not."""
    return max([error(one, reference) for one in draws] + [error(one, reference) / ROOM for one in statistics])


def _worst(kind: str, one: Results, reference: Results) -> float:
    """Return the largest error of the arrays of one kind; 0 where there are none."""
    names = named(reference.arrays, kind)
    if kind == "gradient":
        floors = gradient_floors(reference.arrays)
    else:
        floors = dict.fromkeys(names, STATE_FLOOR if kind in {"state", "later"} else 0.0)
    return max((distance(one.arrays[name], reference.arrays[name], floors[name]) for name in names), default=0.0)


def _trajectory(draws: Sequence[Results], reference: Results) -> list[float]:
    """Return the largest error of the parameters after each step; none where the draws have kept no updates."""
    names = [name.removeprefix("update/") for name in named(reference.arrays, "update")]
    if not names or not all(named(one.arrays, "update") for one in draws):
        return []
    held = with_gradient(names, reference.arrays)
    if not held:  # each gradient is zero, or none is finite: the checks of these say so
        return []
    each = [trajectory_errors(held, one.arrays, reference.arrays) for one in draws]
    return [max(error for error, _ in errors) for errors in zip(*each, strict=True)]


def _norms(one: Results, reference: Results) -> float:
    """Return the largest error of a sample's norm; 0 where there are none."""
    names = named(reference.arrays, "norms")
    return max((norms_error(one.arrays[name], reference.arrays[name]) for name in names), default=0.0)


def _norm(one: Results, reference: Results) -> float:
    """Return the error of all gradients together; 0 where there are none."""
    names = named(reference.arrays, "gradient")
    return norm_error(names, one.arrays, reference.arrays) if names else 0.0


def _metric(one: Results, reference: Results) -> float:
    """Return the error of the workload's own metric; 0 where the reference has none."""
    return 0.0 if reference.metric is None else relative(one.metric, reference.metric)
