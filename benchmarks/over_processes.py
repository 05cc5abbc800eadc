"""The ratio of two sides that take steps by turns, over several fresh processes with both sides in each.

A process draws the layout of its memory and its kernels once, and all of its turns share that draw: an interval over
turns holds for that process alone. So a process gives one number, the median over its turns, and the interval is over
processes (docs/verdicts.md, "The unit of evidence is a fresh process").
"""

from __future__ import annotations

import argparse
import math
from typing import TYPE_CHECKING, Any

from zoo_pairs import verdict

from bakeoff.stats.differences import ping_pong_difference, process_median

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Case = tuple[str, str]
    """A pair, and a workload."""

    Taken = dict[str, Any]
    """What one process gives: the seconds of each side turn by turn, or why it is refused."""

PROCESSES = 7
"""With 6 the interval of 95 % by signed ranks reaches from the lowest to the highest process; from 7 on it does not."""


def count(text: str) -> int:
    """Read how many processes are asked for; an argparse type."""
    from bakeoff.stats.intervals import MIN_VALUES  # SciPy is not in every framework's environment

    found = int(text)
    if found < MIN_VALUES:
        msg = f"{found} processes give no interval: at least {MIN_VALUES}"
        raise argparse.ArgumentTypeError(msg)
    return found


def measured(cases: Sequence[Case], processes: int, measure: Callable[[str, str], Taken]) -> dict[Case, list[Taken]]:
    """Measure every case in so many fresh processes, all cases before any again; one that is refused is asked once."""
    found: dict[Case, list[Taken]] = {case: [] for case in cases}
    for number in range(1, processes + 1):
        for case, taken in found.items():
            if taken and "refused" in taken[0]:
                continue
            taken.append(measure(*case))
            print(number, *case, taken[-1].get("refused") or f"{math.exp(difference(taken[-1])):.3f}", flush=True)
    return found


def difference(taken: Taken) -> float:
    """Give log(by hand / ours) of one process."""
    found = ping_pong_difference(*(dict(enumerate(taken[side])) for side in ("by hand", "ours")))
    assert found is not None
    return found


def told(case: Case, batch: int, taken: list[Taken]) -> dict[str, Any]:
    """Give a case's row: medians over processes, the ratio with its interval, and the ratio of each process."""
    from bakeoff.stats.intervals import fixed_interval

    row: dict[str, Any] = {"pair": case[0], "workload": case[1], "batch": batch}
    if "refused" in taken[0]:
        nothing = dict.fromkeys(("ours (ms)", "by hand (ms)", "ratio", "of each process"), "")
        return row | nothing | {"processes": 0, "turns": 0, "told": taken[0]["refused"]}
    differences = [difference(one) for one in taken]
    interval = fixed_interval(differences, 0.95)
    assert interval is not None  # count() asks for enough processes
    ratio, low, high = (math.exp(value) for value in (interval.estimate, interval.low, interval.high))
    turns = [len(one["ours"]) for one in taken]
    return row | {
        "ours (ms)": _milliseconds(taken, "ours"),
        "by hand (ms)": _milliseconds(taken, "by hand"),
        "ratio": f"{ratio:.3f} [{low:.3f}, {high:.3f}]",
        "of each process": " ".join(f"{math.exp(value):.3f}" for value in differences),
        "processes": len(taken),
        "turns": min(turns) if min(turns) == max(turns) else f"{min(turns)} to {max(turns)}",
        "told": verdict(low, high),
    }


def _milliseconds(taken: list[Taken], side: str) -> float:
    """Give the median over processes of a side's step."""
    return round(process_median([process_median(one[side]) for one in taken]) * 1e3, 3)
