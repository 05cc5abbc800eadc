"""`bakeoff reproduce all`, `--estimate` and `--launcher slurm` with the scripted framework."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.cli.test_dryrun import keys
from tests.cli.test_reproduce import STUDY
from tests.study.test_reproduce import published

from bakeoff.cli import FAILED, INTERRUPTED, MISUSED, estimated, everything, foretold, launched
from bakeoff.race.progress import StudyStarted
from bakeoff.study.estimate import estimate
from bakeoff.study.every import STATE_FILE
from bakeoff.study.foreseen import Foreseen, ForeseenPoint
from bakeoff.study.reproduction import declare

if TYPE_CHECKING:
    from tests.cli.conftest import Cli

pytestmark = pytest.mark.slow

DOCS = Path(__file__).parents[2] / "docs"
ALL = ("reproduce", "all", "--device", "cpu")


@pytest.fixture
def two(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give two shipped studies, of two documents: quick, and wrong, whose rows have no passing certificate."""
    shipped = tmp_path / "shipped"
    shipped.mkdir()
    quick = STUDY.replace('id = "own"', 'id = "quick"')
    (shipped / "quick.toml").write_text(quick)
    wrong = STUDY.replace('id = "own"', 'id = "wrong"').replace('"a page"', '"another page"')
    wrong = wrong.replace("fake:step_ms=2", "fake:wrong=loss,step_ms=2").replace('"fake"', '"fake:wrong=loss"')
    (shipped / "wrong.toml").write_text(wrong.replace("minutes = 1", "minutes = 2"))
    monkeypatch.setattr("bakeoff.study.published.SHIPPED", shipped)
    return shipped


def documented(page: str) -> set[str]:
    """Give the keys that a page of docs/ has."""
    return set(re.findall(r"^\| `([\w.\[\]]+)` \|", (DOCS / page).read_text("utf-8"), re.MULTILINE))


@pytest.mark.usefixtures("inline")
@pytest.mark.by_turns
def test_all_are_run_and_what_became_of_each_is_told(cli: Cli, two: Path) -> None:
    """Numbers before the start, times of those that can race, a summary in the end, code 1 for the one that failed."""
    assert two.is_dir()
    said = cli(*ALL, "--budget", "10m", "--json")
    assert said.code == FAILED
    before = " ".join(said.err.split())
    assert "2 studies, 2 comparisons; about 2 min, by what the study declares for two calm cores." in before
    assert "They share a budget of 10 min" in before
    assert before.index("share a budget") < before.index("study 1 of 2: quick")
    told = json.loads(said.out)
    assert [(one["name"], one["ended"], one["done"]) for one in told["studies"]] == [
        ("quick", "done", 1),
        ("wrong", "failed", 0),
    ]
    assert json.loads(Path("results", STATE_FILE).read_text()) == told
    assert keys(told) == documented("json-reproduce-all.md")
    assert Path(told["studies"][0]["path"], "report.html").is_file()
    again = cli(*ALL, "--resume")
    text = " ".join(again.out.split())
    assert "2 studies, 2 comparisons, 2 of them finished: nothing is left to run." in text
    assert "Of 2 studies: 1 done, 1 failed." in text
    assert len(list(Path("results").glob("quick-*"))) == 1


