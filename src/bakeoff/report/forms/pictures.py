"""The pictures of pages as one: PNG and SVG on white, and each alone as SVG for a page in its text's colour."""

from __future__ import annotations

import html
from functools import partial
from typing import TYPE_CHECKING, Literal

from bakeoff.report.forms import Form
from bakeoff.report.forms.marks import SVG, marked_png
from bakeoff.report.pictures import INK, WIDTH, altair, drawn, themed
from bakeoff.spec.errors import UsageError
from bakeoff.spec.text import plain

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from bakeoff.report.page import Page
    from bakeoff.report.pictures import Chart

EXTENSIONS = (".png", ".svg")

PNG_SCALE = 2.0
"""Pixels of the picture for each of the drawing: sharp on today's screens."""

_APART = dict.fromkeys(("color", "shape", "strokeDash", "fill", "stroke"), "independent")


def to_picture(pages: Sequence[Page], path: Path) -> bytes:
    """Return one picture of all pages, in the form of the path's extension; raise UsageError for any other."""
    extension = path.suffix.lower()
    if extension not in EXTENSIONS:
        msg = f"cannot draw {path}: its extension is {extension or 'missing'}; a chart is {' or '.join(EXTENSIONS)}"
        raise UsageError(msg)
    return render(pages, "png" if extension == ".png" else "svg")


def render(pages: Sequence[Page], kind: Literal["png", "svg"]) -> bytes:
    """Return one picture of all pages, on white."""
    import vl_convert

    stacked = [_stacked(page) for page in pages]
    whole = stacked[0] if len(stacked) == 1 else altair().vconcat(*stacked, spacing=48).resolve_scale(**_APART)
    spec = themed(whole, INK, "white")
    if kind == "png":
        return marked_png(vl_convert.vegalite_to_png(spec, scale=PNG_SCALE))
    findings = [section.picture.finding for page in pages for section in page.sections if section.picture]
    return _titled(vl_convert.vegalite_to_svg(spec), " ".join(findings)).encode()


def inline_svg(chart: Chart) -> str:
    """Return a chart as SVG for a page, in the page's own text colour."""
    import vl_convert

    return vl_convert.vegalite_to_svg(themed(chart, "currentColor", "transparent"))


def _stacked(page: Page) -> Chart:
    """Return all charts of a page under its title."""
    alt = altair()
    nothing = drawn([{}]).mark_text().encode(text=alt.value("nothing was timed")).properties(width=WIDTH)
    charts = [section.picture.draw() for section in page.sections if section.picture] or [nothing]
    subtitle = [line for line in (page.headline, page.under) if line]
    title = alt.Title(page.title, subtitle=subtitle, fontSize=18, offset=14, frame="bounds")
    return alt.vconcat(*charts, spacing=28, title=title).resolve_scale(**_APART)


def _titled(svg: str, finding: str) -> str:
    """Return a drawing that stands alone with its text for readers who do not see it."""
    text = html.escape(plain(finding))
    opening, _, rest = svg.partition(">")
    return f'{opening} role="img" aria-label="{text}"><title>{text}</title>{SVG}{rest}'


def _write(kind: Literal["png", "svg"], pages: Sequence[Page], _folder: Path) -> bytes:
    """Return the picture, which has no links."""
    return render(pages, kind)


CHART = Form(name="chart", file="chart.png", write=partial(_write, "png"), is_announced=True)
DRAWING = Form(name="drawing", file="chart.svg", write=partial(_write, "svg"))
