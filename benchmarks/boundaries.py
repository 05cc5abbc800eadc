"""Make the boundaries of `bakeoff.stats.boundaries`, and the multipliers of `bakeoff.stats.size`.

    OMP_NUM_THREADS=1 python benchmarks/boundaries.py [--samples N] [--output STEM] [--table FILE.py]

Under normal noise a pair's boundary depends on its own 20 differences and on one chi-square with 4 degrees of freedom,
which is what the prior adds (the spread of the pair's sum against the other contenders, over 5 rounds). So a draw is 21
numbers, whatever the number of contenders. At each look n the statistic gets the level L n / 20 by its own simulated
distribution, the sign test a fifth of that by the binomial one; L is the largest at which a pair that does not differ
is called different in SPENT / m of all draws, over all looks, for each size m of the family.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from results import write

from bakeoff.stats.boundaries import FROM_SIGN, LOOKS, MAX_FAMILY, SPENT, sign_levels

if TYPE_CHECKING:
    from collections.abc import Iterator

Floats = NDArray[np.float32]
CHUNK = 20_000  # rows at a time: bounds the memory
SEED = 12
SIZE_SEED = 13
SIGN_SHARE = 0.2
"""Of a look's level, spent by the sign test: enough to decide where a few wild rounds hide a difference that nearly
all rounds show, and little enough that bursts of one contender alone name hardly any winner."""
RISING = 1.0
"""Levels rise with this power of the rounds: early looks, whose spread is hardly known, get little."""
SIZE_LEVEL = 0.03
FIRST_ROUNDS, PRIOR = 5, 4


class Draws(NamedTuple):
    """What the boundaries are made of, for every draw and look."""

    own: Floats
    """The statistic with the pair's own variance, (looks, draws)."""
    moderated: Floats
    """The same with the prior."""
    sign: Floats
    """The two-sided level of the sign test, (looks from FROM_SIGN on, draws)."""


