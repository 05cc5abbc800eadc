"""What torch.compile reports of itself, in counters that have no public name; loaded with the first compiled step."""

from __future__ import annotations

from bakeoff.spec.record import Compilation

_WHOLE = "_compile.compile_inner"
"""Dynamo's name for all that a first call does before the compiled code runs: tracing, and the compiler within it."""

_COMPILER = "OutputGraph.call_user_compiler"
"""... for the compiler alone: AOTAutograd and Inductor."""

_BACKWARD = "backward._backward_impl"
"""... for the compiler of a backward pass that is left to the first call of backward."""


def compiled() -> Compilation:
    """Return what was traced and compiled so far; times are None where this PyTorch keeps no such counters."""
    whole, compiler, backward = map(_spent_ns, (_WHOLE, _COMPILER, _BACKWARD))
    count = graphs()
    if not count:
        return Compilation(trace_ns=0, compile_ns=0, count=0)
    if not whole or not compiler:
        return Compilation(count=count)
    return Compilation(trace_ns=whole - compiler, compile_ns=compiler + backward, count=count)


def graphs() -> int:
    """Count the graphs compiled so far; none after a step means that the user's settings switch torch.compile off."""
    from torch._dynamo.utils import counters

    return int(counters["stats"]["unique_graphs"])


def _spent_ns(phase: str) -> int:
    """Return the time that a phase has taken so far."""
    from torch._dynamo.utils import compilation_time_metrics

    return round(1e9 * sum(compilation_time_metrics.get(phase, ())))
