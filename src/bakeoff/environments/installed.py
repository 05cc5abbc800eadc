"""The environments that `bakeoff env create` has made: folders with a marker that is completed last."""

from __future__ import annotations

import os
from importlib.metadata import distributions
from pathlib import Path

import msgspec
import platformdirs

MARKER = "bakeoff-environment.json"
"""A virtual environment cannot be renamed into place (its own path is written in it), so this file says it is whole."""


class Marker(msgspec.Struct, frozen=True, kw_only=True):
    """What an environment is for."""

    framework: str
    requirements_sha256: str
    complete: bool
    python: str = ""
    created_at: str = ""
    size_bytes: int = 0


class Environment(msgspec.Struct, frozen=True, kw_only=True):
    """One whole environment."""

    path: Path
    info: Marker

    @property
    def python(self) -> Path:
        """The environment's interpreter."""
        return self.path / "bin" / "python"

    def versions(self, names: tuple[str, ...]) -> dict[str, str]:
        """Give the versions of those of these distributions that are installed in it."""
        packages = [str(path) for path in self.path.glob("lib/python*/site-packages")]
        found = {name: next(iter(distributions(name=name, path=packages)), None) for name in names}
        return {name: distribution.version for name, distribution in found.items() if distribution}


def base() -> Path:
    """Give the folder of what bakeoff keeps for a user: BAKEOFF_HOME where that is set, else the data folder."""
    folder = os.environ.get("BAKEOFF_HOME") or platformdirs.user_data_dir("bakeoff", appauthor=False)
    return Path(folder).expanduser().absolute()


def home() -> Path:
    """Give the folder of all environments."""
    return base() / "envs"


def read_marker(folder: Path) -> Marker | None:
    """Give the marker of a folder that bakeoff made; None for any other."""
    try:
        return msgspec.json.decode((folder / MARKER).read_bytes(), type=Marker)
    except (OSError, msgspec.MsgspecError):
        return None


def find(name: str) -> Environment | None:
    """Give the environment of this name; None where there is none, or none that is whole."""
    folder = home() / name
    marker = read_marker(folder)
    if marker is None or not marker.complete:
        return None
    environment = Environment(path=folder, info=marker)
    # The interpreter is a link to the one it was made from, which an upgrade of the system can take away.
    return environment if environment.python.exists() else None


def installed() -> list[Environment]:
    """Give all whole environments by name."""
    found = (find(marker.parent.name) for marker in sorted(home().glob(f"*/{MARKER}")))
    return [environment for environment in found if environment is not None]
