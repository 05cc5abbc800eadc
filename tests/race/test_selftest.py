from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from bakeoff.frameworks.fake import engine
from bakeoff.judge.comparison import judge_comparison
from bakeoff.race import prepare, remembered
from bakeoff.race.progress import Event, TimerTested, TrialStarted
from bakeoff.race.stages import selftest
from bakeoff.report.pages.comparison import cautions
from bakeoff.spec import protocol
from bakeoff.spec.per_sample import PerSample
from bakeoff.spec.selftest import TimerTest
from bakeoff.store.results import read_records
from bakeoff.trial import opened

if TYPE_CHECKING:
    from tests.race.conftest import Race

    from bakeoff.judge.outcome import Outcome
    from bakeoff.spec.record import Record

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("home")]

HONEST, BROKEN = "fake", "fake:fault=asynchronous"


def selftests_of(outcome: Outcome) -> dict[str, Record]:
    """Give the self-tests in a comparison's folder, by the contender's label."""
    records = read_records(Path(outcome.path)).records.values()
    return {record.trial.contender.label: record for record in records if record.trial.purpose == "selftest"}


def test_a_wait_that_does_nothing_is_refused(race: Race) -> None:
    """A contender whose wait does not wait is not ranked, the reason says so, and its readings are in the record."""
    outcome = race(HONEST, "fake:step_ms=2", BROKEN, self_test=True, max_rounds=3)
    honest, other, broken = outcome.contenders
    assert [one.status for one in (honest, other, broken)] == ["ranked", "ranked", "refused"]
    assert "fetching the result takes" in broken.reason
    assert "the script's own ledger gives" in broken.reason
    assert broken.timer is not None
    assert broken.timer.outcome == "failed"
    assert {one.first for one in outcome.verdicts} | {one.second for one in outcome.verdicts} == {
        HONEST,
        "fake:step_ms=2",
    }
    (reading,) = selftests_of(outcome)[BROKEN].timer
    assert all(fetch > 5 * block for fetch, block in zip(reading.fetch_ns, reading.block_ns, strict=True))


def test_a_passed_test_is_remembered(race: Race) -> None:
    """The next comparison takes the test in instead of making it, and its record names where it was made."""
    first = race(HONEST, "fake:step_ms=2", self_test=True, max_rounds=3)
    events: list[Event] = []
    second = race(HONEST, "fake:step_ms=3", observe=events.append, self_test=True, max_rounds=3)
    started = [event.label for event in events if isinstance(event, TrialStarted) and event.purpose == "selftest"]
    assert started == ["fake:step_ms=3"]
    assert [event.verdict.outcome for event in events if isinstance(event, TimerTested)] == ["passed", "passed"]
    assert selftests_of(second)[HONEST].trial.comparison == first.comparison.id
    assert selftests_of(second)["fake:step_ms=3"].trial.comparison == second.comparison.id
    timer = second.contenders[0].timer
    assert timer is not None
    assert timer.comparison == first.comparison.id


