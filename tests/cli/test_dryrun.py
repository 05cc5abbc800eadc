"""`--dry-run` prints what would run; nothing is started or written."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from bakeoff.cli import MISUSED
from bakeoff.race import fitting, least
from bakeoff.race.least import Least
from bakeoff.race.workers import process

if TYPE_CHECKING:
    from tests.cli.conftest import Cli

DOCUMENT = Path(__file__).parents[2] / "docs" / "json-dry-run.md"
FREE = {"comparisons[].contenders[].options", "comparisons[].excluded"}
RUN = ["run", "mlp-mnist", "fake", "fake:step_ms=2", "--size", "reduced", "--data", "synthetic", "--dry-run"]


@pytest.fixture(autouse=True)
def _no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail where a worker is started."""

    def start(*_: object) -> None:
        pytest.fail("a dry run started a worker")

    monkeypatch.setattr(process, "ProcessWorker", start)


def keys(value: Any, path: str = "") -> set[str]:
    """Give the path of every key."""
    if isinstance(value, dict) and path not in FREE:
        below = {key: f"{path}.{key}" if path else key for key in value}
        return set(below.values()).union(*(keys(value[key], below[key]) for key in value))
    return set().union(*(keys(item, f"{path}[]") for item in value)) if isinstance(value, list) else set()


def test_a_dry_run_tells_what_would_run(cli: Cli) -> None:
    """Work, contenders, stages with their processes, and that times are unknown, in 80 columns; nothing is written."""
    said = cli(*RUN)
    assert said.code == 0
    for words in (
        "mlp-mnist, train, reduced size, batch 16, 25,450 parameters, synthetic data",
        "fake:step_ms=2",
        "reference",
        "certify   2 to ",
        "rounds    10 to 40",
        "not known: nothing like it was run here before for fake",
        "Nothing was started or written.",
    ):
        assert words in said.out
    assert all(len(line) <= 80 or "/" in line for line in said.out.splitlines())
    assert list(Path().iterdir()) == []


def test_its_object_is_documented(cli: Cli) -> None:
    """Every key of --json is documented in docs/json-dry-run.md, and every documented key is there."""
    told = json.loads(cli(*RUN, "--json", "--budget", "60s").out)
    documented = set(re.findall(r"^\| `([\w.\[\]]+)` \|", DOCUMENT.read_text(), re.MULTILINE))
    # There are no records here that times could be from, and no large network.
    elsewhere = {key for key in documented if "sources[]." in key or ".least." in key}
    assert keys(told) | elsewhere == documented
    assert {key.rpartition(".")[2] for key in elsewhere if ".least." in key} == set(Least.__struct_fields__)
    assert [one["label"] for one in told["comparisons"][0]["contenders"]] == ["fake", "fake:step_ms=2"]


def test_of_a_large_network_the_least_time_is_told(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """By its operations, where nothing like it was run here: certificates, rounds, and what takes less."""
    monkeypatch.setattr(fitting, "SMALL_MACS", 0)
    monkeypatch.setattr(least, "float64_macs_per_s", lambda: 1e5)
    said = " ".join(cli(*RUN).out.split())
    found = re.search(r"By the operations of its steps alone (\d+) min and more on this processor: certificates", said)
    assert found is not None
    assert "5 rounds of" in said
    assert "with a smaller --batch-size it takes less in proportion" in said
    told = json.loads(cli(*RUN, "--json").out)["comparisons"][0]
    assert told["high_s"] is None
    parts = told["least"]
    assert told["low_s"] == parts["reference_s"] + parts["contenders_s"] + 5 * parts["round_s"]
    assert round(told["low_s"] / 60) == int(found[1])
    half = " ".join(cli("run", "mlp-mnist", "fake:precision=bfloat16", *RUN[4:]).out.split())
    assert "certificates" in half
    assert "rounds of" not in half, "of a precision without a rate, or a GPU, a round is not known to take nothing"


def test_a_sweep_is_told_point_by_point(cli: Cli) -> None:
    """Every combination is a line with its time, and the whole is their sum."""
    said = cli(*RUN, "--batch-size", "8,16").out
    assert "batch size 8 " in said
    assert "batch size 16 " in said
    told = json.loads(cli(*RUN, "--batch-size", "8,16", "--json").out)
    assert told["low_s"] == pytest.approx(sum(one["low_s"] for one in told["comparisons"]))
    assert list(Path().iterdir()) == []


def test_a_reproduction_is_told(cli: Cli) -> None:
    """The comparisons of a document are told as they would be run here, and what of them is not in the time."""
    said = cli("reproduce", "shootout-table1", "fake", "--dry-run")
    assert said.code == 0
    assert "1 comparison" in said.out
    assert "; whole runs not counted." in " ".join(said.out.split())
    assert list(Path().iterdir()) == []


def test_what_is_known_before_is_told(cli: Cli) -> None:
    """Shapes that are compiled one by one are told of one comparison, of a study once, and to programs."""
    told = "makes up to 5 shapes of batches"
    one = ("run", "gnmt", "fake", "--size", "reduced", "--padding", "buckets:5", "--dry-run")
    assert told in " ".join(cli(*one).out.split())
    (found,) = json.loads(cli(*one, "--json").out)["comparisons"]
    assert told in found["notices"][0]
    swept = cli(*one, "--batch-size", "2,4")
    assert " ".join(swept.out.split()).count(told) == 1


@pytest.mark.parametrize(("word", "told"), [("--max-batch", "leave out --max-batch"), ("--resume", "leave out one")])
def test_what_cannot_be_told_is_refused(cli: Cli, word: str, told: str) -> None:
    """A search and what goes on with a run are errors that say so."""
    said = cli(*RUN, word)
    assert (said.code, said.out) == (MISUSED, "")
    assert told in said.err


def test_wrong_input_is_told_as_by_a_run(cli: Cli) -> None:
    """A dry run checks all that a run checks before it starts."""
    said = cli("run", "mlp-mnist", "fake:mod=eager", "--dry-run")
    assert said.code == MISUSED
    assert "did you mean 'mode'?" in said.err
