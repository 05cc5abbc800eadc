"""What a document published, as data: its figures, under which conditions, and the comparisons that measure them."""

from __future__ import annotations

import math
from typing import Annotated, Literal

import msgspec

from bakeoff.spec.scenario import Scenario

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


class PublishedRow(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
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
    rows: tuple[PublishedRow, ...]
    comparisons: tuple[Declared, ...]
    claims: tuple[Claim, ...] = ()

    def full_title(self) -> str:
        """Name document, table and what it is about."""
        name = f"{self.document.name}, {self.document.number}: {self.title}"
        return f"{name[0].upper()}{name[1:]}"

    def row(self, name: str) -> PublishedRow:
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
