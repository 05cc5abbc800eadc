"""Files of studies with one thing wrong, drawn from a seed: the lines of those that come with bakeoff, changed."""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING

from bakeoff.study.published import SHIPPED

if TYPE_CHECKING:
    from collections.abc import Iterator

VALUES = (
    *('""', '"a"', '"\\u202e\\u001b[31m"', f'"{"x" * 5000}"', "true", "0", "-1", "1", "1e308", "nan", "-inf"),
    *("2026-11-28", "[]", "{}", "[[1]]", "[-1, 3]", '["torch", "torch"]', '{ torch = "a" }', "[{}]", "10000000000000"),
    *('"torch"', '"fake:step_ms=1"', '"no such"', '"../../etc/passwd"', '"mlp-mnist"', "[1, 2]", "0.5", '"train"'),
)
"""Right in one place and wrong in others: types, signs, sizes, and names that are there."""

_HEADERS = ("[machines]", "[[rows]]", "[[comparisons]]", "[[claims]]", "[ticks]", "[drawing]")
_KEYS = ("name", "rows", "batch_size", "id", "percent")
_MARKS = ('"', "\x00", "\ud7ff", "[", "]", "=", "#", "'''")
_KEY = re.compile(r"^(\s*[\w-]+ = )(.*)$")
_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.])")


def study_files(seed: int, count: int) -> Iterator[str]:
    """Yield texts of studies, each with one change or two."""
    draw = random.Random(seed)  # noqa: S311 - of texts, not of keys
    shipped = [path.read_text(encoding="utf-8") for path in sorted(SHIPPED.glob("*.toml"))]
    for _ in range(count):
        lines = draw.choice(shipped).splitlines()
        for _ in range(draw.choice((1, 1, 1, 2))):
            _change(draw, lines)
        yield "\n".join(lines)


def _change(draw: random.Random, lines: list[str]) -> None:
    """Change a line: its value, its number, its key; leave it out, double it, cut the file there, or add one."""
    at = draw.randrange(len(lines))
    keyed = _KEY.match(lines[at])
    kind = draw.choice(("value", "value", "number", "key", "out", "twice", "cut", "added", "header", "text"))
    if kind == "value" and keyed:
        lines[at] = keyed[1] + draw.choice(VALUES)
    elif kind == "number":
        lines[at] = _NUMBER.sub(lambda _: draw.choice(VALUES), lines[at], count=1)
    elif kind == "key" and keyed:
        lines[at] = "unknown = " + keyed[2]
    elif kind == "out":
        del lines[at]
        lines[:] = lines or [""]
    elif kind == "twice":
        lines.insert(at, lines[at])
    elif kind == "cut":
        del lines[at + 1 :]
    elif kind == "added":
        lines.insert(at, f"{draw.choice(_KEYS)} = {draw.choice(VALUES)}")
    elif kind == "header":
        lines.insert(at, draw.choice(_HEADERS))
    else:
        where = draw.randrange(len(lines[at]) + 1)
        lines[at] = lines[at][:where] + draw.choice(_MARKS) + lines[at][where:]
