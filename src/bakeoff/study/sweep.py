"""Options with several values: a study with one comparison for each combination."""

from __future__ import annotations

import re
from itertools import product
from math import prod
from typing import TYPE_CHECKING

import msgspec

from bakeoff.environments.builds import NVIDIA
from bakeoff.environments.declared import framework
from bakeoff.environments.interpreters import available, resolve
from bakeoff.race.devices import without_device
from bakeoff.race.prepare import checked, run_wide
from bakeoff.spec.contender import parse_contender, parse_values
from bakeoff.spec.errors import UnavailableError, UsageError
from bakeoff.spec.options import MOST_DIGITS
from bakeoff.spec.study import Point, Study
from bakeoff.workloads.load import load

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bakeoff.spec.request import Request

BATCH_SIZE = "batch size"
"""The axis that is no option of a contender."""

MOST_POINTS = 64
"""More are hardly meant: two contenders at 64 points take more than two hours."""

CONTENDER_S = 60.0
"""About what a contender of a small workload costs a comparison: certificate, memory, start-up and some five rounds."""


class Axis(msgspec.Struct, frozen=True, kw_only=True):
    """What is varied, and over which values."""

    name: str
    """BATCH_SIZE, or an option of contenders."""
    values: tuple[str, ...]


def read_values(text: str, name: str) -> tuple[str, ...]:
    """Read "8,16,32"; raise UsageError where a value is missing or given twice; `name` is what they are values of."""
    return checked_values(parse_values(text), name)


def checked_values(texts: Sequence[str], name: str) -> tuple[str, ...]:
    """Return values that are there and differ; raise UsageError for others."""
    values, text = tuple(texts), ",".join(texts)
    if not (values and all(values)):
        msg = f"{name} {text!r} lacks a value: give one, or several with commas between, such as 8,16,32"
        raise UsageError(msg)
    twice = next((value for value in values if values.count(value) > 1), None)
    if twice is not None:
        msg = f"{name} {text!r} has the value {twice} twice"
        raise UsageError(msg)
    return values


def number(text: str, name: str) -> int:
    """Read a whole number; raise UsageError for anything else."""
    if not (text.isascii() and text.isdigit()):
        msg = (
            f"{name} {text!r} cannot be; valid: a whole number from 1 on, or several with commas between, as in 8,16,32"
        )
        raise UsageError(msg)
    if len(text) > MOST_DIGITS:
        msg = f"{name} is a number of {len(text):,} digits; valid: up to {MOST_DIGITS}"
        raise UsageError(msg)
    return int(text)


def sweep_of(request: Request, axes: Sequence[Axis]) -> Study:
    """Return the study that races every combination of the axes' values; raise UsageError for what cannot be.

    A contender whose framework lacks an option's value is left out where it is asked for, with the reason; a value
    that no contender has, and a contender that has none of the values, are errors.
    """
    count = prod(len(axis.values) for axis in axes)
    contenders, excluded = _here(request.contenders, run_wide(request).get("device"))
    if count > MOST_POINTS:
        raise UsageError(_too_many(axes, count, len(contenders)))
    named = msgspec.structs.replace(request, contenders=contenders)
    tried = [_tried(named, axes, values) for values in product(*(axis.values for axis in axes))]
    if request.gpu is not None and not any(point.gpu for point, _, _ in tried):
        msg = f"--gpu {request.gpu} names the GPU of contenders on CUDA, and there is none at any point"
        raise UsageError(msg)
    if request.reference_device == NVIDIA and not any(point.reference_device for point, _, _ in tried):
        msg = "--reference-device cuda is the GPU of contenders on CUDA, and there is none at any point"
        raise UsageError(msg)
    for text in contenders:
        errors = [errors.get(text) for _, _, errors in tried]
        # What can race at no point is no hole but a mistake.
        if (first := errors[0]) is not None and all(errors):
            raise first
    return Study(
        name=f"{re.sub(r'[^A-Za-z0-9-]+', '-', load(request.workload).workload.name)}-sweep",
        title=f"{load(request.workload).workload.name} over {_over(axes)}",
        points=[_point(*one, excluded) for one in tried],
        budget_s=request.budget_s,
        command=request.command,
    )


