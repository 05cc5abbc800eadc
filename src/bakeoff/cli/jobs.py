"""The words of a command as jobs of Slurm: on this machine what there is to run, and on a node what one of it means."""

from __future__ import annotations

import re
import shlex
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from bakeoff.cli.flags import as_flags, given_in
from bakeoff.cluster.keys import check_no_keys
from bakeoff.cluster.plans import MOST_ELEMENTS, Element
from bakeoff.spec.errors import UnknownNameError, UsageError
from bakeoff.spec.options import MOST_DIGITS, OPTIONS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bakeoff.cli.sweep import SweepOptions
    from bakeoff.spec.published import Reproduces
    from bakeoff.spec.study import Point

KINDS = ("run", "use-case", "reproduce")
"""Commands whose comparisons can be jobs."""

REFUSED = (
    *("results", "resume", "dry_run", "json", "max_batch", "memory", "fail_if_slower"),
    *("estimate", "launcher", "profile"),
)
"""Options of theirs that jobs have in another way, or that are about one comparison in one process."""


MOST_LISTED = 8
"""Values of an option that a title has; of more the first two and the last."""


class Jobs(NamedTuple):
    """What the words of a command stand for."""

    name: str
    """The start of its folder's name."""
    title: str
    elements: list[Element]
    reproduces: Reproduces | None = None


def jobs_of(words: Sequence[str], *, apart: bool = False, on_gpus: bool = False) -> Jobs:
    """Return the comparisons of a command, each an element; raise UsageError for what cannot be jobs.

    `apart`: each contender in a comparison of its own. `on_gpus`: the jobs ask for GPUs. Nothing is looked up that a
    node may have and this machine has not.
    """
    from bakeoff.race.checks import check_text

    check_no_keys(words, "word")
    check_text(list(words))
    kind, rest = words[0] if words else "", list(words[1:])
    if kind not in KINDS:
        other = "--benchmark and --use-case"
        raise UnknownNameError("command", kind, KINDS, other)
    params = _parsed(kind, rest)
    if kind == "reproduce":
        if apart:
            msg = "--split frameworks takes one comparison apart, and reproduce holds contenders against a document"
            raise UsageError(msg)
        return _of_document(params, rest, on_gpus=on_gpus)
    return _of_race(kind, params, rest, apart=apart)


def point_of(element: Element) -> Point:
    """Return the point of an element as this machine understands it; raise UsageError for what it cannot have."""
    from bakeoff.cli import run, sweep, usecase
    from bakeoff.spec.study import Point
    from bakeoff.study.sweep import alone

    kind, *rest = element.words
    params = _parsed(kind, rest)
    if element.point is not None:
        return _documented(params, element)
    if kind == "use-case":
        params = usecase.meant(params)
    asked = sweep.read(*(params[name] for name in ("batch_size", "device", "threads", "precision", "option")))
    request = run.requested(params, asked, element.words)
    if not element.coordinates:
        return Point(title=element.title, request=request)
    return alone(request, element.coordinates)


def _parsed(kind: str, words: Sequence[str]) -> dict[str, Any]:
    """Return a command's parameters by their names; typer ends the process for words that it does not have."""
    from bakeoff.cli.app import app

    whole: Any = typer.main.get_command(app)
    context = whole.commands[kind].make_context(f"bakeoff {kind}", list(words))
    refused = as_flags(name for name in given_in(context) if name in REFUSED)
    if refused:
        msg = f"{', '.join(refused)} cannot be an option of a job: leave it out of the command, or give it to `slurm`"
        raise UsageError(msg)
    params: dict[str, Any] = context.params
    return params


# --- Races and sweeps -----------------------------------------------------------------------------------------------


