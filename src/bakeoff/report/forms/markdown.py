"""Pages as GitHub Markdown, fit for a README."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import quote

from bakeoff.report.forms import Form
from bakeoff.report.forms.marks import MARKDOWN
from bakeoff.spec.text import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from bakeoff.report.page import Page, Section, Table

_SPECIAL = re.compile(r"[\\`*_<>|#~&]|\](?=[(\[])")
"""What Markdown, or the HTML in it, would take for itself. A bracket is harmless unless it could become a link."""

_BRACKET = re.compile(r"(?<!\\)[\[\]]")
"""What would end the text of a picture."""


def to_markdown(pages: Sequence[Page]) -> str:
    """Return one section for each page."""
    return "\n".join(_page(page) for page in pages)


def to_block(page: Page, picture: str = "") -> str:
    """Return a page as a part of somebody's own document, without headings, which would be among theirs.

    `picture` is where its chart is, seen from the document; empty for none.
    """
    findings = escaped(" ".join(section.picture.finding for section in page.sections if section.picture))
    text = _BRACKET.sub(r"\\\g<0>", findings)
    parts = [
        f"**{escaped(page.headline)}**\n",
        f"{escaped(page.trust)}\n" if page.trust else "",
        f"![{text}]({quote(picture)})\n" if picture else "",
        f"{escaped('; '.join(part for part in [page.title, page.under] if part))}.\n",
        *_sections(page, _bold_head),
        _again(page),
    ]
    return "\n".join(part for part in parts if part)


def escaped(text: str) -> str:
    """Return text that Markdown shows as it is, on one line."""
    return _SPECIAL.sub(r"\\\g<0>", plain(text))


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], numbers: Sequence[int] = ()) -> str:
    """Return a table; `numbers` are the columns that are set right."""
    rule = ["--:" if index in numbers else ":--" for index in range(len(heads))]
    lines = [[escaped(head) for head in heads], rule, *([escaped(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def _page(page: Page) -> str:
    """Return the answer, what was run, all sections, and how to repeat it."""
    parts = [
        f"## {escaped(page.headline)}\n",
        f"{escaped(page.trust)}\n" if page.trust else "",
        f"{escaped('; '.join(part for part in [page.title, page.under] if part))}.\n",
        *_sections(page, _head),
        _again(page),
    ]
    return "\n".join(part for part in parts if part)


def _sections(page: Page, head_of: Callable[[Section], str]) -> list[str]:
    """Return what each section says; neighbours that only have sentences are one list."""
    parts: list[str] = []
    is_list = False
    for section in page.sections:
        tables = section.tables if section.kind == "open" else []
        if tables and (head := head_of(section)):
            parts.append(head)
        prefix = "Warning: " if section.kind == "warnings" else ""
        words = "".join(f"- {prefix}{escaped(' '.join(word.split()))}\n" for word in section.words)
        if words and is_list and not tables and not prefix:
            parts[-1] += words
        elif words:
            parts.append(words)
        parts += [_table(found) for found in tables]
        if tables and section.notes:
            parts.append(f"{escaped(' '.join(section.notes))}\n")
        is_list = (is_list or bool(words)) and not tables
    return parts


def _head(section: Section) -> str:
    """Return what stands above a section's tables."""
    if section.caption:
        return f"{escaped(section.caption)}\n"
    return f"### {escaped(section.title)}\n" if section.title else ""


def _bold_head(section: Section) -> str:
    """Return the same where no heading may stand."""
    return _head(section) if section.caption or not section.title else f"**{escaped(section.title)}**\n"


def _table(found: Table) -> str:
    """Return a table whose numbers are set right."""
    numbers = [index for index in range(len(found.heads)) if not found.is_words(index)]
    rows = [[" ".join(cell.split()) for cell in line.cells] for line in found.lines]
    return table(found.heads, rows, numbers)


def _again(page: Page) -> str:
    """Return when it was measured, and what reproduces it in a block that shows every character as it is."""
    measured = escaped(page.measured)
    if not page.command:
        return f"{measured}.\n"
    # A fence longer than any run of backticks within cannot be closed by the command.
    command = plain(page.command, keep="\n")
    fence = "`" * max(3, *(len(run) + 1 for run in re.findall("`+", command) or [""]))
    return f"{measured}; reproduce it with\n\n{fence}\n{command}\n{fence}\n"


def _write(pages: Sequence[Page], _folder: Path) -> bytes:
    """Return the file's content, which has no links."""
    return (MARKDOWN + to_markdown(pages)).encode()


FORM = Form(name="markdown", file="report.md", write=_write)
