from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from bakeoff.report.forms.drawings import drawing
from bakeoff.report.forms.pictures import render
from bakeoff.report.pages import page_of
from bakeoff.report.pictures import spaced, study
from bakeoff.report.points import frame, holes, points_of, rates

if TYPE_CHECKING:
    from bakeoff.judge.study import StudyOutcome


def specification(chart: Any) -> dict[str, Any]:
    """Give a chart's specification."""
    made: dict[str, Any] = chart.to_dict()
    return made


def test_every_rate_is_a_dot_with_its_interval(batches: StudyOutcome) -> None:
    """The curves hold one point for each contender where it has a figure, and its interval."""
    report = points_of(batches)
    here = frame(report)
    points = rates(report, here, here.panels[0])
    assert len(points) == 14
    assert all(point["low"] < point["rate"] < point["high"] for point in points)
    assert {point["x"] for point in points if point["contender"] == "torch"} == {8.0, 16.0, 32.0, 64.0}


def test_a_hole_is_marked_and_named(batches: StudyOutcome) -> None:
    """Where a contender has no figure a cross stands at the foot, with its name and what happened."""
    report = points_of(batches)
    here = frame(report)
    assert holes(report, here, here.panels[0]) == [{"contender": "torch", "x": 128.0, "why": "torch failed"}]
    assert "torch failed" in drawing(study.rate_chart(report), name="one", is_on_page=True).svg


def test_both_axes_are_logarithmic_where_factors_count(batches: StudyOutcome) -> None:
    """Batch sizes that double stand evenly, marked at the sizes that were raced."""
    frames = specification(study.rate_chart(points_of(batches)))["vconcat"]
    encoded = frames[0]["layer"][1]["encoding"]
    assert encoded["x"]["scale"]["type"] == encoded["y"]["scale"]["type"] == "log"
    assert encoded["x"]["axis"]["values"] == [8, 16, 32, 64, 128]


def test_numbers_go_along_the_bottom_and_words_into_frames(threads: StudyOutcome, modes: StudyOutcome) -> None:
    """Of two axes that of numbers is drawn along the bottom, with a frame for each value of the other."""
    here = frame(points_of(threads))
    assert (here.axis, here.numeric) == ("threads", True)
    assert [panel.title for panel in here.panels] == ["malloc settled", "malloc fresh"]
    words = frame(points_of(modes))
    assert (words.axis, words.numeric) == ("mode", False)


def test_undecided_has_a_shape_of_its_own_and_is_hollow(batches: StudyOutcome) -> None:
    """A verdict is told by shape, and what is not decided is not filled."""
    frame = specification(study.ratio_chart(points_of(batches)))["vconcat"][0]
    encoded = frame["layer"][-1]["encoding"]
    looks = dict(zip(encoded["shape"]["scale"]["domain"], encoded["fill"]["scale"]["range"], strict=True))
    assert looks == {"slower": "currentColor", "faster": "currentColor", "undecided": "transparent"}
    assert len(set(encoded["shape"]["scale"]["range"])) == 3


@pytest.mark.parametrize(("level", "bar"), [(0.95, "95 % CI"), (None, "interval")])
def test_the_legend_says_that_the_mark_decides_and_not_the_bar(
    batches: StudyOutcome, level: float | None, bar: str
) -> None:
    """An interval is of a pair alone and does not decide; one by the boundaries has no level."""
    points = []
    for one in batches.points:
        assert one.outcome is not None
        verdicts = [msgspec.structs.replace(verdict, level=level) for verdict in one.outcome.verdicts]
        points.append(msgspec.structs.replace(one, outcome=msgspec.structs.replace(one.outcome, verdicts=verdicts)))
    drawn = specification(study.ratio_chart(points_of(msgspec.structs.replace(batches, points=points))))
    assert drawn["title"]["subtitle"] == (
        f"grey band: practically equal; filled mark: decided, hollow: not; bar: {bar}"
    )


def test_marks_on_an_axis_do_not_touch() -> None:
    """Of the places that readers look for those are marked that have room, 1 before all others."""
    places = [0.9, 0.95, 1.0, 1.05, 1.1, 1.2, 1.3, 1.5, 1.75]
    assert spaced(places, (0.85, 2.0), 8) == [1.0, 1.2, 1.5, 1.75]


@pytest.mark.parametrize("case", ["batches", "modes", "threads", "empty"])
def test_pictures_are_pictures(case: str, request: pytest.FixtureRequest) -> None:
    """PNG and SVG are drawn for every kind of study, and the SVG tells its finding to those who do not see it."""
    page = page_of(request.getfixturevalue(case))
    png = render([page], "png")
    assert png.startswith(b"\x89PNG")
    assert min(struct.unpack(">II", png[16:24])) > 40
    svg = render([page], "svg").decode()
    assert svg.startswith("<svg")
    assert "<title>" in svg
