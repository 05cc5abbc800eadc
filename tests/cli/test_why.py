"""`bakeoff run --why`: a race, its report, and then why; and what it does not go together with."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.race.inline import InlineWorker

from bakeoff.judge.checks import read_checks
from bakeoff.race import conductor, counterfactual, explaining
from bakeoff.race.stages import explain as stage
from bakeoff.store.files import read_comparison

if TYPE_CHECKING:
    from tests.cli.conftest import Cli

WRONG_INPUT = 2
FEW = 3
"""Rounds with an interval."""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--json",), "--why prints a second page, and --json is one object"),
        (("--dry-run",), "--dry-run tells of the race alone"),
        (("--batch-size", "8,16"), "--why explains one comparison"),
        ((), "fake is alone: name another one beside it"),
        (("--max-batch",), "--max-batch searches a batch size and races nothing: leave out --why"),
    ],
)
def test_what_cannot_be_is_refused(cli: Cli, words: tuple[str, ...], said: str) -> None:
    """One sentence says what to do, before anything is started; one contender alone has no gap."""
    code, _, error = cli("run", "mlp-mnist", "fake", "--size", "reduced", "--why", *words)
    assert code == WRONG_INPUT
    assert said in error


@pytest.mark.by_turns
def test_a_race_is_explained_within_its_budget(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer comes before the reasons; half of the budget is the race's, and most of the rest the suspect's."""
    for module in (stage, counterfactual):
        monkeypatch.setattr(module, "ROUNDS", FEW)
    inline = partial(conductor.run, launch=InlineWorker, probe_s=0.001)
    monkeypatch.setattr(conductor, "run", inline)
    monkeypatch.setattr(explaining, "explain_race", partial(explaining.explain_race, launch=InlineWorker))
    asked = ("--size", "reduced", "--data", "synthetic", "--threads", "1", "--rounds", str(FEW), "--budget", "10m")
    code, said, _ = cli("run", "mlp-mnist", "fake", "fake:planted_ms=0.5", *asked, "--why")
    assert code == 0
    assert said.count("Same work: verified") == 2
    assert said.index("Same work: verified") < said.index("confirmed")
    (folder,) = Path("results").iterdir()
    assert counterfactual.is_checked(folder)
    (link,) = read_checks(folder).links
    budget_s = read_comparison(folder).procedure.budget_s
    assert budget_s is not None
    assert 290 < budget_s <= 300
    left_s = read_comparison(folder / "checks" / link.comparison).procedure.budget_s
    assert left_s is not None
    assert 350 < left_s < 400


@pytest.mark.by_turns
def test_a_budget_that_leaves_no_rounds_for_suspects_says_what_to_type(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its suspects are named, and so is the command that goes on with them."""
    for module in (stage, counterfactual):
        monkeypatch.setattr(module, "ROUNDS", FEW)
    monkeypatch.setattr(counterfactual, "PROCESS_S", 10_000.0)  # no race can begin
    monkeypatch.setattr(conductor, "run", partial(conductor.run, launch=InlineWorker, probe_s=0.001))
    monkeypatch.setattr(explaining, "explain_race", partial(explaining.explain_race, launch=InlineWorker))
    asked = ("--size", "reduced", "--data", "synthetic", "--rounds", str(FEW), "--budget", "10m", "--why")
    code, said, _ = cli("run", "mlp-mnist", "fake", "fake:planted_ms=0.5", *asked)
    (folder,) = Path("results").iterdir()
    assert code == 0
    assert f"bakeoff explain {folder}" in " ".join(said.replace("\\", "").split())
    assert "Suspects lack rounds" in " ".join(said.split())
