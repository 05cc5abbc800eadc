"""Studies of what steps and graphs consist of: traced behind the race, and held against a document's figures."""

from __future__ import annotations

import shutil
from pathlib import Path

import msgspec
import pytest
from tests.race.inline import InlineWorker
from tests.study.test_reproduce import NO_PROBE_S, published

from bakeoff.judge.reproduced_parts import NO_GRAPH, NO_PASSES, NONE_REMOVED, NOT_FOLLOWED, part_lines
from bakeoff.judge.study import StudyOutcome
from bakeoff.report.pages import published_parts
from bakeoff.spec.explained import GraphStage
from bakeoff.spec.parts import PublishedPart
from bakeoff.spec.published import PublishedStudy
from bakeoff.store import studies
from bakeoff.store.files import read_record
from bakeoff.study.estimate import estimate
from bakeoff.study.foreseen import foreseen
from bakeoff.study.published import load
from bakeoff.study.reproduction import declare
from bakeoff.study.run import run_study

PASSES = "pruning/45;constant folding/-5;arithmetic/5;dependency/20"
CONTENDERS = {
    "tensorflow": f"fake:passes={PASSES},parts=convolution/forward/stem/6;host dispatch///3;idle///1",
    "pytorch": "fake:step_ms=2",
}


def study() -> PublishedStudy:
    """Give a study of one comparison in which the scripted framework says what its steps and graphs consist of."""
    rows = tuple(
        msgspec.structs.replace(row, contender=CONTENDERS[row.name], on_cpu=CONTENDERS[row.name])
        for row in published().rows
        if row.name in CONTENDERS
    )
    (declared,) = published().comparisons
    told = (
        PublishedPart(of="compute", value=96.4, row="tensorflow"),
        PublishedPart(of="copies", value=3, kind="at-most"),
        PublishedPart(of="pruning", value=50, row="tensorflow", kind="about"),
    )
    return msgspec.structs.replace(
        published(),
        rows=rows,
        comparisons=(msgspec.structs.replace(declared, figures=(), parts=told),),
        parts=("compute", "copies", "launches", "pruning", "constant folding", "removed", "no op", "dependency"),
    )


def of_graphs() -> PublishedStudy:
    """Give the same without what varies from step to step."""
    (declared,) = study().comparisons
    told = (PublishedPart(of="pruning", value=50, row="tensorflow", kind="about"),)
    comparisons = (msgspec.structs.replace(declared, parts=told),)
    return msgspec.structs.replace(study(), comparisons=comparisons, parts=("pruning", "removed"))


