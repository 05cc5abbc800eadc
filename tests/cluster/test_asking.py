"""What Slurm's commands are asked, and how often, by stand-ins on the PATH that note their arguments."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest
from tests.cli.conftest import cli  # noqa: F401 - a fixture
from tests.cluster.test_script import planned
from tests.cluster.test_status import ended

from bakeoff.cluster import asked, controller, plans, states, status, submitting
from bakeoff.cluster.controller import SlurmError, Task
from bakeoff.cluster.element import ElementRun
from bakeoff.cluster.profile import read as profile_of
from bakeoff.cluster.states import ElementState

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.cli.conftest import Cli


class Commands:
    """Stand-ins for Slurm's commands."""

    def __init__(self, folder: Path) -> None:
        """Take an empty folder, which is all of the PATH."""
        self.folder, self._log = folder, folder / "log"

    def have(self, name: str, *lines: str) -> None:
        """Make a command of these lines of shell, which notes its arguments first."""
        path = self.folder / name
        path.write_text("\n".join(["#!/bin/sh", f'echo "{name} $*" >> {self._log}', *lines]) + "\n")
        path.chmod(0o755)

    @property
    def asked(self) -> list[str]:
        """What was asked so far."""
        return self._log.read_text().splitlines() if self._log.exists() else []


@pytest.fixture
def slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Commands:
    """Return stand-ins that are all that a PATH has beside the system's own."""
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/bin")
    monkeypatch.setattr(controller.shutil, "which", lambda name: _found(tmp_path / "bin" / name))
    return Commands(tmp_path / "bin")


def _found(path: Path) -> str | None:
    return str(path) if path.exists() else None


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """Return the folder of a study of three elements, all submitted as array 7; none has begun."""
    folder, _ = plans.begin(tmp_path / "results", planned(profile_of(None)))
    plans.note_submissions(folder, [plans.Submission(job="7", at=plans.now(), tasks=[0, 1, 2])])
    return folder


def rows(folder: Path) -> list[str]:
    """Return the state of every element."""
    return [row.state for row in status.status_of(folder, plans.read(folder)).rows]


