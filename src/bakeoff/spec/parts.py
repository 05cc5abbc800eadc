"""What a document says that a step or its graph consists of: figures that are no times."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

PartOf = Literal[
    "compute",
    "copies",
    "launches",
    "removed",
    "pruning",
    "constant folding",
    "arithmetic",
    "dependency",
    "arithmetic and dependency",
    "expensive",
    "cheap",
    "no op",
]
"""What a document gives of a step, or of its graph, that is no time.

compute                 share of the step in which the device computes
copies                  share of the step in which memory is copied between host and device
launches                kernels that a step starts
removed                 share of a graph's nodes that all passes together take away
pruning, ...            share that one pass takes away, in the order in which they run
expensive, cheap, no op  of the nodes that are taken away, the share of one class
"""

OF_STEPS = frozenset[PartOf]({"compute", "copies", "launches"})
"""Parts of a step, which vary from round to round; all others are counts of a graph, the same in each."""


class PublishedPart(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the document says a step or its graph consists of."""

    of: PartOf
    value: Annotated[float, msgspec.Meta(ge=0)]
    """In percent; of launches their number."""
    row: str = ""
    """Empty: the document does not say of which row."""
    kind: Literal["exact", "about", "at-most", "at-least"] = "exact"

    def printed(self) -> str:
        """Return the figure as the document has it: "at most 0.28 %"."""
        words = {"exact": "", "about": "about ", "at-most": "at most ", "at-least": "at least "}[self.kind]
        return f"{words}{self.value:,.0f}" if self.of == "launches" else f"{words}{self.value:g} %"
