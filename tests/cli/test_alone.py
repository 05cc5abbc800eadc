"""The command in a process of its own: what it does with its signals and its descendants."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import psutil
import pytest

from bakeoff.cli import INTERRUPTED

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.slow

COMMAND = [sys.executable, "-m", "bakeoff", "run"]
FEW = ["--size", "reduced", "--data", "synthetic", "--rounds", "1"]

ORPHANS = """
import os, subprocess, sys
from bakeoff.workloads.mlp_mnist import WORKLOAD, build, loss

if "BAKEOFF_TRIAL" in os.environ:
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)", {word!r}], start_new_session=True, env={{}})
"""


def named(word: str) -> list[psutil.Process]:
    """Return the processes that have a word in their command line."""
    found = psutil.process_iter(["cmdline"])
    return [process for process in found if word in (process.info["cmdline"] or [])]


@pytest.fixture
def word(tmp_path: Path) -> Iterator[str]:
    """Give a word of this test's own; what bears it ends with the test."""
    word = f"orphan-{os.getpid()}-{tmp_path.name}"
    yield word
    for process in named(word):
        process.kill()


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere no process can adopt orphans")
def test_what_hides_from_its_worker_ends_with_it(tmp_path: Path, word: str) -> None:
    """A process with a session of its own and an empty environment outlives no race."""
    (tmp_path / "mine.py").write_text(ORPHANS.format(word=word))
    ran = subprocess.run([*COMMAND, "mine.py", "fake", *FEW], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert not named(word)


@pytest.mark.parametrize("apart_s", [0.02, 0.2])
def test_two_interrupts_in_quick_succession_are_one(tmp_path: Path, apart_s: float) -> None:
    """A second Ctrl-C while the first is being answered takes away neither the exit code nor the words."""
    command = [*COMMAND, "mlp-mnist", "fake", "fake:process_noise=0.5", *FEW[:-1], "20"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    for line in process.stdout:
        if "same work verified" in line:
            break
    process.send_signal(signal.SIGINT)
    time.sleep(apart_s)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == INTERRUPTED
    assert " --resume\n" in said
