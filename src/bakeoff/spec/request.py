"""What a user asks of a comparison, from the command line or from Python."""

from __future__ import annotations

import msgspec

from bakeoff.spec.comparison import RULES, Procedure
from bakeoff.spec.trial import FIXED


class Request(Procedure, frozen=True, kw_only=True):
    """A comparison as asked for, before anything is looked up: every field of Procedure, and what is compared.

    Where a field is None, its text names the default.
    """

    rules: int = RULES
    workload: str
    """The name of a workload, or the path of the user's own file."""
    contenders: tuple[str, ...] = ()
    """Contenders as the user writes them; empty: every listed framework that is available."""
    scenario: str | None = None
    """None: the workload's first scenario."""
    batch_size: int | None = None
    """None: the batch size that the workload's size declares."""
    size: str = "full"
    device: str | None = None
    """None: each framework's default. A contender's own option wins."""
    gpu: str | None = None
    """The GPU of work on CUDA, by its index in NVML's order or its UUID; None: the first that CUDA_VISIBLE_DEVICES
    shows, else the one with the most free memory."""
    threads: int | None = None
    """None: every usable processor. A contender's own option wins."""
    options: dict[str, str] = msgspec.field(default_factory=dict)
    """Options of all contenders alike. A contender's own option wins."""
    tiers: tuple[str, ...] = ()
    """Every contender races in each of these tiers; empty: matched. A contender's own option `tier` wins."""
    data: str | None = None
    """None: the workload's first data source."""
    padding: str = FIXED
    """How sequences of different lengths become batches: fixed, longest, buckets or buckets:N."""
    max_rounds: int | None = None
    """None: 20, or no limit for until-sure."""
    self_test: bool = True
    """Test every timer that was not yet tested on this machine with these versions and options, and measure its peaks
    where they are not known."""
    inject: dict[str, str] = msgspec.field(default_factory=dict)
    """Options that frameworks get in place of those that they are judged by: a fault that a certificate has to refuse.
    Of `verify` alone."""
    results: str = "results"
    resume: bool = False
    """Continue the last comparison in `results` that asked for the same."""
    command: str = ""

    def procedure(self) -> Procedure:
        """Return the fields that are Procedure's, as they were asked for."""
        return Procedure(**{name: getattr(self, name) for name in Procedure.__struct_fields__})
