"""Settings: what was asked and in force, what differs although nobody asked for it; machine and versions beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from bakeoff.judge.ledger import ledger, mismatches
from bakeoff.report.page import Line, Section, Subject, Table
from bakeoff.report.sections.tiers import preset_table
from bakeoff.report.units import UNKNOWN, listed, size
from bakeoff.spec.options import LIBRARIES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from bakeoff.judge.ledger import Entry, Value
    from bakeoff.judge.outcome import ContenderOutcome, Outcome

_CHOSEN = {"heuristic": "heuristics", "profiling": "trying them", "fixed": "taking deterministic ones only"}
"""What the values of conv_algorithm are in a sentence."""

_WHY = {"same": "", "asked": "as asked", "nature": "by the frameworks' nature", "mismatch": "nobody asked for it"}


def settings_table(outcome: Outcome) -> Table:
    """Return what was asked and what was in force, contenders side by side; what nobody asked for is marked."""
    contenders = outcome.contenders
    asked = _side_by_side(contenders, lambda one: one.plan.contender.options)
    lines = [Line([f"asked: {name}", *cells, ""]) for name, *cells in asked]
    for entry in ledger(contenders):
        cells = [entry.key, *(_value(entry, one.label) for one in contenders), _WHY[entry.kind]]
        lines.append(Line(cells, marked=entry.kind == "mismatch"))
    return Table(["setting", *(one.label for one in contenders), "differs"], lines, words=len(contenders) + 2)


def _value(entry: Entry, label: str) -> str:
    """Return one contender's value of a setting; empty where it has none."""
    if label not in entry.values:
        return ""
    value = entry.values[label]
    return UNKNOWN if value is None else str(value)


def _side_by_side(
    contenders: list[ContenderOutcome], read: Callable[[ContenderOutcome], Mapping[str, Value]]
) -> list[list[str]]:
    """Return the cells of one line for each name that any contender has."""
    names = dict.fromkeys(name for one in contenders for name in read(one))
    values = {name: [read(one).get(name, "") for one in contenders] for name in names}
    return [[name, *(UNKNOWN if value is None else str(value) for value in cells)] for name, cells in values.items()]


def _cautions(outcome: Outcome) -> list[str]:
    """Return every setting that differs although nobody asked for that, and variables that change what runs.

    What was asked for and changes nothing comes first.
    """
    found = list(outcome.comparison.notices)
    found += [_mismatch(entry, outcome) for entry in mismatches(outcome.contenders)]
    variables = [entry for entry in ledger(outcome.contenders) if entry.origin == "variable"]
    found += [_of_some(entry) for entry in variables if entry.kind == "nature"]
    found += [_OTHER_LIBRARIES for entry in variables if entry.key == LIBRARIES]
    found += [
        f"{one.label}: a part of its batch lies in the memory of the host, from where every step copies it to the GPU."
        for one in outcome.contenders
        if one.settings.get("batch_on_gpu") is False
    ]
    return found + _algorithms(outcome)


_OTHER_LIBRARIES = (
    f"{LIBRARIES} leads to libraries of CUDA, which may be loaded in place of those that the environment's packages "
    "have: their versions are then not those that are told. Unset it."
)


def _of_some(entry: Entry) -> str:
    """Return the sentence on a variable that means nothing to the other contenders."""
    (value, *_) = entry.values.values()
    return f"{entry.key} is set in the environment and counts for {listed(entry.values)} alone: {value}."


def _algorithms(outcome: Outcome) -> list[str]:
    """Return that contenders choose algorithms of convolutions in different ways, each by its own default."""
    work = outcome.comparison.work
    if work is not None and work.least_macs == work.macs:
        return []  # Only a convolution over several points can be computed with fewer multiplications.
    entries = [
        entry for entry in ledger(outcome.contenders) if entry.key == "conv_algorithm" and entry.kind == "nature"
    ]
    ways = [
        listed(
            f"{label} by {_CHOSEN.get(str(value), value)}" for label, value in entry.values.items() if value is not None
        )
        for entry in entries
    ]
    return [
        f"Algorithms of convolutions are chosen in different ways, {way}, each by its framework's own default: the "
        "ratio holds that, too. With conv_algorithm=profiling every contender tries them."
        for way in ways
    ]