def test_a_test_with_other_variables_does_not_hold(race: Race, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the user's environment sets for the framework is part of what was tested."""
    monkeypatch.delenv("MALLOC_TOP_PAD_", raising=False)
    race(HONEST, self_test=True, max_rounds=1)
    monkeypatch.setenv("MALLOC_TOP_PAD_", "65536")
    later = race(HONEST, self_test=True, max_rounds=1)
    assert selftests_of(later)[HONEST].trial.comparison == later.comparison.id


@pytest.mark.parametrize(("apart", "made"), [(1.0, 1), (1.1, 2), (2.0, 1)])
def test_passes_that_would_not_tell_either_are_not_made(apart: float, made: int) -> None:
    """Calm readings tell at once, unsteady ones are asked for again, and hopeless ones are not."""
    block, count = 20_000_000, 24
    doubled = [round(2 * block * (apart if pair % 2 else 1 / apart)) for pair in range(count)]
    test = TimerTest(
        steps=1, single_ns=[block] * count, double_ns=doubled,
        fetch_ns=[0] * 8, again_ns=[0] * 8, block_ns=[block] * 8,
        profiled_steps=10, fenced_ns=[], profiled_ns=[], profiler="none",
    )  # fmt: skip
    asked: list[Any] = []

    def ask(command: Any) -> protocol.Tested:
        asked.append(command)
        return protocol.Tested(test)

    steps = {"warm_up": lambda: [block], "pass_steps": 1, "whole": int}
    selftest._passes(SimpleNamespace(ask=ask, tell=lambda _: None, label="mine", **steps))
    assert len(asked) == made


def test_pairs_are_counted_from_whole_passes() -> None:
    """Batches of sixteen shapes make a block sixteen steps long, and leave time for the fewest pairs alone."""
    single, whole = selftest.timer_plan(0.08), selftest.timer_plan(0.08, lambda steps: -(-steps // 16) * 16)
    assert (single.steps, single.pairs) == (1, 7)
    assert (whole.steps, whole.pairs) == (16, selftest.SIZES.fewest_pairs)


@pytest.mark.parametrize(
    ("step_s", "steps"), [(5.0, 10), (0.005, 20), (0.002, 40), (0.001, 40), (1e-4, 100), (1e-5, 1000), (1e-9, 1000)]
)
def test_a_session_of_a_profiler_lasts_long_enough(step_s: float, steps: int) -> None:
    """What lies before its first operator is the same for ten steps and a thousand: honest ones of 10 us failed."""
    assert selftest.timer_plan(step_s).profiled_steps == steps


@pytest.mark.parametrize("other", [{"batch_size": 4}, {"scenario": "infer"}, {"size": "full"}])
def test_a_test_of_other_work_does_not_hold(race: Race, other: dict[str, Any]) -> None:
    """A clock that was shown to be right in one step is tested again with another batch, scenario or size."""
    race(HONEST, self_test=True, max_rounds=1)
    later = race(HONEST, self_test=True, max_rounds=1, **other)
    assert selftests_of(later)[HONEST].trial.comparison == later.comparison.id


def test_a_test_of_other_clipping_does_not_hold(race: Race) -> None:
    """What a step with per-sample gradients does besides, such as drawing noise, is part of what was tested."""
    record = selftests_of(race(HONEST, self_test=True, max_rounds=1))[HONEST]
    noisy = msgspec.structs.replace(record.trial, per_sample=PerSample(noise_multiplier=1.1))
    assert selftest.remembered(record) is not None
    assert selftest.remembered(msgspec.structs.replace(record, trial=noisy)) is None


def test_a_test_on_batches_of_one_length_does_not_hold_for_many(race: Race) -> None:
    """A step on batches of many lengths may be compiled, and waited for, in other ways than on those of one."""
    record = selftests_of(race(HONEST, self_test=True, max_rounds=1))[HONEST]
    many = msgspec.structs.replace(record.trial, pass_steps=record.trial.pass_steps + 3)
    assert selftest.remembered(record) is not None
    assert selftest.remembered(msgspec.structs.replace(record, trial=many)) is None


def test_a_test_by_other_code_does_not_hold(race: Race, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was measured by another text of the measuring code, or of the framework's folder, is measured again."""
    race(HONEST, self_test=True, max_rounds=1)
    with monkeypatch.context() as patch:
        patch.setattr(remembered, "code_sha256", lambda _: "another")
        later = race(HONEST, self_test=True, max_rounds=1)
    assert selftests_of(later)[HONEST].trial.comparison == later.comparison.id
    for module in (prepare, opened):
        monkeypatch.setattr(module, "folder_sha256", lambda _: "another")
    last = race(HONEST, self_test=True, max_rounds=1)
    assert selftests_of(last)[HONEST].trial.comparison == last.comparison.id


def test_a_failed_test_is_made_again(race: Race) -> None:
    """A failure is not remembered: what was wrong may have been mended."""
    for _ in range(2):
        events: list[Event] = []
        race(HONEST, BROKEN, observe=events.append, self_test=True, max_rounds=1)
        started = [event for event in events if isinstance(event, TrialStarted) and event.purpose == "selftest"]
        assert BROKEN in {event.label for event in started}


def test_what_could_not_be_told_is_asked_again_after_an_hour(race: Race, monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine is not tested anew by every comparison of a study, and not believed for ever."""
    noisy = "fake:noise=2"

    def made() -> tuple[str, bool]:
        events: list[Event] = []
        race(noisy, observe=events.append, self_test=True, max_rounds=1)
        (told,) = (event for event in events if isinstance(event, TimerTested))
        is_made = any(isinstance(event, TrialStarted) and event.purpose == "selftest" for event in events)
        return told.verdict.outcome, is_made

    assert [made(), made()] == [("untold", True), ("untold", False)]
    monkeypatch.setattr(selftest, "DISTURBED_HOLDS", timedelta(0))
    assert made() == ("untold", True)


def test_a_damaged_memory_is_no_memory(race: Race, memory: Path) -> None:
    """A remembered test that is not as it was written is made again."""
    race(HONEST, "fake:step_ms=2", self_test=True, max_rounds=1)
    for record in (memory / "selftests").glob("*/record.json"):
        record.write_text(record.read_text().replace('"steps":', '"stepz":', 1))
    again = race(HONEST, "fake:step_ms=2", self_test=True, max_rounds=1)
    assert {record.trial.comparison for record in selftests_of(again).values()} == {again.comparison.id}


def test_a_crash_is_no_finding_about_the_clock(race: Race) -> None:
    """A self-test that fails for another reason refuses nobody; its reason is told."""
    outcome = race(HONEST, "fake:fault=raise,fault_at=block", self_test=True, max_rounds=3)
    timer = outcome.contenders[1].timer
    assert timer is not None
    assert (timer.outcome, timer.reason) == ("untold", "RuntimeError: a scripted failure")
    assert outcome.contenders[1].status == "failed"


def test_every_timed_trial_has_a_fenced_part(race: Race) -> None:
    """At least ten steps are waited for one by one after the last block, and told with p50, p90 and their number."""
    outcome = race("fake:noise=0.05", "fake:step_ms=40", max_rounds=3)
    timed = [record for record in read_records(Path(outcome.path)).records.values() if record.trial.purpose == "time"]
    assert timed
    assert all(len(record.fenced_steps_ns) >= 10 for record in timed)
    for one in outcome.contenders:
        mine = [record for record in timed if record.trial.contender.label == one.label]
        assert one.fenced_steps == sum(len(record.fenced_steps_ns) for record in mine)
        assert one.fenced_p50_s is not None
        assert one.fenced_p90_s is not None
        assert one.fenced_p50_s <= one.fenced_p90_s
    assert outcome.contenders[1].fenced_p50_s == pytest.approx(0.04)


def test_a_synchronous_framework_hides_nothing(race: Race) -> None:
    """The fenced median of steps that are done when they return is the streamed one, within their noise."""
    hidden = race("fake:noise=0.05", "fake:step_ms=2", max_rounds=3).contenders[0].hidden_s
    assert hidden is not None
    assert abs(hidden.estimate) < 0.00003


def test_a_wait_that_costs_much_beside_the_step_is_told(race: Race, monkeypatch: pytest.MonkeyPatch) -> None:
    """What waiting costs by itself is in every timed record, and from 2 % of a fenced step on a warning names it."""
    monkeypatch.setattr(
        engine.Step, "wait", lambda step: engine.pass_time(100_000) if step._number("step_ms") < 5 else None
    )
    dear, cheap = (outcome := race("fake:step_ms=2", "fake:step_ms=20", max_rounds=3)).contenders
    assert (dear.wait_s, cheap.wait_s) == (pytest.approx(1e-4), 0.0)
    (warning,) = [sentence for sentence in cautions(outcome) if "nothing to wait for" in sentence]
    assert warning.startswith("fake:step_ms=2: waiting for it costs 0.10 ms")
    assert "4.8 % of its fenced step" in warning


def test_records_without_the_cost_of_waiting_are_read(root: Path) -> None:
    """A comparison of an earlier version has no such figure, and no warning about it."""
    outcome = judge_comparison(root / "tests" / "records" / "mlp-mnist-fada")
    assert {one.wait_s for one in outcome.contenders} == {None}
    assert not [sentence for sentence in cautions(outcome) if "nothing to wait for" in sentence]
