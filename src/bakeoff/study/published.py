"""What a document published, as data: its figures, under which conditions, and the comparisons that measure them.

A study of this kind is one TOML file in `shipped/`, or a user's own. Its rows are the document's, by the document's
names; each row says which contender stands for it, and which one on a machine without a GPU.
"""

from __future__ import annotations

import math
import tomllib
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from bakeoff.spec.contender import parse_contender
from bakeoff.spec.errors import UnknownNameError, UsageError
from bakeoff.spec.workload import Scenario

SHIPPED = Path(__file__).with_name("shipped")

Unit = Literal["s", "images/s", "steps/s"]
"""Of a document's figures. s: the time of a whole run, so a comparison needs its steps or epochs."""


Count = Annotated[int, msgspec.Meta(ge=1)]
Positive = Annotated[float, msgspec.Meta(gt=0)]


class Document(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where the figures stand."""

    name: str
    """As sentences call it: "Dai et al. 2022"."""
    citation: str
    number: str
    """Of the table or figure: "table 2"."""


class Machine(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One that the document measured on; what it does not state is not there."""

    name: str
    hardware: str


class Row(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One line or bar of the document."""

    name: str
    """The document's own."""
    contender: str
    """That stands for it on hardware of the document's kind."""
    device: Literal["gpu", "cpu", "not stated"] = "gpu"
    """On which the document ran it."""
    on_cpu: str = ""
    """The contender that stands for it on a machine without a GPU; empty: none can."""
    missing: str = ""
    """Why none can."""
    version: str = ""
    """Of the framework, where the document states it."""


class Figure(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the document gives for one row on one machine."""

    row: str
    values: Annotated[tuple[Positive, ...], msgspec.Meta(min_length=1)]
    """Every repeat, in the study's unit."""
    machine: str = ""
    """Empty: the only one."""
    disturbed: tuple[Positive, ...] = ()
    """Repeats that ran beside something else, as the document says: told, never used."""
    memory_gb: dict[str, Positive] = {}
    """By the document's name for it."""


class Scale(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What of a comparison is smaller in its scaled variant, and how long that goes on."""

    batch_size: Count | None = None
    size: str | None = None
    steps: Count | None = None
    """Of a whole run, where the document's figures are of one."""
    rounds: Count
    """At most; see Procedure."""


class Declared(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One comparison as the document ran it, its scaled variant, and the figures that it is held against."""

    name: str
    workload: str
    scenario: Scenario
    batch_size: Count
    steps: Count | None = None
    epochs: Count | None = None
    samples: Count | None = None
    """In an epoch."""
    scaled: Scale | None = None
    """None: it is left out there."""
    figures: tuple[Figure, ...] = ()

    def run_steps(self) -> int | None:
        """Give the steps of the published run; None where the unit does not need them."""
        if self.epochs is not None and self.samples is not None:
            # The last batch of an epoch may be smaller, and is a step all the same.
            return self.epochs * math.ceil(self.samples / self.batch_size)
        return self.steps


class Claim(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A sentence of the document about the speed of one row over another's, in percent beyond equal."""

    text: str
    first: str
    second: str
    comparisons: tuple[str, ...]
    kind: Literal["mean", "most", "at-least", "within", "mean-difference"]
    """within: no comparison differs by more. mean-difference: the mean of how far they are apart, whoever leads."""
    percent: float


class PublishedStudy(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One table or figure of one document, and what measures it here."""

    id: str
    title: str
    document: Document
    unit: Unit
    method: str
    """How the document measured, in a sentence."""
    compile_time: Literal["included", "excluded", "not stated"]
    not_stated: tuple[str, ...] = ()
    """What the document leaves open, and what is taken here in its place."""
    notes: tuple[str, ...] = ()
    minutes: Positive
    """That the scaled variant takes on two calm cores, the first time, with the self-tests of its timers."""
    chart: bool = False
    """The figures are drawn as bars: the document's is a figure, not a table."""
    machines: tuple[Machine, ...]
    rows: tuple[Row, ...]
    comparisons: tuple[Declared, ...]
    claims: tuple[Claim, ...] = ()

    def full_title(self) -> str:
        """Name document, table and what it is about."""
        name = f"{self.document.name}, {self.document.number}: {self.title}"
        return f"{name[0].upper()}{name[1:]}"

    def row(self, name: str) -> Row:
        """Give a row by its name."""
        return next(row for row in self.rows if row.name == name)


class Reproduces(msgspec.Struct, frozen=True, kw_only=True):
    """What a study here holds itself against, and under which conditions."""

    published: PublishedStudy
    scaled: bool
    """At the smaller sizes that the study declares beside the document's."""
    device: str

    @property
    def kind(self) -> Literal["gpu", "cpu"]:
        """Give the kind of the device."""
        return "cpu" if self.device == "cpu" else "gpu"


def step_s(value: float, unit: Unit, declared: Declared) -> float:
    """Turn a published figure into seconds for one step of the published batch: the one conversion of all studies."""
    if unit == "images/s":
        return declared.batch_size / value
    if unit == "steps/s":
        return 1.0 / value
    steps = declared.run_steps()
    assert steps is not None
    return value / steps


def names() -> list[str]:
    """Give the names of the shipped studies."""
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
    """Say what does not fit together."""
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
    """Say what does not fit together within one comparison."""
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
    """Say what is there twice."""
    return [f"{kind} {name!r} is there twice" for name in sorted({name for name in given if given.count(name) > 1})]
