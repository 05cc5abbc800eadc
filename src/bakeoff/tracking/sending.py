"""Sending comparisons to a tracker: once, or for as long as they run; whatever it does, records stay the truth."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from bakeoff.spec.errors import StoreError
from bakeoff.tracking.run import TrackedRun
from bakeoff.tracking.tracker import TrackerDownError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from bakeoff.tracking.following import ComparisonUpdate
    from bakeoff.tracking.tracker import Tracker


class Sent(msgspec.Struct, frozen=True, kw_only=True):
    """What a tracker has in the end."""

    runs: list[TrackedRun]
    """That it has in their latest state."""
    missing: list[Path]
    """Comparisons of which it lacks something."""
    unread: dict[Path, str]
    """Comparisons that could not be read, each with the reason."""


def send(
    changes: Iterable[ComparisonUpdate],
    tracker: Tracker,
    read: Callable[[ComparisonUpdate], list[TrackedRun]],
    warn: Callable[[str], None],
    *,
    again: bool = False,
) -> Sent:
    """Send comparisons as they change; return what the tracker has in the end.

    A tracker that is down is warned of once. From then on nothing more is sent, or with `again` what it lacks is sent
    with the next change. `read` gives a comparison's runs; one that cannot be read keeps no other from being sent.
    """
    sending = _Sending(tracker, warn)
    unread: dict[Path, str] = {}
    for change in changes:
        try:
            runs = read(change)
        except StoreError as error:
            unread[change.folder] = str(error)
            continue
        unread.pop(change.folder, None)
        sending.send(change.folder, runs, again=again)
    sending.close()
    return Sent(runs=list(sending.sent.values()), missing=list(sending.missing), unread=unread)


class _Sending:
    """What was sent so far, and what was not."""

    def __init__(self, tracker: Tracker, warn: Callable[[str], None]) -> None:
        """Begin with nothing."""
        self._tracker, self._warn = tracker, warn
        self._is_warned = False
        self.sent: dict[str, TrackedRun] = {}
        self.missing: dict[Path, list[TrackedRun]] = {}
        self._last: dict[Path, list[TrackedRun]] = {}

    def send(self, folder: Path, runs: list[TrackedRun], *, again: bool) -> None:
        """Send a comparison's runs, and with `again` those of others that could not be sent before."""
        self._last[folder] = runs
        self.missing.pop(folder, None)
        waiting = {folder: runs} | self.missing if again else {folder: runs}
        if self._is_warned and not again:
            self.missing[folder] = runs
            return
        for place, theirs in waiting.items():
            try:
                for run in theirs:
                    self._tracker.write(run)
                    self.sent[run.id] = run
            except TrackerDownError as error:
                self._down(error)
                return
            self.missing.pop(place, None)

    def close(self) -> None:
        """End what is open at the tracker."""
        try:
            self._tracker.close()
        except TrackerDownError as error:
            self._down(error)

    def _down(self, error: TrackerDownError) -> None:
        """Warn, the first time; nobody knows what the tracker has of what it was sent before."""
        self.missing |= self._last
        self.sent.clear()
        if not self._is_warned:
            self._warn(str(error))
        self._is_warned = True
