"""Studies held against published figures, with outcomes made by hand."""

from __future__ import annotations

import msgspec
import pytest
from tests.report.conftest import comparison, outcome, ranked, verdict

from bakeoff.judge.outcome import Outcome
from bakeoff.judge.study import PointOutcome, StudyOutcome
from bakeoff.spec.published import Declared, Reproduces
from bakeoff.spec.request import Request
from bakeoff.spec.study import Point, Study
from bakeoff.spec.verdict import Interval, VerdictKind
from bakeoff.study.published import load

STEPS_MS = {"tensorflow": 24.0, "torch": 27.0, "jax": 30.0}
ROWS = {"tensorflow": "tensorflow", "pytorch": "torch", "jittor": "jittor"}


def raced(declared: Declared, labels: list[str], batch_size: int, size: str, device: str) -> Outcome:
    """Make the outcome of one comparison: 1.125 times as long for torch, 1.25 times for jax, decided."""
    contenders = []
    for label in labels:
        step_s = STEPS_MS[label.partition(":")[0]] * batch_size / 8e3
        interval = Interval(estimate=step_s, low=step_s * 0.97, high=step_s * 1.03)
        one = ranked(label, interval, 0.3, 200)
        contender = msgspec.structs.replace(one.plan.contender, options=one.plan.contender.options | {"device": device})
        plan = msgspec.structs.replace(one.plan, contender=contender)
        contenders.append(msgspec.structs.replace(one, plan=plan, samples_per_s=batch_size / step_s))
    pairs = []
    for index, first in enumerate(contenders):
        for second in contenders[index + 1 :]:
            ratio = (first.median_step_s or 0) / (second.median_step_s or 1)
            word: VerdictKind = "slower" if ratio > 1 else "faster"
            pairs.append(verdict(first.label, second.label, word, ratio, ratio / 1.04, ratio * 1.04))
    made = outcome(contenders, pairs, path=f"results/study-4f2a/{declared.workload}-4f2a")
    asked = comparison(labels, id=f"{declared.workload}-4f2a", batch_size=batch_size, size=size)
    workload = msgspec.structs.replace(asked.workload, name=declared.workload)
    return msgspec.structs.replace(made, comparison=msgspec.structs.replace(asked, workload=workload))


def study(
    name: str,
    rows: dict[str, str],
    left_out: dict[str, str],
    *,
    scaled: bool,
    device: str,
    batch_size: int | None = None,
) -> StudyOutcome:
    """Make the outcome of a shipped study; `batch_size` is that of its scaled variant."""
    published = load(name)
    points = []
    for declared in published.comparisons:
        if scaled and declared.scaled is None:
            continue
        smaller = declared.scaled if scaled else None
        batch = batch_size or (smaller and smaller.batch_size) or declared.batch_size
        size = (smaller and smaller.size) or "full"
        labels = [label for label in rows.values() if label not in left_out]
        steps = smaller.steps if smaller else None
        request = Request(
            workload=declared.workload, contenders=tuple(labels), batch_size=batch, size=size, steps=steps
        )
        point = Point(title=declared.name, request=request, left_out=left_out, rows=rows)
        points.append(PointOutcome(point=point, outcome=raced(declared, labels, batch, size, device)))
    declared_study = Study(
        name=name,
        title=published.full_title(),
        points=[one.point for one in points],
        command=f"bakeoff reproduce {name}",
        reproduces=Reproduces(published=published, scaled=scaled, device=device),
    )
    return StudyOutcome(
        study=declared_study,
        id=f"{name}-4f2a",
        path="results/study-4f2a",
        created_at="2026-10-17T12:00:00Z",
        bakeoff="0.1.0",
        points=points,
    )


@pytest.fixture
def scaled() -> StudyOutcome:
    """Give the notes' table 3 scaled down on a processor, without Jittor."""
    left_out = {"jittor": "bakeoff has no framework 'jittor'"}
    return study("shootout-table3", ROWS, left_out, scaled=True, device="cpu", batch_size=8)


@pytest.fixture
def full() -> StudyOutcome:
    """Give the notes' table 4 at its own sizes on a GPU, without Jittor."""
    return study("shootout-table4", ROWS, {"jittor": "bakeoff has no framework 'jittor'"}, scaled=False, device="cuda")


@pytest.fixture
def figure() -> StudyOutcome:
    """Give figure 1 of Dai et al. scaled down on a processor: the choice of algorithms is missing."""
    rows = {
        "TF-profiling": "tensorflow",
        "TF-fixed": "tensorflow:conv_algorithm=fixed",
        "PT-ori": "torch",
        "PT-profiling": "torch:conv_algorithm=profiling",
        "PT-fixed": "torch:conv_algorithm=fixed",
    }
    left_out = {label: "it needs CUDA" for label in rows.values() if ":" in label}
    return study("dai2022-figure1", rows, left_out, scaled=True, device="cpu")


@pytest.fixture
def article() -> StudyOutcome:
    """Give the CNN article, whose table has memory, too."""
    rows = {"TensorFlow": "tensorflow:mode=compiled", "PyTorch": "torch:mode=compiled", "JAX": "jax:input=per-step"}
    return study("apx-cnn", rows, {}, scaled=True, device="cpu")
