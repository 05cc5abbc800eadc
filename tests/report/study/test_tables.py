from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest
from tests.report.shown import markdown, printed

from bakeoff.report.pages import page_of
from bakeoff.report.pages.study import error_rate, headline
from bakeoff.report.points import points_of

if TYPE_CHECKING:
    from bakeoff.judge.study import StudyOutcome


def test_columns_that_do_not_fit_stand_below(batches: StudyOutcome) -> None:
    """However narrow the screen, every figure is there, and on 80 columns no line is longer."""
    narrow = printed(batches, width=40)
    for figure in ("17,400 (17,000 to 17,700)", "torch and jax undecided", "0.86 (0.82 to 0.90)  faster"):
        assert figure in narrow
    assert max(len(line) for line in printed(batches).splitlines()) <= 80


def test_a_pair_keeps_its_side_over_all_points(batches: StudyOutcome) -> None:
    """A pair is turned once for all points, above 1 at most of them, so that a change of lead is seen as one."""
    report = points_of(batches)
    assert report.pairs == [("jax", "torch"), ("tensorflow", "torch"), ("tensorflow", "jax")]
    ratios = [line.ratios[("jax", "torch")] for line in report.rows if ("jax", "torch") in line.ratios]
    assert [ratio.verdict for ratio in ratios] == ["slower", "slower", "undecided", "faster"]
    assert all(ratio.ratio is not None and ratio.ratio > 1 for ratio in ratios[:3])


def test_who_is_undecided_is_never_named_the_fastest(batches: StudyOutcome) -> None:
    """The answer names a winner only where it is decided against every other contender."""
    assert page_of(batches).headline == (
        "torch is fastest at batch size 8 and 16; jax is fastest at batch size 64 and 128; "
        "none is fastest at batch size 32."
    )
    assert points_of(batches).rows[2].verdict == "torch and jax undecided"


@pytest.mark.parametrize(
    ("axes", "places", "answer"),
    [
        (["threads"], [(["1"], "a"), (["2"], "a")], "a is faster at threads 1 and 2."),
        (
            ["mode", "threads"],
            [(["x", "1"], "a"), (["x", "2"], "b")],
            "a is faster at 1 of 2 points; b is faster at 1 of 2 points.",
        ),
        ([], [(["one"], "a"), (["two"], "a")], "a is faster in all 2 comparisons."),
        (["threads"], [(["1"], ""), (["2"], "")], "No contender is faster at any point (2 points measured)."),
        (["threads"], [(["1"], "a"), (["2"], None)], "a is faster at threads 1; 1 point without a pair to compare."),
        (["threads"], [(["1"], None)], "No point has a pair to compare."),
    ],
)
def test_headlines(axes: list[str], places: list[tuple[list[str], str | None]], answer: str) -> None:
    """The answer counts and names points as they are."""
    assert headline(axes, places, 2) == answer


def test_what_all_points_together_are_worth() -> None:
    """One point's error rate adds up over points, and beyond certainty it is told as a frequency."""
    assert error_rate(1) == ""
    assert "at most 25 %" in error_rate(5)
    assert "of all 40, expect one in 20 to have one" in error_rate(40)


def test_a_warning_of_all_points_is_said_once(threads: StudyOutcome) -> None:
    """The same sentence about every point stands once, one about some names them."""
    points = [
        msgspec.structs.replace(point, outcome=msgspec.structs.replace(point.outcome, damaged=said))
        for point, said in zip(
            threads.points, [["Both.", "First."], *[["Both."] for _ in threads.points[1:]]], strict=True
        )
        if point.outcome is not None
    ]
    page = page_of(msgspec.structs.replace(threads, points=points))
    said = [word for section in page.sections if section.kind == "warnings" for word in section.words]
    aside = [text for text in said if "Not used" in text]
    assert aside == ["Not used: Both..", "malloc settled, threads 1: Not used: First.."]


def test_labels_cannot_steer_the_terminal_nor_the_page(batches: StudyOutcome) -> None:
    """A title with control characters and markup is shown, not obeyed."""
    wild = msgspec.structs.replace(batches.study, title="over \x1b[31m<b>")
    text = printed(msgspec.structs.replace(batches, study=wild))
    assert "over \\x1b[31m<b>" in text
    assert "\\<b\\>" in markdown(msgspec.structs.replace(batches, study=wild))
