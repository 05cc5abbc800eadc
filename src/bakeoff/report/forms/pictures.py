"""The pictures of pages as one, PNG or SVG on white: the answer, and below it each drawing as it stands on the page."""

from __future__ import annotations

import html
import textwrap
from functools import partial
from typing import TYPE_CHECKING, Literal

from bakeoff.report.forms import Form
from bakeoff.report.forms.drawings import laid_out, renderer
from bakeoff.report.forms.marks import SVG, marked_png
from bakeoff.report.pictures import FONT, FONT_SIZE, LONGEST_TEXT, WIDE
from bakeoff.report.pictures.colours import INK, PAPER
from bakeoff.spec.errors import UsageError
from bakeoff.spec.text import plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from bakeoff.report.forms.drawings import Drawing
    from bakeoff.report.page import Page

EXTENSIONS = (".png", ".svg")

PNG_SCALE = 2.0
"""Pixels of the picture for each of the drawing: sharp on today's screens."""

_MARGIN = 20
"""Pixels around everything."""
_CHARACTER = 0.585
"""Of its size, how wide a character of a sentence is on average, in bold DejaVu Sans: what stands for the fonts named
first where a reader has none of them, and 8 % wider."""
_LEADING = 1.35
"""From one line to the next, of the size of its text."""
_ANSWER, _TITLE = 21, 16
"""Pixels, of text."""


def to_picture(pages: Sequence[Page], path: Path) -> bytes:
    """Return one picture of all pages, in the form of the path's extension; raise UsageError for any other."""
    extension = path.suffix.lower()
    if extension not in EXTENSIONS:
        msg = f"cannot draw {path}: its extension is {extension or 'missing'}; a chart is {' or '.join(EXTENSIONS)}"
        raise UsageError(msg)
    return render(pages, "png" if extension == ".png" else "svg")


def render(pages: Sequence[Page], kind: Literal["png", "svg"]) -> bytes:
    """Return one picture of all pages, on white."""
    sheet = _Sheet()
    for number, page in enumerate(pages):
        _lay(sheet, page, number)
    findings = [section.picture.finding for page in pages for section in page.sections if section.picture]
    svg = sheet.svg(" ".join(findings))
    return marked_png(renderer().svg_to_png(svg, scale=PNG_SCALE)) if kind == "png" else svg.encode()


def _lay(sheet: _Sheet, page: Page, number: int) -> None:
    """Put a page's answer and drawings on the sheet."""
    sheet.space(0 if number == 0 else 3 * _MARGIN)
    sheet.text([page.headline], _ANSWER, is_bold=True)
    sheet.text([line for line in (page.trust, page.title, page.under) if line], FONT_SIZE)
    pictures = [section.picture for section in page.sections if section.picture]
    if not pictures:
        sheet.space(_MARGIN)
        sheet.text(page.unpictured, FONT_SIZE)
    for index, picture in enumerate(pictures):
        found = laid_out(picture, WIDE, name=f"c{number}-{index}", is_on_page=False)
        sheet.space(_MARGIN)
        sheet.text([found.title], _TITLE, is_bold=True)
        sheet.text(found.meaning, FONT_SIZE)
        sheet.space(_MARGIN / 2)
        sheet.drawing(found)


class _Sheet:
    """A picture that grows downwards."""

    def __init__(self) -> None:
        """Begin at the top."""
        self._parts: list[str] = []
        self._y = float(_MARGIN)

    def space(self, height: float) -> None:
        """Leave some room."""
        self._y += height

    def text(self, paragraphs: Iterable[str], size: float, *, is_bold: bool = False) -> None:
        """Write paragraphs, each on as many lines as it needs."""
        weight = ' font-weight="bold"' if is_bold else ""
        for paragraph in paragraphs:
            for line in textwrap.wrap(plain(paragraph[:LONGEST_TEXT]), int(WIDE / (_CHARACTER * size))):
                self._y += size * _LEADING
                place = f'x="{_MARGIN}" y="{self._y - size * (_LEADING - 1):.1f}"'
                self._parts.append(f'<text {place} font-size="{size}"{weight}>{html.escape(line)}</text>')

    def drawing(self, found: Drawing) -> None:
        """Put a drawing there, as wide as all others."""
        height = found.height * WIDE / found.width
        opening, _, rest = found.svg.partition(">")
        view = f'viewBox="0 0 {found.width:g} {found.height:g}"'
        place = f'x="{_MARGIN}" y="{self._y:.1f}" width="{WIDE}" height="{height:.1f}" {view}'
        assert opening.startswith("<svg")
        self._parts.append(f"<svg {place}>{rest}")
        self._y += height

    def svg(self, finding: str) -> str:
        """Return the picture, with its text for readers who do not see it."""
        text, width, height = html.escape(plain(finding)), WIDE + 2 * _MARGIN, round(self._y + _MARGIN)
        size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{text}"><title>{text}</title>{SVG}'
            f'<rect width="100%" height="100%" fill="{PAPER[0]}"/><g font-family="{FONT}" fill="{INK}" color="{INK}">'
            f"{''.join(self._parts)}</g></svg>"
        )


def _write(kind: Literal["png", "svg"], pages: Sequence[Page], _folder: Path) -> bytes:
    """Return the picture, which has no links."""
    return render(pages, kind)


CHART = Form(name="chart", file="chart.png", write=partial(_write, "png"), is_announced=True)
DRAWING = Form(name="drawing", file="chart.svg", write=partial(_write, "svg"))
