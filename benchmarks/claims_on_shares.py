"""How often claims on shares of a step are told to be on the wrong side, from known truths.

    OMP_NUM_THREADS=1 python benchmarks/claims_on_shares.py [--studies N] [--output STEM]

A share is that of one of two parts of a step. In each of 5 rounds of traces the times of both are noisy, as two
contenders of deciding_noise.py are; the last regime has the same noise in all shares of a study. The truth of a share
is its mean over all rounds of all studies. A study has 6 claims of one kind, on 2 or 3 shares each, whose intervals all
hold together. "A / B" are shares of studies, for truths on the edge of what is claimed: A told some claim to hold, B
told some not to hold. A truth just outside of the claim makes each of A wrong, one just inside each of B; where
rounds are independent, neither may exceed 5 %. "Clear" leaves the truth 5 percent points of room: the share of claims
that are told right.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from deciding_noise import Floats, noise
from results import write

from bakeoff.judge.claim_quantity import quantity, standing_of
from bakeoff.judge.profile import CONFIDENCE
from bakeoff.race.stages.explain import ROUNDS
from bakeoff.spec.published import Claim
from bakeoff.stats.intervals import fixed_interval
from bakeoff.stats.together import of_rounds

if TYPE_CHECKING:
    from bakeoff.judge.claim_quantity import Standing
    from bakeoff.spec.published import ClaimKind

SEED = 71
CLAIMS = 6
PART, FAR = 0.8, 0.1
"""The share on the edge of a claim, and how far from it another lies that is not to decide."""
CLEAR = 0.05
"""How far the limit, or the lowest share, lies from a truth that is to be found."""
MARGIN = 0.05
"""Of equality, which no claim on shares asks for."""

REGIMES = (
    "calm",
    "noisy virtual machine",
    "Student's t, 3 degrees",
    "one has bursts in 20 % of rounds",
    "one has exponential delays",
    "2 % of processes 20 times wider",
    "autocorrelated, 0.5",
    "autocorrelated, 0.9",
    "each drifts by 5 %",
)
ALIKE = "noisy virtual machine, all alike"


class Case(NamedTuple):
    """One claim, of which a study has several."""

    kind: ClaimKind
    beyond: tuple[float, ...]
    """Of each share that it rests on, how far it lies beyond PART."""
    room: float = 0.0
    """How far the limit leaves the truth inside; on the edge 0."""


EDGES = {
    "each, one on the edge": Case("each", (0.0, FAR)),
    "each, both": Case("each", (0.0, 0.0)),
    "most, one on the edge": Case("most", (0.0, -FAR)),
    "most, both": Case("most", (0.0, 0.0)),
    "about, mean on the edge": Case("about", (0.0, 0.0)),
    "least, one as low": Case("least", (0.0, 0.0, FAR)),
    "least, both as low": Case("least", (0.0, 0.0, 0.0)),
}
CLEARS = {
    "each, clear": Case("each", (0.0, 0.0), CLEAR),
    "most, clear": Case("most", (0.0, 0.0), CLEAR),
    "about, clear": Case("about", (0.0, 0.0), CLEAR),
    "least, clear": Case("least", (-CLEAR, 0.0, FAR)),
}


def shares(regime: str, case: Case, studies: int) -> Floats:
    """Give the shares of every round, (claims, shares, studies, rounds)."""
    return np.array(
        [
            [
                _share(regime, PART + beyond, studies, SEED + claim * len(case.beyond) + place)
                for place, beyond in enumerate(case.beyond)
            ]
            for claim in range(CLAIMS)
        ]
    )


def _share(regime: str, part: float, studies: int, seed: int) -> Floats:
    """Give one part's share of the time of two, (studies, rounds)."""
    known = "noisy virtual machine" if regime == ALIKE else regime
    logs = noise(known, studies, 2, SEED if regime == ALIKE else seed, ROUNDS)
    one, other = part * np.exp(logs[:, 0]), (1.0 - part) * np.exp(logs[:, 1])
    return one / (one + other)


def claim_of(case: Case, truths: Floats) -> Claim:
    """Give the claim whose limit is on the edge of these truths, or leaves them room."""
    percent, taken = 0.0, 0.0
    if case.kind == "each":
        percent = 100.0 * (truths.min() - case.room)
    elif case.kind == "most":
        percent = 100.0 * (truths.max() + case.room)
    elif case.kind == "about":
        taken = 100.0 * CLEAR
        percent = 100.0 * (truths.mean() - CLEAR + case.room)
    return Claim(text="", kind=case.kind, of="compute", percent=float(percent), taken_percent=taken)


def told(claim: Claim, rounds: Floats, together: int) -> Standing:
    """Judge a claim by its shares in every round, (shares, rounds), as a study's are."""
    intervals = [fixed_interval(values.tolist(), CONFIDENCE) for values in rounds]
    estimates = [of_rounds(one, ROUNDS) for one in intervals if one]
    return standing_of(claim, quantity(claim, estimates, together), MARGIN)


def standings(regime: str, case: Case, studies: int) -> list[list[Standing]]:
    """Give what is told of each claim of each study."""
    drawn = shares(regime, case, studies)
    claim = claim_of(case, drawn.mean(axis=(0, 2, 3)))
    together = CLAIMS * len(case.beyond)
    return [[told(claim, drawn[each, :, study], together) for each in range(CLAIMS)] for study in range(studies)]


def row(regime: str, studies: int) -> dict[str, Any]:
    """Give what became of every case in a regime."""
    found: dict[str, Any] = {"rounds": regime}
    for name, case in EDGES.items():
        made = standings(regime, case, studies)
        some = [np.mean([word in study for study in made]) for word in ("holds", "does not hold")]
        found[name] = f"{some[0]:.1%} / {some[1]:.1%}"
    for name, case in CLEARS.items():
        found[name] = f"{np.mean([study.count('holds') / CLAIMS for study in standings(regime, case, studies)]):.0%}"
    return found


def main() -> None:
    """Simulate, print the table, and write it where asked."""
    parser = argparse.ArgumentParser(description="Hold claims on shares to simulated rounds of traces.")
    parser.add_argument("--studies", type=int, default=1000)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    about = f"{__doc__}\n{options.studies:,} studies each, seed {SEED}."
    print(about)
    write([row(regime, options.studies) for regime in (*REGIMES, ALIKE)], about, options.output)


if __name__ == "__main__":
    main()
