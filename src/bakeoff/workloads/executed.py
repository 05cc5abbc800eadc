"""Which lines of a workload's file run: over shapes, and in a framework, where the same ones have to.

A file may ask what its arrays or `nn` are, and do more in one framework, or less, with the same result. The layers and
functions that it takes over shapes do not show that, and neither does a certificate: its own lines do.
"""

from __future__ import annotations

import hashlib
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from bakeoff.workloads.likewise import runs_over_shapes

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType
    from typing import Any

    from bakeoff.spec.scenario import Scenario
    from bakeoff.spec.workload import Size
    from bakeoff.workloads.load import LoadedWorkload

Lines = dict[tuple[str, int], set[int]]
"""Of each function that ran, by its name and first line: the lines behind that one that ran; none where a compiler has
left its first line alone."""


class Expected(NamedTuple):
    """The lines of a file that may run, and those that have to: in a model's first step, and in any later one."""

    may: Lines
    must: Lines
    must_later: Lines


@contextmanager
def executed(file: str) -> Iterator[Lines]:
    """Note the lines of a file that this thread runs meanwhile; none while a debugger looks on."""
    lines: Lines = {}

    def line(frame: FrameType, event: str, argument: object) -> Any:
        del argument
        code = frame.f_code
        if event == "line":
            ran = lines.setdefault((code.co_name, code.co_firstlineno), set())
            # A compiler that takes a function over leaves its first line.
            ran |= {frame.f_lineno} - {code.co_firstlineno}
        return line

    def call(frame: FrameType, event: str, argument: object) -> Any:
        del event, argument
        return line if frame.f_code.co_filename == file else None

    if sys.gettrace() is not None:
        yield lines
        return
    sys.settrace(call)
    try:
        yield lines
    finally:
        sys.settrace(None)


def expected(loaded: LoadedWorkload, size: Size, scenario: Scenario) -> Expected | None:
    """Return the lines that build, forward pass and loss run over shapes; None where they cannot be run there.

    They are run twice: what a file keeps for itself the first time it does not make again, and either is the same work.
    So is what a model keeps: its later steps have to run no line that fills it, nor one of building or of evaluation.
    """
    file = loaded.build.__code__.co_filename
    must: Lines = {}

    def first_step_ends() -> None:
        must.update(later)
        later.clear()

    with executed(file) as first:
        is_run = runs_over_shapes(loaded, size, scenario)
    with executed(file) as later:
        is_run = is_run and runs_over_shapes(loaded, size, scenario, first_step_ends)
    if not is_run or not any(must.values()):
        return None
    may = {name: set().union(*(one.get(name, ()) for one in (first, must, later))) for name in first | must | later}
    return Expected(may=may, must=must, must_later=later)


def lines_sha256(loaded: LoadedWorkload, size: Size, scenario: Scenario) -> str:
    """Return a hash of the lines that have to run, behind the version of Python, whose lines differ; empty for none."""
    return sha256_of(expected(loaded, size, scenario))


def sha256_of(found: Expected | None) -> str:
    """Return the same of what was found."""
    if found is None:
        return ""
    told = repr(sorted((*name, sorted(lines)) for name, lines in found.must.items() if lines))
    return f"{sys.version_info.major}.{sys.version_info.minor} {hashlib.sha256(told.encode()).hexdigest()}"


def are_unlike(first: str, second: str) -> bool:
    """Return whether two hashes of lines, of the same version of Python, are of different ones."""
    (version, _, lines), (other, _, others) = first.partition(" "), second.partition(" ")
    return bool(version) and version == other and lines != others


def unlike(found: Lines, asked: Expected, *, is_later: bool = False) -> str:
    """Return which line runs in a framework and not over shapes, or the other way round; empty where all are the same.

    What was found is of a model's first step, or `is_later`.
    A function that no line of ran here may have been compiled, or be called by another name: nothing is said of it.
    """
    must = asked.must_later if is_later else asked.must
    for name, lines in found.items():
        if name in asked.may and (more := lines - asked.may[name]):
            return f"line {min(more)} runs here and not where the comparison was fixed"
        if lines and (less := must.get(name, set()) - lines) and not _is_split(name, found, asked.may):
            return f"line {min(less)} does not run here, and did where the comparison was fixed"
    return ""


def _is_split(name: tuple[str, int], found: Lines, may: Lines) -> bool:
    """Return whether a compiler has taken over a function but for some lines, where it called what cannot be compiled.

    Its rest runs under a name made of its own, from a line within it on.
    """
    own = may.get(name, set())
    rests = (other for other in found if other not in may and name[0] in other[0] and other[0] != name[0])
    return any(min(own) <= first <= max(own) for _, first in rests)
