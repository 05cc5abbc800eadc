"""A contender's figures and its rank, from records that are made by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.explaining.test_causes import record
from tests.race.test_rounds_by_hand import timed
from tests.report.conftest import certificate, comparison, plan

from bakeoff.judge.comparison import assess, contender_outcome
from bakeoff.judge.rounds import CountedBlocks
from bakeoff.spec.record import Memory, Record
from bakeoff.store.results import Records

MS = 1_000_000
"""In nanoseconds."""


def judged(*records: Record, cut: int = 0, passed: bool = True) -> Any:
    """Give the outcome of torch."""
    known = certificate("torch", reason="" if passed else "other gradients")
    kept = CountedBlocks(cut=cut, attempts={})
    return contender_outcome(
        comparison(["torch"]), plan("torch"), known, {str(place): one for place, one in enumerate(records)}, kept
    )


def rounds(count: int, **changed: list[Any]) -> list[Record]:
    """Give rounds of steps of 2 ms, of which each field is that of its place in a list."""
    return [
        timed("torch", number + 1, 2 * MS, 2 * MS, **{name: values[number] for name, values in changed.items()})
        for number in range(count)
    ]


def of_purpose(purpose: str, **changed: Any) -> Record:
    """Give torch's trial beside the race."""
    made = record("torch")
    trial = msgspec.structs.replace(made.trial, purpose=purpose)
    return msgspec.structs.replace(made, trial=trial, **changed)


def held(*peaks: int | None) -> list[Memory]:
    """Give what processes held."""
    return [Memory(baseline_bytes=1, peak_bytes=peak) for peak in peaks]


def test_the_memory_is_that_of_the_process_in_the_middle() -> None:
    """Of an even number the lower one of the two in the middle, which is a process that there was."""
    even = judged(*rounds(4, memory=held(40, 10, 30, 20)))
    assert (even.memory.peak_bytes, even.memory_peaks_bytes) == (20, [40, 10, 30, 20])
    assert judged(*rounds(3, memory=held(40, 10, 30))).memory.peak_bytes == 30
    unread = judged(*rounds(3, memory=[*held(None, 5), None]))
    assert (unread.memory_peaks_bytes, unread.memory.peak_bytes) == ([5], 5)
    mostly = judged(*rounds(3, memory=held(None, None, 9)))
    assert mostly.memory.peak_bytes == 9, "a peak that was not read is unknown, and not the least of all"
    assert judged(*rounds(3, memory=held(None, None, None))).memory == held(None)[0]
    assert judged(*rounds(1)).memory is None


def test_processes_that_were_started_for_memory_alone_tell_it() -> None:
    """Older records have them: what timed processes held is then no answer."""
    own = of_purpose("memory", memory=held(7)[0])
    assert judged(*rounds(2, memory=held(40, 10)), own).memory_peaks_bytes == [7]


def test_waiting_is_told_by_the_median_and_the_ninetieth_percentile_of_all_steps() -> None:
    """Of the steps of all rounds together, each waited for."""
    found = judged(
        *rounds(
            2, fenced_steps_ns=[[0, 1 * MS, 2 * MS, 30 * MS], [4 * MS, 5 * MS, 6 * MS, 7 * MS, 8 * MS, 9 * MS, 3 * MS]]
        )
    )
    assert found.fenced_steps == 11
    assert found.fenced_p50_s == pytest.approx(0.005)
    assert found.fenced_p90_s == pytest.approx(0.009)


def test_records_without_such_steps_have_those_of_the_warm_up() -> None:
    """Behind its cut, which is the same for all contenders."""
    found = judged(*rounds(1, warm_steps_ns=[[90 * MS, 80 * MS, 4 * MS, 6 * MS]]), cut=2)
    assert (found.fenced_steps, found.fenced_p50_s) == (2, pytest.approx(0.005))


def test_what_waiting_hides_is_the_fenced_median_beyond_the_streamed_one() -> None:
    """Over rounds; of batches of different shapes the mean, as blocks have it; and nothing in so few rounds."""
    steps = [[3 * MS, 3 * MS, 9 * MS]]
    found = judged(*rounds(4, fenced_steps_ns=steps * 4))
    assert found.hidden_s.estimate == pytest.approx(0.001)
    passes = [
        msgspec.structs.replace(one, trial=msgspec.structs.replace(one.trial, pass_steps=3))
        for one in rounds(4, fenced_steps_ns=steps * 4)
    ]
    assert judged(*passes).hidden_s.estimate == pytest.approx(0.003)
    assert judged(*rounds(4, fenced_steps_ns=[*steps * 2, [], []])).hidden_s is None


