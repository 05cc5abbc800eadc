"""Entry of a worker, reached through bootstrap.py."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from bakeoff.trial.channel import Channel, guard_lifeline
from bakeoff.trial.probe import probe
from bakeoff.trial.worker import TrialProcess


def main(arguments: list[str], started_ns: int) -> int:
    """Run one trial, or probe a framework in this interpreter."""
    match arguments:
        case ["trial", folder, command_fd, answer_fd, lifeline_fd, spawned_ns]:
            guard_lifeline(int(lifeline_fd))
            worker = TrialProcess(Path(folder), started_ns=started_ns - int(spawned_ns))
            code = worker.serve(Channel(int(command_fd), int(answer_fd)))
            # Frameworks' own exit handlers can hang or crash after all is written; nothing is left to save.
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
        case ["probe", folder, answer_fd, device]:
            return probe(Path(folder), int(answer_fd), device)
        case _:
            sys.stderr.write(f"not for people: use the command bakeoff ({arguments})\n")
            return 2
