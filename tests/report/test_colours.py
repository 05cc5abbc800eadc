from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import FRAMEWORKS

from bakeoff.report.forms.drawings import drawing
from bakeoff.report.pages import page_of
from bakeoff.report.pictures import NARROW
from bakeoff.report.pictures.colours import INK, PAPER, contrast, mixed, on_light, pale, seen

if TYPE_CHECKING:
    from collections.abc import Callable

    from bakeoff.judge.outcome import Outcome

BOTH = re.compile(r"light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)")
MARK, TEXT = 3.0, 4.5
"""What WCAG 2.2 asks for: criteria 1.4.11 and 1.4.3."""


def both(colour: str) -> tuple[str, str]:
    """Return the two colours of a CSS value."""
    found = BOTH.fullmatch(colour)
    assert found is not None, colour
    return found[1], found[2]


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("#000000", "#ffffff", 21.0),
        ("#777777", "#ffffff", 4.478),
        ("#ffffff", "#ffffff", 1.0),
        ("#E69F00", "#ffffff", 2.2),
    ],
)
def test_contrast_is_that_of_the_guidelines(first: str, second: str, expected: float) -> None:
    """Contrast is WCAG's: 21 of black on white, and 4.48 of the grey that is known to fail by a hair."""
    assert contrast(first, second) == pytest.approx(expected, rel=0.03 if expected == 2.2 else 1e-3)
    assert contrast(second, first) == contrast(first, second)


@given(st.integers(0, 0xFFFFFF))
def test_every_colour_is_seen_on_both_papers(value: int) -> None:
    """Whatever colour a framework declares, its marks stand out on light and on dark paper."""
    for colour, paper in zip(both(seen(f"#{value:06x}")), PAPER, strict=True):
        assert contrast(colour, paper) >= MARK


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_a_colour_that_is_seen_already_stays(name: str) -> None:
    """A framework's colour is changed only on the paper on which it would not be seen."""
    declared = FRAMEWORKS[name].info.colour.lower()
    for colour, paper in zip(both(seen(declared)), PAPER, strict=True):
        assert (colour == declared) is (contrast(declared, paper) >= 3.1)


def test_pale_insides_are_paper_with_a_little_colour() -> None:
    """The inside of a hollow bar is nearly the paper, and a file on light paper has the light one."""
    assert both(pale("#0072b2", 0.0)) == PAPER
    assert on_light(f"{seen('#0072b2')} {pale('#0072b2', 0.5)}") == f"#0072b2 {mixed('#0072b2', '#ffffff', 0.5)}"


def test_text_is_read_on_both_papers(root) -> None:
    """Every colour of text in the page's style has 4.5 : 1 on its paper, and on a marked line."""
    style = (root / "src" / "bakeoff" / "report" / "templates" / "page.css").read_text(encoding="utf-8")
    named = {
        name: both(value) for name, value in re.findall(r"--(\w+): (light-dark\([^)]*\));", style) if BOTH.match(value)
    }
    for place, paper in enumerate(PAPER):
        assert contrast(named["ink"][place], named["mark"][place]) >= TEXT
        assert all(contrast(named[name][place], paper) >= TEXT for name in ("ink", "quiet", "link"))
        assert contrast(named["warn"][place], paper) >= MARK
    assert contrast(INK, PAPER[0]) >= TEXT


def test_what_is_drawn_is_in_colours_that_are_seen(each: Callable[[], list[Outcome]]) -> None:
    """In every drawing of a page each line and mark is in the page's ink, or stands out on both papers."""
    drawn = [
        drawing(section.picture.draw(NARROW), name="one", is_on_page=True).svg
        for outcome in each()
        for section in page_of(outcome).sections
        if section.picture
    ]
    assert len(drawn) > 20
    strokes = {colour for svg in drawn for colour in re.findall(r'stroke="([^"]*)"', svg)} - {"none", "transparent"}
    assert {BOTH.sub("both", colour) for colour in strokes} <= {"both", "currentColor", "#808080"}
    for colour in strokes - {"currentColor"}:
        for one, paper in zip(both(colour) if BOTH.match(colour) else (colour, colour), PAPER, strict=True):
            assert contrast(one, paper) >= MARK, colour