def test_queue_and_accounting_are_asked_once_in_some_seconds(
    study: Path, slurm: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However often somebody looks, whether accounting knows anything or not, and when elements end meanwhile."""
    slurm.have("squeue", "echo '7|1|RUNNING|None|gpu01'")
    slurm.have("sacct", "exit 0")
    assert [rows(study) for _ in range(3)] == [["failed", "running", "failed"]] * 3
    assert [line.split()[0] for line in slurm.asked] == ["squeue", "sacct"]
    states.write(study, 0, ended("7_0", 60.0, ended="done"))
    assert rows(study) == ["done", "running", "failed"]
    assert len(slurm.asked) == 2
    monkeypatch.setattr(asked, "LEAST_S", 0.0)
    assert rows(study) == ["done", "running", "failed"]
    assert [line.split()[0] for line in slurm.asked] == ["squeue", "sacct"] * 2


def test_fewer_arrays_are_no_reason_to_ask_again(study: Path, slurm: Commands) -> None:
    """What was heard of several arrays a moment ago holds for those of them that are not done yet."""
    slurm.have("squeue", "echo '7|0|RUNNING|None|gpu01'; echo '8|0|RUNNING|None|gpu01'")
    asked.tasks_of(study, ["7", "8"])
    assert asked.tasks_of(study, ["8"]).tasks["8_0"].state == "RUNNING"
    assert len(slurm.asked) == 1
    asked.tasks_of(study, ["8", "9"])
    assert len(slurm.asked) == 2


@pytest.mark.parametrize(
    ("lines", "known"),
    [
        (None, {}),
        (["echo 'Slurm accounting storage is disabled' >&2", "exit 1"], {}),
        (
            ["echo '7_0|TIMEOUT|gpu01'", "echo '7_1|CANCELLED by 1000|gpu02'", "echo '7_2||'", "echo nonsense"],
            {"7_0": Task(state="TIMEOUT", node="gpu01"), "7_1": Task(state="CANCELLED", node="gpu02")},
        ),
    ],
)
def test_a_site_may_keep_no_accounting(slurm: Commands, lines: list[str] | None, known: dict[str, Task]) -> None:
    """Without sacct, and where it says that it is off, nothing is known and nothing fails; else how tasks ended."""
    if lines is not None:
        slurm.have("sacct", *lines)
    assert controller.accounted(["7"]) == known


def test_what_the_queue_said_of_an_end_is_kept_when_it_has_forgotten_it(
    study: Path, slurm: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Slurm forgets ended jobs within minutes: how a lost node ended an element is known all the same."""
    monkeypatch.setattr(asked, "LEAST_S", 0.0)
    slurm.have("squeue", "echo '7|0|NODE_FAIL|None|gpu01'; echo '7|1|RUNNING|None|gpu01'")
    assert rows(study)[:2] == ["failed", "running"]
    slurm.have("squeue", "echo 'slurm_load_jobs error: Invalid job id specified' >&2", "exit 1")
    found = status.status_of(study, plans.read(study))
    assert found.rows[0].reason == "its node failed"
    assert found.rows[1].reason == "its job ended without a word, and Slurm has forgotten how"
    assert found.unheard == ""


def test_a_controller_that_hangs_is_no_wait(slurm: Commands, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a limit it is told as down or busy; other refusals have Slurm's own words."""
    monkeypatch.setattr(controller, "ANSWER_LIMIT_S", 0.3)
    slurm.have("squeue", "exec sleep 20")
    with pytest.raises(SlurmError, match=r"squeue did not answer within .*: the controller is down or busy"):
        controller.queue(["7"])
    slurm.have("squeue", "echo 'squeue: Unable to contact' >&2", "exit 1")
    with pytest.raises(SlurmError, match=r"^squeue: Unable to contact$"):
        controller.queue(["7"])


def test_arrays_follow_each_other_and_are_known_as_soon_as_slurm_has_them(tmp_path: Path, slurm: Commands) -> None:
    """With a throttle each waits for the one before; where one is refused the others are not submitted twice."""
    folder, plan = plans.begin(tmp_path / "results", planned(profile_of(None, at_once=1)))
    submitting.write(folder, plan)
    slurm.have("scontrol", "echo 'MaxArraySize            = 3'")
    slurm.have("sbatch", 'case "$*" in *afterany*) echo "sbatch: error: too many" >&2; exit 1;; esac', "echo '41;one'")
    with pytest.raises(SlurmError, match="too many"):
        submitting.hand_over(folder, plan)
    assert [(one.job, one.tasks) for one in plans.submissions(folder)] == [("41", [0, 1])]
    first, refused = [line for line in slurm.asked if line.startswith("sbatch")]
    script = folder / "slurm" / "job.sh"
    assert first == f"sbatch --parsable --array=0-1%1 {script.absolute()} 0"
    assert refused == f"sbatch --parsable --array=0%1 --dependency=afterany:41 {script.absolute()} 2"
    slurm.have("squeue", "echo '41|0|PENDING|None|'; echo '41|1|PENDING|None|'")
    slurm.have("sbatch", "echo 42")
    assert [one.tasks for one in submitting.hand_over(folder, plan)] == [[0]]
    assert slurm.asked[-1] == f"sbatch --parsable --array=0%1 {script.absolute()} 2"
    assert [one.task_of(2) for one in plans.submissions(folder)] == ["", "42_0"]


@pytest.fixture
def usr1() -> Iterator[None]:
    """Have the signal mean afterwards what it meant before."""
    before = signal.getsignal(signal.SIGUSR1)
    yield
    signal.signal(signal.SIGUSR1, before)


@pytest.mark.usefixtures("usr1")
@pytest.mark.parametrize(
    ("sent", "restarts", "code"),
    [(signal.SIGUSR1, "0", 75), (signal.SIGUSR1, "1", 75), (signal.SIGUSR1, "2", 1), (signal.SIGINT, "0", 130)],
)
def test_an_element_is_begun_again_as_often_as_was_said(
    cli: Cli,  # noqa: F811
    study: Path,
    monkeypatch: pytest.MonkeyPatch,
    sent: int,
    restarts: str,
    code: int,
) -> None:
    """Exit code 75 asks for it where the time limit came; after the last time it has failed, and says what to do."""
    plan = msgspec.structs.replace(plans.read(study), profile=profile_of(None, restarts=2))
    (study / "slurm" / "plan.json").write_bytes(msgspec.json.encode(plan))
    monkeypatch.setenv("SLURM_RESTART_COUNT", restarts)
    monkeypatch.setattr(ElementRun, "_outcome", lambda *_: os.kill(os.getpid(), sent) or signal.pause())
    assert cli("slurm", "element", str(study), "0").code == code
    state = states.read(study, 0)
    assert state.ended == ("failed" if code == 1 else "interrupted")
    assert state.reason == ("the time limit came 3 times before the end: give it more by --time" if code == 1 else "")


def test_a_state_is_written_before_what_follows_from_it(study: Path) -> None:
    """A job that was ended without a word has left that it began, on which node, and as which task."""
    states.write(study, 1, ElementState(attempts=ended("7_1", 1.0).attempts))
    told = json.loads((study / "slurm/elements/00001/state.json").read_text())
    assert (told["ended"], told["attempts"][0]["task"]) == ("", "7_1")
