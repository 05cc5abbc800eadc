"""Runs of whole epochs in every form of the report."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from tests.report.shown import data_of, html, markdown, printed

from bakeoff.judge.epochs import (
    WholeRun,
    WholeRuns,
    accuracies,
    epoch_compiled,
    epoch_times,
    length_of,
    new_shapes,
    whole_runs,
)
from bakeoff.report.sections.whole import epochs_table, whole_lines, whole_table
from bakeoff.spec.metric import Metric, MetricReading
from bakeoff.spec.peaks import Work
from bakeoff.spec.record import Compilation, EpochRun

if TYPE_CHECKING:
    from bakeoff.judge.outcome import Outcome
    from bakeoff.spec.record import Record

TOTALS_S = (12.0, 10.0, 14.0)


def run(total_s: float, flagged_epochs: int = 0) -> WholeRun:
    """Make a run of two epochs whose first step takes a second."""
    return WholeRun(
        total_s=total_s,
        without_first_s=total_s - 1.0,
        epochs_s=[0.6 * total_s, 0.4 * total_s],
        compilations=[7, 0],
        loss=0.12345,
        accuracy=0.9504,
        flagged_epochs=flagged_epochs,
    )


@pytest.fixture
def ran(decided: Outcome) -> Outcome:
    """Give an outcome with three runs of two epochs of each contender; one of them was lost, and one disturbed."""
    procedure = msgspec.structs.replace(decided.comparison.procedure, epochs=2, steps=47)
    runs = [run(total_s) for total_s in TOTALS_S]
    first, second, *rest = (
        msgspec.structs.replace(one, whole=WholeRuns(steps=94, test_samples=359, runs=runs))
        for one in decided.contenders
    )
    lost = WholeRuns(steps=94, test_samples=359, runs=[run(10.0, flagged_epochs=2)], failures=["out of memory"])
    return msgspec.structs.replace(
        decided,
        comparison=msgspec.structs.replace(decided.comparison, procedure=procedure),
        contenders=[first, msgspec.structs.replace(second, whole=lost), *rest],
    )


def test_every_run_is_told_by_itself_with_the_median_and_the_range(ran: Outcome) -> None:
    """Totals with and without the first step, loss and accuracy; the single runs stand beside them, in order."""
    line = next(line for line in whole_table(ran).lines if line.cells[0] == ran.contenders[0].label)
    assert line.cells[1:] == ["12.0 s", "10.0 to 14.0", "11.0 s", "0.123", "0.950", "12.0, 10.0, 14.0 s"]


def test_the_first_epoch_stands_apart(ran: Outcome) -> None:
    """The first epoch, which compiles, and the second one, which finds everything compiled, with how much each did."""
    line = next(line for line in epochs_table(ran).lines if line.cells[0] == ran.contenders[0].label)
    assert line.cells[1:] == ["7.20 s", "4.80 s", "7", "0"]
    assert "first epoch" in printed(ran)
    assert data_of(ran)["contenders"][0]["whole"]["runs"][0]["compilations"] == [7, 0]
    procedure = msgspec.structs.replace(ran.comparison.procedure, epochs=1)
    single = msgspec.structs.replace(ran, comparison=msgspec.structs.replace(ran.comparison, procedure=procedure))
    assert epochs_table(single).lines == []


def test_every_form_of_the_report_has_them(ran: Outcome) -> None:
    """Terminal, Markdown and page tell the same totals, and that no verdict rests on them."""
    for said in (printed(ran), markdown(ran), html(ran)):
        assert "12.0, 10.0, 14.0 s" in said
        assert "2 epochs of 47 steps" in said
        assert "No verdict rests on these totals" in " ".join(said.split())
    assert max(map(len, printed(ran).splitlines())) <= 80
    whole = data_of(ran)["contenders"][0]["whole"]
    assert (whole["total_s"], whole["total_range_s"], whole["without_first_s"]) == (12.0, [10.0, 14.0], 11.0)
    assert [one["total_s"] for one in whole["runs"]] == list(TOTALS_S)


def test_the_workloads_own_metric_stands_beside_the_accuracy(ran: Outcome) -> None:
    """The median over runs under the metric's name, what is better, and each run's own; without one nothing of it."""
    metric = Metric(name="state error", unit="m")
    contenders = []
    for one in ran.contenders:
        assert one.whole is not None
        values = (0.03, 0.01, 0.02)[: len(one.whole.runs)]
        told = [msgspec.structs.replace(run, metric=each) for run, each in zip(one.whole.runs, values, strict=True)]
        whole = msgspec.structs.replace(one.whole, metric=metric, runs=told)
        contenders.append(msgspec.structs.replace(one, whole=whole))
    measured = msgspec.structs.replace(ran, contenders=contenders)
    table = whole_table(measured)
    line = next(line for line in table.lines if line.cells[0] == ran.contenders[0].label)
    assert (table.heads[5:7], line.cells[5:7]) == (["accuracy", "state error, m"], ["0.950", "0.0200"])
    assert "own metric (less is better) of the parameters after the last step" in whole_lines(measured)[1]
    for said in (printed(measured), markdown(measured), html(measured)):
        assert "The state error is the workload" in " ".join(said.split())
    assert max(map(len, printed(measured).splitlines())) <= 80
    found = data_of(measured)["contenders"][0]["whole"]
    assert found["metric"] == {"name": "state error", "unit": "m", "less_is_better": True, "median": 0.02}
    assert [one["metric"] for one in found["runs"]] == [0.03, 0.01, 0.02]
    assert data_of(ran)["contenders"][0]["whole"]["metric"] is None
    assert "metric" not in " ".join([*whole_table(ran).heads, *whole_lines(ran)])


def test_what_went_wrong_is_said(ran: Outcome) -> None:
    """A run that did not end is named with its reason, and so is foreign load."""
    label = ran.contenders[1].label
    said = whole_lines(ran)
    assert f"{label}: a run did not come to its end: out of memory." in said
    assert f"{label}: other processes disturbed 2 of 2 epochs." in said


def test_a_comparison_without_them_says_nothing(decided: Outcome) -> None:
    """Where no epochs were asked for, no report has a word of them."""
    assert whole_lines(decided) == []
    assert whole_table(decided).lines == []
    assert "As a whole" not in html(decided)


def test_shapes_that_are_new_in_an_epoch_are_counted(ran: Outcome) -> None:
    """What compiles by shape, or tries algorithms by shape, does it in the epoch in which a shape comes first."""
    entries = {"frames": [40, 50, 40, 60], "letters": [5, 5, 5, 5]}
    data = msgspec.structs.replace(ran.comparison.data, entries=entries, batches=4, epoch_batches=4)

    def of(steps: int, epochs: int = 2) -> Outcome:
        procedure = msgspec.structs.replace(ran.comparison.procedure, epochs=epochs, steps=steps)
        comparison = msgspec.structs.replace(ran.comparison, procedure=procedure, data=data, work=None)
        return msgspec.structs.replace(ran, comparison=comparison)

    assert new_shapes(of(4).comparison) == [3, 0]
    assert new_shapes(of(3, epochs=3).comparison) == [2, 1, 0]
    assert new_shapes(of(9).comparison) == [3, 0]
    assert new_shapes(of(1, epochs=5).comparison) == [1, 1, 0, 1, 0]
    assert "1 in epoch 1, 1 in epoch 2 and 1 in epoch 4." in " ".join(whole_lines(of(1, epochs=5)))
    one = of(4).comparison.contenders[0]
    several = msgspec.structs.replace(one.contender, options=one.contender.options | {"devices": "2"})
    two = msgspec.structs.replace(one, contender=several)
    assert new_shapes(msgspec.structs.replace(of(4).comparison, contenders=[two])) == []
    assert new_shapes(ran.comparison) == [1, 0]
    assert "new to what compiles by shape: 2 in epoch 1 and 1 in epoch 2." in " ".join(whole_lines(of(3)))
    assert "new to what compiles" not in " ".join(whole_lines(ran))
    assert data_of(of(3, epochs=3))["padding"]["new_in_epochs"] == [2, 1, 0]


def test_who_tries_algorithms_of_convolutions_is_told_with_how_often(ran: Outcome) -> None:
    """Once for each new shape, by the setting that is in force; nobody else has a word of it."""
    assert "of a convolution" not in " ".join(whole_lines(ran))
    first, *rest = ran.contenders
    tries = msgspec.structs.replace(first, settings=first.settings | {"conv_algorithm": "profiling"})
    comparison = msgspec.structs.replace(ran.comparison, work=None)
    said = whole_lines(msgspec.structs.replace(ran, comparison=comparison, contenders=[tries, *rest]))
    wanted = f"{first.label} tries the algorithms of each pass of a convolution once for each new shape"
    assert any(one.startswith(wanted) and "1 in epoch 1 and 0 in epoch 2" in one for one in said)


def test_shuffling_loaders_are_named(ran: Outcome) -> None:
    """Whose own loader draws the order is said, because the loss at the end then differs by that."""
    first, *rest = ran.comparison.contenders
    contender = msgspec.structs.replace(first.contender, options=first.contender.options | {"input": "pipeline"})
    plans = [msgspec.structs.replace(first, contender=contender), *rest]
    shuffled = msgspec.structs.replace(ran, comparison=msgspec.structs.replace(ran.comparison, contenders=plans))
    assert "whose own loader shuffles the same samples" in whole_lines(shuffled)[0]


def made(number: int, *, outcome: str = "done", epochs: EpochRun | None = None) -> Record:
    """Make the record of a whole run, whose first step takes a second and compiles seven programs."""
    trial: Any = SimpleNamespace(purpose="epochs", round_number=number)
    record: Any = SimpleNamespace(
        trial=trial,
        outcome=outcome,
        reason=f"{outcome} in run {number}",
        epochs=epochs,
        first_step_ns=1_000_000_000,
        compilation=Compilation(count=7),
    )
    return record


LONG = EpochRun(
    steps=[2, 3, 3],
    epochs_ns=[2_000_000_000, 3_000_000_000, 4_000_000_000],
    foreign_shares=[0.06, None, 0.05],
    compilations=[1, None, 2],
    test_samples=9,
)
SHORT = msgspec.structs.replace(
    LONG, steps=[2, 3], epochs_ns=[5_000_000_000, 6_000_000_000], foreign_shares=[0.2, 0.3], compilations=[0, 5]
)


def test_whole_runs_are_read_from_records_in_their_order() -> None:
    """The first step counts in the total and in the first epoch; of what did not finish its reason is kept."""
    other: Any = SimpleNamespace(trial=SimpleNamespace(purpose="time", round_number=1))
    found = whole_runs([made(3, outcome="killed"), made(2, epochs=SHORT), other, made(1, epochs=LONG)])
    assert found is not None
    assert (found.steps, found.test_samples, found.failures) == (9, 9, ["killed in run 3"])
    assert [one.epochs_s for one in found.runs] == [pytest.approx([3.0, 3.0, 4.0]), pytest.approx([6.0, 6.0])]
    assert found.totals_s() == pytest.approx([10.0, 12.0])
    assert found.totals_s(first=False) == pytest.approx([9.0, 11.0])
    assert whole_runs([other]) is None


def test_a_run_tells_what_its_own_last_step_left() -> None:
    """Loss, both accuracies and the metric, each unknown by itself; the metric is what any run says that it is."""
    reading = MetricReading(name="score", unit="points", less_is_better=False, value=3.0)
    first = msgspec.structs.replace(LONG, loss=0.5, accuracy=0.9)
    second = msgspec.structs.replace(LONG, training_accuracy=0.8, metric=reading)
    found = whole_runs([made(1, epochs=first), made(2, epochs=second), made(3, epochs=LONG)])
    assert found is not None
    assert [one.loss for one in found.runs] == [0.5, None, None]
    assert [one.accuracy for one in found.runs] == [0.9, None, None]
    assert [one.training_accuracy for one in found.runs] == [None, 0.8, None]
    assert [one.metric for one in found.runs] == [None, 3.0, None]
    assert found.metric == Metric(name="score", unit="points", less_is_better=False)
    assert found.median_metric == 3.0
    assert accuracies(found) == (0.9, 0.8)


def test_programs_of_an_epoch_are_unknown_where_those_of_its_first_step_are() -> None:
    """Unknown is not 0: the first epoch's count lacks them, the others' do not."""
    one = made(1, epochs=LONG)
    for compilation in (None, Compilation()):
        one.compilation = compilation  # type: ignore[misc]
        found = whole_runs([one])
        assert found is not None
        assert found.runs[0].compilations == [None, None, 2]
    found = whole_runs([made(1, epochs=msgspec.structs.replace(LONG, compilations=[]))])
    assert found is not None
    assert found.runs[0].compilations == []


def test_an_epoch_is_flagged_where_others_took_more_than_the_limit() -> None:
    """The limit itself is none too many, and of an epoch of which nothing is known nothing is said."""
    found = whole_runs([made(1, epochs=LONG), made(2, epochs=SHORT)])
    assert found is not None
    assert [one.flagged_epochs for one in found.runs] == [1, 2]


def test_an_epoch_is_looked_up_by_its_number_in_every_run_that_has_it() -> None:
    """Counted from 1; of programs the most of any run count, those of the first step in the first epoch."""
    found = whole_runs([made(1, epochs=LONG), made(2, epochs=SHORT)])
    assert [epoch_times(found, epoch) for epoch in (1, 2, 3, 4)] == [
        pytest.approx([3.0, 6.0]),
        pytest.approx([3.0, 6.0]),
        pytest.approx([4.0]),
        [],
    ]
    assert [epoch_compiled(found, epoch) for epoch in (1, 2, 3, 4)] == [8, 5, 2, None]
    assert (epoch_times(None, 1), epoch_compiled(None, 1)) == ([], None)


def test_accuracies_are_medians_over_runs_that_have_any(ran: Outcome) -> None:
    """On held-out data and on what was trained on, each by itself."""
    whole = ran.contenders[0].whole
    assert whole is not None
    runs = [
        msgspec.structs.replace(one, accuracy=held_out, training_accuracy=trained)
        for one, held_out, trained in zip(whole.runs, (0.5, 0.9, None), (0.1, 0.2, 0.6), strict=True)
    ]
    assert accuracies(msgspec.structs.replace(whole, runs=runs)) == (pytest.approx(0.7), pytest.approx(0.2))
    assert accuracies(None) == (None, None)


@pytest.mark.parametrize(("asked", "length"), [({"epochs": 3}, (3, 8)), ({"steps": 5}, (1, 5)), ({}, None)])
def test_the_length_of_whole_runs_is_what_was_asked_for(ran: Outcome, asked: dict[str, int], length: Any) -> None:
    """Epochs of all batches of the data set, or one of so many steps."""
    procedure = msgspec.structs.replace(ran.comparison.procedure, **{"epochs": None, "steps": None} | asked)
    data = msgspec.structs.replace(ran.comparison.data, epoch_batches=8)
    found = length_of(msgspec.structs.replace(ran.comparison, procedure=procedure, data=data))
    assert (found and (found.epochs, found.epoch_steps)) == length


def test_algorithms_are_no_matter_where_none_saves_products(ran: Outcome) -> None:
    """A model without convolutions over several points has nothing to try, whatever the setting says."""
    tries = [msgspec.structs.replace(one, settings={"conv_algorithm": "profiling"}) for one in ran.contenders]
    for least, told in ((50, True), (100, False)):
        work = Work(macs=100, least_macs=least, parameters=1, trains=True)
        comparison = msgspec.structs.replace(ran.comparison, work=work)
        said = " ".join(whole_lines(msgspec.structs.replace(ran, comparison=comparison, contenders=tries)))
        assert ("the algorithms of each pass of a convolution" in said) == told
