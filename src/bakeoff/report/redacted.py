"""Outcomes without what a report that leaves this machine should not hold.

Left out are names of people and machines, folders, keys, and all but the first line of what a worker said when it
failed. What is judged stays: every number, every verdict, and every word of bakeoff's own.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any, Literal, TypeVar, get_args, get_origin

import msgspec

from bakeoff.acceptance.redacted import Redactor, sharing_redactor
from bakeoff.judge.outcome import Outcome
from bakeoff.judge.search import SearchOutcome
from bakeoff.judge.study import StudyOutcome

Kind = TypeVar("Kind", bound=msgspec.Struct)

LONGEST_WORD = 20
"""Letters and digits: a word of a command that is as long, and has both, is a key: no option has such a value."""

_LONG = re.compile(rf"(?<![A-Za-z0-9])(?=[A-Za-z]*\d)(?=\d*[A-Za-z])[A-Za-z0-9]{{{LONGEST_WORD},}}")

_SAID_BY_WORKERS = frozenset(("reason", "detail", "found", "lost_rounds"))
"""Fields of which the first line is kept: what follows it is the end of a log."""


def redacted(outcome: Kind, using: Redactor | None = None) -> Kind:
    """Return an outcome of any undertaking, without names, folders, keys and logs; `path` is empty.

    `using` is what takes words out, by default `sharing_redactor`. Contenders whose names are the same without their
    folders are numbered: "torch@<path>/python" and "torch@<path>/python (2)".
    """
    return Redaction(using or sharing_redactor(), outcome).of(outcome)


def redacted_command(text: str, using: Redactor) -> str:
    """Return a command line without names, folders and anything that looks like a key."""
    return using.text(_LONG.sub("<value>", text))


class Redaction:
    """Takes the same words out of all that one outcome holds."""

    def __init__(self, using: Redactor, outcome: msgspec.Struct) -> None:
        """Take what redacts, and the outcome, whose contenders have to keep names of their own."""
        self._using = using
        self._labels = _apart(_labels(outcome), using)
        known = "|".join(map(re.escape, sorted(self._labels, key=len, reverse=True)))
        self._known = re.compile(f"({known})") if known else None

    def of(self, value: Kind) -> Kind:
        """Return a record, an outcome or a part of it, redacted."""
        found = {
            name: self._field(name, getattr(value, name), kept=kept) for name, kept in _fields(type(value)).items()
        }
        return msgspec.structs.replace(value, **found)

    def json(self, content: Any, name: str = "") -> Any:
        """Return an object of JSON, redacted by the names of its keys, which are those of fields."""
        if isinstance(content, dict):
            return {self.text(key): self.json(item, key) for key, item in content.items()}
        if isinstance(content, list):
            return [self.json(item, name) for item in content]
        return self._field(name, content, kept=False)

    def _field(self, name: str, value: Any, *, kept: bool) -> Any:
        """Return the value of a field; `kept` ones have words of bakeoff's own."""
        if kept or name == "path":
            return "" if name == "path" and isinstance(value, str) else value
        if name == "command" and isinstance(value, str):
            return redacted_command(value, self._using)
        return self._any(_first_lines(value) if name in _SAID_BY_WORKERS else value)

    def _any(self, value: Any) -> Any:
        """Return anything that a field holds, redacted."""
        match value:
            case str():
                return self.text(value)
            case msgspec.Struct():
                return self.of(value)
            case dict():
                return {self._any(key): self._any(item) for key, item in value.items()}
            case tuple() if hasattr(value, "_fields"):
                return type(value)(*map(self._any, value))
            case list() | tuple():
                return type(value)(map(self._any, value))
        return value

    def text(self, text: str) -> str:
        """Return a text without them, in which contenders have the names that tell them apart."""
        parts = self._known.split(text) if self._known else [text]
        return "".join(self._labels.get(part) or self._using.text(part) for part in parts)


@cache
def _fields(kind: type[msgspec.Struct]) -> dict[str, bool]:
    """Return the fields of a type, each with whether it holds one of a few words of bakeoff's own."""
    return {field.name: _is_literal(field.type) for field in msgspec.structs.fields(kind)}


def _is_literal(hint: Any) -> bool:
    """Return whether a type is of fixed words alone."""
    parts = [part for part in get_args(hint) if part is not type(None)]
    return get_origin(hint) is Literal or (
        get_origin(hint) not in (list, tuple, dict) and bool(parts) and all(map(_is_literal, parts))
    )


def _first_lines(value: Any) -> Any:
    """Return texts with their first line alone."""
    if isinstance(value, str):
        return value.partition("\n")[0]
    if isinstance(value, dict):
        return {key: _first_lines(item) for key, item in value.items()}
    return value


def _labels(outcome: msgspec.Struct) -> list[str]:
    """Return the names of the contenders of an outcome, of a study of all of its comparisons."""
    if isinstance(outcome, Outcome):
        return [plan.contender.label for plan in outcome.comparison.contenders]
    if isinstance(outcome, SearchOutcome):
        return [plan.contender.label for plan in outcome.search.plan.contenders]
    inner = outcome.outcomes if isinstance(outcome, StudyOutcome) else []
    return list(dict.fromkeys(label for one in inner for label in _labels(one)))


def _apart(labels: list[str], using: Redactor) -> dict[str, str]:
    """Return those names that would no longer differ, each with what it is called instead."""
    alike: dict[str, list[str]] = {}
    for label in labels:
        alike.setdefault(using.text(label), []).append(label)
    return {
        label: f"{said} ({number})" if number > 1 else said
        for said, mine in alike.items()
        if len(mine) > 1
        for number, label in enumerate(mine, 1)
    }
