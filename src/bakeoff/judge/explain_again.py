"""The command that explains a comparison, or goes on with that: by its folder, or by what was raced."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from bakeoff.workloads.load import names

if TYPE_CHECKING:
    from bakeoff.spec.comparison import Comparison

_OF_WORK = ("--scenario", "--size", "--batch-size", "--data", "--padding", "--max-norm", "--noise-multiplier", "--seed")
_OF_CONTENDERS = ("--device", "--gpu", "--reference-device", "--threads", "--precision", "--option", "--tier")
_OF_PROCEDURE = ("--rounds", "--margin", "--wait-for-calm", "--trial-limit", "--results")
_KEPT = frozenset(_OF_WORK + _OF_CONTENDERS + _OF_PROCEDURE)
"""What an explanation's race takes as a race does, each with a value."""

_OF_A_CALL = {"--budget": True, "--fail-if-slower": True} | dict.fromkeys(
    ("--why", "--json", "--resume", "--direction", "--how-much"), False
)
"""What asks for no other comparison, and whether it has a value: how long a race goes on may change."""


def explaining_command(comparison: Comparison, path: str) -> str:
    """Return the command that explains a comparison whose folder is this one."""
    own = by_its_file(comparison) if named_files(comparison) else ""
    return own or f"bakeoff explain {shlex.quote(path)}"


def named_files(comparison: Comparison) -> list[str]:
    """Return the files that a comparison was run with and that are no part of bakeoff: a folder may be a stranger's."""
    paths = [plan.contender.environment or "" for plan in comparison.contenders]
    paths = [one for one in paths if any(mark in one for mark in "/\\")]
    return paths if comparison.workload.name in names() else [*paths, comparison.workload_path]


def by_its_file(comparison: Comparison) -> str:
    """Return the command that names workload and contenders as the race's did; empty where there is none."""
    try:
        words = shlex.split(comparison.command)
    except ValueError:
        return ""
    if words[:2] not in (["bakeoff", "run"], ["bakeoff", "explain"]):
        return ""
    kept, rest = ["bakeoff", "explain"], words[2:]
    while rest:
        word = rest.pop(0)
        option, _, said = word.partition("=") if word.startswith("--") else ("", "", "")
        if option in _OF_A_CALL:
            if _OF_A_CALL[option] and not said:
                rest = rest[1:]
        elif not option and not word.startswith("-"):
            kept.append(word)
        elif option in _KEPT:
            kept += [word] if said else [word, *rest[:1]]
            rest = rest if said else rest[1:]
        else:
            return ""
    return f"{shlex.join(kept)} --resume"
