"""The settings ledger: what was in force for each contender, side by side, and why it differs where it does: pure."""

from __future__ import annotations

from collections import Counter
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Literal

import msgspec

from bakeoff.spec.options import DEFAULT, FRAMEWORK

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bakeoff.judge.outcome import ContenderOutcome, Outcome
    from bakeoff.spec.verdict import Verdict

Value = str | int | float | bool | None

Kind = Literal["same", "asked", "nature", "mismatch"]
"""Of a setting.

same      all contenders that tell it tell the same
asked     it differs because the user asked for that
nature    it differs because frameworks differ: each one's default, layout, or own switch
mismatch  it differs, or is not what was asked, and nobody asked for that
"""

COMMON = ("tf32_matmul", "tf32_convolution", "accumulation")
"""Settings that decide the arithmetic in every framework: they follow from precision and device, or are a mismatch."""

ARITHMETIC = ("precision", "device")
"""Options by which a user asks for another arithmetic."""

READ_BACK = {("denormals", "keep"): "kept", ("denormals", "flush"): "flushed"}
"""What is read back where an option has a value and another word for it in force."""

MOST_VALUE_CHARACTERS = 40
"""Longest value within a label."""


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One setting with its value in each contender that reports it."""

    key: str
    origin: Literal["setting", "variable"]
    """setting: read back from the framework.  variable: set in the user's environment."""
    kind: Kind
    values: dict[str, Value]
    """Values by label; None: the framework does not report it. Contenders without such a setting are missing."""
    strays: tuple[str, ...] = ()
    """Labels of the contenders whose value nobody asked for; empty unless it is a mismatch."""


def ledger(contenders: Sequence[ContenderOutcome]) -> list[Entry]:
    """Return every setting that any contender reports, and every variable of the environment that concerns one."""
    read = [one for one in contenders if one.settings]
    variables = dict.fromkeys(name for one in read for name in one.inherited)
    names = dict.fromkeys(name for one in read for name in one.settings if name not in variables)
    return [_setting(name, read) for name in names] + [_variable(name, read) for name in variables]


def mismatches(contenders: Sequence[ContenderOutcome]) -> list[Entry]:
    """Return the settings that differ although nobody asked for that."""
    return [entry for entry in ledger(contenders) if entry.kind == "mismatch"]


def marked(outcome: Outcome) -> Outcome:
    """Return the outcome with mismatches written into the labels, so that every row, bar and sentence shows them."""
    found = mismatches(outcome.contenders)
    names = {one.label: _marked(one, found) for one in outcome.contenders}
    if all(old == new for old, new in names.items()):
        return outcome
    return msgspec.structs.replace(
        outcome,
        contenders=[_renamed(one, names[one.label]) for one in outcome.contenders],
        verdicts=[_of_renamed(verdict, names) for verdict in outcome.verdicts],
        scalings=[
            msgspec.structs.replace(
                one, label=names[one.label], single=names[one.single], verdict=_of_renamed(one.verdict, names)
            )
            for one in outcome.scalings
        ],
    )


def _of_renamed(verdict: Verdict, names: Mapping[str, str]) -> Verdict:
    """Return a verdict with other labels."""
    return msgspec.structs.replace(verdict, first=names[verdict.first], second=names[verdict.second])


def _setting(name: str, read: Sequence[ContenderOutcome]) -> Entry:
    """Return the entry of one setting that was read back."""
    values = {one.label: one.settings[name] for one in read if name in one.settings}
    reporting = [one for one in read if one.settings.get(name) is not None]
    strays = [*(one.label for one in reporting if _is_refused(one, name)), *_strays(name, reporting)]
    kind: Kind = "same"
    if strays:
        kind = "mismatch"
    elif len({str(one.settings[name]) for one in reporting}) > 1:
        kind = "asked" if _is_asked(name, reporting) else "nature"
    return Entry(key=name, origin="setting", kind=kind, values=values, strays=tuple(strays))


