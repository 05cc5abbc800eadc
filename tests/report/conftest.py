"""Outcomes made by hand, for every case that a report has to put into words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import msgspec
import pytest

from bakeoff.judge.compiling import Compiling, Start
from bakeoff.judge.counters import BlockCounters
from bakeoff.judge.energy import Energy
from bakeoff.judge.epochs import WholeRun, WholeRuns
from bakeoff.judge.gpu import GpuRound
from bakeoff.judge.late import Late
from bakeoff.judge.light import Peak, light_of
from bakeoff.judge.outcome import ContenderOutcome, Outcome
from bakeoff.judge.rounds import BlockTime
from bakeoff.judge.scaling import Scaling
from bakeoff.spec.comparison import Comparison, ContenderPlan, Procedure
from bakeoff.spec.contender import Contender
from bakeoff.spec.optimizer import Adam
from bakeoff.spec.peaks import Work
from bakeoff.spec.record import DenormalCount, Memory
from bakeoff.spec.trial import Entries, Inputs
from bakeoff.spec.verdict import Certificate, Check, Interval, Verdict, VerdictKind
from bakeoff.spec.workload import Size, Workload
from bakeoff.stats.levels import LevelRatio, Levels

if TYPE_CHECKING:
    from collections.abc import Callable

ROUNDS = 7
TURNS = 4
COLOURS = {"torch": "#D55E00", "jax": "#009E73", "tensorflow": "#E69F00"}

LATE = Late(
    early_step=10,
    late_step=1000,
    ratio=Interval(estimate=1.52, low=1.49, high=1.56),
    pairs=8,
    early_s=0.002,
    late_s=0.00304,
    early={"parameters": DenormalCount(elements=407_050, denormal=0)},
    late={
        "parameters": DenormalCount(elements=407_050, denormal=0),
        "first moment": DenormalCount(elements=407_050, denormal=93_023),
    },
)
"""Of a contender whose step becomes slower in training."""


def plan(label: str) -> ContenderPlan:
    """Make a contender's plan; its framework is what stands before the first space, "@" or ":"."""
    framework = label.split(" ", maxsplit=1)[0].split(":", maxsplit=1)[0].split("@", maxsplit=1)[0]
    options = {"mode": "graph", "precision": "float32", "device": "cpu", "threads": "2"}
    return ContenderPlan(
        contender=Contender(framework=framework, label=label, options=options),
        interpreter=f"environments/{framework}/bin/python",
        framework_path=f"frameworks/{framework}",
        colour=COLOURS.get(framework, "#555555"),
        title=framework,
    )


def certificate(label: str, *, reason: str = "") -> Certificate:
    """Make a certificate that passed, or one whose gradients did not."""
    passed = not reason
    checks = (
        Check(name="parameters", passed=True, detail="407,050 parameters with the same names and shapes"),
        Check(name="outputs", passed=True, detail="at step 0", error=3.1e-7, allowed=1e-4),
        Check(name="loss", passed=True, detail="at steps 0 to 5", error=1.9e-7, allowed=1e-4),
        Check(name="gradients", passed=passed, detail="all 6 arrays", error=4.2e-7 if passed else 0.3, allowed=1e-4),
        Check(name="optimizer", passed=True, detail="5 steps", error=2e-8, allowed=1e-6),
        Check(name="informative", passed=True, detail="outputs differ between samples"),
    )
    return Certificate(contender=label, reference="torch in float64", passed=passed, checks=checks, reason=reason)


def blocks(step_s: float, flagged: int) -> list[BlockTime]:
    """Make the blocks of all rounds, spread by a few percent; the first `flagged` rounds saw foreign load."""
    return [
        BlockTime(
            round_number=number,
            turn=turn,
            step_s=step_s * (1 + 0.03 * math.sin(7 * number + 3 * turn)) * (1.2 if number <= flagged else 1.0),
            flagged=number <= flagged,
        )
        for number in range(1, ROUNDS + 1)
        for turn in range(TURNS)
    ]


def whole_run(without_first_s: float) -> WholeRun:
    """Make a run of whole epochs whose first step takes 0.2 s more."""
    return WholeRun(
        total_s=without_first_s + 0.2,
        without_first_s=without_first_s,
        epochs_s=[without_first_s / 2 + 0.2, without_first_s / 2],
        loss=0.1234,
        accuracy=0.95,
        flagged_epochs=0,
    )