def ran(folder: Path, *, resume: bool = False, given: PublishedStudy | None = None) -> StudyOutcome:
    """Run it, or another one, in virtual time."""
    declared = declare(given or study(), device="cpu")
    points = [
        msgspec.structs.replace(point, request=msgspec.structs.replace(point.request, self_test=False))
        for point in declared.points
    ]
    quick = msgspec.structs.replace(declared, points=points)
    return run_study(quick, results=str(folder), resume=resume, launch=InlineWorker, probe_s=NO_PROBE_S)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the results of one run."""
    found = tmp_path_factory.mktemp("parts")
    ran(found)
    return found


def test_every_contender_is_traced_and_stands_beside_the_documents_figures(folder: Path) -> None:
    """Shares of the step have an interval over rounds; counts of graphs have none; what cannot be had says why."""
    lines = {(line.of, line.row): line for line in part_lines(ran(folder, resume=True), study())}
    compute = lines["compute", "tensorflow"]
    assert compute.measured is not None
    assert compute.measured.mean == pytest.approx(0.6)
    assert compute.measured.interval is not None
    assert (compute.published and compute.published.value, compute.hole) == (96.4, "")
    launches = lines["launches", "tensorflow"].measured
    assert launches is not None
    assert launches.mean == 1
    measured = {of: one.measured.mean for (of, row), one in lines.items() if row == "tensorflow" and one.measured}
    assert measured["pruning"] == pytest.approx(0.45)
    assert measured["constant folding"] == pytest.approx(-0.05)
    assert measured["removed"] == pytest.approx(0.65)
    assert measured["no op"] == pytest.approx(1.0)
    assert lines["removed", "pytorch"].hole == NO_GRAPH


def test_graphs_are_counted_in_the_first_trace_alone(folder: Path) -> None:
    """What a compiler does is the same in every process, so that the other four trials are not longer for it."""
    counted = {}
    for path in folder.glob("*/*/explain*-fake-passes*"):
        traced = read_record(path).traced
        counted[path.name.partition("-")[0]] = bool(traced and traced.stages)
    assert counted == {"explain1": True, **dict.fromkeys(("explain2", "explain3", "explain4", "explain5"), False)}


def test_counts_of_graphs_alone_are_traced_once(tmp_path: Path) -> None:
    """They are the same in every round, so that four more would tell nothing; a study of them is finished then."""
    outcome = ran(tmp_path, given=of_graphs())
    assert {path.name.partition("-")[0] for path in tmp_path.glob("*/*/explain*")} == {"explain1"}
    lines = {line.of: line for line in part_lines(outcome, of_graphs()) if line.row == "tensorflow"}
    measured = {of: one.measured.mean for of, one in lines.items() if one.measured}
    assert measured == pytest.approx({"pruning": 0.45, "removed": 0.65})
    kept = {path: path.stat().st_mtime_ns for path in tmp_path.glob("*/*/*/record.json")}
    ran(tmp_path, given=of_graphs(), resume=True)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.glob("*/*/*/record.json")} == kept


def test_a_study_that_was_begun_with_more_rounds_of_traces_goes_on(tmp_path: Path) -> None:
    """How often is traced is no part of what is asked, so that records of before stay."""
    ran(tmp_path, given=of_graphs())
    (folder,) = studies.studies(tmp_path)
    stored = studies.read(folder)
    points = [
        msgspec.structs.replace(one, request=msgspec.structs.replace(one.request, trace_rounds=None))
        for one in stored.study.points
    ]
    older = msgspec.structs.replace(stored, study=msgspec.structs.replace(stored.study, points=points))
    studies.write(folder, older)
    assert studies.latest_like(tmp_path, stored.study) == (folder, older)


def test_traces_are_part_of_the_time_that_is_foreseen(folder: Path) -> None:
    """Each round of them takes about as long as a round of the race, here and on another device."""
    told, once = ([foreseen(declare(one, device="cpu"), folder)] for one in (study(), of_graphs()))
    ((known,), (less,)) = (one[0].points for one in (told, once))
    assert (known.basis, known.trace_rounds, less.trace_rounds) == ("measured", 5, 1)
    assert known.forecast is not None
    round_s = known.forecast.round_s
    assert round_s
    assert known.low_s - less.low_s == pytest.approx(4 * round_s)
    (_, gpu, *_), (_, less_gpu, *_) = (estimate(one, cores=2).figures for one in (told, once))
    assert 0 < gpu.seconds.low - less_gpu.seconds.low <= 4 * round_s * 1.001


def test_a_figure_of_no_row_stands_beside_each(folder: Path) -> None:
    """The document's bound on copies holds for all rows; on a processor nothing is copied, and that is said."""
    copies = [line for line in part_lines(ran(folder, resume=True), study()) if line.of == "copies"]
    assert [line.published and line.published.value for line in copies] == [3, 3]
    assert {line.measured for line in copies} == {None}
    assert {line.hole for line in copies} == {
        "a processor computes where the batch already lies, so that nothing is copied to a device"
    }


