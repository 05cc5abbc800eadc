"""From published figures to comparisons, and from their outcomes to what can be said of the figures."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.race.inline import InlineWorker

from bakeoff.judge import reproduction
from bakeoff.judge.reproduced_scaling import overhead_lines
from bakeoff.judge.study import StudyOutcome
from bakeoff.spec.errors import UnknownNameError, UsageError
from bakeoff.spec.published import PublishedStudy
from bakeoff.study.published import load, names
from bakeoff.study.reproduction import declare
from bakeoff.study.run import run_study
from bakeoff.workloads.load import load as load_workload

NO_PROBE_S = 0.001


def published() -> PublishedStudy:
    """Give the notes' table 4 with the scripted framework in place of its own: 1 ms, 2 ms, and one that is not here."""
    study = load("shootout-table4")
    contenders = {"tensorflow": "fake", "pytorch": "fake:step_ms=2", "jittor": "not-here"}
    rows = tuple(
        msgspec.structs.replace(row, contender=contenders[row.name], on_cpu=contenders[row.name]) for row in study.rows
    )
    (declared,) = study.comparisons
    scaled = msgspec.structs.replace(declared.scaled, batch_size=4, size="reduced", steps=None)
    smaller = msgspec.structs.replace(declared, workload="mlp-mnist", scaled=scaled)
    return msgspec.structs.replace(study, rows=rows, comparisons=(smaller,))


def ran(study: PublishedStudy, folder: Path, **asked: Any) -> StudyOutcome:
    """Run a study in virtual time."""
    declared = declare(study, **({"device": "cpu"} | asked))
    points = [
        msgspec.structs.replace(point, request=msgspec.structs.replace(point.request, self_test=False))
        for point in declared.points
    ]
    quick = msgspec.structs.replace(declared, points=points)
    return run_study(quick, results=str(folder), launch=InlineWorker, probe_s=NO_PROBE_S)


def pairs_by_row(outcome: StudyOutcome) -> dict[tuple[str, str], reproduction.PublishedPair]:
    """Give the pairs by their rows."""
    assert outcome.study.reproduces is not None
    return {(pair.first, pair.second): pair for pair in reproduction.pairs(outcome, outcome.study.reproduces.published)}


@pytest.fixture(scope="module")
def at_full_size(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], StudyOutcome]:
    """Give what runs the scripted framework and another contender of it at the document's sizes, each pair once."""

    @cache
    def run(second: str) -> StudyOutcome:
        study = published()
        rows = tuple(
            msgspec.structs.replace(row, contender=text, on_cpu=text, device="cpu")
            for row, text in zip(study.rows, ("fake", second), strict=False)
        )
        (declared,) = study.comparisons
        full = msgspec.structs.replace(declared, figures=declared.figures[:2], steps=20)
        raced = msgspec.structs.replace(study, rows=rows, comparisons=(full,))
        return ran(raced, tmp_path_factory.mktemp("full"), full=True)

    return run


@pytest.mark.parametrize("name", names())
def test_every_shipped_study_asks_for_what_there_is(name: str) -> None:
    """Workloads, scenarios, sizes and batches that shipped studies name can be had."""
    for declared in load(name).comparisons:
        loaded = load_workload(declared.workload)
        assert declared.scenario in loaded.workload.scenarios
        if declared.scaled:
            assert loaded.size(declared.scaled.size or "full").batch_size > 0


def test_the_full_variant_is_the_documents(home: Path) -> None:
    """In full, batch, size and steps of the whole run are the document's; scaled down, what the study says."""
    assert not home.exists()
    study = published()
    (full,), (scaled,) = declare(study, full=True).points, declare(study).points
    assert (full.request.batch_size, full.request.size, full.request.steps) == (8, "full", 1000)
    assert full.request.max_rounds is None
    assert (scaled.request.batch_size, scaled.request.size, scaled.request.max_rounds) == (4, "reduced", 6)
    assert scaled.request.command.startswith(
        "bakeoff run mlp-mnist fake fake:step_ms=2 --scenario train --batch-size 4"
    )


