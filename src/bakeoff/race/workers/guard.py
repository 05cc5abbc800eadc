"""What ends the processes of trials wherever they went, also when the parent was killed and could not.

Every process that a worker starts inherits an environment variable with the trial's mark, in whatever group or session
it hides and whoever its parent has become. While workers run, a guard process waits for the parent's end:

    PYTHON guard.py MARK    # with the parent's pipe as stdin
"""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import psutil

if TYPE_CHECKING:
    from collections.abc import Iterator

VARIABLE = "BAKEOFF_TRIAL"

SWEEPS = 10
"""A process may start another one while it is being looked for; one that wins so often does nothing else."""


def end_marked(mark: str) -> None:
    """Kill every process whose environment began with a mark that starts so."""
    for _ in range(SWEEPS):
        if not [process for process in psutil.process_iter() if _is_ended(process, mark)]:
            return


def _is_ended(process: psutil.Process, mark: str) -> bool:
    """Kill a process if it is marked; return whether it was."""
    try:
        if not process.environ().get(VARIABLE, "").startswith(mark):
            return False
        process.kill()
    except (psutil.Error, OSError):
        return False  # Gone already, or somebody else's.
    return True


@contextmanager
def guarded(mark: str) -> Iterator[None]:
    """Have a process watch over this one: when this one dies, it ends all that is marked."""
    # Not at the top: the guard itself needs nothing of bakeoff.
    from bakeoff.race.workers import orphans

    command = [sys.executable, "-P", __file__, mark]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, start_new_session=True) as guard:
        orphans.own.add(guard.pid)
        try:
            yield
        finally:
            guard.kill()
            orphans.own.discard(guard.pid)


@contextmanager
def marked(mark: str) -> Iterator[None]:
    """Have every process that is started within the context bear a mark; this one does not."""
    before = os.environ.get(VARIABLE)
    os.environ[VARIABLE] = mark
    try:
        yield
    finally:
        if before is None:
            del os.environ[VARIABLE]
        else:
            os.environ[VARIABLE] = before


if __name__ == "__main__":
    sys.stdin.read()
    end_marked(sys.argv[1])
