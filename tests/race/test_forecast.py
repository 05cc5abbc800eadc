"""What is foretold of a comparison is what it does, by the records of those before."""

from __future__ import annotations

import shutil
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from bakeoff.cli import dryrun
from bakeoff.judge.rounds import own_ns, round_s
from bakeoff.race import devices
from bakeoff.race.forecast import Forecast, forecast, known_costs
from bakeoff.race.prepare import outlined
from bakeoff.race.stages.stage import PROCESS_S
from bakeoff.spec.record import Record
from bakeoff.store.files import read_comparison, read_record, write_comparison, write_record
from bakeoff.store.results import finished, of_purpose, read_records

PAIR = ("fake:step_ms=50", "fake:step_ms=60")


@pytest.fixture
def foretold(request_of: Any, tmp_path: Path) -> Any:
    """Give a function that foretells a comparison by what lies in the test's results."""

    def tell(*contenders: str, **asked: Any) -> Forecast:
        return forecast(outlined(request_of(*contenders, **asked)), tmp_path / "results")

    return tell


def test_nothing_is_written_and_nothing_known_is_said(foretold: Any, tmp_path: Path) -> None:
    """Without records no folder is made, times are unknown, and there is a rough range."""
    told = foretold(*PAIR)
    assert (told.round_s, told.sources, told.unknown) == (None, [], list(PAIR))
    assert 0 < told.low_s < told.high_s
    assert (told.fewest_rounds, told.most_rounds) == (5, 20)
    assert not (tmp_path / "results").exists()


def test_times_and_rounds_are_those_of_the_race_before(race: Any, foretold: Any) -> None:
    """The same race is foretold to take as many rounds, each as long, and the record is named."""
    before = race(*PAIR)
    told = foretold(*PAIR)
    assert told.unknown == []
    assert told.round_s == pytest.approx(before.round_s, rel=0.2)
    assert [source.id for source in told.sources] == [before.comparison.id]
    assert told.fewest_rounds == told.most_rounds == before.rounds
    assert told.low_s == told.high_s > before.rounds * told.round_s * 0.99


def test_each_contender_s_time_comes_from_where_it_raced(race: Any, foretold: Any) -> None:
    """Two of three, raced apart, are known; the third is told to be unknown; another batch size is no source."""
    race(PAIR[0], max_rounds=1)
    race(PAIR[1], max_rounds=1)
    told = foretold(*PAIR)
    assert (len(told.sources), told.unknown) == (2, [])
    assert (told.fewest_rounds, told.most_rounds) == (5, 20)
    assert foretold(*PAIR, "fake").unknown == ["fake"]
    assert foretold(*PAIR, batch_size=8).unknown == list(PAIR)


