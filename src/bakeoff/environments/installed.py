"""The environments that `bakeoff env create` has made: folders with a marker, which is completed last."""

from __future__ import annotations

import os
from importlib.metadata import distributions
from pathlib import Path

import msgspec
import platformdirs

from bakeoff.spec.bounded import at_home

MARKER = "bakeoff-environment.json"
"""The file that marks an environment as complete: a virtual environment holds its own path, so that it cannot be made
elsewhere and renamed into place."""


class Marker(msgspec.Struct, frozen=True, kw_only=True):
    """What an environment was made from, and whether it is complete."""

    framework: str
    requirements_sha256: str
    complete: bool
    device: str = "cpu"
    """What it was made for; environments of earlier versions are the processor's."""
    python: str = ""
    created_at: str = ""
    size_bytes: int = 0


class Environment(msgspec.Struct, frozen=True, kw_only=True):
    """One complete environment."""

    path: Path
    info: Marker

    @property
    def python(self) -> Path:
        """Return the path of the environment's interpreter."""
        return self.path / "bin" / "python"

    def versions(self, names: tuple[str, ...]) -> dict[str, str]:
        """Return the versions of these distributions, without those that are not installed in it."""
        packages = [str(path) for path in self.path.glob("lib/python*/site-packages")]
        present = {name: next(iter(distributions(name=name, path=packages)), None) for name in names}
        return {name: distribution.version for name, distribution in present.items() if distribution}


def base() -> Path:
    """Return the folder of what bakeoff keeps for a user: BAKEOFF_HOME if it is set, else the user's data folder."""
    folder = os.environ.get("BAKEOFF_HOME") or platformdirs.user_data_dir("bakeoff", appauthor=False)
    return at_home(folder).absolute()


def home() -> Path:
    """Return the folder that holds all environments."""
    return base() / "envs"


def read_marker(folder: Path) -> Marker | None:
    """Return the marker of a folder that bakeoff made; None for any other folder."""
    try:
        return msgspec.json.decode((folder / MARKER).read_bytes(), type=Marker)
    except (OSError, msgspec.MsgspecError):
        return None


def find(name: str) -> Environment | None:
    """Return the environment of this name; None where there is none, or an incomplete one."""
    folder = home() / name
    marker = read_marker(folder)
    if marker is None or not marker.complete:
        return None
    environment = Environment(path=folder, info=marker)
    # The interpreter is a link to the one it was made from, which an upgrade of the system can take away.
    return environment if environment.python.exists() else None


def installed() -> list[Environment]:
    """Return all complete environments, sorted by name."""
    environments = (find(marker.parent.name) for marker in sorted(home().glob(f"*/{MARKER}")))
    return [environment for environment in environments if environment is not None]
