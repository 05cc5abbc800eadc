"""MLflow itself: an SQLite file, and its own server on loopback."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from bakeoff.spec.errors import UsageError
from bakeoff.tracking.mlflow import MlflowTracker
from bakeoff.tracking.run import TrackedRun
from bakeoff.tracking.tracker import TrackerDownError

pytest.importorskip("mlflow")
pytest.importorskip("alembic")

# MLflow and what it imports warn of what they will change.
pytestmark = pytest.mark.filterwarnings("default")

SERVER = Path(__file__).with_name("mlflow_server.py")


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the address of an SQLite file, whose tables are made once: that takes seconds."""
    uri = f"sqlite:///{tmp_path_factory.mktemp('mlflow') / 'mlflow.db'}"
    client(uri).search_experiments()
    return uri


@pytest.fixture(scope="module")
def server(file: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """Return the address of a server of MLflow's, and the folder in which it keeps everything."""
    pytest.importorskip("flask")
    pytest.importorskip("flask_cors")
    folder = tmp_path_factory.mktemp("server")
    shutil.copy(file.removeprefix("sqlite:///"), folder)
    process = subprocess.Popen([sys.executable, str(SERVER), str(folder)], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{int(process.stdout.readline())}", folder
    finally:
        process.terminate()
        process.communicate()


def client(uri: str) -> Any:
    """Return MLflow's own client."""
    from mlflow.tracking import MlflowClient

    return MlflowClient(uri)


def runs_in(uri: str, project: str) -> list[Any]:
    """Return what MLflow has of an experiment."""
    mine = client(uri)
    return list(mine.search_runs([mine.get_experiment_by_name(project).experiment_id]))


def check(uri: str, project: str, recorded: list[TrackedRun]) -> None:
    """Hold what MLflow has of an experiment against these runs: everything once, and nothing else."""
    mine, found = client(uri), {one.data.tags["bakeoff.contender"]: one for one in runs_in(uri, project)}
    assert sorted(found) == sorted(run.name for run in recorded)
    for run in recorded:
        theirs = found[run.name]
        assert theirs.info.status == {"finished": "FINISHED", "running": "RUNNING"}[run.state]
        assert theirs.data.tags["bakeoff.comparison"] == run.group
        assert theirs.data.tags["mlflow.note.content"].startswith(run.note[:100])
        assert theirs.data.params["comparison.workload"] == "mlp-mnist"
        assert len(theirs.data.params) == len([value for value in run.config.values() if value != ""])
        assert theirs.data.metrics["step_s"] == run.metrics["step_s"]
        for name in ("block/elapsed_s", "block/step_s"):
            blocks = mine.get_metric_history(theirs.info.run_id, name)
            assert sorted((one.step, one.value) for one in blocks) == [
                (point.step, point.values[name]) for point in run.points
            ]
        assert {one.path for one in mine.list_artifacts(theirs.info.run_id)} == set(run.files)


def partly(run: TrackedRun, points: int) -> TrackedRun:
    """Return a run as it was when so many blocks were there."""
    return msgspec.structs.replace(run, points=run.points[:points], files={}, state="running", records=points)


def test_an_sqlite_file_gets_every_run_once(
    file: str, recorded: list[TrackedRun], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was followed for a while and then tracked twice is there once, and whole."""
    live = MlflowTracker(file, "once")
    for points in (8, 16):
        for run in recorded:
            live.write(partly(run, points))
    # Another process: nothing is remembered of the first but what MLflow has.
    for _ in range(2):
        tracker = MlflowTracker(file, "once")
        for run in recorded:
            tracker.write(run)
    check(file, "once", recorded)
    sent = []
    monkeypatch.setattr(tracker._client, "log_batch", lambda _, **told: sent.extend(told.get("metrics", [])))
    tracker.write(recorded[0])
    assert sent == []  # MLflow would take it twice, and show it once.


def test_a_run_that_says_something_else_is_made_anew(file: str, recorded: list[TrackedRun]) -> None:
    """MLflow keeps the larger of two values at one step, so records that differ from it take its place."""
    (run, *_) = recorded
    wrong = {**run.points[0].values, "block/step_s": 1e6}
    other = msgspec.structs.replace(run, points=[msgspec.structs.replace(run.points[0], values=wrong), *run.points[1:]])
    tracker = MlflowTracker(file, "anew")
    tracker.write(other)
    tracker.write(run)
    check(file, "anew", [run])
    tracker.write(msgspec.structs.replace(run, metrics=run.metrics | {"step_s": 2e6}))
    tracker.write(run)
    check(file, "anew", [run])


def test_a_run_has_the_state_of_its_comparison(file: str, recorded: list[TrackedRun]) -> None:
    """Failed, interrupted, and gone on with to its end: one run, whose end is that of its last block."""
    run = msgspec.structs.replace(recorded[0], files={}, points=recorded[0].points[:2])
    for state, status in (
        ("failed", "FAILED"),
        ("interrupted", "KILLED"),
        ("running", "RUNNING"),
        ("finished", "FINISHED"),
    ):
        MlflowTracker(file, "states").write(msgspec.structs.replace(run, state=state))
        (found,) = runs_in(file, "states")
        assert found.info.status == status
    assert (found.info.start_time, found.info.end_time) == (run.created_ms, run.points[-1].at_ms)


def test_what_can_be_no_address_is_refused() -> None:
    """A mistake in --uri ends with what is valid, and without who signs in."""
    with pytest.raises(UsageError, match="valid: http://HOST:PORT") as refused:
        MlflowTracker("ftp://me:hunter2@there", "bakeoff")
    assert "hunter2" not in str(refused.value)


def test_a_server_that_is_down_is_named_without_its_password(recorded: list[TrackedRun]) -> None:
    """The reason says what the system said; nothing listens on port 9 of loopback."""
    tracker = MlflowTracker("http://me:hunter2@127.0.0.1:9", "bakeoff")
    with pytest.raises(TrackerDownError, match=r"127\.0\.0\.1:9: Connection refused") as down:
        tracker.write(recorded[0])
    assert "hunter2" not in str(down.value) + tracker.where


@pytest.mark.slow
@pytest.mark.by_turns
def test_a_server_gets_every_run_once(
    server: tuple[str, Path], recorded: list[TrackedRun], monkeypatch: pytest.MonkeyPatch
) -> None:
    """MLflow's own server, over HTTP: followed for a while, then tracked, all is there once, and no password is."""
    monkeypatch.setenv("MLFLOW_TRACKING_USERNAME", "me")
    monkeypatch.setenv("MLFLOW_TRACKING_PASSWORD", "hunter2-hunter2")
    (uri, folder), (run, *_) = server, recorded
    live = MlflowTracker(uri, "served")
    live.write(partly(run, 8))
    MlflowTracker(uri, "served").write(run)
    check(uri, "served", [run])
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert {path.name for path in files} >= {"mlflow.db", *run.files}
    assert not [path for path in files if b"hunter2" in path.read_bytes()]
