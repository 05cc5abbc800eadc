"""Outcomes without what a report that leaves this machine should not hold.

Left out are names of people and machines, folders, keys, and all but the first line of what a worker said when it
failed. What is judged stays: every number, every verdict, and every word of bakeoff's own.
"""

from __future__ import annotations

import re
import shlex
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args, get_origin

import msgspec

from bakeoff.acceptance.redacted import Redactor, apart, place, sharing_redactor
from bakeoff.judge.explanation import Explanation
from bakeoff.judge.outcome import Outcome
from bakeoff.judge.search import SearchOutcome
from bakeoff.judge.study import StudyOutcome
from bakeoff.spec.keys import is_secret, without_keys
from bakeoff.store.studies import LOG_ENDS

if TYPE_CHECKING:
    from collections.abc import Iterable

Kind = TypeVar("Kind", bound=msgspec.Struct)

LONGEST_WORD = 20
"""Letters and digits: a word of a command that is as long, and has both, is a key: no option has such a value."""

AWS_SECRET = 40
"""Characters of Amazon's secret keys, of base64's alphabet."""

_LONG = re.compile(
    rf"(?<![A-Za-z0-9])(?=[A-Za-z]*\d)(?=\d*[A-Za-z])[A-Za-z0-9]{{{LONGEST_WORD},}}"
    rf"|(?<![A-Za-z0-9/+])(?=[a-z0-9/+]*[A-Z])(?=[A-Z0-9/+]*[a-z])(?=[A-Za-z/+]*\d)[A-Za-z0-9/+]{{{AWS_SECRET}}}"
    r"(?![A-Za-z0-9/+])"
    r"|(?<![0-9A-Fa-f])[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}(?![0-9A-Fa-f])"
)
"""What looks like a key by itself in a command; the last one is a UUID."""

_SPACED_PATH = re.compile(r"(?<![\w.~/-])(?:~[\w.-]*|\.{1,2})?/(?!/)(?=.*\s)(?:[^/]*/)*(?P<last>[^/]*)", re.DOTALL)
"""Within one word of a command: a path with a space in it, to the word's end."""

_RELATIVE = re.compile(
    r"(?<![\w.~/@-])(?:[\w.+-]+/)+(?P<last>[\w+-]+\.(?:csv|html|json|md|npz|parquet|png|py|svg|toml|txt))(?![\w/])"
)
"""The path of a file below the working directory: a data set of somebody's has a slash, too, and no such ending."""

_PLACED = re.compile(r"<\w+>")

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
    try:
        words = shlex.split(text)
    except ValueError:  # A quote that is not closed: it is no command, and a text like others.
        return using.text(_LONG.sub("<value>", text))
    return " ".join(_quoted(_word(word, using)) for word in without_keys(words, "<value>"))


def _word(word: str, using: Redactor) -> str:
    """Return a word of a command, as the program gets it, without what should not be there."""
    word = _SPACED_PATH.sub(lambda found: place(found["last"]), _LONG.sub("<value>", word))
    return _RELATIVE.sub(lambda found: place(found["last"]), using.text(word))


def _quoted(word: str) -> str:
    """Return a word as a shell takes it; what stands for something that was left out needs no quotes."""
    bare = _PLACED.sub("x", word)
    return word if shlex.quote(bare) == bare else shlex.quote(word)


class Redaction:
    """Takes the same words out of all that one outcome holds."""

    def __init__(self, using: Redactor, outcome: msgspec.Struct, names: Iterable[str] = ()) -> None:
        """Take what redacts, and the outcome, whose contenders have to keep names of their own; so have `names`."""
        self._using = using
        self._labels = apart([*_labels(outcome), *names], using)
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
        if name.isupper():
            return self._item(name, content)
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
                return {self._any(key): self._item(key, item) for key, item in value.items()}
            case tuple() if hasattr(value, "_fields"):
                return type(value)(*map(self._any, value))
            case list() | tuple():
                return type(value)(map(self._any, value))
        return value

    def _item(self, name: Any, value: Any) -> Any:
        """Return what a mapping holds under a name: of a secret variable nothing, of a list of folders what is left."""
        if not (isinstance(name, str) and name.isupper() and isinstance(value, str)):
            return self._any(value)
        if is_secret(name):
            return "<value>"
        places = value.split(":")
        if all(one.startswith(("/", "~")) for one in places):
            return ":".join(place(one.rstrip("/").rpartition("/")[2]) for one in places)  # One may have a space.
        return self._any(value)

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
    """Return texts with their first line alone, and no end of a job's log."""
    if isinstance(value, str):
        return value.partition("\n")[0].partition(LOG_ENDS)[0]
    if isinstance(value, dict):
        return {key: _first_lines(item) for key, item in value.items()}
    return value


def _labels(outcome: msgspec.Struct) -> list[str]:
    """Return the names of the contenders of an outcome or of what explains it, of a study of all of its comparisons."""
    if isinstance(outcome, Explanation):
        return _labels(outcome.outcome)
    if isinstance(outcome, Outcome):
        return [plan.contender.label for plan in outcome.comparison.contenders]
    if isinstance(outcome, SearchOutcome):
        return [plan.contender.label for plan in outcome.search.plan.contenders]
    inner = outcome.outcomes if isinstance(outcome, StudyOutcome) else []
    return list(dict.fromkeys(label for one in inner for label in _labels(one)))
