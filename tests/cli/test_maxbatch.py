"""Searches for the largest batch, from the command to the report."""

from __future__ import annotations

import json
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.race.inline import InlineWorker

from bakeoff.cli import FAILED, INTERRUPTED, MISUSED, TERMINATED, TerminatedError
from bakeoff.cli.maxbatch import bytes_of
from bakeoff.cli.telling import tried
from bakeoff.race import conductor
from bakeoff.race.progress import Event, Observer, Tried
from bakeoff.spec.errors import UsageError

if TYPE_CHECKING:
    from tests.cli.conftest import Cli

    from bakeoff.judge.search import SearchOutcome
    from bakeoff.spec.request import Request

RUN = ["run", "mlp-mnist", "fake:sample_kib=1,capacity_kib=45", "--size", "reduced", "--data", "synthetic"]


@pytest.mark.usefixtures("inline")
def test_a_search_ends_with_its_answer_and_a_report(cli: Cli) -> None:
    """The answer names the largest batch; every attempt is a line; `bakeoff report` computes the same again."""
    said = cli(*RUN, "--max-batch")
    assert said.code == 0
    assert "Largest batch that trains: fake:sample_kib=1,capacity_kib=45 45." in said.out
    assert "batch 64 does not fit: MemoryError" in said.out
    (folder,) = Path("results").iterdir()
    assert "45" in (folder / "report.md").read_text()
    answer = said.out[said.out.index("\nLargest batch") :]
    for name in ([], [folder.name], [folder.name[-4:]], [str(folder)]):
        assert cli("report", *name).out == answer
    assert cli("report", "--markdown").out.startswith("## Largest batch that trains")
    assert cli("report", "--md").out == cli("report", "--markdown").out
    assert json.loads(cli("report", "--json").out)["contenders"][0]["largest"] == 45


@pytest.mark.usefixtures("inline")
def test_a_search_has_its_page_and_its_chart(cli: Cli) -> None:
    """Page, Markdown and charts stand beside the records, and `bakeoff report` writes them where it is asked to."""
    cli(*RUN, "--max-batch")
    (folder,) = Path("results").iterdir()
    assert {path.name for path in folder.iterdir()} >= {"report.html", "report.md", "chart.png", "chart.svg"}
    said = cli("report", folder.name, "--html", "page.html", "--chart", "search.svg")
    answer = "Largest batch that trains: fake:sample_kib=1,capacity_kib=45 45.\n"
    assert said == (0, answer, "report  page.html\nchart   search.svg\n")
    assert "Largest batch that trains: fake:sample_kib=1,capacity_kib=45 45." in Path("page.html").read_text()
    assert "Largest batch" in Path("search.svg").read_text()


@pytest.mark.usefixtures("inline")
def test_json_stands_alone_on_stdout(cli: Cli) -> None:
    """--json prints one object on stdout, and progress on stderr; a search that finds nothing ends with 1."""
    said = cli(*RUN[:2], "fake:wrong=loss", *RUN[3:], "--max-batch", "--json")
    assert said.code == FAILED
    assert json.loads(said.out)["contenders"][0]["state"] == "uncertified"
    assert "same work not verified" in said.err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--memory", "1GB"], "add --max-batch"),
        (["--max-batch", "--memory", "much"], "--memory 'much' is not a size"),
        (["--max-batch", "--memory", "20"], "--memory '20' is 20 bytes, which no step fits into; did you mean 20GB?"),
        (["--max-batch", "--memory", "64kiB"], "is 65,536 bytes, which no step fits into: write 4GiB"),
        (["--max-batch", "--memory", "9TB"], "valid is up to"),
        (["--max-batch", "--rounds", "3", "--how-much"], "leave out --rounds, --how-much"),
    ],
)
def test_what_has_no_meaning_is_refused(cli: Cli, arguments: list[str], told: str) -> None:
    """No option is passed over: those of a race in a search, of a search in a race, and sizes that are none."""
    said = cli(*RUN, *arguments)
    assert (said.code, said.out) == (MISUSED, "")
    assert told in said.err
    assert not list(Path("results").glob("*/*"))


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("4GiB", 4 << 30),
        ("500MB", 500_000_000),
        ("1.5G", 1_500_000_000),
        ("64000 kib", 65_536_000),
        ("7000000", 7_000_000),
    ],
)
def test_sizes_are_read_as_they_are_written(text: str, size: int) -> None:
    """Binary and decimal units are told apart."""
    assert bytes_of(text) == size


@pytest.mark.parametrize("text", ["", "0", "-1GB", "GB", "1 GBB", "1XB"])
def test_what_is_no_size_is_refused(text: str) -> None:
    """The message says how to write one."""
    with pytest.raises(UsageError, match="write 4GiB, 500MB or 4G"):
        bytes_of(text)


@pytest.mark.parametrize("attempts", [0, 2])
def test_an_interrupted_search_tells_what_it_knows(cli: Cli, monkeypatch: pytest.MonkeyPatch, attempts: int) -> None:
    """Where an attempt was finished its report is printed and saved; how to go on is told in either case."""
    search = conductor.search_batches

    def interrupted(request: Request, observe: Observer, **fields: Any) -> SearchOutcome:
        seen: list[Event] = []

        def stop(event: Event) -> None:
            observe(event)
            seen.append(event)
            if sum(isinstance(one, Tried) for one in seen) >= attempts:
                raise TerminatedError

        return search(request, stop, launch=InlineWorker, **fields)

    monkeypatch.setattr(conductor, "search_batches", interrupted)
    command = shlex.join(["bakeoff", *RUN, "--max-batch"])
    monkeypatch.setattr(sys, "argv", shlex.split(command))
    said = cli(*RUN, "--max-batch")
    (folder,) = Path("results").iterdir()
    assert said.code == TERMINATED
    where = (
        f"finished trials are in {folder}; go on" if attempts else f"no trial was finished yet; begin in {folder} again"
    )
    assert said.err == f"interrupted; {where} with\n  {command} --resume\n"
    assert (folder / "report.md").exists() == ("unfinished" in said.out) == bool(attempts)


@pytest.mark.slow
@pytest.mark.by_turns
def test_ctrl_c_keeps_finished_attempts(tmp_path: Path) -> None:
    """An interrupted search ends with 130 and says how to go on."""
    command = [sys.executable, "-m", "bakeoff", *RUN[:2], "fake:clock=real,step_ms=200", *RUN[3:], "--max-batch"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    for line in process.stdout:
        if "batch 16 fits" in line:
            break
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=30)
    assert process.returncode == INTERRUPTED
    assert "; go on with\n" in said
    assert said.endswith(" --max-batch --resume\n")
    assert len(list(tmp_path.glob("results/*/batch-*/record.json"))) >= 1


def test_what_an_attempt_held_is_the_devices_where_that_is_known() -> None:
    """On a GPU some megabytes of the host would say nothing of what is nearly full."""
    assert (
        tried(Tried("a", 32, fits=True, peak_bytes=3_000_000, reason=""))
        == "a: batch 32 fits in 3.0 MB beyond the import"
    )
    assert (
        tried(Tried("a", 32, fits=True, peak_bytes=3_000_000, reason="", device_peak_bytes=17_000_000))
        == "a: batch 32 fits in 17 MB of the device"
    )
