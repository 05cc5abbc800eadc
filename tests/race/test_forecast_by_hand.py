"""What a forecast says of records whose times are round numbers, worked out by hand."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from bakeoff.race import forecast as module
from bakeoff.race.forecast import BEHIND, ContenderCost, Earlier, Forecast, forecast, known_costs, within
from bakeoff.spec.comparison import Comparison
from bakeoff.spec.errors import StoreError
from bakeoff.spec.record import Block, EnergyReading, Record, Signals
from bakeoff.store.files import read_comparison, read_record

KEPT = Path(__file__).parents[2] / "docs" / "records" / "mlp-mnist-07d5"
BEGAN = datetime(2026, 11, 1, 12, tzinfo=UTC)
SECOND_NS = 1_000_000_000
PAIR = ("quick", "slow")


def at(after_s: float) -> str:
    """Give a moment after the comparison was made."""
    return (BEGAN + timedelta(seconds=after_s)).isoformat()


def pair(*labels: str, id: str = "before", **changes: Any) -> Comparison:  # noqa: A002 - as the field is called
    """Give a comparison of contenders that differ in their threads, quick and slow if no other is named."""
    kept = read_comparison(KEPT)
    plans = []
    for label in labels or PAIR:
        options = kept.contenders[0].contender.options | {"threads": str(1 + len(label))}
        contender = msgspec.structs.replace(kept.contenders[0].contender, label=label, options=options)
        plans.append(msgspec.structs.replace(kept.contenders[0], contender=contender))
    procedure = msgspec.structs.replace(kept.procedure, budget_s=None)
    given = {"id": id, "contenders": plans, "procedure": procedure, "created_at": at(0)}
    return msgspec.structs.replace(kept, **(given | changes))


def asked(comparison: Comparison, **changes: Any) -> Comparison:
    """Give a comparison with another procedure."""
    procedure = msgspec.structs.replace(comparison.procedure, **changes)
    return msgspec.structs.replace(comparison, procedure=procedure)


KEPT_TRIAL = read_record(KEPT / "r01-torch")


def trial(label: str, purpose: str, after_s: float, number: int = 1, of: str = "before", **changes: Any) -> Record:
    """Give the record of a trial that was started so long after the comparison was made."""
    contender = msgspec.structs.replace(KEPT_TRIAL.trial.contender, label=label)
    spec = msgspec.structs.replace(
        KEPT_TRIAL.trial,
        name=f"{purpose}-{number}-{label}",
        purpose=purpose,
        contender=contender,
        round_number=number,
        comparison=of,
    )
    return msgspec.structs.replace(KEPT_TRIAL, trial=spec, started_at=at(after_s), **changes)


def timed(label: str, number: int, after_s: float, *, other_s: int = 4, step_s: float = 0.5, **changes: Any) -> Record:
    """Give a timed trial: so many seconds until its first step, then 6, of which a block of 4 steps is a part."""
    ns = int(step_s * SECOND_NS)
    block = Block(
        turn=0,
        first_step=0,
        restore_ns=0,
        lead_steps=1,
        lead_ns=0,
        steps_ns=[1, 2, 3, 4],
        elapsed_ns=4 * ns,
        signals=Signals(wall_ns=1, cpu_ns=1),
    )
    starting = {"start_ns": 0, "import_ns": other_s * SECOND_NS, "build_ns": 0, "first_step_ns": 0}
    rest = {"warm_steps_ns": [6 * SECOND_NS - 4 * ns], "blocks": [block], "fenced_steps_ns": []}
    return trial(label, "time", after_s, number, **(starting | rest | changes))


def rounds(*starts_s: float) -> list[Record]:
    """Give rounds that began then: quick takes 10 s of its own in each, slow 30 s."""
    return [
        one
        for number, start_s in enumerate(starts_s, 1)
        for one in (timed("quick", number, start_s), timed("slow", number, start_s + 5, other_s=24))
    ]


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Give a function that keeps comparisons with their records and outcomes, and gives them as those of before."""
    records: dict[Path, list[Record] | Exception] = {}
    outcomes: dict[Path, SimpleNamespace] = {}

    def read(folder: Path) -> SimpleNamespace:
        found = records[folder]
        if isinstance(found, Exception):
            raise found
        return SimpleNamespace(records={one.trial.name: one for one in found})

    monkeypatch.setattr(module, "read_records", read)
    monkeypatch.setattr(module, "judge_comparison", lambda folder: outcomes[folder])

    def keep(
        comparison: Comparison, found: list[Record] | Exception, ended: str = "decided", lasted: int = 6
    ) -> tuple[Path, Comparison]:
        folder = Path(str(len(records)))
        records[folder] = found
        outcomes[folder] = SimpleNamespace(ended=ended, rounds=lasted)
        return folder, comparison

    return keep


