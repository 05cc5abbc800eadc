"""What a document published, as data: its figures, under which conditions, and the comparisons that measure them."""

from __future__ import annotations

import math
from typing import Annotated, Literal

import msgspec

from bakeoff.spec.scenario import Scenario
from bakeoff.spec.trial import FIXED

Unit = Literal["s", "images/s", "steps/s", "ms a step", "times"]
"""Unit of a document's figures.

s      the time of a whole run, so that a comparison has to declare steps or epochs
times  a time as so many times that of another row, of which the document gives no number: ratios alone follow from it
"""


Count = Annotated[int, msgspec.Meta(ge=1)]


Positive = Annotated[float, msgspec.Meta(gt=0)]


Epoch = Literal[1, 2]
"""Of a run that is told epoch by epoch: the first one, which traces, compiles and searches, and the second."""

EPOCHS = 2
"""As many are run where a comparison's figures tell them apart."""


class Document(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The document that holds the figures."""

    name: str
    """The name that sentences use: "Dai et al. 2022"."""
    citation: str
    number: str
    """The table or figure: "table 2"."""


class Machine(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A machine that the document measured on; what the document does not state is left out."""

    name: str
    hardware: str


class PublishedRow(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One line or bar of the document."""

    name: str
    """The document's name for it."""
    contender: str
    """The contender that stands for it on hardware of the document's kind."""
    device: Literal["gpu", "cpu", "not stated"] = "gpu"
    """The device that the document ran it on."""
    devices: Count = 1
    """On how many of them; its contenders say the same."""
    on_cpu: str = ""
    """The contender that stands for it on a machine without a GPU; empty: no contender can."""
    missing: str = ""
    """Why no contender can."""
    version: str = ""
    """The framework's version, where the document states it."""


class Figure(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the document gives for one row on one machine."""

    row: str
    values: Annotated[tuple[Positive, ...], msgspec.Meta(min_length=1)]
    """Every repeat, in the unit of the comparison, or else of the study."""
    machine: str = ""
    """The machine's name; empty where the study has a single machine."""
    epoch: Epoch | None = None
    """Where epochs are told apart, the one that it is the time of; None: the document has one figure for both."""
    disturbed: tuple[Positive, ...] = ()
    """Repeats that the document says ran beside other work: shown, never used."""
    memory_gb: dict[str, Positive] = {}
    """Memory, by the document's name for what it measured."""
    overhead_percent: Positive | None = None
    """Communication overhead as printed, where the document gives one: 1 - (steps a second on its devices) / (steps a
    second on one)."""
    accuracy: Annotated[float, msgspec.Meta(ge=0, le=1)] | None = None
    """Share of right labels at the end, 0 to 1; None where the document gives none."""


class Scale(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How much smaller a comparison is in its scaled variant, and how many rounds that takes."""

    batch_size: Count | None = None
    size: str | None = None
    steps: Count | None = None
    """Steps of a whole run, where the document's figures are times of a whole run."""
    rounds: Count
    """The most rounds; see `Procedure.max_rounds`."""


class Declared(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One comparison as the document ran it, its scaled variant, and the figures that it is held against."""

    name: str
    workload: str
    scenario: Scenario
    size: str = "full"
    """Of the workload, where the document's run is not its size `full`."""
    batch_size: Count
    steps: Count | None = None
    epochs: Count | None = None
    samples: Count | None = None
    """Samples in an epoch."""
    padding: str = FIXED
    """How sequences of different lengths become batches, as `Request.padding`."""
    epochs_apart: bool = False
    """Its figures are times of one epoch, which `epochs` is then: the first and the second of a run, each by itself."""
    unit: Unit | None = None
    """Of its figures, where it is another than the study's."""
    scaled: Scale | None = None
    """None: the scaled variant of the study leaves this comparison out."""
    figures: tuple[Figure, ...] = ()
    contenders: dict[str, str] = {}
    """By row, the contender that stands for it here alone, on whatever device, in place of the row's own."""
    other: str = ""
    """What else is different here, whatever the sizes, so that no ranking can be held against the document's: "another
    network"."""

    def run_steps(self) -> int | None:
        """Return the number of steps of the published run; None where neither steps nor epochs are declared."""
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
    kind: Literal["mean", "most", "at-least", "within", "mean-difference", "less-time"]
    """within: no comparison differs by more. mean-difference: the mean of the absolute differences. less-time: the
    share of the second's time that the first saves, in the mean."""
    percent: float
    epoch: Epoch | None = None
    """Of whole runs: it is about this epoch's time; None: about the time of a step."""


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
    """What the document does not state, and what is assumed here instead."""
    notes: tuple[str, ...] = ()
    minutes: Positive
    """How long the scaled variant takes on two calm cores the first time, including the timers' self-tests."""
    chart: bool = False
    """Draw the figures as bars, because the document shows a figure and not a table."""
    machines: tuple[Machine, ...]
    rows: tuple[PublishedRow, ...]
    comparisons: tuple[Declared, ...]
    claims: tuple[Claim, ...] = ()

    def full_title(self) -> str:
        """Return the document, its table or figure, and the study's title in one line."""
        name = f"{self.document.name}, {self.document.number}: {self.title}"
        return f"{name[0].upper()}{name[1:]}"

    def unit_of(self, declared: Declared) -> Unit:
        """Return the unit of a comparison's figures."""
        return declared.unit or self.unit

    def row(self, name: str) -> PublishedRow:
        """Return the row of this name."""
        return next(row for row in self.rows if row.name == name)


class Reproduces(msgspec.Struct, frozen=True, kw_only=True):
    """The published study that a study here is held against, and the conditions here."""

    published: PublishedStudy
    scaled: bool
    """True: the comparisons run at the smaller sizes that the study declares beside the document's."""
    device: str

    @property
    def kind(self) -> Literal["gpu", "cpu"]:
        """Return whether the device is a processor or a GPU."""
        return "cpu" if self.device == "cpu" else "gpu"


def step_s(value: float, unit: Unit, declared: Declared, devices: int = 1) -> float:
    """Return a published figure as seconds for one step of the published batch; all studies convert by this.

    The batch is a device's. Of `times` the result is no time, but in proportion to one.
    """
    if unit == "images/s":
        return devices * declared.batch_size / value
    if unit == "ms a step":
        return value / 1e3
    if unit == "times":
        return value
    if unit == "steps/s":
        return 1.0 / value
    steps = declared.run_steps()
    assert steps is not None
    return value / steps
