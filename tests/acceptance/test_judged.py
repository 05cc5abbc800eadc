"""What an acceptance concludes of outcomes, each made by hand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from tests.report.conftest import JAX, TORCH, certificate, outcome, verdict

from bakeoff.judge import acceptance
from bakeoff.judge.bare import AgainstBare
from bakeoff.judge.light import Light, Peak
from bakeoff.judge.ping_pong import TwoWays, quickest
from bakeoff.spec.acceptance import Acceptance, CheckResult, State
from bakeoff.spec.probe import ProbeAnswer
from bakeoff.spec.selftest import TimerVerdict
from bakeoff.spec.verdict import Certificate, Check, Interval, VerdictKind


def held(share: float, *, passed: bool = True) -> Certificate:
    """Make a certificate whose gradients use this share of what is allowed."""
    check = Check(name="gradients", stage="timed", passed=passed, detail="", error=share * 1e-4, allowed=1e-4)
    return Certificate(
        contender="torch", reference="jax in float64", passed=passed, checks=(check,), reason="gradients"
    )


def unmeasured() -> Certificate:
    """Make a certificate that passed without any error having been measured."""
    (check,) = held(0.3).checks
    return msgspec.structs.replace(held(0.3), checks=(msgspec.structs.replace(check, error=None, allowed=None),))


@pytest.mark.parametrize(
    ("found", "state"),
    [
        ({0: [held(0.3)], 1: [held(0.5)]}, "passed"),
        ({0: [held(0.3)]}, "inconclusive"),
        ({0: [held(0.3)], 1: [held(0.6)]}, "inconclusive"),
        ({0: [held(0.3)], 1: [held(1.2, passed=False)]}, "failed"),
        ({0: [held(1.2, passed=False)]}, "failed"),
        ({}, "inconclusive"),
        ({0: [certificate("torch", reason="no")], 1: []}, "failed"),
        ({0: [held(0.3)], 1: []}, "inconclusive"),
        ({0: [unmeasured()], 1: [unmeasured()]}, "inconclusive"),
    ],
)
def test_certificates_pass_at_every_seed_and_with_room(found: dict[int, list[Certificate]], state: State) -> None:
    """One that is refused fails; too few seeds, errors near what is allowed, or none at all, carry no answer."""
    assert acceptance.certificates(found, 2).state == state


def test_the_closest_error_is_named() -> None:
    """With its contender, its check and its seed."""
    assert (
        "largest error: 0.50 of what is allowed (torch, gradients, seed 1)"
        in acceptance.certificates({0: [held(0.3)], 1: [held(0.5)]}, 2).found
    )


@pytest.mark.parametrize(
    ("planted", "state"),
    [(held(3.0, passed=False), "passed"), (held(0.3), "failed"), (certificate("torch", reason="no"), "inconclusive")],
)
def test_a_planted_fault_is_refused_for_its_arithmetic(planted: Certificate, state: State) -> None:
    """A certificate that came to nothing for another reason proves nothing."""
    assert acceptance.injected(planted, "float32", "tf32").state == state


@pytest.mark.parametrize(
    ("kinds", "rounds", "state"),
    [
        (["equal"], 8, "passed"),
        (["undecided"], 8, "passed"),
        (["undecided"], 2, "inconclusive"),
        (["faster", "equal"], 8, "passed"),
        (["faster", "slower"], 8, "failed"),
    ],
)
def test_a_contender_against_itself_has_no_winner(kinds: list[VerdictKind], rounds: int, state: State) -> None:
    """One winner may be chance, and is told; a second one is not."""
    races = [
        outcome(
            [TORCH, TORCH], [msgspec.structs.replace(verdict("torch", "torch (2)", kind, 1.0, 0.9, 1.1), rounds=rounds)]
        )
        for kind in kinds
    ]
    assert acceptance.itself(races).state == state


@pytest.mark.parametrize(("kind", "state"), [("slower", "passed"), ("equal", "failed"), ("undecided", "inconclusive")])
def test_tf32_is_faster(kind: VerdictKind, state: State) -> None:
    """Float32 is named first, so it has to be the slower one; the pair may be written either way."""
    mirrored: dict[VerdictKind, VerdictKind] = {"slower": "faster"}
    assert acceptance.tf32(outcome([TORCH, JAX], [verdict("torch", "jax", kind, 2.0, 1.9, 2.1)])).state == state
    other = verdict("jax", "torch", mirrored.get(kind, kind), 0.5, 0.4, 0.6)
    assert acceptance.tf32(outcome([TORCH, JAX], [other])).state == state


@pytest.mark.parametrize(
    ("low", "high", "state"),
    [(0.99, 1.01, "passed"), (1.03, 1.2, "failed"), (0.9, 0.97, "failed"), (0.97, 1.01, "inconclusive")],
)
def test_two_step_times_agree_by_the_whole_interval(low: float, high: float, state: State) -> None:
    """In ping-pong and alone, of bakeoff and of a bare loop; an interval across the limit carries no answer."""
    ratio = Interval(estimate=(low + high) / 2, low=low, high=high)
    assert acceptance.ping_pong([TwoWays(label="torch", rounds=5, quickest=ratio)]).state == state
    assert acceptance.bare(AgainstBare(label="torch", rounds=5, ratio=ratio)).state == state
    assert acceptance.bare(AgainstBare(label="torch", rounds=2)).state == "inconclusive"


def test_a_busy_machine_refuses_nothing() -> None:
    """Two times that differ there say nothing of bakeoff; two that agree do."""
    apart, same = (Interval(estimate=one, low=one, high=one) for one in (1.2, 1.0))
    for found, calm, state in ((apart, False, "inconclusive"), (apart, True, "failed"), (same, False, "passed")):
        assert acceptance.ping_pong([TwoWays(label="torch", rounds=5, quickest=found)], calm=calm).state == state
        assert acceptance.bare(AgainstBare(label="torch", rounds=5, ratio=found), calm=calm).state == state


def test_a_timer_that_was_not_tested_is_not_passed() -> None:
    """Nor is one that was untold, on a busy machine."""
    passed, untold = (TimerVerdict(contender=name, outcome=name) for name in ("passed", "untold"))  # type: ignore[arg-type]
    assert acceptance.timers([passed], ["passed"]).state == "passed"
    assert acceptance.timers([passed], ["passed", "lost"]).state == "failed"
    assert acceptance.timers([passed, untold], ["passed", "untold"]).state == "inconclusive"


def test_what_is_not_applicable_does_not_keep_an_acceptance_from_passing() -> None:
    """Everything else does."""
    states: tuple[State, ...] = ("passed", "not applicable")
    checks = [CheckResult(key=one, title=one, expected="", most_s=1.0, state=one) for one in states]
    whole = Acceptance(
        id="", created_at="", bakeoff="", contenders=(), device="cuda", size="full", machine={}, checks=checks
    )
    assert whole.has_passed
    for state in ("failed", "inconclusive", "not reached"):
        worse = [*checks, msgspec.structs.replace(checks[0], state=state)]
        assert not msgspec.structs.replace(whole, checks=worse).has_passed
    for nothing in ([], checks[1:]):
        assert not msgspec.structs.replace(whole, checks=nothing).has_passed


def test_environments_that_were_not_asked_have_not_passed() -> None:
    """Nor have those of which one cannot be used."""
    works = ProbeAnswer(versions={"torch": "2.13.0"}, devices=["cpu", "cuda"], cuda="13.0")
    assert acceptance.devices({"torch": works}, {}).state == "passed"
    assert acceptance.devices({}, {}).state == "failed"
    assert acceptance.devices({"torch": works}, {"torch": "no kernels"}).state == "failed"


def test_a_race_needs_every_contender_timed() -> None:
    """One that was left out, or lost on the way, is named."""
    raced = outcome([TORCH, JAX], [verdict("torch", "jax", "equal", 1.0, 0.99, 1.01)])
    assert acceptance.race(raced).state == "passed"
    left_out = msgspec.structs.replace(raced.comparison, excluded={"mlx": "no GPU"})
    found = acceptance.race(msgspec.structs.replace(raced, comparison=left_out))
    assert (found.state, found.found) == ("failed", "mlx: no GPU")
    unlit = [msgspec.structs.replace(one, light=None) for one in raced.contenders]
    assert acceptance.light(msgspec.structs.replace(raced, contenders=unlit)).state == "inconclusive"


def test_a_search_that_stopped_has_not_passed() -> None:
    """A size of another framework under the same limit is no answer for it."""
    search = SimpleNamespace(limit_bytes=1, gpu_limit_bytes=9)
    for state, expected in (("found", "passed"), ("unfinished", "inconclusive"), ("stopped", "failed")):
        found = [SimpleNamespace(label=one, state=one, largest=8, reason="") for one in ("found", state)]
        whole: Any = SimpleNamespace(found=found, search=search)
        assert acceptance.batches(whole).state == expected


def test_ping_pong_is_held_against_alone_and_not_the_other_way() -> None:
    """Slower steps in ping-pong are a ratio above one."""
    found = quickest([[1.0, 1.0]] * 3, [[2.0, 2.0]] * 3)
    assert (found.estimate, found.low, found.high) == (2.0, 2.0, 2.0)


def test_a_whole_is_as_bad_as_its_worst_part() -> None:
    """A part that was not reached hides none that failed, and one that carries no answer none that was not reached."""
    order: list[State] = ["failed", "not reached", "inconclusive", "passed"]
    for place, state in enumerate(order):
        assert acceptance.worst([*reversed(order[place:]), "not applicable"]) == state
    assert acceptance.worst(["not applicable"]) == "not applicable"


def test_rates_are_told_as_two_operations_for_each_multiplication() -> None:
    """Of 1 GMAC/s and a peak of 4: 2 of 8 GFLOP/s, a quarter of it."""
    peak = Peak(device="cpu", precision="float32", threads="2", macs_per_s=4e9, macs_by="torch")
    rates = {"macs_per_s": 1e9, "macs_share": 0.25, "bytes_share": None, "least_share": 0.25}
    held = Light(peak=peak, macs=1, least_macs=1, bytes=1, beyond_cache_bytes=0, **rates)  # type: ignore[arg-type]
    found = acceptance.light(outcome([msgspec.structs.replace(TORCH, light=held)], []))
    assert (found.state, found.found) == ("passed", "torch 2 GFLOP/s, 25 % of the 8 GFLOP/s by torch")


def test_the_interval_of_quickest_quarters_is_of_95_percent() -> None:
    """One round of ten is quicker: three and more of ten that are drawn again are it in 7 %, four in 1.3 % of draws."""
    found = quickest([[1.0]] * 10, [[0.9], *[[1.0]] * 9])
    assert (found.estimate, found.low, found.high) == pytest.approx((1.0, 0.925, 1.0))


def test_a_step_beyond_the_peak_fails_although_a_race_would_only_warn() -> None:
    """An acceptance asks for no more than was reached here; up to twice of it a race believes."""
    peak = Peak(device="cpu", precision="float32", threads="2", macs_per_s=4e9, macs_by="torch")
    rates = {"macs_per_s": 5e9, "macs_share": 1.25, "bytes_share": None, "least_share": 1.25}
    beyond = Light(peak=peak, macs=1, least_macs=1, bytes=1, beyond_cache_bytes=0, finding="too fast", **rates)  # type: ignore[arg-type]
    assert not beyond.is_refused
    found = acceptance.light(outcome([msgspec.structs.replace(TORCH, light=beyond)], []))
    assert (found.state, found.found) == ("failed", "torch: too fast")
