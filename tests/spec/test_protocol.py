from __future__ import annotations

from typing import Any, get_args

import msgspec
import pytest

from bakeoff.spec import protocol
from bakeoff.spec.record import ReplicaReport
from bakeoff.spec.selftest import TimerTest

REPORT = ReplicaReport(rank=1, parameters_sha256="ab", checksums=[0.5])
COMMANDS = [
    protocol.Build(),
    protocol.Warm(steps=20, seconds=1.0, limit=400),
    protocol.RunBlock(lead=3, steps=12, turn=0),
    protocol.Fence(lead=3, steps=10, seconds=0.3, limit=400),
    protocol.Explain(pairs=2, lead=3, steps=15),
    protocol.CheckTimer(steps=12, pairs=3, profiled_steps=5, profiles=2),
    protocol.Certify(),
    protocol.MeasureSpread(precision="float32"),
    protocol.MeasureMemory(steps=20),
    protocol.MeasureLate(late_step=1000, pairs=8, lead=20, steps=40),
    protocol.MeasurePeaks(),
    protocol.Note(facts={"energy": {"joules": 1.5, "steps": 12, "source": "RAPL"}}),
    protocol.NoteGpuMemory(peak_bytes=None, readings=3, reason="NVML: Not Supported"),
    protocol.RunEpoch(steps=1875),
    protocol.Conclude(),
    protocol.Beside(pids=[11, 12]),
    protocol.Go(),
    protocol.NoteGroup(elapsed_ns=5, replicas_ns=[5, 4]),
    protocol.Report(),
    protocol.Gather(reports=[REPORT]),
    protocol.Quit(),
]
TEST = TimerTest(
    steps=12,
    single_ns=[1],
    double_ns=[2],
    fetch_ns=[0],
    again_ns=[0],
    block_ns=[1],
    profiled_steps=5,
    fenced_ns=[5],
    profiled_ns=[5],
    profiler="a profiler",
)
ANSWERS = [
    protocol.Ready(import_ns=1),
    protocol.Built(build_ns=1, first_step_ns=2),
    protocol.Warmed(steps_ns=[1, 2]),
    protocol.Ran(steps=12, elapsed_ns=3),
    protocol.Tested(test=TEST),
    protocol.Poised(),
    protocol.Reported(report=REPORT),
    protocol.Done(),
    protocol.Failed(reason="line\nbreak"),
]


@pytest.mark.parametrize(
    ("word", "kind"), [(c, protocol.Command) for c in COMMANDS] + [(a, protocol.Answer) for a in ANSWERS]
)
def test_every_word_travels_as_one_line(word: Any, kind: Any) -> None:
    """A command or an answer is one JSON object without a line break, and comes back as it was sent."""
    line = msgspec.json.encode(word)
    assert b"\n" not in line
    assert msgspec.json.decode(line, type=kind) == word


def test_no_word_is_forgotten_here() -> None:
    """The lists above are complete."""
    assert {type(word) for word in COMMANDS} == set(get_args(protocol.Command))
    assert {type(word) for word in ANSWERS} == set(get_args(protocol.Answer))
