"""Causes that are not operations: each from the counters of a contender that has it, and from no other."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import msgspec
import pytest
from tests.explaining.conftest import gap, planned, row, timed
from tests.report.conftest import LATE, TORCH, outcome

from bakeoff.judge.causes import causes_of, sets_apart, unjudged
from bakeoff.judge.counters import BlockCounters
from bakeoff.judge.explanation import Cause
from bakeoff.judge.gpu import GpuRound
from bakeoff.judge.light import Light, Peak
from bakeoff.spec.record import Block, DenormalCount, Record, Signals
from bakeoff.spec.trial import TrialSpec
from bakeoff.spec.verdict import Interval

CALM = timed("calm", 10.0, counters=BlockCounters(cores_used=1.8, minor_faults_per_step=0.2))
HALF = {"first moment": DenormalCount(elements=100, denormal=50)}
EARLY = msgspec.structs.replace(LATE, early=HALF, late=HALF, ratio=None)
PEAK = Peak(device="cpu", precision="float32", threads="2", macs_per_s=1e9, macs_by="calm", bytes_per_s=1e10)
LIGHT = Light(
    peak=PEAK,
    macs=1,
    least_macs=1,
    bytes=10,
    beyond_cache_bytes=60_000_000,
    macs_per_s=1.0,
    macs_share=0.1,
    bytes_share=0.6,
    least_share=0.6,
)
SLOWED = GpuRound(
    round_number=1, clock_mhz=900.0, clock_limit_mhz=1980, temperature_c=90, slowed=["heat"], other_processes=0
)


def found(gaps: Any = (), records: Any = (), **changed: Any) -> list[Cause]:
    """Return the causes of a contender with these fields changed, beside a calm one that has none."""
    changed = {"counters": CALM.counters, "settings": {"denormals": "kept"}} | changed
    cores = changed["counters"].cores_used
    calm = [record("torch", beside(0.0, cores))] if cores else []
    causes = causes_of(outcome([CALM, timed("torch", 10.0, **changed)], []), gaps, records or calm)
    assert all(cause.label == "torch" and cause.said.startswith("torch: ") for cause in causes)
    return causes


def busy(cores: float, faults: float = 0.0) -> BlockCounters:
    """Make counters of a contender that keeps so many cores busy."""
    return BlockCounters(cores_used=cores, minor_faults_per_step=faults)


@pytest.mark.parametrize(
    ("changed", "name", "said"),
    [
        ({"late": EARLY}, "denormals", "50% of the numbers in its first moment are denormal after 10 steps"),
        ({"late": LATE}, "denormals", "a step takes 1.52x as long then; the steps that were raced are earlier"),
        ({"counters": busy(1.8, 1180.0)}, "page faults", "1,180 page faults a step, which may take some 21% of it"),
        ({"counters": busy(1.1)}, "waiting threads", "2 threads keep 1.10 cores busy"),
        ({"light": LIGHT}, "memory bandwidth", "60 MB beyond the caches, which takes 60% of its time"),
        ({"gpu": [SLOWED]}, "clocks", "held down in 1 of 1 round: heat"),
    ],
)
def test_each_cause_is_named_with_its_numbers(changed: dict[str, Any], name: str, said: str) -> None:
    """A sentence says it to a reader, and the numbers to a program."""
    (cause,) = found(**changed)
    assert cause.name == name
    assert said in cause.said
    assert cause.numbers


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"late": EARLY, "settings": {"denormals": "flushed"}},
        {"late": msgspec.structs.replace(LATE, ratio=Interval(estimate=1.02, low=0.98, high=1.06))},
        {"late": msgspec.structs.replace(LATE, ratio=None)},
        {"counters": BlockCounters()},
        {"counters": busy(1.8, 50.0)},
        {"light": msgspec.structs.replace(LIGHT, bytes_share=None)},
        {"light": msgspec.structs.replace(LIGHT, bytes_share=0.3)},
        {"gpu": [msgspec.structs.replace(SLOWED, slowed=["power limit"])]},
        {"counters": busy(1.0), "status": "refused"},
    ],
)
def test_what_costs_nothing_is_no_cause(changed: dict[str, Any]) -> None:
    """Unknown counters, flushed numbers, a GPU at its power limit and a contender without a rank name nothing."""
    assert found(**changed) == []


def test_a_slowed_gpus_clock_is_the_mean_over_rounds() -> None:
    """Of all rounds whose clock is known, and not of those alone in which it was held down; else it is unknown."""
    calm = msgspec.structs.replace(SLOWED, slowed=[], clock_mhz=1200.0)
    unread = msgspec.structs.replace(SLOWED, clock_mhz=None)
    (cause,) = found(gpu=[SLOWED, calm, calm, unread])
    assert cause.numbers == {"clock_mhz": pytest.approx(1100.0)}
    assert "held down in 2 of 4 rounds: heat" in cause.said
    (cause,) = found(gpu=[unread])
    assert cause.numbers == {}


def host(host_ms: float, idle_ms: float = 0.0) -> list[Any]:
    """Make a gap in which torch spends so much in its own code and with nothing."""
    rest_ms = 10.0 - host_ms - idle_ms
    rows = row("host dispatch", 0.5, host_ms), row("idle", 0.0, idle_ms), row("convolution", 9.5, rest_ms)
    return [gap(*rows, first="calm", second="torch")]


def test_steps_that_wait_for_the_host_are_named_by_the_profile() -> None:
    """A fifth of a step in the framework's own code is a cause; on one of two threads no other works meanwhile."""
    (cause,) = found(host(3.0), counters=busy(1.7))
    assert (cause.name, cause.numbers) == ("host-bound steps", {"host_share": pytest.approx(0.3)})
    assert found(host(1.5), counters=busy(1.8)) == []


