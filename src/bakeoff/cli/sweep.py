"""Options with several values, on the command line of `bakeoff run`: a study with a comparison for each combination."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from bakeoff.cli import FAILED, command_of
from bakeoff.spec.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bakeoff.spec.request import Request
    from bakeoff.spec.study import Study


class Words(NamedTuple):
    """An option as it was written."""

    flag: str
    name: str
    """Of the axis, if it has several values."""
    values: tuple[str, ...]
    text: str
    """The word behind the flag."""


class SweepOptions(NamedTuple):
    """What all options that may have several values say."""

    fields: dict[str, Any]
    """Of a request, by those with one value each."""
    several: tuple[Words, ...]
    """Those with several values, in the order of the help."""


def read(
    batch_sizes: str | None,
    device: str | None,
    threads: str | None,
    precision: str | None,
    options: Sequence[str] | None,
) -> SweepOptions:
    """Read them; raise UsageError for a value that is missing, wrong or given twice."""
    from bakeoff.study.sweep import BATCH_SIZE, number, read_values

    named = (("--batch-size", BATCH_SIZE, batch_sizes), ("--device", "device", device))
    more = (("--threads", "threads", threads), ("--precision", "precision", precision))
    words = [Words(flag, name, read_values(text, flag), text) for flag, name, text in named + more if text is not None]
    words += [_option(text) for text in options or ()]
    names = [one.name for one in words]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        msg = f"{twice} is given twice; several values have commas between"
        raise UsageError(msg)
    single = {one.name: one.values[0] for one in words if len(one.values) == 1}
    batch_size, count = single.pop(BATCH_SIZE, None), single.pop("threads", None)
    fields = {
        "batch_size": None if batch_size is None else number(batch_size, BATCH_SIZE),
        "threads": None if count is None else number(count, "threads"),
        "options": single,
    }
    return SweepOptions(fields=fields, several=tuple(one for one in words if len(one.values) > 1))


def _option(text: str) -> Words:
    """Read NAME=VALUE[,VALUE...]."""
    from bakeoff.study.sweep import read_values

    name, equals, values = text.partition("=")
    if not (name and equals and values):
        msg = f"--option {text!r} is not of the form NAME=VALUE or NAME=VALUE,VALUE"
        raise UsageError(msg)
    return Words("--option", name, read_values(values, f"--option {name}"), text)


def run(request: Request, several: Sequence[Words], *, json: bool) -> None:
    """Race every combination and show the study; it has ended well if every point has its answer."""
    from bakeoff.cli import studies

    study = study_of(request, several)
    outcome = studies.race(study, request.results, resume=request.resume, json=json)
    if not all(point.outcome is not None and point.outcome.is_answered for point in outcome.points):
        raise typer.Exit(FAILED)


def study_of(request: Request, several: Sequence[Words]) -> Study:
    """Return the study that races every combination; raise UsageError for what cannot be."""
    from bakeoff.study.sweep import Axis, sweep_of

    axes = [Axis(name=words.name, values=words.values) for words in several]
    return _with_commands(sweep_of(request, axes), several, sys.argv[1:])


def _with_commands(study: Study, several: Sequence[Words], arguments: Sequence[str]) -> Study:
    """Return the study with each point's own command: the words of the whole with one value for several."""
    import msgspec

    points = []
    for point in study.points:
        words = list(arguments)
        for one in several:
            words = with_value(words, one, point.coordinates[one.name])
        request = msgspec.structs.replace(point.request, command=command_of(words))
        points.append(msgspec.structs.replace(point, request=request))
    return msgspec.structs.replace(study, points=points)


def with_value(words: Sequence[str], several: Words, value: str) -> list[str]:
    """Put one value in the place of several, whether they stand behind their flag or are joined to it by "="."""
    from bakeoff.spec.contender import quoted

    new = f"{several.name}={quoted(value)}" if several.flag == "--option" else quoted(value)
    places = {several.text: new, f"{several.flag}={several.text}": f"{several.flag}={new}"}
    return [places.get(word, word) for word in words]
