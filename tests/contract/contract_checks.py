"""What the contract holds of the arrays that a framework has computed: how far each is off, and how far it may be.

The contract's tests call these of the frameworks' folders, and `tests/mutants` of folders with a planted fault.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from contract_cases import attention_dropout, dropout, normal, steady
from contract_cases.cases import CASES
from contract_cases.vocabulary import expected_gradients, expected_loss, expected_state

from bakeoff.certify.sample import distance
from bakeoff.spec.workload import Size
from bakeoff.workloads import plan

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    Arrays = Mapping[str, NDArray[Any]]

SIZE = Size(batch_size=4, input_shape=(5,), classes=3)

OUTPUTS, GRADIENTS, LOSS = 1e-5, 1e-4, 1e-5
"""How far float32 may be off: outputs relative to the largest, a gradient to its array's largest, the loss to itself.
One rounding is 6e-8, and a case has sums of some tens of products; through two normalisations gradients lose ten times
more. The smallest fault of docs/mutants.md that a case finds is off by ten times as much."""

STATISTICS = 1e-5
"""Relative to a statistic's own size, or to 0.1 where it is smaller."""

SCALED = 1e-3
"""How far the factor of what dropout keeps may be off: float32 shows it to 1e-6 in a step of such parameters."""

NONE = 0.5
"""What is allowed of something that is counted and must not be."""

DEVIATIONS = 5.0
"""Standard deviations that a share of drawn numbers may be off: chance exceeds it once in two million draws."""


class Held(NamedTuple):
    """One thing that is held."""

    what: str
    error: float
    allowed: float

    @property
    def passed(self) -> bool:
        """Return whether it is within what is allowed; what is not a number is not."""
        return self.error <= self.allowed


def worst(held: Iterator[Held]) -> Held:
    """Return what is off by the largest multiple of what is allowed."""
    return max(held, key=lambda one: one.error / one.allowed if np.isfinite(one.error) else np.inf)


def weights_of(name: str) -> Any:
    """Return the weights that every framework starts a case from."""
    return plan.weights(lambda nn, size: CASES[name].build(nn), SIZE, 0)


def state_of(name: str) -> Any:
    """Return the running statistics that every framework starts a case from."""
    return plan.state_values(lambda nn, size: CASES[name].build(nn), SIZE, 0)


def outputs(name: str, found: Arrays) -> Iterator[Held]:
    """Yield how far the outputs of a case are off."""
    case = CASES[name]
    expected = case.forward(weights_of(name) | state_of(name), case.x.astype(np.float64))
    yield Held("outputs", _distance(found["outputs"], expected), OUTPUTS)


def loss_and_gradients(name: str, found: Arrays) -> Iterator[Held]:
    """Yield how far the loss of a case and every gradient are off."""
    case, weights, state = CASES[name], weights_of(name), state_of(name)
    loss = expected_loss(case, weights | state)
    yield Held("loss", abs(float(found["loss"]) - loss) / abs(loss), LOSS)
    expected = expected_gradients(case, weights, state)
    largest = max(np.abs(gradient).max() for gradient in expected.values())
    yield _names("gradients", "gradient/", found, expected)
    for array, gradient in expected.items():
        error = _distance(found.get(f"gradient/{array}"), gradient, floor=1e-2 * largest)
        yield Held(f"gradient of {array}", error, GRADIENTS)


def running_statistics(name: str, found: Arrays) -> Iterator[Held]:
    """Yield how far each running statistic is off, before a step and after it."""
    before = state_of(name)
    after = expected_state(CASES[name], before, weights_of(name), unbiased=bool(found["unbiased"]))
    for moment, expected in (("before", before), ("after", after)):
        yield _names(f"statistics {moment}", f"{moment}/", found, expected)
        for array, value in expected.items():
            error = np.abs(found[f"{moment}/{array}"] - value) / np.maximum(np.abs(value), 0.1)
            yield Held(f"{array} {moment} a step", float(error.max()), STATISTICS)


