"""What steps and graphs consist of, published beside traced."""

from __future__ import annotations

import msgspec
import pytest
from tests.report.reproduced.conftest import study
from tests.report.reproduced.test_reproduced import section_of
from tests.report.shown import data_of, printed

from bakeoff.judge.claim_quantity import quantity, standing_of
from bakeoff.judge.claims import judged
from bakeoff.judge.explanation import ContenderProfile, MeanOverRounds
from bakeoff.judge.reproduced_parts import NO_DEVICE, NO_GRAPH, part_lines
from bakeoff.judge.study import PointOutcome, StudyOutcome
from bakeoff.report.forms.pictures import render
from bakeoff.report.pages import page_of
from bakeoff.report.pages.published_claims import TITLE, sentence
from bakeoff.report.pictures import NARROW, WIDE
from bakeoff.report.pictures.bars import bars_chart
from bakeoff.report.pictures.nodes import nodes_chart, nodes_finding, shares_here, shares_there
from bakeoff.spec.explained import GraphStage
from bakeoff.spec.verdict import Interval
from bakeoff.stats.together import Estimate
from bakeoff.study.published import load

ROWS = {"TensorFlow": "tensorflow", "XLA, by JAX": "jax", "torch.compile": "torch:mode=compiled"}
FOUR = ("pruning", "constant folding", "arithmetic", "dependency")


def profile(label: str, stages: list[GraphStage]) -> ContenderProfile:
    """Make a contender's profile."""
    return ContenderProfile(
        label=label,
        level="layers",
        rounds=5,
        step_s=0.01,
        compute=MeanOverRounds(mean=0.9132, interval=Interval(estimate=0.9132, low=0.9, high=0.93)),
        copies=MeanOverRounds(mean=0.0),
        launches=MeanOverRounds(mean=76649.0),
        stages=stages,
        facts={"fusions": 12, "instructions_after": 60},
    )


def graph(passes: tuple[str, ...], *nodes: int, removed: tuple[int, ...] = ()) -> GraphStage:
    """Make a graph with so many nodes of each class."""
    names = ("expensive", "cheap", "no op")
    return GraphStage(
        passes=passes,
        nodes=dict(zip(names, nodes, strict=True)),
        removed=dict(zip(names, removed, strict=False)),
    )


def with_profiles(point: PointOutcome) -> PointOutcome:
    """Return a point whose contenders were traced, but for torch."""
    one = [graph((), 10, 20, 70), graph(FOUR, 9, 16, 15, removed=(1, 4, 55))]
    two = [graph((), 10, 20, 70), graph(("all passes",), 10, 10, 40)]
    return msgspec.structs.replace(point, profiles=[profile("tensorflow", one), profile("jax", two)])


def table(name: str, rows: dict[str, str], device: str = "cpu") -> StudyOutcome:
    """Make a study's outcome."""
    made = study(name, rows, {}, scaled=True, device=device)
    return msgspec.structs.replace(made, points=[with_profiles(one) for one in made.points])


def table3(device: str = "cpu") -> StudyOutcome:
    """Make the outcome of table 3, PyTorch not traced."""
    return table("dai2022-table3", {"TensorFlow": "tensorflow", "PyTorch": "torch"}, device)


def test_shares_of_a_step_stand_beside_the_printed_ones() -> None:
    """Each row has the document's share and ours with its interval; what was not traced says so."""
    (shown,) = section_of(table3(), "Share of the step in which the device computes").tables
    cells = {line.cells[0]: line.cells[1:] for line in shown.lines}
    assert cells["gnmt, TensorFlow"] == ["85.91 %", "91.3 %", "90 % to 93 %"]
    assert cells["gnmt, PyTorch"] == ["96.55 %", "not measured", ""]
    (started,) = section_of(table3(), "Kernels or operations started in a step").tables
    cells = {line.cells[0]: line.cells[1:] for line in started.lines}
    assert cells["tacotron2, TensorFlow"] == ["76,649", "76,649", ""]
    assert page_of(table3()).headline.startswith(
        "Table 3 of Dai et al. 2022: 10 of 36 lines with a figure have ours beside it; "
    )


def test_what_the_columns_mean_on_a_processor_is_said() -> None:
    """A processor has no copies to a device; on a GPU nothing of that is said, and copies are a share."""
    text = " ".join(printed(table3()).split())
    assert "On a processor there is no device beside the host" in text
    assert "so that nothing is copied to a device" in text
    assert "On a processor" not in printed(table3("cuda"))
    (copies,) = section_of(table3("cuda"), "Share of the step in which memory is copied between host and device").tables
    assert next(line.cells for line in copies.lines) == ["resnet50, TensorFlow", "at most 3 %", "0 %", ""]


