"""What a user asks of a comparison, from the command line or from Python."""

from __future__ import annotations

import msgspec

from bakeoff.spec.comparison import Aim


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """A comparison as asked for, before anything is looked up."""

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
    threads: int | None = None
    """None: every usable processor. A contender's own option wins."""
    options: dict[str, str] = {}
    """Options of all contenders alike. A contender's own option wins."""
    tiers: tuple[str, ...] = ()
    """Every contender races in each of these tiers; empty: matched. A contender's own option `tier` wins."""
    data: str | None = None
    """None: the workload's first data source."""
    aim: Aim = "verdict"
    max_rounds: int | None = None
    """None: 20, or no limit for until-sure."""
    budget_s: float | None = None
    epochs: int | None = None
    """Whole epochs to run after the rounds: of the data set, or of `steps` steps each."""
    steps: int | None = None
    """Steps of a whole run after the rounds; with `epochs`, the steps of each epoch."""
    repeats: int = 3
    """Fresh processes in which each contender does its whole run."""
    margin: float = 0.05
    seed: int = 0
    self_test: bool = True
    """Test every timer that was not yet tested on this machine with these versions and options."""
    trial_limit_s: float = 600.0
    results: str = "results"
    resume: bool = False
    """Continue the last comparison in `results` that asked for the same."""
    command: str = ""