def case(name: str, found: Arrays) -> Iterator[Held]:
    """Yield all that is held of a case."""
    yield from outputs(name, found)
    if CASES[name].deterministic:
        yield from loss_and_gradients(name, found)
    if CASES[name].batch_statistics:
        yield from running_statistics(name, found)


def dropped(rate: float, found: Arrays, axes: tuple[str, ...] = ("samples", "features")) -> Iterator[Held]:
    """Yield how far dropout in training is from dropping each element by itself, scaling the others by 1 / (1 - rate).

    `moved` is by how much a step has moved each element's own parameter, along these axes: zero, or that factor.
    """
    moved = found["moved"]
    is_kept = moved != 0
    factor = np.abs(moved[is_kept] * (1 - rate) - 1)
    yield Held("the factor of what is kept", float(factor.max(initial=0.0)), SCALED)
    yield _share("the share of dropped elements", 1 - is_kept.mean(), rate, is_kept.size)
    # Of two neighbours along each axis, the share of which both are dropped.
    for axis, name in enumerate(axes):
        a, b = (np.take(is_kept, range(first, is_kept.shape[axis], 2), axis) for first in (0, 1))
        yield _share(f"of two {name} both", (~a & ~b).mean(), rate**2, a.size)
    yield Held("equal losses of steps", float(dropout.STEPS - len(set(found["losses"].tolist()))), NONE)


