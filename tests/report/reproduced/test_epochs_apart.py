"""Table 4 of Dai et al.: the first epoch and the second apart, published beside measured."""

from __future__ import annotations

import msgspec
import pytest
from tests.report.reproduced.conftest import study
from tests.report.reproduced.test_reproduced import section_of
from tests.report.shown import data_of, printed

from bakeoff.judge.study import PointOutcome, StudyOutcome
from bakeoff.report.pages import page_of
from bakeoff.spec.comparison import Procedure
from bakeoff.study.published import load
from bakeoff.study.reproduction import declare

ROWS = {
    "PT-ori": "torch",
    "PT-fixed": "torch:conv_algorithm=fixed",
    "PT-profiling": "torch:conv_algorithm=profiling",
    "TF-profiling": "tensorflow",
    "TF-fixed": "tensorflow:conv_algorithm=fixed",
}
TITLE = "The first epoch and the second"


def table4(*, device: str = "cpu") -> StudyOutcome:
    """Make its outcome: 16 steps an epoch on a processor, where nothing chooses among algorithms, or all on a GPU."""
    gone = {label: "it needs CUDA" for label in ROWS.values() if ":" in label and device == "cpu"}
    made = study("dai2022-table4", ROWS, gone, scaled=device == "cpu", device=device)
    return msgspec.structs.replace(made, points=[with_epochs(one) for one in made.points])


def with_epochs(point: PointOutcome) -> PointOutcome:
    """Return a point that was asked for two epochs of 16 steps."""
    assert point.outcome is not None
    asked = msgspec.structs.replace(point.point.request, epochs=2, steps=16)
    comparison = msgspec.structs.replace(point.outcome.comparison, procedure=Procedure(epochs=2, steps=16))
    return msgspec.structs.replace(
        point,
        point=msgspec.structs.replace(point.point, request=asked),
        outcome=msgspec.structs.replace(point.outcome, comparison=comparison),
    )


def test_both_epochs_are_asked_for_with_the_documents_padding() -> None:
    """Whole runs have two epochs of the document's steps, padded as there; scaled down, they say how many."""
    full = declare(load("dai2022-table4"), device="cpu", full=True).points[0].request
    assert (full.epochs, full.steps, full.padding, full.batch_size) == (2, 1427, "longest", 20)
    scaled = declare(load("dai2022-table4"), device="cpu").points[0]
    assert (scaled.request.epochs, scaled.request.steps, scaled.request.padding) == (2, 16, "longest")
    assert "--padding longest --epochs 2 --steps 16" in scaled.request.command
    assert "needs CUDA" in scaled.left_out["torch:conv_algorithm=profiling"]


def test_each_epoch_stands_beside_its_own_figure() -> None:
    """Both epochs have their figure, their step there and here, and what the first took over the second."""
    made = table4()
    (table,) = section_of(made, TITLE).tables
    cells = {line.cells[0]: line.cells[1:] for line in table.lines}
    assert made.points[0].outcome is not None
    whole = made.points[0].outcome.contenders[0].whole
    assert whole is not None
    epochs_s = whole.runs[0].epochs_s
    first, second = cells["deepspeech2, PT-profiling: first"], cells["deepspeech2, PT-profiling: second"]
    assert first == ["2816.39 s / 1,427", "1.97 s", "not measured", "", "", "1.45", "", ""]
    assert second[5:] == ["1.00", "", ""]
    ours = cells["deepspeech2, PT-ori: first"]
    assert ours[0] == cells["deepspeech2, PT-ori: second"][0] == "2149.15 s / 1,427"
    assert float(ours[6]) == pytest.approx(epochs_s[0] / epochs_s[1], rel=0.01)
    assert ours[2].endswith("/ 16")
    assert cells["deepspeech2, TF-profiling: first"][0] == "no number"
    assert not [name for name in cells if "TF-fixed" in name]


def test_what_is_smaller_is_said() -> None:
    """A scaled study says how many steps its epochs have; its rows that need CUDA are holes with the reason."""
    made = table4()
    said = next(line for line in page_of(made).sections[1].words if line.startswith("Scaled down"))
    assert "batch 2 instead of 20, epochs of 16 steps instead of 1,427" in said
    assert any("it needs CUDA" in line for line in section_of(made, "Holes").words)
    assert "Whole runs" not in [section.title for section in page_of(made).sections]
    assert TITLE in printed(made, 120)


def test_pairs_are_of_the_epoch_that_repeats_what_was_seen() -> None:
    """The verdict on a step's time is held against figures of the second epoch, never against those of the first."""
    pairs = {(one["comparison"], one["first"], one["second"]): one for one in data_of(table4(device="cuda"))["pairs"]}
    assert len(pairs) == 6
    pair = pairs["deepspeech2", "PT-ori", "PT-profiling"]
    assert pair["published_ratio"] == pytest.approx(2149.15 / 1940.25)
    assert pair["verdict"] is not None


def test_programs_find_every_epoch() -> None:
    """The JSON object has both epochs of every row, measured or not."""
    lines = data_of(table4())["epochs"]
    assert len(lines) == 2 * 5 * 2
    by_name = {(one["comparison"], one["row"], one["epoch"]): one for one in lines}
    ours = by_name["tacotron2", "PT-ori", 2]
    assert (ours["published_s"], ours["published_steps"], ours["steps"]) == (1412.98, 410, 16)
    assert ours["epoch_range_s"] == [ours["epoch_s"], ours["epoch_s"]]
    gone = by_name["tacotron2", "PT-profiling", 1]
    assert (gone["published_s"], gone["epoch_s"], gone["hole"]) == (1520.39, None, "it needs CUDA")
