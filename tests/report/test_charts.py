from __future__ import annotations

import re
import struct
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import msgspec
import pytest

from bakeoff.report.forms.drawings import drawing
from bakeoff.report.forms.pictures import render, to_picture
from bakeoff.report.pages import page_of
from bakeoff.report.pictures import NARROW, WIDE, comparison, looks, memory, ticks
from bakeoff.report.pictures.comparison import ratio_chart, step_time_chart
from bakeoff.report.pictures.rows import CHARACTER, LINE, rows
from bakeoff.report.standings import ranked, step_parts, step_unit
from bakeoff.spec.errors import UsageError
from bakeoff.stats.levels import Levels

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from bakeoff.judge.outcome import Outcome


def points(chart: Any, field: str) -> list[dict[str, Any]]:
    """Give the data of a chart's specification that has this field."""
    sets = chart.to_dict()["datasets"].values() if "datasets" in chart.to_dict() else []
    inline = [layer["data"]["values"] for layer in chart.to_dict()["layer"] if "values" in layer.get("data", {})]
    return next(rows for rows in [*sets, *inline] if rows and field in rows[0])


def test_step_times_show_every_contender_and_every_block(noisy: Outcome) -> None:
    """The first picture has one dot for each contender and one mark for each block."""
    chart = step_time_chart(noisy)
    assert [point["contender"] for point in points(chart, "low")] == ["jax", "torch"]
    assert len(points(chart, "kind")) == sum(len(one.blocks) for one in noisy.contenders)


def test_flagged_blocks_have_another_shape(noisy: Outcome) -> None:
    """Blocks disturbed by other processes are told apart by shape, not by colour alone."""
    kinds = [point["kind"] for point in comparison.blocks(noisy)]
    assert kinds.count(comparison.FLAGGED) == 8
    svg = drawing(step_time_chart(noisy), name="one", is_on_page=True).svg
    assert comparison.FLAGGED in svg


def test_blocks_at_another_speed_of_the_machine_have_a_shape_of_their_own(noisy: Outcome) -> None:
    """Those of the turns that were found, and none where nothing is said of them."""
    place = next((one.round_number, one.turn) for one in noisy.contenders[0].blocks if not one.flagged)
    levels = Levels(turns=56, changed=[place], low=1.5, high=1.5, is_found=True)
    noisy = msgspec.structs.replace(noisy, levels=levels)
    there = [(one.round_number, one.turn) == place and not one.flagged for c in noisy.contenders for one in c.blocks]
    kinds = [point["kind"] for point in comparison.blocks(noisy)]
    assert [kind == comparison.CHANGED for kind in kinds] == there
    assert any(there)
    unfound = msgspec.structs.replace(levels, is_found=False)
    silent = comparison.blocks(msgspec.structs.replace(noisy, levels=unfound))
    assert comparison.CHANGED not in [point["kind"] for point in silent]


def test_scale_starts_at_zero(undecided: Outcome) -> None:
    """Step times are drawn from zero: a bar twice as far is twice as long."""
    low, high, logarithmic = comparison.step_domain(undecided)
    assert (low, logarithmic) == (0.0, False)
    assert high > 2.2


def test_far_apart_step_times_are_logarithmic(undecided: Outcome) -> None:
    """Where the longest step is many times the shortest, the shortest is not squeezed to nothing."""
    slow = undecided.contenders[0]
    assert slow.step_s is not None
    hundred = msgspec.structs.replace(slow.step_s, estimate=0.2, low=0.19, high=0.21)
    slow = msgspec.structs.replace(slow, step_s=hundred, median_step_s=0.2)
    outcome = msgspec.structs.replace(undecided, contenders=[slow, *undecided.contenders[1:]])
    low, _, logarithmic = comparison.step_domain(outcome)
    assert logarithmic
    assert low > 0


def test_rare_long_blocks_stand_at_the_edge(undecided: Outcome) -> None:
    """A block far beyond all others is kept, in a shape of its own, and squeezes nothing."""
    one = undecided.contenders[0]
    wild = msgspec.structs.replace(one.blocks[0], step_s=1.0)
    one = msgspec.structs.replace(one, blocks=[wild, *one.blocks[1:]])
    report = msgspec.structs.replace(undecided, contenders=[one, *undecided.contenders[1:]])
    beyond = [point for point in comparison.blocks(report) if point["kind"] == comparison.BEYOND]
    assert [point["step"] for point in beyond] == [comparison.step_domain(report)[1]]
    assert beyond[0]["step"] < 10


def test_lines_start_with_the_first_step(undecided: Outcome) -> None:
    """The second picture starts at import, build and first step, and its break-even is where the lead changes."""
    report = undecided
    torch = next(one for one in undecided.contenders if one.label == "torch")
    first = next(point for point in comparison.lines(report) if point["contender"] == "torch")
    assert first["steps"] == 1
    assert first["seconds"] == pytest.approx((torch.import_s or 0) + (torch.build_s or 0) + (torch.first_step_s or 0))
    assert [(one.early, one.late) for one in comparison.overtakings(report)] == [("torch", "tensorflow")]


