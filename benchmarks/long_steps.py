"""What the turns of a round are worth where steps are long: raw records of races are read again with fewer of them.

    python benchmarks/long_steps.py FOLDER ... [--output STEM]

Each folder holds a race of two contenders that took eight turns in every round. By number of turns: `sd` is the
standard deviation over rounds of the logarithm of their ratio, the mean over all runs of so many neighbouring turns;
`round` the seconds of a round's steps, with the warm-up and the fenced part that go with so many turns; and `time`
how long it takes to an interval of the same width, over that with eight turns: sd squared times the seconds of a
round and 10 more, in which its processes start, import and build. `lead` is the time of a lead-in's step over that of
the timed steps behind it, and `warm 3` to `warm 10` that of a step of the warm-up.
"""

from __future__ import annotations

import argparse
import math
import statistics
from pathlib import Path
from typing import TYPE_CHECKING, Any

from results import write

from bakeoff.race.stages.rounds import BLOCK, TURNS, round_steps
from bakeoff.stats.differences import ping_pong_difference
from bakeoff.store.files import read_comparison
from bakeoff.store.results import finished, of_purpose, read_records

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bakeoff.spec.record import Record

START_S = 10.0
"""Of a round's processes beside their steps."""

NS = 1e-9
WARM = (3, 4, 6, 10)
"""Steps of the warm-up that are shown, counted from 1."""


def turns_of(record: Record) -> dict[int, float]:
    """Give a trial's planned turns, each with the seconds of a step."""
    planned = [block for block in record.blocks if block.repeats is None]
    return {block.turn: block.elapsed_ns * NS / len(block.steps_ns) for block in planned}


def spread(pairs: Sequence[tuple[dict[int, float], dict[int, float]]], count: int) -> float:
    """Give the standard deviation over rounds of the log ratio of so many neighbouring turns, from an even one on."""
    found = []
    for start in range(0, TURNS.usual - count + 1, 2):
        wanted = range(start, start + count)
        logs = [
            ping_pong_difference({turn: one[turn] for turn in wanted}, {turn: other[turn] for turn in wanted})
            for one, other in pairs
        ]
        found.append(statistics.variance([one for one in logs if one is not None]))
    return math.sqrt(statistics.fmean(found))


def rows_of(folder: Path) -> list[dict[str, Any]]:
    """Give the rows of a race."""
    comparison = read_comparison(folder)
    timed = finished(of_purpose(list(read_records(folder).records.values()), "time"))
    labels = [plan.contender.label for plan in comparison.contenders]
    by_round: dict[int, dict[str, Record]] = {}
    for record in timed:
        by_round.setdefault(record.trial.round_number, {})[record.trial.contender.label] = record
    whole = [one for one in by_round.values() if set(one) == set(labels)]
    pairs = [(turns_of(one[labels[0]]), turns_of(one[labels[1]])) for one in whole]
    steps_s = [statistics.median(step for one in whole for step in turns_of(one[label]).values()) for label in labels]
    shares = _shares([one[label] for one in whole for label in labels])
    rows = []
    widest = 0.0
    for count in (TURNS.usual, 6, 4, 2):
        round_s = sum(_round_s(step_s, count) for step_s in steps_s)
        sd = spread(pairs, count)
        cost = sd**2 * (round_s + START_S)
        widest = widest or cost
        rows.append(
            {
                "race": f"{comparison.workload.name}, batch {comparison.batch_size}: {', '.join(labels)}",
                "rounds": len(whole),
                "steps (s)": " and ".join(f"{one:.2f}" for one in steps_s),
                "turns": count,
                "sd (%)": f"{100 * sd:.2f}",
                "round (s)": f"{round_s:.0f}",
                "time": f"{cost / widest:.2f}",
            }
            | shares
        )
    return rows


def _round_s(step_s: float, turns: int) -> float:
    """Give the seconds of a contender's steps in a round."""
    return step_s * (round_steps(step_s) - (TURNS.usual - turns) * (1 + BLOCK.fewest_steps))


def _shares(records: Sequence[Record]) -> dict[str, str]:
    """Give the medians over processes of what lead-ins and steps of the warm-up take, over the timed steps."""
    found: dict[str, list[float]] = {"lead": [], **{f"warm {place}": [] for place in WARM}}
    for record in records:
        middle_s = statistics.median(turns_of(record).values())
        found["lead"] += [
            block.lead_ns * NS / block.lead_steps / middle_s for block in record.blocks if block.lead_steps
        ]
        for place in WARM:
            if len(record.warm_steps_ns) >= place:
                found[f"warm {place}"].append(record.warm_steps_ns[place - 1] * NS / middle_s)
    return {name: f"{statistics.median(values):.3f}" if values else "" for name, values in found.items()}


def main() -> None:
    """Read, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    write([row for folder in options.folders for row in rows_of(folder)], __doc__ or "", options.output)


if __name__ == "__main__":
    main()
