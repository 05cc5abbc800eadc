"""Tiers: which form of a framework races: the workload's model, a ready-made model, or the fastest settings.

matched  the workload's model with the framework's default options: equal settings, held against the reference
native   what the framework's users would take ready-made, from its ready_made.py; held against nothing
best     the workload's model with the settings that the framework's documents name as the fastest, from framework.toml
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from bakeoff.environments.options import resolve_options
from bakeoff.spec.errors import UnknownNameError, UsageError
from bakeoff.spec.framework import BestSetting
from bakeoff.spec.options import WORKER_OPTIONS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bakeoff.spec.contender import Contender
    from bakeoff.spec.framework import FrameworkInfo

TIERS = WORKER_OPTIONS["tier"].values
MATCHED, NATIVE, BEST = TIERS


class Preset(msgspec.Struct, frozen=True, kw_only=True):
    """What the tier `best` does to a contender's options."""

    settings: tuple[BestSetting, ...] = ()
    """Settings that the tier puts in force."""
    left: dict[str, str] = {}
    """Declared settings that are not in force: "option=value", each with the reason."""

    @property
    def options(self) -> dict[str, str]:
        """Return the settings as options with their values."""
        return {setting.option: setting.value for setting in self.settings}


def expanded(contenders: Sequence[Contender], tiers: Sequence[str]) -> list[Contender]:
    """Return every contender once in each tier, as "torch (best)"; one with an option `tier` of its own stays single.

    Raise UnknownNameError for a tier that does not exist.
    """
    for tier in tiers:
        if tier not in TIERS:
            raise UnknownNameError("tier", tier, TIERS)
    named = list(dict.fromkeys(tiers)) or [MATCHED]
    return [
        contender if "tier" in contender.options else _in_tier(contender, tier, is_alone=named == [MATCHED])
        for tier in named
        for contender in contenders
        if tier == named[0] or "tier" not in contender.options
    ]


def _in_tier(contender: Contender, tier: str, *, is_alone: bool) -> Contender:
    """Return the contender in a tier, with the tier in its label unless matched is the only tier."""
    if is_alone:
        return contender
    label, options = f"{contender.label} ({tier})", contender.options | {"tier": tier}
    return msgspec.structs.replace(contender, label=label, options=options)


def preset(
    info: FrameworkInfo, contender: Contender, defaults: Mapping[str, str], usable_cores: int, optimizer: str = ""
) -> Preset:
    """Return the settings that the tier `best` gives a contender; an empty preset in another tier.

    Options that the user set, for this contender or by `defaults` for all, are never changed. `optimizer` is the
    name of the workload's. Raise UsageError for options that the framework does not have.
    """
    resolved = resolve_options(info, contender, defaults, usable_cores)
    if resolved["tier"] != BEST:
        return Preset()
    asked = {**defaults, **contender.options}
    settings: list[BestSetting] = []
    left: dict[str, str] = {}
    for setting in info.best:
        # One after another on top of those already in force: a setting that excludes an earlier one is left out.
        wanted = asked | {each.option: each.value for each in (*settings, setting)}
        reason = _why_left(setting, resolved["device"], optimizer, asked)
        try:
            resolve_options(info, msgspec.structs.replace(contender, options=wanted), {}, usable_cores)
        except UsageError as error:
            reason = reason or str(error)
        if reason:
            left[f"{setting.option}={setting.value}"] = reason
        else:
            settings.append(setting)
    return Preset(settings=tuple(settings), left=left)


def _why_left(setting: BestSetting, device: str, optimizer: str, asked: Mapping[str, str]) -> str:
    """Return why a setting does not apply here; "" where it does."""
    wanted = asked.get(setting.option)
    if wanted is not None and wanted != setting.value:
        return f"{setting.option}={wanted} was asked for"
    if setting.devices and device not in setting.devices:
        return f"it is for {' and '.join(setting.devices)}, and the device is {device}"
    if setting.optimizers and optimizer and optimizer not in setting.optimizers:
        return f"it is for {', '.join(setting.optimizers)}, and the optimiser is {optimizer}"
    return ""
