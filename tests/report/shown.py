"""What each form shows of an outcome, as text that a test can hold against the accepted one."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from bakeoff.report.forms.html import to_html
from bakeoff.report.forms.json import to_json
from bakeoff.report.forms.markdown import to_markdown
from bakeoff.report.forms.terminal import show
from bakeoff.report.pages import page_of

BLOCKS = ("h1", "h2", "h3", "p", "li", "tr", "caption", "summary", "pre")
"""Elements that begin a line."""
GOLDEN = Path(__file__).parent / "golden"


def printed(outcome: Any, width: int = 80) -> str:
    """Return what is printed without a terminal, without the spaces at ends of lines."""
    stream = io.StringIO()
    show(page_of(outcome), Console(file=stream, width=width))
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines()) + "\n"


def markdown(*outcomes: Any) -> str:
    """Return the Markdown of these outcomes."""
    return to_markdown([page_of(outcome) for outcome in outcomes])


def html(*outcomes: Any, folder: Path | None = None) -> str:
    """Return the HTML page of these outcomes, as it would stand in a folder (here)."""
    return to_html([page_of(outcome) for outcome in outcomes], folder or Path())


def data_of(outcome: Any) -> dict[str, Any]:
    """Return the JSON object of an outcome, as a program reads it."""
    known: dict[str, Any] = json.loads(to_json([page_of(outcome)]))
    return known


class _Visible(HTMLParser):
    """The text of a page, a line for each block; the cells of a row stand side by side, drawings are left out."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.lines: list[str] = []
        self._line: list[str] = []
        self._silent = 0
        self.feed(text)
        self._end()

    def _end(self) -> None:
        line = " ".join("".join(self._line).split())
        if line:
            self.lines.append(line)
        self._line = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = dict(attrs)
        if tag in ("style", "svg", "title"):
            self._silent += 1
        if tag in BLOCKS:
            self._end()
        if tag == "tr" and known.get("class") == "marked":
            self._line.append("(!) ")
        if tag in ("td", "th"):
            self._line.append(" | ")
        if tag == "a":
            self._line.append(f"({known['href']}) ")
        if known.get("role") == "img" and tag == "div":
            self._end()
            self._line.append(f"picture: {known['aria-label']}")

    def handle_endtag(self, tag: str) -> None:
        if tag in ("style", "svg", "title"):
            self._silent -= 1
        if tag in (*BLOCKS, "div"):
            self._end()

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self._line.append(data)


def visible(text: str) -> str:
    """Return the text of a page that a reader sees."""
    return "\n".join(_Visible(text).lines) + "\n"


def json_text(outcome: Any) -> str:
    """Return the JSON, keys sorted; of the comparisons within, which have texts of their own, the ids."""
    known = data_of(outcome)
    for point in known.get("points", []):
        point["comparison"] = point["comparison"] and point["comparison"]["comparison"]["id"]
    for title, inner in known.get("comparisons", {}).items():
        known["comparisons"][title] = inner["comparison"]["id"] if "comparison" in inner else inner
    return json.dumps(known, indent=1, sort_keys=True, allow_nan=False) + "\n"


def rounded(text: str) -> Any:
    """Return what JSON says, numbers to ten digits: products of matrices end otherwise on another kind of processor."""
    return json.loads(text, parse_float=lambda number: f"{float(number):.10g}")


def check_golden(name: str, text: str, *, read: Callable[[str], Any] = str) -> None:
    """Compare with the accepted text, both as `read` reads them; write the new one beside it when they differ."""
    accepted, new = GOLDEN / name, GOLDEN / f"{name}.new"
    if accepted.exists() and read(accepted.read_text(encoding="utf-8")) == read(text):
        new.unlink(missing_ok=True)
        return
    new.parent.mkdir(exist_ok=True)
    new.write_text(text, encoding="utf-8")
    pytest.fail(f"{name} has changed; to see: diff {accepted} {new}; to accept: mv {new} {accepted}")
