"""Options with several values: a study with one comparison for each combination."""

from __future__ import annotations

import re
from itertools import product
from typing import TYPE_CHECKING

import msgspec

from bakeoff.environments.declared import framework
from bakeoff.environments.interpreters import available
from bakeoff.environments.options import resolve_options
from bakeoff.measure.machine import usable_cores
from bakeoff.race.prepare import checked, run_wide
from bakeoff.spec.contender import parse_contender
from bakeoff.spec.errors import UsageError
from bakeoff.study.declared import Point, Study

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bakeoff.race.request import Request

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
    values = tuple(value.strip() for value in text.split(","))
    if not all(values):
        msg = f"{name} {text!r} lacks a value: write one, or several with commas between, such as 8,16,32"
        raise UsageError(msg)
    twice = next((value for value in values if values.count(value) > 1), None)
    if twice is not None:
        msg = f"{name} {text!r} has the value {twice} twice"
        raise UsageError(msg)
    return values


def number(text: str, name: str) -> int:
    """Read a whole number; raise UsageError for anything else."""
    if not (text.isascii() and text.isdigit()):
        msg = f"{name} {text!r} should be a valid integer; several have commas between, such as 8,16,32"
        raise UsageError(msg)
    return int(text)


def sweep(request: Request, axes: Sequence[Axis]) -> Study:
    """Give the study that races every combination of the axes' values; raise UsageError for what cannot be.

    A contender whose framework lacks an option's value is left out where it is asked for, with the reason; a value
    that no contender has is an error.
    """
    count = 1
    for axis in axes:
        count *= len(axis.values)
    contenders, excluded = request.contenders, dict[str, str]()
    if not contenders:
        interpreters, excluded = available()
        contenders = tuple(interpreters)
    if count > MOST_POINTS:
        raise UsageError(_too_many(axes, count, len(contenders)))
    named = msgspec.structs.replace(request, contenders=contenders)
    points = [_point(named, axes, values, excluded) for values in product(*(axis.values for axis in axes))]
    loaded, _, _ = checked(points[0].request)
    workload = loaded.workload.name
    over = ", ".join(f"{axis.name} {', '.join(axis.values)}" for axis in axes)
    return Study(
        name=f"{re.sub(r'[^A-Za-z0-9-]+', '-', workload)}-sweep",
        title=f"{workload} over {over}",
        points=points,
        budget_s=request.budget_s,
        command=request.command,
    )


def _too_many(axes: Sequence[Axis], count: int, contenders: int) -> str:
    """Say how many combinations there are, and how long they would take."""
    sizes = " x ".join(str(len(axis.values)) for axis in axes)
    hours = count * contenders * CONTENDER_S / 3600
    return (
        f"{sizes} values are {count:,} combinations, at about a minute for each of {contenders} contenders "
        f"some {hours:,.1f} hours; valid: up to {MOST_POINTS} combinations"
    )


def _point(request: Request, axes: Sequence[Axis], values: tuple[str, ...], excluded: dict[str, str]) -> Point:
    """Give one combination's comparison, checked."""
    coordinates = {axis.name: value for axis, value in zip(axes, values, strict=True)}
    for name, value in coordinates.items():
        request = _with_value(request, name, value)
    request, left_out = _fitting(request)
    checked(request)
    title = ", ".join(f"{name} {value}" for name, value in coordinates.items())
    return Point(title=title, coordinates=coordinates, request=request, left_out=excluded | left_out)


def _with_value(request: Request, name: str, value: str) -> Request:
    """Set one value."""
    if name != BATCH_SIZE:
        return msgspec.structs.replace(request, options=request.options | {name: value})
    return msgspec.structs.replace(request, batch_size=number(value, BATCH_SIZE))


def _fitting(request: Request) -> tuple[Request, dict[str, str]]:
    """Leave out the contenders whose framework lacks what is asked of all; raise UsageError where none is left."""
    cores = usable_cores()
    fitting, left_out, first = [], {}, None
    for text in request.contenders:
        contender = parse_contender(text)
        info = framework(contender.framework).info
        # What a contender's own words ask for must be possible anywhere.
        resolve_options(info, contender, {}, cores)
        try:
            resolve_options(info, contender, run_wide(request), cores)
        except UsageError as error:
            left_out[text], first = str(error), first or error
        else:
            fitting.append(text)
    if not fitting and first is not None:
        raise first
    return msgspec.structs.replace(request, contenders=tuple(fitting)), left_out
