"""XLA's flags for GPUs, in every framework that compiles by XLA: how convolutions' algorithms are chosen, and graphs.

A flag stands in the variable XLA_FLAGS, for all programs of a process, or among the options that one program is
compiled with. What neither states is XLA's own default, by its debug_options_flags.cc.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from bakeoff.spec.options import DEFAULT

if TYPE_CHECKING:
    from collections.abc import Mapping

Flags = dict[str, str | bool | int]

FLAGS = "XLA_FLAGS"

AUTOTUNE, DETERMINISTIC = "xla_gpu_autotune_level", "xla_gpu_deterministic_ops"
COMMAND_BUFFERS = "xla_gpu_enable_command_buffer"
WHILE_PROFILED = "xla_enable_command_buffers_during_profiling"

CONVOLUTIONS: dict[str, Flags] = {
    DEFAULT: {},
    "heuristic": {AUTOTUNE: 0},
    "profiling": {AUTOTUNE: 4},
    "fixed": {AUTOTUNE: 0, DETERMINISTIC: True},
}
"""By xla/xla.proto: level 0 is no autotuning, 4 tries every algorithm on initialised memory and checks it."""

FACT, NONE = "command_buffers", "none"
"""Among the facts of a step's program on a GPU, and its value where XLA records no commands."""

_RECORDED = (
    "XLA records commands and starts them together (command buffers), but one by one while it is profiled, so that the "
    "host has more to do than in timed steps; XLA_FLAGS=--xla_gpu_enable_command_buffer= records none, which is "
    "another program."
)
_TOGETHER = (
    "XLA records commands and starts them together (command buffers), also while it is profiled, as XLA_FLAGS says "
    "(xla_enable_command_buffers_during_profiling): their kernels are not told apart."
)
"""xla/debug_options_flags.cc and xla/backends/gpu/runtime/command_buffer_thunk.cc; openxla/xprof, issue 3070."""

_DEFAULTS = {AUTOTUNE: "4", DETERMINISTIC: "false", COMMAND_BUFFERS: DEFAULT, WHILE_PROFILED: "false"}
"""What XLA takes by itself; which commands its command buffers hold changes from version to version."""


def algorithms(options: Mapping[str, str | bool | int] | None = None) -> str:
    """Return how algorithms of convolutions are chosen by what is in force, in the words of conv_algorithm."""
    if _is_true(_stated(DETERMINISTIC, options)):
        return "fixed"
    return "heuristic" if _stated(AUTOTUNE, options) == "0" else "profiling"


def command_buffers(options: Mapping[str, str | bool | int] | None = None) -> str:
    """Return which commands XLA records once and starts together, as CUDA graphs: "default", "none", or their names."""
    return _stated(COMMAND_BUFFERS, options) or NONE


def notes(facts: Mapping[str, float | int | str]) -> list[str]:
    """Return what a reader of a profile has to know where XLA records commands, by the facts of the step's program."""
    if facts.get(FACT, NONE) == NONE:
        return []
    return [_TOGETHER if _is_true(_stated(WHILE_PROFILED, None)) else _RECORDED]


def written(flags: Flags) -> str:
    """Return flags as XLA_FLAGS has them."""
    return " ".join(f"--{name}={str(value).lower()}" for name, value in flags.items())


def add(flags: Flags) -> None:
    """Put flags behind those of the user's XLA_FLAGS, where the last one counts, before XLA's first program."""
    if flags:
        os.environ[FLAGS] = f"{os.environ.get(FLAGS, '')} {written(flags)}".strip()


def _is_true(value: str) -> bool:
    """Return whether a flag's value is one that XLA takes for true."""
    return value.lower() in ("true", "1")


def _stated(name: str, options: Mapping[str, str | bool | int] | None) -> str:
    """Return a flag's value: of the program's own options, else of XLA_FLAGS, else XLA's default."""
    if options and name in options:
        return str(options[name])
    found = re.findall(rf"(?:^|\s)--{name}(?:=(\S*))?(?=\s|$)", os.environ.get(FLAGS, ""))
    bare = {DETERMINISTIC: "true", WHILE_PROFILED: "true"}.get(name, "")
    return (found[-1] or bare) if found else _DEFAULTS[name]
