"""The loop over stages with scripted stages and workers: what is run, what is kept, and what is left on disk."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from bakeoff.race import loop as module
from bakeoff.race.loop import Loop
from bakeoff.race.progress import ContenderActivity, Event, TrialEnded, TrialStarted
from bakeoff.race.specs import Trial
from bakeoff.race.stages.stage import Adopted, Checkpoint, Team, WantedTrials
from bakeoff.race.workers.worker import WorkerLostError
from bakeoff.spec.errors import StoreError
from bakeoff.spec.protocol import Command, Quit, Ready
from bakeoff.spec.record import Record
from bakeoff.spec.trial import CACHE_FOLDER, TrialSpec
from bakeoff.store.files import RECORD_FILE, TRIAL_FILE, read_record, write_record

KEPT = Path(__file__).parents[2] / "docs" / "records" / "mlp-mnist-07d5"
TIMED = read_record(KEPT / "r01-torch")
CERTIFIED = read_record(KEPT / "certify-torch")
LIMIT_S = 12.0

Left = Callable[[], float | None]
Fault = Exception | KeyboardInterrupt


def spec(label: str, name: str = "", **changes: Any) -> TrialSpec:
    """Give a trial of a contender."""
    contender = msgspec.structs.replace(TIMED.trial.contender, label=label)
    return msgspec.structs.replace(TIMED.trial, name=name or f"r01-{label}", contender=contender, **changes)


def record(label: str, name: str = "", **changes: Any) -> Record:
    """Give a record of a contender."""
    return msgspec.structs.replace(TIMED, **({"trial": spec(label, name)} | changes))


def wanted(*labels: str, script: Callable[[Team], object] = lambda _: None, **changes: Any) -> WantedTrials:
    """Give trials that are to be run together."""
    return WantedTrials(tuple(Trial(spec(label, **changes), "python") for label in labels), script)


class ScriptedWorker:
    """Writes its record when it is told to quit; has the faults that a test plants, by what it is asked."""

    def __init__(self, world: World, folder: Path, trial: TrialSpec) -> None:
        """Take the world that notes what is asked."""
        self._world, self._folder, self._trial = world, folder, trial

    def _meet(self, what: str) -> None:
        label = self._trial.contender.label
        self._world.asked.append((label, what))
        fault = self._world.faults.get((label, what))
        if fault is not None:
            raise fault

    def ready(self, limit_s: float) -> Ready:
        """Be ready, if no fault is planted."""
        assert limit_s == LIMIT_S
        self._meet("ready")
        return Ready(import_ns=1)

    def ask(self, command: Command, limit_s: float) -> Any:
        """Write the record."""
        assert (type(command), limit_s) == (Quit, LIMIT_S)
        self._meet("quit")
        write_record(self._folder, msgspec.structs.replace(self._world.leaves, trial=self._trial))

    def end(self) -> None:
        """Note the end."""
        self._world.asked.append((self._trial.contender.label, "end"))


class World:
    """A loop in a folder, with what has been asked of workers and what was observed."""

    def __init__(self, folder: Path) -> None:
        """Begin with nothing on disk."""
        self.folder = folder
        self.faults: dict[tuple[str, str], Fault] = {}
        self.asked: list[tuple[str, str]] = []
        self.seen: list[Event] = []
        self.left_s: float | None = None
        self.leaves = TIMED
        procedure = SimpleNamespace(trial_limit_s=LIMIT_S)
        self.state: Any = SimpleNamespace(
            folder=folder,
            comparison=SimpleNamespace(id="one", procedure=procedure),
            records={},
            left_s=lambda: self.left_s,
        )
        self.loop = Loop(self.state, self._launch, self.seen.append)

    def _launch(self, folder: Path, trial: TrialSpec, interpreter: str) -> Any:
        assert interpreter == "python"
        assert (folder / TRIAL_FILE).exists()
        worker = ScriptedWorker(self, folder, trial)
        worker._meet("start")
        return worker

    def run(self, *wishes: Any) -> int:
        """Run one stage; return how many stages were cut short."""

        def stage(_: Any) -> Iterator[Any]:
            yield from wishes

        return len(self.loop.run([stage]))

    @property
    def started(self) -> list[str]:
        """Return whose workers were started."""
        return [label for label, what in self.asked if what == "start"]


@pytest.fixture
def world(tmp_path: Path) -> World:
    """Give a world in a folder of the test's."""
    return World(tmp_path)


