"""A page within a notebook: the answer and its tables, without styles or scripts of its own."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from bakeoff.spec.text import plain

if TYPE_CHECKING:
    from bakeoff.report.page import Page, Table


def to_fragment(page: Page) -> str:
    """Return the answer, why to believe it, what was measured, open tables and sentences, and where the report is.

    Warnings are folded; charts are `plot()`'s.
    """
    parts = [f"<p><strong>{_text(page.headline)}</strong></p>", f"<p>{_text(page.trust)}</p>" if page.trust else ""]
    parts.append(f"<p>{_text(f'{page.title}; {page.under}')}</p>")
    for section in page.sections:
        if section.kind == "open":
            parts += [_table(table, section.caption or section.title) for table in section.tables]
            parts += [f"<p>{_text(word)}</p>" for word in section.words]
    warnings = [word for section in page.sections if section.kind == "warnings" for word in section.words]
    if warnings:
        listed = "".join(f"<li>{_text(word)}</li>" for word in warnings)
        parts.append(f"<details><summary>Warnings: {len(warnings)}</summary><ul>{listed}</ul></details>")
    parts.append(f"<p>Records and report: <code>{_text(page.path)}</code></p>")
    return f"<div>{''.join(parts)}</div>"


def _table(table: Table, caption: str) -> str:
    """Return a table; what names a line is its head."""
    heads = "".join(f'<th scope="col">{_text(head)}</th>' for head in table.heads)
    lines = "".join(f"<tr>{''.join(_cells(table, line.cells))}</tr>" for line in table.lines)
    named = f"<caption>{_text(caption)}</caption>" if caption else ""
    return f"<table>{named}<thead><tr>{heads}</tr></thead><tbody>{lines}</tbody></table>"


def _cells(table: Table, cells: list[str]) -> list[str]:
    """Return the cells of one line."""
    return [
        f'<th scope="row">{_text(cell)}</th>' if index < table.keys else f"<td>{_text(cell)}</td>"
        for index, cell in enumerate(cells)
    ]


def _text(text: str) -> str:
    """Return text that steers nothing."""
    return escape(plain(text))
