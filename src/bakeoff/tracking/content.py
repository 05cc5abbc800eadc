"""From a comparison's records to what a tracker is sent of each contender."""

from __future__ import annotations

import json
from datetime import datetime
from typing import TYPE_CHECKING, Any

import msgspec

from bakeoff.judge.comparison import assess
from bakeoff.judge.ledger import marked
from bakeoff.report.forms.markdown import to_markdown
from bakeoff.report.forms.pictures import render
from bakeoff.report.pages.comparison import comparison_page
from bakeoff.report.redacted import redacted
from bakeoff.spec.record import NS
from bakeoff.spec.verdict import mirrored
from bakeoff.store.files import read_comparison, read_end
from bakeoff.store.results import of_contender, of_purpose, read_records
from bakeoff.tracking.run import RunState, TrackedBlock, TrackedRun, run_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from bakeoff.acceptance.redacted import Redactor
    from bakeoff.judge.outcome import ContenderOutcome, Outcome
    from bakeoff.report.page import Page
    from bakeoff.spec.record import Block, Record
    from bakeoff.spec.verdict import Verdict
    from bakeoff.tracking.run import Scalar

COMPARED = (
    *(
        "workload",
        "workload_sha256",
        "scenario",
        "per_sample",
        "size",
        "parameters",
        "batch_size",
        "data",
        "data_sha256",
    ),
    *(
        "created_at",
        "reference",
        "margin",
        "aim",
        "rules",
        "max_rounds",
        "budget_s",
        "seed",
        "epochs",
        "steps",
        "repeats",
        "command",
    ),
)
"""Keys of `comparison` in the JSON object that were fixed before the first trial; the others are results."""

CHOSEN = ("framework", "options", "tier", "best_left", "settings", "variables", "overridden", "versions", "python")
"""Keys of a contender in the JSON object that say what ran; the others are figures and words."""

NOT_FIGURES = (*CHOSEN, "best", "certificate", "timer", "gpu", "lost_rounds", "memory_peaks_bytes")
"""Keys of a contender that hold no single figures: whole objects are in the files."""


def runs_of(folder: Path, using: Redactor | None, *, is_running: bool = False) -> list[TrackedRun]:
    """Return the runs of the comparison in a folder, one for each contender.

    `using` takes out what should not leave this machine; None leaves everything in. While the comparison runs there are
    no files. Raises StoreError where there is no comparison.
    """
    comparison, found, ended = read_comparison(folder), read_records(folder), read_end(folder)
    ids = [run_id(comparison.id, comparison.created_at, one.contender.label) for one in comparison.contenders]
    outcome = marked(assess(comparison, found, folder, ended))
    timed = [_timed(found.records.values(), one.label) for one in outcome.contenders]
    shown = outcome if using is None else redacted(outcome, using)
    page = comparison_page(shown)
    # Pictures take a second or more: while something is timed here, that would disturb it.
    picture = None if is_running or not any(timed) else render([page], "png")
    return [
        _run(shown, page, number, ids[number], timed[number], picture, len(found.records), is_running=is_running)
        for number in range(len(shown.contenders))
    ]


def _run(  # noqa: PLR0913, PLR0917 - a run has as many parts
    outcome: Outcome,
    page: Page,
    number: int,
    identity: str,
    timed: Sequence[Record],
    picture: bytes | None,
    records: int,
    *,
    is_running: bool,
) -> TrackedRun:
    """Return the run of one contender."""
    contender, comparison, fields = outcome.contenders[number], outcome.comparison, page.data["contenders"][number]
    verdicts = _verdicts(outcome, contender.label)
    note = to_markdown([page])
    return TrackedRun(
        id=identity,
        name=contender.label,
        group=comparison.id,
        created_ms=_ms(comparison.created_at),
        state=_state(outcome, contender, is_running=is_running),
        config=_config(page.data, fields),
        metrics=_metrics(fields, verdicts),
        words={"headline": page.headline, "status": contender.status, "reason": contender.reason}
        | {f"verdict.{one.second}": one.verdict for one in verdicts},
        points=_points(timed),
        records=records,
        note=note,
        files={} if is_running else _files(page, fields, timed, note, picture),
    )


def _timed(records: Iterable[Record], label: str) -> list[Record]:
    """Return the timed trials of a contender that left blocks, in the order of their rounds."""
    mine = [record for record in of_purpose(of_contender(records, label), "time") if record.blocks]
    return sorted(mine, key=lambda record: record.trial.round_number)


