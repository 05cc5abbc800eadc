"""What a framework is in this interpreter: its versions and devices, or why it cannot be used."""

from __future__ import annotations

import os
import platform
from typing import TYPE_CHECKING

import msgspec

from bakeoff.spec.framework import FrameworkInfo
from bakeoff.trial.framework import make_engine, set_variables

if TYPE_CHECKING:
    from pathlib import Path


class Probe(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of a probe, one JSON object."""

    python: str
    versions: dict[str, str] = {}
    devices: list[str] = []
    error: str = ""
    """Why the framework cannot be used; empty when it can."""


def probe(folder: Path, answer_fd: int) -> int:
    """Write a Probe to the pipe; the exit code is 0 also when the framework cannot be used."""
    python = platform.python_version()
    try:
        info = msgspec.toml.decode((folder / "framework.toml").read_bytes(), type=FrameworkInfo)
        set_variables({v.name: v.value for v in info.variables if not v.when and "{" not in v.value})
        engine, _ = make_engine(folder)
        answer = Probe(python=python, versions=engine.versions(), devices=engine.devices())
    except Exception as error:  # noqa: BLE001 - whatever a framework's import raises is the reason to tell
        answer = Probe(python=python, error=f"{type(error).__name__}: {error}")
    with os.fdopen(answer_fd, "wb") as file:
        file.write(msgspec.json.encode(answer))
    return 0
