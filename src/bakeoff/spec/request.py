"""What a user asks of a comparison, from the command line or from Python."""

from __future__ import annotations

import msgspec

from bakeoff.spec.comparison import RULES, Procedure
from bakeoff.spec.group import Scaling  # noqa: TC001 - msgspec reads the type
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
    reference_device: str | None = None
    """Where the certificates' reference computes: cpu or cuda. None: what the framework that computes it declares,
    which is the processor."""
    threads: int | None = None
    """None: every usable processor. A contender's own option wins."""
    max_norm: float | None = None
    """Norm that each sample's gradient is clipped to; of the scenario per-sample-gradients alone. None: that of
    `bakeoff.spec.per_sample.PerSample`."""
    noise_multiplier: float | None = None
    """Standard deviation of the noise on the sum of the clipped gradients, in units of `max_norm`; of that scenario
    alone. None: no noise."""
    devices: tuple[int, ...] = ()
    """Every contender races on one device and on each of these numbers of them; empty: as its own option `devices`
    says, which also wins."""
    scaling: Scaling = "weak"
    """Whether the batch size is a device's or that of all devices together."""
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
    traced: bool = False
    """Trace every ranked contender right behind its rounds, as an explanation does; no suspect is raced."""
    trace_rounds: int | None = None
    """How often; None: as often as an explanation does."""
    inject: dict[str, str] = msgspec.field(default_factory=dict)
    """Options that frameworks get in place of those that they are judged by: a fault that a certificate has to refuse.
    Of `verify` alone."""
    noted: tuple[str, ...] = ()
    """What a reader has to know of how it was run, in sentences; it stands among the comparison's notices."""
    results: str = "results"
    resume: bool = False
    """Continue the last comparison in `results` that asked for the same."""
    command: str = ""

    def procedure(self) -> Procedure:
        """Return the fields that are Procedure's, as they were asked for."""
        return Procedure(**{name: getattr(self, name) for name in Procedure.__struct_fields__})
