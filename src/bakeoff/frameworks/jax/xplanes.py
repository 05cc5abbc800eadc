"""The events of a trace of XLA's profiler, as JAX reads it, in the port's words.

XLA starts convolutions and products of a processor on its pool and goes on: such an event covers the start alone, and
the work is done at the event `end: NAME` that consumes (`_c`) what the first has produced (`_p`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import jax

from bakeoff.frameworks.origins import Origin, on_gpu
from bakeoff.frameworks.planes import GPU, copied
from bakeoff.frameworks.tracing import Event

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path


STEP, RUN = "bakeoff step", "bakeoff run"
"""Marks around a whole step, and around what starts it: Python's own time and JAX's."""

_CPU = "/host:CPU"
_END = "end: "
_HOST = ("PjitFunction", "CommonPjRt", "ParseArguments", "ThunkExecutor::Execute", "shard_args", "DevicePut", RUN)
"""How the events of JAX's and XLA's own code begin."""
_COPIED = "H2D Dispatch"
"""What a processor's client calls the copy of a batch, in a thread of its pool while the caller goes on."""
_WAITS = "wait"
"""In the names of events in which that code only waits."""


class Seen(NamedTuple):
    """One event as the profiler has it."""

    thread: str
    name: str
    start_ns: float
    end_ns: float
    stats: dict[str, Any]
    is_gpu: bool = False


class Profile:
    """A trace."""

    def __init__(self, seen: Iterable[Seen]) -> None:
        """Take what the profiler has seen."""
        self._seen = list(seen)

    def steps(self) -> list[tuple[float, float]]:
        """Return start and end of each marked step."""
        return sorted((one.start_ns, one.end_ns) for one in self._seen if one.name == STEP)

    def programs(self) -> set[str]:
        """Return the names of the programs that ran."""
        return {one.stats["hlo_module"] for one in self._seen if "hlo_module" in one.stats}

    def events(self, known: Mapping[str, Mapping[str, Origin]]) -> tuple[list[Event], int]:
        """Return the events, by the origins of each program's instructions, and how many of them have none."""
        done_ns = {
            (one.name.removeprefix(_END), one.stats.get("_c")): one.start_ns
            for one in self._seen
            if one.name.startswith(_END)
        }
        found, missing = [], 0
        has_gpu = any(one.is_gpu for one in self._seen)  # then what the host has of an operation is its start alone
        for one in self._seen:
            if "hlo_op" in one.stats and one.is_gpu == has_gpu:
                told = known.get(one.stats.get("hlo_module", ""), {}).get(one.stats["hlo_op"])
                missing += told is None
                origin = told or Origin("other")
                origin = on_gpu(origin, one.name) if one.is_gpu else origin
                found.append(_operation(one, origin, done_ns.get((one.name, one.stats.get("_p")))))
            elif one.is_gpu:
                found.append(_operation(one, Origin(copied(one.name) or "other"), None))
            elif one.name == _COPIED and not has_gpu:
                found.append(_operation(one, Origin("device copy"), None))
            elif one.name.startswith(_HOST) and _WAITS not in one.name:
                found.append(_operation(one, Origin("host dispatch", launches=False), None))
        return found, missing


def _operation(one: Seen, origin: Origin, done_ns: float | None) -> Event:
    """Return an event in the port's words; it is asynchronous where its work ends after it."""
    is_beside = done_ns is not None and done_ns > one.end_ns
    return Event(
        one.thread, one.start_ns, one.end_ns, one.name, done_ns=done_ns if is_beside else None, **origin._asdict()
    )


def read(file: Path) -> Iterable[Seen]:
    """Yield the events of the host's threads and of the GPUs' streams that a file has."""
    for plane in jax.profiler.ProfileData.from_file(str(file)).planes:
        is_gpu = plane.name.startswith(GPU)
        if not is_gpu and plane.name != _CPU:
            continue
        for number, line in enumerate(plane.lines):
            if is_gpu and not line.name.startswith("Stream"):
                continue  # the same time once more, by module and by step
            for event in line.events:
                end_ns = event.start_ns + event.duration_ns
                thread = f"{plane.name} {number} {line.name}"
                yield Seen(thread, event.name, event.start_ns, end_ns, dict(event.stats), is_gpu)