def _of_race(kind: str, params: dict[str, Any], rest: list[str], *, apart: bool) -> Jobs:
    """Return the comparison of `run` or `use-case`, or those of a sweep."""
    from bakeoff.cli import sweep

    named = _named(kind, params)
    asked = sweep.read(*(params[name] for name in ("batch_size", "device", "threads", "precision", "option")))
    count = prod(len(one.values) for one in asked.several)
    if count > MOST_ELEMENTS:
        msg = f"{count:,} combinations are more than Slurm keeps; valid: up to {MOST_ELEMENTS:,}"
        raise UsageError(msg)
    _check_options(asked, named.contenders)
    if apart:
        return _apart(kind, rest, named, is_sweep=bool(asked.several))
    elements = []
    for values in product(*(one.values for one in asked.several)):
        words = rest
        for one, value in zip(asked.several, values, strict=True):
            words = sweep.with_value(words, one, value)
        place = {one.name: value for one, value in zip(asked.several, values, strict=True)}
        title = ", ".join(f"{name} {value}" for name, value in place.items()) or named.title
        elements.append(_element(title, [kind, *words], named, place))
    over = " and ".join(f"{one.name} {_listed(one.values)}" for one in asked.several)
    title = f"{named.title} over {over}" if over else named.title
    return Jobs(f"{_stem(named.title)}-{'sweep' if over else 'slurm'}", title, elements)


def _check_options(asked: SweepOptions, contenders: Sequence[str]) -> None:
    """Raise UsageError for options that cannot be, as declared: none of the frameworks has to be installed here.

    As in a sweep, a contender that lacks a combination is left out of it: one that lacks all of them is a mistake, and
    so is a combination that no contender can have. Those that nobody has named may lack all.
    """
    from bakeoff.environments.declared import frameworks
    from bakeoff.study.sweep import BATCH_SIZE

    named = contenders or [name for name, one in frameworks().items() if one.info.listed and not one.problem]
    places = [
        {one.name: value for one, value in zip(asked.several, values, strict=True) if one.name in OPTIONS}
        for values in product(*(one.values for one in asked.several))
    ]
    refused = [[_refusal(text, asked.fields["options"] | place) for text in named] for place in places]
    whole = [*refused, *(zip(*refused, strict=True) if contenders else ())]
    own = [one for one in asked.several if one.name not in OPTIONS and one.name != BATCH_SIZE]  # of single frameworks
    whole += [tuple(_refusal(text, {one.name: value}) for text in named) for one in own for value in one.values]
    for errors in whole:
        if errors[0] is not None and all(errors):
            # Who knows the option says more than who does not.
            raise min(filter(None, errors), key=lambda one: isinstance(one, UnknownNameError))


def _refusal(text: str, options: dict[str, str]) -> UsageError | None:
    """Return why a contender cannot have options, as its framework declares them; None where it can."""
    from bakeoff.environments.declared import framework
    from bakeoff.environments.options import resolve_options
    from bakeoff.spec.contender import parse_contender

    contender = parse_contender(text)
    try:
        resolve_options(framework(contender.framework).info, contender, options, 1)
    except UsageError as error:
        return error
    return None


def _listed(values: Sequence[str]) -> str:
    """Return values as a title has them: thousands by the first and the last."""
    few = values if len(values) <= MOST_LISTED else (values[0], values[1], "...", values[-1])
    return ", ".join(few)


class _NamedRun(NamedTuple):
    """What a command's words name, without being looked up."""

    title: str
    workload: str
    contenders: list[str]
    devices: int


def _named(kind: str, params: dict[str, Any]) -> _NamedRun:
    """Return what is named; raise UnknownNameError for a workload, framework or use case that is not there."""
    from bakeoff.cli import parameters, usecase
    from bakeoff.environments.declared import framework
    from bakeoff.spec.contender import parse_contender
    from bakeoff.workloads.load import load

    contenders, workload = list(params["contenders"] or ()), str(params.get("workload", ""))
    devices = max(parameters.counts(params["devices"], "--devices"), default=1)
    title = ""
    if kind == "use-case":
        number, benchmark = usecase.looked_up(params)
        workload = number.workload_of(benchmark)
        contenders = contenders or usecase.pair()
        devices = max(devices, usecase.FEWEST if number.several and params["devices"] is None else 1)
        title = f"{params['benchmark']}, use case {params['number']}"
    loaded = load(workload)
    for text in contenders:
        framework(parse_contender(text).framework)
    return _NamedRun(title or loaded.workload.name, workload, contenders, max(devices, _most_devices(contenders)))


