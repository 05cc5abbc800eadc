"""Faults of a workload's file that can be found without running its model."""

from __future__ import annotations

import ast
import difflib
import re
from typing import TYPE_CHECKING, Any

import msgspec

from bakeoff.spec.errors import ModelFileError
from bakeoff.spec.optimizer import SGD, Adam, AdamW, Optimizer, RMSprop
from bakeoff.spec.vocabulary import VOCABULARY
from bakeoff.spec.workload import Size, Tolerance, Workload

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def check_fields(path: Path, declared: Any) -> Workload:
    """Return WORKLOAD if every field has its declared type and range; else raise ModelFileError with all faults."""
    if not isinstance(declared, Workload):
        msg = f"{path}: WORKLOAD is {declared!r}; it must be a bakeoff.spec.workload.Workload"
        raise ModelFileError(msg)
    try:
        # Structs take any value when they are made; converting checks the types.
        workload = msgspec.convert(msgspec.to_builtins(declared), Workload)
    except (msgspec.ValidationError, TypeError) as error:
        msg = f"{path}: WORKLOAD: {str(error).replace('`', '')}"
        raise ModelFileError(msg) from error
    if faults := list(_faults(workload)):
        msg = "\n".join(f"{path}: WORKLOAD: {fault}" for fault in faults)
        raise ModelFileError(msg)
    return workload


def check_names(path: Path, text: bytes, **functions: Any) -> None:
    """Raise ModelFileError for names that the vocabulary lacks, each with its line.

    `functions` are build and loss: the name of their first parameter means the vocabulary in all functions of the file
    whose first parameter has that name.
    """
    tree = ast.parse(text)
    names = {function.__code__.co_varnames[0] for function in functions.values() if hasattr(function, "__code__")}
    unknown = sorted({(use.lineno, use.attr) for use in _uses(tree, names) if use.attr not in VOCABULARY})
    if not unknown:
        return
    lines = []
    for line, name in unknown:
        close = difflib.get_close_matches(name, VOCABULARY, n=1)
        hint = f"; did you mean nn.{close[0]}?" if close else ""
        lines.append(f"{path}:{line}: nn.{name} is not in the vocabulary{hint}")
    msg = "\n".join([*lines, f"Valid: {', '.join(VOCABULARY)}"])
    raise ModelFileError(msg)


def _uses(tree: ast.AST, names: set[str]) -> Iterator[ast.Attribute]:
    """Yield every `nn.something` within functions whose first parameter has one of these names."""
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef) or not function.args.args:
            continue
        first = function.args.args[0].arg
        for node in ast.walk(function) if first in names else ():
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == first:
                yield node


def _faults(workload: Workload) -> Iterator[str]:
    """Yield a sentence for each field of the workload with an impossible value."""
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", workload.name):
        yield f"name is {workload.name!r}; it must be of small letters, digits and single dashes"
    if "full" not in workload.sizes:
        yield f"sizes has no 'full'; it has {', '.join(workload.sizes) or 'none'}"
    for name, size in workload.sizes.items():
        yield from (f"sizes[{name!r}].{fault}" for fault in _size_faults(size))
    if not workload.scenarios or len(set(workload.scenarios)) < len(workload.scenarios):
        yield f"scenarios is {workload.scenarios!r}; it must hold train, infer or both, each once"
    if "train" in workload.scenarios and workload.optimizer is None:
        yield "the scenarios include train, and optimizer is None"
    if workload.optimizer is not None:
        yield from (f"optimizer.{fault}" for fault in _optimizer_faults(workload.optimizer))
    yield from (f"tolerance.{fault}" for fault in _tolerance_faults(workload.tolerance))
    if not workload.data:
        yield "data is empty; it must name at least one source, such as 'synthetic'"
    if workload.learning_steps < 0:
        yield f"learning_steps is {workload.learning_steps}; it must be at least 0"


def _size_faults(size: Size) -> Iterator[str]:
    """Yield a sentence for each field of a size with an impossible value."""
    for field in ("batch_size", "classes", "parameters", "macs"):
        value = getattr(size, field)
        if value is not None and value < 1:
            yield f"{field} is {value}; it must be at least 1"
    if not size.input_shape or min(size.input_shape) < 1:
        yield f"input_shape is {size.input_shape}; it must hold at least one axis, each at least 1"
    for field in ("tolerance", "larger_batch_tolerance"):
        if (tolerance := getattr(size, field)) is not None:
            yield from (f"{field}.{fault}" for fault in _tolerance_faults(tolerance))


def _tolerance_faults(tolerance: Tolerance) -> Iterator[str]:
    """Yield a sentence for each tolerance that would let nothing or everything pass."""
    if tolerance.losses is not None and tolerance.losses < 1:
        yield f"losses is {tolerance.losses}; it must be at least 1"
    for field in ("loss", "gradient", "gradient_norm", "output"):
        if not 0 < (value := getattr(tolerance, field)) < 1:
            yield f"{field} is {value}; it must be above 0 and below 1"


def _optimizer_faults(optimizer: Optimizer) -> Iterator[str]:
    """Yield a sentence for each hyperparameter that is out of its range."""
    if not optimizer.learning_rate > 0:
        yield f"learning_rate is {optimizer.learning_rate}; it must be above 0"
    if isinstance(optimizer, (Adam, AdamW, RMSprop)) and not optimizer.epsilon > 0:
        yield f"epsilon is {optimizer.epsilon}; it must be above 0"
    if isinstance(optimizer, (SGD, AdamW)) and not optimizer.weight_decay >= 0:
        yield f"weight_decay is {optimizer.weight_decay}; it must be at least 0"
    for field in ("momentum", "beta1", "beta2", "decay"):
        if not 0 <= getattr(optimizer, field, 0) < 1:
            yield f"{field} is {getattr(optimizer, field)}; it must be at least 0 and below 1"
