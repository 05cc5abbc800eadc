"""What a framework has traced and compiled between two of its readings."""

from __future__ import annotations

from bakeoff.spec.record import Compilation


def compiled_between(before: Compilation, after: Compilation) -> Compilation:
    """Return what was traced and compiled between two readings; None where one of them is unknown."""
    return Compilation(
        trace_ns=_difference(before.trace_ns, after.trace_ns),
        compile_ns=_difference(before.compile_ns, after.compile_ns),
        count=_difference(before.count, after.count),
    )


def _difference(before: int | None, after: int | None) -> int | None:
    """Subtract where both are known."""
    return None if before is None or after is None else after - before
