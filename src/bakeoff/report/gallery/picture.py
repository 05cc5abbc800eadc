"""The small picture of a card: the drawing that leads the page, laid out for a narrow screen, as a file of its own."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from bakeoff.judge.outcome import Outcome
from bakeoff.report.forms.drawings import drawing
from bakeoff.report.forms.marks import SVG
from bakeoff.report.pictures import FONT, NARROW
from bakeoff.report.pictures.colours import INK, PAPER
from bakeoff.report.pictures.comparison import ratio_chart
from bakeoff.report.standings import ranked
from bakeoff.spec.text import plain

if TYPE_CHECKING:
    from bakeoff.report.gallery.card import Undertaken
    from bakeoff.report.page import Page
    from bakeoff.report.pictures import Chart

MOST_PAIRS = 4
"""Rows that a card has room for; of more pairs those with the fastest contender are drawn."""

DARK_INK = "#e6e8eb"
"""Of text on dark paper: what page.css has."""

_EDGE = 8
"""Pixels of paper around the drawing."""


class Small(NamedTuple):
    """A small picture."""

    title: str
    svg: bytes
    width: int
    height: int


def small(page: Page, outcome: Undertaken) -> Small | None:
    """Return the picture of a card, the same bytes for the same page; None where the page has no picture."""
    pictured = sorted((one for one in page.sections if one.picture), key=lambda one: not one.leads)
    if not pictured:
        return None
    picture = pictured[0].picture
    assert picture is not None
    chart = _of_few_pairs(outcome) if pictured[0].leads and isinstance(outcome, Outcome) else None
    found = drawing(chart or picture.draw(NARROW), name="card", is_on_page=True)
    width, height = round(found.width) + 2 * _EDGE, round(found.height) + 2 * _EDGE
    opening, _, rest = found.svg.partition(">")
    assert opening.startswith("<svg")
    view = f'width="{found.width:g}" height="{found.height:g}" viewBox="0 0 {found.width:g} {found.height:g}"'
    # Ink and paper are a pair in the file itself, whatever theme a browser gives to pictures.
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'style="color-scheme: light dark" font-family="{FONT}" color="light-dark({INK}, {DARK_INK})">{SVG}'
        f"<title>{html.escape(plain(found.title))}</title>"
        f'<rect width="100%" height="100%" fill="light-dark({PAPER[0]}, {PAPER[1]})"/>'
        f'<svg x="{_EDGE}" y="{_EDGE}" overflow="visible" {view}>{rest}</svg>'
    )
    return Small(found.title, svg.encode(), width, height)


def _of_few_pairs(outcome: Outcome) -> Chart | None:
    """Return the chart of the pairs with the fastest contender; None where there is room for every pair."""
    if len(outcome.verdicts) <= MOST_PAIRS:
        return None
    first = ranked(outcome)[0].label
    few = [pair for pair in outcome.verdicts if first in (pair.first, pair.second) and pair.ratio is not None]
    return ratio_chart(msgspec.structs.replace(outcome, verdicts=few[:MOST_PAIRS]), NARROW) if few else None
