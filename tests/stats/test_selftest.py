from __future__ import annotations

import msgspec
import numpy as np
import pytest

from bakeoff.spec.selftest import TimerTest
from bakeoff.stats.selftest import judge_timer, may_tell

BLOCK_NS = 50_000_000


def readings(
    *, spread: float = 0.005, twice: float = 2.0, fetched: float = 0.0, profiled: float = 1.0, seed: int = 3
) -> TimerTest:
    """Make a pass of eight pairs: `twice` the time for twice the steps, `fetched` of a block pending after its wait."""
    random = np.random.default_rng(seed)
    single = BLOCK_NS * np.exp(random.normal(0.0, spread, 8))
    double = twice * BLOCK_NS * np.exp(random.normal(0.0, spread, 8))
    blocks = np.stack([single, double], axis=1).ravel()
    fenced = 20e6 * np.exp(random.normal(0.0, spread, 5))
    return TimerTest(
        steps=50,
        single_ns=single.astype(int).tolist(),
        double_ns=double.astype(int).tolist(),
        fetch_ns=(20_000 + fetched * blocks).astype(int).tolist(),
        again_ns=[18_000] * 16,
        block_ns=blocks.astype(int).tolist(),
        profiled_steps=20,
        fenced_ns=fenced.astype(int).tolist(),
        profiled_ns=(profiled * fenced).astype(int).tolist(),
        profiler="a profiler",
    )


def test_an_honest_timer_passes() -> None:
    """Twice the time for twice the work, nothing pending, a profiler that agrees: passed."""
    verdict = judge_timer("mine", [readings()])
    assert (verdict.outcome, verdict.reason) == ("passed", "")
    assert [check.outcome for check in verdict.checks] == ["passed"] * 3


@pytest.mark.parametrize(
    ("wrong", "check"),
    [({"twice": 1.7}, "doubling"), ({"twice": 2.4}, "doubling"), ({"profiled": 1.3}, "profiler"),
     ({"profiled": 0.7}, "profiler"), ({"fetched": 0.3}, "fetching")],
)  # fmt: skip
def test_a_wrong_timer_fails(wrong: dict[str, float], check: str) -> None:
    """Each of the checks alone refuses a timer, and the reason names it."""
    verdict = judge_timer("mine", [readings(**wrong)])
    assert verdict.outcome == "failed"
    assert verdict.reason.startswith(f"{check}: ")
    assert [one.name for one in verdict.checks if one.outcome == "failed"] == [check]


def test_an_empty_profile_fails() -> None:
    """A profiler that works and saw no operation is no missing profiler: the steps have computed nothing."""
    blind = msgspec.structs.replace(readings(), profiled_ns=[], profiler="a profiler saw no operator")
    assert judge_timer("mine", [blind]).outcome == "passed"
    verdict = judge_timer("mine", [msgspec.structs.replace(blind, profiler_empty=True)])
    assert verdict.outcome == "failed"
    assert verdict.reason == "profiler: a profiler saw no operator, and a step that computes is seen by it"


def test_a_profile_that_is_empty_at_times_passes_nobody() -> None:
    """Some sessions that saw nothing are no missing profiler; another pass tells what it was."""
    lost = msgspec.structs.replace(readings(), profiled_ns=[], profiler="a profiler", empty_sessions=1)
    verdict = judge_timer("mine", [lost])
    assert verdict.outcome == "untold"
    assert verdict.reason == "profiler: a profiler; some of its sessions saw no operation, and others did"
    assert judge_timer("mine", [lost, readings()]).outcome == "passed"
    blind = msgspec.structs.replace(lost, profiler_empty=True, empty_sessions=3)
    assert judge_timer("mine", [lost, blind]).outcome == "failed"


def test_a_profiler_that_was_never_tried_fails_nobody() -> None:
    """What it says is told as inconclusive; the other checks still refuse a wrong clock."""
    wrong = msgspec.structs.replace(readings(profiled=1.3), profiler_can_fail=False)
    verdict = judge_timer("mine", [wrong])
    assert verdict.outcome == "untold"
    assert "fails no timer" in verdict.reason
    assert judge_timer("mine", [readings(profiled=1.3), wrong]).outcome == "untold"  # in one pass of two is enough
    both = msgspec.structs.replace(readings(profiled=1.3, fetched=0.3), profiler_can_fail=False)
    assert judge_timer("mine", [both]).outcome == "failed"
    assert judge_timer("mine", [msgspec.structs.replace(readings(), profiler_can_fail=False)]).outcome == "passed"


