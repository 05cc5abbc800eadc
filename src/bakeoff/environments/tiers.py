"""Tiers: which form of a framework races. The workload's own model, the ready-made one, or the fastest settings.

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
    """What the tier `best` makes of a contender's options."""

    settings: tuple[BestSetting, ...] = ()
    """In force by it."""
    left: dict[str, str] = {}
    """Declared and not in force, "option=value" with the reason."""

    @property
    def options(self) -> dict[str, str]:
        """Give the options in force by it."""
        return {setting.option: setting.value for setting in self.settings}


def expanded(contenders: Sequence[Contender], tiers: Sequence[str]) -> list[Contender]:
    """Give every contender once in each tier, as "torch (best)"; one that names its tier itself is left as it is."""
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
    """Give a contender in a tier; the default needs no name where there is no other."""
    if is_alone:
        return contender
    label, options = f"{contender.label} ({tier})", contender.options | {"tier": tier}
    return msgspec.structs.replace(contender, label=label, options=options)


def preset(
    info: FrameworkInfo, contender: Contender, defaults: Mapping[str, str], usable_cores: int, optimizer: str = ""
) -> Preset:
    """Give the settings of the tier `best`, of a contender in it; what the user asks for stays as it is asked.

    `defaults` are what is asked of all contenders alike, `optimizer` is the workload's. Raise UsageError for what
    cannot be without the preset, too.
    """
    resolved = resolve_options(info, contender, defaults, usable_cores)
    if resolved["tier"] != BEST:
        return Preset()
    asked = {**defaults, **contender.options}
    settings: list[BestSetting] = []
    left: dict[str, str] = {}
    for setting in info.best:
        wanted = asked | {one.option: one.value for one in (*settings, setting)}
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
    """Say why a setting is not wanted here; nothing where it is."""
    wanted = asked.get(setting.option)
    if wanted is not None and wanted != setting.value:
        return f"{setting.option}={wanted} was asked for"
    if setting.devices and device not in setting.devices:
        return f"it is for {' and '.join(setting.devices)}, and the device is {device}"
    if setting.optimizers and optimizer and optimizer not in setting.optimizers:
        return f"it is for {', '.join(setting.optimizers)}, and the optimiser is {optimizer}"
    return ""
