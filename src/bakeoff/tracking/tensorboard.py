"""TensorBoard: one folder for each contender, with one file of events that is written anew each time.

DIR/<comparison>/<contender>/events.out.tfevents.<seconds>.<run>.bakeoff
"""

from __future__ import annotations

import struct
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from bakeoff.spec.contender import slug
from bakeoff.tracking.tracker import TrackerDownError, client

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from bakeoff.tracking.run import TrackedBlock, TrackedRun

FOLDER = "runs"
"""Where TensorBoard's own examples keep runs: `tensorboard --logdir runs`."""

VERSION = "brain.Event:2"
"""Of the file's format, which its first event has to tell."""

_PNG_SIZE = slice(16, 24)
"""Of a PNG file, the bytes of its width and height: those of the header's chunk begin at byte 16."""


class TensorboardTracker:
    """Writes event files that `tensorboard --logdir` shows."""

    def __init__(self, folder: Path) -> None:
        """Write below a folder; raise UsageError where the library that writes events is not installed."""
        self._records = client("tensorboardX.record_writer", "tensorboard")
        self._events = client("tensorboardX.proto.event_pb2", "tensorboard")
        self._summary = client("tensorboardX.summary", "tensorboard")
        self._folder = folder
        self._files: dict[str, Any] = {}
        self._sent: dict[str, list[TrackedBlock]] = {}
        self.where = f"event files in {folder}: tensorboard --logdir {folder}"

    def write(self, run: TrackedRun) -> None:
        """Append what is new of a run to its file, which begins anew when a run is first written or was over."""
        try:
            self._write(run)
        except (OSError, ValueError) as error:
            self._forget()
            raise self._down(error) from error

    def close(self) -> None:
        """Close the files."""
        try:
            for identity in list(self._files):
                self._end(identity)
        except OSError as error:
            raise self._down(error) from error

    def _write(self, run: TrackedRun) -> None:
        """Append what is new of a run."""
        sent = self._sent.get(run.id, [])
        if run.points[: len(sent)] != sent:
            self._end(run.id)  # A trial was done again: what its file says is no longer so.
        file = self._file(run)
        for event in self._new(run):
            file.write(event.SerializeToString())
        file.flush()
        if run.state != "running":
            self._end(run.id)  # Its figures stand at its end: written again, they would be there twice.

    def _end(self, identity: str) -> None:
        """Close a run's file; what is written of it next begins anew."""
        self._sent.pop(identity, None)
        if (file := self._files.pop(identity, None)) is not None:
            file.close()

    def _forget(self) -> None:
        """Leave all files as they are: nobody knows what they hold."""
        for identity in list(self._files):
            with suppress(OSError, ValueError):
                self._end(identity)

    def _down(self, error: Exception) -> TrackerDownError:
        """Return the error that says why nothing can be written."""
        return TrackerDownError(f"cannot write below {self._folder}: {error}")

    def _file(self, run: TrackedRun) -> Any:
        """Return a run's file of events."""
        if run.id not in self._files:
            folder = self._folder / slug(run.group) / slug(run.name)
            folder.mkdir(parents=True, exist_ok=True)
            # The library's own names hold the name of the machine, and another time each time.
            path = folder / f"events.out.tfevents.{run.created_ms // 1000}.{run.id}.bakeoff"
            file = self._files[run.id] = self._records.RecordWriter(str(path))
            self._sent[run.id] = []
            first = self._events.Event(wall_time=run.created_ms / 1000, file_version=VERSION)
            file.write(first.SerializeToString())
        return self._files[run.id]

    def _new(self, run: TrackedRun) -> Iterator[Any]:
        """Yield the events that a run's file lacks: blocks one after another, figures once the comparison is over."""
        for point in run.points[len(self._sent[run.id]) :]:
            scalars = [self._summary.scalar(name, value) for name, value in point.values.items()]
            yield from self._said(scalars, point.at_ms, point.step)
        self._sent[run.id] = run.points
        if run.state == "running":
            return
        at_ms = run.points[-1].at_ms if run.points else run.created_ms
        figures = {f"figures/{name}": value for name, value in run.metrics.items()}
        said = [self._summary.scalar(name, value) for name, value in figures.items()]
        said += self._summary.hparams(dict(run.config), figures)
        said.append(self._summary.text("report", run.note))
        if "chart.png" in run.files:
            said.append(self._picture(run.files["chart.png"]))
        yield from self._said(said, at_ms, 0)

    def _said(self, summaries: list[Any], at_ms: int, step: int) -> Iterator[Any]:
        """Yield an event for each summary."""
        for summary in summaries:
            yield self._events.Event(wall_time=at_ms / 1000, step=step, summary=summary)

    def _picture(self, png: bytes) -> Any:
        """Return the summary of a picture, whose bytes stay as they are."""
        width, height = struct.unpack(">II", png[_PNG_SIZE])
        kind = self._summary.Summary
        picture = kind.Image(height=height, width=width, colorspace=4, encoded_image_string=png)
        return kind(value=[kind.Value(tag="chart", image=picture)])
