"""What a reader must know of the GPU's clock, heat and neighbours; nothing is dropped for it."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

import msgspec

from bakeoff.report.page import Line, Section, Subject, Table
from bakeoff.report.units import UNKNOWN, listed, percent
from bakeoff.spec.gpu import BY_HAND, POWER_LIMIT
from bakeoff.spec.text import count

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bakeoff.judge.gpu import GpuRound
    from bakeoff.judge.outcome import ContenderOutcome, Outcome

APART = 0.02
"""Mean clocks of two contenders in one round that lie further apart shift their ratio by as much (docs/timing.md)."""

LOW = 0.75
"""Below this share of the clock that it goes to by itself a GPU is held back: nvbench throws such measurements away."""

OWN_DOING = {POWER_LIMIT, BY_HAND}
"""Reasons for a clock that is no disturbance: a framework that draws all the power that the GPU may have runs at a
lower clock because of how it computes, which belongs to the result; and clocks set by hand stay where they are."""


def _cautions(outcome: Outcome) -> list[str]:
    """Return the warnings about the GPU, in sentences."""
    said = [sentence for contender in outcome.contenders for sentence in _contender(contender)]
    apart = _rounds_apart(outcome)
    if apart:
        said.append(
            f"The GPU's clock differed between contenders by more than {percent(APART)} in {count(apart, 'round')}, "
            "and not by the power limit: their ratios hold that difference. Fix the clocks (sudo nvidia-smi -lgc MHZ)."
        )
    return said


def _contender(contender: ContenderOutcome) -> list[str]:
    """Return the warnings about one contender's rounds."""
    rounds = contender.gpu
    said = []
    low = [one for one in rounds if _is_held_back(one)]
    if low:
        limit = low[0].clock_limit_mhz
        said.append(
            f"{contender.label}: the GPU's clock was below {percent(LOW)} of its {limit:,} MHz in "
            f"{_of(low, rounds)}{_why(low)}. Let it cool, or fix the clocks (sudo nvidia-smi -lgc MHZ), and run again."
        )
    others = [one for one in rounds if one.other_processes]
    if others:
        said.append(
            f"{contender.label}: other processes computed on the GPU in {_of(others, rounds)}: nvidia-smi names them."
        )
    return said


def _is_held_back(one: GpuRound) -> bool:
    """Return whether a round's clock was low, and not by the contender's own doing or the user's."""
    if not (one.clock_mhz and one.clock_limit_mhz) or one.clock_mhz >= LOW * one.clock_limit_mhz:
        return False
    return not _is_explained(one)


def _is_explained(one: GpuRound) -> bool:
    """Return whether the driver's only reasons for a low clock are those that are no disturbance."""
    return bool(one.slowed) and OWN_DOING.issuperset(one.slowed)


def _rounds_apart(outcome: Outcome) -> int:
    """Return the number of rounds whose clocks differ too much, for another reason than the power limit."""
    rounds: dict[int, list[GpuRound]] = {}
    for contender in outcome.contenders:
        for one in contender.gpu:
            if one.clock_mhz:
                rounds.setdefault(one.round_number, []).append(one)
    return sum(_is_apart(seen) for seen in rounds.values())


def _is_apart(seen: Sequence[GpuRound]) -> bool:
    """Return whether a clock of a round lies below its highest, and that contender's power does not explain it."""
    highest = max(one.clock_mhz or 0.0 for one in seen)
    low = [one for one in seen if highest > (1 + APART) * (one.clock_mhz or 0.0)]
    return any(POWER_LIMIT not in one.slowed or not _is_explained(one) for one in low)


def _of(some: list[GpuRound], rounds: list[GpuRound]) -> str:
    """Return in how many of the rounds."""
    return f"{len(some)} of {count(len(rounds), 'round')}"


def _why(rounds: list[GpuRound]) -> str:
    """Return the driver's reasons, and how hot it was."""
    reasons = sorted({reason for one in rounds for reason in one.slowed})
    hottest = max((one.temperature_c for one in rounds if one.temperature_c is not None), default=None)
    heat = "" if hottest is None else f"; {hottest} degrees Celsius at most"
    return (f" ({listed(reasons)})" if reasons else "") + heat


def gpu_table(outcome: Outcome) -> Table:
    """Return clock, power and heat of the GPU while each contender was timed."""
    lines = [_line(one) for one in outcome.contenders if one.gpu]
    return Table(["contender", "GPU clock", "power", "hottest", "slowed by", "other processes"], lines, words=1)


def _line(contender: ContenderOutcome) -> Line:
    """Return one contender's state over all of its rounds."""
    rounds = contender.gpu
    clock = _over(rounds, lambda one: one.clock_mhz, statistics.fmean, "")
    limit = max((one.clock_limit_mhz for one in rounds if one.clock_limit_mhz), default=None)
    slowed = sorted({reason for one in rounds for reason in one.slowed})
    return Line(
        [
            contender.label,
            f"{clock} of {limit:,} MHz" if limit else f"{clock} MHz",
            _over(rounds, lambda one: one.power_w, statistics.fmean, "W"),
            _over(rounds, lambda one: one.temperature_c, max, "degrees Celsius"),
            listed(slowed) if slowed else "nothing",
            _over(rounds, lambda one: one.other_processes, max, ""),
        ]
    )


def _over(
    rounds: Sequence[GpuRound],
    read: Callable[[GpuRound], float | None],
    together: Callable[[list[float]], float],
    unit: str,
) -> str:
    """Return a value over all rounds with its unit."""
    known = [value for one in rounds if (value := read(one)) is not None]
    return f"{together(known):,.0f} {unit}".strip() if known else UNKNOWN


NOTE = (
    "Read by NVML beside each block. A contender at the power limit runs at a lower clock because of how it computes: "
    "that belongs to the result."
)


def _sections(outcome: Outcome) -> list[Section]:
    """Return the fold, where contenders ran on an NVIDIA GPU."""
    if not any(one.gpu for one in outcome.contenders):
        return []
    return [Section(kind="fold", title="GPU", notes=[NOTE], tables=[gpu_table(outcome)])]


GPU = Subject(
    sections=_sections,
    cautions=_cautions,
    fields=lambda contender: {"gpu": msgspec.to_builtins(contender.gpu)},
)
