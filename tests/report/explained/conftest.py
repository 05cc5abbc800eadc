"""Explanations made by hand: causes found and raced, nothing told apart, kinds alone, nobody to compare."""

from __future__ import annotations

import msgspec
import pytest
from tests.report.conftest import outcome, plan, ranked, verdict

from bakeoff.judge.explanation import Cause, ContenderProfile, Explanation, Gap, MeanOverRounds, Row, Suspect, Unjudged
from bakeoff.judge.outcome import ContenderOutcome
from bakeoff.spec.explained import GraphStage, OperationKind, Phase
from bakeoff.spec.verdict import Interval

Key = tuple[OperationKind | None, Phase, str]

STEPS_S = {"torch": 25.0e-3, "jax": 32.7e-3, "tensorflow": 33.9e-3}

KINDS: dict[tuple[OperationKind, Phase], tuple[float, float, float]] = {
    ("convolution", "forward"): (17.5, 12.0, 18.4),
    ("convolution", "backward"): (34.0, 38.7, 28.0),
    ("matrix product", "forward"): (0.1, 0.3, 0.1),
    ("normalisation", "forward"): (6.0, 6.0, 12.4),
    ("normalisation", "backward"): (7.1, 9.5, 15.0),
    ("element-wise", "forward"): (2.4, 2.6, 3.0),
    ("element-wise", "backward"): (2.4, 2.6, 3.2),
    ("reduction", "forward"): (0.2, 0.1, 0.0),
    ("data movement", "backward"): (0.6, 14.0, 1.0),
    ("optimiser", "optimiser"): (11.3, 4.0, 9.0),
    ("host dispatch", ""): (14.6, 6.1, 9.3),
    ("idle", ""): (3.8, 4.1, 0.6),
}
"""Shares of a step in percent, in torch, JAX and TensorFlow: near what a prototype has found for ResNet-50."""

BLOCKS = [f"stages.{stage}.block.{block}" for stage in range(3) for block in range(2)]
LAYERS: dict[tuple[str, Phase], tuple[float, float, float]] = {
    ("stem.conv", "forward"): (2.0, 1.5, 2.5),
    ("stem.conv", "backward"): (3.0, 3.0, 3.5),
    **{(f"{block}.conv", "forward"): (1.7, 1.1, 1.7) for block in BLOCKS},
    **{(f"{block}.conv", "backward"): (3.2, 5.6 + 0.2 * place, 3.0) for place, block in enumerate(BLOCKS)},
    **{(f"{block}.norm", "backward"): (1.0, 1.0, 2.0) for block in BLOCKS},
    ("head", "forward"): (0.4, 0.2, 0.3),
    ("head", "backward"): (0.6, 0.4, 0.6),
    ("", "optimiser"): (11.0, 4.0, 9.0),
    ("", ""): (18.0, 10.0, 10.0),
}
TOLD = {("data movement", "backward"), ("convolution", "backward"), ("optimiser", "optimiser"), ("host dispatch", "")}


def seconds(label: str, shares: dict[tuple[str, Phase], tuple[float, float, float]]) -> dict[tuple[str, Phase], float]:
    """Return what one contender spends on each part; the sum is its step."""
    place = list(STEPS_S).index(label)
    whole = sum(one[place] for one in shares.values())
    return {key: one[place] / whole * STEPS_S[label] for key, one in shares.items()}


def row(key: Key, first_s: float, second_s: float, *, told_apart: bool, half_s: float | None) -> Row:
    """Make a part of a gap; `half_s` is half of its interval."""
    apart = second_s - first_s
    known = None if half_s is None else Interval(estimate=apart, low=apart - half_s, high=apart + half_s)
    kind, phase, layer = key
    return Row(
        kind=kind,
        phase=phase,
        layer=layer,
        first_s=first_s,
        second_s=second_s,
        difference_s=known,
        told_apart=told_apart,
        first_launches=34,
        second_launches=48,
        inferred_share=0.35 if phase == "backward" else 0.0,
    )