def _mismatch(entry: Entry, outcome: Outcome) -> str:
    """Return the sentence on one of them."""
    values = listed(f"{label} {value}" for label, value in entry.values.items() if value is not None)
    if entry.origin == "variable":
        return (
            f"{entry.key} is set in the environment and does not count for all contenders alike: {values}. Unset it, "
            "or name only contenders for which it counts."
        )
    options = {one.label: one.plan.contender.options for one in outcome.contenders}
    wanted = [f"{label} {options[label][entry.key]}" for label in entry.strays if entry.key in options[label]]
    if wanted:
        return f"{entry.key} is not what it was to be: {values} in force, where {listed(wanted)} was set."
    return f"{entry.key} differs although nobody asked for that: {values}."


def _overridden(contender: ContenderOutcome) -> list[str]:
    """Return which variables of the user's environment did not count for a contender; nothing where all did."""
    if not contender.overridden:
        return []
    names = listed(f"{name}={value}" for name, value in sorted(contender.overridden.items()))
    return [f"{contender.label}: {names} in the environment did not count: bakeoff sets it for all alike."]


def _sections(outcome: Outcome) -> list[Section]:
    """Return the fold with all settings."""
    notes = ["Read back from each framework after its run; differences that nobody asked for are marked."]
    notes += [said for one in outcome.contenders for said in _overridden(one)]
    return [
        Section(kind="fold", title="Settings", notes=notes, tables=[settings_table(outcome), preset_table(outcome)])
    ]


def _data(outcome: Outcome) -> dict[str, Any]:
    """Return every setting, contenders side by side."""
    return {"ledger": [msgspec.to_builtins(entry) for entry in ledger(outcome.contenders)]}


def _fields(contender: ContenderOutcome) -> dict[str, Any]:
    """Return what one contender was asked for, and what was in force."""
    plan = contender.plan.contender
    return {
        "label": contender.label,
        "framework": plan.framework,
        "options": plan.options,
        "settings": contender.settings,
        "inherited": contender.inherited,
    }


SETTINGS = Subject(sections=_sections, cautions=_cautions, data=_data, fields=_fields)


# --- The environment ----------------------------------------------------------------------------------------------


def machine_table(outcome: Outcome) -> Table:
    """Return the machine's facts."""
    facts = outcome.comparison.machine.items()
    names = [name.removesuffix("_bytes").replace("_", " ") for name, _ in facts]
    lines = [Line([shown, _fact(name, value)]) for shown, (name, value) in zip(names, facts, strict=True)]
    return Table(["machine", ""], lines, words=2)


def _fact(name: str, value: Value) -> str:
    """Return a fact with its unit."""
    if value is None:
        return UNKNOWN
    return size(int(value)) if name.endswith("_bytes") and isinstance(value, int | float) else str(value)


def version_table(outcome: Outcome) -> Table:
    """Return Python and packages, contenders side by side."""
    contenders = outcome.contenders
    python = Line(["Python", *(one.python or UNKNOWN for one in contenders)])
    packages = [Line(cells) for cells in _side_by_side(contenders, lambda one: one.versions)]
    return Table(["package", *(one.label for one in contenders)], [python, *packages], words=len(contenders) + 1)


def begun(outcome: Outcome) -> str:
    """Return when and by what the comparison was made, and of what it was made."""
    comparison = outcome.comparison
    return (
        f"bakeoff {comparison.bakeoff}, comparison {comparison.id}, begun {comparison.created_at}. "
        f"Data: {comparison.data.source}, SHA-256 {comparison.data.sha256[:12]}; "
        f"workload {comparison.workload.name}, SHA-256 {comparison.workload_sha256[:12]}."
    )


def _environment(outcome: Outcome) -> list[Section]:
    """Return the fold."""
    tables = [machine_table(outcome), version_table(outcome)]
    return [Section(kind="fold", title="Environment", notes=[begun(outcome)], tables=tables)]


def _versions(contender: ContenderOutcome) -> dict[str, Any]:
    """Return a contender's versions."""
    return {"versions": contender.versions, "python": contender.python}


ENVIRONMENT = Subject(
    sections=_environment, data=lambda outcome: {"machine": outcome.comparison.machine}, fields=_versions
)