def _most_devices(contenders: Sequence[str]) -> int:
    """Return the most devices that contenders name; what is no number is refused where it is looked up."""
    from bakeoff.spec.contender import parse_contender

    named = [parse_contender(text).options.get("devices", "1") for text in contenders]
    return max([1, *(int(text) for text in named if text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS)])


def _apart(kind: str, rest: list[str], named: _NamedRun, *, is_sweep: bool) -> Jobs:
    """Return a comparison for each contender alone; raise UsageError without a contender, or for several points."""
    if is_sweep or not named.contenders:
        lacks = "one value of each option" if is_sweep else "the contenders"
        msg = f"--split frameworks takes one comparison apart: name {lacks}"
        raise UsageError(msg)
    others = [word for word in rest if word not in named.contenders]
    elements = [
        _element(text, [kind, *others, text], named._replace(contenders=[text]), {}) for text in named.contenders
    ]
    return Jobs(f"{_stem(named.title)}-split", named.title, elements)


def _element(title: str, words: list[str], named: _NamedRun, place: dict[str, str]) -> Element:
    """Return one comparison as an element."""
    return Element(
        title=title,
        words=words,
        coordinates=place,
        workload=named.workload,
        contenders=named.contenders,
        devices=named.devices,
    )


def script_names(jobs: Jobs) -> list[str]:
    """Return the pipeline's names of scripts, <framework>_<benchmark>_<use_case_number>.sh, one for each contender."""
    found = []
    for element in jobs.elements:
        kind, *rest = element.words
        params = _parsed(kind, rest)
        of = f"{params['benchmark']}_{params['number']}" if kind == "use-case" else _stem(element.workload)
        found.append(f"{_stem(element.title)}_{of}.sh")
    return found


def _stem(text: str) -> str:
    """Return a text as the name of a file: letters, digits and dashes."""
    return re.sub(r"[^A-Za-z0-9]+", "-", text.removesuffix(".py")).strip("-")


# --- Documents ------------------------------------------------------------------------------------------------------


def _of_document(params: dict[str, Any], rest: list[str], *, on_gpus: bool) -> Jobs:
    """Return the comparisons of a document's published figures."""
    from bakeoff.cli.everything import ALL
    from bakeoff.environments.builds import NVIDIA, PROCESSOR
    from bakeoff.spec.published import Reproduces
    from bakeoff.study.published import load

    if params["study"] == ALL:
        msg = "all are several studies, and each is one of its own: bakeoff reproduce all --launcher slurm"
        raise UsageError(msg)
    published = load(params["study"])
    device = params["device"] or (NVIDIA if on_gpus else PROCESSOR)
    words = ["reproduce", *rest, *([] if params["device"] else ["--device", device])]
    full = params["full"]
    wanted = [declared for declared in published.comparisons if full or declared.scaled]
    contenders = list(params["contenders"] or [row.contender for row in published.rows])
    elements = [
        Element(
            title=one.name,
            words=words,
            point=number,
            workload=one.workload,
            contenders=contenders,
            devices=_most_devices([*contenders, *one.contenders.values()]),
        )
        for number, one in enumerate(wanted)
    ]
    held = Reproduces(published=published, scaled=not full, device=device)
    return Jobs(published.id, published.full_title(), elements, held)


def _documented(params: dict[str, Any], element: Element) -> Point:
    """Return one of a document's comparisons; raise UsageError where nobody can race in it here."""
    from bakeoff.cli import parameters
    from bakeoff.environments.builds import check_device
    from bakeoff.study.published import load
    from bakeoff.study.reproduction import declare

    check_device(params["device"])
    budget = params["budget"]
    study = declare(
        load(params["study"]),
        full=params["full"],
        device=params["device"],
        contenders=params["contenders"] or (),
        seed=params["seed"],
        budget_s=None if budget is None else parameters.seconds(budget, "--budget"),
        command=shlex.join(["bakeoff", *element.words]),
    )
    point = next((one for one in study.points if one.title == element.title), None)
    if point is None:
        msg = f"none of the rows of {element.title} can race here; `bakeoff list studies {study.name}` has them"
        raise UsageError(msg)
    return point
