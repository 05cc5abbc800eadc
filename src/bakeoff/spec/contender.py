"""A contender: a framework with an environment and options, as the user writes it."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

import msgspec

from bakeoff.spec.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

# framework[@environment][:option=value[,option=value...]]; an environment may hold ":" when it is a path.
_PATTERN = re.compile(r"^(?P<framework>[A-Za-z][\w-]*)(?:@(?P<environment>.+?))?(?::(?P<options>[^:/]*))?$")


class Contender(msgspec.Struct, frozen=True, kw_only=True):
    """One side of a comparison; `label` is its name in every report and unique within a comparison."""

    framework: str
    label: str
    environment: str | None = None
    """What stands after "@": the path of an interpreter, or the name of an environment. None: found by bakeoff."""
    options: dict[str, str] = {}


def parse_contender(text: str) -> Contender:
    """Read `torch`, `torch:mode=compiled` or `torch@/path/to/python:threads=1`; raise UsageError for anything else."""
    match = _PATTERN.fullmatch(text)
    if match is None:
        msg = f"contender {text!r} is not of the form framework[@environment][:option=value,...]"
        raise UsageError(msg)
    options: dict[str, str] = {}
    for item in (match["options"] or "").split(",") if match["options"] is not None else ():
        name, equals, value = item.partition("=")
        if not (name and equals and value):
            msg = f"contender {text!r}: {item!r} is not of the form option=value"
            raise UsageError(msg)
        if name in options:
            msg = f"contender {text!r}: option {name!r} is given twice"
            raise UsageError(msg)
        options[name] = value
    return Contender(framework=match["framework"], label=text, environment=match["environment"], options=options)


def parse_contenders(texts: Iterable[str]) -> list[Contender]:
    """Read several contenders; the same text twice is A against A, told apart as "torch" and "torch (2)"."""
    seen: Counter[str] = Counter()
    contenders = []
    for contender in map(parse_contender, texts):
        seen[contender.label] += 1
        count = seen[contender.label]
        label = contender.label if count == 1 else f"{contender.label} ({count})"
        contenders.append(msgspec.structs.replace(contender, label=label))
    return contenders


def slug(label: str) -> str:
    """Give the name of a folder for a label: letters, digits, dot, equals and dash only."""
    return re.sub(r"[^\w.=]+", "-", label).strip("-")
