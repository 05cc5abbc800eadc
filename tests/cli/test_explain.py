"""`bakeoff explain` on the command line: of a comparison that was run, and what is refused."""

from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.race.inline import InlineWorker

from bakeoff.cli import FAILED, INTERRUPTED
from bakeoff.race import conductor, counterfactual, explaining
from bakeoff.spec.request import Request
from bakeoff.store.files import read_comparison
from bakeoff.store.results import read_records

if TYPE_CHECKING:
    from tests.cli.conftest import Cli

WRONG_INPUT = 2


@pytest.fixture(scope="module")
def raced(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Race the scripted framework with a planted part, in this process; give the comparison's folder."""
    request = Request(
        workload="mlp-mnist",
        size="reduced",
        data="synthetic",
        contenders=("fake", "fake:planted_ms=0.5"),
        max_rounds=3,
        self_test=False,
        results=str(tmp_path_factory.mktemp("raced") / "results"),
    )
    return Path(conductor.run(request, launch=InlineWorker, probe_s=0.001).path)


@pytest.fixture
def comparison(raced: Path, tmp_path: Path) -> Path:
    """Give a copy of it in the results of the folder that commands run in."""
    return Path(shutil.copytree(raced, tmp_path / "results" / raced.name))


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run workers in this process."""
    monkeypatch.setattr(explaining, "complete", partial(explaining.complete, launch=InlineWorker, probe_s=0.001))
    monkeypatch.setattr(counterfactual, "ROUNDS", 3)


@pytest.mark.usefixtures("here")
@pytest.mark.by_turns
def test_the_latest_comparison_is_explained_and_then_only_read(comparison: Path, cli: Cli) -> None:
    """The first call traces, a second one starts nothing and says the same."""
    code, first, _ = cli("explain")
    assert code == 0
    answer = first[first.index("By kind of operation") : first.index("By layer of the model")]
    assert "data movement" in answer
    assert len([one for one in read_records(comparison).records.values() if one.traced]) == 10
    for again in (("explain", comparison.name), ("explain", str(comparison), "--recorded")):
        assert answer in cli(*again).out


def test_what_was_never_traced_is_not_explained(comparison: Path, cli: Cli) -> None:
    """Nothing is run with --recorded; the exit code says that there is no answer."""
    assert cli("explain", str(comparison), "--recorded").code == FAILED
    assert not any(one.traced for one in read_records(comparison).records.values())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--size", "reduced"), "--size: the latest comparison was run with options of its own"),
        (("x", "--seed", "3", "--tier", "best"), "--seed, --tier: x was run with options of its own"),
        (("mlp-mnist", "fake", "--recorded"), "--recorded explains a comparison that was run"),
        (("mlp-mnist", "fake", "--threads", "1,2"), "explain answers one comparison: name one value of threads"),
        (("mlp-mnist", "fake", "--size", "reduced"), "fake is alone: name another one beside it"),
        (("mlp-mnist", "fake", "fake", "--dry-run", "--json"), "leave out --json"),
        (("--recorded", "--dry-run"), "--recorded runs nothing"),
        (("nowhere",), "nowhere"),
    ],
)
def test_what_cannot_be_is_refused(comparison: Path, cli: Cli, words: tuple[str, ...], said: str) -> None:
    """One sentence says what to do."""
    assert read_comparison(comparison).contenders
    code, _, error = cli("explain", *words)
    assert code == WRONG_INPUT
    assert said in error


def test_a_dry_run_tells_of_the_race_and_of_what_is_behind_it(cli: Cli) -> None:
    """Stages of a race, then traces and races of suspects with how many processes; nothing is written."""
    said = cli("explain", "mlp-mnist", "fake", "fake:step_ms=2", "--size", "reduced", "--dry-run")
    words = " ".join(said.out.split())
    assert said.code == 0
    assert "traces 0 to 10 what steps spend their time on: 5 rounds, each contender once" in words
    assert "checks 0 to 105 race suspects with switches turned" in words
    assert words.endswith("Nothing was started or written.")
    assert list(Path().iterdir()) == []


@pytest.mark.usefixtures("here")
@pytest.mark.by_turns
def test_a_dry_run_tells_what_a_comparison_lacks(comparison: Path, cli: Cli) -> None:
    """Before it: ten trials and suspects that nobody knows; with traces alone the suspects' switches; then nothing."""
    before = cli("explain", "--dry-run").out
    assert "10 trials are traced, which takes about" in before
    assert "the traces tell" in before
    assert not any(one.traced for one in read_records(comparison).records.values())
    assert cli("explain").code == 0
    shutil.rmtree(comparison / "checks")
    traced = " ".join(cli("explain", "--dry-run").out.split())
    assert "All of its traces are there." in traced
    assert "fake and fake:planted_ms=0.5 race again beside fake:planted_ms=0.5 with planted_ms=0, " in traced
    assert cli("explain").code == 0
    assert "No race of suspects is lacking." in cli("explain", "--dry-run").out


def test_what_is_pasted_to_go_on_names_the_folder_as_one_word(
    comparison: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder with a space in its name is quoted where the command is told that goes on."""
    folder = comparison.rename(comparison.parent / "two words")

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(explaining, "complete", interrupted)
    said = cli("explain", str(folder))
    assert said.code == INTERRUPTED
    assert f"explain '{folder}'" in said.err
