"""What a document published, as data: its figures, under which conditions, and the comparisons that measure them."""

from __future__ import annotations

import math
from typing import Annotated, Literal, get_args

import msgspec

from bakeoff.spec.parts import PartOf, PublishedPart
from bakeoff.spec.scenario import Scenario
from bakeoff.spec.ticks import Ticks, TickTable
from bakeoff.spec.trial import FIXED

Unit = Literal[
    "s", "images/s", "sequences/s", "steps/s", "s a step", "ms a step", "tokens/s", "mels/s", "s in all", "times"
]
"""Unit of a document's figures.

s                      the time of a whole run, so that a comparison has to declare steps or epochs
images/s, sequences/s  samples a second
tokens/s, mels/s       parts of samples a second; how many a sample has is not stated: ratios alone follow from it
s in all               the time of a run whose steps are not stated: likewise
times                  a time as so many times that of another row, of which the document gives no number: likewise
"""

RELATIVE = frozenset[Unit]({"tokens/s", "mels/s", "s in all", "times"})
"""Units of which no time of a step follows."""

MemoryKind = Literal["process after its import", "process at its peak", "GPU at its peak", "not kept"]
"""What of a process's memory stands beside a document's.

process after its import  resident, before the first step
process at its peak       resident, from the first step on
GPU at its peak           of the whole process, as NVIDIA's driver tells it from outside
not kept                  bakeoff's records hold nothing like it
"""

Source = Literal["document", "others"]
"""Where a study's figures are from.

document  a document that asked the question which bakeoff answers
others    results that others published, to see whether one's own machine lands where theirs did
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


class Machine(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A machine that the document measured on; what the document does not state is left out."""

    name: str
    hardware: str
    within_a100: str = ""
    """By which published figures its GPU is no faster than an A100, which so takes no longer for a step; empty: by
    none, and estimates take no step from it."""


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

    def printed(self) -> str:
        """Return the figure as the document has it, every repeat: "190, 162, 206*", the last one disturbed."""
        return ", ".join([*(f"{one:.10g}" for one in self.values), *(f"{one:.10g}*" for one in self.disturbed)])


