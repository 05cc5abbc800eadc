"""How long bakeoff's own parts take to start: the command, and a worker beyond its framework's import and build.

    python benchmarks/startup.py [--repeats 10] [--output benchmarks/results/startup]

Goals: `bakeoff --help` within about 0.15 s; a worker's start beyond import and build under 0.3 s. The command is also
given as a ratio to `python -c "import typer"` in the same run, which no command that uses typer can beat.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from results import write

from bakeoff.environments.interpreters import available
from bakeoff.race.prepare import prepared
from bakeoff.race.specs import Specs
from bakeoff.race.workers.process import ProcessWorker
from bakeoff.spec import protocol
from bakeoff.spec.request import Request
from bakeoff.store.files import write_trial

LIMIT_S = 120.0


def seconds(command: list[str]) -> float:
    """Time a command from outside."""
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def commands(repeats: int) -> list[dict[str, Any]]:
    """Time the command line, interleaved with the least that it can cost."""
    bakeoff = [sys.executable, "-m", "bakeoff"]
    sides = {
        'python -c "import typer"': [sys.executable, "-c", "import typer"],
        "bakeoff --help": [*bakeoff, "--help"],
        "bakeoff run --help": [*bakeoff, "run", "--help"],
        "bakeoff list workloads": [*bakeoff, "list", "workloads"],
    }
    times: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(repeats):
        for name, command in sides.items():
            times[name].append(seconds(command))
    least = statistics.median(times['python -c "import typer"'])
    return [
        {"what": name, "median (s)": round(statistics.median(t), 3), "ratio": round(statistics.median(t) / least, 2)}
        for name, t in times.items()
    ]


def worker(framework: str, repeats: int) -> dict[str, Any]:
    """Time a worker from its start until its first step could run, without the framework's import and build."""
    request = Request(workload="mlp-mnist", contenders=(framework,), data="synthetic")
    beyond, whole = [], []
    with prepared(request) as (comparison, inputs):
        plan = comparison.contenders[0]
        specs = Specs(comparison, inputs, inputs)
        for number in range(1, repeats + 1):
            spec, interpreter = specs.trial(plan, "memory", number)
            folder = inputs / f"{spec.name}-{number}"
            write_trial(folder, spec)
            start = time.perf_counter_ns()
            process = ProcessWorker(folder, spec, interpreter)
            try:
                ready = process.ready(LIMIT_S)
                ready_ns = time.perf_counter_ns() - start
                process.ask(protocol.Build(), LIMIT_S)
            finally:
                process.end()
            beyond.append((ready_ns - ready.import_ns) / 1e9)
            whole.append(ready_ns / 1e9)
    median = statistics.median(beyond)
    return {
        "what": f"{framework} worker, beyond import and build",
        "median (s)": round(median, 3),
        "ratio": f"{median / statistics.median(whole):.2f} of its start",
    }


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    rows = commands(arguments.repeats)
    rows += [worker(framework, max(3, arguments.repeats // 2)) for framework in available()[0]]
    write(rows, __doc__ or "", arguments.output)


if __name__ == "__main__":
    main()