def costs_of(before: Earlier, comparison: Comparison | None = None) -> dict[str, ContenderCost]:
    """Give what is known of quick and slow."""
    return known_costs(comparison or pair(), before)[0]


def test_a_contenders_share_of_what_its_race_took(kept: Any) -> None:
    """Certificates 20 s of both, a round of 20 s in which processes of 10 and 30 s overlap, behind the verdict 14 s."""
    behind = [trial("quick", "late", 70), trial("slow", "late", 80)]
    found = costs_of([kept(pair(), rounds(20, 40, 60) + behind)])
    quick, slow = msgspec.structs.astuple(found["quick"]), msgspec.structs.astuple(found["slow"])
    assert quick == pytest.approx((10.0, 5.0, 5.0, 7.0, 0.5, None)), "no more than its round are steps"
    assert slow == pytest.approx((10.0, 15.0, 6.0, 7.0, 0.5, None))


def test_the_middle_round_tells_and_what_failed_does_not(kept: Any) -> None:
    """Of a process that once took far longer the median is told; a trial that was killed has no time."""
    records = [timed("quick", number, 20 * number, other_s=4 if number < 5 else 94) for number in range(1, 6)]
    records[0] = msgspec.structs.replace(records[0], outcome="killed")
    found = costs_of([kept(pair("quick"), records)])["quick"]
    assert (found.certificates_s, found.round_s, found.steps_s) == (40.0, 20.0, 6.0)


def test_one_long_process_does_not_change_whose_share_of_a_round_is_how_large(kept: Any) -> None:
    """A round of 20 s is shared as 10 s and 30 s, the medians, though once the quick one took 100 s."""
    records = rounds(20, 40, 60)
    records[0] = timed("quick", 1, 20, other_s=94)
    assert costs_of([kept(pair(), records)])["quick"].round_s == pytest.approx(5.0)


def test_a_clock_that_went_back_makes_no_certificate_take_less_than_nothing(kept: Any) -> None:
    """A first round that seems to begin before its comparison was made leaves certificates without a time."""
    assert costs_of([kept(pair(), rounds(-50, -30))])["quick"].certificates_s == 0.0


def test_records_of_another_comparison_are_no_time_of_this_one(kept: Any) -> None:
    """A certificate's run may be taken over from elsewhere, where rounds were others."""
    strange = [timed("quick", 9, 1, other_s=400, of="another")]
    known = costs_of([kept(pair(), rounds(20, 40) + strange)])["quick"]
    assert (known.certificates_s, known.round_s) == pytest.approx((10.0, 5.0))
    assert costs_of([kept(pair(), [trial("quick", "certify", 1)])]) == {}


@pytest.mark.parametrize(
    ("behind", "seconds"),
    [
        ([("late", 50), ("late", 60)], 14.0),
        ([("late", 50), ("epochs", 60)], 10.0),
        ([("epochs", 50), ("late", 150)], 4.0),
        ([("certify", 10), ("late", 50)], 4.0),
        ([("late", 10), ("epochs", 30)], 0.0),
        ([("late", 30), ("late", 50)], 4.0),
        ([("late", 45), ("epochs", 52)], 7.0),
        ([("late", 50), ("late", 9050)], 104.0),
        ([], 0.0),
    ],
)
def test_how_long_what_comes_behind_the_verdict_took(
    kept: Any, behind: list[tuple[str, float]], seconds: float
) -> None:
    """From start to start, the last for 4 s; not before the last round began, nor through a pause, nor whole runs."""
    records = rounds(20, 40) + [
        trial("quick", purpose, after_s, place) for place, (purpose, after_s) in enumerate(behind)
    ]
    found = costs_of([kept(asked(pair(), trial_limit_s=100.0), records)])
    assert sum(one.behind_s for one in found.values()) == seconds


