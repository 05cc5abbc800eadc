"""How closely contenders have to agree with the reference in float64: measured on each workload, never declared by it.

A contender's program, run in float64, has to agree to PROGRAM. What is timed has another precision: it may lose a
stated multiple of what the reference loses when it is moved by that precision's roundings (certify/spread.py).
"""

from __future__ import annotations

import math
from itertools import accumulate
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

import msgspec
import numpy as np

from bakeoff.spec.evidence import Spread
from bakeoff.spec.optimizer import AdamW, decay_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bakeoff.spec.evidence import Evidence
    from bakeoff.spec.optimizer import Optimizer

UNIT_ROUNDOFF = {"float64": 2.0**-53, "float32": 2.0**-24, "tf32": 2.0**-11, "bfloat16": 2.0**-8, "float16": 2.0**-11}
"""The largest relative error of one rounding: half the distance of two numbers, with 52, 23, 10, 7 and 10 stored bits.
"""

PROGRAM = 1e-9
"""The allowed error of a program in float64, in outputs, losses, gradients, statistics and parameters, unless the model
magnifies float64's own roundings further: a training that diverges in its first steps does (resnet50-cifar10)."""

ROUNDINGS = 128
"""Unit roundoffs of float64 and float32 by which the reference is moved; see certify/spread.py."""

REDUCED_ROUNDINGS = 4
"""Unit roundoffs of shorter precisions by which the reference is moved: with so many places at a kink for every draw,
a draw need not be larger than a contender's own roundings to show them."""

OPERATION_ROUNDINGS = 4
"""Unit roundoffs of float32 by which the results of the reference's operations are moved at most, beside parameters:
few, as one operation loses few. A difference of two numbers that the same parameters make is as exact when these are
moved, and not in a contender: with parameters alone 11 of 80 honest contenders were refused in rl-venv-ppo at reduced
size, whose log-probabilities divide such a difference by a small deviation; with 4, they use 0.27 of what is allowed at
most (benchmarks/results/honest-parameters-alone-2026-11-24.md, honest-2026-11-24.md)."""

ROOM = 4.0
"""Times the spread that a contender may be off."""

LATER_ROOM = 10.0
"""The same for losses after the first: they follow updates, which carry on whether a kink was hit, so that they vary
more from draw to draw. Found at reduced size, batches 1 and 16, in PyTorch, TensorFlow and MLX: 1.5 times the spread at
most where the loss is held, 0.8 times for what ROOM holds (benchmarks/results/honest-2026-11-22.md)."""

MOST = 0.5
"""The largest allowed error that still holds anything: what is magnified further is not held, and the report says so.
"""

OUTPUTS_MOST = 0.9
"""The same of outputs, which are held in any case: outputs of zeros are off by 1."""

DRAWN_ROOM = 2.0
"""Times the spread of outputs that is beyond MOST / ROOM."""


class UpdateTolerance(NamedTuple):
    """How far the change of a parameter in one step may be off from the formula on the contender's own gradients.

    In float64 it is PROGRAM; these are for the others.
    Measured on processors at reduced size, as the largest median and norm of all arrays and steps: JAX and TensorFlow
    over all workloads that train, PyTorch over six of the eight, MLX over three: within 7.2e-6 with Adam, whose 0.999
    no float32 holds, and within 1.5e-6 in PyTorch and 5e-8 with all other optimisers; bfloat16 in PyTorch and JAX, and
    resnet50-cifar10 at full size in JAX, stay within the same. Faults in PyTorch: bfloat16 in the place of float32 has
    a median of 3e-3 in mlp-mnist and 3e-2 to 5e-1 in deeper models; normalisations without their weight decay of 1e-4
    have 1e-2 to 3e-2; all else has 0.5 or more. No accelerator was measured.
    """

    median: float = 1e-4
    """Of the elements' errors, each relative to its own change, or to that of gradients which do not cancel."""
    norm: float = 1e-2
    """The L2 norm of the errors relative to that of the change: a single element counts by its size."""
    used: float = 1e-2
    """The L2 norm of the difference between an array's gradient that a step followed and the one that the contender
    gives before it, relative; where no kink lies between, it is held as closely as the change."""


