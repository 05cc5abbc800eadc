"""The program of a workload's training step as a GPU's compiler gets it, made on a processor, and its products.

JAX lowers for a platform that is not there; TensorFlow gives XLA the same program for every device. Not compiled for
a GPU and not run on one by us: what XLA and cuDNN make of the precision that stands in it is theirs.
"""

from __future__ import annotations

import importlib
import re
from typing import TYPE_CHECKING, Any
from unittest import mock

from bakeoff.frameworks.collecting import Collecting

if TYPE_CHECKING:
    from collections.abc import Callable

    from bakeoff.frameworks.engine import Engine

HIGHEST = "highest"
"""What an operand of a product has in float32. XLA's other words, high and default, let a GPU take TF32
(xla_data.proto, PrecisionConfig)."""

_IN_STABLEHLO = re.compile(r"stablehlo\.(convolution|dot_general)\b")
_IN_HLO = re.compile(r" (convolution|dot)\(")


def products(
    framework: str, engine: Engine, precision: str, build: Callable[[], Any], batch: Callable[[Any], Any]
) -> list[str]:
    """Return the products of a training step in a precision: "convolution highest highest", one a text.

    `build` gives a step of the engine, and `batch` a batch that is prepared for it.
    """
    module = importlib.import_module(f"bakeoff.frameworks.{framework}.precision")
    held = engine._precision  # type: ignore[attr-defined]
    # TF32 is refused on a processor, whose programs are the same.
    with mock.patch.object(module, "_check_tf32", create=True):
        engine._precision = module.Precision(precision)  # type: ignore[attr-defined]
    try:
        step = build()
        return _PROGRAMS[framework](step, batch(step))
    finally:
        module.Precision("float32")
        engine._precision = held  # type: ignore[attr-defined]


def _of_jax(step: Any, batch: Any) -> list[str]:
    """Lower what `run` calls for CUDA: the step and, before it, what collects."""
    calls = [step.call(batch)]
    if isinstance(step, Collecting):
        calls.append((step._collect, (step._state.parameters, step._state.statistics, batch[0])))
    programs = [function.trace(*given).lower(lowering_platforms=("cuda",)).as_text() for function, given in calls]
    return _listed("\n".join(programs), _IN_STABLEHLO, r"\b(HIGHEST|HIGH|DEFAULT)\b")


def _of_tensorflow(step: Any, batch: Any) -> list[str]:
    """Return what `run` calls as XLA gets it; an operand whose precision is XLA's default has no word."""
    calls = [(step._run, batch)]
    if isinstance(step, Collecting):
        calls = [(step._run, step.whole(batch)), (step._collect, batch[:1])]
    programs = [function.experimental_get_compiler_ir(*given)(stage="hlo") for function, given in calls]
    return _listed("\n".join(programs), _IN_HLO, r"(?<=[{,])(highest|high|default)(?=[,}])")


def _listed(program: str, product: re.Pattern[str], precision: str) -> list[str]:
    """Return every product in a program's text with the precisions of its operands."""
    lines = [(found[1], line) for line in program.splitlines() if (found := product.search(line))]
    return [" ".join([kind, *re.findall(precision, line)]).lower() for kind, line in lines]


_PROGRAMS: dict[str, Callable[[Any, Any], list[str]]] = {"jax": _of_jax, "tensorflow": _of_tensorflow}

LOWERED = tuple(_PROGRAMS)
"""Frameworks that give their program without a GPU; PyTorch's kernels choose as they run."""