def test_every_purpose_that_a_race_has_behind_its_verdict_is_counted() -> None:
    """Whole runs and traces, which are asked for, are foreseen by themselves."""
    assert set(BEHIND) == {"late", "selftest", "peak", "memory", "compile", "energy"}


def test_watts_are_joules_by_the_time_of_their_steps(kept: Any) -> None:
    """100 steps of 0.5 s at 1000 J are 20 W; of three readings the middle one is told."""
    readings = [
        trial("quick", "energy", 80 + number, number, energy=EnergyReading(joules=joules, steps=100, source="all"))
        for number, joules in enumerate((1000.0, 5000.0, 1500.0))
    ]
    found = costs_of([kept(pair(), rounds(20, 40) + readings)])
    assert (found["quick"].watts, found["slow"].watts) == (30.0, None)


def test_each_contender_is_known_by_the_latest_that_raced_it(kept: Any) -> None:
    """What a later comparison told is not told again by an earlier one; the rounds are those of the same race."""
    later = kept(pair("quick", id="later"), [timed("quick", 1, 20, other_s=14, of="later")])
    before = kept(pair(), rounds(20, 40))
    costs, sources, _ = known_costs(pair(), [later, before])
    assert (costs["quick"].round_s, costs["slow"].round_s) == pytest.approx((20.0, 15.0))
    assert [(one.id, one.contenders, one.rounds) for one in sources] == [
        ("later", ["quick"], None),
        ("before", ["slow"], None),
    ]


def test_a_contender_is_known_by_its_options_whatever_it_was_called(kept: Any) -> None:
    """Another label there is none here: its times and its certificate are those of the same options."""
    renamed = pair("swift", "slow")  # as many letters as quick, and so as many threads
    records = [timed("swift", 1, 20), trial("swift", "certify", 1), timed("slow", 1, 20, other_s=24)]
    costs, (source,), certified = known_costs(pair(), [kept(renamed, records)])
    assert source.contenders == ["quick", "slow"]
    assert costs["quick"].step_s == 0.5
    assert certified["quick"].trial.contender.label == "swift"
    assert costs_of([kept(renamed, records)], pair("neither")) == {}


@pytest.mark.parametrize(
    ("ended", "labels", "rounds_told"),
    [
        ("decided", PAIR, 6),
        ("futility", PAIR, 6),
        ("budget", PAIR, None),
        ("rounds", PAIR, None),
        ("decided", (*PAIR, "another one"), None),
    ],
)
def test_the_rounds_to_an_answer_are_those_of_the_same_contenders(
    kept: Any, ended: str, labels: tuple[str, ...], rounds_told: int | None
) -> None:
    """A race that ended without an answer, or that had more contenders, tells no number of rounds."""
    _, (source,), _ = known_costs(pair(), [kept(pair(*labels), rounds(20, 40), ended)])
    assert source.rounds == rounds_told


def test_what_cannot_be_read_and_what_was_never_timed_is_passed_over(kept: Any) -> None:
    """Damaged records, and a race that was ended before its first round, leave the word to the one before them."""
    damaged, untimed = kept(pair(), StoreError("damaged")), kept(pair(), [trial("quick", "certify", 1)])
    costs, sources, _ = known_costs(pair(), [damaged, untimed, kept(pair(id="before"), rounds(20, 40))])
    assert (sorted(costs), len(sources)) == (["quick", "slow"], 1)


def test_eight_comparisons_are_read_and_no_more(kept: Any) -> None:
    """Times that only a ninth would tell are not known."""
    unreadable = [kept(pair(), StoreError("damaged")) for _ in range(8)]
    known = kept(pair(), rounds(20, 40))
    assert sorted(costs_of([*unreadable[1:], known])) == ["quick", "slow"]
    assert costs_of([*unreadable, known]) == {}


def test_the_latest_comparison_comes_first_and_a_damaged_one_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """By when they were made, and not by the names of their folders."""
    made = {"a": 10, "b": 30, "c": 20, "damaged": None}

    def read(folder: Path) -> Comparison:
        after_s = made[folder.name]
        if after_s is None:
            raise StoreError("damaged")
        return pair(id=folder.name, created_at=at(after_s))

    monkeypatch.setattr(module, "every_comparison", lambda places: [place / name for place in places for name in made])
    monkeypatch.setattr(module, "read_comparison", read)
    assert [one.id for _, one in module.earlier(Path("results"))] == ["b", "c", "a"]