class Allowed(NamedTuple):
    """The largest errors that a certificate lets pass, as `certify.errors` takes them; infinite: not held."""

    output: float
    losses: tuple[float, ...]
    """Of each step of the trajectory."""
    trajectory: tuple[float, ...]
    """Of the parameters after each step."""
    gradient: float
    """Of the elements of each gradient."""
    gradient_norm: float
    """Of all gradients together."""
    state: float
    update: UpdateTolerance
    optimizer: float
    """Relative to the path that a parameter travels on given gradients."""
    norms: float = 0.0
    """Of the norm of each sample's gradient."""
    metric: float = 0.0
    """Of the workload's own metric after the trajectory, which follows updates as later losses do."""
    later: float = float("inf")
    """Of what the steps after the first add to running statistics; held in float64 alone, for they follow updates."""


OPTIMIZER = 2e-5
"""The allowed error of an optimiser in float32 or shorter. A float32 cannot hold 0.999: 1 - beta2 is off by 1.3e-5.
Measured: Adam in JAX and Keras within 9.6e-6, all else within rounding; a formula with the epsilon in another place is
off by 0.1."""

SUMS = 1e-3
"""The least that is allowed of running statistics in float32, in which they are sums of as many terms as a batch has
places. ROUNDINGS is for random terms, whose errors grow like the root of their number. Beyond the ends of a batch's
samples all terms are one constant, whose rounding goes the same way each time: summed one after another, as Eigen does
over the outer axes where the channels fill no register, the variance of a map like that of deepspeech2's first
convolution is off by up to 1.0e-4 in Keras at reduced size with batch 4, by 5.4e-4 at full size; in two sums of halves
by 1.7e-6 (benchmarks/results/running-sums-2026-11-24.md). No planted fault of statistics is smaller than 1e-3
(docs/mutants.md) but one of the epsilon, which outputs show, and each fails in float64."""

STATISTICS = SUMS / 4
"""By which share a normalisation is moved to stand for such sums, where a batch is padded: a variance that is
off by 5.4e-4 scales by half of that. What follows is as far off, and by more at kinks: TensorFlow's gradients of
deepspeech2 at reduced size with batch 4 are off by 2.3e-3, since a place of a map lies on the other side of zero, where
the reference takes none by ROUNDINGS. It is the most that was found, so that what it shows has no ROOM on top."""

OWN_OUTPUTS = 1e-4
"""The allowed distance of the outputs that a timed step keeps from those that the same contender returns when asked, by
the same function: measured 0 in PyTorch and JAX (mlp-mnist); PyTorch in bfloat16 in the place of float32 exceeds it."""

STREAM = 1e-3
"""Of what one step changes in the parameters: by how much a stream of steps may leave others than the same steps that
are each waited for, where a process repeats itself to the last bit, as all frameworks do on a processor. There an
honest stream is at 0 (benchmarks/results/streams-2026-11-26.md), a step left out is at about 1, and a stream of PyTorch
in bfloat16 was between this and the bound of those that join steps (a planted fault)."""

JOINED_STREAM = 0.05
"""The same of a framework that computes a step together with what follows (`FrameworkInfo.joins_steps`), and so rounds
otherwise: Jittor is at 1.5e-3 at most at the workloads' reduced sizes, by the same results."""


def stream_allowed(*, joins_steps: bool) -> float:
    """Return by how much a stream of steps may be off where a process repeats itself."""
    return JOINED_STREAM if joins_steps else STREAM


_OWN_ROUNDINGS = 16
"""The same in unit roundoffs of a precision shorter than float32: errors of a chain of operations add up like the root
of their number, and a deep network is a chain of some hundred (measured: within 4)."""

HALF = frozenset({"bfloat16", "float16"})
"""Precisions in which every product is rounded. Not TF32, which reads shorter factors of some products, on a GPU."""

SCALED = "float16"
"""Its first steps may honestly change nothing: they are skipped while the scale of the loss is too large. Evidence's
gradients have settled that scale before its trajectory begins, so that timed steps share the first loss alone with it.
"""

LEAST_ROUNDING = 2.0**-8
"""Unit roundoffs of half precision that the worst of a model's outputs is off by at least. In bfloat16 it was off by
one or more in every workload (benchmarks/results/certificates-of-2026-11-22.md), in float32 by some 1e-7 to 1e-6."""