def test_a_row_that_cannot_race_is_left_out_with_its_reason() -> None:
    """A framework that bakeoff does not have, or a row that wants a GPU on a machine without, does not end the rest."""
    (point,) = declare(published(), device="cpu").points
    assert point.request.contenders == ("fake", "fake:step_ms=2")
    assert point.left_out == {"not-here": "bakeoff has no framework 'not-here'"}
    needy = published()
    rows = (*needy.rows[:2], msgspec.structs.replace(needy.rows[2], on_cpu="", missing="it needs a GPU"))
    (point,) = declare(msgspec.structs.replace(needy, rows=rows), device="cpu").points
    assert point.left_out == {"not-here": "it needs a GPU"}


def test_a_comparison_that_cannot_be_had_ends_no_other(tmp_path: Path) -> None:
    """A document's first comparison, which the machine has no memory for, is told with its reason; the next is run."""
    given = published()
    (declared,) = given.comparisons
    scaled = msgspec.structs.replace(declared.scaled, batch_size=100_000_000)
    large = msgspec.structs.replace(declared, name="too large", scaled=scaled)
    outcome = ran(msgspec.structs.replace(given, comparisons=(large, declared)), tmp_path)
    assert [bool(point.outcome) for point in outcome.points] == [False, True]
    assert outcome.points[0].reason


def test_where_nothing_can_race_nothing_is_begun() -> None:
    """A study none of whose rows can race here is an error that says why."""
    study = published()
    with pytest.raises(UsageError, match=r"nothing of shootout-table4 can be run here\..*no framework 'not-here'"):
        declare(
            msgspec.structs.replace(
                study,
                rows=study.rows[2:],
                comparisons=(msgspec.structs.replace(study.comparisons[0], figures=study.comparisons[0].figures[2:]),),
            )
        )


def test_contenders_that_are_named_stand_for_the_rows_they_are() -> None:
    """Named contenders race in place of the study's, and one in another environment still stands for its row."""
    (point,) = declare(published(), contenders=["fake@/usr/bin/python3", "fake:step_ms=3"]).points
    assert point.request.contenders == ("fake@/usr/bin/python3", "fake:step_ms=3")
    assert point.rows == {"tensorflow": "fake@/usr/bin/python3"}
    with pytest.raises(UsageError, match="is not of the form"):
        declare(published(), contenders=["::"])


def test_the_same_order_on_other_hardware_confirms_nothing(tmp_path: Path) -> None:
    """On another kind of device the ranking cannot be told, whatever our order is; what was not measured is a hole."""
    outcome = ran(published(), tmp_path)
    pairs = pairs_by_row(outcome)
    two = pairs["pytorch", "tensorflow"]
    assert two.published == pytest.approx(54.5 / 32)
    assert two.published_range == pytest.approx((54 / 32, 55 / 32))
    assert two.verdict is not None
    assert (two.verdict.verdict, two.order, two.ranking) == ("slower", "same", "inconclusive")
    assert two.reason == "other hardware, scaled down"
    hole = pairs["jittor", "tensorflow"]
    assert (hole.verdict, hole.order, hole.reason) == (None, "not measured", "jittor not measured")
    lines = {line.row: line for line in reproduction.lines(outcome, published())}
    assert lines["jittor"].hole == "bakeoff has no framework 'not-here'"
    assert lines["tensorflow"].measured is not None
    assert lines["tensorflow"].published_step_s == pytest.approx(0.032)


def test_hardware_that_is_not_stated_tells_nothing(tmp_path: Path) -> None:
    """Where the document does not say on what it measured, a ranking here cannot be held against its own."""
    rows = tuple(msgspec.structs.replace(row, device="not stated") for row in published().rows)
    pair = pairs_by_row(ran(msgspec.structs.replace(published(), rows=rows), tmp_path))["pytorch", "tensorflow"]
    assert (pair.order, pair.ranking) == ("same", "inconclusive")
    assert pair.reason == "hardware not stated there, scaled down"