def pseudo_median(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give the median of all averages of two values, of each row."""
    first, second = np.triu_indices(rows.shape[1])
    averages = (rows[:, first] + rows[:, second]) / 2.0
    last = averages.shape[1] - 1
    places = sorted({last // 2, last - last // 2})
    found: NDArray[np.float64] = np.partition(averages, places, axis=1)[:, places].mean(1)
    return found


def nearest(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give how far mean and pseudo-median of each row both lie from zero; 0 where they lie on different sides."""
    middle, mean = pseudo_median(rows), rows.mean(1)
    return np.where(middle * mean > 0.0, np.minimum(np.abs(middle), np.abs(mean)), 0.0)


def one_chunk(generator: np.random.Generator) -> Draws:
    """Draw CHUNK pairs that do not differ."""
    rows, other = generator.standard_normal((CHUNK, LOOKS[-1])), generator.chisquare(PRIOR, CHUNK)
    freedom = FIRST_ROUNDS - 1
    prior = (freedom * rows[:, :FIRST_ROUNDS].var(1, ddof=1) + other) / (freedom + PRIOR)
    own, moderated, sign = [], [], []
    for look in LOOKS:
        seen = rows[:, :look]
        variance = seen.var(1, ddof=1)
        both = (PRIOR * prior + (look - 1) * variance) / (PRIOR + look - 1)
        distance = nearest(seen) * math.sqrt(look)
        own.append(distance / np.sqrt(variance))
        moderated.append(distance / np.sqrt(both))
        if look >= FROM_SIGN:
            above = (seen > 0.0).sum(1)
            sign.append(np.array(sign_levels(look))[np.minimum(above, look - above)])
    return Draws(*(np.array(found, dtype=np.float32) for found in (own, moderated, sign)))


def draw(samples: int) -> Draws:
    """Draw so many pairs."""
    generator = np.random.default_rng(SEED)
    chunks = [one_chunk(generator) for _ in range(samples // CHUNK)]
    return Draws(*(np.concatenate(parts, axis=1) for parts in zip(*chunks, strict=True)))


def smallest(statistic: Floats, ordered: Floats, sign: Floats) -> Floats:
    """Give for each draw the least L at which any look would call it different."""
    count = statistic.shape[1]
    least = np.full(count, np.inf, dtype=np.float32)
    for place, look in enumerate(LOOKS):
        weight = (look / LOOKS[-1]) ** RISING
        level = (count - np.searchsorted(ordered[place], statistic[place], side="left")) / count
        least = np.minimum(least, level / weight)
        if look >= FROM_SIGN:
            least = np.minimum(least, sign[place - len(LOOKS)] / (SIGN_SHARE * weight))
    return least


def rows_of(statistic: Floats, sign: Floats) -> Iterator[tuple[tuple[float, ...], tuple[int | None, ...]]]:
    """Yield the boundaries for families of 1, 2, ... pairs."""
    ordered = np.sort(statistic, axis=1)
    least = np.sort(smallest(statistic, ordered, sign))
    count = len(least)
    for family in range(1, MAX_FAMILY + 1):
        allowed = math.floor(count * SPENT / family)
        # All draws up to this one are called different, and none of those that share the next value.
        level = float(least[np.searchsorted(least, least[allowed], side="left") - 1])
        levels = [level * (look / LOOKS[-1]) ** RISING for look in LOOKS]
        multipliers = [float(ordered[i][math.ceil(count * (1.0 - one)) - 1]) for i, one in enumerate(levels)]
        late = [(look, one) for look, one in zip(LOOKS, levels, strict=True) if look >= FROM_SIGN]
        indices = [sum(p <= SIGN_SHARE * one for p in sign_levels(look)) - 1 for look, one in late]
        yield tuple(round(one, 2) for one in multipliers), tuple(None if i < 0 else i for i in indices)


def size_multipliers(samples: int) -> dict[int, float]:
    """Give, for 3 to 9 rounds, how many standard errors around the pseudo-median cover the truth at SIZE_LEVEL."""
    generator = np.random.default_rng(SIZE_SEED)
    far: dict[int, list[Floats]] = {count: [] for count in range(3, FROM_SIGN)}
    for _ in range(samples // CHUNK):
        rows = generator.standard_normal((CHUNK, FROM_SIGN - 1))
        for count, found in far.items():
            seen = rows[:, :count]
            distance = np.abs(pseudo_median(seen)) * math.sqrt(count) / seen.std(1, ddof=1)
            found.append(distance.astype(np.float32))
    return {count: float(np.quantile(np.concatenate(found), 1.0 - SIZE_LEVEL)) for count, found in far.items()}


def main() -> None:
    """Make the tables, print them, and write them where asked."""
    parser = argparse.ArgumentParser(description="Make the boundaries of bakeoff.stats.boundaries.")
    parser.add_argument("--samples", type=int, default=4_000_000)
    parser.add_argument("--output", type=Path)
    parser.add_argument("--table", type=Path, help="write the two tables as Python, to be pasted")
    options = parser.parse_args()
    draws = draw(options.samples)
    tables = {"own": list(rows_of(draws.own, draws.sign)), "moderated": list(rows_of(draws.moderated, draws.sign))}
    sizes = size_multipliers(options.samples)
    told: list[dict[str, Any]] = []
    for name, rows in tables.items():
        for family, (multipliers, indices) in enumerate(rows, start=1):
            keys = [f"c_{n}" for n in LOOKS] + [f"s_{n}" for n in LOOKS if n >= FROM_SIGN]
            cells = dict(zip(keys, [*multipliers, *indices], strict=True))
            told.append(
                {"variance": name, "open pairs": family} | {k: "-" if v is None else v for k, v in cells.items()}
            )
    sized = ", ".join(f"{count} rounds {value:.2f}" for count, value in sizes.items())
    about = f"{__doc__}\n{options.samples:,} draws, seed {SEED}. Multipliers of the size's interval: {sized}."
    write(told, about, options.output)
    if options.table:
        text = "".join(
            f"_{name.upper()} = (\n" + "".join(f"    {row},\n" for row in rows) + ")\n" for name, rows in tables.items()
        )
        options.table.write_text(text + f"MULTIPLIERS = { ({n: round(c, 3) for n, c in sizes.items()}) }\n")


if __name__ == "__main__":
    main()
