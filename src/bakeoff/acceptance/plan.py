"""Which checks an acceptance has, in their order: what proves most in the least time comes first."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from bakeoff.acceptance import checks
from bakeoff.judge.acceptance import ROOM
from bakeoff.race.specs import folder_names
from bakeoff.spec.acceptance import CheckResult

if TYPE_CHECKING:
    from collections.abc import Callable

    from bakeoff.acceptance.setting import Setting
    from bakeoff.spec.acceptance import Finding

HOUR_S = 3600.0
"""What the checks' shares of time are stated for; a shorter budget shortens each."""


class PlannedCheck(NamedTuple):
    """One check that can be made."""

    result: CheckResult
    """As long as it is not reached."""
    make: Callable[[Setting], Finding]


def planned(contenders: tuple[str, ...], device: str, *, quick: bool) -> list[PlannedCheck]:
    """Return the checks of these contenders on a device."""
    return [*_first(quick=quick), *_precision(contenders, device), *_times(contenders, quick=quick)]


def _check(key: str, title: str, expected: str, most_s: float, make: Callable[[Setting], Finding]) -> PlannedCheck:
    """Return a check."""
    return PlannedCheck(CheckResult(key=key, title=title, expected=expected, most_s=most_s), make)


def _certificates(workload: str, most_s: float, *, quick: bool) -> PlannedCheck:
    """Return the check of one workload's certificates."""
    seeds = checks.QUICK_SEEDS if quick else checks.SEEDS
    expected = f"pass at {seeds} seeds, within {ROOM:g} of what is allowed"
    make = partial(checks.certificates, workload=workload)
    return _check(f"certificates-{workload}", f"same work: {workload}", expected, most_s, make)


def _first(*, quick: bool) -> list[PlannedCheck]:
    """Return what everything else rests on."""
    tests = "doubling, profiler, fetching: no clock fails"
    found = [
        _check("devices", "devices", "each environment works and has the device", 120, checks.devices),
        _check("timers", "timers' self-tests", tests, 360, checks.timers),
        _certificates(checks.SHORTEST, 180, quick=quick),
    ]
    return found if quick else [*found, _certificates(checks.WITH_CONVOLUTIONS, 300, quick=quick)]


def _precision(contenders: tuple[str, ...], device: str) -> list[PlannedCheck]:
    """Return the checks of each contender's arithmetic."""
    refused = f"{'TF32' if device == 'cuda' else 'a shorter precision'} in place of float32: refused"
    faster = "takes less time than float32"
    names = folder_names(contenders)
    planted = [
        _check(f"planted-{names[one]}", f"planted fault: {one}", refused, 90, partial(checks.injected, contender=one))
        for one in contenders
    ]
    raced = [
        _check(f"tf32-{names[one]}", f"TF32: {one}", faster, 150, partial(checks.tf32, contender=one))
        for one in contenders
    ]
    return [*planted, *raced]


def _times(contenders: tuple[str, ...], *, quick: bool) -> list[PlannedCheck]:
    """Return the checks of the times, and the certificates that take longest."""
    first, names = contenders[0], folder_names(contenders)
    beside = "as long as alone, within 2 %"
    loop = "as long as a bare loop, within 2 %"
    found = [
        _check("itself", f"{first} against itself", "no winner", 150, checks.itself),
        _check(checks.RACE, "race of all", "every contender certified and timed", 600, checks.race),
        _check("light", "rates of work", "FLOP/s below the machine's measured peak", 120, checks.light),
        _check("ping-pong", "ping-pong against alone", beside, 240, checks.ping_pong),
        *(
            _check(f"bare-{names[one]}", f"bare loop: {one}", loop, 90, partial(checks.bare, contender=one))
            for one in contenders
        ),
        _check("max-batch", "largest batch", "found for all, under one limit", 420, checks.batches),
    ]
    large = [] if quick else [_certificates("resnet50", 480, quick=quick), _certificates("vit-b16", 300, quick=quick)]
    return [*found[:-1], *large, found[-1]]