def with_stages(outcome: StudyOutcome, *stages: GraphStage) -> StudyOutcome:
    """Give a study in which whoever tells of a graph tells these stages."""
    points = [
        msgspec.structs.replace(
            point,
            profiles=[
                msgspec.structs.replace(one, stages=list(stages)) if one.stages else one for one in point.profiles
            ],
        )
        for point in outcome.points
    ]
    return msgspec.structs.replace(outcome, points=points)


@pytest.mark.parametrize("passes", [("all passes",), ("pruning", "constant folding")])
def test_a_compiler_that_tells_no_pass_apart_has_no_figure_for_one(folder: Path, passes: tuple[str, ...]) -> None:
    """Where a graph is told before all passes and after them alone, it is said why a single one has no figure."""
    before = GraphStage(nodes={"expensive": 10, "cheap": 20, "no op": 70})
    after = GraphStage(passes=passes, nodes={"expensive": 10, "cheap": 15})
    outcome = with_stages(ran(folder, resume=True), before, after)
    lines = {line.of: line for line in part_lines(outcome, study()) if line.row == "tensorflow"}
    assert {lines["pruning"].hole, lines["constant folding"].hole, lines["dependency"].hole} == {NO_PASSES}
    assert (lines["no op"].measured, lines["no op"].hole) == (None, NOT_FOLLOWED)
    removed = lines["removed"].measured
    assert removed is not None
    assert removed.mean == pytest.approx(0.75)
    (told,) = (one for one in published_parts.parts(outcome, study()) if one.title == "Figures that are missing")
    assert any(word.startswith("No figure of tensorflow (") and word.endswith(f": {NO_PASSES}.") for word in told.words)


def test_a_graph_without_nodes_and_passes_that_take_none_are_no_figure(folder: Path) -> None:
    """Of nothing there is no share: neither of an empty graph, nor among no nodes that are gone."""
    outcome = ran(folder, resume=True)
    empty = with_stages(outcome, GraphStage(nodes={}), GraphStage(passes=("pruning",), nodes={}))
    lines = {line.of: line.hole for line in part_lines(empty, study()) if line.row == "tensorflow"}
    assert (lines["removed"], lines["pruning"]) == (NO_GRAPH, NO_GRAPH)
    before = GraphStage(nodes={"cheap": 20})
    same = with_stages(outcome, before, GraphStage(passes=("pruning",), nodes={"cheap": 20}, removed={"cheap": 0}))
    lines = {line.of: line.hole for line in part_lines(same, study()) if line.row == "tensorflow"}
    assert (lines["no op"], lines["pruning"]) == (NONE_REMOVED, "")


def test_traces_that_are_missing_are_made_when_it_is_resumed(folder: Path, tmp_path: Path) -> None:
    """A study whose rounds are done and whose traces are not is not finished; what is there is not made again."""
    copied = tmp_path / "results"
    shutil.copytree(folder, copied)
    (gone, *_) = sorted(copied.glob("*/*/explain5-*"))
    shutil.rmtree(gone)
    kept = {path: path.read_bytes() for path in copied.glob("*/*/*/record.json")}
    ran(copied, resume=True)
    assert (gone / "record.json").exists()
    assert {path: path.read_bytes() for path in kept} == kept


def test_the_classes_of_table_6_are_whole() -> None:
    """In table 6 of Dai et al. the three classes of each network have 100 % as their sum."""
    for declared in load("dai2022-table6").comparisons:
        assert sum(part.value for part in declared.parts) == pytest.approx(100, abs=2e-4), declared.name


def test_table_3_has_every_figure() -> None:
    """Seven networks in two frameworks, one of them at another batch, too; launches of two, and the bound on copies."""
    parts = [part for declared in load("dai2022-table3").comparisons for part in declared.parts]
    shares = [part.value for part in parts if part.of == "compute"]
    assert (len(shares), min(shares), max(shares)) == (16, 54.31, 99.64)
    assert {part.value for part in parts if part.of == "launches"} == {447, 76649}
    assert {(part.value, part.kind) for part in parts if part.of == "copies"} == {(3, "at-most")}
