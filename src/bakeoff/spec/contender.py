"""A contender: a framework with an environment and options, as the user writes it.

The grammar, in which every text has one reading:

contender    framework[@environment][:option=value[,option=value...]]
environment  the name of an environment or the path of an interpreter. It ends at the first ":", so that a path that
             holds a ":" has to be quoted
value        the text behind the first "=" of an option, up to the next ",". A value that holds a ":" or a "," has to be
             quoted
quotes       "..." or '...' around the whole environment or value. Within them, a backslash before a quote or before a
             backslash makes it an ordinary character

A quote in any other place, and text behind the ":" that is no list of options, are refused with an example of how to
quote.
"""

from __future__ import annotations

import re
from itertools import chain, count
from typing import TYPE_CHECKING

import msgspec

from bakeoff.spec.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

FORM = "framework[@environment][:option=value,...]"

# An unquoted environment excludes ":" and quotes, and behind a quoted one only ":" or the end may follow, so that
# a text matches in at most one way. The same holds for values and ",".
_QUOTED = r""""(?:\\.|[^"\\\r\n])+"|'(?:\\.|[^'\\\r\n])+'"""
_CONTENDER = re.compile(
    rf"""(?P<framework>[A-Za-z][\w-]*)(?:@(?P<environment>{_QUOTED}|[^:'"\r\n]+))?(?::(?P<options>[^\r\n]*))?"""
)
_OPTION = re.compile(rf"""(?P<name>[\w.-]+)=(?P<value>{_QUOTED}|[^:,'"]+)(?P<end>,|$)""")
_LISTED = re.compile(rf"""\s*(?P<value>{_QUOTED}|[^,'"]*)\s*(?P<end>,|$)""")
_PLAIN = re.compile(r"""[^\s:,'"]+""")
_ESCAPED = re.compile(r"""\\(['"\\])""")


class Contender(msgspec.Struct, frozen=True, kw_only=True):
    """One side of a comparison; `label` is its name in every report and unique within a comparison."""

    framework: str
    label: str
    environment: str | None = None
    """What stands behind "@": the path of an interpreter, or the name of an environment. None: bakeoff chooses it."""
    options: dict[str, str] = {}

    @property
    def device(self) -> str:
        """Return where it runs, once its options are resolved; a framework without the option has processors alone."""
        return self.options.get("device", "cpu")

    @property
    def on_cuda(self) -> bool:
        """Return whether it runs on an NVIDIA GPU, once its options are resolved."""
        return self.device == "cuda"

    @property
    def precision(self) -> str:
        """Return the precision of its arithmetic, once its options are resolved; without the option it is float32."""
        return self.options.get("precision", "float32")


def parse_contender(text: str) -> Contender:
    """Return the contender that a text names; its label is the text itself.

    Raise UsageError for a text outside of the grammar (see this module); where quotes would help, it shows them.
    """
    match = _CONTENDER.fullmatch(text)
    if match is None:
        msg = f"contender {text!r} is not of the form {FORM}{_how_to_quote(text)}"
        raise UsageError(msg)
    environment = None if match["environment"] is None else _unquoted(match["environment"])
    options = {} if match["options"] is None else _parse_options(text, match)
    return Contender(framework=match["framework"], label=text, environment=environment, options=options)


def _parse_options(text: str, match: re.Match[str]) -> dict[str, str]:
    """Return the options of a contender; raise UsageError with the first that is broken, or that is there twice."""
    options: dict[str, str] = {}
    rest = match["options"]
    more = True
    while more:
        option = _OPTION.match(rest)
        if option is None:
            item = rest.partition(",")[0]
            every = f", as precision=float32 is (bakeoff list options {match['framework']})"
            msg = f"contender {text!r}: {item!r} is not of the form option=value{_how_to_quote(text) or every}"
            raise UsageError(msg)
        if option["name"] in options:
            msg = f"contender {text!r}: option {option['name']!r} is given twice"
            raise UsageError(msg)
        options[option["name"]] = _unquoted(option["value"])
        # A comma at the end promises another option.
        more, rest = option["end"] == ",", rest[option.end() :]
    return options


def _how_to_quote(text: str) -> str:
    """Return the end of a refusal: the text with the value or environment that cannot be read in quotes."""
    if re.search(r"""[=@](""|'')""", text):
        return "; an environment or a value may not be empty"
    option = re.search(r"""[:,](?P<name>[\w.-]+)=(?P<value>[^=]*[:,'"][^=]*)$""", text)
    environment = re.match(r"""(?P<framework>[^@]*)@(?P<path>.*?[:'"].*?)(?P<options>(:[\w.-]+=[^:'"]+)?)$""", text)
    if option:
        example = f"{text[: option.start('value')]}{quoted(option['value'])}"
    elif environment and not environment["path"].endswith(":"):
        example = f"{environment['framework']}@{quoted(environment['path'])}{environment['options']}"
    else:
        return ""
    return f"; an environment or a value that holds a colon, a comma or a quote stands in quotes, such as {example}"


def parse_contenders(texts: Iterable[str]) -> list[Contender]:
    """Return several contenders; the same text twice is A against A, the second with " (2)" behind its label."""
    taken: set[str] = set()
    contenders = []
    for contender in map(parse_contender, texts):
        candidates = chain([contender.label], (f"{contender.label} ({number})" for number in count(2)))
        label = next(candidate for candidate in candidates if candidate not in taken)
        taken.add(label)
        contenders.append(msgspec.structs.replace(contender, label=label))
    return contenders


def parse_values(text: str) -> list[str]:
    """Return the values between commas, such as those of `--option NAME=VALUE,VALUE`; quoted ones may hold commas.

    White space around a value is dropped, and a value that is missing is "". Raise UsageError for a stray quote.
    """
    values: list[str] = []
    rest, more = text, True
    while more:
        match = _LISTED.match(rest)
        if match is None:
            msg = f"{text!r} has a quote within a value: quote the whole value, such as {quoted(text)}"
            raise UsageError(msg)
        values.append(_unquoted(match["value"].rstrip()))
        more, rest = match["end"] == ",", rest[match.end() :]
    return values


def quoted(value: str) -> str:
    """Return a value or an environment as it is written in a contender: in double quotes, unless it needs none."""
    if _PLAIN.fullmatch(value):
        return value
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _unquoted(text: str) -> str:
    """Return what a value stands for: itself, or what its quotes hold."""
    return _ESCAPED.sub(r"\1", text[1:-1]) if text[:1] in ('"', "'") else text


def slug(label: str) -> str:
    """Return the name of a folder for a label: letters, digits, dot, equals and dash only."""
    return re.sub(r"[^\w.=]+", "-", label).strip("-")
