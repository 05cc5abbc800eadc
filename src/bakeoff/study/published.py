"""What a document published, as data: read from its file, and refused where it does not fit together.

A study of this kind is one TOML file in `shipped/`, or a user's own. Its rows are the document's, by the document's
names; each row says which contender stands for it, and which one on a machine without a GPU.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from bakeoff.spec.bounded import read_bounded
from bakeoff.spec.contender import parse_contender
from bakeoff.spec.errors import StoreError, UnknownNameError, UsageError
from bakeoff.spec.published import OF_SHARES_ALONE, PublishedStudy
from bakeoff.study.benchmarks import filled

if TYPE_CHECKING:
    from bakeoff.spec.published import Claim, Declared

SHIPPED = Path(__file__).with_name("shipped")

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
"""Of a study: never the name of another folder than one in the results directory."""
_ID_SAID = "a folder's name of letters, digits, dots, dashes and underscores, a letter or digit first"

_BOUNDED = ("within", "mostly-within", "mean-difference", "most", "at-least")
"""Kinds of claims that say nothing without a number."""

SHARED = {"dai2022-table5": "dai2022-figure2"}
"""Tables that another study measures with what is its own: the name that a reader looks for, and the study's."""


def names() -> list[str]:
    """Return the names of the shipped studies."""
    return sorted(path.stem for path in SHIPPED.glob("*.toml"))


def known_names() -> list[str]:
    """Return every name that a shipped study can be asked for by."""
    return sorted([*names(), *SHARED])


def load(name: str) -> PublishedStudy:
    """Return a shipped study by one of its names, or a user's own by the path of its file, which ends in .toml."""
    path = Path(name) if name.endswith(".toml") else SHIPPED / f"{SHARED.get(name, name)}.toml"
    if path.parent == SHIPPED and not path.exists():
        kind = "study"
        raise UnknownNameError(kind, name, known_names())
    try:
        study = msgspec.convert(filled(_content(path)), PublishedStudy)
        problems = _problems(study)
    except (OSError, StoreError, msgspec.ValidationError, UsageError) as error:
        msg = f"{path} cannot be used as a study: {error}"
        raise UsageError(msg) from error
    if problems:
        msg = f"{path} cannot be used as a study: {'; '.join(problems)}"
        raise UsageError(msg)
    return study


def _content(path: Path) -> dict[str, Any]:
    """Return what a file of TOML says; raise OSError, StoreError, or UsageError with the reason."""
    try:
        return tomllib.loads(read_bounded(path.resolve()).decode())
    except (ValueError, RuntimeError) as error:  # numbers of thousands of digits, endless nesting, and links, too
        raise UsageError(str(error)) from error


def _problems(study: PublishedStudy) -> list[str]:
    """Return what does not fit together."""
    found = [] if _ID.fullmatch(study.id) else [f"id {study.id!r} is to be {_ID_SAID}"]
    found += [f"{kind} has none" for kind in ("machines", "rows") if not getattr(study, kind)]
    found += _twice("machine", [machine.name for machine in study.machines])
    found += _twice("row", [row.name for row in study.rows])
    found += [] if any(one.scaled for one in study.comparisons) else ["no comparison has a scaled variant"]
    found += _twice("comparison", [declared.name for declared in study.comparisons])
    for row in study.rows:
        parse_contender(row.contender)
        if row.on_cpu:
            parse_contender(row.on_cpu)
        if bool(row.on_cpu) == bool(row.missing):
            found.append(f"row {row.name!r} wants either on_cpu or missing, the reason why there is none")
    for declared in study.comparisons:
        found += _of_comparison(study, declared)
    measured = {name for declared in study.comparisons for figure in declared.figures for name in figure.memory_gb}
    found += [f"memory names {name!r}, which no figure has" for name in sorted({*study.memory} - measured)]
    found += _of_shape(study)
    return found + [problem for claim in study.claims for problem in _of_claim(study, claim)]


def _of_shape(study: PublishedStudy) -> list[str]:
    """Return what does not fit together in how the table or figure looks."""
    rows = {row.name for row in study.rows}
    named = [("difference", study.difference)] + [("drawing", panel.rows) for panel in study.drawing.panels]
    found = [f"{key} names {name!r}, which is no row" for key, names in named for name in names if name not in rows]
    if len(study.difference) not in (0, 2):
        found.append("difference names two rows, or none")
    return found + _of_ticks(study, rows)


def _of_ticks(study: PublishedStudy, rows: set[str]) -> list[str]:
    """Return what does not fit together in a table of ticks."""
    columns = study.ticks.columns if study.ticks else ()
    named = {row for column in columns for row in column.rows.values()}
    found = [f"ticks names {row!r}, which is no row" for row in sorted(named - rows)]
    found += _twice("ticks: column", [column.name for column in columns])
    for declared in study.comparisons:
        given = {name for ticks in declared.ticks for name in ticks.can}
        strange = sorted(given - {column.name for column in columns})
        found += [f"{declared.name}: ticks names {name!r}, which is no column of the study's ticks" for name in strange]
        found += _twice(f"{declared.name}: ticks of part", [ticks.part for ticks in declared.ticks])
    return found


