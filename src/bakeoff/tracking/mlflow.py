"""MLflow: a server, or an SQLite file; runs are found again by a tag, and get what they lack."""

from __future__ import annotations

import logging
import os
import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from bakeoff.spec.errors import UsageError
from bakeoff.tracking.tracker import TrackerDownError, client

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from bakeoff.tracking.run import RunState, TrackedRun

DEFAULT = "sqlite:///mlflow.db"
"""Where MLflow itself keeps runs if nothing else is named."""

RUN_TAG, GROUP_TAG, NAME_TAG = "bakeoff.run", "bakeoff.comparison", "bakeoff.contender"
RECORDS_TAG = "bakeoff.records"
"""How many records the figures that were sent rest on."""

FIRST_METRIC = "block/step_s"
"""The metric that says which blocks a run has: every block has it, and it is sent last."""

MOST_METRICS, MOST_PARAMS, MOST_TAGS = 1000, 100, 100
"""In one request, by MLflow's REST interface."""

LONGEST_PARAM, LONGEST_TAG = 6000, 5000
"""Characters of a value, by MLflow's REST interface."""

WAIT_S, TRIES = "10", "1"
"""Of a request: a server that is down is to be noticed within seconds; it is tried again at the next records."""

_STATUS: dict[RunState, str] = {
    "running": "RUNNING",
    "finished": "FINISHED",
    "failed": "FAILED",
    "interrupted": "KILLED",
}

_SCHEME = re.compile(r"(https?|sqlite|postgresql|mysql|mssql)(\+\w+)?://.+|databricks(://.*)?")

_SYSTEM = re.compile(r"\[Errno -?\d+\] ([^\"')]+)")
"""What the system said of a connection, within what several libraries have put around it."""

LONGEST_REASON = 300
"""Characters of a message: MLflow's hold whole requests."""

_STRANGE = re.compile(r"[^\w.\-/ ]")
"""What the name of a metric or parameter may not hold."""


class MlflowTracker:
    """Sends runs to one of MLflow's experiments."""

    def __init__(self, uri: str, project: str) -> None:
        """Take where MLflow is and the experiment's name; raise UsageError for what cannot be, or is not installed."""
        if not _SCHEME.fullmatch(uri):
            msg = f"--uri {_public(uri)}: valid: http://HOST:PORT or https://..., or sqlite:///FILE"
            raise UsageError(msg)
        file = _file(uri)
        self.files = () if file is None else (file, Path(f"{file}-files"))
        """An SQLite file, and the folder of what is attached to runs; a server keeps its own."""
        _settle()
        self._entities = client("mlflow.entities", "mlflow")
        self._failures: tuple[type[Exception], ...] = (
            client("mlflow.exceptions", "mlflow").MlflowException,
            OSError,
        )
        if "sqlite" in uri:
            self._failures += (client("sqlalchemy.exc", "mlflow").SQLAlchemyError,)
            client("alembic", "mlflow")
        self._new_client = client("mlflow.tracking", "mlflow").MlflowClient
        self._uri, self._project = uri, project
        self._client: Any = None
        self._experiment = ""
        self._runs: dict[str, str] = {}
        self.where = f"the experiment {project!r} of {_public(uri)}"

    def write(self, run: TrackedRun) -> None:
        """Send what MLflow's run lacks; one that says something else than the records is made anew."""
        try:
            self._open()
            self._write(run, self._found(run))
        except self._failures as error:
            msg = f"MLflow at {_public(self._uri)}: {_reason(error)}"
            raise TrackerDownError(msg) from error

    def close(self) -> None:
        """End nothing: every request was answered."""

    def _open(self) -> None:
        """Find the experiment, or make it."""
        if self._experiment:
            return
        self._client = self._client or self._new_client(self._uri)
        found = self._client.get_experiment_by_name(self._project)
        self._experiment = (
            found.experiment_id if found else self._client.create_experiment(self._project, self._place())
        )

    def _place(self) -> str | None:
        """Return where an experiment's files are kept: beside an SQLite file; a server decides itself."""
        return str(self.files[-1].absolute()) if self.files else None

    def _found(self, run: TrackedRun) -> Any:
        """Return MLflow's run with the tag of this one; None where there is none."""
        if run.id in self._runs:
            return self._client.get_run(self._runs[run.id])
        tagged = f"tags.`{RUN_TAG}` = '{run.id}'"
        return next(iter(self._client.search_runs([self._experiment], tagged, max_results=1)), None)

    def _write(self, run: TrackedRun, found: Any) -> None:
        """Bring MLflow's run, which is made where there is none, to this state."""
        known = self._blocks(found) if found is not None else {}
        if found is not None and _is_another(run, found, known):
            self._client.delete_run(found.info.run_id)
            found, known = None, {}
        if found is None:
            found = self._client.create_run(self._experiment, run.created_ms, {RUN_TAG: run.id}, run.name)
        identity = self._runs[run.id] = found.info.run_id
        changed = self._params(run, found)
        for metrics in _parts(self._metrics(run, found, known), MOST_METRICS):
            self._client.log_batch(identity, metrics=metrics)
        self._tags(run, identity, changed)
        self._files(run, identity)
        end_ms = None if run.state == "running" else max((point.at_ms for point in run.points), default=run.created_ms)
        if end_ms is None:
            self._client.update_run(identity, status=_STATUS[run.state])
        else:
            self._client.set_terminated(identity, _STATUS[run.state], end_ms)

    def _blocks(self, found: Any) -> dict[int, float]:
        """Return the blocks that MLflow's run has: the step time by step."""
        return {one.step: one.value for one in self._client.get_metric_history(found.info.run_id, FIRST_METRIC)}

    def _params(self, run: TrackedRun, found: Any) -> dict[str, str]:
        """Send the parameters that are not there; return those that MLflow does not let be changed."""
        known = found.data.params
        wanted = {_name(name): str(value)[:LONGEST_PARAM] for name, value in run.config.items() if value != ""}
        new = [self._entities.Param(name, value) for name, value in wanted.items() if name not in known]
        for params in _parts(new, MOST_PARAMS):
            self._client.log_batch(found.info.run_id, params=params)
        return {name: value for name, value in wanted.items() if known.get(name, value) != value}

    def _metrics(self, run: TrackedRun, found: Any, known: dict[int, float]) -> Iterator[Any]:
        """Yield the figures that are new, then the blocks that are not there."""
        at_ms = run.points[-1].at_ms if run.points else run.created_ms
        for name, value in run.metrics.items():
            if found.data.metrics.get(_name(name)) != value:
                yield self._entities.Metric(_name(name), value, at_ms, run.records)
        for point in run.points:
            if point.step not in known:
                values = {name: value for name, value in point.values.items() if name != FIRST_METRIC}
                for name, value in (values | {FIRST_METRIC: point.values[FIRST_METRIC]}).items():
                    yield self._entities.Metric(name, value, point.at_ms, point.step)

    def _tags(self, run: TrackedRun, identity: str, changed: dict[str, str]) -> None:
        """Send words as tags, which may be changed; the report is the run's description."""
        tags = {GROUP_TAG: run.group, NAME_TAG: run.name, "mlflow.note.content": run.note}
        tags |= {RECORDS_TAG: str(run.records)}
        tags |= {f"bakeoff.{name}": said for name, said in run.words.items() if said}
        tags |= {f"bakeoff.now.{name}": value for name, value in changed.items()}
        sent = [self._entities.RunTag(_name(name), value[:LONGEST_TAG]) for name, value in tags.items()]
        for few in _parts(sent, MOST_TAGS):
            self._client.log_batch(identity, tags=few)

    def _files(self, run: TrackedRun, identity: str) -> None:
        """Send the files; those that are there are replaced."""
        if not run.files:
            return
        with tempfile.TemporaryDirectory() as folder:
            for name, content in run.files.items():
                (Path(folder) / name).write_bytes(content)
            self._client.log_artifacts(identity, folder)


