"""The port for traces: what `frameworks/<name>/tracing.py` provides, and the words that all of them use.

A folder's tracing.py has a class `Tracer`, constructed without arguments after `Engine.configure`. It is used in trials
of the purpose `explain` alone: no other trial imports it, and nothing of it is in a program that is timed.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, get_args

import msgspec

from bakeoff.spec.explained import GraphStage, NodeClass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from contextlib import AbstractContextManager
    from pathlib import Path

    from bakeoff.frameworks.engine import Step
    from bakeoff.spec.explained import Level, OperationKind, Phase

LAYER, FUNCTION, OPTIMIZER = "L.", "F.", "O.optimizer"
"""How the scopes begin that are opened at the vocabulary's border: for a layer with its canonical path, for a function
with its name, and around the optimiser's update. Profilers take letters, digits, "_" and "." in names."""

WHOLE = "net"
"""The path of the model itself, which has no name."""

LOSS = "loss"
"""The path of the workload's loss, which is no layer and takes time as one."""


class Event(NamedTuple):
    """An operation, or a piece of the framework's own code, on one thread; times in ns on the trace's own clock."""

    thread: str
    start_ns: float
    end_ns: float
    name: str
    """The framework's own name of it."""
    kind: OperationKind
    phase: Phase = ""
    layer: str = ""
    function: str = ""
    done_ns: float | None = None
    """When the work was done, where the event is only about its start; it then runs beside what follows on the
    thread."""
    inferred: str = ""
    """The rule that gave layer or phase; empty where the profile itself names them."""
    mixed: bool = False
    """Fused from several kinds, phases or layers."""
    launches: bool = True
    """Whether it counts as an operation that was started: not so the inner part of one, nor host dispatch."""


class Trace(msgspec.Struct, frozen=True, kw_only=True):
    """A profile of some steps, read."""

    steps: list[tuple[float, float]]
    """Start and end of each marked step, in ns on the trace's own clock."""
    events: list[Event]
    """On one thread, events may be nested: an instant belongs to the innermost."""
    notes: list[str] = []
    facts: dict[str, float | int | str] = {}
    stages: list[GraphStage] = []
    """What the framework's compiler has made of the step's graph, pass by pass where it tells them apart."""
    files: list[str] = []
    """Names of raw traces that were left in the folder."""


ALL_PASSES = ("all passes",)
"""Of a compiler that does not tell its passes apart: the graph that it has made in the end."""


def by_class(nodes: Iterable[NodeClass]) -> dict[NodeClass, int]:
    """Return how many nodes each class has, of all classes."""
    counts = Counter(nodes)
    return {name: counts[name] for name in get_args(NodeClass)}


class Tracer(Protocol):
    """One framework's profiler in this process."""

    level: Level
    reason: str
    counts: bool
    """Whether a trace has the stages of the graph where these take seconds: they are the same in every trial."""

    def scoped(self, build: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        """Return a workload's `build` that opens scopes: at each layer of the model, and at each function of `nn`.

        The numbers that the model computes stay the same in every bit, and the compiled program the same but for names.
        """

    def attach(self, step: Step) -> None:
        """Put into a step that has not run yet what a trace needs: the optimiser's scope, a compiler's notes."""

    def trace(
        self, step: Step, work: Callable[[Callable[[], AbstractContextManager[Any]]], None], folder: Path
    ) -> Trace:
        """Call `work` under the profiler and read what it saw; raw traces are left in the folder.

        `work` runs steps, and enters `mark()` around each of them, wait included.
        """
