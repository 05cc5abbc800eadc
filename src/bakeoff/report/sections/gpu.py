"""What a reader must know of the GPU's clock, heat and neighbours; nothing is dropped for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from bakeoff.report.page import Subject
from bakeoff.report.units import count, listed, percent

if TYPE_CHECKING:
    from bakeoff.judge.gpu import GpuRound
    from bakeoff.judge.outcome import ContenderOutcome, Outcome

APART = 0.02
"""Mean clocks of two contenders in one round that lie further apart shift their ratio by as much (docs/method.md)."""

LOW = 0.75
"""Below this share of its highest clock a GPU is held back: nvbench throws such measurements away."""


def _cautions(outcome: Outcome) -> list[str]:
    """Return the warnings about the GPU, in sentences."""
    said = [sentence for contender in outcome.contenders for sentence in _contender(contender)]
    apart = _rounds_apart(outcome)
    if apart:
        said.append(
            f"The GPU's clock differed between contenders by more than {percent(APART)} in {count(apart, 'round')}: "
            "their ratios hold that difference."
        )
    return said


def _contender(contender: ContenderOutcome) -> list[str]:
    """Return the warnings about one contender's rounds."""
    rounds = contender.gpu
    said = []
    low = [one for one in rounds if one.clock_mhz and one.clock_limit_mhz and one.clock_mhz < LOW * one.clock_limit_mhz]
    if low:
        limit = low[0].clock_limit_mhz
        said.append(
            f"{contender.label}: the GPU's clock was below {percent(LOW)} of its {limit:,} MHz in "
            f"{_of(low, rounds)}{_why(low)}. Let it cool, or fix the clocks (nvidia-smi -lgc), and run again."
        )
    others = [one for one in rounds if one.other_processes]
    if others:
        said.append(
            f"{contender.label}: other processes computed on the GPU in {_of(others, rounds)}: nvidia-smi names them."
        )
    return said


def _rounds_apart(outcome: Outcome) -> int:
    """Return the number of rounds whose clocks differ too much."""
    clocks: dict[int, list[float]] = {}
    for contender in outcome.contenders:
        for one in contender.gpu:
            if one.clock_mhz:
                clocks.setdefault(one.round_number, []).append(one.clock_mhz)
    return sum(max(seen) > (1 + APART) * min(seen) for seen in clocks.values())


def _of(some: list[GpuRound], rounds: list[GpuRound]) -> str:
    """Return in how many of the rounds."""
    return f"{len(some)} of {count(len(rounds), 'round')}"


def _why(rounds: list[GpuRound]) -> str:
    """Return the driver's reasons, and how hot it was."""
    reasons = sorted({reason for one in rounds for reason in one.slowed})
    hottest = max((one.temperature_c for one in rounds if one.temperature_c is not None), default=None)
    heat = "" if hottest is None else f"; {hottest} degrees Celsius at most"
    return (f" ({listed(reasons)})" if reasons else "") + heat


GPU = Subject(cautions=_cautions, fields=lambda contender: {"gpu": msgspec.to_builtins(contender.gpu)})
