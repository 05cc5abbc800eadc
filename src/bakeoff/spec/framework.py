"""What a framework's folder declares about itself in framework.toml, readable without importing the framework."""

from __future__ import annotations

import re
from typing import Annotated, Literal

import msgspec

from bakeoff.spec.group import SyncSupport
from bakeoff.spec.scenario import Scenario

COLOUR = re.compile("#[0-9a-fA-F]{6}")
GREY = "#555555"
"""Of what says no colour."""


class Variable(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An environment variable that a worker sets before it imports the framework.

    `value` may hold {threads} (the threads to use, of a device), {devices} (how many this process has), and {cache} (an
    empty folder that is the trial's own).
    """

    name: str
    value: str
    reason: str
    when: dict[str, str] = {}
    """Options and the values that they must have for the variable to be set; empty: it is always set."""


class CacheSupport(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Whether, and how, a framework's compiler keeps what it compiles on disk for the next process."""

    modes: tuple[str, ...]
    """The values of the option `mode` in which it does so."""
    variables: tuple[Variable, ...] = ()
    """Variables to set, beside the others, so that it keeps everything in {cache}."""
    kept: bool = False
    """All trials share what earlier comparisons have left, because compiling takes minutes; only the trial of a cold
    start has a {cache} of its own."""


class OptionSupport(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which values of an option a framework has, and which it takes by default."""

    default: str
    values: tuple[str, ...] = ()
    """Empty: any whole number from 1 on."""
    free: bool = False
    """Any text is a value: for options that only this framework has, and that it checks itself."""
    meaning: str = ""
    """What the option does, where only this framework has it."""
    why: str = ""
    """Why the framework lacks the other values."""
    exact: str = ""
    """The value that loses the fewest digits, where values differ in that: told where a certificate with another fails.
    """


class Refusal(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Values of options that cannot be in force together, whatever the machine is."""

    when: dict[str, tuple[str, ...]]
    """Options with values: the refusal holds where each of them has one of its values."""
    reason: str


class DeclaredRounding(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A rounding that some values of options bring; a certificate whose check fails in them alone prints the reason."""

    when: dict[str, tuple[str, ...]]
    """Options with values: it holds where each of them has one of its values."""
    check: str
    """The name of the check that may fail for it, such as "gradients"."""
    reason: str


class BestSetting(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One setting of the tier `best`: the framework's own documents, or a measurement, call it faster."""

    option: str
    value: str
    reason: str
    source: str
    """The public document, or the measurement, that says so."""
    devices: tuple[str, ...] = ()
    """The devices that it is meant for; empty: all."""
    optimizers: tuple[str, ...] = ()
    """The optimisers that it is meant for, such as "Adam"; empty: all."""


class ScenarioDefault(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A default of an option that differs in one scenario; what the user asks for wins over it."""

    scenario: Scenario
    when: dict[str, tuple[str, ...]] = {}
    """Other options with values: it holds where each of them has one of its values."""
    option: str
    value: str
    reason: str


class DeviceBuild(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An environment for another device than the processor, made of requirements-DEVICE.txt in the folder."""

    cuda: str
    """The CUDA that its wheels are made for, major and minor: "13.0"; the driver has to run it, or a newer one."""
    least_capability: str
    """Of the GPU: NVIDIA's "compute capability" from which on the wheels have kernels."""
    download_mb: int
    """Sum of the sizes of all wheels that pip chooses."""
    installed_mb: int
    """Of the same wheels, unpacked."""
    source: str
    """Where these figures are from."""


class Need(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What must be on the machine, beside the environment, for some values of options."""

    when: dict[str, tuple[str, ...]]
    """Options with values: it is needed where each of them has one of its values."""
    tools: tuple[Literal["C compiler", "Python headers"], ...]
    reason: str


class LoopGradients(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """In training, what each step of a loop adds to the gradient of a weight, as large as the weight, is kept."""

    kept: Literal["all", "some"]
    """Until the last step: all of it, or what depends on the model."""
    variable: str = ""
    """Of the user's environment: with it less is kept; empty: there is none."""
    value: str = ""
    """Of that variable."""
    source: str


class FrameworkInfo(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A framework as it is declared by framework.toml in its folder."""

    name: str
    title: str
    module: str
    """The Python module by which an interpreter is known to have the framework; "": no module is needed."""
    companions: tuple[str, ...] = ()
    """Other modules that the folder imports, and that an interpreter with the framework may lack."""
    distributions: tuple[str, ...]
    """The installed packages whose versions are recorded."""
    versioned: tuple[str, ...] = ()
    """Packages that share the framework's version and that FRAMEWORK@VERSION pins; empty: the first distribution."""
    installed_mb: int | None = None
    """About how much disk its usual environment takes: shown before it is made."""
    installed_source: str = ""
    """Where that figure is from, and where it does not hold."""
    builds: dict[str, DeviceBuild] = {}
    """By device: other environments than the processor's; empty where there is one environment for all its devices."""
    needs: tuple[Need, ...] = ()
    options: dict[str, OptionSupport]
    syncs: dict[str, SyncSupport] = {}
    """By the value of `sync`: how several devices are started, and what holds of them."""
    refusals: tuple[Refusal, ...] = ()
    rounding: tuple[DeclaredRounding, ...] = ()
    scenario_defaults: tuple[ScenarioDefault, ...] = ()
    best: tuple[BestSetting, ...] = ()
    """The tier `best`, in the order in which its settings are tried."""
    variables: tuple[Variable, ...] = ()
    cache: CacheSupport | None = None
    """None where nothing that it compiles outlives the process."""
    watched: tuple[str, ...] = ()
    """Variables of the user's environment that change what it does; records hold those that are set."""
    joins_steps: bool = False
    """It may compute a step together with what follows: without a wait between them, steps are rounded otherwise."""
    loop_gradients: LoopGradients | None = None
    """None: what each step of a loop adds to a weight's gradient is added up at once."""
    reference: dict[str, str] | None = None
    """The options that make it the reference in float64; None where it cannot be the reference."""
    reference_layers_from: dict[str, int] = {}
    """Layers that it computes by code of its own where it is the reference of training on a processor, by the least
    `hidden` from which on: what its library has takes far longer in float64."""
    reference_rank: int = 100
    """The available framework with the lowest rank is the reference."""
    listed: bool = True
    """False: it races only when the user names it (the scripted framework of the tests)."""
    colour: Annotated[str, msgspec.Meta(pattern=f"^{COLOUR.pattern}$")] = GREY
    """Its one colour in every chart (from the Okabe-Ito palette, safe for colour-blind readers)."""
