"""Faults of a training step, planted one by one and certified at full size: what catches each.

    python benchmarks/planted_faults.py [--workload resnet50-cifar10] [--size full] [--batch-size 8] [--contender torch]
        [--faults NAMES ...] [--keep FILE] [--limit 900] [--output benchmarks/results/planted-faults]

The faults are those of tests/mutants/catalogue, of which every run of the tests certifies some at reduced size. Each is
planted in a copy of the framework's folder, from which the contender runs in float64 and in the settings that are
timed; the reference runs without it. The first row is the contender without a fault. A number is what the check found
over what it allows. Nothing is timed: on a busy machine the seconds alone are others, and the first row's have the
reference in them, which is remembered for the others. A row is kept in FILE once it is known, so that a second call
goes on.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from certificates import LIMIT_S, REASON_CHARACTERS, data_of, kept
from results import write

from bakeoff.certify.certificate import in_words
from bakeoff.race import conductor
from bakeoff.race.stages import certify
from bakeoff.spec.contender import parse_contender
from bakeoff.spec.request import Request

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "mutants"))

from catalogue import MUTANTS
from planting import contenders_found_in, planted

if TYPE_CHECKING:
    from catalogue.mutant import Mutant

    from bakeoff.judge.outcome import ContenderOutcome
    from bakeoff.spec.verdict import Check

FAULTS = (
    "no optimiser step",
    "every second step does nothing",
    "only the head is trained",
    "half the batch",
    "half the batch from the second step on",
    "half the learning rate",
    "vectors learn at half the rate",
    "another optimiser than the workload's",
    "the gradients of the step before",
    "gradients are never cleared",
    "bfloat16 from the second step on",
    "labels of other samples from the second step on",
    "one wrong label from the second step on",
)
"""By their names in the catalogue: what a step may leave out or do wrongly in any workload. Every framework has
all of them."""

HONEST = "none"


def request_for(asked: argparse.Namespace, results: str) -> Request:
    """Return what is certified."""
    return Request(
        workload=asked.workload,
        contenders=(asked.contender,),
        scenario="train",
        size=asked.size,
        batch_size=asked.batch_size,
        data=data_of(asked.workload),
        trial_limit_s=asked.limit,
        self_test=False,
        results=results,
    )


def certified(request: Request, mutant: Mutant | None) -> ContenderOutcome:
    """Return what becomes of the contender with a fault, or without one."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        if mutant is not None:
            contenders_found_in(patch, planted(mutant, Path(folder)).parent)
        (only,) = conductor.run(request, stages=(certify.wanted,)).contenders
    return only


def row(name: str, found: ContenderOutcome, took_s: float) -> dict[str, Any]:
    """Return a fault's line: whether it is certified, and each check that fails."""
    certificate = found.certificate
    failed = [check for check in certificate.checks if not check.passed] if certificate else []
    passed = certificate is not None and certificate.passed
    return {
        "fault": name,
        "certified": "yes" if passed else "no",
        "caught by": "; ".join(map(_amount, failed)) or ("" if passed else f"not computed: {_in_a_line(found.reason)}"),
        "seconds": f"{took_s:.0f}",
    }


def _in_a_line(reason: str) -> str:
    """Return what a cell of a table has room for: a compiler's message is pages long."""
    return " ".join(reason.replace("|", "/").split())[:REASON_CHARACTERS]


def _amount(check: Check) -> str:
    """Return a failed check with the error over what is allowed, where it has both."""
    if check.error is None or check.allowed is None:
        return in_words(check)
    return f"{in_words(check)} {check.error:.1e} / {check.allowed:.0e}"


def of_framework(contender: str, names: list[str] | None) -> dict[str, Mutant]:
    """Return the faults of a contender's framework, by name: those that are asked for, else those of FAULTS it has."""
    framework = parse_contender(contender).framework
    known = {one.name: one for one in MUTANTS.values() if one.framework == framework}
    if unknown := [name for name in names or () if name not in known]:
        sys.exit(f"no fault of {framework}: {', '.join(unknown)}; there are: {', '.join(known)}")
    return {name: known[name] for name in names or FAULTS if name in known}


def faulty(rows: list[dict[str, Any]]) -> str:
    """Return which rows are not as they should be, in a sentence; empty where all are."""
    wrong = [one["fault"] for one in rows if (one["certified"] == "yes") != (one["fault"] == HONEST)]
    wrong += [one["fault"] for one in rows if one["caught by"].startswith("not computed")]
    return f"not as it should be: {', '.join(dict.fromkeys(wrong))}" if wrong else ""


def main() -> None:
    """Certify, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workload", default="resnet50-cifar10")
    parser.add_argument("--size", default="full")
    parser.add_argument("--batch-size", type=int, default=8)
    parser.add_argument("--contender", default="torch")
    parser.add_argument("--faults", nargs="+", help="names in the catalogue; by default those of FAULTS")
    parser.add_argument("--keep", type=Path, help="where rows are kept between calls")
    parser.add_argument("--limit", type=float, default=LIMIT_S, help="seconds of one trial")
    parser.add_argument("--output", type=Path)
    asked = parser.parse_args()
    done, rows = kept(asked.keep), []
    setting = f"{asked.workload}, {asked.size} size, batch {asked.batch_size}, {asked.contender}"
    with tempfile.TemporaryDirectory() as results:
        for name, mutant in {HONEST: None, **of_framework(asked.contender, asked.faults)}.items():
            words = f"{setting}: {name}"
            if words not in done:
                began_s = time.monotonic()
                found = certified(request_for(asked, results), mutant)
                done[words] = [row(name, found, time.monotonic() - began_s)]
                if asked.keep is not None:
                    with asked.keep.open("a") as stream:
                        stream.write(json.dumps([words, done[words]]) + "\n")
            rows += done[words]
            sys.stderr.write(f"{rows[-1]}\n")
    write(rows, f"{__doc__}\n{setting}.", asked.output)
    if wrong := faulty(rows):
        sys.exit(wrong)


if __name__ == "__main__":
    main()
