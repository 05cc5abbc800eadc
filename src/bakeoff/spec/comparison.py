"""What is run and decided: a comparison of contenders in rounds, and the search for their largest batches."""

from __future__ import annotations

from typing import Literal, get_args

import msgspec

from bakeoff.spec.contender import Contender
from bakeoff.spec.errors import UnknownNameError, UsageError
from bakeoff.spec.framework import COLOUR, GREY, BestSetting
from bakeoff.spec.group import BATCH_STATISTICS, LOCAL, Scaling, SyncSupport, devices_of
from bakeoff.spec.peaks import Work
from bakeoff.spec.per_sample import PerSample
from bakeoff.spec.scenario import Scenario
from bakeoff.spec.trial import Inputs
from bakeoff.spec.workload import Workload

Goal = Literal["size", "direction", "until-sure"]
"""When a pair is settled.

size        when its direction is decided, and its ratio is known to 5 % or to a quarter of the difference
direction   as soon as its direction is decided, at one of the scheduled looks
until-sure  after any round: its boundaries hold at every round, and no round is the last
"""

Aim = Literal["size", "direction", "until-sure", "verdict", "how-much"]
"""A goal, by its name or by one of an earlier version."""

_EARLIER: dict[Aim, Goal] = {"verdict": "direction", "how-much": "size"}


def goal_of(aim: Aim) -> Goal:
    """Return what an aim means, whatever version named it."""
    return _EARLIER.get(aim) or aim  # type: ignore[return-value]


FIRST_RULES, RULES = 1, 2
"""Of the procedure: the first one, which comparisons without this number were decided by, and the present one."""


class Procedure(msgspec.Struct, frozen=True, kw_only=True):
    """How a comparison is measured and decided; fixed before the first number is seen."""

    margin: float = 0.05
    """Ratios between 1 / (1 + margin) and 1 + margin count as equal."""
    rules: int = FIRST_RULES
    """Which procedure decides (docs/decisions/010): a comparison keeps the one that it was begun with."""
    aim: Aim = "size"
    max_rounds: int | None = 20
    """None, for until-sure alone: no limit."""
    budget_s: float | None = None
    """No round but the first starts after this time; None: no limit."""
    calm_wait_s: float = 0.0
    """For so long in all, rounds wait for other processes to rest before they start; 0: they do not wait."""
    trial_limit_s: float = 600.0
    """A worker that has not answered a command after this time is ended."""
    seed: int = 0
    epochs: int | None = None
    """Whole epochs that each contender runs after the rounds; None: none, or, with `steps`, one of that many steps."""
    steps: int | None = None
    """Steps of an epoch; None: as many as the data set has batches."""
    repeats: int = 3
    """Fresh processes in which each contender runs these epochs."""

    def check(self) -> None:
        """Raise UsageError for a number that cannot be, with its valid range; `max_rounds` depends on the looks."""
        checks = (
            ("margin", self.margin, 0.0 < self.margin < 1.0, "between 0 and 1, such as 0.05 or 5%"),
            ("budget", self.budget_s, self.budget_s is None or self.budget_s > 0, "above 0, such as 90s or 5m"),
            ("wait for calm", self.calm_wait_s, self.calm_wait_s >= 0, "from 0 on, such as 90s or 5m"),
            ("trial limit", self.trial_limit_s, self.trial_limit_s > 0, "above 0, such as 90s or 10m"),
            ("seed", self.seed, 0 <= self.seed < 2**32, "a whole number from 0 to 4294967295"),
            ("epochs", self.epochs, self.epochs is None or self.epochs >= 1, "a whole number from 1 on"),
            ("steps", self.steps, self.steps is None or self.steps >= 1, "a whole number from 1 on"),
            ("repeats", self.repeats, self.repeats >= 1, "a whole number from 1 on"),
        )
        if self.aim not in get_args(Aim):
            raise UnknownNameError("aim", self.aim, get_args(Goal))
        for name, value, is_valid, valid in checks:
            if not is_valid:
                msg = f"{name} {value} cannot be; valid: {valid}"
                raise UsageError(msg)


ANEW = ("aim", "max_rounds", "budget_s", "calm_wait_s", "trial_limit_s", "repeats")
"""Fields of Procedure that may change when a comparison is resumed: how long to go on. What is measured and how it is
decided stays as it was fixed."""


