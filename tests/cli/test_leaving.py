"""What leaves this machine: names, folders and keys that were planted in a comparison are in no form of it."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest

from bakeoff.acceptance.redacted import sharing_redactor
from bakeoff.cli.readme import Readme
from bakeoff.judge.study import PointOutcome
from bakeoff.report import called
from bakeoff.report.redacted import redacted
from bakeoff.spec.request import Request
from bakeoff.spec.study import Point
from bakeoff.store.files import read_comparison, read_record, write_comparison, write_record
from bakeoff.store.studies import LOG_ENDS
from bakeoff.tracking import content
from bakeoff.tracking.content import runs_of

if TYPE_CHECKING:
    from tests.cli.conftest import Cli

RECORD = Path(__file__).parents[1] / "records/mlp-mnist-fada"

KEYS = {
    "Hugging Face": "hf_AbCdEfGhIjKlMnOpQrSt",
    "Amazon, for good": "AKIAIOSFODNN7EXAMPLE",
    "Amazon, for hours": "ASIAIOSFODNN7EXAMPLE",
    "W&B": "0123456789abcdef0123456789abcdef01234567",
    "GitHub": "ghp_0123456789abcdefghijABCDEFGHIJ012345",
    "NVIDIA": "nvapi-0123456789abcdefghij",
    "in the environment": "correct horse battery",
}
"""Invented, of the forms that their issuers give them."""

OF_AMAZON = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
"""A secret key, Amazon's own example, which is known by nothing but its length: in a command alone."""

PLANTED = (
    "alice@example.org on alicesbox.example.org and alicesbox reads '/home/alice/my project/x.csv' "
    "and ~alice/private#1/y.csv with --token=hunter2 or PASSWORD=hunter2, " + ", ".join(KEYS.values())
)
FOLDERS = "/home/alice/my project/lib:/opt/private#1/lib"
WORDS = ("alice", "example.org", "my project", "private#1", "hunter2", "Traceback", "foresaw", *KEYS.values())
COMMAND = (
    "bakeoff run /home/alice/my_model.py --data 'imdb:/home/alice/my project/imdb' --note=alice --api-key hunter2 "
    f"--password 'hunter2 'or\" hunter2\" --aws {OF_AMAZON} 'SOME_TOKEN=a hunter2'"
)


@pytest.fixture(autouse=True)
def blank_charts() -> None:
    """Have charts be drawn: nothing may stand in them either."""


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a results directory with a comparison of Alice's, who says too much wherever something may stand."""
    monkeypatch.setenv("USER", "alice")
    monkeypatch.setenv("HOSTNAME", "alicesbox.example.org")
    monkeypatch.setenv("THEIR_SECRET", KEYS["in the environment"])
    monkeypatch.setattr(content, "render", lambda pages, kind: b"picture")
    monkeypatch.setattr(Readme, "_drawn", lambda *_: b"")
    folder = tmp_path / "results" / RECORD.name
    shutil.copytree(RECORD, folder)
    known = read_comparison(folder)
    machine = known.machine | {"hypervisor": PLANTED}
    changed = msgspec.structs.replace(known, command=COMMAND, notices=[PLANTED], machine=machine)
    write_comparison(folder, msgspec.structs.replace(changed, workload_path="/home/alice/my project/mine.py"))
    for trial in folder.glob("r0*"):
        record = read_record(trial)
        said = {"some_setting": PLANTED}
        fields = {
            "settings": record.settings | said,
            "inherited": {"A_KEY": "hunter2", "A": PLANTED, "LIBRARIES": FOLDERS},
        }
        if trial.name == "r05-tensorflow":
            log = f"{PLANTED}\nTraceback of what nobody foresaw"
            fields |= {"outcome": "crashed", "reason": log, "detail": log}
        write_record(trial, msgspec.structs.replace(record, **fields))
    return tmp_path / "results"


def check(said: str) -> None:
    """Find none of the planted words."""
    assert [word for word in (*WORDS, OF_AMAZON) if word in said] == []


def test_without_redaction_it_is_all_there(cli: Cli, results: Path) -> None:
    """What was planted is in the plain JSON object, so that the tests below look for something."""
    said = cli("report", "fada", "--json").out
    assert [word for word in (*WORDS, OF_AMAZON) if word not in said] == []


@pytest.mark.parametrize("form", [[], ["--markdown"], ["--json"]])
def test_no_printed_report_holds_it(cli: Cli, results: Path, form: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """On the terminal, as Markdown and as JSON; also not by which path bakeoff was called."""
    monkeypatch.setattr(called._Called, "name", "/home/alice/venv/bin/bakeoff")
    said = cli("report", "fada", "--redact", *form)
    assert said.code == 0
    assert "records " not in said.out
    assert "<path>/my_model.py" in said.out
    check(said.out)


def test_no_page_holds_it(cli: Cli, results: Path) -> None:
    """As one HTML file, with its pictures."""
    assert cli("report", "fada", "--redact", "--html", "page.html").code == 0
    check(Path("page.html").read_text())


def test_no_readme_holds_it(cli: Cli, results: Path) -> None:
    """Without being asked: a README is there to be read."""
    Path("README.md").write_text("<!-- bakeoff:mlp-mnist -->\n<!-- /bakeoff -->\n")
    assert cli("report", "--readme", "README.md").code == 0
    text = Path("README.md").read_text()
    assert "my\\_model.py" in text or "my_model.py" in text
    check(text)


@pytest.mark.parametrize("of", ["blocks", "verdicts"])
def test_no_table_holds_it(cli: Cli, results: Path, of: str) -> None:
    """Both tables, in both formats of text."""
    assert cli("export", "fada", "--of", of, "--redact", "--csv", "t.csv", "--jsonl", "t.jsonl").code == 0
    check(Path("t.csv").read_text() + Path("t.jsonl").read_text())


def test_no_tracker_gets_it(results: Path) -> None:
    """Nothing that is sent of a run: names, settings, words, the report, and every file."""
    for run in runs_of(results / RECORD.name, sharing_redactor()):
        files = b"\n".join(run.files.values()).decode(errors="replace")
        check(f"{msgspec.to_builtins(msgspec.structs.replace(run, files={}))}{files}")


def test_no_end_of_a_jobs_log_leaves() -> None:
    """Where a study's comparison has failed on a node, its reason ends in the log, which is left out."""
    point = Point(title="one", request=Request(workload="mlp-mnist"))
    failed = PointOutcome(point=point, reason=f"its node failed{LOG_ENDS}Traceback / what nobody foresaw on gpu07")
    assert redacted(failed).reason == "its node failed"