class ScaledVariant(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
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
    shown: str = ""
    """The document's own name for it, where that is another: "ResNet-50"."""
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
    rows: tuple[str, ...] = ()
    """The study's rows that race in it; empty: all of them."""
    scaled: ScaledVariant | None = None
    """None: the scaled variant of the study leaves this comparison out."""
    figures: tuple[Figure, ...] = ()
    parts: tuple[PublishedPart, ...] = ()
    """Its figures that are no times, which traces are held against."""
    ticks: tuple[Ticks, ...] = ()
    """Its lines of the table of ticks."""
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

    def has(self, row: str) -> bool:
        """Return whether a row races in it."""
        return not self.rows or row in self.rows


class Absent(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the document measured and bakeoff cannot, with its figures, so that the document's table is whole."""

    name: str
    reason: str
    unit: str = ""
    figures: Annotated[dict[str, Positive], msgspec.Meta(min_length=1)]
    """By what the document calls each of them."""

    def printed(self) -> str:
        """Return its figures with their names and their unit."""
        return f"{'; '.join(f'{name}: {one:.10g}' for name, one in self.figures.items())} {self.unit}".strip()


ClaimKind = Literal[
    "more",
    "mean",
    "most",
    "at-least",
    "within",
    "mostly-within",
    "mean-difference",
    "less-time",
    "grows",
    "each",
    "about",
    "least",
]
"""How a claim's comparisons become one quantity, and on which side of what it has to lie.

more             in each comparison the first has more of it than the second, and this more than those that follow
mean             the first has more of it in the mean
most             in no comparison does the first have more beyond the second than these percent
at-least         in one comparison it has as much beyond it
within           in no comparison do they differ by more
mostly-within    in more than half of the comparisons they do not
mean-difference  the mean of the absolute differences is no more
less-time        the share of the second's time that the first saves, in the mean
grows            what the first has beyond the second grows with the batch: a straight line through it rises, over the
                 logarithm of the batch size

Of shares, which are each row's own, there are `most` (without percent: in each it is less than 0, as where nodes are
added) and three more:

each   in each comparison it is at least these percent
about  in the mean it is these percent, give or take as many of the whole as are taken as little here
least  in the first comparison it is less than in each other one
"""

OF_SHARES_ALONE: tuple[ClaimKind, ...] = ("each", "about", "least")
"""Kinds of claims that are of shares and of nothing else."""

Quantity = Literal["speed", "run", "memory", "overhead", "ticks", PartOf]
"""What a claim is about: steps a second, whole runs a second with their first step, the peak of a process's memory,
each row's communication overhead, what computed the parts of a model, line by line of the document's table of ticks, or
the share of a step or a graph that each row's traces tell."""


class Claim(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A sentence of the document, and what decides it here: one row against another, in some comparisons."""

    text: str
    where: str = ""
    """Where it stands: "insight 2", "section 4.2"."""
    first: str = ""
    second: str = ""
    """Empty where the first is held against nothing: an overhead is a row's own."""
    then: tuple[str, ...] = ()
    """Rows behind the second: of `more`, each has less than the one before; of `within`, each two of all are held
    against each other; of overhead and of shares, it is about each."""
    comparisons: tuple[str, ...] = ()
    kind: ClaimKind = "more"
    of: Quantity = "speed"
    percent: Annotated[float, msgspec.Meta(ge=0)] = 0.0
    """What the document says, beyond equal; 0 where it gives no number."""
    taken_percent: Annotated[float, msgspec.Meta(ge=0)] = 0.0
    """What "similar" or "little" is taken as here, where the document gives no number for it; of `about`, how far off
    is still that."""
    epoch: Epoch | None = None
    """Of whole runs: it is about this epoch's time; None: about the time of a step."""
    unmeasured: str = ""
    """Why nothing that bakeoff measures decides it; the claim is told all the same, and names no rows."""

    @property
    def rows(self) -> tuple[str, ...]:
        """Return the rows that it is about."""
        return tuple(row for row in (self.first, self.second, *self.then) if row)

    @property
    def is_of_shares(self) -> bool:
        """Return whether it is about shares of a step or a graph, as traces tell them."""
        return self.of in get_args(PartOf)

    @property
    def is_of_rows(self) -> bool:
        """Return whether it is about each row by itself, held against no other."""
        return self.of == "overhead" or self.is_of_shares


class DrawnPanel(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One part of a document's figure: "(a) TensorFlow"."""

    title: str
    rows: Annotated[tuple[str, ...], msgspec.Meta(min_length=1)]


class BarLayout(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a document draws its figure: bars in groups."""

    groups: Literal["batch", "comparison"] = "batch"
    """What a group of bars is. batch: a size of the batch, with a panel for each workload."""
    relative: bool = False
    """Speeds over that of the panel's first row, as in a figure of normalized performance."""
    panels: tuple[DrawnPanel, ...] = ()
    """Its parts, where they are of different rows; empty: every row in each."""


class PublishedStudy(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One table or figure of one document, and what measures it here."""

    id: str
    title: str
    document: Document
    source: Source = "document"
    unit: Unit
    method: str
    """How the document measured, in a sentence."""
    compile_time: Literal["included", "excluded", "not stated"]
    not_stated: tuple[str, ...] = ()
    """What the document does not state, and what is assumed here instead."""
    notes: tuple[str, ...] = ()
    minutes: Positive
    """How long the scaled variant takes on two calm cores the first time, including the timers' self-tests."""
    layout: Literal["", "rows", "comparisons", "machines"] = ""
    """What a line of the document's table is; empty: by how many machines and comparisons there are."""
    difference: tuple[str, ...] = ()
    """Two rows whose difference has a column of its own in the document, in percent."""
    parts: tuple[PartOf, ...] = ()
    """What traces have to tell, in the order of its tables: every contender is traced behind the race. Empty: it is all
    about times."""
    chart: bool = False
    """Draw the figures as bars, because the document shows a figure and not a table."""
    drawing: BarLayout = BarLayout()
    """How, where `chart` is true."""
    machines: tuple[Machine, ...]
    rows: tuple[PublishedRow, ...]
    comparisons: tuple[Declared, ...]
    claims: tuple[Claim, ...] = ()
    absent: tuple[Absent, ...] = ()
    ticks: TickTable | None = None
    """What its models can use, where the document has a table of that."""
    memory: dict[str, MemoryKind] = {}
    """Beside the document's memory, by its name for what it measured: what stands for it here; what is not named is
    the process at its peak."""

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

    def rows_of(self, declared: Declared) -> list[PublishedRow]:
        """Return the rows that race in a comparison."""
        return [row for row in self.rows if declared.has(row.name)]

    def is_of_parts(self) -> bool:
        """Return whether its figures are all of what steps or graphs consist of, and none is a time."""
        return bool(self.parts) and not any(declared.figures for declared in self.comparisons)

    def is_silent(self) -> bool:
        """Return whether the document says what is to be compared, and publishes nothing of it."""
        return not (self.claims or self.parts or self.ticks or any(declared.figures for declared in self.comparisons))


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

    The batch is a device's. Of a unit in RELATIVE the result is no time, but in proportion to one.
    """
    if unit in ("images/s", "sequences/s"):
        return devices * declared.batch_size / value
    if unit == "ms a step":
        return value / 1e3
    if unit in ("s a step", "s in all", "times"):
        return value
    if unit in ("steps/s", "tokens/s", "mels/s"):
        return 1.0 / value
    steps = declared.run_steps()
    assert steps is not None
    return value / steps
