"""Worker processes: started in a group of their own, asked over pipes, and never left behind."""

from __future__ import annotations

import os
import random
import secrets
import selectors
import signal
import subprocess
import time
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

import bakeoff
from bakeoff.measure.meminfo import oom_kills
from bakeoff.measure.memory import TUNABLES
from bakeoff.race.workers import guard, orphans
from bakeoff.race.workers.worker import WorkerLostError
from bakeoff.spec.errors import StoreError
from bakeoff.spec.protocol import Answer, Command, Failed, Quit, Ready

if TYPE_CHECKING:
    from bakeoff.spec.record import Killer
    from bakeoff.spec.trial import TrialSpec


BOOTSTRAP = Path(bakeoff.__file__).parent / "bootstrap.py"

TAIL_CHARACTERS = 2000
"""How much of a dead worker's output its record keeps."""

MOST_ANSWER_BYTES = 256 << 20
"""Of one answer: ten million times of steps."""

EXIT_LIMIT_S = 60.0
"""A process that has closed its pipe has ended in milliseconds; one that has not by then goes on for something else."""

EXIT_NO_WORKER = 3
"""bootstrap.py: this interpreter cannot be a worker at all."""

MARK = secrets.token_hex(8)
"""What the marks of all trials of this process start with."""

LONGEST_PADDING = 4096
"""The environment lies above the stack: a page of random length gives each process another alignment of its own, so
that no comparison rests on one lucky layout (Mytkowicz et al. 2009, "Producing wrong data without doing anything
obviously wrong!")."""

KILLED: dict[Killer, str] = {
    "": "killed by SIGKILL, as the kernel does for want of memory",
    "kernel": "killed by the kernel, for want of memory",
    "other": "killed by SIGKILL, and not by the kernel for want of memory: by a person, or a service such as earlyoom",
}

_numbers = count(1)

_living: set[int] = set()
"""Workers that have not ended: whose child an orphan was is not known, so orphans end with the last of them."""


