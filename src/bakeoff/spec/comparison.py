"""A comparison: contenders on the same workload, scenario, sizes and device, in rounds."""

from __future__ import annotations

from typing import Literal, get_args

import msgspec

from bakeoff.spec.contender import Contender
from bakeoff.spec.errors import UnknownNameError, UsageError
from bakeoff.spec.framework import BestSetting
from bakeoff.spec.scenario import Scenario
from bakeoff.spec.trial import Inputs
from bakeoff.spec.workload import Workload

Aim = Literal["verdict", "how-much", "until-sure"]
"""When a pair is settled.

verdict     as soon as it has its verdict, at one of the fixed looks
how-much    at the look after which its ratio is known narrowly, too
until-sure  at any round: boundaries that hold at every round, and no last one
"""


class Procedure(msgspec.Struct, frozen=True, kw_only=True):
    """How a comparison is measured and decided; fixed before the first number is seen."""

    margin: float = 0.05
    """Ratios within 1 / (1 + margin) to 1 + margin are practically equal."""
    aim: Aim = "verdict"
    max_rounds: int | None = 20
    """None: no limit, which only until-sure has."""
    budget_s: float | None = None
    """After the first round, no new one starts after this time; None: no limit."""
    trial_limit_s: float = 600.0
    """A worker that does not answer a command within this time is ended."""
    seed: int = 0
    epochs: int | None = None
    """Beside the race, so many epochs are run as a whole; None: none, or one of `steps` steps."""
    steps: int | None = None
    """Of an epoch; None: as many as the data set has batches."""
    repeats: int = 3
    """Fresh processes in which each contender runs them."""

    def check(self) -> None:
        """Raise UsageError for a number that cannot be, with its valid range; `max_rounds` depends on the looks."""
        checks = (
            ("margin", self.margin, 0.0 < self.margin < 1.0, "between 0 and 1, such as 0.05 or 5%"),
            ("budget", self.budget_s, self.budget_s is None or self.budget_s > 0, "above 0, such as 90s or 5m"),
            ("trial limit", self.trial_limit_s, self.trial_limit_s > 0, "above 0, such as 90s or 10m"),
            ("seed", self.seed, 0 <= self.seed < 2**32, "a whole number from 0 to 4294967295"),
            ("epochs", self.epochs, self.epochs is None or self.epochs >= 1, "a whole number from 1 on"),
            ("steps", self.steps, self.steps is None or self.steps >= 1, "a whole number from 1 on"),
            ("repeats", self.repeats, self.repeats >= 1, "a whole number from 1 on"),
        )
        if self.aim not in get_args(Aim):
            raise UnknownNameError("aim", self.aim, get_args(Aim))
        for name, value, is_valid, valid in checks:
            if not is_valid:
                msg = f"{name} {value} cannot be; valid: {valid}"
                raise UsageError(msg)


ANEW = ("aim", "max_rounds", "budget_s", "trial_limit_s", "repeats")
"""Fields of Procedure that may change when a comparison is resumed: how long to go on. What is measured and how it is
decided stays as it was fixed."""


class ContenderPlan(msgspec.Struct, frozen=True, kw_only=True):
    """A contender with all that its workers need."""

    contender: Contender
    """With every option resolved."""
    interpreter: str
    framework_path: str
    asked: dict[str, str] = {}
    """The options that the user gave, with the contender or for all; the others are defaults."""
    best: tuple[BestSetting, ...] = ()
    """In force by the tier `best`."""
    best_left: dict[str, str] = {}
    """Of the tier `best`, but not in force: "option=value" with the reason."""
    variables: dict[str, str] = {}
    watched: tuple[str, ...] = ()
    """Variables of the user's environment that count for it."""
    cache_variables: dict[str, str] | None = None
    """What to set beyond these to have the compiler keep its work in {cache}; None where it can keep none."""
    colour: str = "#555555"
    title: str = ""


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """What is compared, and how: comparison.json, written once before the first trial."""

    version: int = 1
    id: str
    created_at: str
    bakeoff: str
    """The version of bakeoff."""
    workload: Workload
    workload_path: str
    workload_sha256: str
    scenario: Scenario
    size: str
    batch_size: int
    data: Inputs
    contenders: list[ContenderPlan]
    reference: ContenderPlan | None
    excluded: dict[str, str] = {}
    """Frameworks that were asked for and cannot race, each with its reason."""
    procedure: Procedure
    no_energy: str = "the comparison was made before bakeoff measured it"
    """Why no energy is measured; empty where it is."""
    machine: dict[str, str | int | float | None]
    command: str = ""
    """What repeats it."""


class Search(msgspec.Struct, frozen=True, kw_only=True):
    """What is searched, and within what: search.json, written once before the first trial."""

    version: int = 1
    plan: Comparison
    """Workload, contenders, data and machine, as for a race; its batch size is the first that is tried."""
    limit_bytes: int
    """Of resident memory beyond that after the framework's import, from the first step on."""
    asked_bytes: int | None = None
    """The limit as the user gave it; None: a share of what was available."""
    available_bytes: int
    """What the machine could give without swapping when the search began."""
    precision: float
    """A search ends where the smallest batch that did not fit is within this share of the largest that did."""
