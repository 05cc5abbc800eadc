"""What training does to the cost of a step of mlp-mnist on digits, and what denormal numbers have to do with it.

    python benchmarks/denormals.py [--contenders TEXT ...] [--repeats 3] [--output benchmarks/results/denormals]

Each row is a trial of late steps, in a comparison of that contender alone with one round, on one thread: blocks from
the state after 4 steps of training and from a late one, in 8 neighbouring pairs of one process. "late / early" is the
median over pairs with its 95 % interval over these; the last columns are the shares of elements that are denormal in
the late state (none were in the early one, unless it is said). "handled" is read back from the framework; "load" is
the system's load average over a minute (getloadavg(3)) after it.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from results import write

from bakeoff.race.conductor import run
from bakeoff.spec.request import Request

if TYPE_CHECKING:
    from bakeoff.judge.outcome import ContenderOutcome

CONTENDERS = (
    "torch",
    "torch:denormals=flush",
    "torch:mode=compiled",
    "jax",
    "tensorflow",
    "jittor",
    "jittor:denormals=flush",
    "mlx",
    "mlx:denormals=flush",
)

GROUPS = ("parameters", "gradients", "first moment", "second moment")
"""Of a workload that trains by Adam."""


def row(contender: ContenderOutcome, repeat: int) -> dict[str, Any]:
    """Return what one trial of late steps has found."""
    found = contender.late
    named = {"contender": contender.label, "process": repeat, "handled": contender.settings.get("denormals", "")}
    if found is None or found.ratio is None:
        empty = dict.fromkeys(("late step", "early (ms)", "late (ms)", *GROUPS, "load"), "")
        return named | {"late / early": contender.reason or "not measured"} | empty
    ratio = found.ratio
    times = {
        "late step": f"{found.late_step:,}",
        "early (ms)": f"{1000 * found.early_s:.3g}",
        "late (ms)": f"{1000 * found.late_s:.3g}",
        "late / early": f"{ratio.estimate:.3f} [{ratio.low:.3f}, {ratio.high:.3f}]",
    }
    return named | times | {name: _share(found, name) for name in GROUPS} | {"load": f"{os.getloadavg()[0]:.1f}"}


def _share(found: Any, name: str) -> str:
    """Return the share of a group that is denormal late in training, and early where that is not none."""
    if name not in found.late:
        return ""
    early = found.early[name].denormal
    said = f"{100 * found.late[name].share:.1f}%"
    return f"{said} ({100 * found.early[name].share:.1f}% early)" if early else said


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--contenders", nargs="+", default=list(CONTENDERS))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for repeat in range(1, options.repeats + 1):
            for text in options.contenders:
                request = Request(
                    workload="mlp-mnist",
                    contenders=(text,),
                    data="digits",
                    threads=1,
                    max_rounds=1,
                    self_test=False,
                    results=folder,
                )
                rows += [row(contender, repeat) for contender in run(request).contenders]
                sys.stderr.write(f"{rows[-1]}\n")
    rows.sort(key=lambda one: options.contenders.index(one["contender"]))
    write(rows, __doc__ or "", options.output)


if __name__ == "__main__":
    main()
