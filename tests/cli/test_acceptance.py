"""`bakeoff acceptance`, from the command to the page and the bundle."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from bakeoff.acceptance import checks
from bakeoff.cli import FAILED, INTERRUPTED, MISUSED

if TYPE_CHECKING:
    from tests.cli.conftest import Cli

ROOT = Path(__file__).parents[2]
RUN = ["acceptance", "fake", "--device", "cpu", "--quick", "--size", "reduced"]
FREE = {"machine", "counts", "excluded"}
"""Objects whose keys are names."""


def test_a_check_is_made_and_shown_in_every_form(cli: Cli) -> None:
    """The headline comes first, then the table; page, report and bundle say the same; what is missing has code 1."""
    said = cli(*RUN, "--only", "devices")
    headline = "1 of 11 checks passed, 10 not reached"
    assert said.code == FAILED
    assert "[1/11] devices (1 h 00 min left): each environment works and has the device" in said.out
    assert "[1/11] devices: passed: fake (fake 1.0; cpu" in said.out
    (folder,) = Path("results").iterdir()
    assert {path.name for path in folder.iterdir()} >= {"acceptance.json", "report.html", "report.md", "bundle.tar.gz"}
    assert f"bundle    {folder}/bundle.tar.gz" in said.out
    for text in (said.out, (folder / "report.md").read_text(), (folder / "report.html").read_text()):
        assert re.search(rf"Acceptance on .*: {headline}", " ".join(text.split()))
        assert "each environment works and has the device" in text
    assert headline in " ".join(cli("report", folder.name).out.split())
    assert headline in " ".join(cli("acceptance", "--read", str(folder / "bundle.tar.gz")).out.split())
    told = json.loads(cli("acceptance", "--read", str(folder / "bundle.tar.gz"), "--json").out)
    assert told["acceptance"]["redacted"]
    assert told["counts"]["passed"] == 1
    assert _paths(told) == set(re.findall(r"^\| `([\w.\[\]]+)` \|", _documented(), re.MULTILINE))


def _documented() -> str:
    """Return the page that documents the object."""
    return (ROOT / "docs/json-acceptance.md").read_text()


def _paths(value: Any, path: str = "") -> set[str]:
    """Return the paths of an object's keys."""
    if isinstance(value, dict) and path not in FREE:
        below = {key: f"{path}.{key}" if path else key for key in value}
        return set(below.values()).union(*(_paths(value[key], below[key]) for key in value))
    return set().union(*(_paths(item, f"{path}[]") for item in value)) if isinstance(value, list) else set()


def test_an_interrupt_shows_what_is_known_and_how_to_go_on(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C ends with the table, the bundle, and the command that makes what is missing."""

    def interrupted(setting: object) -> None:
        del setting
        raise KeyboardInterrupt

    monkeypatch.setattr(checks, "timers", interrupted)
    monkeypatch.setattr(sys, "argv", ["bakeoff", *RUN, "--only", "devices,timers", "--again"])
    said = cli(*RUN, "--only", "devices,timers", "--again")
    assert said.code == INTERRUPTED
    assert "1 of 11 checks passed, 10 not reached" in " ".join(said.out.split())
    assert said.err == f"interrupted; go on with\n  bakeoff {' '.join(RUN)}\n"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["acceptance", "fake"], "--device is needed: cpu, cuda, mps"),
        (["acceptance", "fake", "--device", "gpu"], "--device gpu: valid: cpu, cuda, mps"),
        ([*RUN, "--only", "timer"], "unknown check 'timer'; did you mean 'timers'?"),
        ([*RUN, "--bundle", "out.zip"], "--bundle out.zip: the file must end in .tar.gz"),
        ([*RUN, "--bundle", "mine.tar.gz"], "--bundle mine.tar.gz: a file is there that is no bundle"),
        ([*RUN, "--budget", "soon"], "--budget 'soon' is not a duration"),
        ([*RUN, "--gpu", "0"], "it needs --device cuda"),
        (["acceptance", "--read", "none.tar.gz"], "--read none.tar.gz: no bundle of an acceptance can be read there"),
        (["acceptance", "faked", "--device", "cpu"], "unknown framework 'faked'"),
    ],
)
def test_what_cannot_be_is_refused(cli: Cli, arguments: list[str], told: str) -> None:
    """One message, exit code 2, and nothing is begun."""
    Path("mine.tar.gz").write_text("my own")
    said = cli(*arguments)
    assert (said.code, said.out) == (MISUSED, "")
    assert told in said.err
    assert not Path("results").exists()


def test_a_fault_is_planted_by_verify(cli: Cli) -> None:
    """The framework gets another precision than it is judged by, and its certificate is refused."""
    asked = ["verify", "mlp-mnist", "fake", "--size", "reduced", "--data", "synthetic"]
    said = cli(*asked, "--inject", "precision=tf32")
    assert said.code == FAILED
    assert "a planted fault: the frameworks got precision=tf32" in said.out
    assert re.search(r"FAILED +gradients +largest error .* 4\.\de-04", said.out)
    for inject, told in (
        ("tf32", "write precision=tf32"),
        ("precision=float32", "plants no fault"),
        ("x=1", "option 'x'"),
    ):
        said = cli(*asked, "--inject", inject)
        assert (said.code, said.out) == (MISUSED, "")
        assert told in said.err


def test_a_race_takes_no_planted_fault(cli: Cli) -> None:
    """Only certificates are to refuse it."""
    assert cli("run", "mlp-mnist", "fake", "--inject", "precision=tf32").code == MISUSED
