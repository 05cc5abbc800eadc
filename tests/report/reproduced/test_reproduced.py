from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest
from tests.report.shown import data_of, html, markdown, printed

from bakeoff.judge.reproduced_memory import held_bytes
from bakeoff.judge.reproduction import hole
from bakeoff.report.forms import save
from bakeoff.report.forms.pictures import render
from bakeoff.report.pages import page_of
from bakeoff.report.pages.reproduction import _rows
from bakeoff.report.pictures.bars import speeds_here, speeds_there
from bakeoff.spec.published import MemoryKind
from bakeoff.spec.record import Memory

if TYPE_CHECKING:
    from bakeoff.judge.study import StudyOutcome
    from bakeoff.report.page import Section

PAGE = Path(__file__).parents[3] / "docs" / "json-reproduced.md"
LISTS = ("lines", "epochs", "overheads", "parts", "graphs", "pairs", "memory", "ticks", "claims")
CASES = ["scaled", "full", "figure", "article"]


def section_of(study: StudyOutcome, title: str) -> Section:
    """Return the section of a title."""
    (found,) = [section for section in page_of(study).sections if section.title == title]
    return found


def line_of(study: StudyOutcome, row: str) -> list[str]:
    """Return the cells of a row in the first table of steps."""
    table = next(section.tables[0] for section in page_of(study).sections if "there (" in section.title)
    return next(line.cells for line in table.lines if line.cells[0] == row)


def test_scaled_down_is_said_with_what_is_smaller(scaled: StudyOutcome, figure: StudyOutcome) -> None:
    """A scaled study says what is smaller than in the document, on what that ran, and what it cannot tell."""
    reduced = "Scaled down: the network's reduced size instead of the full one; the published ran on P100."
    assert reduced in page_of(figure).sections[1].words
    model = page_of(scaled)
    smaller = "batch 8 instead of 32, whole runs of 20 steps instead of 7,815"
    assert f"Scaled down: {smaller}; the published ran on GTX 3090." in model.sections[1].words
    assert model.headline.endswith(
        "Whether the published ranking holds is inconclusive here: other hardware, scaled down."
    )
    assert model.title.startswith("The notes on TensorFlow, PyTorch and Jittor, table 3")


def test_published_stands_beside_measured(scaled: StudyOutcome) -> None:
    """A row has its figures as printed, their step, ours with its interval, both ratios and what they tell."""
    assert line_of(scaled, "pytorch") == [
        "pytorch", "196, 197, 182* s", "25.1 ms", "27.0 ms", "26.2 to 27.8",
        "1.12 (1.03 to 1.22)", "1.12 (1.08 to 1.17)", "slower: the same order", "inconclusive",
    ]  # fmt: skip
    assert line_of(scaled, "jittor")[3] == "not measured"
    assert "Not measured: jittor: bakeoff has no framework 'jittor'" in section_of(scaled, "Holes").words


def test_too_few_rounds_are_a_measurement_without_a_verdict(full: StudyOutcome) -> None:
    """Below the first look a pair counts as measured, with its ratio so far, and shows nothing about the document."""
    points = []
    for point in full.points:
        assert point.outcome is not None
        early = [
            msgspec.structs.replace(one, rounds=2, fewest=5, verdict="undecided", low=None, high=None)
            for one in point.outcome.verdicts
        ]
        points.append(msgspec.structs.replace(point, outcome=msgspec.structs.replace(point.outcome, verdicts=early)))
    study = msgspec.structs.replace(full, points=points)
    page = page_of(study)
    assert "1 is measured without a verdict (2 rounds of 5) and 2 are not measured here" in page.headline
    assert line_of(study, "pytorch")[-3:] == ["1.12", "no verdict yet (2 of 5 rounds)", "inconclusive"]
    (pair,) = (one for one in page.data["pairs"] if one["order"] == "too few rounds")
    assert (pair["ratio"], pair["interval"], pair["verdict"]) == (pytest.approx(1.125), None, "no verdict")
    assert "too few rounds" in pair["reason"]


def test_at_its_own_size_on_a_gpu_the_ranking_is_told(full: StudyOutcome) -> None:
    """Where work and kind of device are the document's, a decided pair agrees or disagrees."""
    model = page_of(full)
    assert line_of(full, "pytorch")[-1] == "agrees"
    assert "Our ranking agrees with 1 and disagrees with 0." in model.headline
    assert not [line for line in model.sections[1].words if line.startswith("Scaled")]