def _state(outcome: Outcome, contender: ContenderOutcome, *, is_running: bool) -> RunState:
    """Return how far a contender's run is."""
    if is_running or outcome.ended == "unfinished":
        return "running" if is_running else "interrupted"
    return "finished" if contender.status == "ranked" else "failed"


def _config(data: dict[str, Any], fields: dict[str, Any]) -> dict[str, Scalar]:
    """Return what was asked for, what was in force, and where."""
    compared = {name: data["comparison"][name] for name in COMPARED}
    chosen = {name: fields[name] for name in CHOSEN if name in fields}
    return _scalars({"comparison": compared, "machine": data["machine"], "bakeoff": data["bakeoff"]} | chosen)


def _metrics(fields: dict[str, Any], verdicts: Iterable[Verdict]) -> dict[str, float]:
    """Return every figure of a contender, its intervals as two, and the ratios to others with theirs."""
    figures = _numbers({name: value for name, value in fields.items() if name not in NOT_FIGURES})
    if fields.get("certificate") is not None:
        figures["certificate.passed"] = float(fields["certificate"]["passed"])
    for one in verdicts:
        known = {"ratio": one.ratio, "low": one.low, "high": one.high, "rounds": one.rounds}
        figures |= {f"verdict.{one.second}.{name}": float(value) for name, value in known.items() if value is not None}
    return figures


def _verdicts(outcome: Outcome, label: str) -> list[Verdict]:
    """Return every pair that a contender is in, as seen from it."""
    return [one if one.first == label else mirrored(one) for one in outcome.pairs if label in {one.first, one.second}]


def _points(timed: Iterable[Record]) -> list[TrackedBlock]:
    """Return a point for each timed block, in the order in which they ran."""
    blocks = [(record, block) for record in timed for block in record.blocks if block.steps_ns]
    return [
        TrackedBlock(step=step, at_ms=_ms(record.started_at), values=_block(record, block))
        for step, (record, block) in enumerate(blocks)
    ]


def _block(record: Record, block: Block) -> dict[str, float]:
    """Return the figures of a block, of those that are known."""
    signals = block.signals
    figures = {
        "step_s": block.elapsed_ns * NS / len(block.steps_ns),
        "elapsed_s": block.elapsed_ns * NS,
        "round": record.trial.round_number,
        "turn": block.turn,
        "foreign_share": signals.foreign_share,
        "steal_share": signals.steal_share,
        "cpu_s": signals.cpu_ns * NS,
        "compilations": block.compilations,
    }
    return {f"block/{name}": float(value) for name, value in figures.items() if value is not None}


def _files(
    page: Page, fields: dict[str, Any], timed: Iterable[Record], note: str, picture: bytes | None
) -> dict[str, bytes]:
    """Return the whole report, the certificate and the raw blocks."""
    raw = [
        {"round": record.trial.round_number, "started_at": record.started_at}
        | {"blocks": msgspec.to_builtins(record.blocks), "fenced_steps_ns": record.fenced_steps_ns}
        for record in timed
    ]
    files = {
        "report.md": note.encode(),
        "comparison.json": _json(page.data),
        "certificate.json": _json(fields["certificate"]),
        "blocks.json": _json(raw),
    }
    return files if picture is None else files | {"chart.png": picture}


def _scalars(value: dict[str, Any], before: str = "") -> dict[str, Scalar]:
    """Return an object's texts and numbers with keys of keys joined by dots; what is null is not there."""
    found: dict[str, Scalar] = {}
    for name, item in value.items():
        if isinstance(item, dict):
            found |= _scalars(item, f"{before}{name}.")
        elif isinstance(item, str | int | float):
            found[f"{before}{name}"] = item
    return found


def _numbers(value: dict[str, Any], before: str = "") -> dict[str, float]:
    """Return an object's numbers with keys of keys joined by dots, and of an interval its ends as `low` and `high`."""
    found: dict[str, float] = {}
    for name, item in value.items():
        if isinstance(item, dict):
            found |= _numbers(item, f"{before}{name}.")
        elif isinstance(item, int | float):
            found[f"{before}{name}"] = float(item)
        elif _is_interval(item):
            found |= {f"{before}{name}.low": float(item[0]), f"{before}{name}.high": float(item[1])}
    return found


def _is_interval(value: Any) -> bool:
    """Return whether a value is the two ends of an interval."""
    return isinstance(value, list) and [type(end) for end in value] == [float, float]


def _ms(when: str) -> int:
    """Return a time of a record as milliseconds since 1970."""
    return round(datetime.fromisoformat(when).timestamp() * 1000)


def _json(content: Any) -> bytes:
    """Return JSON for people and programs."""
    return json.dumps(content, indent=1).encode()
