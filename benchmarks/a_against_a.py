"""A against A: an explanation of two equal contenders should name nothing, in 19 of 20 runs.

    python benchmarks/a_against_a.py --results DIR [--contender torch ...] [--workload mlp-mnist] [--runs 20]
                                     [--rounds 5] [--output STEM]

Each run races a contender beside itself in fresh processes, traces both in five rounds, and judges as `bakeoff explain`
does. "named" counts the runs in which any row was told apart, by kind or by layer: the promise is at most one in 20.
"which" says what was named, "without an interval" how many more runs had too few rounds for any, "load" how many
processes were ready to run in the last minute of a run, bakeoff's own among them. What was run in the results directory
is not run again, so that the same command goes on.
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from results import write

from bakeoff.judge.explained import explain
from bakeoff.race import conductor
from bakeoff.race.stages import explain as stage
from bakeoff.spec.request import Request

if TYPE_CHECKING:
    from bakeoff.judge.explanation import Explanation

ABOUT = (__doc__ or "").strip().rpartition("\n\n")[2]
"""What the columns are."""

DONE = "a-against-a.json"
"""In the results directory: what was found in each run that was finished."""

PROMISED = 20
"""Of so many runs at most one names anything."""


def run(contender: str, workload: str, asked: argparse.Namespace) -> dict[str, Any]:
    """Race a contender beside itself, trace both, and return what is named."""
    request = Request(
        workload=workload,
        contenders=(contender, contender),
        size=asked.size,
        data="synthetic",
        threads=asked.threads,
        results=str(asked.results),
        max_rounds=asked.rounds,
        self_test=False,
    )
    outcome = conductor.run(request, also=[stage.wanted])
    return {"contender": contender, "workload": workload, "size": asked.size, **named(explain(Path(outcome.path)))}


def named(found: Explanation) -> dict[str, Any]:
    """Return the rows that were told apart, and whether any could have been."""
    rows = [row for gap in found.gaps for row in (*gap.by_kind, *gap.by_layer)]
    return {
        "named": [f"{row.layer or row.kind} {row.phase}".strip() for row in rows if row.told_apart],
        "parts": len(rows),
        "told": any(row.difference_s is not None for row in rows),
        "load": round(os.getloadavg()[0]),
    }


def line(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Return what the runs of one contender come to."""
    told = [one for one in runs if one["told"]]
    wrong = [one for one in told if one["named"]]
    return {
        "contender": runs[0]["contender"],
        "workload": f"{runs[0]['workload']} {runs[0]['size']}",
        "runs": len(told),
        "named": len(wrong),
        "of parts": sum(one["parts"] for one in told),
        "which": "; ".join(dict.fromkeys(name for one in wrong for name in one["named"])) or "none",
        "without an interval": len(runs) - len(told),
        "load": f"{min(one['load'] for one in runs)} to {max(one['load'] for one in runs)}",
    }


def main() -> None:
    """Run what is lacking; print and write what all runs come to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=Path, required=True)
    parser.add_argument("--contender", action="append", default=None)
    parser.add_argument("--workload", default="mlp-mnist")
    parser.add_argument("--size", default="full")
    parser.add_argument("--runs", type=int, default=PROMISED)
    parser.add_argument("--rounds", type=int, default=5, help="raced rounds of each run")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--output", type=Path, default=None)
    asked = parser.parse_args()
    asked.results.mkdir(parents=True, exist_ok=True)
    file = asked.results / DONE
    done: list[dict[str, Any]] = json.loads(file.read_text("utf-8")) if file.exists() else []
    wanted = asked.contender or ["torch", "jax", "tensorflow", "jittor"]
    for number in range(1, asked.runs + 1):
        for contender in wanted:
            same = (contender, asked.workload, asked.size)
            if sum((one["contender"], one["workload"], one["size"]) == same for one in done) < number:
                done.append(run(contender, asked.workload, asked))
                file.write_text(json.dumps(done, indent=1), "utf-8")
                print(done[-1], flush=True)
    known = dict.fromkeys((one["contender"], one["workload"], one["size"]) for one in done)
    rows = [line([one for one in done if (one["contender"], one["workload"], one["size"]) == key]) for key in known]
    write(rows, f"A against A: what an explanation of two equal contenders names\n\n{ABOUT}", asked.output)


if __name__ == "__main__":
    main()
