"""What changes between two runs of the same model or loss: a number of Python's, or what is computed at all.

A compiled step runs Python once, while it is compiled, and an eager one in each step; a step of `nn.scan` is run once
by those that have a loop, and for each place by the others. What counts its calls, or reads a clock, is then another
program in each. Found over shapes: all that meets an array is noted, with its line, in one run and in the next, and so
is what the file and the model keep.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import count, zip_longest
from numbers import Number
from types import FunctionType
from typing import TYPE_CHECKING, Any, NamedTuple

from bakeoff.spec.errors import ModelFileError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping


class UnsteadyError(ModelFileError):
    """A model or a loss computes something else in the next step."""


class Note(NamedTuple):
    """An operation of a model's, with the numbers in it."""

    line: int
    """Of the user's file; 0 where none of its lines is being run."""
    what: str


class _Noting(NamedTuple):
    """Where notes go."""

    file: str
    notes: list[Note]


_noting: ContextVar[_Noting | None] = ContextVar("noting", default=None)


@contextmanager
def noting(file: str) -> Iterator[list[Note]]:
    """Note every operation on arrays, by the lines of a file, as long as this runs."""
    now = _Noting(file, [])
    token = _noting.set(now)
    try:
        yield now.notes
    finally:
        _noting.reset(token)


@contextmanager
def noting_place() -> Iterator[list[Note] | None]:
    """Note what the step of a loop does at one place by itself; None where nothing is noted."""
    outer = _noting.get()
    if outer is None:
        yield None
        return
    with noting(outer.file) as notes:
        yield notes
    outer.notes.extend(notes)


def note(*what: object) -> None:
    """Note an operation, where somebody asks."""
    now = _noting.get()
    if now is None:
        return
    frame = sys._getframe(1)  # noqa: SLF001 - inspect.stack reads every file on its way
    while frame is not None and frame.f_code.co_filename != now.file:
        frame = frame.f_back  # type: ignore[assignment]
    now.notes.append(Note(frame.f_lineno if frame is not None else 0, " ".join(map(_written, what))))


def _written(one: object) -> str:
    """Write numbers, and tuples of them, as they are; of anything else what it is."""
    if isinstance(one, tuple | list):
        return f"({', '.join(map(_written, one))})"
    if isinstance(one, str):
        return one
    return repr(one) if one is None or isinstance(one, Number | slice) else type(one).__name__


def noted(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of the vocabulary that notes its calls; itself where nobody asks."""
    if _noting.get() is None:
        return function

    def called(*arguments: Any, **named: Any) -> Any:
        note(f"nn.{name}", arguments, tuple(named.items()))
        return function(*arguments, **named)

    return called


def changed(first: list[Note], second: list[Note]) -> tuple[int, str, str] | None:
    """Return the line at which two runs part, and what each does there; None where they are the same."""
    for one, other in zip_longest(first, second):
        if one != other:
            first_what, second_what = ("nothing" if each is None else each.what for each in (one, other))
            return (other or one).line, first_what, second_what
    return None


class Run(NamedTuple):
    """One of two runs of the same part of a file."""

    notes: list[Note]
    kept: dict[str, str]
    """What was kept behind it, by name, as written."""


def twice(file: str, run: Callable[[], Any], kept: Callable[[], dict[str, str]]) -> tuple[Run, Run]:
    """Run a part of a file twice, and note what each run does and leaves."""
    runs = []
    for _ in range(2):
        with noting(file) as notes:
            run()
        runs.append(Run(notes, kept()))
    return runs[0], runs[1]


_WRITTEN_CHARACTERS = 60
"""Of a value in a message."""


def check_same(file: str, at: str, runs: tuple[Run, Run]) -> None:
    """Raise ModelFileError for a line that does something else in the second run, or a number that each run changes."""
    first, second = runs
    advice = (
        "a compiled step runs that line while it is compiled, and never again. What changes from step to step comes "
        "with the batch, or is trained"
    )
    found = changed(first.notes, second.notes)
    if found is not None:
        line, one, other = found
        part = at.rpartition(": ")[2]
        msg = f"{file}:{line}: {part}: {one} in one step, and {other} in the next: {advice}"
        raise UnsteadyError(msg)
    for name, value in second.kept.items():
        before = first.kept.get(name, "not there")
        if before != value:
            told = [
                one if len(one) <= _WRITTEN_CHARACTERS else f"{one[:_WRITTEN_CHARACTERS]}..." for one in (before, value)
            ]
            msg = f"{at}: {name} is {told[0]} after one step and {told[1]} after the next: {advice}"
            raise UnsteadyError(msg)


_KEPT = (Number, str, tuple, list, dict, set, count)
"""What may count, or be counted in, beside arrays of NumPy's."""


def kept_by(modules: Iterable[tuple[str, Any]]) -> dict[str, str]:
    """Return what modules, by their paths, their classes and the variables around their methods keep, as written."""
    found: dict[str, str] = {}
    for path, module in modules:
        for holder in (type(module), module):
            found |= {f"{path}.{name}".lstrip("."): value for name, value in _of(vars(holder)).items()}
        for method in vars(type(module)).values():
            found |= _around(method)
    return found


def kept_around(function: Any) -> dict[str, str]:
    """Return what a function's file, the variables around it and its defaults keep, as written."""
    return _of(getattr(function, "__globals__", {})) | _around(function)


def _around(function: Any) -> dict[str, str]:
    """Return the variables around a function, and its defaults; nothing of what is no function of Python's."""
    if not isinstance(function, FunctionType):
        return {}
    found = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            found[name] = cell.cell_contents
        except ValueError:  # It is set later.
            continue
    defaults = {f"a default of {function.__name__}": function.__defaults__} if function.__defaults__ else {}
    return _of(found | defaults)


def _of(named: Mapping[str, Any]) -> dict[str, str]:
    """Return what may count of these, as written; arrays by all their values."""
    found = {}
    for name, one in named.items():
        is_array = type(one).__module__ == "numpy" and hasattr(one, "tolist")
        if name[:2] != "__" and (is_array or isinstance(one, _KEPT)):
            found[name] = repr(one.tolist() if is_array else one)
    return found
