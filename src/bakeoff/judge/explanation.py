"""Why one contender is slower than another: what a gap consists of, what is behind it, and what a race said of that."""

from __future__ import annotations

from typing import Literal, NamedTuple

import msgspec

from bakeoff.judge.outcome import Outcome
from bakeoff.spec.explained import GraphStage, Level, OperationKind, Phase
from bakeoff.spec.verdict import Interval


class RowKey(NamedTuple):
    """What a row is about: a layer may be called as a kind of operation is."""

    kind: OperationKind | None
    phase: Phase
    layer: str


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One part of a gap: what two contenders spend on the same thing in a step, as shares of their raced step times."""

    kind: OperationKind | None = None
    """None in a row that is about a layer as a whole."""
    phase: Phase = ""
    layer: str = ""
    first_s: float
    second_s: float
    difference_s: Interval | None = None
    """Second minus first, over rounds; None with too few rounds."""
    told_apart: bool = False
    """Whether the interval, corrected for the number of rows, leaves out 0."""
    first_launches: float = 0.0
    second_launches: float = 0.0
    inferred_share: float = 0.0
    """Of both contenders' time in this row, the share that was placed by a rule."""

    @property
    def place(self) -> RowKey:
        """Return what it is about."""
        return RowKey(self.kind, self.phase, self.layer)

    @property
    def gap_s(self) -> float:
        """Return how much more the second spends on it than the first."""
        return self.second_s - self.first_s


class Gap(msgspec.Struct, frozen=True, kw_only=True):
    """Two contenders, the faster first, and the parts of their difference."""

    first: str
    second: str
    """Labels."""
    first_s: float
    second_s: float
    """Raced step times."""
    by_kind: list[Row]
    """By kind and phase; the rows' differences have the sum second_s - first_s."""
    by_layer: list[Row] = []
    """By layer and phase, with the same sum; empty where one of them tells no layers."""

    @property
    def gap_s(self) -> float:
        """Return how much longer the second's step is."""
        return self.second_s - self.first_s


class MeanOverRounds(msgspec.Struct, frozen=True, kw_only=True):
    """Something of each step, over rounds of traces."""

    mean: float
    interval: Interval | None = None
    """Of 95 %; None with too few rounds."""


class ContenderProfile(msgspec.Struct, frozen=True, kw_only=True):
    """What the traces of one contender tell, over its rounds."""

    label: str
    level: Level
    reason: str = ""
    rounds: int
    step_s: float
    """Raced."""
    profiled_ratio: float | None = None
    """A step under the profiler against a plain one, each waited for."""
    inferred_share: float = 0.0
    mixed_share: float = 0.0
    unattributed_share: float = 0.0
    """Of the step: host dispatch, idle, and operations that no rule knows or no layer was found for."""
    compute: MeanOverRounds | None = None
    """Share of the step in which operations ran, whatever they did but copy between host and device; None where there
    is no profile."""
    copies: MeanOverRounds | None = None
    """Share of the step in which the device was copied to or from, and nothing else ran."""
    launches: MeanOverRounds | None = None
    """Operations that are started in a step: on a GPU its kernels and copies."""
    events_per_step: float = 0.0
    stages: list[GraphStage] = []
    """What the framework's compiler made of the step's graph."""
    notes: list[str] = []
    facts: dict[str, float | int | str] = {}
    files: list[str] = []
    """Paths of raw traces."""


class Cause(msgspec.Struct, frozen=True, kw_only=True):
    """Something that is no operation and costs a contender time, seen in counters that records have."""

    label: str
    name: str
    """Denormals, page faults, waiting threads, spinning threads, recompilation, host-bound steps, memory bandwidth,
    or clocks."""
    said: str
    """In a sentence with its numbers."""
    numbers: dict[str, float] = {}
    against: list[str] = []
    """Faster contenders that lack it, or have it by half: what both have explains no gap."""


class Unjudged(msgspec.Struct, frozen=True, kw_only=True):
    """Causes that were not looked for in one contender."""

    label: str
    names: list[str]
    """As those of causes."""
    reason: str


Status = Literal["hypothesis", "confirmed", "refuted"]
"""hypothesis  no switch turns it, no race was run, or the race does not tell
confirmed   the switch surely saves time, as much as its rows explain, and the row shrinks in a second profile
refuted     it surely saves less than half of what was predicted, or not by this row"""


class Suspect(msgspec.Struct, frozen=True, kw_only=True):
    """A row, or a cause, with the switch that should make it smaller, and what the race with that switch said."""

    first: str
    second: str
    """Labels of the gap."""
    label: str
    """The contender whose switch is turned."""
    row: Row | None = None
    cause: str = ""
    switch: str = ""
    """OPTION=VALUE; empty where nothing turns it."""
    is_control: bool = False
    """A switch that should not matter for the row: the control."""
    at_most_s: float = 0.0
    """How much of the step the switch can save, if the row alone changes: the row's difference."""
    saved_s: Interval | None = None
    """How much it has saved, raced in the same rounds."""
    ratio: Interval | None = None
    """Second against first with the switch turned."""
    ratio_before: float | None = None
    """Second against first as they are, in the same race: levels of two races differ."""
    row_after_s: float | None = None
    """The row of this contender in the second profile."""
    row_before_s: float | None = None
    """The row in the second profile with nothing turned."""
    status: Status = "hypothesis"
    reason: str = ""
    """Why it has this status, in a sentence."""
    comparison: str = ""
    """Folder of the race that says so."""


class Explanation(msgspec.Struct, frozen=True, kw_only=True):
    """A comparison, explained."""

    outcome: Outcome
    profiles: list[ContenderProfile]
    gaps: list[Gap]
    """Every pair of ranked contenders with a profile, the faster first."""
    causes: list[Cause] = []
    unjudged: list[Unjudged] = []
    suspects: list[Suspect] = []
