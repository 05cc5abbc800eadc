"""Pages as one HTML file that needs nothing else: no network, no script, drawings inside."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from bakeoff.report.forms import Form
from bakeoff.report.forms.marks import HTML
from bakeoff.report.forms.pictures import inline_svg
from bakeoff.spec.text import plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bakeoff.report.page import Page

FILE = "report.html"


def to_html(pages: Sequence[Page], folder: Path) -> str:
    """Return the file that says these pages; its links are relative to the folder that it will stand in."""

    def link(path: str) -> str:
        page = Path(path) / FILE
        return quote(Path(os.path.relpath(page if page.exists() else path, folder)).as_posix())

    def records(page: Page) -> str:
        return quote(Path(os.path.relpath(page.path, folder)).as_posix()) + "/"

    template = _environment().get_template("page.html.j2")
    text: str = template.render(pages=pages, link=link, records=records, inline_svg=inline_svg, mark=HTML)
    return text


def _environment() -> Any:
    """Return what makes files of templates: all text is escaped, and a name that is not there is an error."""
    import jinja2

    return jinja2.Environment(
        loader=jinja2.PackageLoader("bakeoff.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        # What is markup already stays; the drawings in it are of plain text.
        finalize=lambda value: plain(value, keep="\n\t") if type(value) is str else value,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _write(pages: Sequence[Page], folder: Path) -> bytes:
    """Return the file's content."""
    return to_html(pages, folder).encode()


FORM = Form(name="report", file=FILE, write=_write, is_announced=True)