def test_the_first_step_is_that_of_a_compiler_that_remembers_nothing() -> None:
    """Where its cache has shortened all of them, they are all that there is; what is beyond a step is compiling."""
    cold, warm = rounds(2, first_step_ns=[50 * MS, 10 * MS])
    warm = msgspec.structs.replace(warm, trial=msgspec.structs.replace(warm.trial, cache="warm"))
    found = judged(cold, warm)
    assert (found.first_step_s, found.compile_s) == (pytest.approx(0.05), pytest.approx(0.048))
    assert judged(warm).first_step_s == pytest.approx(0.01)
    assert judged(*rounds(1, first_step_ns=[1 * MS])).compile_s == 0.0


def test_a_contender_without_a_round_has_the_import_of_its_certificate() -> None:
    """And once it has rounds, the median of theirs."""
    certified = of_purpose("certify", import_ns=900 * MS)
    assert judged(certified).import_s == pytest.approx(0.9)
    assert judged(certified, *rounds(3, import_ns=[100 * MS, 200 * MS, 400 * MS])).import_s == pytest.approx(0.2)


def test_means_are_means_and_medians_medians() -> None:
    """The step time is in the middle of the rounds, the mean step that of all of them, and samples go by the former."""
    uneven = [timed("torch", number, step * MS, step * MS) for number, step in ((1, 2), (2, 2), (3, 8))]
    found = judged(*uneven)
    assert found.mean_step_s == pytest.approx(0.004)
    assert found.median_step_s < 0.004
    assert found.samples_per_s == pytest.approx(uneven[0].trial.batch_size / found.median_step_s)
    two = judged(*uneven[1:])
    assert (two.step_s, two.median_step_s) == (None, pytest.approx(0.005))


def test_settings_are_those_of_the_latest_round() -> None:
    """Before the first round those of its certificate."""
    certified = of_purpose("certify", settings={"threads": 1})
    assert judged(certified).settings == {"threads": 1}
    assert judged(certified, *rounds(2, settings=[{"threads": 2}, {"threads": 3}])).settings == {"threads": 3}


def test_a_warm_up_that_drifts_in_a_later_round_says_nothing() -> None:
    """The first two rounds are searched for their end: one of them that finds none is enough."""
    steady, drifting = [100] * 200, list(range(1, 201))
    found = [
        judged(*rounds(3, warm_steps_ns=warm)).steady
        for warm in ([steady] * 3, [steady, steady, drifting], [steady, drifting, steady], [drifting, steady, steady])
    ]
    assert found == [True, True, False, False]


def test_who_has_lost_its_rounds_says_why_it_lost_the_last() -> None:
    """With each round and its reason; one that is whole is enough for a rank."""
    lost = [timed("torch", number, 100, outcome="crashed", reason=f"reason {number}") for number in (1, 2)]
    found = judged(*lost)
    assert (found.status, found.reason, found.rounds) == ("failed", "reason 2", 0)
    assert found.lost_rounds == {1: "crashed: reason 1", 2: "crashed: reason 2"}
    found = judged(*lost, timed("torch", 3, 100))
    assert (found.status, found.rounds, list(found.lost_rounds)) == ("ranked", 1, [1, 2])


@pytest.mark.parametrize(
    ("certified", "status"), [([], "pending"), ([of_purpose("certify", outcome="failed", reason="no")], "uncertified")]
)
def test_without_a_certificate_nobody_is_ranked(certified: list[Record], status: str) -> None:
    """It is pending as long as nothing has decided that."""
    found = judged(*certified, passed=False)
    assert (found.status, found.reason) == (status, "other gradients")


def test_a_comparison_that_ran_apart_says_the_latest_reason_why() -> None:
    """And counts the processes that came to their end."""
    reasons = [(1, "too little memory", "done"), (2, "", "done"), (3, "another", "done"), (3, "", "crashed")]
    made = []
    for number, apart, outcome in reasons:
        one = timed("torch", number, 100, outcome=outcome)
        trial = msgspec.structs.replace(one.trial, apart=apart, resident=False)
        made.append(msgspec.structs.replace(one, trial=trial))
    found = told(*made)
    assert (found.apart, found.resident, found.processes, found.rounds) == ("another", False, 3, 3)
    assert told().resident
    one = made[0]
    together = msgspec.structs.replace(one, trial=msgspec.structs.replace(one.trial, resident=True))
    assert told(together, *made[1:]).resident


def told(*records: Record, ended: str = "", labels: tuple[str, ...] = ("torch",), **procedure: Any) -> Any:
    """Give the outcome of a comparison of torch alone, or of these contenders."""
    asked = comparison(list(labels))
    asked = msgspec.structs.replace(asked, procedure=msgspec.structs.replace(asked.procedure, **procedure))
    begun = (msgspec.structs.replace(one, started_at="2026-11-28T12:00:00+00:00") for one in records)
    found = Records(records={str(place): one for place, one in enumerate(begun)}, damaged=[])
    return assess(asked, found, Path(), ended, {label: certificate(label) for label in labels})