def test_a_dry_run_counts_operations_where_another_batch_was_raced(
    race: Any, request_of: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """And says so; the same race's own records go before."""
    other = race(*PAIR, max_rounds=1, batch_size=8).comparison
    dryrun.tell(request_of(*PAIR), json=False)
    said = " ".join(capsys.readouterr().out.split())
    assert f"measured on this machine in {other.id}" in said
    assert said.count("where batch or size is another, and operations counted in each") == 1
    race(*PAIR, max_rounds=1)
    dryrun.tell(request_of(*PAIR), json=False)
    assert "batch or size is another" not in " ".join(capsys.readouterr().out.split())


def test_a_round_is_as_long_as_on_the_wall_clock() -> None:
    """Processes that start together overlap; one round tells what they took; a pause is no round."""
    folder = Path(__file__).parents[2] / "docs" / "records" / "mlp-mnist-07d5"
    timed = finished(of_purpose(list(read_records(folder).records.values()), "time"))
    own_s = sum(own_ns(one) for one in timed if one.trial.round_number == 1) * 1e-9

    def begun(minutes: int) -> list[Record]:
        at = {one: f"2026-11-22T10:{minutes * (one - 1):02}:{one:02}+00:00" for one in range(1, 6)}
        return [msgspec.structs.replace(one, started_at=at[one.trial.round_number]) for one in timed]

    assert round_s(begun(0)) == 1.0 < own_s
    assert round_s([one for one in timed if one.trial.round_number == 1]) == pytest.approx(own_s)
    assert round_s(begun(10)) == pytest.approx(own_s, rel=0.5)


def test_traces_between_what_comes_behind_are_no_time_of_it(tmp_path: Path) -> None:
    """They are foreseen by themselves: 180 s between a late trial of 10 s and the last self-test add nothing."""
    folder = tmp_path / "mlp-mnist-07d5"
    shutil.copytree(Path(__file__).parents[2] / "docs" / "records" / folder.name, folder)
    timed = of_purpose(list(read_records(folder).records.values()), "time")
    ended = max(datetime.fromisoformat(one.started_at) for one in timed)
    for name, purpose, after_s in (("jax", "late", 60), ("tensorflow", "explain", 70), ("torch", "selftest", 250)):
        before = read_record(folder / f"late-{name}")
        began = (ended + timedelta(seconds=after_s)).isoformat()
        trial = msgspec.structs.replace(before.trial, purpose=purpose)
        write_record(folder / f"late-{name}", msgspec.structs.replace(before, trial=trial, started_at=began))
    comparison = read_comparison(folder)
    costs, _, _ = known_costs(comparison, [(folder, comparison)])
    assert sum(one.behind_s for one in costs.values()) == pytest.approx(10 + PROCESS_S)


def test_a_budget_buys_rounds(race: Any, foretold: Any) -> None:
    """The rounds that fit are told, one in any case, and the whole ends about with the budget."""
    race(*PAIR)
    free = foretold(*PAIR, max_rounds=7)
    told = foretold(*PAIR, budget_s=free.certificates_s + 2.5 * free.round_s, max_rounds=7)
    assert told.budget_rounds == 3
    assert told.high_s <= free.certificates_s + 3.5 * free.round_s + 1e-6
    assert foretold(*PAIR, budget_s=0.001).budget_rounds == 1


def test_another_machine_is_no_source(race: Any, foretold: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was measured on another processor tells nothing of this one; another kernel is the same machine."""
    before = race(*PAIR, max_rounds=1)
    described = devices.describe()
    monkeypatch.setattr(devices, "describe", lambda: described | {"kernel": "9.9"})
    assert foretold(*PAIR).unknown == []
    folder = Path(before.path)
    other = msgspec.structs.replace(read_comparison(folder), machine=described | {"processor": "another"})
    write_comparison(folder, other)
    assert foretold(*PAIR).unknown == list(PAIR)


def test_records_that_cannot_be_are_no_source(race: Any, foretold: Any) -> None:
    """What a stranger has sealed tells nothing, and is in nobody's way."""
    folder = Path(race(*PAIR, max_rounds=1).path)
    for trial in folder.glob("r01-*"):
        write_record(trial, msgspec.structs.replace(read_record(trial), started_at="yesterday"))
    assert foretold(*PAIR).unknown == list(PAIR)


def test_the_stages_are_those_of_a_race(race: Any, foretold: Any) -> None:
    """Every stage that starts processes is told, with numbers that the race keeps to."""
    told = {
        one.stage: one for one in foretold(*PAIR, self_test=True, epochs=1, steps=3, repeats=2, max_rounds=6).stages
    }
    assert {"certify", "rounds", "late", "epochs", "selftest", "peaks"} <= set(told)
    outcome = race(*PAIR, epochs=1, steps=3, repeats=2, max_rounds=6)
    started = [path.parent.name for path in Path(outcome.path).glob("*/record.json")]
    counts = {
        "certify": sum(name.startswith(("certify", "program", "reference")) for name in started),
        "rounds": sum(name.startswith("r0") for name in started),
        "epochs": sum(name.startswith("epochs") for name in started),
        "late": sum(name.startswith("late") for name in started),
    }
    assert all(told[stage].fewest <= count <= told[stage].most for stage, count in counts.items())
