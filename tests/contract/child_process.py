"""Processes that run child.py: each serves many tests, and is replaced where a piece of work ends it."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import IO

import msgspec
from contract_cases.messages import Answer, Job, Request

import bakeoff

HERE = Path(__file__).parent

TAIL_CHARACTERS = 4000
"""How much of a dead process's output the failed test shows."""

LOOK_S = 0.5
"""How often a process that does not answer is looked after: what it has forked may keep its pipe open."""


class Child:
    """A process of a framework's own interpreter; started by the first request, and again by the next after its end."""

    def __init__(self, interpreter: str, job: Job, folder: Path, *, limit_s: float) -> None:
        """Take the job, an empty folder for its files, and the time that one piece of work may take."""
        self._interpreter = interpreter
        self._folder = folder
        self._limit_s = limit_s
        self._process: subprocess.Popen[bytes] | None = None
        self.starts = 0
        (folder / "job.json").write_bytes(msgspec.json.encode(job))

    def ask(self, request: Request) -> Answer:
        """Return the answer to one request; where the process ends instead, its last output is the fault."""
        try:
            if self._process is None:
                self._start()
            self._requests.write(msgspec.json.encode(request) + b"\n")
            return msgspec.json.decode(self._line(), type=Answer)
        except (BrokenPipeError, EOFError, TimeoutError) as error:
            reason = str(error) or "its pipe is closed"
            self.end()
            said = (self._folder / "output.log").read_text(errors="replace")
            return Answer(fault=f"{request.name}: {self._interpreter} {reason}:\n{said[-TAIL_CHARACTERS:]}")
        except BaseException:
            self.end()  # a late answer would be taken for that of the next request
            raise

    def end(self) -> None:
        """Kill the process and what it has started."""
        if self._process is None:
            return
        self._requests.close()
        self._answers.close()
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._process = None

    def _start(self) -> None:
        """Start the process in a session of its own, with a pipe each way; frameworks print on the usual ones."""
        request_in, request_out = os.pipe()
        answer_in, answer_out = os.pipe()
        self._requests: IO[bytes] = os.fdopen(request_out, "wb", buffering=0)
        self._answers: IO[bytes] = os.fdopen(answer_in, "rb", buffering=0)
        command = [self._interpreter, str(HERE / "child.py"), str(self._folder / "job.json")]
        sources = os.pathsep.join(map(str, (Path(bakeoff.__file__).parents[1], HERE)))
        try:
            with (self._folder / "output.log").open("wb") as output:
                self._process = subprocess.Popen(
                    [*command, str(request_in), str(answer_out)],
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=output,
                    env=os.environ | {"PYTHONPATH": sources},
                    pass_fds=(request_in, answer_out),
                    start_new_session=True,
                )
        finally:
            os.close(request_in)
            os.close(answer_out)
        self.starts += 1

    def _line(self) -> bytes:
        """Wait for one line; raise EOFError where the process ends, TimeoutError where it takes too long."""
        assert self._process is not None
        deadline = time.monotonic() + self._limit_s
        received = b""
        with selectors.DefaultSelector() as selector:
            selector.register(self._answers, selectors.EVENT_READ)
            while not received.endswith(b"\n"):
                has_ended = self._process.poll() is not None
                if selector.select(LOOK_S):
                    part = os.read(self._answers.fileno(), 1 << 16)
                    received += part
                    has_ended = has_ended or not part
                elif time.monotonic() > deadline:
                    msg = f"has not answered within {self._limit_s:g} s"
                    raise TimeoutError(msg)
                if has_ended and not received.endswith(b"\n"):
                    msg = f"has ended with {self._process.wait()}"
                    raise EOFError(msg)
        return received
