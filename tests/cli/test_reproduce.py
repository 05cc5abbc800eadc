"""`bakeoff reproduce` with the scripted framework, from a user's own file to its reports."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import msgspec
import pytest

from bakeoff.cli import FAILED, INTERRUPTED, MISUSED
from bakeoff.spec.errors import StoreError
from bakeoff.spec.probe import ProbeAnswer
from bakeoff.store import studies
from bakeoff.store.folders import new_folder
from bakeoff.study.published import SHIPPED, load, names
from bakeoff.study.reproduction import place_for

if TYPE_CHECKING:
    from tests.cli.conftest import Cli
    from tests.gpu.pretended import PretendedGpus

    from bakeoff.spec.study import Study

pytestmark = pytest.mark.slow

STUDY = """
id = "own"
title = "Two speeds"
unit = "s"
method = "the time of 100 steps"
compile_time = "excluded"
minutes = 1
document = { name = "a page", citation = "A page of 2026", number = "table 1" }
machines = [{ name = "M", hardware = "a machine" }]
rows = [
  { name = "quick", contender = "fake", on_cpu = "fake", device = "cpu" },
  { name = "slow", contender = "fake:step_ms=2", on_cpu = "fake:step_ms=2", device = "cpu" },
  { name = "absent", contender = "not-here", on_cpu = "not-here", device = "cpu" },
]

[[comparisons]]
name = "mlp"
workload = "mlp-mnist"
scenario = "train"
batch_size = 16
steps = 100
scaled = { size = "reduced", batch_size = 8, steps = 10, rounds = 5 }
figures = [
  { row = "quick", values = [1.0, 1.1] },
  { row = "slow", values = [1.5] },
  { row = "absent", values = [3.0] },
]
"""


@pytest.fixture
def own(tmp_path: Path) -> str:
    """Give the name of a user's own study, in the folder where commands are run."""
    (tmp_path / "own.toml").write_text(STUDY)
    return "own.toml"


@pytest.mark.usefixtures("inline")
@pytest.mark.by_turns
def test_published_figures_are_measured_by_one_command(cli: Cli, own: str, tmp_path: Path) -> None:
    """The answer has the published ratio beside ours, what is smaller, what is missing, and where the rest is."""
    said = cli("reproduce", own, "--device", "cpu")
    assert said.code == 0
    text = " ".join(said.out.split())
    assert "Scaled down: the network's reduced size instead of the full one, batch 8 instead of 16" in text
    assert "slower: the same order" in text
    assert "Not measured: absent: bakeoff has no framework 'not-here'" in text
    (folder,) = (tmp_path / "results").glob("own-*")
    for name in ("study.json", "report.html", "report.md", "chart.png", "chart.svg"):
        assert (folder / name).stat().st_size > 0
    assert "1 of them are finished already" in cli("reproduce", own, "--device", "cpu", "--resume").out
    again = cli("report", folder.name, "--json")
    told = json.loads(again.out)
    assert {pair["order"] for pair in told["pairs"]} == {"same", "not measured"}
    assert told["scaled"] is True
    assert cli("report", folder.name, "--markdown").out.startswith("## Of 3 published pairs in table 1 of a page")


def test_a_dry_run_says_what_the_study_declares_where_nothing_is_known(cli: Cli, own: str) -> None:
    """What a small network takes is far less than a study of large ones: both are said."""
    said = " ".join(cli("reproduce", own, "--device", "cpu", "--dry-run").out.split())
    assert "In all roughly " in said
    assert "On two calm cores all of it took about 1 min, as the study declares." in said


@pytest.mark.usefixtures("inline")
def test_json_stands_alone_on_stdout(cli: Cli, own: str) -> None:
    """--json prints one object on stdout, and progress on stderr."""
    said = cli("reproduce", own, "fake", "--device", "cpu", "--json")
    told = json.loads(said.out)
    assert [line["hole"] for line in told["lines"]] == [None, "not asked for", "not asked for"]
    assert "1 of 1: mlp" in said.err


def test_what_cannot_be_ends_with_its_reason(cli: Cli, own: str, tmp_path: Path) -> None:
    """Unknown studies, files that do not fit together and rows that none can race are errors before anything starts."""
    unknown = cli("reproduce", "dai2022")
    assert unknown.code == MISUSED
    assert "unknown study 'dai2022'" in unknown.err
    (tmp_path / own).write_text(STUDY.replace('"fake', '"gone'))
    assert cli("reproduce", own).code == MISUSED
    (tmp_path / own).write_text(STUDY.replace("rounds = 5", "round = 5"))
    assert "unknown field `round`" in cli("reproduce", own).err
    assert not (tmp_path / "results").exists()


@pytest.mark.usefixtures("inline")
def test_a_study_of_which_nothing_was_ranked_failed(cli: Cli, own: str, tmp_path: Path) -> None:
    """Where no row has a passing certificate the exit code says so, and the reason stands in the answer."""
    (tmp_path / own).write_text(
        STUDY.replace("fake:step_ms=2", "fake:wrong=loss").replace('"fake"', '"fake:wrong=loss"')
    )
    said = cli("reproduce", own, "fake:wrong=loss", "--device", "cpu")
    assert said.code == FAILED
    assert "no passing certificate: loss" in " ".join(said.out.split())


def test_ctrl_c_is_told_where_the_study_cannot_be_shown(cli: Cli, own: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that cannot be read leaves the code of an interrupt, the reason, and the command that goes on."""

    def interrupted(study: Study, _observe: object, *, results: str, resume: bool) -> NoReturn:
        assert not resume
        folder = new_folder(Path(results), study.name)
        studies.write(folder, msgspec.structs.replace(studies.new(study), id=folder.name))
        raise KeyboardInterrupt

    def unreadable(_folder: Path) -> NoReturn:
        msg = "study.json is damaged"
        raise StoreError(msg)

    monkeypatch.setattr("bakeoff.study.run.run_study", interrupted)
    monkeypatch.setattr("bakeoff.judge.study.judge_study", unreadable)
    said = cli("reproduce", own, "--device", "cpu")
    assert said.code == INTERRUPTED
    assert "what is finished cannot be shown: study.json is damaged" in said.err
    assert said.err.endswith("--resume\n")


def test_shipped_studies_are_listed_with_their_documents(cli: Cli) -> None:
    """`bakeoff list studies` names each study, its document, the hardware there and how long it takes here."""
    told = json.loads(cli("list", "studies", "--json").out)
    assert [one["name"] for one in told] == names() == sorted(path.stem for path in SHIPPED.glob("*.toml"))
    assert all(one["document"] and one["hardware"] and one["scaled_minutes"] > 0 for one in told)
    assert all("scaled down" in cli("list", "studies", one["name"]).out for one in told)


def test_a_gpu_is_used_where_all_that_are_here_can_use_it(
    cli: Cli, own: str, pretended_gpus: PretendedGpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    """NVML alone decides nothing: where an environment is the processor's, the study runs there and says so."""
    study = load(own)
    assert pretended_gpus
    assert place_for(study) == ("cuda", "")
    assert place_for(study, ["not-here"]).device == "cpu"
    monkeypatch.setattr("bakeoff.environments.probe.probe", lambda *_, **__: ProbeAnswer(devices=["cpu"]))
    said = cli("reproduce", own, "--dry-run", "--json")
    assert "a GPU is here (NVIDIA L4), and the study runs on the processor: fake: " in said.err
    assert "bakeoff env create fake --device cuda" in said.err
    assert '"device": "cpu"' in said.out
    assert cli("reproduce", own, "--device", "rocm", "--dry-run").code == MISUSED