_UPDATE_ROUNDOFFS = 4
"""Unit roundoffs of a reduced precision that the two compilations of a step's gradients may differ by."""

MEASURED_FROM = 2
"""The version of evidence from which the reference measures its spreads."""

_SHORT = frozenset({"tf32", "bfloat16", "float16"})


def parameter_rounding(precision: str) -> float:
    """Return the largest relative error of one rounding of a parameter: mixed precisions, too, keep it in float32."""
    return UNIT_ROUNDOFF["float64" if precision == "float64" else "float32"]


def widest(precision: str) -> str:
    """Return the type whose largest number bounds a precision's arithmetic: shorter ones keep sums in float32."""
    return "float64" if precision == "float64" else "float32"


def largest_held(precision: str) -> float:
    """Return the root of the largest number of a precision: what is larger has a square that is infinite."""
    return float(np.sqrt(np.finfo(widest(precision)).max))


def diverges_at(losses: Sequence[float | None], precision: str) -> int | None:
    """Return the first step behind step 0 whose loss, the reference's, a precision cannot hold; None where it can all.

    Beyond BEYOND_USE the model's own numbers may be out of its range, though no loss shows it, nor any parameter.
    """
    largest = largest_held(precision)
    in_use = BEYOND_USE * abs(losses[0]) if losses and losses[0] and precision != "float64" else largest
    most = [largest] * FEWEST_HELD + [min(in_use, largest)] * len(losses)
    return next((n for n, loss in enumerate(losses) if n and (loss is None or abs(loss) > most[n])), None)


FEWEST_HELD = 2
"""Steps held at least of a training that diverges: gradients that are not cleared, and momentum, show in the second."""

BEYOND_USE = 1e6
"""Times its first loss, beyond which no later step is held in less than float64. Found in cnn-cifar10 at full size with
one sample, seed 6: losses of 1.9e12, 0 and 0 behind logits of 1e40, and no finite number in three frameworks."""


def roundings_of_a_step(optimizer: Optimizer, parameter: str) -> float:
    """Return how many unit roundoffs of itself a step may move a parameter: by its decay, and by its update.

    AdamW's decay is a product with 1 - rate * decay, as PyTorch has it, and that factor is rounded, too: below 1 by
    half a unit roundoff at most. Of a parameter near 1 that is some part of a step whose rate is small.
    """
    return 2.5 if isinstance(optimizer, AdamW) and decay_of(optimizer, parameter) > 0 else 2.0


def amplitude(precision: str) -> float:
    """Return the share of itself by which a parameter is moved at most, to stand for a precision's roundings."""
    return (REDUCED_ROUNDINGS if precision in _SHORT else ROUNDINGS) * UNIT_ROUNDOFF[precision]


def least_error(precision: str) -> float:
    """Return how far outputs in half precision are off at least: those that are nearer are not computed in it."""
    return LEAST_ROUNDING * UNIT_ROUNDOFF[precision] if precision in HALF else 0.0


def is_measured(reference: Evidence, precision: str) -> bool:
    """Return whether the reference says how far a contender in this precision may be off; in float64 PROGRAM does."""
    return reference.version < MEASURED_FROM or precision in {*reference.spreads, "float64"}


