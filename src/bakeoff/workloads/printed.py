"""What a user's file prints: it goes to its author, each line once, and a step that prints is refused.

Standard output may be one JSON object, or a pipe to another program; and a model is run over shapes many times.
"""

from __future__ import annotations

import io
import sys
from contextlib import contextmanager, redirect_stdout
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from bakeoff.workloads.shapes import LayoutError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

STEPS = frozenset({"forward", "loss"})
"""Functions that are timed."""

_step: ContextVar[str] = ContextVar("step", default="")
"""The user's file while one of its functions that are timed runs."""

_said: set[str] = set()
"""Lines that were printed since a file was last loaded."""


def forget() -> None:
    """Show lines again that were shown before: a file is loaded anew."""
    _said.clear()


@contextmanager
def in_function(path: str, function: str) -> Iterator[None]:
    """Refuse what is printed within it, where it is a function that is timed."""
    token = _step.set(path if function in STEPS else "")
    try:
        yield
    finally:
        _step.reset(token)


@contextmanager
def for_its_author() -> Iterator[None]:
    """Send what is printed within it to standard error; raise LayoutError at its end where a step printed any of it."""
    stream = _Printed()
    with redirect_stdout(stream):
        try:
            yield
        finally:
            stream.show()
    stream.refuse()


class _Printed(io.TextIOBase):
    """Standard output, meanwhile: what it lacks, such as a buffer, is standard error's."""

    def __init__(self) -> None:
        super().__init__()
        self._line, self._is_steps = "", False

    def __getattr__(self, name: str) -> Any:
        """Return standard error's: files write bytes, and ask for another encoding."""
        return getattr(sys.stderr, name)

    def writable(self) -> bool:
        """Return that it can be written to."""
        return True

    def write(self, text: str) -> int:
        """Show whole lines; raise LayoutError, in the line that prints, where a step printed them."""
        self._line += text
        path = _step.get()
        self._is_steps = self._is_steps or bool(text and path and not _in_build(path))
        if "\n" in text:
            self.show()
            self.refuse()
        return len(text)

    def refuse(self) -> None:
        """Raise LayoutError where a step has printed, be it a part of a line."""
        if self._is_steps:
            msg = (
                "it prints. A framework that compiles a step would print once, another one in each step that is "
                "timed: take the print out"
            )
            raise LayoutError(msg)

    def show(self) -> None:
        """Show lines that were not shown yet."""
        lines, self._line = self._line.splitlines(), ""
        for line in lines:
            if line not in _said:
                _said.add(line)
                sys.stderr.write(f"{line}\n")


def _in_build(path: str) -> bool:
    """Return whether the file's `build` is what runs: it makes the model of a step, and is not timed."""
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - inspect.stack reads every file on its way
    while frame is not None:
        if frame.f_code.co_filename == path and frame.f_code.co_name == "build":
            return True
        frame = frame.f_back
    return False
