"""The pictures of pages as one: PNG and SVG on white, and each alone as SVG for a page in its text's colour."""

from __future__ import annotations

import html
import resource
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

from bakeoff.report.forms import Form
from bakeoff.report.forms.marks import SVG, marked_png
from bakeoff.report.pictures import INK, WIDTH, altair, drawn, themed
from bakeoff.spec.errors import NoPictureError, UsageError
from bakeoff.spec.text import plain

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from bakeoff.report.page import Page
    from bakeoff.report.pictures import Chart

EXTENSIONS = (".png", ".svg")

PNG_SCALE = 2.0
"""Pixels of the picture for each of the drawing: sharp on today's screens."""

ADDRESS_SPACE_BYTES = 72 << 30
"""What drawing wants of address space, hardly any of it memory: V8, within vl-convert 1.9, reserves 64 GiB and ends the
process by a trap where it cannot; measured, 64 GiB in all were too few and 72 enough."""

_APART = dict.fromkeys(("color", "shape", "strokeDash", "fill", "stroke"), "independent")


def to_picture(pages: Sequence[Page], path: Path) -> bytes:
    """Return one picture of all pages, in the form of the path's extension; raise UsageError for any other."""
    extension = path.suffix.lower()
    if extension not in EXTENSIONS:
        msg = f"cannot draw {path}: its extension is {extension or 'missing'}; a chart is {' or '.join(EXTENSIONS)}"
        raise UsageError(msg)
    return render(pages, "png" if extension == ".png" else "svg")


def _renderer() -> Any:
    """Return vl-convert; raise NoPictureError where it would end the process."""
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit != resource.RLIM_INFINITY and limit < ADDRESS_SPACE_BYTES:
        needed = ADDRESS_SPACE_BYTES >> 30
        msg = (
            f"no picture is drawn: that reserves {needed} GiB of address space, and `ulimit -v` allows {limit >> 30} "
            "GiB; the records are whole: draw them without that limit, by bakeoff report, whose --markdown needs none"
        )
        raise NoPictureError(msg)
    return import_module("vl_convert")


def render(pages: Sequence[Page], kind: Literal["png", "svg"]) -> bytes:
    """Return one picture of all pages, on white."""
    renderer = _renderer()
    stacked = [_stacked(page) for page in pages]
    whole = stacked[0] if len(stacked) == 1 else altair().vconcat(*stacked, spacing=48).resolve_scale(**_APART)
    spec = themed(whole, INK, "white")
    if kind == "png":
        return marked_png(renderer.vegalite_to_png(spec, scale=PNG_SCALE))
    findings = [section.picture.finding for page in pages for section in page.sections if section.picture]
    return _titled(renderer.vegalite_to_svg(spec), " ".join(findings)).encode()


def inline_svg(chart: Chart) -> str:
    """Return a chart as SVG for a page, in the page's own text colour."""
    svg: str = _renderer().vegalite_to_svg(themed(chart, "currentColor", "transparent"))
    return svg


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
