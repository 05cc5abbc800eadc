"""W&B's own client: offline folders that are read back, and a stand-in of its server on loopback."""

from __future__ import annotations

import base64
import json
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.tracking.wandb_server import Server, serving

from bakeoff.spec.errors import UsageError
from bakeoff.tracking import wandb as tracking
from bakeoff.tracking.run import TrackedRun
from bakeoff.tracking.tracker import TrackerDownError
from bakeoff.tracking.wandb import WandbTracker

pytest.importorskip("wandb")

# The client and what it imports warn of what they will change.
pytestmark = pytest.mark.filterwarnings("default")

KEY = "0123456789abcdef" * 2 + "01234567"
"""Of the form that W&B's keys have."""

BLOCK_BYTES, HEAD_BYTES = 32 << 10, 7
"""Of W&B's files, which are LevelDB's logs behind seven bytes that name the form: a block, and a record's head."""


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the client keep nothing in the user's home, and know no key."""
    for name in ("WANDB_CONFIG_DIR", "WANDB_CACHE_DIR", "WANDB_DATA_DIR"):
        monkeypatch.setenv(name, str(tmp_path / "own" / name))
    for name in ("WANDB_API_KEY", "WANDB_MODE", "WANDB_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """Return a stand-in for W&B's server, which the client knows and has a key for."""
    with serving() as found:
        monkeypatch.setenv("WANDB_BASE_URL", f"http://127.0.0.1:{found.server_port}")
        monkeypatch.setenv("WANDB_API_KEY", KEY)
        yield found


def records(path: Path) -> list[Any]:
    """Return the records of one of W&B's files; each is in one part or several, none of which crosses a block."""
    from wandb.proto.wandb_internal_pb2 import Record

    content, place, found, whole = path.read_bytes(), HEAD_BYTES, [], b""
    assert content.startswith(b":W&B")
    while place + HEAD_BYTES <= len(content):
        rest = BLOCK_BYTES - place % BLOCK_BYTES
        if rest < HEAD_BYTES:
            place += rest
            continue
        _, length, kind = struct.unpack_from("<IHB", content, place)
        whole += content[place + HEAD_BYTES : place + HEAD_BYTES + length]
        place += HEAD_BYTES + length
        if kind in {1, 4}:  # whole, or the last part
            found.append(Record.FromString(whole))
            whole = b""
    return found


def track(tracker: WandbTracker, *states: list[TrackedRun]) -> None:
    """Send runs, in one state after another."""
    for runs in states:
        for run in runs:
            tracker.write(run)
    tracker.close()


def partly(run: TrackedRun, points: int) -> TrackedRun:
    """Return a run as it was when so many blocks were there."""
    return msgspec.structs.replace(run, points=run.points[:points], files={}, state="running")


def test_offline_folders_hold_everything(tmp_path: Path, recorded: list[TrackedRun]) -> None:
    """A folder for each contender that `wandb sync` takes: group, settings, blocks, figures, verdicts and files."""
    track(WandbTracker("mine", None, tmp_path, is_offline=True), recorded)
    for run in recorded:
        (path,) = tmp_path.glob(f"wandb/offline-run-*-{run.id}/run-{run.id}.wandb")
        found = records(path)
        (begun,) = [one.run for one in found if one.HasField("run")]
        assert (begun.run_id, begun.run_group, begun.display_name, begun.project) == (
            run.id,
            run.group,
            run.name,
            "mine",
        )
        config = {one.key: json.loads(one.value_json) for one in begun.config.update}
        assert {name: config[name] for name in run.config} == run.config
        history = [_keys(one.history.item) for one in found if one.HasField("history")]
        blocks = [(one["_step"], one["block/elapsed_s"]) for one in history if "block/elapsed_s" in one]
        assert blocks == [(point.step, point.values["block/elapsed_s"]) for point in run.points]
        summary = {}
        for one in found:
            summary |= _keys(one.summary.update) if one.HasField("summary") else {}
        assert {name: summary[name] for name in run.metrics} == run.metrics
        assert {name: summary[name] for name in run.words} == run.words
        for name, content in run.files.items():
            assert (path.parent / "files" / name).read_bytes() == content


def test_a_failed_contender_is_a_failed_run(tmp_path: Path, recorded: list[TrackedRun]) -> None:
    """W&B shows it as such by the exit code; one that was interrupted, and went on to its end, is none."""
    fine, lost, resumed = (msgspec.structs.replace(run, files={}, points=run.points[:2]) for run in recorded)
    tracker = WandbTracker("mine", None, tmp_path, is_offline=True)
    failed = msgspec.structs.replace(lost, state="failed")
    track(tracker, [msgspec.structs.replace(resumed, state="interrupted")], [fine, failed, resumed])
    codes = {}
    for run in recorded:
        (path,) = tmp_path.glob(f"wandb/offline-run-*-{run.id}/*.wandb")
        (codes[run.id],) = [one.exit.exit_code for one in records(path) if one.HasField("exit")]
    assert codes == {fine.id: 0, lost.id: 1, resumed.id: 0}


def _keys(items: Any) -> dict[str, Any]:
    """Return the values of a record by their keys."""
    return {one.key or ".".join(one.nested_key): json.loads(one.value_json) for one in items}


def test_the_client_collects_nothing_by_itself(tmp_path: Path, recorded: list[TrackedRun]) -> None:
    """No name of the machine, no path of a folder here, no list of packages, no program with its arguments."""
    track(WandbTracker("mine", None, tmp_path, is_offline=True), recorded[:1])
    (path,) = tmp_path.glob("wandb/offline-run-*/*.wandb")
    (begun,) = [one.run for one in records(path) if one.HasField("run")]
    assert begun.host == ""
    assert not begun.HasField("git")
    assert str(tmp_path).encode() not in path.read_bytes()
    assert str(Path.home() / ".").encode() not in path.read_bytes()
    sent = {one.name for one in (path.parent / "files").rglob("*") if one.is_file()}
    assert {name for name in sent if not name.startswith("chart_")} == set(recorded[0].files)


def test_a_run_that_is_sent_again_is_not_doubled(
    tmp_path: Path, server: Server, recorded: list[TrackedRun], capfd: pytest.CaptureFixture[str]
) -> None:
    """What was followed for a while and is then tracked has every line once; the key is sent to sign in alone."""
    (run, *_) = recorded
    track(WandbTracker("mine", None, tmp_path, is_offline=False), [partly(run, 8)], [partly(run, 12)])
    assert len(server.history(run.id)) == 12
    track(WandbTracker("mine", None, tmp_path, is_offline=False), [run])
    found = server.history(run.id)
    assert [one["_step"] for one in found if "block/elapsed_s" in one] == [point.step for point in run.points]
    assert len(found) == len(run.points) + 1  # and the picture
    assert set(server.begun) == {run.id}
    assert (server.begun[run.id]["groupName"], server.begun[run.id]["displayName"]) == (run.group, run.name)
    assert server.uploaded["/up/blocks.json"] == run.files["blocks.json"]
    signed = f"Basic {base64.b64encode(f'api:{KEY}'.encode()).decode()}"
    assert server.keys - {""} == {signed}
    assert not [asked[:100] for asked in server.asked if KEY in asked]
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]
    assert KEY not in "".join(capfd.readouterr())


