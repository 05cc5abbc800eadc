"""What is read from reports of profilers that tell no moments of time, and from none."""

from __future__ import annotations

import json
from contextlib import nullcontext
from pathlib import Path

import pytest

from bakeoff.frameworks.jittor.operators import ProfiledStep, Total, events, kind_of, table, totals
from bakeoff.frameworks.mlx import tracing as mlx

HEADER = ["Name", "FileName", "Count", "TotalTime", "AvgTime"]


@pytest.mark.parametrize(
    ("key", "kind", "mixed"),
    [
        ("mkl_conv_backward_w«Txd:float32«JIT:1", "convolution", False),
        ("mkl_matmul«T:float32«Trans_a:T", "matrix product", False),
        ("«opkey0:broadcast_to«Tx:float32«opkey1:binary«OP:add«JIT:1", "element-wise", False),
        ("«opkey9:binary«OP:add«opkeya:unary«OP:exp«opkeyb:reduce«OP:add«graph:", "reduction", True),
        ("«opkey0:array«T:float32«opkey1:fuse_transpose«Tx:float32", "data movement", False),
        ("code«In0_T:float32«HEADER:", "other", False),
    ],
)
def test_an_operators_key_says_its_kind(key: str, kind: str, *, mixed: bool) -> None:
    """A fused operator is of the most telling kind of its operations, whose numbers are hexadecimal."""
    assert kind_of(key) == (kind, mixed)


def test_an_operator_that_hands_its_work_on_is_not_counted_twice() -> None:
    """Jittor reports a relayed operator and the library's that it calls; rows of its cache table are none."""
    rows = [
        ["«opkey0:reindex«opkey1:reduce«choices:relay0:1,", "a.cc", "2", "1e+06", "5e5"],
        ["«opkey0:reindex«opkey1:reduce«choices:relay0:0,", "a.cc", "1", "500", "500"],
        ["mkl_conv«Txd:float32", "b.cc", "2", "900000", "4.5e5"],
        ["Name", "TLB"],
    ]
    found = totals(HEADER, rows)
    assert [(one.launches, one.total_ns) for one in found] == [(1, 500.0), (2, 900000.0)]


def test_operators_stand_one_behind_another_within_the_host() -> None:
    """Each is as long as it took on average, none beyond the step; what is left of the step is the host's."""
    step = ProfiledStep(100, 1100, [Total("mkl_conv«", 2, 600.0), Total("«opkey0:unary«", 1, 100.0)])
    host, *operators = events(step)
    assert (host.kind, host.start_ns, host.end_ns, host.launches) == ("host dispatch", 100, 1100, False)
    assert [(one.start_ns, one.end_ns, one.kind) for one in operators] == [
        (100, 400, "convolution"),
        (400, 700, "convolution"),
        (700, 800, "element-wise"),
    ]
    longer = events(step._replace(totals=[Total("mkl_conv«", 1, 4000.0)]))
    assert longer[-1].end_ns == 1100
    lines = table([step]).splitlines()
    assert lines[1].split("\t") == ["0", "2", "600.0", "mkl_conv«"]


def test_mlx_says_that_it_has_no_profile(tmp_path: Path) -> None:
    """It does the work, says nothing of it, and why."""
    tracer, done = mlx.Tracer(), []

    def work(mark: type[nullcontext[None]]) -> None:
        with mark():
            done.append(1)

    trace = tracer.trace(None, work, tmp_path)
    assert (tracer.level, trace.steps, trace.events) == ("none", [], [])
    assert "no profiler" in tracer.reason
    assert done
    build = json.loads
    assert tracer.scoped(build) is build
