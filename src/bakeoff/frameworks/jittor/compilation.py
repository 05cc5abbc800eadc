"""What Jittor has compiled, from what it leaves: a library for each operation, which stays mapped once it was loaded.

Jittor writes an operation's source anew in every process, has g++ make the library unless that is there from the same
source, and then writes a key beside it.
"""

from __future__ import annotations

import os
import time
from functools import cache
from pathlib import Path

import jittor as jt

from bakeoff.frameworks.jittor import home
from bakeoff.spec.record import Compilation

OPERATORS = "BAKEOFF_JITTOR_OPERATORS"
"""The folder for a process's own operators; framework.toml sets it in trials of compiling."""

_FOLDERS = ("jit", "tmp", "gen")
"""What Jittor expects in the folder of its operators."""

_STARTED_NS = time.time_ns()  # noqa: TID251 - compared with the times of files


def settle() -> None:
    """Have Jittor keep its operators in the folder that the trial names, if it names one."""
    folder = os.environ.get(OPERATORS)
    if not folder:
        return
    for name in _FOLDERS:
        (Path(folder) / name).mkdir(parents=True, exist_ok=True)
    jt.flags.cache_path = folder


def compiled() -> Compilation:
    """Return how many operations this process has made ready, and how long g++ worked for it.

    Several are compiled at a time: a moment in which two were counts once. What Jittor does between Python and g++ it
    does anew in every step, and does not tell apart. Another process that takes the same folder at the same time
    writes the sources anew, too, and so hides when their compilation began; a trial of compiling has its own folder.
    """
    operators = _loaded()
    if operators is None:
        return Compilation()
    spans = sorted(span for span in map(_span_ns, operators) if span is not None)
    total_ns, reached_ns = 0, 0
    for begin_ns, end_ns in spans:
        total_ns += max(0, end_ns - max(begin_ns, reached_ns))
        reached_ns = max(reached_ns, end_ns)
    return Compilation(compile_ns=total_ns, count=len(operators))


def _loaded() -> set[Path] | None:
    """Return the libraries of operations that this process has loaded; None where the system does not report them."""
    lines = home.mapped()
    folder = f"{Path(str(jt.flags.cache_path)).resolve()}/jit/"
    # A library has a line for each of its segments.
    return set(map(Path, {line[line.index("/") :] for line in lines if folder in line})) if lines else None


@cache
def _span_ns(library: Path) -> tuple[int, int] | None:
    """Return when an operation's compilation began and ended; None where it was there before this process.

    It is looked up once: a library that is loaded is complete, and this is called around every timed block.
    """
    source, key = library.with_suffix(".cc"), Path(f"{library}.key")
    try:
        begin_ns, end_ns = source.stat().st_mtime_ns, key.stat().st_mtime_ns
    except OSError:
        return None
    return (begin_ns, end_ns) if end_ns >= max(begin_ns, _STARTED_NS) else None
