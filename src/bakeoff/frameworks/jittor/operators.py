"""What Jittor's profiler reports of a step, as events: totals of its operators, by kind. Pure.

It gives no moments of time, so operators stand one behind another from the start of their step: on a processor they
run so, each whole before the next, on the thread that asks for a result. What is left of a step is the host's: Python,
and Jittor's own noting, fusing and looking up.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from bakeoff.frameworks.tracing import Event

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bakeoff.spec.explained import OperationKind

_THREAD = "Jittor"

_NAMES = re.compile(r"«opkey[0-9a-f]+:(\w+)|^(\w+)")
"""The operations of an operator in its key; of a fused one each has a hexadecimal number (fused_op.cc)."""

_RELAYED = re.compile(r"\brelay\d+:1\b")
"""In the key of an operator that hands its work to a library's, which is in the report too: Jittor's own sum leaves it
out as well (profiler.cc, report)."""

_KINDS: dict[OperationKind, str] = {
    "convolution": r"(mkl|cudnn|acl)_conv",
    "matrix product": r"(mkl|cublas|cutt|acl)\w*_matmul|matmul",
    "communication": r"(nccl|mpi|hccl)_",
    "reduction": r"(arg_)?reduce|reindex_reduce|argsort|(cub|thrust)_",
    "element-wise": r"unary|binary|ternary|random|safe_clip|curand",
    "data movement": (
        r"broadcast_to|reshape|(fuse_)?transpose|cutt_transpose|getitem|setitem|reindex|index|array|copy|clone|empty|"
        r"tape|fetch|where|candidate"
    ),
}
"""By the names of Jittor's operations (src/ops, extern), the most telling kind of a fused operator first."""


class Total(NamedTuple):
    """What one operator took in one step."""

    key: str
    launches: int
    total_ns: float


class ProfiledStep(NamedTuple):
    """One step."""

    start_ns: float
    end_ns: float
    totals: list[Total]


def totals(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[Total]:
    """Return what a report says of each operator that computes something itself."""
    key, count, total = (header.index(name) for name in ("Name", "Count", "TotalTime"))
    told = [Total(row[key], round(float(row[count])), float(row[total])) for row in rows if len(row) == len(header)]
    return [one for one in told if not _RELAYED.search(one.key)]


def events(profiled: ProfiledStep) -> list[Event]:
    """Return the events of a step: the host's, and within it the operators, each as long as it took on average."""
    length_ns = profiled.end_ns - profiled.start_ns
    found = [Event(_THREAD, profiled.start_ns, profiled.end_ns, "step", "host dispatch", launches=False)]
    # Jittor takes 24 ns off each operator, so that their sum is less than the step; a clock that jumps may exceed it.
    scale = min(1.0, length_ns / max(1.0, sum(one.total_ns for one in profiled.totals)))
    at_ns = profiled.start_ns
    for one in profiled.totals:
        kind, mixed = kind_of(one.key)
        for _ in range(one.launches):
            end_ns = at_ns + scale * one.total_ns / one.launches
            found.append(Event(_THREAD, at_ns, end_ns, one.key, kind, mixed=mixed))
            at_ns = end_ns
    return found


def kind_of(key: str) -> tuple[OperationKind, bool]:
    """Return an operator's kind by its key, and whether several kinds of computing are fused in it."""
    names = [fused or single for fused, single in _NAMES.findall(key)]
    found: list[OperationKind] = [
        kind for kind, words in _KINDS.items() if any(re.match(rf"({words})", name) for name in names)
    ]
    computing = [kind for kind in found if kind != "data movement"]
    return (found[0] if found else "other"), len(computing) > 1


def table(profiled: Sequence[ProfiledStep]) -> str:
    """Return what was reported of each step."""
    lines = [
        f"{number}\t{total.launches}\t{total.total_ns}\t{total.key}"
        for number, one in enumerate(profiled)
        for total in one.totals
    ]
    return "\n".join(["step\tlaunches\ttotal_ns\toperator", *lines, ""])
