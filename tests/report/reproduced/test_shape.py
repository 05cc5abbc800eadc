"""A document's own table, with ours in each of its places, and its figures as it draws them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest
from tests.report.reproduced.conftest import study
from tests.report.reproduced.test_epochs_apart import table4
from tests.report.reproduced.test_several_devices import table7

from bakeoff.report.forms.pictures import render
from bakeoff.report.pages import page_of
from bakeoff.report.pages.published_caption import caption
from bakeoff.report.pages.published_shape import shape_table
from bakeoff.report.pictures.bars import bars_finding, speeds_here, speeds_there
from bakeoff.spec.contender import parse_contender
from bakeoff.study.published import load, names

if TYPE_CHECKING:
    from bakeoff.judge.study import StudyOutcome


def cells(made: StudyOutcome) -> list[list[str]]:
    """Give the heads and lines of the table in the document's shape, which is the first of the page."""
    first = page_of(made).sections[0]
    assert first.title.endswith("published beside measured")
    (table,) = first.tables
    return [table.heads, *(line.cells for line in table.lines)]


def test_a_line_is_a_model_where_the_document_has_it_so() -> None:
    """Table 2 of Dai et al. has a line for each model, each framework's speed in its unit, and the difference."""
    made = study("dai2022-table2", {"TensorFlow": "tensorflow", "PyTorch": "torch"}, {}, scaled=True, device="cpu")
    heads, *lines = cells(made)
    assert heads[1:5] == ["TensorFlow there", "TensorFlow here", "PyTorch there", "PyTorch here"]
    assert [line[0] for line in lines] == [
        "ResNet-50", "VGG16", "InceptionV3", "BERT", "GNMT", "DeepSpeech2", "Tacotron2",
    ]  # fmt: skip
    assert lines[0][1:3] == ["216.14 images/s", "330 (320 to 340)"]
    assert lines[3] == [
        "BERT", "1.73 steps/s", "42 (40 to 43)", "1.77 steps/s", "37 (36 to 38)",
        "2.31", "PyTorch -11.1 (-14.5 to -7.6)",
    ]  # fmt: skip


def test_a_difference_without_an_interval_has_two_digits_however_large() -> None:
    """Before there is an interval the ratio so far is told, in a number that is read without a power of ten."""
    made = study("dai2022-table2", {"TensorFlow": "tensorflow", "PyTorch": "torch"}, {}, scaled=True, device="cpu")
    points = []
    for point in made.points:
        assert point.outcome is not None
        (pair,) = point.outcome.verdicts
        early = msgspec.structs.replace(pair, ratio=0.4, low=None, high=None)
        points.append(msgspec.structs.replace(point, outcome=msgspec.structs.replace(point.outcome, verdicts=[early])))
    _, *lines = cells(msgspec.structs.replace(made, points=points))
    assert {line[-1] for line in lines} == {"TensorFlow 150", "PyTorch -60"}


def test_versions_stand_once_above_the_table(figure: StudyOutcome) -> None:
    """A document's versions are those of its frameworks, not of each row; several of one framework have their rows."""
    assert "; tensorflow 1.15.2, torch 1.4.0. " in caption(figure, load("dai2022-figure1"))[0]
    rows = {"PyTorch": "torch", "TensorFlow": "tensorflow"}
    made = study("dlperf-2020", rows, {}, scaled=True, device="cpu")
    said = caption(made, load("dlperf-2020"))[0]
    assert "; torch 1.6 (PyTorch), torch 1.5 (PyTorch, NVIDIA's container), tensorflow 2.3 (TensorFlow), " in said
    rows = {"PyTorch, NVIDIA's container": "torch", "TensorFlow, NVIDIA's container": "tensorflow"}
    said = " ".join(caption(study("dlperf-2020", rows, {}, scaled=True, device="cpu"), load("dlperf-2020")))
    assert "Rows: PyTorch, NVIDIA's container by torch; TensorFlow, NVIDIA's container by tensorflow; " in said


def test_a_row_with_several_contenders_has_each_with_its_comparisons() -> None:
    """A comparison may have another contender than its row: the caption says which ran where."""
    made = study("dlperf-2020", {"PyTorch": "torch", "TensorFlow": "tensorflow"}, {}, scaled=True, device="cpu")
    first, second = (one.point.title for one in made.points[:2])
    rows = {"PyTorch": "jax", "TensorFlow": "tensorflow"}
    (point, *others) = made.points
    jax = study("dlperf-2020", rows, {}, scaled=True, device="cpu").points[0].outcome
    points = [
        msgspec.structs.replace(point, point=msgspec.structs.replace(point.point, rows=rows), outcome=jax),
        *others,
    ]
    said = " ".join(caption(msgspec.structs.replace(made, points=points), load("dlperf-2020")))
    assert f"PyTorch by jax ({first}) and torch ({second}" in said