def allowed(
    reference: Evidence, precision: str, device: str, steps: int, *, updates: int = 1, noisy: bool = False
) -> Allowed:
    """Return how far a contender may be off in a precision that has been measured; in float64 PROGRAM, where it is not.

    `steps` is how many losses there are, each of so many `updates`. An accelerator need not compute the same gradients
    twice: it adds in another order, or by another algorithm, which a deep model magnifies as between frameworks. There
    no more is asked of updates than of gradients, and of their median alone: where a gradient is small, Adam makes a
    whole step of either sign. Of `noisy` steps, each with its framework's own noise, later losses are not held.
    """
    if reference.version < MEASURED_FROM:
        return of_version_1(precision, steps)
    is_program = precision == "float64"
    found = reference.spreads.get(precision) or Spread(amplitude=0.0, draws=0, output=0.0, losses=[*[0.0] * steps])
    timed = [reference.spreads[one] for one in UNIT_ROUNDOFF if one != "float64" and one in reference.spreads]
    if is_program and timed:
        found = _with_kinks(found, timed[0])
    least = PROGRAM if is_program else ROOM * found.amplitude
    gradient_norm = _held(found.gradient_norm, least)
    trajectory = (float("inf"),) * steps if noisy else _carried(found.trajectory, least) or (least,) * (steps * updates)
    # A metric is of the parameters after the last step, and is held no closer than they are: one draw may have the
    # reference's metric by chance. Found in rl-venv-ppo's size policy: a draw of 1.6e-4, JAX in float64 off by 4.2e-3.
    metric = max((_carried([found.metric], least)[0], *trajectory[-1:]))
    losses = _losses(found, least, steps)
    whole = losses[: 1 if noisy else diverges_at(reference.losses, precision)]
    return Allowed(
        output=_output(found.output, least, precision),
        losses=whole + (float("inf"),) * (len(losses) - len(whole)),
        trajectory=trajectory,
        gradient=_held(found.gradient, least),
        gradient_norm=gradient_norm,
        state=min(MOST, _room(found.state, least if is_program else max(least, SUMS))),
        update=_update(precision, device, min(MOST, gradient_norm)),
        optimizer=PROGRAM if is_program else OPTIMIZER,
        norms=_held(found.norms, least),
        metric=metric,
        later=_carried([found.later], least)[0] if is_program and not noisy else float("inf"),
    )


def _with_kinks(found: Spread, timed: Spread) -> Spread:
    """Return the spread in float64 with what kinks are worth, of a model whose outputs float64's roundings move.

    Of the many places of such a model some lie that near to a kink, and the one draw in float64 may cross none of them.
    The draws in the timed precision cross many: their number goes with how far outputs move, and what they are worth
    together, being of either sign, with its root. A first loss goes with the outputs. What follows an update carries
    the kinks on, at most as far as the draw comes. Found in rl-venv-ppo's size policy, in one of four seeds: a ReLU of
    one of 25,600 samples was on the other side in JAX and TensorFlow, and gradients were off by 4.1e-5, where the draw
    had 1.6e-8, and this has 7.4e-5 (benchmarks/results/honest-policy-2026-11-28.md).
    """
    if not found.output or found.output <= PROGRAM:
        return found
    share = found.output / (timed.output or 1.0)  # draws that are not finite have moved outputs by all that they are
    kink, norm = (_times(one, math.sqrt(share)) for one in (timed.gradient, timed.gradient_norm))
    # Parameters of a first step that a kink has moved are off by as much as its gradient, and the rest in proportion.
    ahead = kink / found.trajectory[0] if found.trajectory and found.trajectory[0] else 1.0
    first = [_at_least(one, _times(other, share)) for one, other in zip(found.losses[:1], timed.losses, strict=False)]
    return msgspec.structs.replace(
        found,
        losses=[*first, *_carried_on(found.losses[1:], ahead)],
        trajectory=_carried_on(found.trajectory, ahead),
        gradient=_at_least(found.gradient, kink),
        gradient_norm=_at_least(found.gradient_norm, norm),
        later=_at_least(found.later, kink),
    )


def _times(spread: float | None, share: float) -> float:
    """Return a share of a spread; infinite where that is not finite."""
    return math.inf if spread is None else share * spread


def _at_least(spread: float | None, least: float) -> float | None:
    """Return a spread that is no less; None where it is not finite."""
    return None if spread is None or math.isinf(least) else max(spread, least)


def _carried_on(spreads: Sequence[float | None], ahead: float) -> list[float | None]:
    """Return spreads that are so many times as large, up to the largest of them."""
    most = max((one for one in spreads if one is not None), default=0.0)
    return [None if one is None else max(one, min(ahead * one, most) if one else 0.0) for one in spreads]


def ran_tolerance(precision: str, output: float) -> float:
    """Return how far a timed step's outputs may lie from the contender's own; `output`: from the reference's."""
    return _OWN_ROUNDINGS * UNIT_ROUNDOFF[precision] if precision in _SHORT else min(output, OWN_OUTPUTS)


