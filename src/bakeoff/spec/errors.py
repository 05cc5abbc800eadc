"""Every error that bakeoff raises on purpose.

BakeoffError
|- UsageError            what the user asked for cannot be: exit code 2, one clear message
|  |- UnknownNameError   a name that does not exist; lists the valid names
|  `- ModelFileError     the user's own workload file cannot be used
|- UnsupportedError      a framework lacks an operation, an option or a device; says why
|- UnavailableError      a framework cannot be used here; says why
|- NoPictureError        pictures cannot be drawn here; says why
|- ChangedError          what is run is not what was fixed; says what changed, and what to do
|- UnequalError          devices have not the same parameters; names one that differs
`- StoreError            results cannot be written or read
   |- DamagedError       a file is not as it was written
   `- OtherVersionError  a file is whole, and another version of bakeoff wrote it
"""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from bakeoff.spec.text import plain

if TYPE_CHECKING:
    from collections.abc import Iterable


class BakeoffError(Exception):
    """Root of all errors that bakeoff raises on purpose; its text is fit for a user."""


class UsageError(BakeoffError):
    """The user's input is wrong: the text says what is wrong, where, and what to do."""


class UnknownNameError(UsageError):
    """A name that does not exist."""

    def __init__(self, kind: str, name: str, valid: Iterable[str], other: str = "") -> None:
        """Compose the message with the closest valid name; `kind` says what it names, such as "workload".

        `other` is what is valid beside the names, such as "the path of a file".
        """
        names = sorted(valid)
        close = difflib.get_close_matches(name, names, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else "."
        listed = plain(", ".join(names)) or "none"
        super().__init__(f"unknown {kind} {name!r}{hint} Valid: {listed}{f', or {other}' if other else ''}")


class ModelFileError(UsageError):
    """The user's own workload file cannot be used; names the file, the line and the remedy."""


class UnsupportedError(BakeoffError):
    """A framework lacks an operation, an option or a device; the text is the reason."""


class UnavailableError(BakeoffError):
    """A framework cannot be used on this machine; the text is the reason."""


class NoPictureError(BakeoffError):
    """Pictures cannot be drawn in this process; the text says why, and what needs none."""


class ChangedError(BakeoffError):
    """What is to be run is no longer what the comparison was fixed with."""

    def __init__(self, what: str) -> None:
        """Compose the message; `what` names it, such as "the workload's file /home/me/model.py"."""
        super().__init__(
            f"{what} has changed since the comparison was fixed, so what was certified is not what would be timed: put "
            "it back as it was and go on with --resume, or start a new comparison"
        )


class UnequalError(BakeoffError):
    """Devices that should have the same parameters do not."""

    def __init__(self, parameter: str) -> None:
        """Compose the message; `parameter` is the name of one that differs."""
        super().__init__(f"the copies of {parameter} on its devices differ after the same steps")


class StoreError(BakeoffError):
    """Results cannot be written or read: names the path and the cause."""


class DamagedError(StoreError):
    """A file that is not as it was written: truncated, edited, or no regular file at all."""


class OtherVersionError(StoreError):
    """A file that is whole, and that another version of bakeoff wrote: it is no damage, and is left as it is."""