@pytest.mark.parametrize(
    ("left_s", "needs_s", "cut"),
    [(None, 5.0, 0), (5.1, 5.0, 0), (5.0, 5.0, 1), (4.0, 5.0, 1), (0.0, 0.0, 1), (0.1, 0.0, 0)],
)
def test_a_stage_ends_where_what_comes_next_takes_as_long_as_is_left(
    world: World, left_s: float | None, needs_s: float, cut: int
) -> None:
    """Without a budget it goes on; the stages behind it have their turn in any case."""
    world.left_s = left_s
    stages = [lambda _: iter([Checkpoint(needs_s), wanted("a")]), lambda _: iter([wanted("b")])]
    assert world.loop.run(stages) == stages[:cut]
    assert world.started == (["b"] if cut else ["a", "b"])


def test_what_is_on_disk_is_not_run_again(world: World) -> None:
    """Trials that are all there are left alone; of two that start together both run where one is missing."""
    assert world.run(wanted("a")) == 0
    assert world.run(wanted("a")) == 0
    assert world.started == ["a"]
    world.run(wanted("a", "b"))
    assert world.started == ["a", "a", "b"]
    assert sorted(world.state.records) == ["r01-a", "r01-b"]


def test_workers_start_together_and_end_in_any_case(world: World) -> None:
    """Both are started before either is waited for; each start and end is told, with what came of it."""
    told: list[Team] = []
    world.run(wanted("a", "b", script=told.append), ContenderActivity("a", "something"))
    assert [what for _, what in world.asked] == ["start", "start", "ready", "ready", "quit", "quit", "end", "end"]
    assert [(type(one), one.label) for one in world.seen[:4]] == [  # type: ignore[union-attr]
        (TrialStarted, "a"),
        (TrialStarted, "b"),
        (TrialEnded, "a"),
        (TrialEnded, "b"),
    ]
    assert (world.seen[0], world.seen[4]) == (TrialStarted("r01-a", "a", "time"), ContenderActivity("a", "something"))
    assert len(told) == 1


def test_a_script_knows_how_many_steps_see_every_shape(world: World) -> None:
    """A session rounds steps up to whole passes over its trial's batches."""
    told: list[dict[str, int]] = []
    world.run(wanted("a", script=lambda team: told.append(team.each(lambda one: one.whole(4))), pass_steps=3))
    assert told == [{"a": 6}]


@pytest.mark.parametrize("at", ["start", "ready", "quit"])
def test_a_worker_that_is_lost_leaves_a_record_and_ends_no_other(world: World, at: str) -> None:
    """Its outcome, reason and details are kept, its end is told once, and its own cache is removed."""
    cache = world.folder / "r01-a" / CACHE_FOLDER
    world.faults["a", at] = WorkerLostError("crashed", "it ended by SIGSEGV", "the last lines")

    def script(_: Team) -> None:
        cache.mkdir(exist_ok=True)

    world.run(wanted("a", "b", script=script, variables={"ONE": "1"}))
    lost, other = world.state.records["r01-a"], world.state.records["r01-b"]
    assert (lost.outcome, lost.reason, lost.detail) == ("crashed", "it ended by SIGSEGV", "the last lines")
    assert lost.variables == {"ONE": "1"}
    assert (other.outcome, read_record(world.folder / "r01-a")) == ("done", lost)
    ended = {one.label: one.outcome for one in world.seen if isinstance(one, TrialEnded)}
    assert ended == {"a": "crashed", "b": "done"}
    assert sum(isinstance(one, TrialEnded) for one in world.seen) == 2
    assert cache.exists() == (at != "quit")


