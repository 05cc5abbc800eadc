"""`bakeoff track` on the command line, and `bakeoff report --redact`."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

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
    assert "no comparison in results" in cli("track", "tensorboard", "abcd").err


def test_a_report_leaves_out_what_is_nobodys_business(cli: Cli, results: Path) -> None:
    """`--redact` takes the folder of the records out, and no verdict."""
    plain = cli("report", "fada", "--json")
    redacted = cli("report", "fada", "--json", "--redact")
    assert str(results.name) in plain.out
    assert '"path": ""' in redacted.out
    assert plain.out.count('"ratio":') == redacted.out.count('"ratio":')