def test_a_study_on_two_machines_names_both() -> None:
    """Jobs of a cluster land where there is room, and a study may go on elsewhere."""
    made = study("dlperf-2020", {"PyTorch": "torch", "TensorFlow": "tensorflow"}, {}, scaled=True, device="cpu")
    first, *rest = made.points
    assert first.outcome
    asked = first.outcome.comparison
    moved = msgspec.structs.replace(asked, machine=asked.machine | {"processor": "Intel Xeon 8375C"})
    points = [msgspec.structs.replace(first, outcome=msgspec.structs.replace(first.outcome, comparison=moved)), *rest]
    said = " ".join(caption(msgspec.structs.replace(made, points=points), load("dlperf-2020")))
    assert "Measured here on Intel Xeon 8375C, 2 cores (1 comparison) and AMD EPYC, 2 cores (" in said


def test_bars_of_several_devices_are_of_all_their_samples() -> None:
    """A published speed is of all devices together, as ours is."""
    published = load("dai2022-table7")
    speeds = {(one["panel"], one["row"]): one["speed"] for one in speeds_there(published)}
    assert speeds["ResNet-50", "TensorFlow, 4 GPUs"] == pytest.approx(1440.03)


def test_a_line_is_a_number_of_devices_where_the_document_has_it_so() -> None:
    """Table 7 has a line for each framework and number of GPUs, and a column for each model; its blanks stay blank."""
    heads, *lines = cells(table7())
    assert heads[1:3] == ["ResNet-50 (images/s) there", "ResNet-50 (images/s) here"]
    assert [line[0] for line in lines][2:4] == ["TensorFlow, 4 GPUs", "PyTorch, 1 GPU"]
    inception = heads.index("InceptionV3 (images/s) there")
    assert lines[4][inception] == ""
    assert lines[2][1:3] == ["1440.03", "not measured"]


def test_a_single_table_of_runs_has_all_its_columns(article: StudyOutcome, scaled: StudyOutcome) -> None:
    """The article has time, accuracy and four of memory in a unit each; whole runs say how many steps they had."""
    heads, *lines = cells(article)
    there = [head.removesuffix(" there") for head in heads if head.endswith(" there")]
    assert there == [
        "time (s)", "accuracy", "initial RAM", "max RAM", "initial VRAM", "max VRAM",
    ]  # fmt: skip
    assert lines[2][1] == "99.44"
    assert lines[2][heads.index("max RAM there") :][:2] == ["3.29 GB", "420 MB"]
    assert lines[2][-2:] == ["17.45 GB", "not measured"]
    assert cells(scaled)[1][:2] == ["tensorflow", "190, 162, 206*"]
    assert cells(scaled)[3][1:] == ["228, 230", "not measured"]


def test_epochs_and_machines_have_their_own_places() -> None:
    """Table 4 has both epochs of the row that tells them apart; the notes on M1 a line for each machine."""
    heads, *lines = cells(table4(device="cuda"))
    assert [head for head in heads if "epoch 2" in head] == [
        "PT-profiling, epoch 2 (s) there", "PT-profiling, epoch 2 (s) here",
    ]  # fmt: skip
    assert lines[0][1:3] == ["2149.15", "3.37, then 3.17 in 16 steps"]
    rows = {"GPU": "torch", "CPU": "torch:device=cpu"}
    made = study("m1-inference", rows, {"torch": "no GPU"}, scaled=True, device="cpu")
    _, *lines = cells(made)
    assert len(lines) == 12
    assert lines[5][:4] == ["Xeon Gold and RTX 3090", "CPU", "mlp (s)", "330"]


def test_relations_of_times_have_ours_beside_them() -> None:
    """What is so many times another row's time there is a ratio with its interval here."""
    rows = {"hooks, CPU": "tensorflow", "functorch, CPU": "torch"}
    made = study("opacus-pr497", rows, {}, scaled=True, device="cpu")
    _, *lines = cells(made)
    assert [line[3:] for line in lines[:3]] == [["1", "1"], ["1.5", "1.12 (1.08 to 1.17)"], ["1", "not measured"]]


def test_a_step_here_is_in_the_documents_unit() -> None:
    """Seconds a step are seconds here, sequences a second are that here; what gives no time of a step is told in ms."""
    rows = {"JAX": "tensorflow", "PyTorch": "torch"}
    _, *lines = cells(study("algoperf-2025", rows, {}, scaled=True, device="cpu"))
    assert lines[0][1] == "0.259"
    assert float(lines[0][2].partition(" ")[0]) == pytest.approx(0.024, rel=0.03)
    rows = {"PyTorch, NVIDIA's container": "torch", "TensorFlow, NVIDIA's container": "tensorflow"}
    heads, *lines = cells(study("dlperf-2020", rows, {}, scaled=True, device="cpu"))
    at = heads.index("PyTorch, NVIDIA's container there")
    assert lines[1][at] == "119.6 sequences/s"
    assert float(lines[1][at + 1].partition(" ")[0]) == pytest.approx(8 / 0.027, rel=0.03)
    assert lines[0][at : at + 2] == ["", ""]
    rows = {"PyTorch": "torch", "TensorFlow": "tensorflow"}
    _, *lines = cells(study("rosetta-2018", rows, {}, scaled=True, device="cpu"))
    assert lines[0][2].endswith(" ms a step")