def _is_refused(one: ContenderOutcome, name: str) -> bool:
    """Return whether an option was resolved to a value and another one is in force."""
    wanted = _wanted(one, name)
    return wanted is not None and str(one.settings[name]) != wanted


def _wanted(one: ContenderOutcome, name: str) -> str | None:
    """Return the value that an option was resolved to; None for none, and where it is left to the framework."""
    value = one.plan.contender.options.get(name)
    return None if value in (DEFAULT, FRAMEWORK) else READ_BACK.get((name, value or ""), value)


def _strays(name: str, reporting: Sequence[ContenderOutcome]) -> list[str]:
    """Return the labels whose value differs from that of most contenders that must have the same."""
    found = []
    for group in _groups(name, reporting):
        values = Counter(str(one.settings[name]) for one in group)
        ((usual, most), *_) = values.most_common()
        is_tie = list(values.values()).count(most) > 1
        found += [one.label for one in group if is_tie or str(one.settings[name]) != usual]
    return found


def _groups(name: str, reporting: Sequence[ContenderOutcome]) -> list[list[ContenderOutcome]]:
    """Return the groups that must have the same value: by arithmetic, else by framework and options."""
    groups: dict[object, list[ContenderOutcome]] = {}
    for one in reporting:
        contender = one.plan.contender
        if _wanted(one, name) is not None:
            continue  # It is held against what was asked.
        key: object = tuple(contender.options.get(option) for option in ARITHMETIC)
        if name not in COMMON:
            key = (contender.framework, contender.environment, tuple(sorted(contender.options.items())))
        groups.setdefault(key, []).append(one)
    return list(groups.values())


def _is_asked(name: str, reporting: Sequence[ContenderOutcome]) -> bool:
    """Return whether a difference follows from the user's words: of this option, or of others that it hangs on."""
    if any(name in one.plan.contender.options for one in reporting):
        return any(name in one.plan.asked for one in reporting)
    if name in COMMON:
        return any(option in one.plan.asked for one in reporting for option in ARITHMETIC)
    return len({one.plan.contender.framework for one in reporting}) == 1


def _variable(name: str, read: Sequence[ContenderOutcome]) -> Entry:
    """Return the entry of a variable of the user's environment.

    Those that it means something to have to have it alike. Where it is a variable of one framework, the others differ
    by nature.
    """
    values: dict[str, Value] = {one.label: one.inherited[name] for one in read if name in one.inherited}
    frameworks = {one.plan.contender.framework for one in read if name in one.inherited}
    concerned = [one for one in read if name in one.inherited or _watches(one, name, frameworks)]
    is_alike = len(values) == len(concerned) and len(set(values.values())) == 1
    kind: Kind = "mismatch" if not is_alike else "same" if len(concerned) == len(read) else "nature"
    return Entry(key=name, origin="variable", kind=kind, values=values, strays=() if is_alike else tuple(values))


def _watches(one: ContenderOutcome, name: str, frameworks: set[str]) -> bool:
    """Return whether a variable means something to a contender; without a list of those that do, to its framework's."""
    patterns = one.plan.watched
    if not patterns:
        return one.plan.contender.framework in frameworks
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _marked(one: ContenderOutcome, found: Sequence[Entry]) -> str:
    """Return a contender's label with what nobody asked for: "torch [threads=1]"."""
    mine = [f"{entry.key}={_short(entry.values[one.label])}" for entry in found if one.label in entry.strays]
    return f"{one.label} [{', '.join(mine)}]" if mine else one.label


def _short(value: Value) -> str:
    """Return a value that a label can hold."""
    text = str(value)
    return text if len(text) <= MOST_VALUE_CHARACTERS else f"{text[: MOST_VALUE_CHARACTERS - 3]}..."


def _renamed(one: ContenderOutcome, label: str) -> ContenderOutcome:
    """Return the contender with another label; its plan keeps the user's own."""
    certificate = one.certificate and msgspec.structs.replace(one.certificate, contender=label)
    return msgspec.structs.replace(one, label=label, certificate=certificate)