def dropped_by_sample(rate: float, found: Arrays) -> Iterator[Held]:
    """Yield how far stochastic depth in training is from dropping each sample as a whole, and scaling the others."""
    moved = found["moved"]
    is_kept = moved != 0
    yield Held("samples of which a part is dropped", float((is_kept.any(1) != is_kept.all(1)).sum()), NONE)
    factor = np.abs(moved[is_kept] * (1 - rate) - 1)
    yield Held("the factor of what is kept", float(factor.max(initial=0.0)), SCALED)
    samples = is_kept[:, 0]
    yield _share("the share of dropped samples", 1 - samples.mean(), rate, samples.size)
    both = (~samples[::2] & ~samples[1::2]).mean()
    yield _share("of two samples both", both, rate**2, samples.size // 2)
    yield Held("equal losses of steps", float(dropout.STEPS - len(set(found["losses"].tolist()))), NONE)


def _share(what: str, found: float, expected: float, count: int) -> Held:
    """Return how far a share of draws is off, in standard deviations."""
    return Held(what, abs(found - expected) / (expected * (1 - expected) / count) ** 0.5, DEVIATIONS)


def evaluated(rate: float, found: Arrays) -> Iterator[Held]:
    """Yield how far dropout in evaluation is from doing nothing."""
    weights = plan.weights(dropout.build(rate), SIZE, 0)
    yield Held("outputs", _distance(found["outputs"], weights["first.bias"] + weights["each"]), OUTPUTS)


def weights_dropped(rate: float, found: Arrays) -> Iterator[Held]:
    """Yield how far dropout on attention's weights is from dropping each by itself, and in evaluation from nothing."""
    yield from dropped(rate, found, attention_dropout.AXES)
    each = plan.weights(attention_dropout.build(rate), SIZE, 0)["each"]
    yield Held("outputs", _distance(found["outputs"], each.reshape(len(each), -1)), OUTPUTS)


def normal_draws(found: Arrays) -> Iterator[Held]:
    """Yield how far RandomNormal is from independent draws of the standard normal distribution, zeros in evaluation.

    `moved` is by how much a step has moved the parameters that the draws of two layers are multiplied with.
    """
    one, other = found["moved/one"], found["moved/other"]
    for layer, draws in (("one layer", one), ("another layer", other)):
        error = draws.size**-0.5
        yield Held(f"the mean of {layer}", abs(draws.mean()) / error, DEVIATIONS)
        yield Held(f"the variance of {layer}", abs((draws**2).mean() - 1) / (2**0.5 * error), DEVIATIONS)
        yield _share(f"the share within the quartiles of {layer}", (np.abs(draws) < QUARTILE).mean(), 0.5, draws.size)
    pairs = (("layers", one, other), ("samples", one[::2], one[1::2]), ("features", one[:, ::2], one[:, 1::2]))
    for what, a, b in pairs:
        yield Held(f"the correlation of two {what}", abs((a * b).mean()) * a.size**0.5, DEVIATIONS)
    yield Held("equal losses of steps", float(normal.STEPS - len(set(found["losses"].tolist()))), NONE)
    bias = plan.weights(normal.build, SIZE, 0)["first.bias"]
    yield Held("outputs in evaluation", _distance(found["outputs"], np.tile(bias, (normal.BATCH, 1))), OUTPUTS)


QUARTILE = 0.6744897501960817
"""Of the standard normal distribution: half of it lies between this and its negative."""


def _names(what: str, start: str, found: Arrays, expected: Arrays) -> Held:
    """Return how many arrays are there that should not be, or the other way round."""
    there = {name.removeprefix(start) for name in found if name.startswith(start)}
    return Held(f"names of {what}", float(len(there ^ set(expected))), NONE)


def _distance(found: NDArray[Any] | None, expected: NDArray[Any], floor: float = 0.0) -> float:
    """Return how far an array is off; infinity for one of another shape, or none."""
    if found is None or found.shape != expected.shape:
        return float("inf")
    return distance(found.astype(np.float64), expected, floor)


def in_order(found: Arrays) -> Iterator[Held]:
    """Yield how many samples of two epochs of copied batches are not in their place with their own label.

    And how many arrays the second has from the first: a copy each step is another array each time.
    """
    yield Held("arrays of the epoch before", float(found["kept"]), NONE)
    for array in ("x", "y"):
        expected = np.concatenate([found[f"samples_{array}"]] * 2)
        wrong = len(expected) if found[array].shape != expected.shape else _differing(found[array], expected)
        yield Held(f"{array} in another place", float(wrong), NONE)


def shuffled(found: Arrays) -> Iterator[Held]:
    """Yield how many samples of two epochs of a loader are missing, come twice or have another's label."""
    count = len(found["samples_x"])
    # No number occurs twice in the samples: the first number of a sample identifies it.
    first = found["samples_x"].reshape(count, -1)[:, 0]
    epochs = [np.searchsorted(first, given.reshape(count, -1)[:, 0]) for given in np.split(found["x"], 2)]
    for number, (epoch, x, y) in enumerate(zip(epochs, np.split(found["x"], 2), np.split(found["y"], 2), strict=True)):
        place = np.minimum(epoch, count - 1)
        yield Held(f"missing in epoch {number}", float(count - len(set(epoch.tolist()) & set(range(count)))), NONE)
        yield Held(f"changed in epoch {number}", float(_differing(x, found["samples_x"][place])), NONE)
        yield Held(f"with another label in epoch {number}", float(_differing(y, found["samples_y"][place])), NONE)
    orders = {tuple(order.tolist()) for order in (*epochs, np.arange(count))}
    yield Held("orders that come twice", float(len(epochs) + 1 - len(orders)), NONE)


def repeats(found: Arrays) -> Iterator[Held]:
    """Yield how many arrays differ between steps after a snapshot and those after `restore`: all bits are held.

    Also what a restore has compiled, and how many losses are equal: steps that change nothing repeat in any case.
    """
    first, *others = steady.PASSES
    names = [name.partition("/")[2] for name in found if name.startswith(f"{first}/")]
    for again in others:
        differing = [name for name in names if not np.array_equal(found[f"{first}/{name}"], found[f"{again}/{name}"])]
        for kind in sorted({name.partition("/")[0] for name in names}):
            count = sum(name.partition("/")[0] == kind for name in differing)
            yield Held(f"{kind} that differ in steps done {again}", float(count), NONE)
    yield Held("compiled after a restore", float(np.abs(np.diff(found["counts"])).max()), NONE)
    yield Held("equal losses", float(steady.STEPS - len(set(found[f"{first}/losses"].tolist()))), NONE)


def _differing(found: NDArray[Any], expected: NDArray[Any]) -> int:
    """Return how many samples differ."""
    return int((found != expected).reshape(len(expected), -1).any(1).sum())
