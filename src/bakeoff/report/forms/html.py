"""Pages as one HTML file that needs nothing else: no network, no script, drawings inside."""

from __future__ import annotations

import os
import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

from bakeoff.report.forms import Form
from bakeoff.report.forms.drawings import layouts
from bakeoff.report.forms.marks import HTML
from bakeoff.report.pictures.colours import PAPER, seen
from bakeoff.spec.text import plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bakeoff.report.forms.drawings import Layouts
    from bakeoff.report.page import Page, Section, Table

FILE = "report.html"

MOST_CARDS = 12
"""Lines of a table that stand below each other, cell by cell, on a narrow screen; a longer one is moved sideways."""


_JOINT = re.compile(r"(?<=[:,@/=])(?=\S)")
"""Where a contender's name may go on in the next line: its parts stay whole."""


class Shown(NamedTuple):
    """A table with what is said of it to those who hear it."""

    table: Table
    caption: str
    """No other table of the file has it."""
    is_cards: bool


class RenderedSection(NamedTuple):
    """A section as it stands on the page."""

    section: Section
    heading: str
    drawn: Layouts | None
    tables: list[Shown]


class Sheet(NamedTuple):
    """A page, laid out: the answer with its table and first picture, the other figures, and why to believe them."""

    page: Page
    identity: str
    figures: list[RenderedSection]
    warnings: list[str]
    folds: list[RenderedSection]


def to_html(pages: Sequence[Page], folder: Path) -> str:
    """Return the file that says these pages; its links are relative to the folder that it will stand in."""

    def link(path: str) -> str:
        page = Path(path) / FILE
        return quote(Path(os.path.relpath(page if page.exists() else path, folder)).as_posix())

    def records(page: Page) -> str:
        return quote(Path(os.path.relpath(page.path, folder)).as_posix()) + "/"

    return rendered("page.html.j2", pages, link=link, records=records)


def rendered(name: str, pages: Sequence[Page], **more: Any) -> str:
    """Return what a template says of these pages; `more` is what it asks for beside them."""
    captions: Counter[str] = Counter()
    sheets = [_sheet(page, f"page-{number}", captions) for number, page in enumerate(pages, 1)]
    template = environment().get_template(name)
    text: str = template.render(sheets=sheets, mark=HTML, paper=PAPER, seen=seen, **more)
    return text


def ordered(page: Page) -> list[Section]:
    """Return what stands open on a page: the first table, the picture that leads, and all else as the page has it."""
    found = [section for section in page.sections if section.kind in ("open", "page")]
    leading = [section for section in found if section.leads]
    rest = [section for section in found if not section.leads]
    after = next((place + 1 for place, section in enumerate(rest) if section.tables), 0)
    return [*rest[:after], *leading, *rest[after:]]


def _sheet(page: Page, identity: str, captions: Counter[str]) -> Sheet:
    """Return a page laid out."""
    return Sheet(
        page=page,
        identity=identity,
        figures=[_part(one, f"{identity}-{place}", captions) for place, one in enumerate(ordered(page))],
        warnings=[word for section in page.sections if section.kind == "warnings" for word in section.words],
        folds=[_part(section, "", captions) for section in page.sections if section.kind == "fold"],
    )


def _part(section: Section, name: str, captions: Counter[str]) -> RenderedSection:
    """Return a section with its drawing and the captions of its tables."""
    found = layouts(section.picture, name) if section.picture else None
    heading = found.wide.title if found else section.title
    cards = section.kind == "open"
    tables = [
        Shown(
            table,
            _caption(heading, table, captions),
            cards and (table.prose is not None or len(table.lines) <= MOST_CARDS),
        )
        for table in section.tables
        if table.lines
    ]
    return RenderedSection(section, heading, found, tables)


def _caption(heading: str, table: Table, captions: Counter[str]) -> str:
    """Return what a table shows: "Step time: mean, p90 and 3 more, by contender"; numbered where it was said before."""
    heads = [head for head in table.heads[table.keys :] if head] or table.heads[:1]
    columns = ", ".join(heads[:2]) + (f" and {len(heads) - 2} more" if heads[2:] else "")
    text = f"{heading or 'Results'}: {columns}, by {', '.join(table.heads[: table.keys])}"
    captions[text] += 1
    return text if captions[text] == 1 else f"{text} ({captions[text]})"


def _breakable(text: str) -> Any:
    """Return a text as markup, escaped, that may be broken where the parts of names meet."""
    from markupsafe import Markup

    return Markup("<wbr>").join(_JOINT.split(plain(text)))


def environment() -> Any:
    """Return what makes files of templates: all text is escaped, and a name that is not there is an error."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("bakeoff.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        # What is markup already stays; the drawings in it are of plain text.
        finalize=lambda value: plain(value, keep="\n\t") if type(value) is str else value,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["breakable"] = _breakable
    return environment


def _write(pages: Sequence[Page], folder: Path) -> bytes:
    """Return the file's content."""
    return to_html(pages, folder).encode()


FORM = Form(name="report", file=FILE, write=_write, is_announced=True)
