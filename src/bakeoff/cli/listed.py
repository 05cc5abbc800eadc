"""What `bakeoff list` prints: a summary that fits a screen, a line for each name, and the details of one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bakeoff.cli import entries
from bakeoff.cli.columns import columns, names, wrapped
from bakeoff.environments.interpreters import parted
from bakeoff.report.units import rounded
from bakeoff.spec.options import DEFAULT, FRAMEWORK

if TYPE_CHECKING:
    from collections.abc import Callable

    from bakeoff.cli.entries import Entry

INDENT = "  "

GROUPS = {"document": "the documents, table by table", "others": "published by others, to see whether you land there"}
"""Headings of the studies by where their figures are from."""


def summary() -> list[str]:
    """Return the names of all there is, and how to see more of each: 24 lines of 80 columns hold it."""
    found = {what: gather() for what, gather in entries.GATHER.items()}
    lines = []
    for what, all_of_them in found.items():
        one = {"options": "FRAMEWORK"}.get(what, "NAME")
        lines += columns([[what, f"more: bakeoff list {what} [{one}]"]])
        if what == "frameworks":
            lines += columns([[one["name"], _where(one)] for one in all_of_them], indent=INDENT)
        elif what == "studies":
            lines += _study_names(all_of_them)
        else:
            lines += names((one["name"] for one in all_of_them), indent=INDENT)
    return [*lines, "race some:  bakeoff run WORKLOAD FRAMEWORK FRAMEWORK ..."]


def _where(entry: Entry) -> str:
    """Return the version of a framework, or how to get it."""
    if not entry["available"]:
        why, command = parted(str(entry["reason"]))
        return f"{why.partition(';')[0]}: {command}" if command else why
    found = [f"{name} {version}" for name, version in entry["versions"].items()]
    others = f", and for {', '.join(entry['made_for'])}" if entry["made_for"] else ""
    return f"{found[0] if found else 'available'}{others}"


def _study_names(studies: list[Entry]) -> list[str]:
    """Return the documents' studies by their names, and the others by their number: there are too many for a screen."""
    others = [one for one in studies if one["source"] == "others"]
    own = [one["name"] for one in studies if one["source"] == "document"]
    return [*names(own, indent=INDENT), f"{INDENT}and {len(others)} of results that others published"]


def _default(value: str) -> str:
    """Return an option's default in words: "default" says no more than that it is left open."""
    return "left to the framework" if value in (DEFAULT, FRAMEWORK) else value


# --- A line for each ----------------------------------------------------------------------------------------------


def _workloads() -> list[str]:
    """Return a line for each workload."""
    return columns(
        [
            [one["name"], *_size(one), one.get("summary") or f"cannot be used: {one['problem']}"]
            for one in entries.GATHER["workloads"]()
        ]
    )


def _size(entry: Entry) -> list[str]:
    """Return how many parameters a workload has."""
    count = entry.get("parameters")
    return [f"{rounded(count / 1e6)} M" if count else ""]


def _frameworks() -> list[str]:
    """Return a line for each framework."""
    return columns([[one["name"], one["title"], _where(one)] for one in entries.GATHER["frameworks"]()])


def _options() -> list[str]:
    """Return a line for each option."""
    return columns([[one["name"], one["meaning"]] for one in entries.GATHER["options"]()])


def _studies() -> list[str]:
    """Return a line for each study, below where its figures are from."""
    every = entries.GATHER["studies"]()
    lines: list[str] = []
    for source, heading in GROUPS.items():
        mine = [one for one in every if one["source"] == source]
        rows = [[one["name"], f"{one['scaled_minutes']:g} min", one["title"]] for one in mine]
        rows += [[also, "", f"measured by {one['name']}"] for one in mine for also in one["also"]]
        lines += [*([""] if lines else []), f"{heading}:", *columns(sorted(rows))]
    return lines


SHORT: dict[str, Callable[[], list[str]]] = {
    "workloads": _workloads,
    "frameworks": _frameworks,
    "options": _options,
    "studies": _studies,
}