def test_classes_of_what_is_removed_stand_beside_table_6() -> None:
    """Nodes that are gone by class; a compiler that names nodes anew has its graph before and after alone."""
    made = table("dai2022-table6", ROWS)
    (shown,) = section_of(made, "Of the nodes taken away, cheap ones").tables
    cells = {line.cells[0]: line.cells[1:] for line in shown.lines}
    assert cells["bert-base, TensorFlow"] == ["8.7593 %", "6.67 %", ""]
    assert "bert-base, XLA, by JAX" not in cells
    (graphs,) = section_of(made, "What became of each graph").tables
    lines = [line.cells for line in graphs.lines if line.cells[0] == "gnmt, XLA, by JAX"]
    assert lines == [
        ["gnmt, XLA, by JAX", "as traced", "100", "10", "20", "70", ""],
        ["gnmt, XLA, by JAX", "all passes", "60", "10", "10", "40", "40.0 %"],
    ]
    ours = {(one["comparison"], one["row"], one["of"]): one for one in data_of(made)["parts"]}
    known = ours["gnmt", "TensorFlow", "no op"]
    assert (known["published"], round(known["measured"], 4)) == (0.864704, round(55 / 60, 4))
    assert ours["gnmt", "XLA, by JAX", "no op"]["hole"] == (
        "its compiler names nodes anew, so that none of them is known to be gone"
    )
    assert data_of(made)["graphs"][0]["stages"][1]["removed"] == {"expensive": 1, "cheap": 4, "no op": 55}


def test_a_graph_without_nodes_has_no_shares() -> None:
    """A compiler that had nothing to do leaves a reason in place of a share, and no error."""
    made = table("dai2022-figure4", {"all four passes": "tensorflow"})
    empty = [
        msgspec.structs.replace(one, profiles=[profile("tensorflow", [graph((), 0, 0, 0)])]) for one in made.points
    ]
    found = part_lines(msgspec.structs.replace(made, points=empty), load("dai2022-figure4"))
    holes = {(one.measured, one.hole) for one in found if one.row == "all four passes"}
    assert holes == {(None, NO_GRAPH)}


def test_speeds_beside_a_figure_of_nodes_do_not_pass_for_that_figure() -> None:
    """Figure 4 is of nodes, whose tables have its numbers; speeds without each pass are ours, and are said to be."""
    made = table("dai2022-figure4", {"all four passes": "tensorflow", "none of the four": "torch"})
    speeds = section_of(made, "Speed of a step in each row here, which figure 4 of Dai et al. 2022 does not have")
    assert speeds.picture
    title = bars_chart(made, load("dai2022-figure4")).to_dict(validate=False)["title"]
    assert title["text"] == "Beside Dai et al. 2022, figure 4, which has no speeds"
    shown = {section.title for section in page_of(made).sections}
    assert "Share of the nodes that pruning takes away" in shown


def test_claims_on_shares_are_judged_by_traces() -> None:
    """A share has an interval with those of all claims; one row refutes what is said of each, if others lack traces."""
    found = {one.claim.text: one for one in judged(table3(), load("dai2022-table3"))}
    assert {one.together for one in found.values()} == {16}  # eight comparisons of two rows; copies are none here
    refuted = found["In CNNs the GPU computes for more than 96 % of the time"]
    assert "(section 4.3): does not hold here: smallest of 3: 91 % (" in sentence(refuted)
    assert sentence(refuted).endswith(" %), there 96 %, the rest is not measured: not traced.")
    equal = found["Of all models Tacotron 2 has the least share of computing, TensorFlow"]
    assert (equal.standing, equal.percent and equal.percent.estimate) == ("inconclusive", 0.0)
    # Nothing of the mean is decided by the bound on each.
    mean = found["Copies of memory take 1.42 % of the time in the mean of all models"]
    assert mean.reason.startswith("each model's share stands in its table")
    nowhere = found["Copies of memory have nearly no effect"]
    assert (nowhere.standing, NO_DEVICE in nowhere.reason) == ("not measured", True)
    mainly = found["On one GPU the processing on the GPU dominates the time of training"]
    assert (mainly.standing, mainly.reason) == ("not measured", "not traced")  # as PyTorch is not
    traced = found["In GNMT and Deep Speech 2 the GPU computes for around 86 % of the time, TensorFlow"]
    assert traced.standing == "inconclusive"
    assert page_of(table3()).headline.endswith(" not measured here.")


