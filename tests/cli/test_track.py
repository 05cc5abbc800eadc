"""`bakeoff track` on the command line, and `bakeoff report --redact`."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from bakeoff.store.locks import locked
from bakeoff.tracking import content

if TYPE_CHECKING:
    from tests.cli.conftest import Cli

RECORD = Path(__file__).parents[1] / "records/mlp-mnist-fada"


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a results directory with a comparison; no picture is drawn of it, which takes longer than all else."""
    monkeypatch.setattr(content, "render", lambda pages, kind: b"picture" * 8)
    shutil.copytree(RECORD, tmp_path / "results" / RECORD.name)
    return tmp_path / "results"


def test_the_latest_comparison_is_tracked(cli: Cli, results: Path) -> None:
    """A line for each run and where they are; --live ends at once where nothing runs."""
    pytest.importorskip("tensorboardX")
    for arguments in ((), ("fada", "--live"), (str(results / RECORD.name), "--no-redact")):
        said = cli("track", "tensorboard", *arguments)
        assert said.code == 0, said.err
        lines = said.out.splitlines()
        assert [line.split()[0] for line in lines[:-1]] == [RECORD.name] * 3
        assert [line.partition(": ")[2] for line in lines[:-1]] == [f"finished, {many} blocks" for many in (60, 36, 60)]
        assert lines[-1] == "in event files in runs: tensorboard --logdir runs"
        assert len(list(Path("runs").rglob("*tfevents*"))) == 3


def test_what_a_tracker_does_not_take_is_one_warning(cli: Cli, results: Path) -> None:
    """Exit code 1, and what to do: the records are there."""
    pytest.importorskip("tensorboardX")
    Path("taken").write_text("a file")
    said = cli("track", "tensorboard", "fada", RECORD.name, "--folder", "taken")
    assert said.code == 1
    assert said.out == ""
    assert len(said.err.splitlines()) == 1
    assert said.err.startswith("warning: cannot write below taken: ")
    assert "the same command sends what is missing" in said.err


@pytest.mark.parametrize(
    ("command", "module"),
    [("wandb", "wandb"), ("mlflow", "mlflow.entities"), ("tensorboard", "tensorboardX.record_writer")],
)
def test_a_client_that_is_not_installed_is_named(
    cli: Cli, results: Path, monkeypatch: pytest.MonkeyPatch, command: str, module: str
) -> None:
    """With the command that installs it, and exit code 2."""
    monkeypatch.setitem(sys.modules, module, None)
    said = cli("track", command, "fada")
    assert said.code == 2
    assert f"pip install 'bakeoff[{command}]'" in said.err


def test_nothing_to_track_is_said(cli: Cli) -> None:
    """Without a comparison, and for one that is not there, exit code 2 says so."""
    assert cli("track", "tensorboard").code == 2
    assert (
        "no comparison in results, so none is called 'abcd': run one first" in cli("track", "tensorboard", "abcd").err
    )


def test_a_report_leaves_out_what_is_nobodys_business(cli: Cli, results: Path) -> None:
    """`--redact` takes the folder of the records out, and no verdict."""
    plain = cli("report", "fada", "--json")
    redacted = cli("report", "fada", "--json", "--redact")
    assert str(results.name) in plain.out
    assert '"path": ""' in redacted.out
    assert plain.out.count('"ratio":') == redacted.out.count('"ratio":')


def test_without_a_tracker_those_that_there_are_are_told(cli: Cli) -> None:
    """`bakeoff track` alone lists its trackers, each with what it is, and exit code 2."""
    said = cli("track")
    assert said.code == 2
    assert all(f"\n  {name} " in said.out + said.err for name in ("wandb", "mlflow", "tensorboard"))


def test_what_is_made_is_told(cli: Cli, results: Path) -> None:
    """A folder that was not there may be a slip; the second time it is no news."""
    pytest.importorskip("tensorboardX")
    assert cli("track", "tensorboard", "--folder", "ruins/deep").err == "new     ruins/deep\n"
    assert cli("track", "tensorboard", "--folder", "ruins/deep").err == ""


