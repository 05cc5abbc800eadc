"""What is timed is what was fixed: sources and packages that change after the certificate, and are put back."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from bakeoff.environments import declared
from bakeoff.race import conductor
from bakeoff.race.progress import Certified, Event, Observer, silent
from bakeoff.race.workers.process import ProcessWorker
from bakeoff.spec.errors import ChangedError, StoreError
from bakeoff.workloads.load import load

if TYPE_CHECKING:
    from bakeoff.judge.outcome import Outcome

pytestmark = pytest.mark.slow

ANOTHER = "\n# another text\n"


@pytest.fixture
def workload(tmp_path: Path) -> Path:
    """Give a workload's file of the test's own."""
    path = tmp_path / "mine.py"
    path.write_text(load("mlp-mnist").path.read_text())
    return path


@pytest.fixture
def race_of(request_of: Any, workload: Path) -> Any:
    """Give a function that races one contender on that workload for one round, in real processes."""

    def run(contender: str, observe: Observer = silent, **asked: Any) -> Outcome:
        request = request_of(contender, max_rounds=1, seed=3, **asked)
        request = msgspec.structs.replace(request, workload=str(workload))
        return conductor.run(request, observe, launch=ProcessWorker, probe_s=0.001)

    return run


def edit_when_certified(path: Path) -> Observer:
    """Give an observer that changes a file as soon as the first certificate is told."""

    def observe(event: Event) -> None:
        if isinstance(event, Certified):
            path.write_text(path.read_text() + ANOTHER)

    return observe


def put_back(path: Path) -> None:
    """Undo that change."""
    path.write_text(path.read_text().removesuffix(ANOTHER))


def assert_refused(outcome: Outcome, what: str) -> None:
    """Assert that no round was timed, and that the reason says what changed and what to do."""
    (only,) = outcome.contenders
    assert (only.status, only.rounds) == ("failed", 0)
    assert f"{what} has changed since the comparison was fixed" in only.reason
    assert "put it back as it was and go on with --resume, or start a new comparison" in only.reason


def assert_ranked(outcome: Outcome) -> None:
    """Assert that the only contender was timed."""
    assert [one.status for one in outcome.contenders] == ["ranked"]


def test_a_workload_that_is_edited_after_its_certificate_is_not_timed(race_of: Any, workload: Path) -> None:
    """Every worker refuses the other text, and so does --resume; put back, the race goes on."""
    assert_refused(race_of("fake", observe=edit_when_certified(workload)), f"the workload's file {workload}")
    with pytest.raises(ChangedError, match="the workload's file"):
        race_of("fake", resume=True)
    put_back(workload)
    assert_ranked(race_of("fake", resume=True))


def test_a_workload_that_does_something_else_in_another_process_is_not_timed(race_of: Any, workload: Path) -> None:
    """What its file does in this process is what each worker holds it to."""
    text = workload.read_text()
    of_this_process = (
        f"super().__init__(); self.more = nn.Dropout(0.5 if __import__('os').getpid() == {os.getpid()} else 0.4)"
    )
    workload.write_text(text.replace("super().__init__()", of_this_process, 1))
    (only,) = race_of("fake").contenders
    assert (only.status, only.rounds) == ("uncertified", 0)
    assert (
        f"the workload's file {workload} makes other layers or computes something else in this process" in only.reason
    )


def test_a_framework_whose_folder_is_edited_after_its_certificate_is_not_timed(
    race_of: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The code of a framework is held as the workload is."""
    folder = tmp_path / "frameworks" / "fake"
    shutil.copytree(declared._shipped() / "fake", folder)
    monkeypatch.setattr(declared, "_shipped", lambda: folder.parent)
    file = folder / "engine.py"
    assert_refused(race_of("fake", observe=edit_when_certified(file)), f"the framework's folder {folder}")
    with pytest.raises(ChangedError, match="the framework's folder"):
        race_of("fake", resume=True)
    put_back(file)
    assert_ranked(race_of("fake", resume=True))


def test_packages_that_change_after_the_certificate_are_not_timed(race_of: Any, tmp_path: Path) -> None:
    """Every worker looks for itself at what is installed beside its interpreter; put back, the race goes on."""
    python, site = tmp_path / "env" / "bin" / "python", tmp_path / "env" / "lib" / "python3.11" / "site-packages"
    package, newer = site / "scripted-1.0.dist-info", site / "scripted-2.0.dist-info"
    python.parent.mkdir(parents=True)
    package.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)

    def upgrade(event: Event) -> None:
        if isinstance(event, Certified):
            package.rename(newer)

    assert_refused(race_of(f"fake@{python}", observe=upgrade), f"what is installed beside {python}")
    with pytest.raises(StoreError, match="is not what it was begun with: put that back, or start a new comparison"):
        race_of(f"fake@{python}", resume=True)
    newer.rename(package)
    assert_ranked(race_of(f"fake@{python}", resume=True))
