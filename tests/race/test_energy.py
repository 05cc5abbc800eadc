"""Trials of energy, with a meter that counts reading by reading."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from tests.explaining.test_causes import record

from bakeoff.judge import energy as judging
from bakeoff.measure.energy import meters, names
from bakeoff.race import devices
from bakeoff.race.stages import energy
from bakeoff.report.sections.energy import energy_line, energy_table
from bakeoff.report.sections.figures import summary
from bakeoff.spec.contender import Contender
from bakeoff.spec.record import EnergyReading, Record
from bakeoff.store.results import read_records

STEPS = 2000
"""Two seconds of steps of a millisecond."""


class Meter:
    """Counts a joule from each reading to the next."""

    name = "package-0"

    def __init__(self) -> None:
        """Start at nothing."""
        self._readings = count()

    def read_uj(self) -> int:
        """Give the count."""
        return 1_000_000 * next(self._readings)

    def between_uj(self, before: int, after: int) -> int:
        """Subtract."""
        return after - before


@pytest.fixture
def metered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give the machine a meter."""
    meter = Meter()
    for module in (energy, devices):
        monkeypatch.setattr(module, "meters", lambda device, uuid: ([meter], "") if device == "cpu" else ([], "none"))


@pytest.mark.usefixtures("metered")
def test_energy_is_joules_over_samples_in_trials_of_their_own(race: Any) -> None:
    """Five rounds give each contender an interval; the timed rounds are as many as without them."""
    outcome = race("fake", "fake:step_ms=2", max_rounds=3)
    first, second = (one.energy for one in outcome.contenders)
    samples = STEPS * outcome.comparison.batch_size
    assert (first.rounds, first.source) == (5, "package-0")
    assert first.joules_per_sample == pytest.approx(1 / samples)
    assert second.joules_per_sample == pytest.approx(2 / samples)
    assert first.interval.low == pytest.approx(first.interval.high)
    records = read_records(Path(outcome.path)).records
    assert sum(record.trial.purpose == "energy" for record in records.values()) == 10
    assert (outcome.rounds, outcome.processes) == (3, 6)
    assert [line.cells[0] for line in energy_table(outcome).lines] == [line.cells[0] for line in summary(outcome).lines]


def test_energy_is_the_sum_of_all_meters(race: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A processor with two packages, of which each counts a joule, has spent two."""
    both = [Meter(), Meter()]
    both[1].name = "package-1"
    for module in (energy, devices):
        monkeypatch.setattr(module, "meters", lambda device, uuid: (both, "") if device == "cpu" else ([], "none"))
    outcome = race("fake", max_rounds=1)
    known = outcome.contenders[0].energy
    assert known.source == "package-0 + package-1"
    assert known.joules_per_sample == pytest.approx(2 / (STEPS * outcome.comparison.batch_size))


@pytest.mark.usefixtures("metered")
def test_a_spent_budget_leaves_no_time_for_energy(race: Any) -> None:
    """Rounds come first; that nothing was measured is said."""
    outcome = race("fake", "fake:step_ms=2", max_rounds=3, budget_s=1e-6)
    assert not any(one.energy for one in outcome.contenders)
    assert energy_line(outcome) == "Energy: not measured, no time was left after the rounds."


def test_a_machine_that_cannot_tell_says_why(race: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The reason is in the comparison and in the report, and no trial is run."""
    monkeypatch.setattr("bakeoff.measure.energy.POWERCAP", tmp_path)
    outcome = race("fake", max_rounds=3)
    assert outcome.comparison.no_energy == meters()[1]
    assert energy_line(outcome).startswith("Energy: not available here, no RAPL package under")
    assert not list(Path(outcome.path).glob("energy*"))


@pytest.mark.usefixtures("pretended_gpus")
def test_contenders_on_different_devices_share_no_meters(race: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each has its own device's, and it is said that the figures are not to be compared."""
    names = {"cpu": "package-0", "cuda": "GPU 0 only"}

    def meters_of(device: str, uuid: str) -> tuple[list[Meter], str]:
        meter = Meter()
        assert uuid.startswith("GPU-")
        meter.name = names[device]
        return [meter], ""

    for module in (energy, devices):
        monkeypatch.setattr(module, "meters", meters_of)
    outcome = race("fake", "fake:device=cuda", max_rounds=1)
    assert [one.energy.source for one in outcome.contenders] == ["package-0", "GPU 0 only"]
    assert energy_line(outcome).endswith("their figures are not to be compared.")


def test_all_gpus_of_a_contender_are_counted_and_their_processor_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its energy is that of all its devices; where one of them counts nothing, there is none."""
    package, own = Meter(), {name: Meter() for name in ("GPU 0", "GPU 1")}
    for name, meter in own.items():
        meter.name = name
    monkeypatch.setattr(energy, "meters", lambda device, uuid: ([package, own[uuid]], "") if uuid in own else ([], ""))
    monkeypatch.setattr(energy, "uuids_for", lambda _, count: [f"GPU {number}" for number in range(count)])
    contender = Contender(framework="fake", label="fake", options={"device": "cuda"})
    plans: list[Any] = [SimpleNamespace(contender=contender, devices=devices) for devices in (2, 3)]
    assert names(energy.meters_of(plans[0], "GPU 0")) == "package-0 + GPU 0 + GPU 1"
    assert energy.meters_of(plans[1], "GPU 0") == []


def counted(joules: float, steps: int = 10, outcome: str = "done") -> Record:
    """Give a trial of energy of batch 32."""
    reading = EnergyReading(joules=joules, steps=steps, source="package-0")
    return msgspec.structs.replace(record("torch"), outcome=outcome, energy=reading)


def test_a_sample_s_energy_is_that_of_the_round_in_the_middle() -> None:
    """Joules over the samples of each round's own steps; trials without a reading, or that were lost, are no rounds."""
    rounds = [counted(320.0), counted(1280.0, steps=20), counted(9600.0)]
    found = judging.energy([record("torch"), *rounds, counted(1e9, outcome="crashed")])
    assert found is not None
    assert (found.joules_per_sample, found.rounds, found.source) == (pytest.approx(2.0), 3, "package-0")
    assert found.interval is not None
    assert found.interval.estimate == pytest.approx(2.0)
    assert found.interval.low <= 1.0
    assert found.interval.high >= 30.0
    assert judging.energy([record("torch")]) is None


def test_energy_has_no_interval_where_a_meter_stood_still_or_rounds_are_few() -> None:
    """A round without a joule has no logarithm; the middle round is told all the same."""
    still = judging.energy([counted(0.0), counted(320.0), counted(9600.0)])
    assert still is not None
    assert (still.joules_per_sample, still.interval) == (pytest.approx(1.0), None)
    few = judging.energy([counted(320.0), counted(960.0)])
    assert few is not None
    assert (few.joules_per_sample, few.interval) == (pytest.approx(2.0), None)