def ranked(label: str, step_s: Interval, first_step_s: float, megabytes: int, flagged: int = 0) -> ContenderOutcome:
    """Make a contender that is certified and timed."""
    return ContenderOutcome(
        plan=plan(label),
        label=label,
        status="ranked",
        certificate=certificate(label),
        rounds=ROUNDS,
        step_s=step_s,
        median_step_s=step_s.estimate,
        mean_step_s=step_s.estimate * 1.02,
        samples_per_s=32 / step_s.estimate,
        fenced_p50_s=step_s.estimate * 1.1,
        fenced_p90_s=step_s.estimate * 1.3,
        fenced_steps=180,
        import_s=megabytes / 80,
        build_s=0.21,
        first_step_s=first_step_s,
        compile_s=first_step_s - step_s.estimate,
        compiling=Compiling(
            cold=Start(trace_s=0.01, compile_s=None, first_step_s=first_step_s, processes=ROUNDS),
            warm=Start(trace_s=0.01, compile_s=0.002, first_step_s=0.015, processes=1),
            count=1,
        ),
        memory=Memory(baseline_bytes=220_000_000, peak_bytes=220_000_000 + megabytes * 1_000_000, steps=50),
        whole=WholeRuns(steps=94, test_samples=359, runs=[whole_run(94 * step_s.estimate)]),
        energy=Energy(
            joules_per_sample=2e-3,
            interval=Interval(estimate=2e-3, low=1.9e-3, high=2.1e-3),
            rounds=5,
            source="package-0",
        ),
        accuracy=0.955 + megabytes / 1e5,
        learning_steps=450,
        settings={"mode": "graph", "threads": 2, "matmul_precision": "highest", "denormals": None},
        versions={label.split(":", maxsplit=1)[0]: "2.13.0", "numpy": "2.4.6"},
        python="3.11.2",
        counters=BlockCounters(cores_used=1.9, minor_faults_per_step=0.01),
        blocks=blocks(step_s.estimate, flagged),
    )


def verdict(
    first: str, second: str, kind: VerdictKind, ratio: float, low: float, high: float, **more: object
) -> Verdict:
    """Make a verdict on a pair, after all rounds."""
    known = Verdict(first=first, second=second, verdict=kind, ratio=ratio, low=low, high=high, rounds=ROUNDS)
    return msgspec.structs.replace(known, ratio_of_means=ratio * 1.01, **more)


def comparison(labels: list[str], **changes: object) -> Comparison:
    """Make a comparison of these contenders on mlp-mnist."""
    size = Size(batch_size=32, input_shape=(784,), classes=10, parameters=407_050, macs=406_528)
    made = Comparison(
        id="mlp-mnist-4f2a",
        created_at="2026-10-17T12:00:00Z",
        bakeoff="0.1.0",
        workload=Workload(
            name="mlp-mnist",
            summary="An MLP.",
            source="a paper",
            sizes={"full": size},
            optimizer=Adam(learning_rate=1e-3),
        ),
        workload_path="workloads/mlp_mnist.py",
        workload_sha256="0" * 64,
        scenario="train",
        size="full",
        batch_size=32,
        data=Inputs(source="digits (scikit-learn 1.9.1)", batches=45, sha256="1" * 64, has_test=True),
        contenders=[plan(label) for label in labels],
        reference=plan("torch"),
        procedure=Procedure(),
        machine={"processor": "AMD EPYC", "cores": 2, "usable_cores": 2, "memory_bytes": 8_000_000_000, "kernel": None},
        command="bakeoff run mlp-mnist",
    )
    return msgspec.structs.replace(made, **changes)


def outcome(contenders: list[ContenderOutcome], verdicts: list[Verdict], **changes: object) -> Outcome:
    """Make an outcome of these contenders and verdicts."""
    made = Outcome(
        comparison=comparison([contender.label for contender in contenders]),
        path="results/mlp-mnist-4f2a",
        contenders=contenders,
        verdicts=verdicts,
        rounds=ROUNDS,
        processes=ROUNDS * len(contenders),
        cut_steps=20,
        calm=True,
        foreign_share=0.01,
        ended="decided",
    )
    return msgspec.structs.replace(made, **changes)


