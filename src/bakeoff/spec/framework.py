"""What a framework's folder declares about itself in framework.toml, readable without importing the framework."""

from __future__ import annotations

import msgspec


class Variable(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An environment variable that a worker sets before it imports the framework.

    `value` may hold {threads} (the threads to use), {cache} (an empty folder that is the trial's own).
    """

    name: str
    value: str
    reason: str
    when: dict[str, str] = {}
    """Options with the values that must be in force for it to be set; empty: always."""


class CacheSupport(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a framework's compiler can keep on disk for the next process."""

    modes: tuple[str, ...]
    """The values of the option `mode` in which it does."""
    variables: tuple[Variable, ...] = ()
    """What must be set beyond the other variables to have it keep everything in {cache}."""


class OptionSupport(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which values of an option a framework has, and which it takes by default."""

    default: str
    values: tuple[str, ...] = ()
    """Empty: any whole number from 1 on."""
    free: bool = False
    """Any text; for options that only this framework has and reads itself."""
    meaning: str = ""
    """For an option that only this framework has."""
    why: str = ""
    """Why it lacks the other values."""


class Refusal(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Values of options that cannot be in force together, whatever the machine is."""

    when: dict[str, tuple[str, ...]]
    """Options, each with the values of which one must be in force for the refusal to hold."""
    reason: str


class BestSetting(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One setting of the tier `best`: what the framework's own documents, or a measurement, name as faster."""

    option: str
    value: str
    reason: str
    source: str
    """The public document that says so."""
    devices: tuple[str, ...] = ()
    """Where it is for; empty: everywhere."""
    optimizers: tuple[str, ...] = ()
    """The workloads' optimisers that it is for: "Adam"; empty: all."""


class FrameworkInfo(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A framework as it is declared by framework.toml in its folder."""

    name: str
    title: str
    module: str
    """The Python module whose presence in an interpreter tells that the framework is there; "" needs none."""
    companions: tuple[str, ...] = ()
    """Modules that the folder imports beside it, which an interpreter with the framework may still lack."""
    distributions: tuple[str, ...]
    """The installed packages whose versions are told."""
    versioned: tuple[str, ...] = ()
    """Those that share the framework's version: FRAMEWORK@VERSION pins them; the first distribution, if not said."""
    installed_mb: int | None = None
    """How much its environment takes, about, on a processor: told before it is made."""
    options: dict[str, OptionSupport]
    refusals: tuple[Refusal, ...] = ()
    best: tuple[BestSetting, ...] = ()
    """The tier `best`, in the order in which its settings are tried."""
    variables: tuple[Variable, ...] = ()
    cache: CacheSupport | None = None
    """None where nothing that is compiled outlives the process."""
    watched: tuple[str, ...] = ()
    """Variables of the user's environment that change what it does: told where they are set."""
    reference: dict[str, str] | None = None
    """The options that make it the reference in float64; None where it cannot be one."""
    reference_rank: int = 100
    """The available framework with the lowest rank is the reference."""
    listed: bool = True
    """False: races only when it is named (a scripted framework for tests)."""
    colour: str = "#555555"
    """Its one colour in every chart (from the Okabe-Ito palette, safe for colour-blind readers)."""
