"""Sending: one warning however long a tracker is down, everything once it is there, and others where one is damaged."""

from __future__ import annotations

from pathlib import Path

import pytest

from bakeoff.spec.errors import StoreError
from bakeoff.tracking.following import ComparisonUpdate
from bakeoff.tracking.run import TrackedRun
from bakeoff.tracking.sending import Sent, send
from bakeoff.tracking.tracker import TrackerDownError


def run(folder: Path, label: str, state: str = "finished") -> TrackedRun:
    """Return a run of nothing."""
    known = {"id": f"{folder.name}-{label}", "name": label, "group": folder.name, "created_ms": 0, "records": 1}
    return TrackedRun(**known, state=state, config={}, metrics={}, words={}, points=[])


def read(change: ComparisonUpdate) -> list[TrackedRun]:
    """Return the two runs of a comparison; one that is called so cannot be read."""
    if change.folder.name == "damaged":
        msg = "damaged/comparison.json is truncated"
        raise StoreError(msg)
    return [run(change.folder, label, "running" if change.is_running else "finished") for label in ("a", "b")]


class Wavering:
    """A tracker that takes what the test says: a + for each time it takes a run, and a - for each that it is down."""

    where = "the test"

    def __init__(self, takes: str = "", *, closes: bool = True) -> None:
        """Take the answers; beyond them everything is taken."""
        self._takes, self._closes = list(takes), closes
        self.has: dict[str, TrackedRun] = {}
        self.asked: list[str] = []
        self.is_closed = False

    def write(self, run: TrackedRun) -> None:
        """Take a run, or be down."""
        self.asked.append(run.id)
        if self._takes and self._takes.pop(0) == "-":
            reason = f"down at {run.id}"
            raise TrackerDownError(reason)
        self.has[run.id] = run

    def close(self) -> None:
        """End."""
        self.is_closed = True
        if not self._closes:
            reason = "down at the end"
            raise TrackerDownError(reason)


def sent(tracker: Wavering, *names: str, again: bool = False) -> tuple[Sent, list[str]]:
    """Send comparisons of these names, of which those with a + still run; return what came of it, and the warnings."""
    warnings: list[str] = []
    changes = [ComparisonUpdate(Path(name.rstrip("+")), name.endswith("+")) for name in names]
    return send(changes, tracker, read, warnings.append, again=again), warnings


def test_once_down_nothing_more_is_asked() -> None:
    """After the first refusal the others are missing, too: who waits for each would wait for hours."""
    tracker = Wavering("+++-")
    found, warnings = sent(tracker, "x", "y", "z")
    assert tracker.asked == ["x-a", "x-b", "y-a", "y-b"]
    assert warnings == ["down at y-b"]
    # Nobody knows what it has of what it took before.
    assert (found.missing, found.runs) == ([Path("x"), Path("y"), Path("z")], [])
    assert tracker.is_closed


def test_while_it_is_followed_it_is_asked_again_and_lacks_nothing_in_the_end() -> None:
    """However often it is down: one warning; with every change it is asked, and gets all that it lacks."""
    tracker = Wavering("--++-")
    found, warnings = sent(tracker, "x+", "x+", "y+", "x", "y", again=True)
    assert warnings == ["down at x-a"]
    assert (found.missing, found.unread) == ([], {})
    assert sorted(one.id for one in found.runs) == ["x-a", "x-b", "y-a", "y-b"]
    assert {one.state for one in [*found.runs, *tracker.has.values()]} == {"finished"}


def test_what_fails_at_the_end_is_missing() -> None:
    """W&B sends what it was given when it is closed: a failure there is one of everything."""
    found, warnings = sent(Wavering(closes=False), "x", "y")
    assert (found.missing, found.runs, warnings) == ([Path("x"), Path("y")], [], ["down at the end"])
    found, warnings = sent(Wavering("-", closes=False), "x")
    assert (found.missing, warnings) == ([Path("x")], ["down at x-a"])


def test_a_damaged_comparison_keeps_no_other_from_being_sent() -> None:
    """It is named with its reason, and is no fault of the tracker's."""
    tracker = Wavering()
    found, warnings = sent(tracker, "x", "damaged", "y")
    assert list(tracker.has) == ["x-a", "x-b", "y-a", "y-b"]
    assert (found.missing, warnings) == ([], [])
    assert found.unread == {Path("damaged"): "damaged/comparison.json is truncated"}
    assert tracker.is_closed


@pytest.mark.parametrize("again", [False, True])
def test_a_run_is_told_in_its_latest_state_alone(again: bool) -> None:  # noqa: FBT001
    """A comparison that changed three times is two runs, not six."""
    found, _ = sent(Wavering(), "x+", "x+", "x", again=again)
    assert [(one.id, one.state) for one in found.runs] == [("x-a", "finished"), ("x-b", "finished")]
