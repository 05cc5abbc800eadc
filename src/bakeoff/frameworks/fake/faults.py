"""What can go wrong in a worker, on purpose."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

from bakeoff.spec.errors import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Mapping

HANG_S = 3600.0
"""Longer than any time limit in a test."""


def strike(options: Mapping[str, str], moment: str) -> None:
    """Do what the option `fault` says, if this is the moment that `fault_at` names."""
    if options["fault"] == "none" or options["fault_at"] != moment:
        return
    match options["fault"]:
        case "raise":
            msg = "a scripted failure"
            raise RuntimeError(msg)
        case "unsupported":
            msg = "a scripted gap: this framework lacks what was asked"
            raise UnsupportedError(msg)
        case "exit":
            sys.stderr.write("a scripted exit\n")
            os._exit(7)
        case "segfault":
            os.kill(os.getpid(), signal.SIGSEGV)
        case "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        case "hang":
            time.sleep(HANG_S)
        case "print":
            sys.stdout.write('{"type":"done"}\n' * 100)
            sys.stdout.flush()
        case "children":
            _leave_children()


def _leave_children() -> None:
    """Start a process that stays in the worker's session, and one that leaves it."""
    for leaves in (False, True):
        command = [sys.executable, "-c", f"import time; time.sleep({HANG_S})"]
        subprocess.Popen(command, start_new_session=leaves)
