"""What changes between two runs of the same model or loss: a number of Python's, or what is computed at all.

A compiled step runs Python once, while it is compiled, and an eager one in each step; a step of `nn.scan` is run once
by those that have a loop, and for each place by the others. What counts its calls, or reads a clock, is then another
program in each. Found over shapes: the numbers and layers that meet an array are noted, with their lines, in one run
and in the next, and so is what the file and the model keep. What another module, a generator, the environment or a
file on disk keeps is seen where these two runs differ by it.
"""

from __future__ import annotations

import hashlib
import sys
from collections import deque
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import wraps
from itertools import count, zip_longest
from numbers import Number
from types import FunctionType, SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

from bakeoff.spec.errors import ModelFileError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping


class UnsteadyError(ModelFileError):
    """A model or a loss computes something else in the next step."""


class NotedOperation(NamedTuple):
    """An operation of a model's, with the numbers in it."""

    line: int
    """Of the user's file; 0 where none of its lines is being run."""
    what: str


class _Noting(NamedTuple):
    """Where notes go."""

    file: str
    notes: list[NotedOperation]
    arrays: bool
    """Whether NumPy's are written by their bytes."""


_noting: ContextVar[_Noting | None] = ContextVar("noting", default=None)


@contextmanager
def noting(file: str, *, arrays: bool = False) -> Iterator[list[NotedOperation]]:
    """Note every operation on arrays, by the lines of a file, as long as this runs.

    With `arrays` NumPy's, of which constants are made, are noted by their bytes.
    """
    now = _Noting(file, [], arrays)
    token = _noting.set(now)
    try:
        yield now.notes
    finally:
        _noting.reset(token)


@contextmanager
def noting_place() -> Iterator[list[NotedOperation] | None]:
    """Note what the step of a loop does at one place by itself; None where nothing is noted."""
    outer = _noting.get()
    if outer is None:
        yield None
        return
    with noting(outer.file, arrays=outer.arrays) as notes:
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
    told = " ".join(_written(one, arrays=now.arrays) for one in what)
    now.notes.append(NotedOperation(frame.f_lineno if frame is not None else 0, told))


def _written(one: object, *, arrays: bool) -> str:
    """Write numbers, and tuples of them, as they are, and NumPy's arrays if asked; of anything else what it is."""
    if isinstance(one, tuple | list):
        return f"({', '.join(_written(each, arrays=arrays) for each in one)})"
    if isinstance(one, str):
        return one
    if isinstance(one, slice):
        return f"slice{_written((one.start, one.stop, one.step), arrays=arrays)}"
    if arrays and (array := _digest(one)):
        return array
    # NumPy's versions write its numbers in ways of their own.
    number = one.item() if isinstance(one, Number) and hasattr(one, "item") else one
    return repr(number) if number is None or isinstance(number, Number) else type(one).__name__


def _digest(one: Any) -> str:
    """Return the shape, type and hash of an array of NumPy's that has axes; empty of anything else."""
    if type(one).__module__ != "numpy" or not getattr(one, "shape", ()):
        return ""
    return f"an array {one.shape} of {one.dtype} {hashlib.sha256(one.tobytes()).hexdigest()}"


def noted(name: str, function: Callable[..., Any], check: Callable[[Any], None]) -> Callable[..., Any]:
    """Return a function of the vocabulary that checks its arguments and notes its calls; itself where nobody asks."""
    if _noting.get() is None:
        return function

    @wraps(function)
    def called(*arguments: Any, **named: Any) -> Any:
        check((*arguments, *named.values()))
        note(f"nn.{name}", arguments, tuple(named.items()))
        return function(*arguments, **named)

    return called


def changed(first: list[NotedOperation], second: list[NotedOperation]) -> tuple[int, str, str] | None:
    """Return the line at which two runs part, and what each does there; None where they are the same."""
    for one, other in zip_longest(first, second):
        if one != other:
            first_what, second_what = ("nothing" if each is None else each.what for each in (one, other))
            return (other or one).line, first_what, second_what
    return None


class Run(NamedTuple):
    """One of two runs of the same part of a file."""

    notes: list[NotedOperation]
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
    """Raise UnsteadyError for a line that does something else in the second run, or what each run changes."""
    first, second = runs
    advice = (
        "a compiled step runs Python once, while it is compiled. What changes from step to step comes with the batch, "
        "or is trained; what counts or records for yourself alone is left out of a race"
    )
    found = changed(first.notes, second.notes)
    if found is not None:
        line, one, other = found
        where = f"{file}:{line}: {at.rpartition(': ')[2]}" if line else at
        msg = f"{where}: {one} in one step, and {other} in the next: {advice}"
        raise UnsteadyError(msg)
    for name, value in second.kept.items():
        before = first.kept.get(name, "not there")
        if before != value:
            told = [one[:_WRITTEN_CHARACTERS] + "..." * (len(one) > _WRITTEN_CHARACTERS) for one in (before, value)]
            msg = f"{at}: {name} is {told[0]} after one step and {told[1]} after the next: {advice}"
            raise UnsteadyError(msg)


