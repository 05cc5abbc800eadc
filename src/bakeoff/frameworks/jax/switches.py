"""XLA's switches behind the common options, as compiler options of every jitted function.

They stand beside the user's XLA_FLAGS and win over them: a flag is a default for all programs, an option is this one's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax

from bakeoff.frameworks import xla
from bakeoff.frameworks.jax import attention
from bakeoff.spec.options import DEFAULT

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_REWRITES: dict[str, xla.Flags] = {"on": {}, "off": {"xla_backend_optimization_level": 0}}
"""By xla/xla.proto: how much the code generator optimises; XLA's passes over the graph have no common switch."""


class Switches:
    """What a contender's options set in this process."""

    def __init__(self, options: Mapping[str, str]) -> None:
        """Take the options."""
        attention.choose(options["attention"])
        self._rewrites = options["graph_optimization"]
        self.per_sample = options.get("per_sample", "")
        self._flags = xla.CONVOLUTIONS[options["conv_algorithm"]] | _REWRITES[self._rewrites]
        self.is_compiled = options["mode"] == "compiled"

    def executed(self, function: Callable[..., Any], donate_argnums: int | tuple[int, ...] = ()) -> Any:
        """Return the function jitted, or as it is: then JAX runs each operation by itself."""
        if not self.is_compiled:
            return function
        return jax.jit(function, donate_argnums=donate_argnums, compiler_options=self._flags or None)

    def settings(self, device: str, mode: str) -> dict[str, str | int | float | bool | None]:
        """Return what every jitted function was given; None where there is nothing that it could be in force for."""
        flags = self._flags if mode == "compiled" else None
        on_gpu = {"conv_algorithm": xla.algorithms(flags), "command_buffers": xla.command_buffers(flags)}
        return {
            "layout": "nhwc",
            "optimizer_kernel": DEFAULT,
            "conv_algorithm": None,
            "graph_optimization": self._rewrites if mode == "compiled" else None,
            "attention": attention.taken(),
            "compiler_options": ", ".join(f"{name}={value}" for name, value in self._flags.items()),
            **(on_gpu if device == "cuda" else {}),
        }
