"""The port: what each tracker's file provides, and how its client is found."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

from bakeoff.spec.errors import BakeoffError, UsageError

if TYPE_CHECKING:
    from bakeoff.tracking.run import TrackedRun


class TrackerDownError(BakeoffError):
    """A tracker cannot be reached, or does not take what it is sent; the text is its reason."""


class Tracker(Protocol):
    """Takes runs; sending the same run again, or a later state of it, makes no second one and doubles nothing."""

    where: str
    """Where the runs are, in words, without who signs in."""

    def write(self, run: TrackedRun) -> None:
        """Bring the tracker's run to this state; raise TrackerDownError, after which all is to be written again."""

    def close(self) -> None:
        """End what is open, once the tracker has everything; raise TrackerDownError."""


def client(module: str, extra: str) -> Any:
    """Return a tracker's client; raise UsageError, with the command that installs it, where it is not installed."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        msg = (
            f"bakeoff track {extra} needs the package {(error.name or module).partition('.')[0]}, which is not "
            f"installed here; install it by: pip install 'bakeoff[{extra}]'"
        )
        raise UsageError(msg) from error
