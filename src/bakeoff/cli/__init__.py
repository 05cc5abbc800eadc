"""The command line: one file a command; here only what all of them share at the edge: errors and exit codes."""

from __future__ import annotations

import atexit
import errno
import os
import shlex
import signal
import sys
import time
from typing import TYPE_CHECKING

from bakeoff.cli import leaving
from bakeoff.report import called
from bakeoff.spec.errors import BakeoffError, UsageError
from bakeoff.spec.text import plain, shortened

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import FrameType

FAILED = 1
"""What was asked for could not be given."""
MISUSED = 2
"""What was asked for cannot be; typer's own errors have this code too."""
_UNNAMED = {
    **dict.fromkeys((errno.EPIPE, errno.ENOSPC, errno.EIO, errno.EBADF, errno.EFBIG), "cannot write to stdout"),
    errno.ENOENT: "the working directory is gone",
}
"""What an error of the system is about that names no file."""

INTERRUPTED = 130
"""By Ctrl-C: 128 + SIGINT, as shells count."""
TERMINATED = 143
"""By `timeout`, a scheduler or CI: 128 + SIGTERM."""


class TerminatedError(KeyboardInterrupt):
    """The process was asked to end by SIGTERM, which is answered as Ctrl-C is."""


def command_of(words: Sequence[str]) -> str:
    """Return a command as it is kept, to be repeated: without --resume, which goes on with what there is already."""
    return shlex.join(["bakeoff", *(word for word in words if word != "--resume")])


def code_of(interrupt: KeyboardInterrupt) -> int:
    """Return the exit code of an interrupt."""
    return TERMINATED if isinstance(interrupt, TerminatedError) else INTERRUPTED


ONE_INTERRUPT_S = 1.0
"""A terminal, a wrapper and an impatient hand may each send the signal: those so soon after the first are the same."""


class Process:
    """The process that runs the command line: the command's own, or another program's that calls `main`."""

    def __init__(self) -> None:
        """Start as another program's, which keeps its signals and its children."""
        self.is_own = False
        self._interrupted_s = -ONE_INTERRUPT_S

    def own(self) -> None:
        """Make it the command's own: interrupts in quick succession are one."""
        self.is_own = True
        # The last of all hooks, as the first to be registered: others, which may wait, are interrupted as ever.
        atexit.register(_be_deaf)
        # Whoever started it may have it ignore them, as nohup(1) does for others.
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, self._interrupt)
        if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            signal.signal(signal.SIGTERM, self._interrupt)

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        """Raise KeyboardInterrupt, but not for a second signal within a second, while the first is being answered."""
        del frame
        now_s = time.monotonic()
        if now_s - self._interrupted_s >= ONE_INTERRUPT_S:
            self._interrupted_s = now_s
            raise TerminatedError if number == signal.SIGTERM else KeyboardInterrupt


def _be_deaf() -> None:
    """Leave Ctrl-C unanswered: all is said and written, and Python, which is ending, would end by the signal."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


PROCESS = Process()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and give its exit code; every error made for users becomes one message on stderr."""
    if arguments is None:
        PROCESS.own()
        called.note()
    code = _answered(arguments)
    if PROCESS.is_own and code in (INTERRUPTED, TERMINATED):
        # At its end Python hands the signal back to the system, which would then end it by the signal.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    if PROCESS.is_own:
        leaving.leave(code)
    return code


def _answered(arguments: Sequence[str] | None) -> int:
    """Run the command line and return its exit code."""
    try:
        _open_streams()
        return _run(arguments)
    except BakeoffError as error:
        return _failed(str(error), MISUSED if isinstance(error, UsageError) else FAILED)
    except KeyboardInterrupt as interrupt:
        return _failed("interrupted", code_of(interrupt))
    except MemoryError:
        return _failed("there is not enough memory for what was asked: name a smaller batch or size")
    except OSError as error:
        # Files are checked where they are written: this is a name that no file can have, or a stream that is lost.
        where = error.filename if error.filename is not None else _UNNAMED.get(error.errno or 0, "the system said")
        return _failed(f"{where}: {error.strerror or error}")


def _run(arguments: Sequence[str] | None) -> int:
    """Run the command line, and return its exit code when all that it printed is written."""
    from bakeoff.cli.app import COMPLETE_VARIABLE, command

    try:
        command()(args=arguments, prog_name=called.name(), complete_var=COMPLETE_VARIABLE)
    except SystemExit as end:
        if interrupt := _interrupt_of(end):
            raise interrupt from None
        code = end.code if isinstance(end.code, int) else FAILED
    except (KeyError, ValueError) as error:
        if COMPLETE_VARIABLE not in os.environ:
            raise
        msg = f"{COMPLETE_VARIABLE} is for a shell's completion, which says what is typed in other variables: {error}"
        raise UsageError(msg) from error
    else:
        code = 0
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _forget(sys.stdout)
        return code or FAILED
    except OSError:
        _forget(sys.stdout)
        raise
    return code


def _interrupt_of(end: SystemExit) -> KeyboardInterrupt | None:
    """Return the interrupt that typer made an exit code of; None where a command has ended, and answered it itself."""
    cause = end.__context__.__cause__ if end.__context__ else None
    return cause if isinstance(cause, KeyboardInterrupt) else None


def _open_streams() -> None:
    """Have all three standard streams: a file that is opened next must not become one of them."""
    if None in (sys.stdin, sys.stdout, sys.stderr):
        handle = os.open(os.devnull, os.O_RDWR)
        while handle <= 2:  # noqa: PLR2004 - stderr
            handle = os.dup(handle)
        os.close(handle)
        sys.stdin = sys.stdin or open(os.devnull, encoding="utf-8")  # noqa: SIM115, PTH123 - for the process's life
        sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123
        sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a character is no reason to lose a result.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


def _forget(stream: object) -> None:
    """Lead what a stream still holds nowhere: Python would try to write it again at its end."""
    if stream is sys.__stdout__:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.close(null)


def _failed(message: str, code: int = FAILED) -> int:
    """Write one message to stderr, which may be lost, too; return the exit code."""
    try:
        sys.stderr.write(f"bakeoff: {plain(called.pasteable(shortened(message)), keep=chr(10))}\n")
        sys.stderr.flush()
    except OSError:
        pass
    return code