def test_a_trial_that_was_done_again_begins_its_run_anew(
    tmp_path: Path, server: Server, recorded: list[TrackedRun]
) -> None:
    """Blocks that say something else than those that were sent replace them, though they are as many."""
    run = partly(recorded[0], 8)
    first, *others = run.points
    other = msgspec.structs.replace(first, values=first.values | {"block/elapsed_s": 12.5})
    before = msgspec.structs.replace(run, points=[other, *others])
    track(WandbTracker("mine", None, tmp_path, is_offline=False), [before], [run])
    found = [one["block/elapsed_s"] for one in server.history(run.id) if "block/elapsed_s" in one]
    assert found == [point.values["block/elapsed_s"] for point in run.points]


@pytest.mark.slow
@pytest.mark.by_turns
def test_offline_folders_are_taken_by_wandb_sync(tmp_path: Path, server: Server, recorded: list[TrackedRun]) -> None:
    """W&B's own command sends them whole; a run that is tracked online after that is the same run."""
    (run, *_) = recorded
    track(WandbTracker("mine", None, tmp_path, is_offline=True), [run])
    subprocess.run(
        [sys.executable, "-m", "wandb", "sync", "--yes"], cwd=tmp_path, check=True, capture_output=True, timeout=120
    )
    steps = [point.step for point in run.points]
    assert [one["_step"] for one in server.history(run.id) if "block/elapsed_s" in one] == steps
    assert server.begun[run.id]["groupName"] == run.group
    assert server.uploaded["/up/report.md"] == run.files["report.md"]
    track(WandbTracker("mine", None, tmp_path, is_offline=False), [run])
    assert [one["_step"] for one in server.history(run.id) if "block/elapsed_s" in one] == steps


@pytest.mark.by_turns
def test_a_server_that_is_down_is_noticed_and_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, recorded: list[TrackedRun]
) -> None:
    """The reason is the client's; once the server is there, the same tracker sends everything."""
    with serving() as server:
        port = server.server_port
    monkeypatch.setenv("WANDB_BASE_URL", f"http://127.0.0.1:{port}")
    monkeypatch.setenv("WANDB_API_KEY", KEY)
    monkeypatch.setattr(tracking, "WAIT_S", 1.0)
    tracker = WandbTracker("mine", None, tmp_path, is_offline=False)
    with pytest.raises(TrackerDownError, match=r"^W&B: "):
        tracker.write(recorded[0])
    with serving(port) as server:
        track(tracker, recorded[:1])
        blocks = [one["_step"] for one in server.history(recorded[0].id) if "block/elapsed_s" in one]
    assert blocks == [point.step for point in recorded[0].points]


def test_without_a_key_it_says_what_to_do(tmp_path: Path) -> None:
    """No question is asked that a job could not answer."""
    with pytest.raises(UsageError, match=r"no key here: set WANDB_API_KEY, or type `wandb login`.*--offline"):
        WandbTracker("mine", None, tmp_path, is_offline=False)
