"""What a user asks of a comparison, from the command line or from Python."""

from __future__ import annotations

import msgspec

from bakeoff.spec.comparison import Procedure


class Request(Procedure, frozen=True, kw_only=True):
    """A comparison as asked for, before anything is looked up: every field of Procedure, and what is compared.

    Where a field is None, its text names the default.
    """

    workload: str
    """A shipped name, or the path of the user's own file."""
    contenders: tuple[str, ...] = ()
    """As the user writes them; none: every listed framework that is available."""
    scenario: str | None = None
    """The workload's first."""
    batch_size: int | None = None
    """The size's own."""
    size: str = "full"
    device: str | None = None
    """Each framework's own; a contender's option wins."""
    threads: int | None = None
    """Every usable processor; a contender's option wins."""
    options: dict[str, str] = msgspec.field(default_factory=dict)
    """For all contenders alike; a contender's option wins."""
    tiers: tuple[str, ...] = ()
    """Every contender races in each of them; none: matched. A contender's option `tier` wins."""
    data: str | None = None
    """The workload's first."""
    max_rounds: int | None = None
    """20; until-sure has no limit."""
    self_test: bool = True
    """Put the timers to the test that were not tested here before, in what they run with now."""
    results: str = "results"
    resume: bool = False
    """Go on with the last comparison in `results` that asked for the same."""
    command: str = ""

    def procedure(self) -> Procedure:
        """Return the fields that are Procedure's, as they were asked for."""
        return Procedure(**{name: getattr(self, name) for name in Procedure.__struct_fields__})
