"""TensorBoard's event files, read back."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import msgspec
import pytest

from bakeoff.tracking.run import TrackedRun
from bakeoff.tracking.tensorboard import TensorboardTracker
from bakeoff.tracking.tracker import TrackerDownError

events = pytest.importorskip("tensorboardX.proto.event_pb2")


def written(folder: Path) -> dict[str, list[Any]]:
    """Return the events of every file below a folder, by its path; a record is its length, a sum, itself, a sum."""
    found = {}
    for path in sorted(folder.rglob("*tfevents*")):
        content, mine = path.read_bytes(), []
        while content:
            (length,) = struct.unpack("<Q", content[:8])
            mine.append(events.Event.FromString(content[12 : 12 + length]))
            content = content[16 + length :]
        found[path.relative_to(folder).as_posix()] = mine
    return found


def scalars(mine: list[Any]) -> dict[str, list[tuple[int, float]]]:
    """Return the scalars of a file: step and value by name."""
    found: dict[str, list[tuple[int, float]]] = {}
    for event in mine:
        for value in event.summary.value:
            if value.WhichOneof("value") == "simple_value":
                found.setdefault(value.tag, []).append((event.step, value.simple_value))
    return found


def track(folder: Path, runs: list[TrackedRun]) -> dict[str, list[Any]]:
    """Write these runs; return what was written."""
    tracker = TensorboardTracker(folder)
    for run in runs:
        tracker.write(run)
    tracker.close()
    return written(folder)


def test_event_files_hold_blocks_figures_and_the_picture(tmp_path: Path, recorded: list[TrackedRun]) -> None:
    """One folder for each contender, whose file TensorBoard takes; its name holds no machine's name."""
    found = track(tmp_path, recorded)
    assert [Path(name).parent.as_posix() for name in found] == sorted(f"{run.group}/{run.name}" for run in recorded)
    for run in recorded:
        (path,) = [name for name in found if run.id in name]
        assert Path(path).name == f"events.out.tfevents.{run.created_ms // 1000}.{run.id}.bakeoff"
        mine = found[path]
        assert mine[0].file_version == "brain.Event:2"
        told = scalars(mine)
        times = [event.wall_time for event in mine for value in event.summary.value if value.tag == "block/step_s"]
        assert times == [point.at_ms / 1000 for point in run.points]
        assert told["block/step_s"] == [
            (point.step, pytest.approx(point.values["block/step_s"], rel=1e-6)) for point in run.points
        ]
        assert told["figures/step_s"] == [(0, pytest.approx(run.metrics["step_s"], rel=1e-6))]
        pictures = [value.image for event in mine for value in event.summary.value if value.tag == "chart"]
        assert [picture.encoded_image_string for picture in pictures] == [run.files["chart.png"]]
        assert pictures[0].width > 100


def test_tracking_again_doubles_nothing(tmp_path: Path, recorded: list[TrackedRun]) -> None:
    """What was followed while it ran has the same bytes as what was tracked at the end, and so has what is again."""
    runs = [msgspec.structs.replace(run, files={}) for run in recorded]
    first = track(tmp_path / "end", runs)
    tracker = TensorboardTracker(tmp_path / "live")
    for points in (8, 16):
        for run in runs:
            tracker.write(msgspec.structs.replace(run, points=run.points[:points], state="running"))
    for run in runs:
        tracker.write(run)
    tracker.close()
    assert written(tmp_path / "live") == first
    assert track(tmp_path / "live", runs) == first


def test_a_run_that_is_sent_again_when_it_is_over_is_not_doubled(tmp_path: Path, recorded: list[TrackedRun]) -> None:
    """By the same tracker, as where another comparison could not be sent: one of each figure, text and picture."""
    runs = recorded[:1]
    first = track(tmp_path / "once", runs)
    assert track(tmp_path / "twice", [*runs, *runs]) == first


def test_what_was_written_half_begins_anew(
    tmp_path: Path, recorded: list[TrackedRun], monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a disk that was full in the middle of a block the file is as if it had never been."""
    run = msgspec.structs.replace(recorded[0], files={})
    first = track(tmp_path / "whole", [run])
    tracker = TensorboardTracker(tmp_path / "half")
    tracker.write(msgspec.structs.replace(run, points=run.points[:8], state="running"))
    (file,) = tracker._files.values()
    asked = []

    def full(content: bytes) -> None:
        asked.append(content)
        if len(asked) > 3:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(file, "write", full)
    with pytest.raises(TrackerDownError, match=r"cannot write below .*No space left on device"):
        tracker.write(msgspec.structs.replace(run, points=run.points[:16], state="running"))
    tracker.write(run)
    tracker.close()
    assert written(tmp_path / "half") == first


def test_blocks_that_changed_meanwhile_are_written_anew(tmp_path: Path, recorded: list[TrackedRun]) -> None:
    """A trial that was done again has other times: what stood in the file is not so any more."""
    run = msgspec.structs.replace(recorded[0], files={})
    first = track(tmp_path / "end", [run])
    before = [msgspec.structs.replace(run.points[0], values={"block/step_s": 1.0}), *run.points[1:8]]
    tracker = TensorboardTracker(tmp_path / "live")
    tracker.write(msgspec.structs.replace(run, points=before, state="running"))
    tracker.write(run)
    tracker.close()
    assert written(tmp_path / "live") == first


def test_a_run_that_goes_on_has_no_figures_yet(tmp_path: Path, recorded: list[TrackedRun]) -> None:
    """While a comparison runs its file has blocks alone, in their order, each once; the rest comes with its end."""
    run = recorded[0]
    tracker = TensorboardTracker(tmp_path)
    for points in (4, 4, 9):
        tracker.write(msgspec.structs.replace(run, points=run.points[:points], state="running", files={}))
    tracker.close()
    ((_, *mine),) = written(tmp_path).values()
    assert {value.tag.partition("/")[0] for event in mine for value in event.summary.value} == {"block"}
    assert [step for step, _ in scalars(mine)["block/round"]] == list(range(9))
