"""`bakeoff list`: the workloads, frameworks, options and studies that there are."""

from json import dumps
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from bakeoff.cli import parameters
from bakeoff.report.called import pasteable

if TYPE_CHECKING:
    from collections.abc import Callable

    from bakeoff.environments.declared import Framework

What = Literal["workloads", "frameworks", "options", "studies"]
Entry = dict[str, Any]


def list_what(
    what: Annotated[What | None, typer.Argument(help="Everything if not said.", show_default=False)] = None,
    *,
    json: parameters.Json = False,
) -> None:
    """List the workloads, frameworks, options or studies that there are."""
    entries: dict[str, Callable[[], list[Entry]]] = {
        "workloads": _workloads,
        "frameworks": _frameworks,
        "options": _options,
        "studies": _studies,
    }
    lines = {
        "workloads": _workload_lines,
        "frameworks": _framework_lines,
        "options": _option_lines,
        "studies": _study_lines,
    }
    if json:
        content: Any = entries[what]() if what else {name: gather() for name, gather in entries.items()}
        typer.echo(dumps(content, indent=2))
        return
    for name in [what] if what else list(entries):
        if not what:
            typer.echo(f"{name}:")
        for entry in entries[name]():
            for line in lines[name](entry):
                typer.echo(pasteable(f"  {line}" if not what else line))


def _workloads() -> list[Entry]:
    """Return every workload that has a name; one whose file cannot be used has its problem instead."""
    from bakeoff.spec.errors import BakeoffError
    from bakeoff.workloads.load import load, names

    entries: list[Entry] = []
    for name in names():
        try:
            entries.append(_workload(load(name).workload))
        except BakeoffError as error:
            entries.append({"name": name, "problem": str(error)})
    return entries


def _workload(workload: Any) -> Entry:
    """Return one workload."""
    import msgspec

    full = workload.sizes.get("full") or next(iter(workload.sizes.values()))
    return {
        "name": workload.name,
        "summary": workload.summary,
        "parameters": full.parameters,
        "sizes": msgspec.to_builtins(workload.sizes),
        "scenarios": list(workload.scenarios),
        "data": list(workload.data),
        "source": workload.source,
    }


def _workload_lines(entry: Entry) -> list[str]:
    """Return the lines that show one workload."""
    if "problem" in entry:
        return [f"{entry['name']:<20}cannot be used: {entry['problem']}"]
    sizes = [
        f"{name}: batch {size['batch_size']}" + (f", {size['parameters']:,} parameters" if size["parameters"] else "")
        for name, size in entry["sizes"].items()
    ]
    return [
        f"{entry['name']:<20}{entry['summary']}",
        f"{'':<20}{'; '.join(sizes)}",
        f"{'':<20}{', '.join(entry['scenarios'])}; data: {', '.join(entry['data'])}",
        f"{'':<20}source: {entry['source']}",
    ]


def _frameworks() -> list[Entry]:
    """Return every listed framework: where it is, or why it cannot be used. Only `bakeoff doctor` imports them."""
    from bakeoff.environments.declared import frameworks
    from bakeoff.environments.interpreters import available

    interpreters, reasons = available()
    return [
        _framework(declared, interpreters.get(name), reasons.get(name, ""))
        for name, declared in frameworks().items()
        if declared.info.listed or declared.problem
    ]


def _framework(declared: "Framework", interpreter: str | None, reason: str) -> Entry:
    """Return one framework."""
    import msgspec

    from bakeoff.environments.interpreters import versions
    from bakeoff.environments.options import supported

    info = declared.info
    return {
        "name": info.name,
        "title": info.title,
        "available": interpreter is not None,
        "interpreter": interpreter,
        "versions": versions(interpreter, info) if interpreter else {},
        "reason": reason,
        "options": {name: support.default for name, support in supported(info).items()},
        "best": msgspec.to_builtins(info.best),
    }


def _framework_lines(entry: Entry) -> list[str]:
    """Return the lines that show one framework."""
    start = f"{entry['name']:<20}{entry['title']}"
    if not entry["available"]:
        return [f"{start}: not available: {entry['reason']}"]
    versions = ", ".join(f"{name} {version}" for name, version in entry["versions"].items())
    options = ", ".join(f"{name}={value}" for name, value in entry["options"].items())
    lines = [f"{start}: {versions or 'available'}", f"{'':<20}{entry['interpreter']}", f"{'':<20}default: {options}"]
    return [*lines, *([f"{'':<20}tier=best: {best}"] if (best := _best_line(entry)) else [])]


def _best_line(entry: Entry) -> str:
    """Return the settings of the tier best, each with the devices and optimisers that it is for."""
    settings = []
    for setting in entry["best"]:
        where = ", ".join([*setting["devices"], *setting["optimizers"]])
        settings.append(f"{setting['option']}={setting['value']}" + (f" ({where})" if where else ""))
    return ", ".join(settings)


def _options() -> list[Entry]:
    """Return every option with the values and the default that each framework has."""
    from bakeoff.environments.declared import frameworks
    from bakeoff.environments.options import possible, supported
    from bakeoff.spec.options import OPTIONS, WORKER_OPTIONS

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


def _option_lines(entry: Entry) -> list[str]:
    """Return the lines that show one option."""
    supports = [
        f"{'':<20}{name:<12}{support['possible']} (default: {support['default']})"
        for name, support in entry["frameworks"].items()
    ]
    return [f"{entry['name']:<20}{entry['meaning']}", *supports]


def _studies() -> list[Entry]:
    """Return every study of published figures."""
    from bakeoff.study.published import load, names

    return [
        {
            "name": study.id,
            "title": study.title,
            "document": study.document.citation,
            "number": study.document.number,
            "hardware": [machine.hardware for machine in study.machines],
            "comparisons": [declared.name for declared in study.comparisons],
            "scaled_minutes": study.minutes,
        }
        for study in map(load, names())
    ]


def _study_lines(entry: Entry) -> list[str]:
    """Return the lines that show one study."""
    return [
        f"{entry['name']:<20}{entry['title']}",
        f"{'':<20}{entry['document']}; {entry['number']}",
        f"{'':<20}published on {'; '.join(entry['hardware'])}",
        f"{'':<20}scaled down about {entry['scaled_minutes']:g} minutes on two calm cores",
    ]
