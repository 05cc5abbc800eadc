"""Races of the scripted framework, in real processes, from the command to the report."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from bakeoff.cli import FAILED, INTERRUPTED, TERMINATED

if TYPE_CHECKING:
    from tests.cli.conftest import Cli

pytestmark = pytest.mark.slow

RACE = [
    "run",
    "mlp-mnist",
    "fake",
    "fake:step_ms=2",
    "--size",
    "reduced",
    "--data",
    "synthetic",
    "--results",
    "results",
]
COMMAND = [sys.executable, "-m", "bakeoff"]


def bakeoff(folder: Path, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own, without a terminal."""
    return subprocess.run(
        [*COMMAND, *arguments], cwd=folder, capture_output=True, text=True, check=check, stdin=subprocess.DEVNULL
    )


@pytest.fixture(scope="module")
def raced(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Race once; give the folder and what was printed."""
    folder = tmp_path_factory.mktemp("raced")
    return folder, bakeoff(folder, *RACE).stdout


def test_a_race_ends_with_verdict_and_paths(raced: tuple[Path, str]) -> None:
    """The answer names the verdict, and the records, the page and the charts are where it says."""
    folder, said = raced
    assert "\nfake is faster: 2.000x fake:step_ms=2 (95 % CI " in said
    (comparison,) = (folder / "results").glob("mlp-mnist-*")
    assert f"results/{comparison.name}" in said
    for name in ("comparison.json", "report.html", "report.md", "chart.png", "chart.svg"):
        assert (comparison / name).stat().st_size > 0


@pytest.mark.by_turns
def test_without_a_terminal_every_trial_and_round_is_one_plain_line(raced: tuple[Path, str]) -> None:
    """A log holds one line for each trial and round, no escape codes, and interim ratios are marked."""
    _, said = raced
    assert "\x1b" not in said
    lines = said.splitlines()
    assert [line for line in lines if re.fullmatch(r" *\d+ s  r01-fake: done in [\d.]+ s", line)]
    (first,) = [
        line for line in lines if re.match(r" *\d+ s  round 1 done; about \d+ s until a verdict is possible", line)
    ]
    assert "interim, not a verdict" in first
    assert [line for line in lines if re.fullmatch(r" *\d+ s  fake: same work verified", line)]


@pytest.mark.usefixtures("inline")
def test_json_stands_alone_on_stdout(cli: Cli) -> None:
    """--json prints one object on stdout, and progress on stderr."""
    said = cli(*RACE, "--json")
    told = json.loads(said.out)
    assert {"comparison", "machine", "contenders", "verdicts", "warnings"} <= set(told)
    (verdict,) = told["verdicts"]
    assert {"first", "second", "verdict", "ratio", "low", "high", "rounds"} <= set(verdict)
    assert (verdict["first"], verdict["verdict"]) == ("fake", "faster")
    assert "round 1 done" in said.err


def test_a_report_is_computed_from_the_records_again(
    raced: tuple[Path, str], cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`bakeoff report` finds a comparison by nothing, id, end of the id or folder, in every form."""
    folder, said = raced
    (comparison,) = (folder / "results").glob("mlp-mnist-*")
    monkeypatch.chdir(folder)
    answer = next(line for line in said.splitlines() if line.startswith("fake is faster:"))
    for name in ([], [comparison.name], [comparison.name[-4:]], [str(comparison)]):
        assert answer in cli("report", *name).out
    assert cli("report", "--markdown").out.startswith("#")
    told: Any = json.loads(cli("report", "--json").out)
    assert told["verdicts"][0]["verdict"] == "faster"
    assert "unknown comparison 'gone'" in cli("report", "gone").err


def test_reports_are_written_where_they_are_asked_for(
    raced: tuple[Path, str], cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    """--html and --chart write their files, and a place that cannot be written is told with exit code 1."""
    folder, _ = raced
    monkeypatch.chdir(folder)
    assert cli("report", "--html", "page.html", "--chart", "race.svg").code == 0
    assert "<html" in Path("page.html").read_text()
    assert Path("race.svg").read_text().startswith("<svg")
    failed = cli("report", "--html", "page.html/page.html")
    assert failed.code == FAILED
    assert failed.err.startswith("bakeoff: cannot write page.html/page.html")


@pytest.mark.usefixtures("inline")
def test_nobody_certified_ends_with_1(cli: Cli) -> None:
    """A race in which no pair could be ranked says why, and does not end as if it had an answer."""
    said = cli("run", "mlp-mnist", "fake", "fake:wrong=loss", "--size", "reduced", "--rounds", "1")
    assert said.code == FAILED
    assert "same work not verified: loss" in said.out


@pytest.mark.usefixtures("inline")
def test_verify_shows_every_check(cli: Cli) -> None:
    """`bakeoff verify` gives the certificate alone; one that fails ends with 1, names its checks."""
    good = cli("verify", "mlp-mnist", "fake", "--size", "reduced")
    assert good.code == 0
    assert "fake, against fake in float64: passed" in good.out
    assert re.search(r"passed +gradients", good.out)
    said = cli("verify", "mlp-mnist", "fake:wrong=gradients", "--size", "reduced").out
    named = "NOT passed: gradients; in float64 the same code passes: it differs in float32 alone\n"
    assert f"fake:wrong=gradients, against fake in float64: {named}" in said
    assert re.search(r"FAILED +gradients +largest error in ", said)
    bad = cli("verify", "mlp-mnist", "fake:wrong=gradients", "--size", "reduced", "--json")
    assert bad.code == FAILED
    told = json.loads(bad.out)
    (certificate,) = told["certificates"]
    assert [check["name"] for check in certificate["checks"] if not check["passed"]] == ["gradients"]
    page = (Path(__file__).parents[2] / "docs" / "json-verify.md").read_text()
    keys = {*told, *(f"certificates[].{key}" for key in certificate)}
    keys |= {f"certificates[].checks[].{key}" for key in certificate["checks"][0]}
    assert keys == set(re.findall(r"^\| `([\w.\[\]]+)` \|", page, re.MULTILINE))


@pytest.mark.by_turns
def test_on_a_terminal_one_table_is_live(tmp_path: Path) -> None:
    """On a terminal progress is drawn in place: clock, steps, who runs now, interim ratios; the answer stays."""
    screen, terminal = pty.openpty()
    environment = os.environ | {"TERM": "xterm", "COLUMNS": "100", "LINES": "40"}
    process = subprocess.Popen([*COMMAND, *RACE], cwd=tmp_path, stdout=terminal, stderr=terminal, env=environment)
    os.close(terminal)
    drawn = b"".join(iter(lambda: _read(screen), b"")).decode()
    assert process.wait() == 0
    assert "\x1b[2K" in drawn  # a line is drawn anew
    assert re.search(r"\d+ s; same work \d+ s, now race, round 1", drawn)
    assert "\N{BLACK CIRCLE}" in drawn  # a pair's ratio on its bar
    assert " interim" in drawn
    assert "fake is faster: 2.000x fake:step_ms=2" in drawn.rpartition("\x1b[2K")[2]


def _read(screen: int) -> bytes:
    """Read what was drawn; on Linux the end is an error."""
    try:
        return os.read(screen, 1 << 16)
    except OSError:
        return b""


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, INTERRUPTED), (signal.SIGTERM, TERMINATED)])
@pytest.mark.by_turns
def test_an_interrupt_keeps_finished_trials_and_leaves_no_process(
    tmp_path: Path, sent: signal.Signals, code: int
) -> None:
    """A race that is ended tells what it knows and how to go on; --resume finishes it without doing trials again."""
    # So noisy that it is not decided before it is interrupted.
    slow = [*RACE[:2], "fake", "fake:process_noise=0.5", *RACE[4:]]
    process = subprocess.Popen(
        [*COMMAND, *slow], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    for line in process.stdout:
        if " round 1 done" in line:
            break
    time.sleep(0.2)
    children = psutil.Process(process.pid).children(recursive=True)
    process.send_signal(sent)
    told, said = process.communicate(timeout=30)
    assert process.returncode == code
    assert re.search(rf"go on with\n  .* bakeoff {re.escape(' '.join(slow))} --resume\n", said)
    assert "The comparison is not finished: these numbers are interim" in " ".join(told.split())
    assert "Traceback" not in said
    assert not psutil.wait_procs(children, timeout=5)[1]
    before = {path: path.stat().st_mtime_ns for path in tmp_path.glob("results/*/*/record.json")}
    assert len(before) >= 5

    resumed = bakeoff(tmp_path, *slow, "--resume", "--rounds", "3")
    assert f"going on with {len(before)} trials" in resumed.stdout
    assert (
        before.items() <= {path: path.stat().st_mtime_ns for path in tmp_path.glob("results/*/*/record.json")}.items()
    )


def test_a_machine_without_frameworks_says_how_to_get_one(cli: Cli) -> None:
    """With no contender named and none available, the message names the remedy for each."""
    said = cli("run", "mlp-mnist")
    assert said.code != 0
    assert "bakeoff env create" in said.err
