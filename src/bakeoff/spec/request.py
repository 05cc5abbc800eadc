"""What a user asks of a comparison, from the command line or from Python."""

from __future__ import annotations

import msgspec

from bakeoff.spec.comparison import Aim


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """A comparison as asked for, before anything is looked up; for None, the field's text names the default."""

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
    options: dict[str, str] = {}
    """For all contenders alike; a contender's option wins."""
    tiers: tuple[str, ...] = ()
    """Every contender races in each of them; none: matched. A contender's option `tier` wins."""
    data: str | None = None
    """The workload's first."""
    aim: Aim = "verdict"
    max_rounds: int | None = None
    """20; until-sure has no limit."""
    budget_s: float | None = None
    epochs: int | None = None
    """Beside the race, run so many epochs as a whole: of the data set, or of `steps` steps each."""
    steps: int | None = None
    """Beside the race, run so many steps as a whole; with `epochs`, so many in each."""
    repeats: int = 3
    """Fresh processes for each contender's whole run."""
    margin: float = 0.05
    seed: int = 0
    self_test: bool = True
    """Put the timers to the test that were not tested here before, in what they run with now."""
    trial_limit_s: float = 600.0
    results: str = "results"
    resume: bool = False
    """Go on with the last comparison in `results` that asked for the same."""
    command: str = ""
