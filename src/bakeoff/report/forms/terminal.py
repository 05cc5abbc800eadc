"""A page on a terminal, on a pipe, in a log: 80 columns are enough, and so is ASCII."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.text import Text

from bakeoff.report.called import pasteable
from bakeoff.report.forms import consoles, files
from bakeoff.spec.text import plain

if TYPE_CHECKING:
    from rich.console import Console

    from bakeoff.report.page import Page, Section, Table

_GAP = "  "
"""Between columns."""
_MOST_WARNINGS = 6
"""Of a study: more would push the answer off the screen; the page has them all."""
_NUMBER = re.compile(r"\d{1,3}(,\d{3})+(\.\d+)?|\d+(\.\d+)?")


def show(page: Page, console: Console | None = None) -> None:
    """Print a page: the answer, what was done, its sections, and where the rest is."""
    show_answer(page, console)
    show_files(page, console)


def show_answer(page: Page, console: Console | None = None) -> None:
    """Print a page without its end: the answer, what was done, and its sections."""
    console = console or consoles.console()
    _head(page, console)
    is_after_words = False
    for section in page.sections:
        tables = section.tables if section.kind == "open" else []
        if not (tables or section.words):
            continue
        if tables or not is_after_words:
            console.print()
        if tables and section.title:
            _say(console, section.title, "bold")
        _words(section, console, most=_MOST_WARNINGS if page.inner else None)
        for index, table in enumerate(tables):
            if index:
                console.print()
            _table(table, console)
        is_after_words = not tables
    console.print()


def show_files(page: Page, console: Console | None = None) -> None:
    """Print a page's end: where the records and reports are, and how to repeat it all."""
    console = console or consoles.console()
    for name, path in files(page).items():
        _say(console, f"{name:<9} {path}", whole=True)
    if page.command:
        _say(console, f"{'reproduce':<9} {page.command}", whole=True)


def readable(text: str, encoding: str) -> str:
    """Return text that a terminal of this encoding can show and that cannot steer it: other characters are escaped."""
    shown = plain(text)
    if encoding.lower().replace("_", "-").startswith("utf"):
        return shown
    return shown.replace("\N{MICRO SIGN}", "u").encode(encoding, "backslashreplace").decode(encoding)


def _say(console: Console, text: str, style: str = "", *, whole: bool = False) -> None:
    """Print one paragraph; `whole` never breaks it, so that a path, a command or a table's line stays one."""
    plain = Text(readable(pasteable(text), console.encoding), style=style)
    console.print(plain, soft_wrap=whole, highlight=False, emoji=False)


def _sentence(console: Console, text: str, style: str = "") -> None:
    """Print a sentence, and whole on a line of its own the command that it ends with, if it has one."""
    said, _, command = text.partition("\n")
    _say(console, said, style)
    if command:
        _say(console, command, whole=True)


def _head(page: Page, console: Console) -> None:
    """Print the answer and why to believe it; then what was done and on what, on one line where it fits."""
    console.print()
    _say(console, page.headline, "bold green")
    if page.trust:
        _say(console, page.trust)
    space = console.width - cell_len(page.title) - cell_len(page.beside)
    console.print()
    if page.beside and space >= len(_GAP):
        _say(console, page.title + " " * space + page.beside, "dim")
    else:
        _say(console, page.title, "dim")
        if page.beside:
            _say(console, page.beside, "dim")
    for line in page.lines:
        _say(console, line)


def _words(section: Section, console: Console, most: int | None) -> None:
    """Print a section's sentences, of warnings at most so many."""
    if section.kind != "warnings":
        for word in section.words:
            _sentence(console, word)
        return
    for word in section.words[:most]:
        _sentence(console, f"warning: {word}", "yellow")
    if most is not None and len(section.words) > most:
        _say(console, f"warning: {len(section.words) - most} more are in the report", "yellow")


# --- Tables -------------------------------------------------------------------------------------------------------