class Program(msgspec.Struct, frozen=True, kw_only=True):
    """How a contender's own code is run in float64, for the first stage of its certificate."""

    options: dict[str, str]
    """A value for every option."""
    variables: dict[str, str] = {}
    """Environment variables that its worker sets before it imports the framework."""


class ContenderPlan(msgspec.Struct, frozen=True, kw_only=True):
    """A contender with everything that its workers need."""

    contender: Contender
    """The contender with a value for every option."""
    interpreter: str
    framework_path: str
    framework_sha256: str = ""
    """Of the source files of that folder; empty in comparisons older than this field."""
    packages_sha256: str = ""
    """Of the names and versions of what is installed beside the interpreter; empty where unknown, and in comparisons
    older than this field."""
    injected: dict[str, str] = {}
    """Options that its framework gets in place of those that it is judged by: a planted fault, of `verify` alone."""
    asked: dict[str, str] = {}
    """The options that the user set, for this contender or for all; the others are defaults."""
    program: Program | None = None
    no_program: str = ""
    """Why there is no program in float64; empty where there is, and where what is timed is float64 itself."""
    more_exact: tuple[str, ...] = ()
    """Settings that lose fewer digits than its own in what this model calls: "option=value"."""
    rounding: dict[str, str] = {}
    """By the name of a check, what the framework is known to round off with these options."""
    best: tuple[BestSetting, ...] = ()
    """Settings that the tier `best` puts in force."""
    best_left: dict[str, str] = {}
    """Settings of the tier `best` that are not in force: "option=value", each with the reason."""
    variables: dict[str, str] = {}
    """Environment variables that its workers set before they import the framework."""
    watched: tuple[str, ...] = ()
    """Variables of the user's environment that change what it does; records hold their values."""
    joins_steps: bool = True
    """As the framework declares it; true in comparisons older than this field."""
    sync: SyncSupport | None = None
    """How its devices are started and kept equal; None on one device."""
    shards: int = 1
    """Of the reference for contenders on several devices: of how many shards a step takes the mean."""
    replicas: int = 1
    """Of the same: for how many devices it is."""
    own_layers: tuple[str, ...] = ()
    """Of the reference: layers of the model that the framework's folder computes by code of its own, and not by what
    contenders take."""
    cache_variables: dict[str, str] | None = None
    """Variables that make its compiler keep what it compiles in {cache}; None where it cannot keep it."""
    scripted: bool = False
    """Its framework is a script, whose engine may bring a clock of its own; False in comparisons older than this field.
    """
    cache_kept: bool = False
    """All of its trials share what earlier comparisons have compiled; a cold start is a trial of its own."""
    colour: str = GREY
    title: str = ""

    @property
    def devices(self) -> int:
        """The number of devices that it runs on, or that it is the reference for."""
        return max(self.replicas, devices_of(self.contender.options))

    @property
    def whose(self) -> str:
        """Which reference it is held against: the name of its trial's folder."""
        if self.devices == 1:
            return "reference"
        statistics = self.contender.options.get(BATCH_STATISTICS, LOCAL)
        is_local = self.shards > 1 if self.replicas > 1 else statistics == LOCAL
        return f"reference-{self.devices}-devices{'' if is_local else '-joined'}"

    def reference_for(self, other: ContenderPlan) -> ContenderPlan:
        """Return this reference as contenders on as many devices as another one are held against."""
        is_local = other.contender.options.get(BATCH_STATISTICS, LOCAL) == LOCAL
        if other.devices == 1:
            return self
        name = f"{self.contender.label}, {other.devices} devices{'' if is_local else ' joined'}"
        contender = msgspec.structs.replace(self.contender, label=name)
        shards = other.devices if is_local else 1
        return msgspec.structs.replace(self, contender=contender, shards=shards, replicas=other.devices)

    def in_float64(self) -> ContenderPlan | None:
        """Return this plan with the settings of its program; None where it has none."""
        if self.program is None:
            return None
        contender = msgspec.structs.replace(self.contender, options=self.program.options)
        return msgspec.structs.replace(self, contender=contender, variables=self.program.variables)

    def runs_as(self, other: ContenderPlan) -> bool:
        """Return whether both run the same code in the same settings."""
        mine, theirs = (
            (
                one.contender.options,
                one.interpreter,
                one.framework_path,
                one.framework_sha256,
                one.variables,
                one.own_layers,
            )
            for one in (self, other)
        )
        return mine == theirs

    @property
    def drawn_in(self) -> str:
        """The colour for charts and pages; grey where a file that was read says anything else than a colour."""
        return self.colour if COLOUR.fullmatch(self.colour) else GREY


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """What is compared, and how: the content of comparison.json, written once before the first trial."""

    version: int = 1
    id: str
    created_at: str
    bakeoff: str
    """The version of bakeoff."""
    workload: Workload
    workload_path: str
    workload_sha256: str
    steps_sha256: str = ""
    """Of what its functions do over shapes; empty where they could not be run on the size's own batch, and in
    comparisons older than this field."""
    numbers_sha256: str = ""
    """Of the same to the last bit, with the arrays that constants are made of; empty as above."""
    lines_sha256: str = ""
    """Of its file's lines that run over shapes, behind the version of Python; empty as above."""
    scenario: Scenario
    per_sample: PerSample | None = None
    """How gradients are clipped; None in scenarios without per-sample gradients."""
    size: str
    batch_size: int
    """Samples of a step; of contenders on several devices, of each device unless `scaling` is strong."""
    scaling: Scaling = "weak"
    work: Work | None = None
    """Of one step on one device; None where it could not be counted, and in comparisons older than this field."""
    data: Inputs
    contenders: list[ContenderPlan]
    reference: ContenderPlan | None
    excluded: dict[str, str] = {}
    """Contenders that were asked for and cannot race, each with the reason."""
    uninstalled: list[str] = []
    """Where no contender was named, those of `excluded` that are merely not installed; empty in older comparisons."""
    procedure: Procedure
    notices: list[str] = []
    """What was known of it before it was run: options that change nothing, loops that are compiled call by call."""
    no_energy: str = "the comparison was made before bakeoff measured it"
    """Why energy is not measured; empty where it is."""
    machine: dict[str, str | int | float | None]
    gpu_why: str = ""
    """Why work on CUDA runs on the GPU that is among the machine's facts; empty where none does."""
    command: str = ""
    """The command line that repeats it."""

    def references(self) -> dict[str, ContenderPlan]:
        """Return the references that contenders are held against, by their `whose`: one for each number of devices.

        Where several devices take statistics of their own samples, theirs does, too.
        """
        reference = self.reference
        return {} if reference is None else {plan.whose: reference.reference_for(plan) for plan in self.contenders}

    def programs(self) -> dict[str, ContenderPlan]:
        """Return the contenders' plans in float64, by label, of those that are not the reference's own code in it."""
        found = {plan.contender.label: plan.in_float64() for plan in self.contenders}
        return {
            label: own
            for label, own in found.items()
            if own is not None and (self.reference is None or not own.runs_as(self.reference))
        }

    def joined(self, devices: int) -> int:
        """Return how many of its batches a step on so many devices takes."""
        return devices if self.scaling == "weak" else 1


class Search(msgspec.Struct, frozen=True, kw_only=True):
    """A search for the largest batches: the content of search.json, written once before the first trial."""

    version: int = 1
    plan: Comparison
    """Workload, contenders, data and machine, as for a race; its batch size is the first to be tried."""
    limit_bytes: int
    """Resident memory that a worker may take beyond what it holds after importing the framework; on CUDA, too, where
    `gpu_limit_bytes` decides what fits."""
    asked_bytes: int | None = None
    """The limit that the user set; None: it is a share of what was available."""
    available_bytes: int
    """Memory that was available without swapping when the search began."""
    gpu_limit_bytes: int | None = None
    """Of a GPU's memory, what each framework's allocator may take; the process's context is beyond it. None: nobody
    runs on CUDA, NVML does not tell how much is free, or the search is older than this field."""
    gpu_free_bytes: int | None = None
    """Of the GPU, when the search began."""
    gpu_total_bytes: int | None = None
    precision: float
    """The search ends when the smallest batch that did not fit exceeds the largest that did by at most this share."""