@pytest.mark.parametrize(
    ("values", "second", "order", "ranking"),
    [
        ([(32.0,), (55.0,)], "fake:step_ms=2", "same", "agrees"),
        ([(55.0,), (32.0,)], "fake:step_ms=2", "other", "disagrees"),
        ([(32.0, 60.0), (55.0,)], "fake:step_ms=2", "unclear there", "inconclusive"),
        ([(32.0,), (55.0,)], "fake:noise=0.001", "other", "disagrees"),
        ([(100.0,), (103.0,)], "fake:noise=0.001", "same", "agrees"),
        ([(10.0, 12.0, 14.0), (9.0, 11.0, 12.5)], "fake:noise=0.001", "unclear there", "inconclusive"),
        ([(32.0,), (32.0,)], "fake:step_ms=2", "other", "disagrees"),
        ([(32.0,), (32.0,)], "fake:noise=0.001", "same", "agrees"),
    ],
    ids=[
        "same",
        "other",
        "overlapping repeats",
        "equal here alone",
        "equal on both sides",
        "overlapping repeats, equal here",
        "equal there alone",
        "the same figure, equal here",
    ],
)
def test_the_same_work_on_the_same_kind_of_device_tells(
    at_full_size: Callable[[str], StudyOutcome],
    values: list[tuple[float, ...]],
    second: str,
    order: str,
    ranking: str,
) -> None:
    """At the document's sizes and on its kind of device a decided pair agrees or disagrees with it."""
    outcome = at_full_size(second)
    assert outcome.study.reproduces is not None
    study = outcome.study.reproduces.published
    (declared,) = study.comparisons
    figures = tuple(
        msgspec.structs.replace(one, values=given) for one, given in zip(declared.figures, values, strict=True)
    )
    told = msgspec.structs.replace(study, comparisons=(msgspec.structs.replace(declared, figures=figures),))
    (pair,) = reproduction.pairs(outcome, told)
    assert (pair.order, pair.ranking) == (order, ranking)


def test_a_row_of_a_gpu_that_ran_on_a_processor_is_other_hardware(tmp_path: Path) -> None:
    """Beside a row of a processor, too: what counts is where each of them ran."""
    study = published()
    rows = tuple(
        msgspec.structs.replace(row, contender=text, on_cpu=text, device=device)
        for row, text, device in zip(study.rows, ("fake", "fake:step_ms=2"), ("gpu", "cpu"), strict=False)
    )
    (declared,) = study.comparisons
    full = msgspec.structs.replace(declared, figures=declared.figures[:2], steps=20)
    outcome = ran(msgspec.structs.replace(study, rows=rows, comparisons=(full,)), tmp_path, full=True)
    (pair,) = pairs_by_row(outcome).values()
    assert (pair.ranking, pair.reason) == ("inconclusive", "other hardware")


def test_a_use_case_is_run_on_one_device_and_on_two(tmp_path: Path) -> None:
    """A document without figures has no pair; each row is raced, and those on two devices beside themselves on one."""
    study = load("jax-vs-pytorch-2")
    rows = tuple(
        msgspec.structs.replace(row, contender=text, on_cpu=text)
        for row, text in zip(
            study.rows, ("fake", "fake:step_ms=2", "fake:devices=2", "fake:step_ms=2,devices=2"), strict=True
        )
    )
    (mnist, *_) = study.comparisons
    scaled = msgspec.structs.replace(mnist.scaled, size="reduced", batch_size=4)
    small = msgspec.structs.replace(study, rows=rows, comparisons=(msgspec.structs.replace(mnist, scaled=scaled),))
    outcome = ran(small, tmp_path)
    assert reproduction.pairs(outcome, small) == []
    (point,) = outcome.points
    verdict = reproduction.verdict_on(point, "JAX, 2 devices", "PyTorch, 2 devices")
    assert verdict is not None
    assert verdict.verdict == "faster"
    assert {line.row for line in overhead_lines(outcome, small) if line.overhead} == {
        "JAX, 2 devices",
        "PyTorch, 2 devices",
    }


def test_a_comparison_whose_rows_cannot_race_is_left_out() -> None:
    """Only the comparison's own rows are asked for, and without any of them here the study has the others alone."""
    study = load("lambda-h100")
    (point,) = declare(study, full=True, device="cpu").points
    assert (point.title, point.request.contenders, point.left_out) == ("ResNet-50, fp32", ("torch",), {})
    assert point.rows == {"PyTorch, fp32": "torch"}


def test_unknown_studies_are_told() -> None:
    """A name that no study has is told with the names that there are."""
    with pytest.raises(UnknownNameError, match="Valid: algoperf-2025, apx-cnn, dai2022-figure1"):
        load("dai")
