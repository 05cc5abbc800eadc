from __future__ import annotations

import pytest

from bakeoff.environments.declared import frameworks
from bakeoff.environments.options import resolve_options, variables_of
from bakeoff.spec.contender import parse_contender
from bakeoff.spec.errors import UnknownNameError, UsageError
from bakeoff.spec.framework import FrameworkInfo, OptionSupport, Refusal, Variable

INFO = FrameworkInfo(
    name="tiny",
    title="Tiny",
    module="",
    distributions=(),
    options={
        "mode": OptionSupport(default="eager", values=("eager", "compiled"), why="it traces nothing"),
        "threads": OptionSupport(default="all"),
        "script": OptionSupport(default="", free=True),
    },
    refusals=(Refusal(when={"mode": ("compiled",), "threads": ("1", "2")}, reason="its compiler needs three"),),
    variables=(
        Variable(name="ALWAYS", value="1", reason="always"),
        Variable(name="FAST", value="1", reason="only then", when={"mode": "compiled"}),
    ),
)


def resolve(text: str, **defaults: str) -> dict[str, str]:
    """Resolve a contender of the framework above on a machine with 6 usable processors."""
    return resolve_options(INFO, parse_contender(text), defaults, 6)


def test_every_option_is_resolved() -> None:
    """What is not said is the framework's default, or the worker's; "all" is the number of usable processors."""
    assert resolve("tiny") == {"mode": "eager", "threads": "6", "script": "", "malloc": "settled", "tier": "matched"}


def test_the_worker_s_options_are_everybody_s() -> None:
    """A framework that does not declare the state of malloc has it all the same, with the values that there are."""
    assert resolve("tiny:malloc=fresh")["malloc"] == "fresh"
    with pytest.raises(UsageError, match="malloc=old; possible: settled, fresh, keep"):
        resolve("tiny:malloc=old")


def test_the_contender_wins_over_the_command_line() -> None:
    """--threads holds for those that do not say otherwise."""
    assert resolve("tiny:threads=2", threads="4")["threads"] == "2"
    assert resolve("tiny", threads="4")["threads"] == "4"


def test_free_text_is_passed_on() -> None:
    """An option that is declared free takes any text: its framework reads it."""
    assert resolve("tiny:script=0.5")["script"] == "0.5"


@pytest.mark.parametrize("value", ["0", "-1", "1.5", "two", "all", "²"])
def test_counts_are_whole_numbers_from_one_on(value: str) -> None:
    """Anything else is refused with what is possible."""
    with pytest.raises(UsageError, match="a whole number from 1 on"):
        resolve(f"tiny:threads={value}")


def test_an_unknown_option_lists_the_valid_ones() -> None:
    """A misspelt option is an error that lists those that there are."""
    with pytest.raises(UnknownNameError, match=r"'mod'.*did you mean 'mode'.*script"):
        resolve("tiny:mod=eager")


def test_an_option_that_the_framework_lacks_is_refused() -> None:
    """An option of others is an error that says which options this framework has."""
    with pytest.raises(UsageError, match="the option 'precision'; it has: malloc, mode, script, threads, tier"):
        resolve("tiny:precision=float32")


def test_a_value_that_the_framework_lacks_is_refused() -> None:
    """A value of others is an error that lists the possible ones."""
    with pytest.raises(UsageError, match=r"mode=graph; possible: eager, compiled \(it traces nothing\)"):
        resolve("tiny:mode=graph")


def test_values_that_exclude_each_other_are_refused() -> None:
    """What a framework declares as impossible together is an error with its reason, whoever chose the values."""
    with pytest.raises(UsageError, match="mode=compiled, threads=2: its compiler needs three"):
        resolve("tiny:mode=compiled", threads="2")
    assert resolve("tiny:mode=compiled", threads="3")["mode"] == "compiled"


def test_a_variable_is_set_where_it_holds() -> None:
    """A variable that belongs to an option's value is set with that value only."""
    assert variables_of(INFO, resolve("tiny")) == {"ALWAYS": "1"}
    assert variables_of(INFO, resolve("tiny:mode=compiled")) == {"ALWAYS": "1", "FAST": "1"}


def test_the_command_line_is_refused_where_a_framework_cannot() -> None:
    """--device for all is an error for one that has no such option, and names it."""
    with pytest.raises(UsageError, match="asked of all contenders: Tiny"):
        resolve("tiny", device="cuda")


@pytest.mark.parametrize("name", frameworks())
def test_every_default_of_every_framework_is_possible(name: str) -> None:
    """A framework's own defaults, and those of its float64 reference, are values that it has."""
    info = frameworks()[name].info
    spoken = {option: support.default for option, support in info.options.items() if support.default != "all"}
    for options in filter(None, (spoken, info.reference)):
        text = ",".join(f"{option}={value}" for option, value in options.items())
        assert resolve_options(info, parse_contender(f"{name}:{text}"), {}, 2).items() >= options.items()
