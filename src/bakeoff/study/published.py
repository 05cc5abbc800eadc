"""What a document published, as data: its figures, under which conditions, and the comparisons that measure them.

A study of this kind is one TOML file in `shipped/`, or a user's own. Its rows are the document's, by the document's
names; each row says which contender stands for it, and which one on a machine without a GPU.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

import msgspec

from bakeoff.spec.contender import parse_contender
from bakeoff.spec.errors import UnknownNameError, UsageError
from bakeoff.spec.published import Declared, PublishedStudy

SHIPPED = Path(__file__).with_name("shipped")


def names() -> list[str]:
    """Return the names of the shipped studies."""
    return sorted(path.stem for path in SHIPPED.glob("*.toml"))


def load(name: str) -> PublishedStudy:
    """Read a shipped study by its name, or a user's own by the path of its file, which ends in .toml."""
    path = Path(name) if name.endswith(".toml") else SHIPPED / f"{name}.toml"
    if path.parent == SHIPPED and not path.exists():
        kind = "study"
        raise UnknownNameError(kind, name, names())
    try:
        study = msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), PublishedStudy)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        msg = f"{path} cannot be used as a study: {error}"
        raise UsageError(msg) from error
    if problems := _problems(study):
        msg = f"{path} cannot be used as a study: {'; '.join(problems)}"
        raise UsageError(msg)
    return study


def _problems(study: PublishedStudy) -> list[str]:
    """Return what does not fit together."""
    found = _twice("machine", [machine.name for machine in study.machines])
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
    known = {declared.name for declared in study.comparisons}
    rows = {row.name for row in study.rows}
    for claim in study.claims:
        strange = sorted({*claim.comparisons} - known) + sorted({claim.first, claim.second} - rows)
        found += [f"claim {claim.text!r} names {name!r}, which is not there" for name in strange]
    return found


def _of_comparison(study: PublishedStudy, declared: Declared) -> list[str]:
    """Return what does not fit together within one comparison."""
    rows, machines = {row.name for row in study.rows}, {machine.name for machine in study.machines}
    found = []
    if study.unit == "s" and declared.run_steps() is None:
        found.append(f"{declared.name} has figures in s and needs steps, or epochs and samples")
    for figure in declared.figures:
        where = f"{declared.name}, {figure.row}"
        if figure.row not in rows:
            found.append(f"{where}: this row is not there")
        if not (figure.machine in machines if figure.machine else len(machines) == 1):
            found.append(f"{where}: machine {figure.machine!r} is not there")
    return found + _twice(f"{declared.name}: figure of", [f"{one.row} {one.machine}" for one in declared.figures])


def _twice(kind: str, given: list[str]) -> list[str]:
    """Return what is there twice."""
    return [f"{kind} {name!r} is there twice" for name in sorted({name for name in given if given.count(name) > 1})]
