"""The page of an acceptance: every check with what was expected and what was found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from bakeoff.report.page import Line, Page, Section, Table, with_command
from bakeoff.report.units import elapsed, listed
from bakeoff.report.words import machine_text
from bakeoff.spec.acceptance import STATES
from bakeoff.spec.text import count

if TYPE_CHECKING:
    from bakeoff.spec.acceptance import Acceptance, AcceptanceOutcome

VERSION = 1
"""Of the JSON object, which docs/json-acceptance.md documents: raised when a key changes its meaning or goes away."""

MARKED = ("failed", "inconclusive")


def acceptance_page(outcome: AcceptanceOutcome) -> Page:
    """Return the page of an acceptance."""
    acceptance = outcome.acceptance
    times_s = [check.took_s for check in acceptance.checks if check.took_s is not None]
    return Page(
        title=_title(acceptance),
        headline=headline(acceptance),
        trust=f"{count(len(times_s), 'check')} made in {elapsed(sum(times_s))}.",
        beside=machine_text(acceptance.machine),
        sections=[
            Section(caption="Checks, in the order in which they are made", tables=[table(acceptance)]),
            Section(words=sentences(acceptance)),
        ],
        unpictured=tuple(f"{check.title}: {check.state}" for check in acceptance.checks),
        begun=f"bakeoff {acceptance.bakeoff}, acceptance {acceptance.id}, begun {acceptance.created_at}.",
        measured=f"Measured on {acceptance.created_at.partition('T')[0]} with bakeoff {acceptance.bakeoff}",
        command=acceptance.command,
        path=outcome.path,
        data=_data(outcome),
    )


def headline(acceptance: Acceptance) -> str:
    """Return the answer in a sentence; what is not applicable does not count."""
    applicable = len(acceptance.checks) - acceptance.count("not applicable")
    parts = [f"{acceptance.count('passed')} of {count(applicable, 'check')} passed"]
    parts += [
        f"{found} {state}" for state in STATES[1:] if state != "not applicable" and (found := acceptance.count(state))
    ]
    return f"Acceptance on {device_name(acceptance)}: {', '.join(parts)}."


def device_name(acceptance: Acceptance) -> str:
    """Return what the checks ran on: the GPU, or the processor."""
    named = acceptance.machine.get("gpu" if acceptance.device == "cuda" else "processor")
    return str(named or acceptance.device)


def table(acceptance: Acceptance) -> Table:
    """Return every check."""
    heads = ["check", "result", "took", "expected", "found"]
    lines = [
        Line(
            [one.title, one.state, "" if one.took_s is None else elapsed(one.took_s), one.expected, one.found],
            marked=one.state in MARKED,
        )
        for one in acceptance.checks
    ]
    return Table(heads, lines, words=2, last_words=2, right=(2,), prose=heads.index("found"))


def sentences(acceptance: Acceptance) -> list[str]:
    """Return what the results mean, and what to do next."""
    said = [f"{label} was left out: {reason}." for label, reason in acceptance.excluded.items()]
    if acceptance.count("not reached"):
        said.append(with_command("Checks that were not reached are made by the same command", acceptance.command))
    if any(acceptance.count(state) for state in ("failed", "inconclusive")):
        again = f"{acceptance.command} --again" if acceptance.command else ""
        said.append(
            with_command("What failed or was inconclusive is made again by the same command with --again", again)
        )
    if acceptance.device != "cpu":
        said.append("Few GPUs have run this (docs/gpu.md): please send the bundle in, whatever it says.")
    return said


def _title(acceptance: Acceptance) -> str:
    """Return what was checked in one line."""
    kind = [f"{acceptance.size} size" if acceptance.size != "full" else "", "quick" if acceptance.quick else ""]
    return ", ".join(["acceptance", f"device {acceptance.device}", listed(acceptance.contenders), *filter(None, kind)])


def _data(outcome: AcceptanceOutcome) -> dict[str, Any]:
    """Return the JSON object; null is not known."""
    acceptance = outcome.acceptance
    fields = msgspec.to_builtins(acceptance)
    known: dict[str, Any] = {
        "version": VERSION,
        "bakeoff": fields.pop("bakeoff"),
        "headline": headline(acceptance),
        "passed": acceptance.has_passed,
        "counts": {state: acceptance.count(state) for state in STATES},
        "machine": fields.pop("machine"),
        "checks": [
            {name: check[name] for name in ("key", "title", "expected", "state", "found", "took_s")}
            for check in fields.pop("checks")
        ],
        "excluded": fields.pop("excluded"),
    }
    del fields["version"]
    return known | {"acceptance": fields | {"path": outcome.path}}