def _table(table: Table, console: Console) -> None:
    """Print a table; columns that do not fit go on beneath, in tables of their own."""
    rows = [[readable(cell, console.encoding) for cell in line.cells] for line in table.lines]
    if table.words == len(table.heads):
        _listed(table.heads[0], rows, console)
        return
    columns = _columns(table, rows)
    names, others = columns[: table.keys], columns[table.keys :]
    keys = [_GAP.join(cells) for cells in zip(*names, strict=True)]
    total = cell_len(_GAP.join([keys[0], *(column[0] for column in others)]))
    is_wide = 2 * cell_len(keys[0]) > console.width < total
    room = console.width - (len(_GAP) if is_wide else cell_len(keys[0]) + len(_GAP))
    for index, part in enumerate(_parts(others, room)):
        if index:
            console.print()
        figures = [_GAP.join(cells).rstrip() for cells in zip(*part, strict=True)]
        lines = _beneath(keys, figures) if is_wide else [_GAP.join(both) for both in zip(keys, figures, strict=True)]
        for number, line in enumerate(lines):
            _say(console, line.rstrip(), "dim" if number == 0 else "", whole=True)
    if table.prose is not None:
        for row in rows:
            if row[table.prose]:
                _say(console, f"{row[0]}, {table.heads[table.prose]}: {row[table.prose]}")


def _listed(head: str, rows: list[list[str]], console: Console) -> None:
    """Print a table of words as a list: what each is about, and what is said of it."""
    _say(console, head, "dim")
    for *about, said in rows:
        _say(console, f"  {_GAP.join(about)}: {said}")


def _columns(table: Table, rows: list[list[str]]) -> list[list[str]]:
    """Return the columns that stand in lines, each under its head, with equal widths."""
    heads = ["" if head == "contender" else head for head in table.heads]
    cells = [list(column) for column in zip(*rows, strict=True)]
    cells = [column if index < table.words else _aligned(column) for index, column in enumerate(cells)]
    return [
        _padded([head, *column], right=index in table.right)
        for index, (head, column) in enumerate(zip(heads, cells, strict=True))
        if index != table.prose
    ]


def _padded(column: list[str], *, right: bool = False) -> list[str]:
    """Return a column in which all are as wide as the widest."""
    width = max(map(cell_len, column))
    spaces = [" " * (width - cell_len(text)) for text in column]
    return [space + text if right else text + space for text, space in zip(column, spaces, strict=True)]


def _aligned(column: list[str]) -> list[str]:
    """Return cells whose numbers have their decimal points below each other, on both sides of a "to"."""
    sides = [cell.partition(" to ") for cell in column]
    lows, highs = _on_point([side[0] for side in sides]), _on_point([side[2] for side in sides])
    return [f"{low}{to}{high}".rstrip() for low, (_, to, _), high in zip(lows, sides, highs, strict=True)]


def _on_point(texts: list[str]) -> list[str]:
    """Return texts whose leading numbers have their decimal points below each other, where they have one unit."""
    parts = [text.partition(" ") for text in texts]
    numbers = [number for number, _, _ in parts if _NUMBER.fullmatch(number)]
    units = {rest for number, _, rest in parts if _NUMBER.fullmatch(number) and rest.isalpha()}
    if not numbers or len(units) > 1:
        return texts
    left = max(len(number.partition(".")[0]) for number in numbers)
    right = max(len("".join(number.partition(".")[1:])) for number in numbers)
    found = []
    for number, space, rest in parts:
        whole, point, decimals = number.partition(".")
        padded = f"{whole:>{left}}{point + decimals:<{right}}" if _NUMBER.fullmatch(number) else number
        found.append(padded + space + rest)
    return found


def _parts(columns: list[list[str]], room: int) -> list[list[list[str]]]:
    """Return the columns in parts that have room side by side; a part has one at least."""
    parts: list[list[list[str]]] = [[]]
    used = 0
    for column in columns:
        width = cell_len(column[0])
        if parts[-1] and used + width > room:
            parts.append([])
            used = 0
        parts[-1].append(column)
        used += width + len(_GAP)
    return parts


def _beneath(keys: list[str], figures: list[str]) -> list[str]:
    """Return each line's figures beneath its name, which is too long to stand beside them."""
    pairs = zip(keys[1:], figures[1:], strict=True)
    return [_GAP + figures[0], *(line for key, figure in pairs for line in (key, _GAP + figure) if line.strip())]
