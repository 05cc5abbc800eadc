"""Run in PyTorch's interpreter: answer each line of requests with one line, until there are no more.

PYTHON -m independent.child      with PYTHONPATH to bakeoff's sources and this folder's parent
"""

from __future__ import annotations

import os
import sys
import traceback
from pathlib import Path

import msgspec

from independent.compare import compare
from independent.messages import Answer, Request


def main() -> None:
    """Answer requests, where nothing else is printed."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb", buffering=0)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    for line in sys.stdin.buffer:
        request = msgspec.json.decode(line, type=Request)
        try:
            answer = compare(request.workload, Path(request.path), request.size)
        except Exception:  # noqa: BLE001 - whatever it is, it is the answer
            answer = Answer(fault=traceback.format_exc())
        answers.write(msgspec.json.encode(answer) + b"\n")


if __name__ == "__main__":
    main()
