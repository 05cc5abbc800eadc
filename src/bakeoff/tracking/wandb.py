"""Weights & Biases: online, or folders that `wandb sync` takes; a run that is sent again replaces what was there.

What W&B's client would collect by itself (the names of machine and user, the program's path and arguments, packages,
git's state, standard output) is switched off: the records say what ran.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bakeoff.spec.errors import UsageError
from bakeoff.tracking.tracker import TrackerDownError, client

if TYPE_CHECKING:
    from bakeoff.tracking.run import TrackedBlock, TrackedRun

WAIT_S = 30.0
"""For an answer: the client's own limit of 90 s is for a job that waits for nothing else."""

FINISH_S = 120.0
"""Until everything that was logged is sent; what is left then stays in W&B's folder, for `wandb sync`."""

KEY_VARIABLE = "WANDB_API_KEY"


class WandbTracker:
    """Sends runs to a project, or writes them into folders."""

    def __init__(self, project: str, entity: str | None, folder: Path, *, is_offline: bool) -> None:
        """Take where runs belong, and the folder of W&B's own files; raise UsageError without the client or a key."""
        os.environ.setdefault("WANDB_ERROR_REPORTING", "false")  # read at the import: its faults are nobody's business
        self._wandb = client("wandb", "wandb")
        self._project, self._entity, self._folder = project, entity, folder
        self._mode = "offline" if is_offline else "online"
        self._wandb.setup(settings=self._wandb.Settings(silent=True))
        if not is_offline:
            self._sign_in()
        self._runs: dict[str, Any] = {}
        self._sent: dict[str, list[TrackedBlock]] = {}
        self._failed: set[str] = set()
        place = f"folders in {folder / 'wandb'}, which `wandb sync` takes" if is_offline else "W&B"
        self.where = f"the project {project!r} of {place}"

    def write(self, run: TrackedRun) -> None:
        """Log what is new of a run, which begins anew when it is first written, and after every failure.

        It does, too, where blocks say something else than those that were sent, as after a trial that was done again:
        W&B's history only grows.
        """
        try:
            sent = self._sent.get(run.id, [])
            if run.points[: len(sent)] != sent:
                self._end(run.id)
            self._write(run, self._runs.get(run.id) or self._begun(run))
        except Exception as error:
            # The client has errors of many kinds, private ones among them. A run that could not be begun stays "in use"
            # for as long as the client's own process lives.
            self._forget()
            raise TrackerDownError(_reason(error)) from error

    def close(self) -> None:
        """End all runs, once they are sent."""
        try:
            for identity in list(self._runs):
                self._end(identity)
        except (self._wandb.Error, OSError) as error:
            raise TrackerDownError(_reason(error)) from error
        finally:
            self._forget()

    def _end(self, identity: str) -> None:
        """End a run once it is sent; what is written of it next begins anew."""
        del self._sent[identity]
        self._runs.pop(identity).finish(exit_code=int(identity in self._failed))

    def _forget(self) -> None:
        """End the client's own process, and with it every run that is open."""
        self._runs.clear()
        self._sent.clear()
        self._wandb.teardown()

    def _write(self, run: TrackedRun, theirs: Any) -> None:
        """Log what is new of a run."""
        sent = self._sent[run.id]
        for point in run.points[len(sent) :]:
            theirs.log(point.values, step=point.step)
            sent.append(point)
        theirs.config.update(run.config, allow_val_change=True)
        theirs.summary.update(run.metrics | run.words)
        if run.files:
            self._attach(run, theirs)
        (self._failed.add if run.state in {"failed", "interrupted"} else self._failed.discard)(run.id)

    def _begun(self, run: TrackedRun) -> Any:
        """Return a run of W&B's, begun anew: what was there under its id is replaced."""
        self._folder.mkdir(parents=True, exist_ok=True)
        theirs = self._wandb.init(
            project=self._project,
            entity=self._entity,
            id=run.id,
            name=run.name,
            group=run.group,
            job_type="contender",
            config=run.config,
            notes=run.words["headline"],
            dir=str(self._folder),
            mode=self._mode,
            reinit="create_new",
            settings=self._settings(),
        )
        self._runs[run.id], self._sent[run.id] = theirs, []
        return theirs

    def _sign_in(self) -> None:
        """Have the client find its key, which is never read here; raise UsageError where it has none."""
        try:
            has_key, why = self._wandb.login(prompt=False, verify=False), "W&B has no key here"
        except self._wandb.Error as error:
            has_key, why = False, _reason(error)
        if not has_key:
            self._wandb.teardown()
            msg = f"{why}: set {KEY_VARIABLE}, or type `wandb login`; without an account: --offline"
            raise UsageError(msg)

    def _settings(self) -> Any:
        """Return settings by which the client collects nothing by itself, and waits for no answer for long."""
        return self._wandb.Settings(
            console="off",
            disable_code=True,
            disable_git=True,
            disable_job_creation=True,
            save_code=False,
            silent=True,
            host="",
            program="bakeoff",
            x_disable_meta=True,
            x_disable_stats=True,
            x_disable_machine_info=True,
            x_save_requirements=False,
            init_timeout=WAIT_S,
            login_timeout=WAIT_S,
            finish_timeout=FINISH_S,
            finish_timeout_raises=True,
        )

    def _attach(self, run: TrackedRun, theirs: Any) -> None:
        """Attach the files, and show the picture; W&B's tables would hold the path of a folder here."""
        folder = Path(theirs.dir)
        for name, content in run.files.items():
            (folder / name).write_bytes(content)
            theirs.save(str(folder / name), base_path=str(folder), policy="now")
        if "chart.png" in run.files:
            theirs.log({"chart": self._wandb.Image(str(folder / "chart.png"))}, step=len(self._sent[run.id]))


def _reason(error: Exception) -> str:
    """Return the first line of what is wrong."""
    return f"W&B: {str(error).partition(chr(10))[0] or type(error).__name__}"