class ProcessWorker:
    """A worker in a fresh process."""

    def __init__(self, folder: Path, trial: TrialSpec, interpreter: str) -> None:
        """Start it; stdout and stderr go to files in the trial's folder."""
        self._folder = folder
        self._interpreter = interpreter
        self._oom_kills = oom_kills()
        self._mark = f"{MARK}-{next(_numbers)}-"
        padding = "x" * random.randrange(LONGEST_PADDING)  # noqa: S311 - a length
        command_in, self._command_out = os.pipe()
        self._answer_in, answer_out = os.pipe()
        lifeline_in, self._lifeline = os.pipe()
        theirs = (command_in, answer_out, lifeline_in)
        # Read when a process begins; the others are set by the worker, which notes what they were before.
        of_malloc = {name: value for name, value in trial.variables.items() if name == TUNABLES}
        try:
            with (folder / "stdout.log").open("wb") as out, (folder / "stderr.log").open("wb") as err:
                arguments = [*map(str, theirs), str(time.perf_counter_ns())]
                self._process = subprocess.Popen(
                    [interpreter, str(BOOTSTRAP), "trial", str(folder.resolve()), *arguments],
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=err,
                    env=os.environ | of_malloc | {guard.VARIABLE: self._mark + padding},
                    pass_fds=theirs,
                    start_new_session=True,
                )
        except OSError as error:
            for fd in (self._command_out, self._answer_in, self._lifeline):
                os.close(fd)
            if isinstance(error.filename, str) and error.filename == interpreter:
                raise WorkerLostError("unavailable", f"cannot start {interpreter}: {error.strerror}") from error
            msg = f"cannot start a trial in {folder}: {error.strerror or error}"
            raise StoreError(msg) from error
        finally:
            for fd in theirs:
                os.close(fd)
        self.pid = self._process.pid
        self.pids = (self.pid,)
        orphans.own.add(self.pid)
        _living.add(self.pid)
        self._buffer = b""
        self._decoder = msgspec.json.Decoder(Answer)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._answer_in, selectors.EVENT_READ)
        self._is_python = False
        self._ended = False

    def ready(self, limit_s: float) -> Ready:
        """Wait until the framework is imported."""
        answer = self._answer(limit_s)
        if not isinstance(answer, Ready):
            self.end()
            msg = f"it answered {type(answer).__name__} before it was ready"
            raise WorkerLostError("crashed", msg, self._tail())
        return answer

    def ask(self, command: Command, limit_s: float) -> Answer:
        """Return the answer to a command; after Quit, wait for the end of the process, too."""
        self.send(command)
        answer = self._answer(limit_s)
        if isinstance(command, Quit):
            self.end()
        return answer

    def send(self, command: Command) -> None:
        """Send a command, whose answer is for `ask` or `arrived` to take."""
        try:
            os.write(self._command_out, msgspec.json.encode(command) + b"\n")
        except BrokenPipeError:
            raise self._lost() from None

    def fileno(self) -> int:
        """Return the pipe of its answers, for a selector."""
        return self._answer_in

    def arrived(self) -> Answer | None:
        """Read what has come through the pipe; return the next answer, or None while it is not there in whole."""
        if b"\n" not in self._buffer:
            self._read()
        while b"\n" in self._buffer:
            if line := self._next_line():
                return self._decoded(line)
        return None

    @property
    def has_ended(self) -> bool:
        """Return whether `end` was called."""
        return self._ended

    def _answer(self, limit_s: float) -> Answer:
        """Return one answer, read within the time limit."""
        deadline = time.monotonic() + limit_s
        while True:
            if b"\n" not in self._buffer and not self._selector.select(max(0.0, deadline - time.monotonic())):
                self.end()
                msg = f"no answer within the time limit of {limit_s:g} s"
                raise WorkerLostError("timeout", msg, self._tail())
            answer = self.arrived()
            if answer is not None:
                return answer

    def _decoded(self, line: bytes) -> Answer:
        """Return an answer; raise WorkerLostError for one that says so, or that is none."""
        try:
            answer: Answer = self._decoder.decode(line)
        except msgspec.MsgspecError as error:
            self.end()
            msg = f"what came through its pipe is no answer, so something else has written to it: {error}"
            raise WorkerLostError("crashed", msg, self._tail()) from error
        if isinstance(answer, Failed):
            self.end()
            raise WorkerLostError("failed", answer.reason, self._tail())
        return answer

    def _next_line(self) -> bytes:
        """Return the next line that was read; an empty one is bootstrap.py's first sign: what runs there is Python."""
        line, _, self._buffer = self._buffer.partition(b"\n")
        self._is_python = self._is_python or not line
        return line

    def _read(self) -> None:
        """Take in what has come through the pipe, at least a byte; raise WorkerLostError at its end."""
        received = os.read(self._answer_in, 1 << 16)
        if not received:
            raise self._lost()
        self._buffer += received
        if len(self._buffer) > MOST_ANSWER_BYTES:
            self.end()
            msg = "what came through its pipe has no end, so something else has written to it"
            raise WorkerLostError("crashed", msg, self._tail())

    def _lost(self) -> WorkerLostError:
        """Return the error that says how a process that is gone has ended."""
        try:
            code = self._process.wait(timeout=EXIT_LIMIT_S)
        except subprocess.TimeoutExpired:
            self.end()
            return WorkerLostError("crashed", "the worker closed its pipe but went on", self._tail())
        self.end()
        if code == EXIT_NO_WORKER:
            return WorkerLostError("unavailable", self._tail().strip())
        if code == -signal.SIGKILL:
            killer = self._killer()
            return WorkerLostError("killed", KILLED[killer], self._tail(), killed_by=killer)
        if code < 0:
            return WorkerLostError("crashed", f"crashed by {signal.Signals(-code).name}", self._tail())
        if not self._is_python:
            msg = f"{self._interpreter} did not run as Python (exit code {code}); name one: FRAMEWORK@/path/to/python"
            return WorkerLostError("unavailable", msg, self._tail())
        return WorkerLostError("crashed", f"ended by itself with exit code {code}", self._tail())

    def _killer(self) -> Killer:
        """Return who has killed the process, as the kernel counts."""
        counted = oom_kills()
        if counted is None or self._oom_kills is None:
            return ""
        return "kernel" if counted > self._oom_kills else "other"

    def end(self) -> None:
        """Kill the process group and all that has left it, close the pipes; twice is fine."""
        if self._ended:
            return
        self._ended = True
        with suppress(ProcessLookupError):  # The group may be gone already.
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        guard.end_marked(self._mark)
        orphans.own.discard(self.pid)
        _living.discard(self.pid)
        if not _living:
            orphans.end_orphans()
        self._selector.close()
        for fd in (self._command_out, self._answer_in, self._lifeline):
            os.close(fd)

    def _tail(self) -> str:
        """Return the end of what the process wrote on stderr, or else on stdout."""
        for name in ("stderr.log", "stdout.log"):
            try:
                text = (self._folder / name).read_text(errors="replace")
            except OSError:
                continue  # A log that cannot be read must not hide why the worker was lost.
            if text.strip():
                return text[-TAIL_CHARACTERS:]
        return ""