def gap(first: str, second: str, *, by_layer: bool = True) -> Gap:
    """Make the gap of two contenders with all of its parts."""
    mine, theirs = seconds(first, KINDS), seconds(second, KINDS)
    kinds = [
        row((kind, phase, ""), mine[kind, phase], theirs[kind, phase], told_apart=(kind, phase) in TOLD, half_s=2e-4)
        for kind, phase in KINDS
    ]
    mine, theirs = seconds(first, LAYERS), seconds(second, LAYERS)
    layers = [
        row(
            (None if layer else "optimiser" if phase else "host dispatch", phase, layer),
            mine[layer, phase],
            theirs[layer, phase],
            told_apart=abs(mine[layer, phase] - theirs[layer, phase]) > 5e-4,
            half_s=5e-4,
        )
        for layer, phase in LAYERS
    ]
    return Gap(
        first=first,
        second=second,
        first_s=STEPS_S[first],
        second_s=STEPS_S[second],
        by_kind=kinds,
        by_layer=layers if by_layer else [],
    )


def profile(label: str, step_s: float, **more: object) -> ContenderProfile:
    """Make what one contender's traces hold."""
    made = ContenderProfile(
        label=label,
        level="layers",
        rounds=5,
        step_s=step_s,
        profiled_ratio=1.05,
        inferred_share=0.35,
        mixed_share=0.03,
        unattributed_share=0.06,
        compute=MeanOverRounds(mean=0.93, interval=Interval(estimate=0.93, low=0.91, high=0.95)),
        copies=MeanOverRounds(mean=0.0),
        launches=MeanOverRounds(mean=1166.0),
        events_per_step=1244.0,
        stages=[
            GraphStage(nodes={"expensive": 120, "cheap": 4000, "no op": 5000}),
            GraphStage(passes=("all passes",), nodes={"expensive": 120, "cheap": 3186, "no op": 3000}),
        ],
        notes=["XLA names no weight gradient: it is given to the layer whose parameter it updates."],
        facts={"instructions_before": 9120, "instructions_after": 6306, "fusions": 447, "program_sha256": "1f" * 32},
        files=[f"results/mlp-mnist-4f2a/explain-{number:02}-{label}/trace.json.gz" for number in range(1, 6)],
    )
    return msgspec.structs.replace(made, **more)


def contender(label: str, step_s: float) -> ContenderOutcome:
    """Make a contender that is ranked with this step time."""
    return ranked(label, Interval(estimate=step_s, low=0.98 * step_s, high=1.02 * step_s), 0.5, 200)


SUSPECTS = [
    Suspect(
        first="torch",
        second="jax",
        label="jax",
        row=gap("torch", "jax").by_kind[8],
        switch="convolution=products",
        at_most_s=4.43e-3,
        saved_s=Interval(estimate=4.2e-3, low=3.9e-3, high=4.5e-3),
        ratio=Interval(estimate=1.14, low=1.12, high=1.16),
        row_after_s=0.3e-3,
        status="confirmed",
        reason="the gap closes as predicted, and the copies are gone",
        comparison="results/mlp-mnist-4f2a-why",
    ),
    Suspect(
        first="torch",
        second="jax",
        label="jax",
        row=gap("torch", "jax").by_kind[1],
        switch="graph_optimization=off",
        at_most_s=4.2e-3,
        saved_s=Interval(estimate=-0.4e-3, low=-0.9e-3, high=0.1e-3),
        ratio=Interval(estimate=1.32, low=1.3, high=1.35),
        row_after_s=12.7e-3,
        status="refuted",
        reason="nothing is saved",
    ),
    Suspect(
        first="torch",
        second="jax",
        label="jax",
        switch="malloc=settled",
        is_control=True,
        saved_s=Interval(estimate=0.1e-3, low=-0.3e-3, high=0.5e-3),
        ratio=Interval(estimate=1.30, low=1.28, high=1.33),
        status="refuted",
        reason="changes nothing, as it should",
    ),
    Suspect(
        first="torch",
        second="tensorflow",
        label="tensorflow",
        cause="page faults",
        at_most_s=0.5e-3,
        reason="no switch turns it",
    ),
]
"""One in every state."""