@pytest.mark.parametrize("share", [0.9, None])
def test_beside_other_processes_threads_host_and_clocks_name_nothing(share: float | None) -> None:
    """Threads that wait for a processor look as if they had no work; so does a machine that tells nothing."""
    slow = record("torch", beside(share, 0.19), clock_mhz=2000.0)
    fast = record("calm", beside(share, 0.19), clock_mhz=2600.0)
    assert found(host(3.0), [slow, fast], counters=busy(0.19)) == []


@pytest.mark.parametrize(
    ("share", "said"),
    [(0.9, "the machine was busy in 2 of 2 blocks"), (None, "this system does not tell what other processes take")],
)
def test_what_a_busy_machine_hides_is_said_not_to_have_been_looked_for(share: float | None, said: str) -> None:
    """What is not found there is not absent: each contender has the names of causes and why; a calm one none."""
    slow = record("torch", beside(share, 0.19), beside(share, 0.19), clock_mhz=2000.0)
    both = outcome([CALM, timed("torch", 10.0)], [])
    (one,) = unjudged(both, [slow, record("calm", beside(0.0, 1.8))])
    assert (one.label, one.reason) == ("torch", said)
    assert one.names == ["waiting threads", "spinning threads", "host-bound steps", "clocks"]
    on_one = planned("torch", threads="1")
    without_clock = [record("torch", beside(share, 0.19))]
    (one,) = unjudged(outcome([timed("torch", 10.0, plan=on_one)], []), without_clock)
    assert one.names == ["host-bound steps"]


@pytest.mark.parametrize(
    ("shares", "said"),
    [
        ([0.9], "the machine was busy in 1 of 1 block"),
        ([0.9, 0.0], "the machine was busy in 1 of 2 blocks"),
        ([None, 0.0], "what other processes took is not known of 1 of 2 blocks"),
        (
            [0.9, None, None],
            "the machine was busy in 1 of 3 blocks, and what other processes took is not known of 2 of 3 blocks",
        ),
    ],
)
def test_blocks_that_were_busy_and_blocks_that_nobody_knows_of_are_told_apart(
    shares: list[float | None], said: str
) -> None:
    """Why causes were not looked for is said with both numbers: few busy blocks alone would be no reason."""
    (one,) = unjudged(
        outcome([timed("torch", 10.0)], []), [record("torch", *(beside(share, 0.19) for share in shares))]
    )
    assert one.reason == said


def test_a_cause_says_which_faster_contender_is_without_it() -> None:
    """What both sides of a gap have explains nothing of it, unless one has it twice as much; the faster one's never."""
    steps = [row("convolution", 8.0, 10.0)]
    faults = {"calm": 1000.0, "torch": 1500.0, "loud": 9000.0}
    known = [timed(label, 10.0, counters=BlockCounters(minor_faults_per_step=n)) for label, n in faults.items()]
    gaps = [gap(*steps, first=one, second=other) for one, other in combinations(faults, 2)]
    against = {one.label: one.against for one in causes_of(outcome(known, []), gaps)}
    assert against == {"calm": [], "torch": [], "loud": ["calm", "torch"]}


def test_threads_that_wait_most_of_the_time_are_no_cause_that_both_sides_have() -> None:
    """As many threads on both sides say nothing: what counts is how long they wait."""
    few, many = (
        Cause(label=label, name="waiting threads", said="", numbers={"threads": 8.0, "cores_used": cores})
        for label, cores in (("few", 5.9), ("many", 1.1))
    )
    assert sets_apart(many, "few", [few, many])
    assert not sets_apart(few, "many", [few, many])


def test_the_lower_of_two_clocks_is_a_cause_beside_the_higher() -> None:
    """Of clocks that are both below a third one's, that counts by how much they are; of slowed GPUs nothing does."""
    low, lower, slowed, slower = (
        Cause(label=label, name="clocks", said="", numbers=numbers)
        for label, numbers in (
            ("low", {"clock_mhz": 2400.0, "highest_mhz": 2600.0}),
            ("lower", {"clock_mhz": 1000.0, "highest_mhz": 2600.0}),
            ("slowed", {"clock_mhz": 1900.0}),
            ("slower", {"clock_mhz": 900.0}),
        )
    )
    assert sets_apart(lower, "low", [low, lower])
    assert not sets_apart(low, "lower", [low, lower])
    assert not sets_apart(slowed, "slower", [slowed, slower])


