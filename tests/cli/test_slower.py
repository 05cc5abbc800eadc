"""--fail-if-slower: races of the scripted framework, to an exit code."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from bakeoff.cli import FAILED, MISUSED
from bakeoff.cli.slower import UNTOLD

if TYPE_CHECKING:
    from tests.cli.conftest import Cli

pytestmark = pytest.mark.slow

RACE = ["run", "mlp-mnist", "--size", "reduced", "--results", "results", "--rounds", "5", "--fail-if-slower"]


@pytest.mark.usefixtures("inline")
def test_the_exit_code_says_whether_a_contender_is_slower(cli: Cli) -> None:
    """1 where it takes twice as long, 0 where that is allowed; the sentence on stderr names both."""
    said = cli(*RACE, "5%", "fake", "fake:step_ms=2")
    assert said.code == FAILED
    assert "--fail-if-slower: fake:step_ms=2 is slower than fake by more than 5 % (ratio 2.0" in said.err
    said = cli(*RACE, "5%", "fake:step_ms=2", "fake")
    assert said.code == 0
    assert "fake is not slower than fake:step_ms=2" in said.err


@pytest.mark.usefixtures("inline")
def test_what_is_inconclusive_is_skipped(cli: Cli) -> None:
    """A contender that fails gives git bisect's code for a revision that cannot be tested."""
    said = cli(*RACE, "5%", "fake", "fake:fault=raise")
    assert said.code == UNTOLD
    assert "fake:fault=raise is inconclusive" in said.err


def test_one_round_decides_nothing(cli: Cli) -> None:
    """Too few rounds for an interval are not decided, in a sentence with the ratio alone."""
    said = cli(*RACE[:-3], "--rounds", "1", "--budget", "1s", "--fail-if-slower", "5%", "fake", "fake:step_ms=2")
    assert said.code == UNTOLD
    assert "fake:step_ms=2 is inconclusive: too few rounds (ratio 2." in said.err
    assert "[" not in said.err.splitlines()[-1]


def test_it_is_for_one_comparison(cli: Cli) -> None:
    """Several values, a share that is none, and an aim that it excludes are errors before anything runs."""
    for words in (["5%", "--batch-size", "8,16"], ["five"], ["5%", "--until-sure"], ["5%", "--direction"]):
        said = cli(*RACE, *words)
        assert said.code == MISUSED
        assert "--fail-if-slower" in said.err


def test_one_contender_has_nothing_to_be_slower_than(cli: Cli) -> None:
    """A single contender is an error before anything runs."""
    said = cli(*RACE, "5%", "fake")
    assert said.code == MISUSED
    assert "fake is alone: name another one" in said.err
    assert not Path("results").exists()