def test_claims_on_counts_have_no_interval() -> None:
    """Nodes of a graph are the same in every round: a claim on them is told by its number alone."""
    made = table("dai2022-table6", ROWS)
    said = [sentence(one) for one in judged(made, load("dai2022-table6"))]
    assert said[0].endswith("(section 4.5.2): holds here: smallest of 7: 91.7 %, there 90 %.")
    assert said[1].endswith("(section 4.5.2): does not hold here: largest of 7: 1.67 %, there 1 %.")
    section = section_of(made, TITLE)
    assert section.words == [
        "Of 4 claims of the document 2 hold here, 1 does not hold here and 1 is not measured here."
    ]


@pytest.mark.parametrize("name", ["dai2022-table3", "dai2022-figure4", "dai2022-table6"])
def test_what_the_document_says_of_shares_follows_from_its_figures(name: str) -> None:
    """By the printed shares each of its sentences is true, but for the one of which it is said that it is not."""
    made = load(name)
    printed_shares = {(one.name, part.row, part.of): part.value for one in made.comparisons for part in one.parts}
    held = {}
    for claim in (one for one in made.claims if one.is_of_shares and not one.unmeasured):
        places = [(comparison, row) for comparison in claim.comparisons for row in claim.rows]
        shares = [
            printed_shares.get((comparison, row, claim.of), printed_shares.get((comparison, "", claim.of)))
            for comparison, row in places
        ]
        known = [Estimate(share / 100.0, 0.0, 1.0) for share in shares if share is not None]
        if known:
            assert len(known) == len(places), claim.text
            held[claim.text] = standing_of(claim, quantity(claim, known, 1), 0.05)
    assert len(held) >= 3
    wrong = {text for text, standing in held.items() if standing != "holds"}
    assert wrong == {text for text in held if "the table has less in five of seven models" in text}


def test_a_table_of_shares_has_the_documents_lines_and_columns() -> None:
    """Table 3 has a line for each model and a column for each framework, table 6 one for each class of operations."""
    first, second, *_ = page_of(table3()).sections
    assert first.title == "Table 3 of Dai et al. 2022, published beside measured"
    assert second.words[0].startswith("Published on NVIDIA Tesla P100")
    (shown,) = first.tables
    assert shown.heads == ["", "TensorFlow (%) there", "TensorFlow (%) here", "PyTorch (%) there", "PyTorch (%) here"]
    assert [line.cells[0] for line in shown.lines] == [
        "ResNet-50", "VGG16", "InceptionV3", "BERT", "GNMT", "DeepSpeech2", "Tacotron2", "Tacotron2, batch 64",
    ]  # fmt: skip
    assert shown.lines[4].cells[1:] == ["85.91", "91.3 (90 to 93)", "96.55", "not measured"]
    (classes,) = page_of(table("dai2022-table6", ROWS)).sections[0].tables
    assert classes.heads[1::2] == ["expensive (%) there", "cheap (%) there", "no op (%) there"]
    assert classes.lines[3].cells == ["BERT", "0", "1.67", "8.7593", "6.67", "91.2407", "91.7"]


def test_a_figure_of_nodes_is_drawn_as_the_document_has_it() -> None:
    """Figure 4 is a group of bars for each network, one for each pass: what the text states, and what is counted."""
    made = table("dai2022-figure4", {"all four passes": "tensorflow", "none of the four": "torch"})
    published = load("dai2022-figure4")
    # 100 nodes, of which pruning takes 45; folding adds 5; arithmetic takes 5 and dependency 20.
    steps = [graph(FOUR[:count], 10, 20, rest) for count, rest in enumerate((70, 25, 30, 25, 5))]
    points = [msgspec.structs.replace(one, profiles=[profile("tensorflow", steps)]) for one in made.points]
    counted = msgspec.structs.replace(made, points=points)
    here = {(one["group"], one["part"]): one["share"] for one in shares_here(counted, published)}
    passes = {part: share for (group, part), share in here.items() if group == "BERT"}
    assert passes == pytest.approx(
        {"removed": 65.0, "pruning": 45.0, "constant folding": -5.0, "arithmetic": 5.0, "dependency": 20.0}
    )
    there = {(one["group"], one["part"]): one["share"] for one in shares_there(published)}
    assert (there["BERT", "pruning"], there["ResNet-50", "removed"]) == (23, 55)
    assert "BERT constant folding -5 %" in nodes_finding(counted, published)
    first = page_of(counted).sections[0]
    assert first.title == "Figure 4 of Dai et al. 2022, published beside measured"
    assert first.picture
    untraced = [msgspec.structs.replace(one, profiles=[]) for one in made.points]
    for outcome in (msgspec.structs.replace(made, points=untraced), counted):
        for width in (WIDE, NARROW):
            assert nodes_chart(outcome, published, width).to_dict()["title"]["text"] == "Dai et al. 2022, figure 4"
    drawn = render([page_of(counted)], "svg").decode()
    assert "constant folding" in drawn
    assert "Tacotron2" in drawn
