"""What `bakeoff list` tells, as objects: workloads, frameworks, options and studies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from bakeoff.environments.declared import framework, frameworks
from bakeoff.environments.interpreters import available, made_for, resolve, versions_beside
from bakeoff.environments.options import possible, supported
from bakeoff.spec.contender import Contender
from bakeoff.spec.errors import BakeoffError, UnavailableError, UnknownNameError
from bakeoff.spec.optimizer import describe
from bakeoff.spec.options import OPTIONS, WORKER_OPTIONS

if TYPE_CHECKING:
    from collections.abc import Callable

    from bakeoff.environments.declared import Framework

Entry = dict[str, Any]


def workloads() -> list[Entry]:
    """Return every workload that has a name; one whose file cannot be used has its problem instead."""
    from bakeoff.workloads.load import names

    return [_workload(name) for name in names()]


def _workload(name: str) -> Entry:
    """Return one workload, by its name or its file, or its problem."""
    from bakeoff.workloads.load import load

    try:
        workload = load(name).workload
    except BakeoffError as error:
        return {"name": name, "problem": str(error)}
    full = workload.sizes.get("full") or next(iter(workload.sizes.values()))
    return {
        "name": name if name.endswith(".py") else workload.name,
        "summary": workload.summary,
        "parameters": full.parameters,
        "sizes": msgspec.to_builtins(workload.sizes),
        "scenarios": list(workload.scenarios),
        "optimizer": describe(workload.optimizer) if workload.optimizer else None,
        "data": list(workload.data),
        "source": workload.source,
    }


def all_frameworks() -> list[Entry]:
    """Return every listed framework: where it is, or why it cannot be used. Only `bakeoff doctor` imports them."""
    interpreters, reasons = available()
    return [
        _framework(declared, interpreters.get(name), reasons.get(name, ""))
        for name, declared in frameworks().items()
        if declared.info.listed or declared.problem
    ]


def _framework(declared: Framework, interpreter: str | None, reason: str) -> Entry:
    """Return one framework."""
    info = declared.info
    return {
        "name": info.name,
        "title": info.title,
        "available": interpreter is not None,
        "interpreter": interpreter,
        "versions": versions_beside(interpreter, info) if interpreter else {},
        "reason": reason,
        "made_for": {device: path for device in info.builds if (path := made_for(info, device))},
        "options": {name: support.default for name, support in supported(info).items()},
        "best": msgspec.to_builtins(info.best),
    }


def options() -> list[Entry]:
    """Return every option with the values and the default that each framework has."""
    listed = {name: supported(declared.info) for name, declared in frameworks().items() if declared.info.listed}
    return [
        {
            "name": option.name,
            "meaning": option.meaning,
            "values": list(option.values),
            "frameworks": {
                name: {"possible": possible(options[option.name]), "default": options[option.name].default}
                for name, options in listed.items()
                if option.name in options
            },
        }
        for option in (OPTIONS | WORKER_OPTIONS).values()
    ]


def options_of(name: str) -> list[Entry]:
    """Return the options that one framework has, its own among them, with its values and its default."""
    known = OPTIONS | WORKER_OPTIONS
    return [
        {
            "name": option,
            "meaning": known[option].meaning if option in known else support.meaning,
            "values": list(known[option].values) if option in known else [],
            "frameworks": {name: {"possible": possible(support), "default": support.default}},
        }
        for option, support in supported(framework(name).info).items()
    ]


def studies() -> list[Entry]:
    """Return every study of published figures."""
    from bakeoff.study.published import names

    return [_study(name) for name in names()]


def _study(name: str) -> Entry:
    """Return one study."""
    from bakeoff.study.published import SHARED, load

    study = load(name)
    return {
        "name": study.id,
        "also": [shared for shared, of in SHARED.items() if of == study.id],
        "title": study.title,
        "source": study.source,
        "document": study.document.citation,
        "number": study.document.number,
        "hardware": [machine.hardware for machine in study.machines],
        "comparisons": [declared.name for declared in study.comparisons],
        "figures": sum(len(figure.values) for declared in study.comparisons for figure in declared.figures),
        "absent": [one.name for one in study.absent],
        "scaled_minutes": study.minutes,
    }


GATHER: dict[str, Callable[[], list[Entry]]] = {
    "workloads": workloads,
    "frameworks": all_frameworks,
    "options": options,
    "studies": studies,
}


def named(what: str, name: str) -> Any:
    """Return the entry of this name; of options, with a framework's name, the list of all that it has.

    A workload may be a file. Raises UnknownNameError with the names that there are, and ModelFileError.
    """
    if what == "frameworks":
        return _named_framework(name)
    if what == "options":
        return _named_option(name)
    from bakeoff.study import published
    from bakeoff.workloads import load

    of, known = (_workload, load.names()) if what == "workloads" else (_study, published.known_names())
    if what == "workloads" and name.endswith(".py"):
        load.load(name)  # what is wrong with a file that is named is an error
        return of(name)
    if name in known:
        return of(name)
    raise UnknownNameError({"workloads": "workload", "studies": "study"}[what], name, known)


def _named_option(name: str) -> Any:
    """Return one option, or those of the framework of this name."""
    found = {entry["name"]: entry for entry in options()}
    if name in found:
        return found[name]
    if name in frameworks():
        return options_of(name)
    kind, others = "option or framework", [other for other, one in frameworks().items() if one.info.listed]
    raise UnknownNameError(kind, name, [*found, *others])


def _named_framework(name: str) -> Entry:
    """Return one framework, also one that races only when it is named."""
    declared = framework(name)
    try:
        return _framework(declared, resolve(Contender(framework=name, label=name), declared), "")
    except UnavailableError as error:
        return _framework(declared, None, str(error))