TENSORFLOW = ranked("tensorflow", Interval(estimate=0.984e-3, low=0.962e-3, high=1.012e-3), 0.13, 210)
JAX = ranked("jax", Interval(estimate=1.02e-3, low=0.98e-3, high=1.07e-3), 0.31, 200)
TORCH = ranked("torch", Interval(estimate=2.11e-3, low=2.0e-3, high=2.2e-3), 0.021, 95)


def three_ways(**changes: object) -> Outcome:
    """Make the outcome of the sketch: two undecided, one slower than both."""
    verdicts = [
        verdict("torch", "tensorflow", "slower", 2.16, 2.06, 2.27),
        verdict("jax", "torch", "faster", 0.478, 0.452, 0.505),
        verdict("tensorflow", "jax", "undecided", 0.96, 0.917, 1.012, more_rounds=6),
    ]
    return outcome([TORCH, JAX, TENSORFLOW], verdicts, **{"ended": "futility", **changes})


@pytest.fixture
def undecided() -> Outcome:
    """Three ranked contenders: two undecided, one slower than both."""
    return three_ways()


@pytest.fixture
def decided() -> Outcome:
    """Three ranked contenders, every pair decided, one of them perhaps under the margin."""
    verdicts = [
        verdict("torch", "tensorflow", "slower", 2.16, 2.06, 2.27),
        verdict("torch", "jax", "slower", 2.09, 1.98, 2.21),
        verdict("jax", "tensorflow", "slower", 1.12, 1.04, 1.19, under_margin=True),
    ]
    return outcome([TORCH, JAX, TENSORFLOW], verdicts)


@pytest.fixture
def mixed() -> Outcome:
    """One of each: ranked, uncertified, failed, pending, excluded; sequences with lengths; markup in a label."""
    label = "torch@<b>[red]|*x*"
    wild = msgspec.structs.replace(TORCH, label=label, plan=plan(label), certificate=certificate(label))
    reason = "gradients differ by 0.3 where 0.0001 is allowed"
    others = [
        ContenderOutcome(
            plan=plan("jax:mode=eager"),
            label="jax:mode=eager",
            status="uncertified",
            reason=reason,
            certificate=certificate("jax:mode=eager", reason=reason),
        ),
        ContenderOutcome(plan=plan("tensorflow"), label="tensorflow", status="failed", reason="killed: out of memory"),
        ContenderOutcome(plan=plan("torch (2)"), label="torch (2)", status="pending", reason="its turn has not come"),
    ]
    made = outcome([wild, JAX, *others], [verdict(label, "jax", "slower", 2.09, 1.98, 2.21)])
    asked = comparison([one.label for one in made.contenders], excluded={"other": "no module named 'other' <i>"})
    lengths = {"tokens": Entries(real=9_000, padding=1_000), "frames": Entries(real=39_500, padding=500)}
    data = msgspec.structs.replace(asked.data, sequences=lengths)
    return msgspec.structs.replace(made, comparison=msgspec.structs.replace(asked, data=data))


@pytest.fixture
def same() -> Outcome:
    """A against A: one framework twice, practically equal."""
    twin = msgspec.structs.replace(
        TORCH, label="torch (2)", plan=plan("torch (2)"), certificate=certificate("torch (2)")
    )
    return outcome([TORCH, twin], [verdict("torch", "torch (2)", "equal", 0.997, 0.978, 1.013)])


@pytest.fixture
def early() -> Outcome:
    """Two rounds only: no interval and no verdict."""
    contenders = [msgspec.structs.replace(one, rounds=2, step_s=None) for one in (TORCH, JAX)]
    pair = Verdict(first="torch", second="jax", verdict="undecided", ratio=2.1, low=None, high=None, rounds=2)
    return outcome(contenders, [pair], rounds=2, processes=4, ended="budget")


