"""A comparison that is followed while it runs, and what is left of a key that was there meanwhile."""

from __future__ import annotations

import threading
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from bakeoff.acceptance.redacted import sharing_redactor
from bakeoff.race.progress import RoundEnded
from bakeoff.store.results import comparisons
from bakeoff.tracking import content
from bakeoff.tracking.content import runs_of
from bakeoff.tracking.following import ComparisonUpdate, following
from bakeoff.tracking.run import TrackedRun
from bakeoff.tracking.sending import Sent, send
from bakeoff.tracking.tensorboard import TensorboardTracker
from bakeoff.tracking.tracker import TrackerDownError
from bakeoff.tracking.wandb import WandbTracker

if TYPE_CHECKING:
    from tests.race.conftest import Race

LOOK_S = 0.01
DEADLINE_S = 60.0
PAIR = ("fake:step_ms=1.0", "fake:step_ms=1.2")
KEY = "89abcdef01234567" * 2 + "89abcdef"


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw no picture: it takes longer than the comparison, and other tests hold it."""
    monkeypatch.setattr(content, "render", lambda pages, kind: b"picture")


class Kept:
    """A tracker that keeps every state of every run; while it is down it takes none."""

    where = "the test"

    def __init__(self) -> None:
        """Begin with nothing."""
        self.states: dict[str, list[TrackedRun]] = {}
        self.is_down = False
        self.asked = 0
        self.is_closed = False

    def write(self, run: TrackedRun) -> None:
        """Keep a state."""
        self.asked += 1
        if self.is_down:
            reason = "nobody is there"
            raise TrackerDownError(reason)
        self.states.setdefault(run.name, []).append(run)

    def close(self) -> None:
        """Keep that it was closed."""
        self.is_closed = True


def read(change: ComparisonUpdate) -> list[TrackedRun]:
    """Return a comparison's runs as they are."""
    return runs_of(change.folder, None, is_running=change.is_running)


def followed(race: Race, tmp_path: Path, tracker: Kept, *, wait: Any) -> tuple[Sent, list[str]]:
    """Return what was sent of a comparison that ran meanwhile, and the warnings; `wait` is called after each round."""
    warnings: list[str] = []
    sent: list[Sent] = []

    def follow() -> None:
        (folder,) = comparisons(tmp_path / "results")
        sent.append(send(following([folder], LOOK_S), tracker, read, warnings.append, again=True))

    thread = threading.Thread(target=follow)

    def observe(event: Any) -> None:
        if isinstance(event, RoundEnded):
            if not thread.ident:
                thread.start()
            wait(event)

    race(*PAIR, observe=observe, max_rounds=3)
    thread.join(DEADLINE_S)
    return sent[0], warnings


def until(condition: Any) -> None:
    """Wait until something holds, or fail at the deadline."""
    passed = threading.Event()
    for _ in range(int(DEADLINE_S / LOOK_S)):
        if condition():
            return
        passed.wait(LOOK_S)
    pytest.fail("the deadline has passed")


@pytest.mark.usefixtures("undrawn")
def test_records_are_sent_as_they_arrive(race: Race, tmp_path: Path) -> None:
    """Each state has the blocks of the one before it and more, without files; the last is whole."""
    tracker = Kept()

    def wait(event: RoundEnded) -> None:
        rounds = event.round_number
        until(lambda: [rounds_of(mine[-1]) for mine in list(tracker.states.values())] == [rounds, rounds])

    sent, warnings = followed(race, tmp_path, tracker, wait=wait)
    assert (sent.missing, warnings, tracker.is_closed) == ([], [], True)
    for states in tracker.states.values():
        for before, after in pairwise(states):
            assert after.points[: len(before.points)] == before.points
            assert (after.id, after.name) == (before.id, before.name)
        assert {state.state for state in states[:-1]} == {"running"}
        assert not any(state.files for state in states[:-1])
        assert states[-1].state == "finished"
        assert {"report.md", "chart.png"} <= set(states[-1].files)
    assert sent.runs == [states[-1] for states in tracker.states.values()]