def test_a_damaged_comparison_is_named_and_the_others_are_tracked(cli: Cli, results: Path) -> None:
    """Exit code 1 says that something is missing."""
    pytest.importorskip("tensorboardX")
    shutil.copytree(results / RECORD.name, results / "broken")
    (results / "broken" / "comparison.json").write_text("{")
    said = cli("track", "tensorboard", "broken", "fada")
    assert said.code == 1
    assert len(said.out.splitlines()) == 4
    assert "left out: " in said.err
    assert "broken/comparison.json" in said.err


def test_what_runs_at_this_moment_is_no_interruption(cli: Cli, results: Path) -> None:
    """Tracked without --live it is `running`, and no picture is drawn beside what is timed."""
    pytest.importorskip("tensorboardX")
    (results / RECORD.name / "end.json").unlink()
    with locked(results / RECORD.name, "comparison"):
        assert ": running, 60 blocks" in cli("track", "tensorboard").out
    assert ": finished, 60 blocks" in cli("track", "tensorboard").out


def test_a_name_of_two_comparisons_is_not_guessed(cli: Cli, results: Path) -> None:
    """Neither to a tracker nor into a table: the folders of both are told."""
    shutil.copytree(results / RECORD.name, results / "another-fada")
    for command in (("track", "tensorboard", "fada"), ("export", "fada", "--csv", "-"), ("report", "fada")):
        said = cli(*command)
        assert (said.code, said.out) == (2, "")
        assert "'fada' is the name of 2 comparisons: name one by its folder: " in said.err


@pytest.mark.slow
@pytest.mark.by_turns
def test_mlflow_prints_nothing_of_its_own(results: Path) -> None:
    """In a process of its own, as MLflow sets up its log when it is imported: only the runs, and what is new here."""
    pytest.importorskip("mlflow")
    pytest.importorskip("alembic")
    command = [sys.executable, "-m", "bakeoff", "track", "mlflow", "fada"]
    variables = {name: value for name, value in os.environ.items() if not name.startswith("MLFLOW")}
    said = subprocess.run(command, cwd=results.parent, env=variables, capture_output=True, text=True, check=True)
    assert said.stderr == "new     mlflow.db\nnew     mlflow.db-files\n"
    assert [line.split()[0] for line in said.stdout.splitlines()] == [RECORD.name] * 3 + ["in"]


@pytest.mark.parametrize(
    ("uri", "told"),
    [
        ("sqlite:///nowhere/mlflow.db", "there is no folder nowhere: make it, or name another file"),
        ("sqlite:///notes.md", "file is not a database"),
        ("mlruns", "--uri mlruns: valid: http://HOST:PORT or https://..., or sqlite:///FILE"),
    ],
)
@pytest.mark.filterwarnings("default")
def test_a_file_that_mlflow_cannot_have_is_one_message(cli: Cli, results: Path, uri: str, told: str) -> None:
    """Without a traceback, at once, and what is there stays as it is."""
    pytest.importorskip("mlflow")
    pytest.importorskip("alembic")
    Path("notes.md").write_text("# my notes, which are longer than the head of a database\n" * 20)
    said = cli("track", "mlflow", "--uri", uri)
    assert said.code in {1, 2}
    assert told in said.err
    assert len(said.err.splitlines()) == 1
    assert Path("notes.md").read_text().startswith("# my notes")
    assert not Path("nowhere").exists()


def test_a_tracker_that_is_switched_off_is_sent_nothing(
    cli: Cli, results: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """WANDB_MODE=disabled is said, where the client would be told to go online all the same."""
    monkeypatch.setenv("WANDB_MODE", "disabled")
    said = cli("track", "wandb")
    assert (said.code, said.out) == (2, "")
    assert "WANDB_MODE=disabled switches W&B off" in said.err