@pytest.fixture
def noisy() -> Outcome:
    """A busy machine: flagged blocks, a mean that disagrees, no steady state, faults, a slowed GPU, damage."""
    slow = ranked("torch", Interval(estimate=2.11e-3, low=2.0e-3, high=2.2e-3), 0.021, 95, flagged=2)
    hot = GpuRound(
        round_number=1,
        clock_mhz=1000.0,
        clock_limit_mhz=1500,
        temperature_c=81,
        power_w=61.5,
        slowed=["thermal limit, by software"],
        other_processes=1,
    )
    slow = msgspec.structs.replace(
        slow, steady=False, counters=BlockCounters(cores_used=1.9, minor_faults_per_step=560.2), gpu=[hot], late=LATE
    )
    pair = verdict("torch", "jax", "slower", 2.09, 1.98, 2.21, ratio_unflagged=2.03, blocks=168, flagged_blocks=9)
    gained = LevelRatio(first="torch", second="jax", then=1.65, otherwise=2.2)
    levels = Levels(
        turns=56, changed=[(2, 4), (2, 5), (6, 6), (6, 7)], low=1.3, high=1.75, is_found=True, ratios=[gained]
    )
    return outcome(
        [slow, JAX],
        [msgspec.structs.replace(pair, ratio_of_means=2.4)],
        calm=False,
        foreign_share=0.12,
        flagged_rounds=2,
        levels=levels,
        damaged=["r03-jax: record.json is truncated"],
    )


@pytest.fixture
def bare() -> Outcome:
    """Everything that may be unknown is unknown."""
    known = [
        ContenderOutcome(plan=plan(label), label=label, status="ranked", certificate=certificate(label), rounds=ROUNDS)
        for label in ("torch", "jax")
    ]
    pair = Verdict(first="torch", second="jax", verdict="undecided", ratio=None, low=None, high=None, rounds=0)
    asked = comparison(["torch", "jax"], reference=None, command="", machine={})
    return outcome(known, [pair], comparison=asked, calm=None, foreign_share=None, ended="unfinished")


@pytest.fixture
def lit() -> Outcome:
    """Contenders beside the machine's peaks: two under, one above what was measured on a busy machine."""
    macs, parameters = 26_181_632, 407_050
    work = Work(
        macs=macs, least_macs=macs, parameters=parameters, state=2 * parameters, batch_bytes=100_480, trains=True
    )
    peak = Peak(
        device="cpu",
        precision="float32",
        threads="2",
        macs_per_s=162e9,
        macs_by="jax, 2026-10-16",
        bytes_per_s=9.9e9,
        bytes_by="torch, 2026-10-17",
        cache_bytes=2 << 20,
    )
    low = msgspec.structs.replace(peak, precision="bfloat16", macs_per_s=20e9, bytes_per_s=None, calm=False)
    lights = [light_of(work, one, step.median_step_s) for one, step in ((peak, TORCH), (peak, JAX), (low, TENSORFLOW))]
    contenders = [
        msgspec.structs.replace(one, light=light) for one, light in zip((TORCH, JAX, TENSORFLOW), lights, strict=True)
    ]
    return msgspec.structs.replace(three_ways(), contenders=contenders)


@pytest.fixture
def on_two() -> Outcome:
    """A contender on two devices beside itself on one: 82 % efficient, decided."""
    label = "torch:devices=2"
    contender = Contender(framework="torch", label=label, options={"device": "cpu", "devices": "2", "threads": "1"})
    both = msgspec.structs.replace(
        JAX, label=label, plan=msgspec.structs.replace(plan(label), contender=contender), certificate=certificate(label)
    )
    pair = verdict("torch", label, "faster", 0.82, 0.79, 0.85)
    scaling = Scaling(
        label=label,
        single="torch",
        devices=2,
        threads="1",
        samples_per_s=32_000.0,
        verdict=pair,
        efficiency=Interval(estimate=0.82, low=0.79, high=0.85),
        efficiency_estimate=0.82,
        overhead=Interval(estimate=0.18, low=0.15, high=0.21),
        straggling=0.01,
    )
    return msgspec.structs.replace(outcome([TORCH, both], []), scalings=[scaling])


@pytest.fixture
def each(request: pytest.FixtureRequest) -> Callable[[], list[Outcome]]:
    """All of these outcomes."""
    names = ("undecided", "decided", "mixed", "same", "early", "noisy", "bare", "lit", "on_two")
    return lambda: [request.getfixturevalue(name) for name in names]