def test_only_the_same_work_on_the_same_machine_is_read(kept: Any) -> None:
    """Another batch size is other work, and another processor another machine."""
    before = kept(pair(), rounds(20, 40))
    elsewhere = msgspec.structs.replace(pair(), machine=pair().machine | {"processor": "another"})
    larger = msgspec.structs.replace(pair(), batch_size=999)
    assert forecast(pair(), Path(), [before]).unknown == []
    assert forecast(elsewhere, Path(), [before]).unknown == list(PAIR)
    assert forecast(larger, Path(), [before]).unknown == list(PAIR)


def test_the_whole_is_certificates_rounds_and_what_comes_behind(kept: Any) -> None:
    """20 s, six rounds of 20 s, and 4 s for the last trial; a limit of three rounds makes it shorter."""
    before = kept(pair(), [*rounds(20, 40), trial("quick", "late", 50)])
    told = forecast(pair(), Path(), [before])
    assert (told.certificates_s, told.round_s, told.behind_s) == (20.0, 20.0, 4.0)
    assert (told.fewest_rounds, told.most_rounds, told.low_s, told.high_s) == (6, 6, 144.0, 144.0)
    short = forecast(asked(pair(), max_rounds=3), Path(), [before])
    assert (short.fewest_rounds, short.most_rounds, short.low_s, short.high_s) == (3, 3, 84.0, 84.0)


@pytest.mark.parametrize(
    ("labels", "limit", "expected"),
    [
        (PAIR, 20, (5, 20, 2 * (2.0 + 5 * 2.5), 120.0)),
        (PAIR, None, (5, None, 2 * (2.0 + 5 * 2.5), 120.0)),
        (PAIR, 3, (3, 3, 2 * (2.0 + 3 * 2.5), 120.0)),
        (("alone",), 20, (1, 20, 2.0 + 2.5, 60.0)),
        (("alone",), None, (1, None, 2.0 + 2.5, 60.0)),
    ],
)
def test_where_nothing_is_known_each_contender_has_a_rough_range(
    labels: tuple[str, ...], limit: int | None, expected: tuple[int, int | None, float, float]
) -> None:
    """About 2 s for a certificate and 2.5 for a round at least, and a minute at most; alone a round is enough."""
    told = forecast(asked(pair(*labels), max_rounds=limit), Path(), [])
    assert (told.fewest_rounds, told.most_rounds, told.low_s, told.high_s) == expected


@pytest.mark.parametrize(
    ("budget_s", "most", "first_s", "expected"),
    [
        (None, 7, 20.0, (None, 120.0, 240.0)),
        (None, None, 20.0, (None, 120.0, None)),
        (100.0, 7, 20.0, (3, 120.0, 130.0)),
        (100.0, None, 20.0, (3, 120.0, 130.0)),
        (80.0, 7, 20.0, (2, 110.0, 110.0)),
        (10.0, 7, 20.0, (1, 80.0, 80.0)),
        (1.0, 7, 200.0, (1, 260.0, 260.0)),
        (1000.0, 7, 20.0, (7, 120.0, 240.0)),
        (1000.0, None, 20.0, (33, 120.0, 1030.0)),
    ],
)
def test_a_budget_bounds_the_time_and_buys_rounds(
    budget_s: float | None, most: int | None, first_s: float, expected: tuple[int | None, float, float | None]
) -> None:
    """Three rounds at least of 30 s, 10 s behind: one that has begun is finished, and one is run in any case."""
    told = Forecast(
        comparison=asked(pair(), budget_s=budget_s),
        stages=[],
        certificates_s=first_s,
        round_s=30.0,
        behind_s=10.0,
        sources=[],
        costs={},
        unknown=[],
        fewest_rounds=3,
        most_rounds=most,
        budget_rounds=None,
        low_s=0.0,
        high_s=None,
    )
    found = within(told)
    assert (found.budget_rounds, found.low_s, found.high_s) == expected
