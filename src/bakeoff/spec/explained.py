"""What a step's time goes to: kinds of operations, phases and layers, as a trial that is traced leaves them."""

from __future__ import annotations

from typing import Literal

import msgspec

OperationKind = Literal[
    "convolution",
    "matrix product",
    "recurrent",
    "attention",
    "normalisation",
    "element-wise",
    "reduction",
    "data movement",
    "optimiser",
    "communication",
    "device copy",
    "input wait",
    "host dispatch",
    "idle",
    "other",
]
"""What an operation does, in words that all frameworks share.

reduction      sums, means, maxima, pooling
data movement  copies, transpositions, casts, gathers: what computes nothing
optimiser      everything within the optimiser's update
communication  collectives, and waiting for other devices within one; the communication overhead of several devices is
               another quantity, of plain steps (judge/scaling.py)
device copy    between host and device
input wait     waiting for the next batch
host dispatch  the host was busy with the framework's own code, and no operation ran
idle           nothing ran
other          an operation that no rule knows
"""

Phase = Literal["", "forward", "backward", "optimiser"]

Level = Literal["layers", "kinds", "none"]
"""How far a framework's profile tells where time goes: to layers of the model, to kinds of operations alone, not."""


class Share(msgspec.Struct, frozen=True, kw_only=True):
    """One kind of operation in one phase of one layer: which share of a step's time it takes."""

    kind: OperationKind
    phase: Phase = ""
    layer: str = ""
    """Canonical path of the layer in the model: "stages.2.first"; empty where there is none, or none was found."""
    function: str = ""
    """Function of the vocabulary that it is within, where it is within no layer's own: "attention"."""
    share: float
    """Of the typical steps' time, 0 to 1; the shares of all rows have the sum 1."""
    launches: float = 0.0
    """Operations that were started in a step."""
    inferred: float = 0.0
    """The part of `share` whose layer or phase follows from a rule, because the profile itself does not name it."""
    mixed: float = 0.0
    """The part of `share` of operations that a compiler has fused from several kinds, phases or layers."""


NodeClass = Literal["expensive", "cheap", "no op"]
"""What a node of a graph costs, in the classes of Dai et al. 2022, table 6.

expensive  convolutions, products of matrices, FFT, recurrent layers
cheap      sums, products by element and all else that computes or moves numbers
no op      constants, assignments, identities, shapes and the like, whose time can be ignored
"""


class GraphStage(msgspec.Struct, frozen=True, kw_only=True):
    """A program's graph before a compiler's passes, or after some of them."""

    passes: tuple[str, ...] = ()
    """What it went through, in order; empty: the graph as it was before."""
    nodes: dict[NodeClass, int]
    """How many it has, by class."""
    removed: dict[NodeClass, int] = {}
    """Nodes of the graph before that are no longer there, by what they were; empty where nodes cannot be followed."""


class Traced(msgspec.Struct, frozen=True, kw_only=True):
    """What one traced trial has seen."""

    level: Level
    reason: str = ""
    """Why the level is no better than that; empty at "layers"."""
    plain_ns: list[list[int]] = []
    """Steps without profiler, each waited for, by block; blocks alternate with the profiled ones (ABBA)."""
    profiled_ns: list[list[int]] = []
    """Steps under the profiler, each waited for, by block, timed as the plain ones are."""
    steps: int = 0
    """Steps in the trace that was read."""
    kept: int = 0
    """Of them, the middle half by length: the typical ones, which `shares` are about."""
    kept_ns: float = 0.0
    """Mean length of a kept step on the trace's own clock."""
    shares: list[Share] = []
    events_per_step: float = 0.0
    notes: list[str] = []
    """What a reader has to know of this framework's profile, in sentences."""
    facts: dict[str, float | int | str] = {}
    """About the program: "instructions_before", "instructions_after", "fusions", "graphs", "graph_breaks",
    "fused_kernels", "launches", "command_buffers", "program_sha256"; only what the framework tells."""
    stages: list[GraphStage] = []
    """The program's graph as its compiler has it before and after passes; empty where the framework tells none."""
    files: list[str] = []
    """Raw traces in the trial's folder, for Perfetto or TensorBoard."""