def kept(function: Any, modules: Iterable[tuple[str, Any]] = ()) -> dict[str, str]:
    """Return what a function's file, the variables around it and a model's modules keep, as written.

    That is numbers, texts and arrays of NumPy's, and containers and objects of the file's own classes that hold them.
    """
    keeper = _Keeper(getattr(function, "__module__", ""))
    keeper.take("", getattr(function, "__globals__", {}))
    keeper.function("", function)
    for path, module in modules:
        for kind in reversed(type(module).__mro__[:-1]):
            keeper.take(f"{path}.", vars(kind))
        keeper.take(f"{path}.", vars(module))
    return keeper.found


_PLAIN = (bool, int, float, complex, str, bytes, bytearray, type(None))

_SHORT = {int, float, str, bool}
"""Parts that are written as Python writes their list."""

_DEPTH = 6
"""Of containers and objects within each other: configurations are nested three or four deep."""


class _Keeper:
    """Collects what may count, by name, as written."""

    def __init__(self, module: str) -> None:
        """Begin; objects and classes of this module are looked into."""
        self.found: dict[str, str] = {}
        self._module = module
        self._arrays: dict[int, str] = {}
        self._seen: set[int] = set()

    def take(self, before: str, named: Mapping[str, Any]) -> None:
        """Take what has a name, each part by itself; `before` stands before the names."""
        for name, one in dict(named).items():
            if name[:2] == "__":
                continue
            told = f"{before}{name}".lstrip(".")
            kind = type(one)  # isinstance would ask the value itself, which may be a stranger's proxy
            inner = one.fget if kind is property else one.__func__ if kind in {staticmethod, classmethod} else one
            if type(inner) is FunctionType:
                self.function(f"{told}: ", inner)
            elif issubclass(kind, type):
                if one.__module__ == self._module and id(one) not in self._seen:
                    self._seen.add(id(one))
                    self.take(f"{told}.", vars(one))
            elif (written := self._written(one, _DEPTH)) is not None:
                self.found[told] = written

    def function(self, before: str, function: Any) -> None:
        """Take the variables around a function of the file, its defaults and its attributes."""
        if type(function) is not FunctionType or function.__module__ != self._module or id(function) in self._seen:
            return
        self._seen.add(id(function))
        around = {}
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            with suppress(ValueError):  # It is set later.
                around[name] = cell.cell_contents
        self.take("", around)
        self.take(before, vars(function) | {"defaults": function.__defaults__ or ()})

    def _written(self, one: Any, depth: int) -> str | None:
        """Write a value; None of what is none, such as an object of a library's, whose text may be its address."""
        kind = type(one)
        if kind.__module__ == "numpy" and hasattr(one, "tobytes"):
            return self._array(one)
        if kind is int:
            return str(one) if one.bit_length() < 1000 else hex(one)  # noqa: PLR2004 - Python writes no longer ones
        if kind in _PLAIN or kind is count:
            return repr(one)
        return self._container(one, depth - 1) if depth else None

    def _container(self, one: Any, depth: int) -> str | None:
        """Write what holds others; None of what is no container."""
        kind = type(one)
        if kind in {tuple, list} and {type(each) for each in one} <= _SHORT:
            with suppress(ValueError):  # of an integer of more digits than Python writes
                return repr(one)  # at once: a corpus may be millions of them
        if kind in {tuple, list, deque, set, frozenset}:
            parts = [str(self._written(each, depth)) for each in one]
            return f"[{', '.join(sorted(parts) if kind in {set, frozenset} else parts)}]"
        if kind is dict or kind is SimpleNamespace or kind.__module__ == self._module:
            named = one if kind is dict else getattr(one, "__dict__", {})
            pairs = [(self._written(key, 1), self._written(value, depth)) for key, value in list(named.items())]
            return f"{{{', '.join(f'{key}: {value}' for key, value in pairs)}}}"
        return None

    def _array(self, array: Any) -> str:
        """Write an array of NumPy's: a small one by its values, another by its bytes' hash."""
        if array.dtype.hasobject:
            return str(array.shape)
        if array.size <= _FEW:
            return repr(array.tolist())
        if id(array) not in self._arrays:
            digest = hashlib.sha256(array.tobytes()).hexdigest()
            self._arrays[id(array)] = f"an array {array.shape} of sha256 {digest}"
        return self._arrays[id(array)]


_FEW = 64
"""Elements of an array that is written by its values."""
