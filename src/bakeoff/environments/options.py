"""From the options that a contender names to a value for every option, checked against what its framework declares."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from bakeoff.environments.builds import check_known
from bakeoff.spec.errors import UnknownNameError, UsageError
from bakeoff.spec.framework import OptionSupport
from bakeoff.spec.options import MOST_DIGITS, OPTIONS, WORKER_OPTIONS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bakeoff.spec.contender import Contender
    from bakeoff.spec.framework import FrameworkInfo
    from bakeoff.spec.scenario import Scenario

ALL = "all"
"""The default of an option that counts threads: as many as there are usable processors."""


def supported(info: FrameworkInfo) -> dict[str, OptionSupport]:
    """Return every option that a contender of this framework has: the framework's and those of bakeoff's worker."""
    worker = {
        name: OptionSupport(default=option.values[0], values=option.values) for name, option in WORKER_OPTIONS.items()
    }
    return info.options | worker


def resolve_options(
    info: FrameworkInfo, contender: Contender, defaults: Mapping[str, str], usable_cores: int
) -> dict[str, str]:
    """Return a value for every option that a contender of this framework has.

    The contender's own value wins over `defaults`, which hold for all contenders alike, and these win over the
    framework's default. Raise UsageError for an option, a value or a combination that the framework does not have.
    """
    for name, value in contender.options.items():
        _check(info, name, value, where=f"contender {contender.label!r}")
    wanted = {name: value for name, value in defaults.items() if name not in contender.options}
    for name, value in wanted.items():
        _check(info, name, value, where="asked of all contenders")
    own = {name: support.default for name, support in supported(info).items()}
    options = {name: _value(value, usable_cores) for name, value in (own | wanted | contender.options).items()}
    _check_together(info, options, where=f"contender {contender.label!r}")
    return options


def in_scenario(info: FrameworkInfo, asked: Mapping[str, str], scenario: Scenario) -> FrameworkInfo:
    """Return a framework's declaration with the defaults that it has in a scenario, beside the options asked for."""
    options = dict(info.options)
    for one in info.scenario_defaults:
        values = {name: asked.get(name, info.options[name].default) for name in one.when}
        if one.scenario == scenario and holds(one.when, values):
            options[one.option] = msgspec.structs.replace(options[one.option], default=one.value)
    return msgspec.structs.replace(info, options=options)


def _check(info: FrameworkInfo, name: str, value: str, *, where: str) -> None:
    """Raise UsageError unless the framework has this value of this option."""
    options = supported(info)
    if name not in OPTIONS and name not in options:
        raise UnknownNameError("option", name, OPTIONS.keys() | options.keys())
    if name not in options:
        msg = f"{where}: {info.title} does not have the option {name!r}; it has: {', '.join(sorted(options))}"
        raise UsageError(msg)
    if name == "device":
        check_known(value)
    support = options[name]
    if not _is_possible(support, value):
        why = f" ({support.why})" if support.why else ""
        msg = f"{where}: {info.title} does not have {name}={value}; possible: {possible(support)}{why}"
        raise UsageError(msg)


def _check_together(info: FrameworkInfo, options: Mapping[str, str], *, where: str) -> None:
    """Raise UsageError for a combination of options that the framework declares impossible."""
    for refusal in info.refusals:
        if holds(refusal.when, options):
            given = ", ".join(f"{name}={options[name]}" for name in refusal.when)
            msg = f"{where}: {info.title} cannot have {given}: {refusal.reason}"
            raise UsageError(msg)


def holds(when: Mapping[str, Sequence[str]], options: Mapping[str, str]) -> bool:
    """Return whether each option that a declaration names has one of its values."""
    return all(options.get(name) in values for name, values in when.items())


def rounding_of(info: FrameworkInfo, options: Mapping[str, str]) -> dict[str, str]:
    """Return what a framework is known to round off with these options, by the name of the check that fails for it."""
    return {one.check: one.reason for one in info.rounding if holds(one.when, options)}


def variables_of(info: FrameworkInfo, options: Mapping[str, str]) -> dict[str, str]:
    """Return the environment variables that a worker with these options sets before it imports the framework."""
    return {
        variable.name: variable.value
        for variable in info.variables
        if all(options.get(name) == value for name, value in variable.when.items())
    }


def possible(support: OptionSupport) -> str:
    """Return which values an option takes, in words."""
    if support.values:
        return ", ".join(support.values)
    return "any text" if support.free else "a whole number from 1 on"


def _is_possible(support: OptionSupport, value: str) -> bool:
    """Return whether the framework has this value of an option."""
    if support.values:
        return value in support.values
    return support.free or (value.isascii() and value.isdigit() and len(value) <= MOST_DIGITS and int(value) >= 1)


def _value(value: str, usable_cores: int) -> str:
    """Return the value with "all" replaced by the number of usable processors."""
    return str(usable_cores) if value == ALL else value