def _settle() -> None:
    """Have MLflow tell nobody that it is used, notice within seconds that a server is down, and print no news."""
    for name, value in (
        ("MLFLOW_DISABLE_TELEMETRY", "true"),
        ("MLFLOW_HTTP_REQUEST_TIMEOUT", WAIT_S),
        ("MLFLOW_HTTP_REQUEST_MAX_RETRIES", TRIES),
        ("MLFLOW_LOGGING_LEVEL", "ERROR"),  # its warnings are in the errors that it raises
    ):
        os.environ.setdefault(name, value)  # before the import, which reads them
    for name in ("mlflow", "alembic"):
        logging.getLogger(name).setLevel(logging.ERROR)


def _file(uri: str) -> Path | None:
    """Return the file of an SQLite address, None of another; raise UsageError where its folder is not there."""
    scheme, _, path = uri.partition(":///")
    if not scheme.startswith("sqlite"):
        return None
    file = Path(path)
    if not os.path.isdir(file.parent):  # noqa: PTH112 - unlike Path.is_dir, no error for a name that is too long
        msg = f"--uri {uri}: there is no folder {file.parent}: make it, or name another file"
        raise UsageError(msg)
    return file


def _is_another(run: TrackedRun, found: Any, known: dict[int, float]) -> bool:
    """Return whether MLflow's run says something else of the same blocks, or of the same number of records.

    What MLflow has cannot be changed: of two values at one step it shows the larger.
    """
    ours = {point.step: point.values[FIRST_METRIC] for point in run.points}
    if any(ours.get(step) != value for step, value in known.items()):
        return True
    theirs = found.data.metrics
    return found.data.tags.get(RECORDS_TAG) == str(run.records) and any(
        theirs.get(_name(name)) != value for name, value in run.metrics.items()
    )


def _parts(values: Iterable[Any], most: int) -> Iterator[list[Any]]:
    """Yield values in lists of at most so many."""
    every = list(values)
    return (every[start : start + most] for start in range(0, len(every), most))


def _name(text: str) -> str:
    """Return the name of a metric, parameter or tag, of characters that MLflow takes."""
    return _STRANGE.sub("-", text)[:250]  # MLflow's own limit


def _public(uri: str) -> str:
    """Return an address without who signs in there, and by which password."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return "<address>"
    return uri if "@" not in parts.netloc else uri.replace(parts.netloc, parts.netloc.rpartition("@")[2])


def _reason(error: Exception) -> str:
    """Return what is wrong: the system's words where there are any, else the first line, without who signs in."""
    told = _SYSTEM.search(str(error))
    first = re.sub(r"(?<=://)[^\s/@]+@", "", str(error).partition("\n")[0])[:LONGEST_REASON]
    return told[1] if told else first or type(error).__name__