@pytest.mark.parametrize("case", CASES)
def test_every_claim_names_the_document(case: str, request: pytest.FixtureRequest) -> None:
    """The answer names document and table, and the citation stands in every form."""
    study = request.getfixturevalue(case)
    model = page_of(study)
    document = study.study.reproduces.published.document
    assert f"{document.number} of {document.name}" in model.headline
    assert document.citation in printed(study, 400)
    assert document.citation.split(",")[0] in markdown(study)
    assert document.citation.split(",")[0] in html(study)


def test_a_row_whose_settings_strayed_says_so(scaled: StudyOutcome) -> None:
    """What ran with other settings than were asked for is no measurement of its row, and yet it was run."""
    point = scaled.points[0]
    assert point.outcome is not None
    first, *others = point.outcome.contenders
    (row,) = (row for row, label in point.point.rows.items() if label == first.label)
    strayed = msgspec.structs.replace(first, label=f"{first.label} [threads=7]")
    raced = msgspec.structs.replace(point.outcome, contenders=[strayed, *others])
    told = hole(msgspec.structs.replace(point, outcome=raced), row)
    assert told == f"in force was what nobody has asked for: {first.label} [threads=7]"
    assert hole(point, row) == ""


@pytest.mark.parametrize("width", [80, 120])
def test_tables_fit_a_terminal(scaled: StudyOutcome, width: int) -> None:
    """Wide tables go on beneath, so that no line of figures is longer than the terminal."""
    lines = printed(scaled, width).splitlines()
    assert max(len(line) for line in lines) <= width
    assert any(line.startswith("pytorch") and "196, 197, 182*" in line for line in lines)


def test_a_figure_has_the_bars_that_have_numbers(figure: StudyOutcome) -> None:
    """Bars without a number in the document are not drawn for it, and those without a contender not for us."""
    published = figure.study.reproduces
    assert published is not None
    there, here = speeds_there(published.published), speeds_here(figure, published.published)
    assert {(point["batch"], point["row"]) for point in there} == {(64, "TF-profiling"), (64, "PT-ori")}
    assert there[0]["speed"] == pytest.approx(216.14)
    assert {point["row"] for point in here} == {"TF-profiling", "PT-ori"}
    assert {point["batch"] for point in here} == {8, 32, 64}
    assert all(point["low"] < point["speed"] < point["high"] for point in here)


def test_pictures_state_their_findings(figure: StudyOutcome) -> None:
    """Each picture can be drawn and says in words what it shows."""
    found = [section.picture.finding for section in page_of(figure).sections if section.picture]
    assert len(found) == 2
    assert "resnet50 batch 64 TF-profiling 216" in found[0]
    assert "published pairs in figure 1 of Dai et al. 2022" in found[1]
    drawn = render([page_of(figure)], "svg").decode()
    assert "ResNet-50, published" in drawn
    assert 'role="img" aria-label="Images/s' in drawn
    assert render([page_of(figure)], "png").startswith(b"\x89PNG")


def test_a_panel_without_any_bar_says_so(figure: StudyOutcome) -> None:
    """Where nothing of a network was measured its panel has words in place of an empty scale."""
    points = [msgspec.structs.replace(one, outcome=None, reason="not begun") for one in figure.points]
    assert "no figure" in render([page_of(msgspec.structs.replace(figure, points=points))], "svg").decode()


def test_what_a_document_states_in_words_is_a_hole_where_it_cannot_be_had(figure: StudyOutcome) -> None:
    """The summaries of figure 1 are about the choice of algorithms, which a processor does not have."""
    (claims,) = section_of(figure, "What the document claims").tables
    assert claims.lines[0].cells[1] == "not measured here: it needs CUDA"
    assert len(claims.lines) == 20
    assert any("needs CUDA" in line for line in section_of(figure, "Holes").words)
    assert any(
        line.startswith("Not in the scaled variant: resnet50, batch 16") for line in section_of(figure, "Holes").words
    )


def test_memory_stands_beside_ours(article: StudyOutcome) -> None:
    """Published memory keeps its document's names, each figure beside ours."""
    (memory,) = section_of(article, "Memory").tables
    assert memory.lines[9].cells == ["cnn-apx, JAX: max RAM", "3.29 GB", "420 MB", "process at its peak"]


def test_each_kind_of_memory_is_what_a_process_held_of_it() -> None:
    """After its import, at its peak, and of its GPU all that the process held; what nobody keeps is nothing."""
    memory = Memory(baseline_bytes=1, peak_bytes=2, device_process_bytes=3, device_peak_bytes=4)
    kinds: tuple[MemoryKind, ...] = MemoryKind.__args__  # type: ignore[attr-defined]
    held = {kind: held_bytes(memory, kind) for kind in kinds}
    assert held == {
        "process after its import": 1,
        "process at its peak": 2,
        "GPU at its peak": 3,
        "not kept": None,
    }