def test_ratios_show_every_pair_from_the_slower_side(undecided: Outcome) -> None:
    """The third picture has one row for each pair, with a ratio of at least 1."""
    rows = points(ratio_chart(undecided), "verdict")
    assert [row["pair"] for row in rows] == ["jax / tensorflow", "torch / tensorflow", "torch / jax"]
    assert all(row["ratio"] >= 1 for row in rows)


def test_one_framework_one_colour_two_looks(same: Outcome) -> None:
    """Two contenders of one framework share its colour and differ in shape and dash."""
    first, second = looks(same.contenders).values()
    assert first.colour == second.colour
    assert first.shape != second.shape
    assert first.dash != second.dash


@pytest.mark.parametrize(("low", "high"), [(1.4, 3.5), (1.0, 1e6), (0.02, 40.0), (1.0, 1.21), (9.1, 11.1), (5.0, 9.9)])
def test_logarithmic_axes_have_ticks(low: float, high: float) -> None:
    """Any logarithmic axis has a few marked places."""
    places = ticks(low, high)
    assert 2 <= len(places) <= 21
    assert all(low <= place <= high for place in places)


def test_every_outcome_is_drawn(each: Callable[[], list[Outcome]]) -> None:
    """Every outcome gives well-formed SVG in which each label is text, and a text for readers who do not see it."""
    for outcome in each():
        page = page_of(outcome)
        root = ET.fromstring(render([page], "svg"))  # noqa: S314 - made by ourselves
        assert root.get("role") == "img"
        drawn = "".join(root.itertext())
        if any(section.picture for section in page.sections):
            assert root.get("aria-label")
            unit, found = step_unit(outcome), ranked(outcome)
            assert all(one.label in drawn for one in found if step_parts(one, unit)[0] != "unknown")


def test_memory_shows_the_peak_and_what_the_import_left(undecided: Outcome) -> None:
    """Memory is drawn as the process's peak, parted where the import had ended."""
    bars = {bar["contender"]: (bar["import"], bar["peak"], bar["text"]) for bar in memory.peaks(undecided)}
    assert bars["torch"] == (220_000_000, 315_000_000, "320 MB")
    assert list(bars) == ["tensorflow", "jax", "torch"]


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_every_layout_has_its_width(decided: Outcome, width: int) -> None:
    """All pictures of a page are as wide as their layout asks for, whatever stands in them."""
    pictures = [section.picture for section in page_of(decided).sections if section.picture]
    charts = [picture.draw(width) for picture in pictures]
    assert all(chart.to_dict() for chart in charts)  # held against the schema of Vega-Lite
    found = [drawing(chart, name="one", is_on_page=True) for chart in charts]
    assert len(found) == 4
    assert all(abs(one.width - width) <= 12 for one in found)
    assert [one.title for one in found] == ["Ratio by pair", "Step time", "Memory", "Time against steps"]


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_long_names_are_wrapped_and_nothing_is_lost(width: int) -> None:
    """A long name stands on several lines, parted where its parts meet, and its row is as high as they are."""
    name = "torch:mode=compiled,precision=bfloat16,threads=2 / jax@/opt/environments/nightly/bin/python:mode=jit"
    long, short = rows([(name, "1.02 (0.98 to 1.07) undecided"), ("torch / jax", "2.0 slower")], width, 18).texts
    assert "".join(long["text"]).replace(" ", "") == name.replace(" ", "")
    assert len(long["text"]) > 1
    assert short["y"] - long["y"] >= LINE * len(long["text"])


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_a_long_name_within_others_keeps_its_place(width: int) -> None:
    """Each of its lines begins as far to the right as the name, and none reaches beyond the names' column."""
    name = "      .encoder.transformer_layers.11.multi_head_attention.output_projection_with_residual.linear"
    here = rows([(name, "+1.02 ms")], width, 18)
    (text,) = here.texts
    assert len(text["text"]) > 1
    assert all(line.startswith(" " * 6) for line in text["text"])
    end = max(len(line) for line in text["text"]) * CHARACTER
    assert end <= (here.left if width == WIDE else width)
    assert "".join(line.strip() for line in text["text"]) == name.strip()


def test_the_answer_is_the_first_text_of_the_picture(decided: Outcome) -> None:
    """A picture that is shown alone begins with the answer, and says under it why to believe it."""
    page = page_of(decided)
    texts = re.findall(r"<text [^>]*>([^<]*)</text>", render([page], "svg").decode())
    assert page.headline.startswith(texts[0])
    assert page.trust in texts


def test_png_and_svg_by_extension(undecided: Outcome, same: Outcome, tmp_path: Path) -> None:
    """The path's extension chooses the form, and several outcomes are one picture."""
    content = to_picture([page_of(undecided), page_of(same)], tmp_path / "chart.png")
    assert content.startswith(b"\x89PNG")
    width, height = struct.unpack(">II", content[16:24])
    assert width > 1000
    assert height > 2000
    assert to_picture([page_of(same)], tmp_path / "chart.SVG").startswith(b"<svg")


@pytest.mark.parametrize("name", ["chart.pdf", "chart"])
def test_unknown_extension(undecided: Outcome, tmp_path: Path, name: str) -> None:
    """Another extension is refused with the valid ones, and nothing is written."""
    with pytest.raises(UsageError, match=r"\.png or \.svg"):
        to_picture([page_of(undecided)], tmp_path / name)
    assert list(tmp_path.iterdir()) == []
