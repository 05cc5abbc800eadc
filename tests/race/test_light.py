"""Shares of the machine's peaks, and steps that are faster than these allow: with scripted peaks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from bakeoff.frameworks.fake import engine
from bakeoff.judge.comparison import judge_comparison
from bakeoff.race.progress import Event, TrialStarted
from bakeoff.race.stages import peaks
from bakeoff.store.results import read_records

if TYPE_CHECKING:
    from tests.race.conftest import Race

    from bakeoff.judge.outcome import Outcome
    from bakeoff.spec.record import Record

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("home")]

QUICK: dict[str, Any] = {"self_test": True, "max_rounds": 1}


def readings(outcome: Outcome) -> dict[str, Record]:
    """Give the trials of peaks in a comparison's folder, by their names."""
    records = read_records(Path(outcome.path)).records
    return {name: record for name, record in records.items() if record.trial.purpose == "peak"}


def test_a_step_has_its_share_of_the_scripted_peak(race: Race) -> None:
    """The share is the MACs of a step over its time and the peak, by the better of two frameworks' readings."""
    outcome = race("fake:peak_gmacs=2", "fake:step_ms=2,peak_gmacs=4", **QUICK)
    assert outcome.comparison.work is not None
    macs = outcome.comparison.work.macs
    for one, step_s in zip(outcome.contenders, (0.001, 0.002), strict=True):
        assert one.status == "ranked"
        assert one.light is not None
        assert one.light.peak.macs_per_s == pytest.approx(4e9, rel=1e-3)
        assert one.light.peak.macs_by.startswith("fake:step_ms=2,peak_gmacs=4")
        assert one.light.macs_share == pytest.approx(macs / step_s / 4e9, rel=1e-3)
        assert one.light.finding == ""


@pytest.mark.parametrize(("share", "status"), [(0.9, "ranked"), (1.5, "ranked"), (2.5, "refused")])
def test_steps_that_do_nothing_are_refused_by_the_peak(race: Race, share: float, status: str) -> None:
    """A step that would need more than twice the peak is refused with both numbers; from once on there is a warning."""
    work = race("fake", self_test=False, max_rounds=1).comparison.work
    assert work is not None
    gmacs = work.least_macs / 0.001 / share / 1e9
    honest, other = race(f"fake:step_ms=50,peak_gmacs={gmacs}", f"fake:peak_gmacs={gmacs}", **QUICK).contenders
    assert (honest.status, other.status) == ("ranked", status)
    assert other.light is not None
    assert bool(other.light.finding) == (share > 1)
    if status == "refused":
        assert "doubtful, faster than this machine's peak allows" in other.reason
        assert "a step takes 1 ms and multiplies at least" in other.reason


def test_readings_are_remembered_and_adopted(race: Race) -> None:
    """The next comparison measures nothing again, whatever its workload's size, and names where it was measured."""
    first = race("fake", **QUICK)
    events: list[Event] = []
    second = race("fake", "fake:step_ms=3", observe=events.append, batch_size=4, size="full", **QUICK)
    started = [event.label for event in events if isinstance(event, TrialStarted) and event.purpose == "peak"]
    assert started == ["fake:step_ms=3"]
    assert readings(second)["peak-fake"].trial.comparison == first.comparison.id
    assert judge_comparison(Path(second.path)).contenders[0].light == second.contenders[0].light


def test_the_best_of_others_is_taken_in(race: Race) -> None:
    """A lone contender stands against the machine's peak, which another framework has reached before."""
    race("fake:peak_gmacs=4", **QUICK)
    second = race("fake:peak_gmacs=2", **QUICK)
    assert sorted(readings(second)) == ["peak-before-1", "peak-fake-peak_gmacs=2"]
    light = second.contenders[0].light
    assert light is not None
    assert light.peak.macs_per_s == pytest.approx(4e9, rel=1e-3)
    assert "before" in light.peak.macs_by
    third = race("fake:peak_gmacs=4", **QUICK)
    assert list(readings(third)) == ["peak-fake-peak_gmacs=4"]


def test_a_disturbed_reading_holds_for_an_hour_and_refuses_nobody(race: Race, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was measured beside other processes is too low a peak to refuse by, and is measured again later."""
    monkeypatch.setattr(peaks, "remember", _disturbed(peaks.remember))
    slow = "fake:peak_gmacs=0.01"
    assert race(slow, **QUICK).contenders[0].status == "refused"
    adopted = race(slow, **QUICK)
    (light,) = [one.light for one in adopted.contenders]
    assert light is not None
    assert (light.peak.calm, adopted.contenders[0].status) == (False, "ranked")
    assert light.finding
    monkeypatch.setattr(peaks, "DISTURBED_HOLDS", peaks.DISTURBED_HOLDS * 0)
    again = race(slow, **QUICK)
    (record,) = readings(again).values()
    assert record.trial.comparison == again.comparison.id


def _disturbed(remember: Any) -> Any:
    """Give a function that remembers a reading as if half of the processors had been others'."""

    def changed(record: Record) -> None:
        assert record.peaks is not None
        remember(msgspec.structs.replace(record, peaks=msgspec.structs.replace(record.peaks, foreign_share=0.5)))

    return changed


def test_an_engine_without_plain_products_states_no_share(race: Race, monkeypatch: pytest.MonkeyPatch) -> None:
    """The two methods of the port are optional: without them everything else goes on."""
    monkeypatch.delattr(engine.Engine, "product")
    outcome = race("fake", **QUICK)
    (only,) = outcome.contenders
    assert (only.status, only.light) == ("ranked", None)
    reading = readings(outcome)["peak-fake"].peaks
    assert reading is not None
    assert reading.reason == "this framework's engine has no plain product to time"


def test_a_product_that_is_wrong_is_no_peak(race: Race, monkeypatch: pytest.MonkeyPatch) -> None:
    """What does not multiply has no rate of products, so nobody's share and nobody's rank rest on it."""
    product = engine.Engine.product
    monkeypatch.setattr(engine.Engine, "product", lambda self, left, right: product(self, left, 0 * right))
    outcome = race("fake", **QUICK)
    assert outcome.contenders[0].light is None
    reading = readings(outcome)["peak-fake"].peaks
    assert reading is not None
    assert "is not what it should be" in reading.reason
    assert reading.sums is not None


def test_without_self_tests_nothing_is_measured(race: Race) -> None:
    """Who skips the self-test of the timers skips the peaks, too."""
    outcome = race("fake", max_rounds=1)
    assert not readings(outcome)
    assert outcome.contenders[0].light is None
