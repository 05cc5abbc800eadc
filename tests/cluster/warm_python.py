"""Stands where a node's interpreter does: a process that has imported everything forks for each element.

`warm_python.py serve SOCKET` is started once; `warm_python.py SOCKET -m bakeoff slurm element FOLDER N` is what a job
calls. An element of the scripted framework then takes some tenths of a second of a node, most of it Slurm's own.
Signals that reach the caller reach the element, and an element whose caller is gone is ended.

While a file `hold` lies in an element's working directory, its second round does not begin: what a test does to a job
in the middle of its comparison is done there.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import socket
import sys
import time
from contextlib import suppress
from functools import partialmethod
from pathlib import Path

ROOT = Path(__file__).parents[2]


def call(address: str, arguments: list[str]) -> int:
    """Have an element run, and return its exit code; that of one that was killed is as a shell counts it."""
    client = socket.socket(socket.AF_UNIX)
    client.connect(address)
    asked = json.dumps({"arguments": arguments, "variables": dict(os.environ), "folder": str(Path.cwd())}).encode()
    socket.send_fds(client, [len(asked).to_bytes(8, "big")], [1, 2])
    client.sendall(asked)
    answers = client.makefile("r")
    process = int(answers.readline())
    for number in (signal.SIGUSR1, signal.SIGTERM):
        signal.signal(number, lambda number, _: os.kill(process, number))
    code = int(answers.readline())
    return 128 - code if code < 0 else code


def serve(address: str) -> None:
    """Fork for every caller, until this process is ended."""
    sys.path[:0] = [str(ROOT), str(ROOT / "src")]
    _warmed()
    server = socket.socket(socket.AF_UNIX)
    server.bind(address)
    server.listen(64)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        client, _ = server.accept()
        if os.fork() == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            server.close()
            _watch(client)
            os._exit(0)
        client.close()


def _warmed() -> None:
    """Import what an element imports, and have it held where a test says so."""
    from tests.race.inline import InlineWorker

    from bakeoff.cluster.element import ElementRun

    for name in ("cli.app", "cli.jobs", "cli.progress", "cli.run", "frameworks.fake.engine", "study.sweep"):
        importlib.import_module(f"bakeoff.{name}")

    class Held(InlineWorker):
        """Waits at the second round for as long as the file is there."""

        def __init__(self, folder, trial, interpreter) -> None:
            """Wait, and say that it does."""
            if trial.name.startswith("r02") and Path("hold").exists():
                Path("held").touch()
                while Path("hold").exists():
                    time.sleep(0.02)
            super().__init__(folder, trial, interpreter)

    ElementRun.run = partialmethod(ElementRun.run, launch=Held, probe_s=0.001)


def _watch(client: socket.socket) -> None:
    """Run one element in a process of its own, and tell its caller the exit code; end it where the caller is gone."""
    head, descriptors, _, _ = socket.recv_fds(client, 8, 2)
    content = b""
    while len(content) < int.from_bytes(head, "big"):
        content += client.recv(1 << 16)
    asked = json.loads(content)
    process = os.fork()
    if process == 0:
        client.close()
        _become(asked, descriptors)
    client.sendall(f"{process}\n".encode())
    client.settimeout(0.0)
    while True:
        ended, status = os.waitpid(process, os.WNOHANG)
        if ended:
            client.settimeout(None)
            with suppress(OSError):
                client.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())
            return
        with suppress(BlockingIOError):
            if not client.recv(1):
                os.kill(process, signal.SIGKILL)
        time.sleep(0.01)


def _become(asked: dict[str, object], descriptors: list[int]) -> None:
    """Be the element: its output, variables and folder are the caller's."""
    for number, descriptor in enumerate(descriptors, 1):
        os.dup2(descriptor, number)
    os.environ.clear()
    os.environ.update(asked["variables"])
    os.chdir(asked["folder"])
    from bakeoff.cli import PROCESS, main

    PROCESS.own()
    code = 1
    try:
        code = main(asked["arguments"][2:])
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(sys.argv[2])
    sys.exit(call(sys.argv[1], sys.argv[2:]))
