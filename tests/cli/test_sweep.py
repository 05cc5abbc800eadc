"""Options with several values, from the command to the report."""

from __future__ import annotations

import json
import re
import signal
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.cli.test_run import COMMAND, RACE, bakeoff

from bakeoff.cli import INTERRUPTED
from bakeoff.cli.sweep import read, with_value

if TYPE_CHECKING:
    from tests.cli.conftest import Cli

pytestmark = pytest.mark.slow

SWEEP = [*RACE, "--batch-size", "8,16"]


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Race two batch sizes once; give the folder and what was printed."""
    folder = tmp_path_factory.mktemp("swept")
    return folder, bakeoff(folder, *SWEEP).stdout


def test_a_sweep_ends_with_its_table_and_its_reports(swept: tuple[Path, str]) -> None:
    """The answer names the faster one at each value; reports and study.json stand beside the comparisons."""
    folder, said = swept
    assert "1 of 2: batch size 8" in said
    assert "\nfake is faster at batch size 8 and 16: 2.000x fake:step_ms=2." in said
    (study,) = (folder / "results").glob("mlp-mnist-sweep-*")
    assert {path.name for path in study.iterdir() if path.is_file()} >= {
        "study.json",
        "report.html",
        "report.md",
        "chart.png",
        "chart.svg",
    }
    assert len(list(study.glob("*/comparison.json"))) == len(list(study.glob("*/report.html"))) == 2


def test_a_study_is_reported_from_its_records_again(
    swept: tuple[Path, str], cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`bakeoff report` finds a study by nothing, id, its end or folder, in every form, and its comparisons too."""
    folder, said = swept
    (study,) = (folder / "results").glob("mlp-mnist-sweep-*")
    monkeypatch.chdir(folder)
    table = said[said.index("samples/s (95 % CI)") : said.index("records ")]
    for name in ([], [study.name], [study.name[-4:]], [f"results/{study.name}"]):
        assert table in cli("report", *name).out
    assert cli("report", "--markdown").out.startswith("## fake is faster at batch size 8 and 16: 2.000x")
    told = json.loads(cli("report", "--json").out)
    assert [point["coordinates"]["batch size"] for point in told["points"]] == ["8", "16"]
    assert cli("report", "--html", "page.html", "--chart", "sweep.svg").code == 0
    assert "<html" in Path("page.html").read_text()
    assert Path("sweep.svg").read_text().startswith("<svg")
    one = Path(told["points"][1]["comparison"]["comparison"]["path"]).name
    assert "mlp-mnist, train, batch 16" in cli("report", one).out
    assert "a study is reported by itself" in cli("report", study.name, one).err


def test_quoted_values_keep_their_commas() -> None:
    """A value with a comma stands in quotes, and again in the command that repeats its point alone."""
    words = read(None, None, None, None, ['note="a,b",c']).several[0]
    assert words.values == ("a,b", "c")
    command = ["run", "--option", 'note="a,b",c']
    assert with_value(command, words, "a,b") == ["run", "--option", 'note="a,b"']
    assert with_value(command, words, "c") == ["run", "--option", "note=c"]


@pytest.mark.by_turns
def test_each_point_has_its_own_command(swept: tuple[Path, str]) -> None:
    """What repeats a point alone, or goes on with it, is the sweep's command with that point's value."""
    folder, _ = swept
    (study,) = (folder / "results").glob("mlp-mnist-sweep-*")
    told = json.loads(bakeoff(folder, "report", "--json").stdout)
    command = told["points"][1]["comparison"]["comparison"]["command"]
    assert command.endswith(f"--batch-size 16 --results results/{study.name}")
    assert command.count("--results") == 1
    again = bakeoff(folder, *command.split()[1:], "--resume").stdout
    assert "going on with" in again


@pytest.mark.usefixtures("inline")
@pytest.mark.by_turns
def test_several_options_race_every_combination(cli: Cli) -> None:
    """--option takes any option, and two with several values give their product; --json is one object."""
    said = cli(
        *RACE[:3], *RACE[4:], "--option", "step_ms=1,2", "--precision", "float32,float64", "--rounds", "1", "--json"
    )
    told = json.loads(said.out)
    assert told["study"]["axes"] == {"precision": ["float32", "float64"], "step_ms": ["1", "2"]}
    steps = [point["comparison"]["contenders"][0]["step_s"] for point in told["points"]]
    assert steps == pytest.approx([1e-3, 2e-3, 1e-3, 2e-3], rel=0.1)


@pytest.mark.usefixtures("inline")
def test_one_value_is_a_comparison_as_ever(cli: Cli) -> None:
    """With a single value no study is made, and an option for all is in force."""
    said = cli(*RACE[:3], *RACE[4:], "--option", "step_ms=3", "--batch-size", "8", "--rounds", "1", "--json")
    told = json.loads(said.out)
    assert told["comparison"]["batch_size"] == 8
    assert told["contenders"][0]["options"]["step_ms"] == "3"


@pytest.mark.by_turns
def test_ctrl_c_shows_what_is_finished_and_resume_does_the_rest(tmp_path: Path) -> None:
    """An interrupted sweep tells its finished points and ends with 130; --resume runs the others only."""
    # Alone and in one round: this is about what is run, not about who is faster.
    alone = [*SWEEP[:3], *SWEEP[4:], "--rounds", "1"]
    process = subprocess.Popen(
        [*COMMAND, *alone], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    for line in process.stdout:
        if "  2 of 2" in line:
            break
    process.send_signal(signal.SIGINT)
    out, err = process.communicate()
    assert process.returncode == INTERRUPTED
    assert re.search(r"go on with\n  .* bakeoff run mlp-mnist ", err)
    assert err.endswith(" --resume\n")
    assert "its turn has not come" in out
    resumed = bakeoff(tmp_path, *alone, "--resume").stdout
    assert "1 of them are finished already" in resumed
    assert "1 of 2:" not in resumed
    assert "its turn has not come" not in resumed


def test_words_are_read_once(tmp_path: Path) -> None:
    """Options that are not said are not there; those with one value are not swept."""
    asked = read("8,16", "cpu", None, None, ["mode=eager", "malloc=settled,fresh"])
    assert asked.fields == {"batch_size": None, "threads": None, "options": {"device": "cpu", "mode": "eager"}}
    assert [words.name for words in asked.several] == ["batch size", "malloc"]