def test_a_worker_that_was_late_may_have_waited_for_a_driver(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it may have waited for is told of a timeout alone."""
    monkeypatch.setattr(module, "why_late", lambda _: "; a driver compiled")
    world.faults["a", "quit"] = WorkerLostError("timeout", "no answer")
    world.faults["b", "quit"] = WorkerLostError("killed", "no memory")
    world.run(wanted("a", "b"))
    assert [world.state.records[f"r01-{label}"].reason for label in "ab"] == [
        "no answer; a driver compiled",
        "no memory",
    ]


def test_a_failure_that_could_not_be_written_down_ends_the_comparison(world: World) -> None:
    """A worker that tells of its failure has recorded it; where no record is, its disk is full."""
    world.faults["a", "ready"] = WorkerLostError("failed", "no space left")
    with pytest.raises(StoreError, match="no space left"):
        world.run(wanted("a"))
    assert world.asked[-1] == ("a", "end")


def test_a_record_that_a_lost_worker_has_written_is_kept(world: World) -> None:
    """What it said of its own failure is better than that it was lost."""

    def script(_: Team) -> None:
        own = record("a", outcome="failed", reason="its own words")
        write_record(world.folder / "r01-a", own)

    world.faults["a", "quit"] = WorkerLostError("failed", "other words")
    world.run(wanted("a", script=script))
    assert world.state.records["r01-a"].reason == "its own words"


def test_ctrl_c_ends_every_worker(world: World) -> None:
    """Also those that had not been asked yet; an unfinished trial leaves no record."""
    world.faults["a", "ready"] = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        world.run(wanted("a", "b"))
    assert world.asked[-2:] == [("a", "end"), ("b", "end")]
    assert not list(world.folder.glob(f"*/{RECORD_FILE}"))


def test_what_an_unfinished_run_left_is_cleared_and_what_has_a_record_is_not(world: World) -> None:
    """Before a trial begins again: half-written arrays would stand beside those of the new one."""
    for label in ("a", "b"):
        (world.folder / f"r01-{label}").mkdir()
        (world.folder / f"r01-{label}" / "left.npz").write_text("")
    write_record(world.folder / "r01-b", record("b"))
    world.run(wanted("a", "b"))
    assert [(world.folder / f"r01-{label}" / "left.npz").exists() for label in "ab"] == [False, True]


def test_links_are_followed_neither_to_run_nor_to_adopt(world: World, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A trial's folder that leads elsewhere is refused before anything is written there."""
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (world.folder / "r01-a").symlink_to(elsewhere)
    for wish in (wanted("a"), Adopted(record("a"))):
        with pytest.raises(StoreError, match="links are not followed"):
            world.run(wish)
    assert not list(elsewhere.iterdir())


def test_a_record_of_before_is_written_as_if_its_trial_had_run(world: World) -> None:
    """With its trial beside it; one that is there already stays as it is."""
    world.run(Adopted(record("a")))
    assert world.state.records == {"r01-a": record("a")}
    assert read_record(world.folder / "r01-a") == record("a")
    assert (world.folder / "r01-a" / TRIAL_FILE).exists()
    world.run(Adopted(record("a", reason="another")))
    assert world.state.records["r01-a"].reason == ""
    assert world.started == []


def test_arrays_are_adopted_with_their_record_while_they_are_the_same(world: World) -> None:
    """Where the file has other bytes than the evidence says, nothing is taken: the stage has a trial instead."""
    assert CERTIFIED.evidence is not None
    other = world.folder / "other.npz"
    other.write_bytes(b"other bytes")
    world.run(Adopted(CERTIFIED, other))
    assert (world.state.records, list(world.folder.glob("certify-*"))) == ({}, [])
    same = next(path for path in (KEPT / "certify-torch").iterdir() if path.suffix == ".npz")
    world.run(Adopted(CERTIFIED, same))
    assert list(world.state.records) == ["certify-torch"]
    assert (world.folder / "certify-torch" / same.name).read_bytes() == same.read_bytes()


@pytest.mark.parametrize(
    ("before", "said"),
    [
        ({"python": "3.0"}, "a had Python 3.0, torch 2, LIB 1 and has Python 3.1, torch 2, LIB 1 here"),
        ({"versions": {"torch": "1"}}, "a had Python 3.1, torch 1, LIB 1 and has Python 3.1, torch 2, LIB 1 here"),
        ({"inherited": {"LIB": "0"}}, "a had Python 3.1, torch 2, LIB 0 and has Python 3.1, torch 2, LIB 1 here"),
        ({}, ""),
        ({"python": "3.0", "outcome": "killed"}, ""),
        ({"python": "3.0", "trial": spec("other", "r00-a")}, ""),
    ],
)
def test_versions_do_not_mix_within_a_contender(world: World, before: dict[str, Any], said: str) -> None:
    """What was made with others is removed again, and the comparison is not gone on with; other contenders may."""
    facts = {"python": "3.1", "versions": {"torch": "2"}, "inherited": {"LIB": "1"}}
    world.leaves = msgspec.structs.replace(TIMED, **facts)
    world.state.records["r00-a"] = record("a", "r00-a", **(facts | before))
    if not said:
        world.run(wanted("a"))
        assert (world.folder / "r01-a" / RECORD_FILE).exists()
        return
    with pytest.raises(StoreError, match=f"cannot go on with one: {said}"):
        world.run(wanted("a"))
    assert not (world.folder / "r01-a").exists()
    assert "r01-a" not in world.state.records
    with pytest.raises(StoreError, match="cannot go on"):
        world.run(Adopted(record("a", **facts)))


def test_a_trial_that_failed_is_no_mixture(world: World) -> None:
    """A record of a worker that was lost knows no versions."""
    world.state.records["r00-a"] = record("a", "r00-a", python="3.0")
    world.faults["a", "ready"] = WorkerLostError("crashed", "it ended")
    world.run(wanted("a"))
    assert world.state.records["r01-a"].outcome == "crashed"


def test_all_records_of_a_trial_with_other_versions_are_removed(world: World) -> None:
    """Of two contenders that were updated since, neither leaves one behind."""
    for label in ("a", "b"):
        world.state.records[f"r00-{label}"] = record(label, f"r00-{label}", python="3.0")
    with pytest.raises(StoreError, match="cannot go on with one: a had"):
        world.run(wanted("a", "b"))
    assert not list(world.folder.glob("r01-*"))