def alone(request: Request, coordinates: dict[str, str]) -> Point:
    """Return one combination's point without the others; raise UsageError where no contender can race there.

    Contenders whose framework lacks a value are left out with the reason, as in a whole sweep.
    """
    contenders, excluded = _here(request.contenders, run_wide(request).get("device"))
    named = msgspec.structs.replace(request, contenders=contenders)
    axes = [Axis(name=name, values=(value,)) for name, value in coordinates.items()]
    return _point(*_tried(named, axes, tuple(coordinates.values())), excluded)


def _here(texts: tuple[str, ...], device: str | None = None) -> tuple[tuple[str, ...], dict[str, str]]:
    """Return the contenders whose framework is here (none named: all that have the device), and why others are not."""
    if not texts:
        interpreters, reasons = available()
        without = without_device(device, tuple(interpreters))
        return tuple(name for name in interpreters if name not in without), reasons | without
    reasons = {}
    for text in texts:
        contender = parse_contender(text)
        try:
            resolve(contender, framework(contender.framework))
        except UnavailableError as error:
            reasons[text] = str(error)
    here = tuple(text for text in texts if text not in reasons)
    # With nobody left, preparing says so.
    return here or texts, reasons


def _over(axes: Sequence[Axis]) -> str:
    """Return what is varied: "batch size 8, 16 and mode eager, graph"."""
    return " and ".join(f"{axis.name} {', '.join(axis.values)}" for axis in axes)


def _too_many(axes: Sequence[Axis], count: int, contenders: int) -> str:
    """Return how many combinations there are, and how long they would take."""
    sizes = " x ".join(str(len(axis.values)) for axis in axes)
    hours = count * contenders * CONTENDER_S / 3600
    return (
        f"{sizes} values are {count:,} combinations, at about a minute for each of {contenders} contenders "
        f"some {hours:,.1f} hours; valid: up to {MOST_POINTS} combinations"
    )


def _tried(
    request: Request, axes: Sequence[Axis], values: tuple[str, ...]
) -> tuple[Request, dict[str, str], dict[str, UsageError]]:
    """Return one combination's request, its coordinates, and why contenders cannot race there; raise if none can."""
    coordinates = {axis.name: value for axis, value in zip(axes, values, strict=True)}
    for name, value in coordinates.items():
        request = _with_value(request, name, value)
    errors: dict[str, UsageError] = {}
    for text in dict.fromkeys(request.contenders):
        try:
            checked(msgspec.structs.replace(request, contenders=(text,)))
        except UsageError as error:
            errors[text] = error
    fitting = tuple(text for text in request.contenders if text not in errors)
    request = msgspec.structs.replace(request, contenders=fitting or request.contenders)
    _, plans, _ = checked(request)
    if not any(plan.contender.on_cuda for plan in plans):
        # The GPU that was named is that of the other points.
        request = msgspec.structs.replace(request, gpu=None, reference_device=None)
    return request, coordinates, errors


def _point(
    request: Request, coordinates: dict[str, str], errors: dict[str, UsageError], excluded: dict[str, str]
) -> Point:
    """Return one combination's comparison."""
    title = ", ".join(f"{name} {value}" for name, value in coordinates.items())
    left_out = excluded | {text: str(error) for text, error in errors.items()}
    return Point(title=title, coordinates=coordinates, request=request, left_out=left_out)


def _with_value(request: Request, name: str, value: str) -> Request:
    """Set one value."""
    if name != BATCH_SIZE:
        return msgspec.structs.replace(request, options=request.options | {name: value})
    return msgspec.structs.replace(request, batch_size=number(value, BATCH_SIZE))