def _room(spread: float | None, least: float, room: float = ROOM) -> float:
    """Return what a spread allows; a spread that is not finite allows everything."""
    return float("inf") if spread is None else max(room * spread, least)


def _output(spread: float | None, least: float, precision: str) -> float:
    """Return what outputs may be off, which are held in any case: beyond MOST by little more than draws show.

    Found in rl-venv-ppo's size policy in float32, of four seeds: draws of up to 0.42, and contenders off by up to 0.41.
    """
    found = _room(spread, least)
    if found <= MOST or spread is None or precision in _SHORT:
        return min(found, MOST)
    return max(MOST, min(OUTPUTS_MOST, DRAWN_ROOM * spread))


def _held(spread: float | None, least: float) -> float:
    """Return what a spread allows; infinite beyond MOST, where it would hold nothing."""
    found = _room(spread, least)
    return found if found <= MOST else float("inf")


def _losses(found: Spread, least: float, steps: int) -> tuple[float, ...]:
    """Return what each step's loss may be off: as much as any before it, because errors are carried on.

    The first is held in any case: no update has magnified anything yet. Where the model itself magnifies its outputs
    beyond what is held, the first varies from draw to draw as later ones do. Found in rl-venv-ppo's size policy, whose
    rollout is of 100 steps: draws of 6.5e-4 at most, PyTorch and TensorFlow off by 0.9 of it, JAX and Jittor by 7.2
    (benchmarks/results/certificates-full-policy-2026-11-28.md).
    """
    if not found.losses or steps < 1:
        return (MOST,)
    _, *later = _carried(_followed(found.losses, found.trajectory)[:steps], least)
    room = LATER_ROOM if _room(found.output, least) > MOST else ROOM
    return (min(MOST, _room(found.losses[0], least, room)), *later)


def _followed(losses: Sequence[float | None], trajectory: Sequence[float | None]) -> list[float | None]:
    """Return losses' spreads, each at least what those of the other steps are of the parameters' before them.

    A draw whose parameters are off may have the reference's loss by chance, and in float64 there is one draw. Found in
    resnet50 at reduced size, batch 1: a loss off by 4.7e-13 between two of 4e-11 and 9e-10, and JAX by 1.5e-9.
    """
    pairs = list(zip(losses[1:], trajectory, strict=False))
    shares = [loss / behind for loss, behind in pairs if loss is not None and behind]
    typical = median(shares) if shares else 0.0
    later = [loss if loss is None or behind is None else max(loss, typical * behind) for loss, behind in pairs]
    return [*losses[:1], *later, *losses[1 + len(pairs) :]]


def _carried(spreads: Sequence[float | None], least: float) -> tuple[float, ...]:
    """Return what each step's spread allows, at least as much as any before it; infinite beyond MOST."""
    allowed = accumulate((_room(spread, least, LATER_ROOM) for spread in spreads), max)
    return tuple(one if one <= MOST else float("inf") for one in allowed)


def _update(precision: str, device: str, gradient_norm: float) -> UpdateTolerance:
    """Return how far updates may be off in a precision and on a device."""
    own = UpdateTolerance(PROGRAM, PROGRAM) if precision == "float64" else UpdateTolerance()
    if device != "cpu":
        return UpdateTolerance(median=max(own.median, gradient_norm), norm=1.0, used=gradient_norm)
    rounded = _UPDATE_ROUNDOFFS * UNIT_ROUNDOFF[precision] if precision in _SHORT else 0.0
    return UpdateTolerance(median=max(own.median, rounded), norm=max(own.norm, rounded), used=gradient_norm)


def of_version_1(precision: str, steps: int) -> Allowed:
    """Return what records older than spreads are held to: what workloads declared by default then."""
    roundoff = UNIT_ROUNDOFF[precision] if precision in _SHORT else 0.0
    return Allowed(
        output=max(1e-4, _OWN_ROUNDINGS * roundoff),
        losses=(max(1e-3, roundoff**0.5),) * steps,
        trajectory=(),
        gradient=max(1e-2, 8 * roundoff**0.5),
        gradient_norm=max(1e-3, 4 * roundoff**0.5),
        state=max(1e-4, _OWN_ROUNDINGS * roundoff),
        update=_update(precision, "cpu", 1e-3),
        optimizer=OPTIMIZER,
    )