def rounds_of(run: TrackedRun) -> int:
    """Return how many rounds a run has blocks of."""
    return len({point.values["block/round"] for point in run.points})


@pytest.mark.usefixtures("undrawn")
def test_a_tracker_that_is_down_is_one_warning(race: Race, tmp_path: Path) -> None:
    """It is asked again with the next records, and gets what it lacks; the race goes on as if nobody followed it."""
    tracker = Kept()
    tracker.is_down = True

    def wait(event: RoundEnded) -> None:
        if event.round_number < 3:
            until(lambda: tracker.asked >= event.round_number)
        tracker.is_down = event.round_number < 3

    sent, warnings = followed(race, tmp_path, tracker, wait=wait)
    assert warnings == ["nobody is there"]
    assert sent.missing == []
    # With the words, so that a failure says what the contender was found to be.
    assert [(rounds_of(run), run.words["status"]) for run in sent.runs] == [(3, "ranked")] * 2, [
        run.words for run in sent.runs
    ]


@pytest.mark.usefixtures("undrawn")
def test_a_tracker_that_stays_down_lacks_everything(race: Race, tmp_path: Path) -> None:
    """What is missing is named, after one warning; records are as complete as ever, and fill the hole later."""
    race(*PAIR, max_rounds=1)
    tracker, warnings = Kept(), []
    tracker.is_down = True
    folders = comparisons(tmp_path / "results") * 2
    changes = [ComparisonUpdate(folder, is_running=False) for folder in folders]
    sent = send(changes, tracker, read, warnings.append)
    assert (sent.missing, sent.runs, warnings, tracker.asked) == (folders[:1], [], ["nobody is there"], 1)
    tracker.is_down = False
    sent = send(changes[:1], tracker, read, warnings.append)
    assert (sent.missing, len(sent.runs), len(warnings)) == ([], 2, 1)


@pytest.mark.usefixtures("undrawn")
def test_a_comparison_that_nobody_goes_on_with_is_over(race: Race, tmp_path: Path) -> None:
    """Following ends where no process has the lock, whatever is missing: the run is interrupted."""

    def interrupt(event: Any) -> None:
        if isinstance(event, RoundEnded):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        race(*PAIR, observe=interrupt, aim="until-sure", max_rounds=None)
    changes = list(following(comparisons(tmp_path / "results"), LOOK_S))
    assert [change.is_running for change in changes] == [False]
    assert [run.state for run in read(changes[0])] == ["interrupted", "interrupted"]


@pytest.mark.filterwarnings("default")  # of the trackers' own clients
def test_a_key_is_nowhere(race: Race, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tracker's key is in no record, log or report, and in nothing that is sent, nor are names and folders."""
    pytest.importorskip("wandb")
    pytest.importorskip("tensorboardX")
    monkeypatch.setenv("WANDB_API_KEY", KEY)
    monkeypatch.setenv("USER", "alice")
    for name in ("WANDB_CONFIG_DIR", "WANDB_CACHE_DIR", "WANDB_DATA_DIR"):
        monkeypatch.setenv(name, str(tmp_path / "own"))
    # A careless command line, and a user's name where it may stand.
    race(*PAIR, max_rounds=1, command=f"bakeoff run mlp-mnist --data /home/alice/x --api-key {KEY} --note alice")
    (folder,) = comparisons(tmp_path / "results")
    careless = {folder / "comparison.json"}
    assert KEY in (folder / "comparison.json").read_text()
    runs = runs_of(folder, sharing_redactor())
    for tracker in (
        WandbTracker("mine", None, tmp_path / "w", is_offline=True),
        TensorboardTracker(tmp_path / "t"),
    ):
        for run in runs:
            tracker.write(run)
        tracker.close()
    files = {path for path in tmp_path.rglob("*") if path.is_file()} - careless
    assert {path.suffix for path in files} >= {".wandb", ".bakeoff", ".json", ".md"}
    sent = [path for path in files if not path.is_relative_to(tmp_path / "results")]
    assert not [path for path in files if KEY.encode() in path.read_bytes()]
    assert not [path for path in sent if b"alice" in path.read_bytes()]