@pytest.mark.usefixtures("inline")
def test_ctrl_c_keeps_what_is_finished(cli: Cli, two: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The summary says what is done and how to go on, with the exit code of an interrupt."""
    assert two.is_dir()
    real = everything._Teller.begins

    def interrupted(self: everything._Teller, number: int, study: object) -> object:
        observe = real(self, number, study)  # type: ignore[arg-type]

        def watch(event: object) -> None:
            if isinstance(event, StudyStarted) and number == 2:
                raise KeyboardInterrupt
            observe(event)  # type: ignore[arg-type]

        return watch

    monkeypatch.setattr(everything._Teller, "begins", interrupted)
    said = cli(*ALL)
    assert said.code == INTERRUPTED
    text = " ".join(said.out.split())
    assert "Of 2 studies: 1 done, 1 left." in text
    assert "interrupted" in text
    assert "--resume" in text


@pytest.mark.usefixtures("inline")
@pytest.mark.by_turns
def test_one_study_says_its_time_before_it_starts(cli: Cli, two: Path) -> None:
    """The first run by its own minutes, with how many comparisons; the next by what the first one took."""
    first = cli("reproduce", str(two / "quick.toml"), "--device", "cpu").out
    assert first.startswith("1 comparison; about 40 s, by what the study declares for two calm cores.")
    second = cli("reproduce", str(two / "quick.toml"), "--device", "cpu", "--resume").out
    assert second.startswith("1 comparison, 1 of them finished: nothing is left to run.")
    told = cli("reproduce", str(two / "quick.toml"), "--device", "cpu", "--estimate").out
    assert "what the same contenders took in earlier comparisons on this machine" in " ".join(told.split())


def test_an_estimate_starts_nothing_and_states_its_assumptions(cli: Cli, two: Path) -> None:
    """Four places with time, device hours and energy, each assumption with its source, and documented keys."""
    assert two.is_dir()
    said = cli(*ALL, "--estimate")
    assert said.code == 0
    text = " ".join(said.out.split())
    for words in ("this machine", "one A100", "8 A100s", "100 nodes", "device hours", "kWh"):
        assert words in text
    assert "its TDP (NVIDIA A100 data sheet, SXM4)" in text
    assert "none of them shrinks with a GPU" in text
    told = json.loads(cli(*ALL, "--estimate", "--json").out)
    found = {re.sub(r"studies\[\]\.(basis|problems)\..*", r"studies[].\1", key) for key in keys(told)}
    assert found | {"studies[].problems"} == documented("json-estimate.md")
    assert not Path("results").exists()


def test_every_comparison_that_cannot_be_had_is_told() -> None:
    """Several with one reason are all named beside it, and counted before all studies start."""
    asked = declare(published(), device="cpu")
    gone = [
        ForeseenPoint(title=title, basis="rough", low_s=0.0, high_s=0.0, problem="no memory")
        for title in ("one", "two")
    ]
    told = Foreseen(study=asked, points=gone)
    whole = estimate([told], 2)
    said = " ".join(" ".join(estimated._lines([told], [whole], whole)).split())
    assert f"Not counted: {asked.name}, one; {asked.name}, two: no memory" in said
    one = Foreseen(study=asked, points=gone[:1])
    assert foretold.sentence_of_all([one, one], None) == (
        "2 studies, 2 comparisons, 2 of which cannot be had here: nothing is left to run."
    )


def test_a_cluster_gets_an_array_for_each_study(cli: Cli, two: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """--dry-run prints every script and writes nothing; without sbatch it says so; words of others are refused."""
    assert two.is_dir()
    Path("site.toml").write_text('partition = "gpu"\ngpus = "a100"\n')
    said = cli("reproduce", "all", "--launcher", "slurm", "--profile", "site.toml", "--dry-run")
    assert said.code == 0
    assert said.out.count("#SBATCH --partition=gpu") == 2
    assert "Nothing was written or submitted" in said.out
    assert not Path("results").exists()
    monkeypatch.setenv("PATH", "")
    assert "sbatch is not here" in cli("reproduce", "quick", "--launcher", "slurm").err


@pytest.mark.parametrize(
    ("behind", "is_same"),
    [((), True), (("--device", "cuda"), True), (("--full",), False), (("--full", "--device", "cuda"), False)],
)
def test_jobs_of_another_size_are_another_study(behind: tuple[str, ...], is_same: bool) -> None:  # noqa: FBT001
    """What is open of a study at its full size is not handed over again where the scaled one is asked for."""
    assert launched.are_same(["reproduce", "quick", *behind], ["reproduce", "quick"]) == is_same
    assert not launched.are_same(["reproduce", "wrong"], ["reproduce", "quick"])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("all", "--launcher", "pbs"), "unknown launcher 'pbs'"),
        (("all", "--profile", "site.toml"), "give it with --launcher slurm"),
        (("all", "--launcher", "slurm", "--budget", "2h"), "--budget is for one machine"),
        (("all", "--launcher", "slurm", "--dry-run", "--json"), "leave out --json"),
        (("all", "--estimate", "--resume"), "leave out --resume"),
        (("all", "--estimate", "--launcher", "slurm"), "leave out --launcher slurm"),
        (("all", "--dry-run", "--budget", "2h"), "leave out --budget"),
        (("all", "--budget", "soon"), "--budget 'soon' is not a duration"),
        (("all", "--device", "rocm"), "rocm"),
        (("all", "nobody"), "unknown framework 'nobody'"),
    ],
)
def test_what_cannot_be_is_one_clear_message(cli: Cli, two: Path, words: tuple[str, ...], said: str) -> None:
    """Exit code 2, and nothing is written."""
    assert two.is_dir()
    found = cli("reproduce", *words)
    assert found.code == MISUSED, found
    assert said in found.err
    assert not Path("results").exists()


def test_all_are_no_words_of_a_job(cli: Cli) -> None:
    """`bakeoff slurm` takes one study, and says how all are handed over."""
    said = cli("slurm", "write", "reproduce", "all")
    assert said.code == MISUSED
    assert "bakeoff reproduce all --launcher slurm" in said.err
