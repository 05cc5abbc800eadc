"""What one step has to compute and to move, and how fast a machine was seen to compute and to move."""

from __future__ import annotations

import msgspec


class Work(msgspec.Struct, frozen=True, kw_only=True):
    """The work of one step on one batch, counted on the model, whatever framework does it.

    A multiply-accumulate (MAC) is one multiplication with the addition of its product. Counted are linear layers,
    convolutions, products of matrices and attention; all else is left out.
    """

    macs: int
    """As the formulas are written: the forward pass and, in training, the gradients of weights that are trained and of
    those inputs that depend on one."""
    least_macs: int
    """What is left of these where convolutions are computed by the fastest algorithm that there can be: see
    `bakeoff.workloads.work`."""
    parameters: int
    """Values of linear layers and convolutions, which a step reads as a whole."""
    frozen: int = 0
    """Of these, those that are not trained, which a step reads and never writes."""
    state: int = 0
    """Values that the optimiser keeps for the others."""
    batch_bytes: int = 0
    """Of inputs and, in training, of targets."""
    trains: bool
    """Whether a step writes parameters and state, too."""


class Timing(msgspec.Struct, frozen=True, kw_only=True):
    """Blocks of one operation, each waited for once, at its end."""

    size: int
    """Of a product: rows and columns of both matrices. Of a sum: values of each array."""
    count: int
    """Operations in each block."""
    blocks_ns: list[int]


class PeakReading(msgspec.Struct, frozen=True, kw_only=True):
    """How fast one framework computed plain products of matrices and sums of long arrays, in a process of its own."""

    products: list[Timing] = []
    """Products of square matrices in the precision and by the threads of the contender, of growing sizes."""
    sums: Timing | None = None
    """An array of float32 added onto another in its place: two values read and one written for each."""
    cache_bytes: int | None = None
    """The last-level cache of the processor; None: unknown, or on another device."""
    foreign_share: float | None = None
    """Processor time of other processes meanwhile, as a share of all; None is unknown."""
    reason: str = ""
    """Why a part is missing, in a sentence."""