def test_a_busy_machine_fails_nobody() -> None:
    """Where the readings spread too far nothing can be told, and more of them can tell."""
    wide = [readings(spread=0.1)]
    assert judge_timer("mine", wide).outcome == "untold"
    assert judge_timer("mine", [*wide, *[readings()] * 4]).outcome == "passed"


def test_stalls_that_long_blocks_meet_more_often_fail_nobody() -> None:
    """Under heavy load twice the steps may take seven times the time in every pair: no clock is told from that."""
    test = readings(spread=0.8, twice=7.0)
    verdict = judge_timer("mine", [test, readings(spread=0.8, twice=7.0)])
    (check,) = [one for one in verdict.checks if one.name == "doubling"]
    assert check.outcome == "untold", check.detail


def test_one_disturbed_block_fails_nobody() -> None:
    """A burst of other load in one block of eight is no finding about the timer."""
    test = readings()
    burst = msgspec.structs.replace(test, double_ns=[5 * test.double_ns[0], *test.double_ns[1:]])
    assert judge_timer("mine", [burst]).outcome == "untold"


def test_a_cheap_fetch_is_no_failure() -> None:
    """A result that comes sooner than when it is fetched once more is there all the same."""
    test = readings()
    assert judge_timer("mine", [msgspec.structs.replace(test, again_ns=[30_000_000] * 16)]).outcome == "passed"


def test_without_a_profiler_two_checks_are_left() -> None:
    """A framework that has nothing to ask is not refused; its reason is told."""
    bare = msgspec.structs.replace(readings(), fenced_ns=[], profiled_ns=[], profiler="there is none")
    verdict = judge_timer("mine", [bare])
    assert verdict.outcome == "passed"
    assert [(one.outcome, one.detail) for one in verdict.checks if one.name == "profiler"] == [
        ("unavailable", "there is none")
    ]


def test_nothing_read_is_nothing_told() -> None:
    """Without a pass there is no verdict on the timer."""
    assert judge_timer("mine", []).outcome == "untold"


PASSES = 3
"""How many a self-test has at most."""


def _told(seed: int, *, spares: bool, **of: float) -> tuple[str, int]:
    """Return the outcome of a self-test whose passes all have this spread and fault, and how many it made."""
    passes: list[TimerTest] = []
    while len(passes) < PASSES:
        passes.append(readings(seed=PASSES * seed + len(passes), **of))
        outcome = judge_timer("mine", passes).outcome
        if outcome != "untold" or (spares and not may_tell(passes, PASSES)):
            break
    return outcome, len(passes)


@pytest.mark.parametrize(("twice", "spread", "wanted"), [(2.0, 0.03, "passed"), (1.8, 0.05, "failed")])
def test_passes_that_may_tell_are_made(twice: float, spread: float, wanted: str) -> None:
    """An answer that three passes would give is lost in less than one self-test of seven."""
    always = [_told(seed, spares=False, twice=twice, spread=spread)[0] for seed in range(60)]
    spared = [_told(seed, spares=True, twice=twice, spread=spread)[0] for seed in range(60)]
    assert always.count(wanted) > 60 * 0.7
    assert spared.count(wanted) >= always.count(wanted) * 6 / 7


def test_passes_that_would_not_tell_are_spared() -> None:
    """Where readings spread by a fifth three passes have no answer, and most self-tests end after the first."""
    found = [_told(seed, spares=True, spread=0.2) for seed in range(60)]
    assert {outcome for outcome, _ in found} == {"untold"}
    assert sum(made for _, made in found) < 60 * 1.5


def test_one_disturbed_pair_of_few_ends_no_self_test() -> None:
    """By t a first pass of five pairs reaches far where one was disturbed, and three passes together do not."""
    blocks = [63, 63, 64, 64, 63]
    doubled = [126, 127, 128, 128, 152]
    few = msgspec.structs.replace(
        readings(spread=0.0),
        single_ns=[block * 1_000_000 for block in blocks],
        double_ns=[block * 1_000_000 for block in doubled],
    )
    assert judge_timer("mine", [few]).outcome == "untold"
    assert may_tell([few], PASSES)
    calm = msgspec.structs.replace(few, double_ns=[2 * block for block in few.single_ns])
    assert judge_timer("mine", [few, calm, calm]).outcome == "passed"


def test_sessions_that_saw_nothing_are_tried_again() -> None:
    """A profiler that saw nothing in some sessions has given no reading that could be narrowed."""
    blind = msgspec.structs.replace(readings(), profiled_ns=[], empty_sessions=1)
    assert may_tell([blind], PASSES)
