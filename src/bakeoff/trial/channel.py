"""The worker's own pipes: frameworks print on stdout, so nothing that matters goes there."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading

import msgspec

from bakeoff.spec.protocol import Answer, Command

PR_SET_PDEATHSIG = 1
"""From <linux/prctl.h>: the signal that a process gets when its parent dies."""


class Channel:
    """Commands in, answers out: one JSON object a line."""

    def __init__(self, command_fd: int, answer_fd: int) -> None:
        """Take the two pipes; the worker's own children do not inherit them."""
        for fd in (command_fd, answer_fd):
            os.set_inheritable(fd, False)  # noqa: FBT003 - takes no keyword
        self._commands = os.fdopen(command_fd, "rb")
        self._answers = os.fdopen(answer_fd, "wb", buffering=0)
        self._decoder = msgspec.json.Decoder(Command)
        # A framework's loader may fork: held by its processes, too, the pipe would outlive this one.
        os.register_at_fork(after_in_child=self._forget)

    def _forget(self) -> None:
        """Close the pipes in a process that was forked off."""
        self._commands.close()
        self._answers.close()

    def receive(self) -> Command | None:
        """Wait for the next command and return it; None when the parent is gone."""
        line = self._commands.readline()
        return self._decoder.decode(line) if line else None

    def send(self, answer: Answer) -> None:
        """Send one answer; a parent that is gone is noticed by the lifeline."""
        try:
            self._answers.write(msgspec.json.encode(answer) + b"\n")
        except BrokenPipeError:
            _end_group()


def guard_lifeline(lifeline_fd: int) -> None:
    """Make this process and its children end when the parent does, however that dies.

    A thread sleeps in a read of a pipe whose other end only the parent holds; on Linux the kernel signals it too, which
    serves even when the main thread hangs in native code with the interpreter's lock held.
    """
    os.set_inheritable(lifeline_fd, False)  # noqa: FBT003 - takes no keyword
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)

    def watch() -> None:
        os.read(lifeline_fd, 1)
        _end_group()

    threading.Thread(target=watch, name="lifeline", daemon=True).start()


def _end_group() -> None:
    """Kill this worker's process group: it leads one of its own."""
    if os.getpgrp() == os.getpid():
        os.killpg(os.getpgrp(), signal.SIGKILL)
    os._exit(1)