# --- One by its name ----------------------------------------------------------------------------------------------


def details(what: str, name: str) -> list[str]:
    """Return all that is known of one; raise UnknownNameError for a name that there is not."""
    found = entries.named(what, name)
    if what == "options" and isinstance(found, list):
        return [line for entry in found for line in _option_of(entry, name)]
    of: dict[str, Callable[[Any], list[str]]] = {
        "workloads": _workload,
        "frameworks": _framework,
        "options": _option,
        "studies": _study,
    }
    return of[what](found)


def _workload(entry: Entry) -> list[str]:
    """Return one workload's sizes, scenarios, data and source."""
    if "problem" in entry:
        return wrapped(f"{entry['name']} cannot be used: {entry['problem']}")
    sizes = [
        [
            f"{INDENT}{name}",
            f"batch {size['batch_size']}",
            f"{size['parameters']:,} parameters" if size["parameters"] else "",
        ]
        for name, size in entry["sizes"].items()
    ]
    facts = [
        ["scenarios", ", ".join(entry["scenarios"])],
        *([["optimiser", entry["optimizer"]]] if entry["optimizer"] else []),
        ["data", ", ".join(entry["data"])],
        ["source", entry["source"]],
        ["race it", f"bakeoff run {entry['name']}"],
    ]
    return [*wrapped(f"{entry['name']}: {entry['summary']}"), "sizes", *columns(sizes), *columns(facts)]


def _framework(entry: Entry) -> list[str]:
    """Return one framework's packages, interpreter and fastest settings."""
    packages = ", ".join(f"{name} {version}" for name, version in entry["versions"].items())
    facts = [
        ["packages", packages or ("known to its interpreter" if entry["available"] else "none")],
        ["interpreter", entry["interpreter"] or entry["reason"]],
        *([f"for {device}", path] for device, path in entry["made_for"].items()),
        ["options", f"bakeoff list options {entry['name']}"],
    ]
    if best := _best(entry):
        facts.append(["tier=best", best])
    return [entry["title"], *columns(facts, indent=INDENT)]


def _best(entry: Entry) -> str:
    """Return the settings of the tier best, each with the devices and optimisers that it is for."""
    settings = []
    for setting in entry["best"]:
        where = ", ".join([*setting["devices"], *setting["optimizers"]])
        settings.append(f"{setting['option']}={setting['value']}" + (f" ({where})" if where else ""))
    return ", ".join(settings)


def _option(entry: Entry) -> list[str]:
    """Return what an option means, and what each framework makes of it."""
    supports = [
        [name, support["possible"], f"default: {_default(support['default'])}"]
        for name, support in entry["frameworks"].items()
    ]
    return [*wrapped(f"{entry['name']}: {entry['meaning']}"), *columns(supports, indent=INDENT)]


def _option_of(entry: Entry, name: str) -> list[str]:
    """Return one option as one framework has it."""
    support = entry["frameworks"][name]
    start = f"{name}:{entry['name']}={support['possible']}; default: {_default(support['default'])}"
    return [*wrapped(start, indent=INDENT), *wrapped(entry["meaning"], INDENT + INDENT)]


def _study(entry: Entry) -> list[str]:
    """Return what a study reproduces, and how long it takes."""
    facts = [
        ["document", entry["document"]],
        ["figures", entry["number"] if entry["figures"] else f"{entry['number']}; none as numbers"],
        ["published on", "; ".join(entry["hardware"])],
        ["comparisons", ", ".join(entry["comparisons"])],
        *([["not here", "; ".join(entry["absent"])]] if entry["absent"] else []),
        ["scaled down", f"about {entry['scaled_minutes']:g} minutes on two calm cores"],
        ["run it", f"bakeoff reproduce {entry['name']}"],
        *(["or as", f"bakeoff reproduce {also}"] for also in entry["also"]),
    ]
    return [*wrapped(f"{entry['name']}: {entry['title']}"), *columns(facts, indent=INDENT)]
