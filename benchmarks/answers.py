"""How long a user waits for an answer, and how narrow it is: whole races from the command line, as a user runs them.

    python benchmarks/answers.py FOLDER [--only NAME ...] [--tree DIR --label TEXT] [--output STEM]

Each race is a process of its own whose lines are read as they come. `first verdict` is when the first line says
"faster", "slower" or "equal" of a pair, `rounds` is the share of all time that rounds took, and `half-width` the widest
interval of all pairs, beside what a narrow one is: 5 %, or a quarter of the difference. With --tree another version of
bakeoff runs, so that two can be held against each other on the same day; its rows are added to those in FOLDER.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

from results import write

import bakeoff
from bakeoff.environments.installed import home

ROOT = Path(__file__).parents[1]


class Race(NamedTuple):
    """One command, and whether what is remembered of earlier races is at hand."""

    name: str
    arguments: tuple[str, ...]
    remembers: bool = False
    repeats: int = 1


DIGITS = ("mlp-mnist", "--data", "digits")
RACES = (
    Race("demo", (*DIGITS, "torch", "jax", "tensorflow", "--budget", "68s")),
    Race("demo-150s", (*DIGITS, "torch", "jax", "tensorflow", "--budget", "150s")),
    Race("two", (*DIGITS, "torch", "jax"), remembers=True, repeats=3),
    Race("budget-45s", (*DIGITS, "torch", "jax", "--budget", "45s")),
    Race(
        "compiled",
        ("cnn-cifar10", "torch", "torch:mode=compiled", "--batch-size", "64", "--budget", "180s"),
    ),
)
"""The promises of docs/verdicts.md, "How long an answer takes"; each is a command that anybody can type."""

VERDICT = re.compile(r" (faster|slower|equal)(;|$)")
ROUND = re.compile(r"\s*[\w ]+ (?:s|min)  r\d+-.*: \w[\w-]* in ([\d.]+) s")
WITHIN = re.compile(r"\s*[\w ]+ (?:s|min)  round (\d+) ")


def run(race: Race, number: int, folder: Path, tree: Path) -> dict[str, Any]:
    """Run one race, by its number in this folder; return what a user saw of it."""
    remembered = folder / ("remembered" if race.remembers else f"fresh-{race.name}")
    remembered.mkdir(parents=True, exist_ok=True)
    if not (remembered / "envs").exists():
        (remembered / "envs").symlink_to(home())
    results = folder / f"results-{race.name}-{number}"
    command = [sys.executable, "-m", "bakeoff", "run", *race.arguments, "--results", str(results)]
    environment = os.environ | {"BAKEOFF_HOME": str(remembered), "PYTHONPATH": str(tree / "src")}
    began_s = time.monotonic()
    lines: list[tuple[float, str]] = []
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
    ) as process:
        assert process.stdout is not None
        lines.extend((time.monotonic() - began_s, line.rstrip()) for line in process.stdout)
    total_s = time.monotonic() - began_s
    (found,) = results.glob("*/comparison.json")
    report = [sys.executable, "-m", "bakeoff", "report", str(found.parent), "--json"]
    told = subprocess.run(report, capture_output=True, text=True, check=True, env=environment).stdout
    return seen(race.name, lines, total_s, json.loads(told))


def seen(name: str, lines: list[tuple[float, str]], total_s: float, report: dict[str, Any]) -> dict[str, Any]:
    """Return a race's row, from its lines and its report."""
    rounds, longest_s, first_round_s, first_verdict_s = 0, 0.0, None, None
    round_s: list[float] = []
    for at_s, line in lines:
        if match := ROUND.match(line):
            longest_s = max(longest_s, float(match[1]))
        elif match := WITHIN.match(line):
            rounds = int(match[1])
            round_s.append(longest_s)
            longest_s = 0.0
            first_round_s = first_round_s or at_s
            if first_verdict_s is None and any(VERDICT.search(f"{part};") for part in line.split("; ")):
                first_verdict_s = at_s
    decided = sum(pair["verdict"] in ("faster", "slower", "equal") for pair in report["verdicts"])
    pairs = [pair for pair in report["verdicts"] if pair["low"] and pair["high"]]
    return {
        "race": name,
        "total s": round(total_s, 1),
        "first verdict s": None if first_verdict_s is None else round(first_verdict_s, 1),
        "rounds": rounds,
        "a round s": round(statistics.median(round_s), 1) if round_s else None,
        "in rounds": f"{sum(round_s) / total_s:.0%}",
        "decided": f"{decided} of {len(report['verdicts'])}",
        "pairs": "; ".join(map(_pair, report["verdicts"])),
        "half-width": max((_half(pair) for pair in pairs), default=None),
        "narrow": all(map(_is_narrow, pairs)) and len(pairs) == len(report["verdicts"]),
    }


def _pair(pair: dict[str, Any]) -> str:
    """Return a pair's ratio with its interval."""
    if not (pair["low"] and pair["high"]):
        return f"{pair['first']}/{pair['second']} no interval"
    return f"{pair['first']}/{pair['second']} {pair['ratio']:.3f} [{pair['low']:.3f}, {pair['high']:.3f}]"


def _half(pair: dict[str, Any]) -> float:
    """Return half of an interval's width, as a logarithm."""
    return round((math.log(pair["high"]) - math.log(pair["low"])) / 2, 3)


def _is_narrow(pair: dict[str, Any]) -> bool:
    """Return whether an interval is as narrow as the default aim asks for."""
    return _half(pair) <= max(math.log1p(0.05), 0.25 * abs(math.log(pair["ratio"]))) + 1e-3


def main() -> None:
    """Run the races that are asked for, and write all rows that FOLDER has."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", nargs="*", default=[race.name for race in RACES])
    parser.add_argument("--tree", type=Path, default=ROOT)
    parser.add_argument("--label", default=f"bakeoff {bakeoff.__version__}")
    parser.add_argument("--output", type=Path)
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    kept = asked.folder / "rows.json"
    rows: list[dict[str, Any]] = json.loads(kept.read_text()) if kept.exists() else []
    for race in RACES:
        for _ in range(race.repeats if race.name in asked.only else 0):
            rows.append({"version": asked.label} | run(race, len(rows), asked.folder.absolute(), asked.tree.absolute()))
            kept.write_text(json.dumps(rows, indent=1))
            sys.stdout.write(f"{rows[-1]}\n")
    if asked.output:
        write(rows, __doc__ or "", asked.output)


if __name__ == "__main__":
    main()
