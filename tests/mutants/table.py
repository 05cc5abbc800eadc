"""docs/mutants.md: what caught each mutant, from a run of all of them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from catalogue import MUTANTS
from catalogue.mutant import Mutant
from tests.drawn import sources

from bakeoff.store.fingerprints import files_sha256

PAGE = Path(__file__).parents[2] / "docs" / "mutants.md"

HEAD = """# Planted faults, and what catches them

`make mutants` plants the faults below one by one in copies of the sources, asks the project's own checks about each,
and writes this page; every run of the tests plants a part of them, which the hash of the sources draws
([tests/mutants/drawing.py](../tests/mutants/drawing.py)). A fault is a text in the place of another one
([tests/mutants/catalogue](../tests/mutants/catalogue)); where the text is gone, its test fails and says so. A fault
that changes no number is marked as equivalent, and its test shows that not a bit differs.

What is asked ([tests/mutants/judging.py](../tests/mutants/judging.py)): `case`, `dropout`, `dropout in a scan`,
`attention dropout`, `normal`, `stochastic`,
`optimizer`, `input` and `steady` are the contract that every framework is held to; `mlp-mnist/train` is a certificate
at reduced size; `independent` is the independent implementation of a workload; `timer` is the timer's self-test,
`timer of long steps` and `timer of inference` of steps as long as its blocks;
`race` is a race with the fault in its timed trials alone, `race/infer` one of inference, `race of statistics` one of a
model that has running statistics, `race of inference` one with the timer's self-test and the machine's peaks;
`group` is a certificate on two devices, whose replicas are
held against each other, too, `group of statistics` one where BatchNorm takes all devices' samples, `group of samples`
one of per-sample gradients; `unit` are the tests of a file. A cell has each check that
fails, with the error against what is allowed where the check has both; "passes" is what a question does not see,
where another one does.

"""

_KINDS = {
    "case": "the contract of the vocabulary",
    "dropout": "the contract of the vocabulary",
    "dropout in a scan": "the contract of the vocabulary",
    "attention dropout": "the contract of the vocabulary",
    "normal": "the contract of the vocabulary",
    "stochastic": "the contract of the vocabulary",
    "optimizer": "the contract of the optimisers",
    "input": "the contract of ways of input",
    "steady": "the contract of snapshots",
    "independent": "an independent implementation",
    **dict.fromkeys(("timer", "timer of long steps", "timer of inference"), "the timer's self-test"),
    **dict.fromkeys(("race", "race of statistics"), "the tie of timed trials"),
    "race of inference": "the timer's self-test and the machine's peak",
    **dict.fromkeys(("group", "group of statistics", "group of samples"), "the certificate of several devices"),
    "unit": "a unit's tests",
}
"""Kinds of checks by the first word of a question; any other word is a workload's name."""

_CERTIFICATE = "the certificate"

_found: dict[str, dict[str, list[list[str]]]] = {}
_versions: dict[str, dict[str, str]] = {}


def take(report: Any) -> None:
    """Keep what the report of a passed test says."""
    if report.when != "call" or not report.passed:
        return
    for name, value in report.user_properties:
        if name == "mutant":
            found = json.loads(value)
            _found[found["id"]] = found["caught"]
        elif name == "versions":
            _versions.update(json.loads(value))


def write(cache: pytest.Cache) -> None:
    """Write the page where every mutant has been caught in this run, or in others of the same sources and tests.

    A self-test that a busy machine leaves without an answer is asked again by name, and not all the others with it.
    """
    tests = PAGE.parents[1] / "tests"
    asked = [path for folder in ("mutants", "contract") for path in sorted((tests / folder).rglob("*.py"))]
    key = f"mutants/{sources()}-{files_sha256(tests, asked)}"
    kept = cache.get(key, {"found": {}, "versions": {}})
    merged = kept["found"] | _found
    _versions.update({name: of for name, of in kept["versions"].items() if name not in _versions})
    _found.update({name: found for name, found in merged.items() if name in MUTANTS})
    cache.set(key, {"found": _found, "versions": _versions})
    if _found.keys() == MUTANTS.keys():
        PAGE.write_text(page())


def page() -> str:
    """Return the page."""
    packages = "; ".join(
        ", ".join(f"{name} {value}" for name, value in sorted(of.items())) for _, of in sorted(_versions.items())
    )
    equivalent = sum(bool(mutant.equivalent) for mutant in MUTANTS.values())
    counts = f"{len(MUTANTS)} faults: {len(MUTANTS) - equivalent} are caught, {equivalent} are equivalent, none passes."
    run = f"Run on {datetime.now(UTC):%Y-%m-%d} with {packages}.\n\n{counts} {summary(map(_kinds_of, MUTANTS))}\n"
    return f"{HEAD}{run}\n" + "\n".join(_sections())


def _kinds_of(mutant: str) -> set[str]:
    """Return the kinds of checks that caught a mutant."""
    return {kind_of(question) for question in _caught_by(mutant)}


def kind_of(question: str) -> str:
    """Return the kind of check that a question is of."""
    return _KINDS.get(question.partition("/")[0], _CERTIFICATE)


def summary(kinds: Iterable[set[str]]) -> str:
    """Return how many mutants each kind of check has caught, and how many of them nothing else."""
    kinds = list(kinds)
    counts = {
        kind: (sum(kind in caught for caught in kinds), sum(caught == {kind} for caught in kinds))
        for kind in dict.fromkeys([*_KINDS.values(), _CERTIFICATE])
    }
    said = [f"{kind} {every} ({alone} of them alone)" for kind, (every, alone) in counts.items()]
    return f"Of what each was asked, it was caught by {', '.join(said)}."


def _caught_by(mutant: str) -> list[str]:
    """Return the questions by which a mutant was caught."""
    return [question for question, found in _found[mutant].items() if found]


def _sections() -> list[str]:
    """Return a section with a table for each framework, the workloads and the clock."""
    groups: dict[str, list[Mutant]] = {}
    for mutant in MUTANTS.values():
        groups.setdefault(mutant.framework or mutant.where, []).append(mutant)
    lines = []
    for group, mutants in groups.items():
        lines += [f"## {group}\n", "| fault | where | caught by |", "|---|---|---|"]
        lines += [f"| {mutant.name} | {mutant.where}, {mutant.file} | {_caught(mutant)} |" for mutant in mutants]
        lines.append("")
    return lines


def _caught(mutant: Mutant) -> str:
    """Return what caught a mutant, question by question."""
    if mutant.equivalent:
        return f"equivalent: {mutant.equivalent}"
    return "<br>".join(_answer(question, found) for question, found in _found[mutant.id].items())


def _answer(question: str, found: list[list[str]]) -> str:
    """Return the checks that failed for one question."""
    said = "; ".join(f"{check} {amount}".strip() for check, amount in found) or "passes"
    return f"**{question}**: {said}".replace("|", "\\|") if found else f"{question}: passes"


def rows(text: str) -> list[tuple[str, str, str]]:
    """Return what a page has in each row: group, fault and what caught it."""
    found = []
    for section in text.split("\n## ")[1:]:
        group = section.partition("\n")[0]
        lines = re.findall(r"^\| (.+?) \| \w+, \S+ \| (.*) \|$", section, re.MULTILINE)
        found += [(group, fault, caught) for fault, caught in lines]
    return found
