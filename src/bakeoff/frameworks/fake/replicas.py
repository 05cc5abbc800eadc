"""Several devices in the script: which replica goes wrong, and what agreeing costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bakeoff.spec.group import BATCH_STATISTICS, DEVICES, SYNC

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bakeoff.spec.group import Group


class Member:
    """What an engine knows of its group."""

    _group: Group | None = None

    def join(self, group: Group) -> None:
        """Note which replica this is."""
        self._group = group


class Copies:
    """What a step tells of its copies on one process's devices."""

    _options: Mapping[str, str]

    def unequal(self) -> str:
        """Return a name where the script says that the last replica's parameters are its own."""
        is_one_process = int(self._options[DEVICES]) > 1 and self._options[SYNC] == "mirrored"
        return "the first layer" if is_one_process and self._options["wrong"] == "replica" else ""


def own(options: Mapping[str, str], group: Group | None) -> Mapping[str, str]:
    """Return the options of this replica: what goes wrong in another one does not here."""
    if group is None:
        return options
    changed = dict(options)
    if options["fault_rank"] not in ("-1", str(group.rank)):
        changed["fault"] = "none"
    if options["wrong"] == "replica":
        changed["wrong"] = "rate" if group.rank == group.world - 1 else "nothing"
    return changed


def cost(options: Mapping[str, str]) -> float:
    """Return how much longer a step takes on several devices than on one."""
    return 1.0 + float(options["step_ms_by_device"]) * (int(options[DEVICES]) - 1)


def settings(options: Mapping[str, str]) -> dict[str, str | int | float | bool | None]:
    """Return the options back; on one device there is nothing to agree on."""
    devices = int(options[DEVICES])
    return {DEVICES: devices} | ({} if devices == 1 else {name: options[name] for name in (SYNC, BATCH_STATISTICS)})