def test_blocks_that_others_disturbed_are_left_out() -> None:
    """Where most were calm, these tell how many cores are busy."""
    mixed = record("torch", beside(0.0, 1.1), beside(0.0, 1.1), beside(0.9, 0.2))
    (cause,) = found(records=[mixed], counters=busy(0.8))
    assert cause.numbers == {"threads": 2, "cores_used": pytest.approx(1.1)}


def test_threads_that_spin_are_told_from_threads_that_work() -> None:
    """Processors that are busy while no operation runs are busy with waiting."""
    (cause,) = found(host(1.0, idle_ms=3.0), counters=busy(1.9))
    assert cause.name == "spinning threads"
    assert cause.numbers["cores_explained"] == pytest.approx(2 * (1.0 - 0.35))
    assert [cause.name for cause in found(host(1.0, idle_ms=3.0), counters=busy(1.45))] == ["waiting threads"]
    assert found(host(1.0, idle_ms=0.5), counters=busy(1.8)) == []


def test_threads_of_several_devices_are_held_against_the_counters_of_all() -> None:
    """Four cores that two replicas of two threads keep busy are no threads that spin."""
    both = planned("torch", threads="2", devices="2")
    assert found(host(1.0, idle_ms=0.5), counters=busy(3.6), plan=both) == []
    (cause,) = found(counters=busy(2.2), plan=both)
    assert (cause.name, cause.numbers["threads"]) == ("waiting threads", 4)


def block(**changed: Any) -> Block:
    """Make a block of ten steps."""
    signals = Signals(wall_ns=1000, cpu_ns=1000)
    fields = {"turn": 0, "first_step": 10, "lead_steps": 1, "lead_ns": 1, "elapsed_ns": 1000, "signals": signals}
    return Block(**(fields | {"steps_ns": [100 * place for place in range(1, 11)]} | changed))


def beside(share: float | None, cores: float) -> Block:
    """Make a block of a second that keeps so many cores busy, while others take this share of all."""
    return block(signals=Signals(wall_ns=10**9, cpu_ns=int(cores * 10**9), foreign_share=share))


def record(label: str, *blocks: Block, clock_mhz: float | None = None) -> Record:
    """Make the record of a timed trial."""
    trial = TrialSpec(
        comparison="mlp-mnist-4f2a",
        name=f"r01-{label}",
        purpose="time",
        contender=planned(label).contender,
        framework_path="",
        workload_path="",
        workload_name="mlp-mnist",
        scenario="train",
        size="full",
        batch_size=32,
        seed=0,
        inputs_path="",
    )
    weather = {} if clock_mhz is None else {"clock_mhz": clock_mhz}
    return Record(trial=trial, outcome="done", started_at="", machine={}, blocks=list(blocks), weather=weather)


def test_programs_that_are_compiled_within_timed_blocks_are_counted() -> None:
    """None should be; a block that tells nothing counts none."""
    (cause,) = found(records=[record("torch", block(compilations=2), block(compilations=None))])
    assert (cause.name, cause.numbers) == ("recompilation", {"programs": 2, "steps": 20})
    assert "2 programs were compiled within 20 timed steps" in cause.said
    (cause,) = found(records=[record("torch", block(compilations=1, steps_ns=[100]))])
    assert "1 program was compiled within 1 timed step," in cause.said
    assert found(records=[record("torch", block(compilations=0)), record("calm", block())]) == []


def test_a_clock_is_held_against_the_others() -> None:
    """Behind another's by more than the margin, it is a cause of the one whose clock was lower."""
    calm = beside(0.0, 1.8)
    slow, fast = record("torch", calm, clock_mhz=2000.0), record("calm", calm, clock_mhz=2600.0)
    (cause,) = found(records=[slow, fast])
    assert (cause.name, cause.numbers) == ("clocks", {"clock_mhz": 2000.0, "highest_mhz": 2600.0})
    assert found(records=[record("torch", calm, clock_mhz=2550.0), fast]) == []


@pytest.mark.parametrize(("last_ns", "names"), [(980, ["host-bound steps"]), (910, ["host-bound steps"]), (890, [])])
def test_a_device_that_waits_for_the_host_is_told_by_when_dispatch_ends(last_ns: int, names: list[str]) -> None:
    """Where the last step is dispatched just before a block's end, nothing was queued."""
    on_gpu = planned("torch", device="cuda")
    calm = beside(0.0, 1.0).signals
    steps = record("torch", block(signals=calm, steps_ns=[*range(10, 100, 10), last_ns]))
    causes = causes_of(outcome([timed("torch", 10.0, plan=on_gpu, counters=CALM.counters)], []), (), [steps])
    assert [cause.name for cause in causes] == names


def test_ordinary_contenders_have_none() -> None:
    """Those of a report's examples name nothing."""
    assert causes_of(outcome([TORCH], [])) == []
