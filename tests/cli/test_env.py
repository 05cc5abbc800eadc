from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Cli

pytestmark = pytest.mark.slow


@pytest.mark.by_turns
def test_an_environment_is_made_listed_and_removed(cli: Cli) -> None:
    """create, list and remove work hand in hand, and each says what it does."""
    assert "none in" in cli("env", "list").out
    assert "fake: done in" in cli("env", "create", "fake").out
    assert "fake: already there" in cli("env", "create", "fake").out
    listed = cli("env", "list").out
    assert listed.startswith("fake")
    assert "Python 3." in listed
    assert "MB" in listed
    assert cli("env", "remove", "fake").out.startswith("removed ")
    assert "none in" in cli("env", "list").out


@pytest.mark.by_turns
def test_a_failure_is_one_message(cli: Cli, tmp_path: Path) -> None:
    """What pip could not install is told with exit code 1, and nothing is left."""
    (tmp_path / "old.txt").write_text("./nothing.whl\n")
    said = cli("env", "create", "fake", "--name", "old", "--requirements", "old.txt")
    assert said.code == 1
    assert "nothing.whl" in said.err
    assert "Traceback" not in said.err
    assert "none in" in cli("env", "list").out


def test_a_killed_create_leaves_no_process(tmp_path: Path) -> None:
    """When `env create` is killed, what it has started ends too, so that the next one works alone."""
    home = tmp_path / "home"
    command = [sys.executable, "-m", "bakeoff", "env", "create", "fake"]
    parent = subprocess.Popen(command, env=os.environ | {"BAKEOFF_HOME": str(home)}, stdout=subprocess.DEVNULL)
    deadline_s = time.monotonic() + 60

    def working() -> list[int]:
        return [one.pid for one in psutil.process_iter(["cmdline"]) if str(home) in " ".join(one.info["cmdline"] or ())]

    while not working() and time.monotonic() < deadline_s:
        time.sleep(0.01)
    assert working()
    parent.kill()
    parent.wait()
    while working() and time.monotonic() < deadline_s:
        time.sleep(0.01)
    assert working() == []