@pytest.fixture
def explained() -> Explanation:
    """Three contenders: a cause that a race has confirmed, one refuted, one without a switch, and a control."""
    verdicts = [
        verdict("jax", "torch", "slower", 1.31, 1.28, 1.34, level=0.95),
        verdict("tensorflow", "torch", "slower", 1.36, 1.32, 1.40, level=0.95),
        verdict("tensorflow", "jax", "undecided", 1.04, 0.99, 1.09, level=0.95),
    ]
    others = [gap("torch", "tensorflow"), gap("jax", "tensorflow", by_layer=False)]
    quiet = [
        msgspec.structs.replace(one, by_kind=[msgspec.structs.replace(part, told_apart=False) for part in one.by_kind])
        for one in others
    ]
    return Explanation(
        outcome=outcome([contender(label, step_s) for label, step_s in STEPS_S.items()], verdicts),
        profiles=[
            profile("torch", STEPS_S["torch"], profiled_ratio=1.32, inferred_share=0.0, facts={}, notes=[]),
            profile("jax", STEPS_S["jax"]),
            profile("tensorflow", STEPS_S["tensorflow"], facts={"instructions_before": 1828}, files=[]),
        ],
        gaps=[gap("torch", "jax"), *quiet],
        causes=[
            Cause(
                label="tensorflow",
                name="page faults",
                said="tensorflow: 560 page faults a step.",
                numbers={"a": 560.0},
                against=["torch", "jax"],
            ),
            Cause(label="torch", name="waiting threads", said="torch: 2 threads wait.", numbers={"threads": 2.0}),
            Cause(label="jax", name="waiting threads", said="jax: 2 threads wait.", numbers={"threads": 2.0}),
        ],
        unjudged=[Unjudged(label="jax", names=["host-bound steps", "clocks"], reason="the machine was busy")],
        suspects=SUSPECTS,
    )


@pytest.fixture
def unexplained() -> Explanation:
    """A against A: no part of the steps is told apart."""
    parts = [
        row((kind, phase, ""), time, time * (1.02 if place % 2 else 0.98), told_apart=False, half_s=1e-4)
        for place, ((kind, phase), time) in enumerate(seconds("torch", KINDS).items())
    ]
    whole = sum(part.second_s for part in parts)
    twins = [contender("torch", STEPS_S["torch"]), contender("torch (2)", whole)]
    twins[1] = msgspec.structs.replace(twins[1], plan=plan("torch (2)"))
    return Explanation(
        outcome=outcome(twins, [verdict("torch", "torch (2)", "equal", 0.997, 0.978, 1.013)]),
        profiles=[profile(one.label, one.median_step_s or 0.0, facts={}, notes=[]) for one in twins],
        gaps=[Gap(first="torch", second="torch (2)", first_s=STEPS_S["torch"], second_s=whole, by_kind=parts)],
    )


@pytest.fixture
def kinds_alone() -> Explanation:
    """Two with profiles, one of kinds alone; one not traced; one not ranked; too few rounds."""
    labels = ("torch", "jax", "tensorflow")
    made = outcome(
        [contender(one, STEPS_S[one]) for one in labels], [verdict("jax", "torch", "slower", 1.31, 1.28, 1.34)]
    )
    refused = ContenderOutcome(plan=plan("mlx"), label="mlx", status="failed", reason="killed: out of memory")
    one = gap("torch", "jax", by_layer=False)
    few = [msgspec.structs.replace(part, told_apart=False, difference_s=None) for part in one.by_kind]
    return Explanation(
        outcome=msgspec.structs.replace(made, contenders=[*made.contenders, refused]),
        profiles=[
            profile("torch", STEPS_S["torch"], rounds=1, facts={}, notes=[], files=[]),
            profile("jax", STEPS_S["jax"], rounds=1, level="kinds", reason="its profiler has totals by operator alone"),
        ],
        gaps=[msgspec.structs.replace(one, by_kind=few)],
    )


@pytest.fixture
def nobody() -> Explanation:
    """A single contender, whose framework has no profile."""
    alone = contender("torch", STEPS_S["torch"])
    nothing = ContenderProfile(
        label="torch", level="none", reason="no profiler on this device", rounds=0, step_s=STEPS_S["torch"]
    )
    return Explanation(outcome=outcome([alone], []), profiles=[nothing], gaps=[])
