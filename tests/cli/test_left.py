"""What a workload's file leaves in the command's own process ends with the command, and holds it up for no long."""

from __future__ import annotations

import subprocess
import sys
import time
from typing import TYPE_CHECKING

import psutil
import pytest

from bakeoff.cli.leaving import GRACE_S

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

FILE = """
import atexit, os, subprocess, sys, threading, time
from bakeoff.workloads.mlp_mnist import WORKLOAD, build, loss

{text}
"""
PLAN = [sys.executable, "-m", "bakeoff", "run", "mine.py", "fake", "--dry-run"]
NEVER_S = 120
"""Longer than any test waits."""

PROCESSES = {
    "forked, and asleep": f"""
child = os.fork()
if child == 0:
    time.sleep({NEVER_S})
    os._exit(0)
open('left', 'w').write(str(child))""",
    "started": f"open('left', 'w').write(str(subprocess.Popen(['sleep', '{NEVER_S}']).pid))",
}
HELD = {
    "a thread": f"threading.Thread(target=time.sleep, args=({NEVER_S},)).start()",
    "a hook of the end": f"atexit.register(time.sleep, {NEVER_S})",
}


def ran(folder: Path, text: str) -> tuple[int, str, float]:
    """Run the command on a file with this text; return its exit code, its output and the seconds that it took."""
    (folder / "mine.py").write_text(FILE.format(text=text))
    began_s = time.monotonic()
    # Into a file: a pipe would be waited for until all that have it are gone.
    with (folder / "out").open("w") as out:
        code = subprocess.run(PLAN, cwd=folder, stdout=out, stderr=out, timeout=NEVER_S / 2, check=False).returncode
    return code, (folder / "out").read_text(), time.monotonic() - began_s


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere children are not noted")
@pytest.mark.parametrize("how", PROCESSES)
def test_a_process_that_a_file_leaves_ends_with_the_command(tmp_path: Path, how: str) -> None:
    """None goes on behind the command's back."""
    code, said, _ = ran(tmp_path, PROCESSES[how])
    assert (code, "Nothing was started or written" in said) == (0, True), said
    number = int((tmp_path / "left").read_text())
    is_there = psutil.pid_exists(number)
    if is_there:
        psutil.Process(number).kill()
    assert not is_there


def test_a_process_that_a_file_forks_is_no_second_bakeoff(tmp_path: Path) -> None:
    """It ends where it would leave the file, and the command prints what it has to say once."""
    code, said, _ = ran(tmp_path, "os.fork()")
    assert (code, said.count("Nothing was started or written")) == (0, 1), said


@pytest.mark.parametrize("what", HELD)
def test_nothing_of_a_file_holds_the_command_up(tmp_path: Path, what: str) -> None:
    """A thread or hook that never ends is waited for shortly, and the exit code is the command's."""
    code, said, took_s = ran(tmp_path, HELD[what])
    assert (code, "Nothing was started or written" in said) == (0, True), said
    assert GRACE_S < took_s < NEVER_S / 2


def test_a_hook_of_a_file_is_called(tmp_path: Path) -> None:
    """What ends by itself ends as in any other program."""
    code, said, _ = ran(tmp_path, "atexit.register(print, 'the end of mine')")
    assert (code, said.splitlines()[-1]) == (0, "the end of mine"), said