@pytest.mark.parametrize(
    ("records", "ended", "most", "says"),
    [
        (rounds(2), "", 3, "unfinished"),
        (rounds(3), "", 3, "rounds"),
        (rounds(2), "budget", 3, "budget"),
        (rounds(2), "decided", None, "decided"),
        ([], "decided", None, "lost"),
        ([*rounds(1), timed("torch", 2, 100, outcome="crashed")], "decided", None, "decided"),
    ],
)
def test_a_contender_alone_is_done_with_its_rounds(records: list[Record], ended: str, most: int, says: str) -> None:
    """There is no pair to decide: its rounds, the time budget, or what the conductor has written down end it."""
    assert told(*records, ended=ended, max_rounds=most).ended == says


def raced(numbers: range, torch_ns: int = 200, jax_ns: int = 100, **lost: tuple[int, ...]) -> list[Record]:
    """Give rounds of torch and JAX with these steps; of the named one some have crashed."""
    return [
        on_time(timed(label, number, step_ns, step_ns, outcome="crashed" if number in lost.get(label, ()) else "done"))
        for number in numbers
        for label, step_ns in (("torch", torch_ns), ("jax", jax_ns))
    ]


def on_time(one: Record) -> Record:
    """Return a record whose clock and counters agree."""
    blocks = [
        msgspec.structs.replace(
            block, signals=msgspec.structs.replace(block.signals, wall_ns=block.lead_ns + block.elapsed_ns)
        )
        for block in one.blocks
    ]
    return msgspec.structs.replace(one, blocks=blocks)


def of_both(*records: Record, ended: str = "", **procedure: Any) -> Any:
    """Give the outcome of a comparison of torch and JAX."""
    return told(*records, ended=ended, labels=("torch", "jax"), **procedure)


@pytest.mark.parametrize(("margin", "kind"), [(0.05, "equal"), (0.01, "slower")])
def test_a_pair_is_held_to_the_margin_of_its_comparison(margin: float, kind: str) -> None:
    """Three percent are as good as equal within five, and slower beyond one."""
    (pair,) = of_both(*raced(range(1, 21), 206, 200), margin=margin).verdicts
    assert (pair.first, pair.second, pair.verdict) == ("torch", "jax", kind)


def test_an_open_pair_says_what_has_ended_it() -> None:
    """The time budget, or the most rounds; what nothing has ended would have more of them."""
    few = raced(range(1, 3))
    assert [one.stopped for one in of_both(*few).verdicts] == [""]
    assert of_both(*few).ended == "unfinished"
    assert [one.stopped for one in of_both(*few, ended="budget").verdicts] == ["budget"]
    assert of_both(*few, ended="budget").ended == "budget"
    assert of_both(*few, max_rounds=2).ended == "rounds"
    assert of_both(*few, max_rounds=3).ended == "unfinished"


def test_rounds_that_are_gone_are_named_where_the_comparison_has_ended() -> None:
    """Those of a pair that had its rounds to the end, up to the last; nobody's who was given up for failing."""
    gone = [one for one in raced(range(1, 4)) if (one.trial.contender.label, one.trial.round_number) != ("jax", 3)]
    assert of_both(*gone).gone == {}
    assert of_both(*gone, ended="budget").gone == {"jax": [3]}
    assert of_both(*raced(range(1, 4)), ended="budget").gone == {}
    failing = [
        one
        for one in raced(range(1, 4), jax=(1, 2))
        if (one.trial.contender.label, one.trial.round_number) != ("jax", 3)
    ]
    assert of_both(*failing, ended="budget").gone == {}


def test_a_conductor_that_had_nobody_left_leaves_an_open_pair_lost() -> None:
    """Where one was given up; where both would have had rounds, some that were there are gone, and it goes on."""
    assert of_both(*raced(range(1, 4), jax=(1, 2)), ended="decided").ended == "lost"
    assert of_both(*raced(range(1, 3)), ended="decided").ended == "unfinished"
    assert of_both(*raced(range(1, 4), jax=(1, 2, 3)), ended="decided").ended == "lost"


def test_nobodys_rounds_are_calm_where_counters_tell_nothing() -> None:
    """One disturbed round is enough not to be calm."""
    unknown = [
        msgspec.structs.replace(
            one,
            blocks=[
                msgspec.structs.replace(block, signals=msgspec.structs.replace(block.signals, foreign_share=None))
                for block in one.blocks
            ],
        )
        for one in rounds(2)
    ]
    assert told(*unknown).calm is None
    assert told(*rounds(2)).calm is True
    assert told(timed("torch", 1, 100, 100, busy=(0,)), *rounds(2)[1:]).calm is False
