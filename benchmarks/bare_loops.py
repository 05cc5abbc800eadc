"""bakeoff's step time against a bare hand-written loop in each framework, in ping-pong rounds of fresh processes.

    python benchmarks/bare_loops.py [--rounds 7] [--workload mlp-mnist ...] [--device cpu]
                                    [--output benchmarks/results/NAME]

The bare loops are bare.py in the frameworks' folders, each started as a user starts it, with none of bakeoff's
environment variables; bakeoff's side is its own worker, as in a race. Goal: within 1 % for steps over 1 ms, and never
slower by more. On a GPU (not run by us) both sides share it: the bare loops leave some of its memory.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import devices
from results import write

from bakeoff.environments.declared import frameworks
from bakeoff.race.bare import BATCH, against_bare, has_bare_loop
from bakeoff.spec.request import Request


def measure(framework: str, workload: str, rounds: int, device: str) -> dict[str, object]:
    """Race bakeoff's worker against the bare loop; give a row of the table."""
    with tempfile.TemporaryDirectory() as folder:
        request = Request(workload=workload, contenders=(framework,), device=device, results=folder)
        found = against_bare(request, rounds)
    assert found.ratio is not None
    assert found.bakeoff_s is not None
    assert found.bare_s is not None
    return {
        "workload": f"{workload}, batch {BATCH[workload]}",
        "framework": framework,
        "device": device,
        "bakeoff (ms)": round(found.bakeoff_s * 1e3, 3),
        "bare loop (ms)": round(found.bare_s * 1e3, 3),
        "ratio": round(found.ratio.estimate, 4),
        "low": round(found.ratio.low, 4),
        "high": round(found.ratio.high, 4),
        "rounds": found.rounds,
    }


def main() -> None:
    """Measure what is asked for, print the table and write it."""
    known = [name for name, one in frameworks().items() if one.info.listed and has_bare_loop(str(one.path))]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--workload", nargs="+", default=list(BATCH), choices=list(BATCH))
    parser.add_argument("--framework", nargs="+", default=known)
    parser.add_argument("--output", type=Path)
    devices.add_argument(parser)
    arguments = parser.parse_args()
    devices.check(parser, arguments.framework, arguments.device)
    rows = []
    for workload in arguments.workload:
        for framework in arguments.framework:
            rows.append(measure(framework, workload, arguments.rounds, arguments.device))
            print(rows[-1], flush=True)
    write(rows, __doc__ or "", arguments.output)


if __name__ == "__main__":
    main()
