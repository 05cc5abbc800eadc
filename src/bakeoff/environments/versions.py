"""Other versions of a framework: what its environment pins, with the framework at the version that was asked for."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from bakeoff.spec.errors import UsageError

if TYPE_CHECKING:
    from bakeoff.spec.framework import FrameworkInfo

OURS = ("msgspec",)
"""What bakeoff's worker itself needs keeps its pin; all else is left to pip, which knows what fits the version."""

_REQUIREMENT = re.compile(r"(?P<name>[A-Za-z0-9][\w.-]*)(?P<extras>\[[^\]]*\])?\s*(?P<pin>[^;#]*)(?P<marker>;[^#]*)?")
_VERSION = re.compile(r"\d[\w.+!-]*")


def parse(text: str) -> tuple[str, str | None]:
    """Read FRAMEWORK or FRAMEWORK@VERSION."""
    name, at, version = text.partition("@")
    if at and not _VERSION.fullmatch(version):
        msg = f"{text!r} is not of the form FRAMEWORK@VERSION, such as {name}@1.2.3; other names are given by --name"
        raise UsageError(msg)
    return name, version or None


def pinned(requirements: str, info: FrameworkInfo, version: str) -> str:
    """Give requirements with the framework's own packages at a version and the others as pip chooses them."""
    own = info.versioned or info.distributions[:1]
    lines = []
    for line in requirements.splitlines():
        match = _REQUIREMENT.match(line.strip())
        if match is None:
            continue
        name, extras, marker = match["name"], match["extras"] or "", (match["marker"] or "").strip()
        pin = f"=={version}" if name in own else match["pin"].strip() if name in OURS else ""
        lines.append(f"{name}{extras}{pin}{marker}")
    return "\n".join(lines) + "\n"
