"""Studies made by hand, for every case that a report has to put into words and pictures."""

from __future__ import annotations

import msgspec
import pytest
from tests.report.conftest import comparison, outcome, plan, ranked, verdict

from bakeoff.judge.outcome import ContenderOutcome, Outcome
from bakeoff.judge.study import PointOutcome, StudyOutcome
from bakeoff.spec.request import Request
from bakeoff.spec.study import Point, Study
from bakeoff.spec.verdict import Interval, Verdict

LABELS = ("torch", "jax", "tensorflow")

# Step time in ms by batch size: a fixed part and one for each sample, so that the lead changes on the way.
STEPS_MS = {
    label: {size: fixed + each * size for size in (8, 16, 32, 64, 128)}
    for label, fixed, each in (("torch", 0.30, 0.020), ("jax", 0.62, 0.0115), ("tensorflow", 0.75, 0.0118))
}


def contender(label: str, step_ms: float, batch_size: int) -> ContenderOutcome:
    """Make a contender whose interval is 4 % wide."""
    step_s = Interval(estimate=step_ms / 1e3, low=step_ms * 0.98 / 1e3, high=step_ms * 1.021 / 1e3)
    made = ranked(label, step_s, 0.3, 200)
    return msgspec.structs.replace(made, samples_per_s=batch_size / step_s.estimate)


def pair(first: ContenderOutcome, second: ContenderOutcome) -> Verdict:
    """Decide a pair as its ratio tells: beyond 8 % decided, within 2 % equal, between them undecided."""
    ratio = (first.median_step_s or 0) / (second.median_step_s or 1)
    half = 1.07 if 1 / 1.08 < ratio < 1.08 else 1.05
    word = "slower" if ratio > 1.08 else "faster" if ratio < 1 / 1.08 else "undecided"
    if 1 / 1.02 < ratio < 1.02:
        half, word = 1.02, "equal"
    return verdict(first.label, second.label, word, ratio, ratio / half, ratio * half)


def raced(contenders: list[ContenderOutcome], batch_size: int, **changes: object) -> Outcome:
    """Make the outcome of one point."""
    there = [one for one in contenders if one.status == "ranked"]
    verdicts = [pair(first, second) for index, first in enumerate(there) for second in there[index + 1 :]]
    made = outcome(contenders, verdicts, path=f"results/sweep-4f2a/mlp-mnist-{batch_size:04x}", **changes)
    asked = comparison([one.label for one in contenders], id=f"mlp-mnist-{batch_size:04x}", batch_size=batch_size)
    return msgspec.structs.replace(made, comparison=asked)


def study(points: list[PointOutcome], title: str) -> StudyOutcome:
    """Make a study's outcome."""
    declared = Study(
        name="sweep",
        title=title,
        points=[one.point for one in points],
        command="bakeoff run mlp-mnist --batch-size 8,16",
    )
    return StudyOutcome(
        study=declared,
        id="sweep-4f2a",
        path="results/sweep-4f2a",
        created_at="2026-10-17T12:00:00Z",
        bakeoff="0.1.0",
        points=points,
    )


def point(
    outcome: Outcome | None, reason: str = "", left_out: dict[str, str] | None = None, **place: str
) -> PointOutcome:
    """Make one point."""
    coordinates = {axis.replace("_", " "): value for axis, value in place.items()}
    title = ", ".join(f"{axis} {value}" for axis, value in coordinates.items())
    declared = Point(
        title=title, coordinates=coordinates, request=Request(workload="mlp-mnist"), left_out=left_out or {}
    )
    return PointOutcome(point=declared, outcome=outcome, reason=reason)


@pytest.fixture
def batches() -> StudyOutcome:
    """Three contenders over five batch sizes: the lead changes, and one has no figure at the largest."""
    points = []
    for size in (8, 16, 32, 64, 128):
        contenders = [contender(label, STEPS_MS[label][size], size) for label in LABELS]
        if size == 128:
            contenders[0] = ContenderOutcome(
                plan=plan("torch"), label="torch", status="failed", reason="killed: the kernel had no memory left"
            )
        points.append(
            point(raced(contenders, size, calm=size != 32, flagged_rounds=2 * (size == 32)), batch_size=f"{size}")
        )
    return study(points, "mlp-mnist over batch size 8, 16, 32, 64, 128")


@pytest.fixture
def modes() -> StudyOutcome:
    """Two contenders over two axes of words: one lacks a value, and one point could not be had."""
    pair_at = [contender("torch", 1.0, 32), contender("jax", 1.05, 32)]
    alone = [contender("torch", 0.6, 32)]
    lacks = {"jax": "asked of all contenders: JAX does not have mode=graph; possible: eager, compiled"}
    points = [
        point(raced(pair_at, 32), mode="eager", precision="float32"),
        point(None, "no contender can race. torch: not installed here", mode="eager", precision="bfloat16"),
        point(raced(alone, 32), left_out=lacks, mode="graph", precision="float32"),
        point(raced([contender("torch", 0.4, 32)], 32), left_out=lacks, mode="graph", precision="bfloat16"),
    ]
    return study(points, "mlp-mnist over mode eager, graph, precision float32, bfloat16")


@pytest.fixture
def threads() -> StudyOutcome:
    """Two contenders over two axes, one of numbers: every pair decided, by one of them everywhere."""
    points = [
        point(
            raced([contender("torch", 4.0 / share, 32), contender("jax", 2.5 / share, 32)], 32),
            malloc=malloc,
            threads=f"{count}",
        )
        for malloc in ("settled", "fresh")
        for count, share in ((1, 1.0), (2, 1.8), (4, 2.9))
    ]
    return study(points, "mlp-mnist over malloc settled, fresh, threads 1, 2, 4")


@pytest.fixture
def empty() -> StudyOutcome:
    """A study that was cut off before its first round."""
    return study([point(None, "its turn has not come", batch_size="8")], "mlp-mnist over batch size 8")
