"""What tests of jobs share: a real Slurm on loopback, and a command line that submits to it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.cli.conftest import cli  # noqa: F401 - a fixture
from tests.cluster.one_node import OneNode, why_not

from bakeoff.cluster import asked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.cli.conftest import Cli

WARM = Path(__file__).with_name("warm_python.py")
LIMIT_S = 120.0
"""For a handful of elements of a second each; SLOW_S for a study of a thousand."""
SLOW_S = 3600.0
TASKS = 4
"""MaxArraySize: arrays have up to 3 tasks, so that a small study needs several."""


@pytest.fixture(scope="package")
def one_node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OneNode]:
    """Start a Slurm of one node with two pretended GPUs; skip, with the reason, where none can be."""
    if reason := why_not():
        pytest.skip(reason)
    node = OneNode(tmp_path_factory.mktemp("slurm"), cores=2, array=int(os.environ.get("BAKEOFF_SLURM_ARRAY", TASKS)))
    try:
        node.start()
        yield node
    finally:
        node.stop()


@pytest.fixture(scope="package")
def warm(tmp_path_factory: pytest.TempPathFactory, one_node: OneNode) -> Iterator[Path]:
    """Return what stands where a node's interpreter does: it has imported all, and forks (warm_python.py)."""
    folder = tmp_path_factory.mktemp("warm")
    address, script = folder / "socket", folder / "python"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -S "{WARM}" "{address}" "$@"\n')
    script.chmod(0o755)
    variables = os.environ | {"OMP_NUM_THREADS": "1"}
    server = subprocess.Popen([sys.executable, str(WARM), "serve", str(address)], env=variables)
    until = time.monotonic() + LIMIT_S
    while not address.exists():
        assert server.poll() is None
        assert time.monotonic() < until
        time.sleep(0.05)
    yield script
    server.kill()
    server.wait()


class Cluster:
    """Submits by the command line, and watches without it: `bakeoff slurm status` asks once in seconds."""

    def __init__(self, node: OneNode, command: Cli, python: Path) -> None:
        """Take a Slurm, the command line, and what stands where a node's interpreter does."""
        self.node, self.cli, self._python = node, command, python

    def submit(self, *words: str) -> Path:
        """Submit and return the study's folder; elements take the whole node, one after another, if not said."""
        said = self.cli("slurm", "submit", "--python", str(self._python), "--time", "30m", "--cpus", "2", *words)
        assert said.code == 0, said.err
        (folder,) = Path("results").glob("*")
        return folder

    def status(self, folder: Path) -> dict[str, Any]:
        """Return what `bakeoff slurm status --json` says."""
        said = self.cli("slurm", "status", str(folder), "--json")
        assert said.code == 0, said.err
        found: dict[str, Any] = json.loads(said.out)
        return found

    def until(self, is_so: Callable[[], object], limit_s: float = LIMIT_S) -> None:
        """Wait for a condition; fail with what Slurm knows where it does not come."""
        until = time.monotonic() + limit_s
        while not is_so():
            if time.monotonic() > until:
                logs = "".join(log.read_text() for log in Path("results").glob("*/slurm/logs/*"))
                pytest.fail(f"{logs}\n{self.node.ask('squeue', '--states=all')}")
            time.sleep(0.2)

    def until_idle(self, limit_s: float = LIMIT_S) -> None:
        """Wait until nothing is in the queue."""
        self.until(lambda: not self.node.ask("squeue", "-h").strip(), limit_s)

    def begin_now(self, job: str) -> None:
        """Have a job that was requeued begin soon, and not in the second in which it ended: slurmd would refuse it."""
        # Before its reason is that time, what ran of it may not have ended yet.
        self.until(lambda: self.node.ask("squeue", "-h", "-j", job, "-o", "%T %r").strip() == "PENDING BeginTime")
        self.node.ask("scontrol", "update", f"JobId={job}", "StartTime=now+2")


@pytest.fixture
def cluster(one_node: OneNode, cli: Cli, monkeypatch: pytest.MonkeyPatch, warm: Path) -> Iterator[Cluster]:  # noqa: F811
    """Return the cluster, whose nodes run elements in one process; in the end nothing of the test is in its queue."""
    for name, value in one_node.variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(asked, "LEAST_S", 0.0)
    yield Cluster(one_node, cli, warm)
    Path("hold").unlink(missing_ok=True)
    one_node.ask("scancel", "--user=root")
    Cluster(one_node, cli, warm).until_idle()
