"""What a site's jobs ask for: from a TOML file, over which the command line's options win."""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING, Any

import msgspec

from bakeoff.cluster.keys import check_no_keys
from bakeoff.spec.errors import StoreError, UsageError
from bakeoff.store.reading import read_named

if TYPE_CHECKING:
    from pathlib import Path

RESTARTS = 5
"""A comparison that needs more than so many time limits has a limit that is too short, or hangs."""

_WORD = re.compile(r"[\w.,:&|*()\[\]@+=/-]+")
"""What the values of Slurm's options consist of (sbatch(1)): no space and no quote, which would end a directive."""

_GPUS = re.compile(r"(?:(?P<kind>[A-Za-z][\w.-]*)(?::(?P<of_kind>\d+))?|(?P<count>\d+))", re.ASCII)
_OPTION = re.compile(r"--[a-z][a-z-]*(?:=[^\n\r]*)?")
OURS = ("array", "output", "error", "open-mode", "requeue", "no-requeue", "signal", "time", "nodes", "ntasks", "chdir")
"""Options of sbatch that scripts need as they are written."""


class SiteProfile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What every job asks Slurm for, and what its script does before bakeoff."""

    partition: str | None = None
    account: str | None = None
    qos: str | None = None
    constraint: str | None = None
    """Features that its node must have."""
    gpus: str | None = None
    """How many, of which type, or both: "2", "a100", "a100:2"; without a number as many as the comparison trains on."""
    cpus: int | None = None
    """Processor cores; None: what the partition gives."""
    memory: str | None = None
    """Of the node, as Slurm writes it: 64G."""
    time: str | None = None
    """Limit of an array element: 90s, 30m, 4h; None: from measured costs."""
    exclusive: bool = False
    """Nobody else's job on the node meanwhile."""
    at_once: int | None = None
    """Array elements that run at the same time; None: as many as Slurm starts."""
    restarts: int = RESTARTS
    """How often an element that reached its time limit is begun again to go on where it was."""
    python: str | None = None
    """The interpreter of the nodes that has bakeoff; None: this one."""
    container: str | None = None
    """What stands before the command, such as: apptainer exec --nv bakeoff.sif."""
    setup: tuple[str, ...] = ()
    """Lines of shell before it: modules, environments."""
    sbatch: tuple[str, ...] = ()
    """Further options of sbatch, such as --nodelist=gpu01."""
    template: str | None = None
    """The site's own script (docs/slurm.md names what stands in it); None: the shipped one."""


def read(path: Path | None, **given: Any) -> SiteProfile:
    """Return a file's profile with what was given in place of its values; raise UsageError for what cannot be."""
    content: dict[str, Any] = {}
    if path is not None:
        try:
            content = tomllib.loads(read_named(path))
        except (OSError, StoreError, ValueError, RecursionError) as error:  # also of numbers of thousands of digits
            msg = f"{path} cannot be used as a profile: {error}"
            raise UsageError(msg) from error
    wanted = content | {name: value for name, value in given.items() if value not in (None, False, (), [])}
    try:
        profile = msgspec.convert(wanted, SiteProfile)
    except msgspec.ValidationError as error:
        where = "the options" if path is None else str(path)
        msg = f"{where} cannot be used as a profile: {error}. Valid: {', '.join(SiteProfile.__struct_fields__)}"
        raise UsageError(msg) from error
    _check(profile)
    return profile


def gpus_of(profile: SiteProfile, devices: int) -> str | None:
    """Return Slurm's generic resource for so many devices, such as "gpu:a100:2"; None where no GPU is asked for.

    Raises UsageError where fewer are asked for than the comparison trains on.
    """
    if profile.gpus is None:
        return None
    match = _GPUS.fullmatch(profile.gpus)
    assert match is not None  # As `read` has checked.
    count = int(match["of_kind"] or match["count"] or devices)
    if count < devices:
        msg = f"gpus {profile.gpus!r} are fewer than the {devices} that the comparison trains on"
        raise UsageError(msg)
    return ":".join(filter(None, ["gpu", match["kind"], str(count)]))


def _check(profile: SiteProfile) -> None:
    """Raise UsageError for a value that no directive of a script can hold."""
    for name in ("partition", "account", "qos", "constraint", "memory"):
        value = getattr(profile, name)
        if value is not None and not _WORD.fullmatch(value):
            msg = f"{name} {value!r} cannot be: it has a character that no value of sbatch has, such as a space"
            raise UsageError(msg)
    found = _GPUS.fullmatch(profile.gpus) if profile.gpus is not None else None
    if profile.gpus is not None and (found is None or "0" in (found["of_kind"], found["count"])):
        msg = f"gpus {profile.gpus!r} cannot be: write how many (2), of which type (a100), or both (a100:2)"
        raise UsageError(msg)
    for name, least in (("cpus", 1), ("at_once", 1), ("restarts", 0)):
        number = getattr(profile, name)
        if number is not None and number < least:
            msg = f"{name.replace('_', '-')} {number} cannot be; valid: a whole number from {least} on"
            raise UsageError(msg)
    _check_lines(profile)


def _check_lines(profile: SiteProfile) -> None:
    """Raise UsageError for lines that are none, options that scripts set themselves, and keys."""
    for option in profile.sbatch:
        if not _OPTION.fullmatch(option) or option[2:].partition("=")[0] in OURS:
            msg = (
                f"sbatch {option!r} cannot be: write one option with its value, --nodelist=gpu01, and none of those "
                f"that bakeoff sets: {', '.join(OURS)}"
            )
            raise UsageError(msg)
    for name in ("python", "container"):
        if "\n" in (getattr(profile, name) or ""):
            msg = f"{name} cannot be: it has more than one line"
            raise UsageError(msg)
    check_no_keys(profile.setup, "setup line")
    check_no_keys(profile.sbatch, "sbatch option")
    check_no_keys([profile.container or ""], "container")
