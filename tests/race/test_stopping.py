"""The stopping rule of a comparison is that of the simulations which prove its error rate."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from bakeoff.judge.comparison import history
from bakeoff.race.progress import Event, RoundStarted
from bakeoff.stats.boundaries import LOOKS

NOISY = "process_noise=0.02"


@pytest.mark.parametrize("third_ms", [51.5, 500])
def test_the_conductor_and_the_simulation_run_the_same_rounds(
    race: Any, simulation: ModuleType, third_ms: float
) -> None:
    """On the same differences the same contenders run in each round, and the verdicts are the same."""
    events: list[Event] = []
    labels = [f"fake:step_ms={step_ms},{NOISY}" for step_ms in (50, 51, third_ms)]
    outcome = race(*labels, observe=events.append)
    ran = [event.labels for event in events if isinstance(event, RoundStarted)]
    rows = [[*pair.differences, *[None] * (LOOKS[-1] - outcome.rounds)] for pair in history(Path(outcome.path))]
    parts = list(simulation.stages(rows, len(labels)))
    names = [tuple(labels["abc".index(name)] for name in active) for active, rounds, _ in parts for _ in range(rounds)]
    assert len(ran) > LOOKS[0]
    assert names == ran
    assert [verdict.verdict for verdict in parts[-1][2]] == [verdict.verdict for verdict in outcome.verdicts]
