"""A document's table of what models can use: ticks and crosses, beside what computed those parts here."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest
from tests.report.reproduced.conftest import study
from tests.report.reproduced.test_reproduced import section_of
from tests.report.shown import data_of, markdown, printed

from bakeoff.judge.claims import Judged, judged
from bakeoff.judge.reproduced_ticks import NOT_READ_BACK, tick_lines
from bakeoff.spec.contender import parse_contender
from bakeoff.spec.ticks import TickTable
from bakeoff.study.published import SHARED, load

if TYPE_CHECKING:
    from bakeoff.judge.study import PointOutcome, StudyOutcome

TITLE = "Table 5 of Dai et al. 2022, beside what ran here"
ROWS = {row.name: row.contender for row in load("dai2022-figure2").rows}


def with_settings(point: PointOutcome, cell_of_fused: str) -> PointOutcome:
    """Give a comparison whose contenders say what computed their LSTMs, and the steps where fused was asked for."""
    assert point.outcome is not None
    has_cells = point.point.title == "tacotron2"
    contenders = []
    for one in point.outcome.contenders:
        asked = parse_contender(one.label).options["lstm"]
        cell = (cell_of_fused if asked == "fused" else asked) if has_cells else None
        contenders.append(msgspec.structs.replace(one, settings={"lstm": asked, "lstm_cell": cell}))
    return msgspec.structs.replace(point, outcome=msgspec.structs.replace(point.outcome, contenders=contenders))


def table5(cell_of_fused: str = "block", left_out: dict[str, str] | None = None) -> StudyOutcome:
    """Make the outcome of figure 2, in which every row ran as it was asked for, but for the steps of a decoder."""
    made = study("dai2022-figure2", ROWS, left_out or {}, scaled=True, device="cpu")
    return msgspec.structs.replace(made, points=[with_settings(one, cell_of_fused) for one in made.points])


def claim(made: StudyOutcome) -> Judged:
    """Give what became of the claim that the table is."""
    (found,) = (one for one in judged(made, load("dai2022-table5")) if one.claim.where == "table 5")
    return found


def test_a_table_is_found_by_the_name_of_its_study_and_its_own() -> None:
    """Table 5 is measured together with figure 2: whoever asks for it gets that study, which says so in its title."""
    assert load("dai2022-table5") == load("dai2022-figure2")
    for name, of in SHARED.items():
        number = name.rpartition("-table")[2]
        assert f"table {number}" in load(of).document.number


def test_ticks_stand_beside_what_ran_here() -> None:
    """Each model, or part of it, has the document's places, and beside each whether that computed it here."""
    section = section_of(table5(), TITLE)
    (table,) = section.tables
    assert table.heads[2:] == [
        "LSTMCell there", "LSTMCell here", "LSTMBlockCell there", "LSTMBlockCell here",
        "cuDNNLSTM there", "cuDNNLSTM here",
    ]  # fmt: skip
    lines = {" ".join(line.cells[:2]).rstrip(): line.cells[2:] for line in table.lines}
    assert lines["DeepSpeech2"] == lines["GNMT"] == lines["Tacotron2 Encoder"] == ["yes"] * 6
    assert lines["Tacotron2 Decoder"] == ["yes", "yes", "yes", "yes", "no", "no, by block"]
    for shown in (printed(table5(), 200), markdown(table5())):
        assert "no, by block" in shown


def test_rows_of_a_column_that_differ_are_told_apart() -> None:
    """Where one framework used it and another could not, or was not there, each has its own word."""
    without = table5(left_out={ROWS["PyTorch cuDNNLSTM"]: "torch is not here"})
    (table,) = section_of(without, TITLE).tables
    assert table.lines[0].cells[-1] == "TensorFlow yes; PyTorch not measured"
    assert (claim(without).standing, claim(without).reason) == ("not measured", "torch is not here")


@pytest.mark.parametrize(
    ("cell_of_fused", "standing", "reason"),
    [("block", "holds", "24 of 24 places are as there"), ("fused", "does not hold", "22 of 24 places are as there")],
)
def test_the_table_is_a_claim_of_the_document(cell_of_fused: str, standing: str, reason: str) -> None:
    """It holds where every place is the document's; a kernel for sequences in the decoder would refute it."""
    found = claim(table5(cell_of_fused))
    assert (found.standing, found.reason, found.percent, found.compared) == (standing, reason, None, 3)
    said = {one["where"]: one["sentence"] for one in data_of(table5(cell_of_fused))["claims"]}
    assert said["table 5"].endswith(f"(table 5): {standing} here: {reason}.")


def test_what_no_record_tells_is_not_taken_for_a_cross() -> None:
    """Settings that do not say what computed an LSTM leave the place open, and the claim with it."""
    bare = study("dai2022-figure2", ROWS, {}, scaled=True, device="cpu")
    assert {(one.here, one.hole) for one in tick_lines(bare, load("dai2022-figure2"))} == {(None, NOT_READ_BACK)}
    assert (claim(bare).standing, claim(bare).reason) == ("not measured", NOT_READ_BACK)


def test_ticks_are_there_for_programs() -> None:
    """Every place of every row is an object; a study without such a table has none."""
    ticks = data_of(table5())["ticks"]
    assert len(ticks) == 24
    (decoder,) = (one for one in ticks if one["part"] == "Decoder" and one["row"] == "TensorFlow cuDNNLSTM")
    assert decoder == {
        "comparison": "tacotron2",
        "part": "Decoder",
        "column": "cuDNNLSTM",
        "row": "TensorFlow cuDNNLSTM",
        "published": False,
        "here": False,
        "by": "block",
        "hole": None,
    }
    published = msgspec.structs.replace(load("dai2022-figure2"), ticks=None)
    assert tick_lines(table5(), published) == []
    assert isinstance(load("dai2022-figure2").ticks, TickTable)