def _of_claim(study: PublishedStudy, claim: Claim) -> list[str]:
    """Return what does not fit together within one claim."""
    known, rows = {one.name for one in study.comparisons}, {row.name for row in study.rows}
    strange = sorted({*claim.comparisons} - known) + sorted({*claim.rows} - rows)
    found = [f"claim {claim.text!r} names {name!r}, which is not there" for name in strange]
    apart = {one.name for one in study.comparisons if one.epochs_apart}
    if (claim.epoch is not None) != (claim.kind == "less-time") or (claim.epoch and {*claim.comparisons} - apart):
        found.append(f"claim {claim.text!r}: less-time and an epoch go together, where epochs are told apart")
    fewest = 0 if claim.of == "ticks" else 1 if claim.is_of_rows else 2
    if not claim.unmeasured and (not claim.comparisons or len(claim.rows) < fewest):
        found.append(f"claim {claim.text!r} wants comparisons and rows, or unmeasured, the reason why it has none")
    has_bound = claim.is_of_shares or claim.kind not in _BOUNDED
    if not (claim.unmeasured or has_bound or claim.percent or claim.taken_percent):
        found.append(f"claim {claim.text!r}: {claim.kind} wants percent, or taken_percent where the document has none")
    if claim.then and not claim.is_of_rows and claim.kind not in ("more", "within"):
        found.append(f"claim {claim.text!r}: then goes with more, as an order, and with within")
    batches = {one.batch_size for one in study.comparisons if one.name in claim.comparisons}
    if claim.kind == "grows" and len(batches) == 1:
        found.append(f"claim {claim.text!r}: grows is with the batch, and wants comparisons of several batch sizes")
    ticked = {one.name for one in study.comparisons if one.ticks}
    if claim.of == "ticks" and not claim.unmeasured and {*claim.comparisons} - ticked:
        found.append(f"claim {claim.text!r} is of ticks, and wants comparisons that have some")
    if claim.of == "overhead" and claim.kind not in ("most", "at-least"):
        found.append(f"claim {claim.text!r}: of overhead it is most or at-least these percent")
    return found + _of_shares(study, claim)


def _of_shares(study: PublishedStudy, claim: Claim) -> list[str]:
    """Return what does not fit together within a claim on shares, or in one of other quantities that has their kind."""
    if claim.unmeasured or not claim.is_of_shares:
        is_other = not claim.unmeasured and claim.kind in OF_SHARES_ALONE
        return [f"claim {claim.text!r}: {claim.kind} goes with shares of a step or a graph"] if is_other else []
    found = []
    if claim.of == "launches" or claim.of not in study.parts:
        found.append(f"claim {claim.text!r}: {claim.of} is no share that the study's parts name")
    if claim.kind not in ("most", *OF_SHARES_ALONE):
        found.append(f"claim {claim.text!r}: of shares it is most, each, about or least")
    if claim.kind == "each" and not (claim.percent or claim.taken_percent):
        found.append(f"claim {claim.text!r}: {claim.kind} wants percent, or taken_percent where the document has none")
    if claim.kind == "about" and not (claim.percent and claim.taken_percent):
        found.append(f"claim {claim.text!r}: about wants percent, and in taken_percent how far off is still that")
    if claim.kind == "least" and (len(claim.rows) != 1 or len(claim.comparisons) == 1):
        found.append(f"claim {claim.text!r}: least is of one row, in the first of several comparisons")
    return found


def _of_comparison(study: PublishedStudy, declared: Declared) -> list[str]:
    """Return what does not fit together within one comparison."""
    rows, machines = {row.name for row in study.rows}, {machine.name for machine in study.machines}
    found = []
    if study.unit_of(declared) == "s" and declared.run_steps() is None:
        found.append(f"{declared.name} has figures in s and needs steps, or epochs and samples")
    if declared.epochs_apart and (study.unit_of(declared) != "s" or declared.epochs != 1):
        found.append(f"{declared.name} tells epochs apart and needs figures in s, epochs = 1 and samples")
    for row, text in declared.contenders.items():
        parse_contender(text)
        found += [] if row in rows else [f"{declared.name}: contenders names {row!r}, which is no row"]
    found += [f"{declared.name}: rows names {row!r}, which is no row" for row in declared.rows if row not in rows]
    for figure in declared.figures:
        where = f"{declared.name}, {figure.row}"
        if figure.row not in rows:
            found.append(f"{where}: this row is not there")
        elif not declared.has(figure.row):
            found.append(f"{where}: this row does not race there")
        if not (figure.machine in machines if figure.machine else len(machines) == 1):
            found.append(f"{where}: machine {figure.machine!r} is not there")
        if figure.epoch and not declared.epochs_apart:
            found.append(f"{where}: epoch {figure.epoch} wants epochs_apart = true")
    for part in declared.parts:
        where = f"{declared.name}, {part.of}"
        found += [] if part.row in {"", *rows} else [f"{where}: row {part.row!r} is not there"]
        found += [] if part.of in study.parts else [f"{where}: the study's parts do not name it"]
    found += _twice(f"{declared.name}: part", [f"{part.of} {part.row}".strip() for part in declared.parts])
    named = [f"{one.row} {one.machine} {one.epoch or ''}".strip() for one in declared.figures]
    return found + _twice(f"{declared.name}: figure of", named)


def _twice(kind: str, given: list[str]) -> list[str]:
    """Return what is there twice."""
    return [f"{kind} {name!r} is there twice" for name in sorted({name for name in given if given.count(name) > 1})]