def test_memory_of_a_row_that_was_not_measured_is_called_that(article: StudyOutcome) -> None:
    """Unknown is what a process that ran did not tell."""
    unmeasured = [
        msgspec.structs.replace(one, outcome=None, reason="the time budget was spent") for one in article.points
    ]
    (memory,) = section_of(msgspec.structs.replace(article, points=unmeasured), "Memory").tables
    assert memory.lines
    assert {line.cells[2] for line in memory.lines if line.cells[3] != "not kept"} == {"not measured"}


def test_accuracy_stands_beside_ours(article: StudyOutcome) -> None:
    """Published accuracy has beside it the one on held-out data, or on what was trained on where there is none."""
    (accuracy,) = section_of(article, "Accuracy").tables
    assert [line.cells[1:] for line in accuracy.lines] == [["0.1", "0.950", "unknown"]] * 3


@pytest.mark.parametrize("case", CASES)
def test_the_page_needs_nothing_else(case: str, request: pytest.FixtureRequest) -> None:
    """One file without script and network, whose answer stands before its tables, and whose text is escaped."""
    study = request.getfixturevalue(case)
    wild = msgspec.structs.replace(study, study=msgspec.structs.replace(study.study, command="<b>wild</b>"))
    page = html(wild)
    assert "<script" not in page
    assert "<b>wild" not in page
    assert not re.search(r"""(src|href)=["']?(https?:)?//""", page)
    assert page.index("<h1") < page.index("<table")


def test_everything_is_written_beside_the_records(scaled: StudyOutcome, tmp_path: Path) -> None:
    """Page, Markdown and pictures stand in the study's folder, and each comparison's own page in its folder."""
    (point,) = scaled.points
    assert point.outcome is not None
    mine = tmp_path / "one"
    mine.mkdir()
    moved = msgspec.structs.replace(point, outcome=msgspec.structs.replace(point.outcome, path=str(mine)))
    study = msgspec.structs.replace(scaled, path=str(tmp_path), points=[moved])
    paths = save(page_of(study))
    assert {path.name for path in paths.values()} == {"report.html", "report.md", "chart.png", "chart.svg"}
    assert 'href="one/report.html"' in paths["report"].read_text()
    assert (mine / "report.html").exists()
    assert str(paths["report"]) in printed(study, 400)


def test_json_has_every_pair_with_both_ratios(scaled: StudyOutcome) -> None:
    """Programs find all pairs, also those that the table does not show, and null where nothing was measured."""
    made = data_of(scaled)
    pairs = {(one["first"], one["second"]): one for one in made["pairs"]}
    assert len(pairs) == 3
    two = pairs["pytorch", "tensorflow"]
    assert two["published_ratio"] == pytest.approx(196.5 / 176)
    assert (two["ratio"], two["verdict"], two["order"]) == (pytest.approx(1.125), "slower", "same")
    assert pairs["jittor", "pytorch"]["ratio"] is None
    assert pairs["jittor", "pytorch"]["reason"] == "jittor not measured"
    assert made["published"]["document"]["number"] == "table 3"
    assert made["comparisons"]["resnet50-cifar10"]["comparison"]["batch_size"] == 8


def test_the_page_of_the_object_tells_every_key(figure: StudyOutcome, article: StudyOutcome) -> None:
    """docs/json-reproduced.md describes exactly the keys of the object; the file's and a comparison's are elsewhere."""
    from tests.report.reproduced.test_epochs_apart import table4
    from tests.report.reproduced.test_parts import table3
    from tests.report.reproduced.test_several_devices import table7
    from tests.report.reproduced.test_ticks import table5

    documented = set(re.findall(r"^\| `([^`]+)`", PAGE.read_text(encoding="utf-8"), re.MULTILINE))
    there = set()
    for study in (figure, article, table3(), table4(), table5(), table7()):
        made = data_of(study)
        there |= set(made)
        there |= {f"{name}[].{key}" for name in LISTS for one in made[name] for key in one}
    assert documented == there


def test_a_row_that_is_missing_in_some_comparisons_is_told_with_them() -> None:
    """Its name alone would say that it is missing in all; a comparison of which all rows are stands without them."""
    rows = {"small": 2, "large": 2}
    assert _rows([("torch", "small")], rows) == "torch (small)"
    assert _rows([("torch", "small"), ("torch", "large")], rows) == "torch"
    assert _rows([("torch", "small"), ("jax", "small")], rows) == "every row of small"