def test_a_figure_has_all_of_its_digits() -> None:
    """Table 7 prints 1316.561 images a second of PyTorch on 4 GPUs, and so does the table here."""
    heads, *lines = cells(table7())
    assert lines[5][heads.index("ResNet-50 (images/s) there")] == "1316.561"


def test_memory_is_that_of_the_table_of_memory() -> None:
    """Of a GPU it is what NVML says of the process, and not what the framework's allocator says."""
    rows = {"TensorFlow": "tensorflow:mode=compiled", "PyTorch": "torch:mode=compiled", "JAX": "jax:input=per-step"}
    made = study("apx-cnn", rows, {}, scaled=True, device="cpu")
    (point,) = made.points
    assert point.outcome
    held = {"device_peak_bytes": 1_000_000_000, "device_process_bytes": 2_000_000_000}
    contenders = [
        msgspec.structs.replace(one, memory=one.memory and msgspec.structs.replace(one.memory, **held))
        for one in point.outcome.contenders
    ]
    known = msgspec.structs.replace(point.outcome, contenders=contenders)
    made = msgspec.structs.replace(made, points=[msgspec.structs.replace(point, outcome=known)])
    heads, *lines = cells(made)
    assert lines[2][heads.index("max VRAM here")] == "2.0 GB"


@pytest.mark.parametrize("name", names())
def test_the_caption_tells_what_differs_and_what_is_silent(name: str) -> None:
    """Below each table or figure stand the hardware there and here, versions, scale, and what the document leaves open.

    The table has a line for everything that the document has a figure of; of a document without any, the caption is the
    first.
    """
    published = load(name)
    rows = {row.name: text for row, text in zip(published.rows, ["tensorflow", "torch", "jax"] * 9, strict=False)}
    made = table4(device="cuda") if name == "dai2022-table4" else study(name, rows, {}, scaled=True, device="cpu")
    has_figures = published.chart or any(declared.figures for declared in published.comparisons)
    sections = page_of(made).sections
    said = " ".join(sections[int(has_figures or published.is_of_parts())].words)
    assert all(machine.hardware in said for machine in published.machines)
    versions = {(parse_contender(row.contender).framework, row.version) for row in published.rows if row.version}
    assert all(f"{framework} {version}" in said for framework, version in versions)
    assert "Measured here on AMD EPYC" in said
    assert all(text in said for text in published.not_stated)
    if has_figures:
        assert bool(sections[0].picture) == published.chart
        assert bool(shape_table(made, published).lines) != published.chart


def test_bars_are_grouped_by_implementation_over_the_first() -> None:
    """Figure 2 has a part for each framework, and in it speeds over LSTMCell: those that the text states, and ours."""
    kinds = {"LSTMCell": "tensorflow", "LSTMBlockCell": "torch", "cuDNNLSTM": "jax"}
    rows = {f"TensorFlow {kind}": label for kind, label in kinds.items()}
    made = study("dai2022-figure2", rows, {}, scaled=True, device="cpu")
    published = load("dai2022-figure2")
    there = {(one["panel"], one["group"], one["row"]): one["speed"] for one in speeds_there(published)}
    assert there["(a) TensorFlow", "DeepSpeech2", "TensorFlow cuDNNLSTM"] == pytest.approx(2.69)
    assert there["(b) PyTorch", "DeepSpeech2", "PyTorch cuDNNLSTM"] == pytest.approx(4.14)
    assert there["(a) TensorFlow", "GNMT", "TensorFlow LSTMCell"] == 1.0
    assert not [group for _, group, _ in there if group == "Tacotron2"]
    here = {(one["group"], one["row"]): one for one in speeds_here(made, published)}
    assert here["GNMT", "TensorFlow cuDNNLSTM"]["speed"] == pytest.approx(24 / 30)
    assert here["GNMT", "TensorFlow cuDNNLSTM"]["low"] < 0.8 < here["GNMT", "TensorFlow cuDNNLSTM"]["high"]
    drawn = render([page_of(made)], "svg").decode()
    assert "(a) TensorFlow, published" in drawn
    assert "(b) PyTorch, measured here" in drawn
    assert "DeepSpeech2 TensorFlow cuDNNLSTM 2.69" in bars_finding(made, published)


def test_bars_without_a_stated_number_are_not_drawn() -> None:
    """Of figure 3 the text states BERT and Tacotron 2: without graph optimizations they are so much slower."""
    there = {(one["group"], one["row"]): one["speed"] for one in speeds_there(load("dai2022-figure3"))}
    assert there["Tacotron2", "without graph optimizations"] == pytest.approx(1 / 1.15)
    assert {group for group, _ in there} == {"BERT", "Tacotron2"}
