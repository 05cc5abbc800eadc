"""Honest contenders against the machine's peaks: what share of them a step reaches, and that nobody is refused.

    python benchmarks/peaks.py [--workloads mlp-mnist ...] [--contenders torch ...] [--size reduced] [--rounds 1]
                               [--output benchmarks/results/peaks]

Each workload is a comparison of its own for each of its scenarios: certificates, peaks and rounds. "at least" is the
share that no algorithm can honestly have above 1; a contender is refused above 2, by a peak from a calm machine.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import Any

from results import write

from bakeoff.race import conductor
from bakeoff.race.stages import certify, peaks, rounds
from bakeoff.spec.request import Request
from bakeoff.workloads.load import load

WORKLOADS = ("mlp-mnist", "mlp-1024", "cnn-cifar10", "resnet50-cifar10", "vit-b16")
FRAMEWORKS = ("torch", "jax", "tensorflow")
STAGES = (certify.wanted, peaks.wanted, rounds.wanted)
"""The self-tests of the timers are another matter, and take longer."""


def race(workload: str, scenario: str, asked: argparse.Namespace, folder: str) -> list[dict[str, Any]]:
    """Race honest contenders on one workload; give a row for each."""
    request = Request(
        workload=workload,
        contenders=tuple(asked.contenders),
        scenario=scenario,
        size=asked.size,
        data="synthetic",
        max_rounds=asked.rounds,
        results=folder,
    )
    outcome = conductor.run(request, stages=STAGES)
    return [_row(one, outcome) for one in outcome.contenders]


def _row(one: Any, outcome: Any) -> dict[str, Any]:
    """Give one contender's line."""
    light, step_s = one.light, one.median_step_s
    peak = light.peak if light else None
    return {
        "workload": outcome.comparison.workload.name,
        "scenario": outcome.comparison.scenario,
        "contender": one.label,
        "status": one.status,
        "step, ms": f"{step_s * 1e3:.3g}" if step_s else "",
        "MMAC": f"{light.macs / 1e6:.4g}" if light else "",
        "of peak": f"{light.macs_share:.3f}" if light else "",
        "at least": f"{light.least_share:.3f}" if light else "",
        "peak, GMAC/s": f"{peak.macs_per_s / 1e9:.3g}" if peak else "",
        "by": peak.macs_by.partition(",")[0] if peak else "",
        "GB/s": f"{peak.bytes_per_s / 1e9:.3g}" if peak and peak.bytes_per_s else "",
        "calm": peak.calm if peak else "",
    }


def main() -> None:
    """Race what is asked for, print the table and write it; a contender that is refused is an error."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workloads", nargs="+", default=WORKLOADS)
    parser.add_argument("--contenders", nargs="+", default=FRAMEWORKS)
    parser.add_argument("--size", default="reduced")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--output", type=Path)
    asked = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for workload in asked.workloads:
            for scenario in load(workload).workload.scenarios:
                rows += race(workload, scenario, asked, folder)
    write(rows, __doc__ or "", asked.output)
    if any(row["status"] == "refused" for row in rows):
        sys.exit("an honest contender was refused")


if __name__ == "__main__":
    main()
