"""Faults of a workload's file that can be found without running its model."""

from __future__ import annotations

import ast
import math
import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any, get_args, get_type_hints

import msgspec

from bakeoff.spec.batch import HELD_OUT, ArraySpec, Law
from bakeoff.spec.errors import ModelFileError
from bakeoff.spec.optimizer import SGD, Adam, AdamW, Optimizer, RMSprop
from bakeoff.spec.scenario import SCENARIOS
from bakeoff.spec.schedule import (
    Cosine,
    CosineRestarts,
    Cyclic,
    Exponential,
    Linear,
    OneCycle,
    Polynomial,
    Schedule,
    StepDecay,
    WarmupStableDecay,
)
from bakeoff.spec.vocabulary import VOCABULARY
from bakeoff.spec.workload import Size, Workload
from bakeoff.workloads.mistakes import not_there
from bakeoff.workloads.synonyms import said_by

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from bakeoff.spec.batch import SampleSpec


def check_fields(path: Path, declared: Any) -> Workload:
    """Return WORKLOAD with every field of its declared type and range; raise ModelFileError with all that is wrong."""
    if not isinstance(declared, Workload):
        msg = f"{path}: WORKLOAD is {declared!r}; it must be a bakeoff.spec.workload.Workload"
        raise ModelFileError(msg)
    try:
        # Structs take any value when they are made; converting checks the types.
        workload = msgspec.convert(msgspec.to_builtins(declared, enc_hook=_plain), Workload)
    except (msgspec.ValidationError, TypeError) as error:
        msg = f"{path}: WORKLOAD: {_in_words(str(error))}{_valid(str(error))}"
        raise ModelFileError(msg) from error
    _check_text(path, workload)
    if faults := list(_faults(workload)):
        msg = "\n".join(f"{path}: WORKLOAD: {fault}" for fault in faults)
        raise ModelFileError(msg)
    return workload


def _check_text(path: Path, workload: Workload) -> None:
    """Raise ModelFileError for half a character, which no file and no record can hold."""
    try:
        msgspec.json.encode(workload)
    except UnicodeEncodeError as error:
        half = error.object[error.start : error.end]
        msg = (
            f"{path}: WORKLOAD: one of its texts holds {half!r}, which is half a character and in no text: take it out"
        )
        raise ModelFileError(msg) from error


def _plain(value: Any) -> Any:
    """Return what stands for a value that no field takes: NumPy's numbers and types as Python's, else what it is."""
    if isinstance(value, type(Workload)):
        raise TypeError(repr(type(value)))  # a struct's class, which is not called
    if type(value).__module__.partition(".")[0] == "numpy" and hasattr(value, "item"):
        return value.item()
    name: str = value.__name__ if isinstance(value, type) else getattr(value, "name", type(value).__name__)
    return name


def _in_words(error: str) -> str:
    """Return an error of msgspec with the field first: "optimizer.schedule.every: expected int, got float"."""
    if "StructMeta" in error:
        return "a class stands where one of its values belongs; call it, as in schedule=Cosine(steps=1000)"
    text, is_placed, place = error.replace("`", "").partition(" - at $.")
    text = text.replace("Expected array", "Expected a tuple")  # msgspec's word for what JSON writes in brackets
    text = text.replace("Expected object | null, got str", "Expected one of those that there are")
    return f"{place}: e{text[1:]}" if is_placed and text.startswith("Expected") else error.replace("`", "")


def _valid(error: str) -> str:
    """Return the words that the field takes which an error of msgspec ends with; nothing where it takes others."""
    field = error.rstrip("`").rpartition(".")[2].partition("[")[0]
    kinds = {"schedule": get_args(Schedule), "optimizer": get_args(Optimizer)}
    words: tuple[Any, ...] = tuple(kind.__name__ for kind in kinds.get(field, ()))
    words = words or (tuple(SCENARIOS) if field == "scenarios" else ())
    for kind in (ArraySpec, Law):
        words = words or get_args(get_type_hints(kind).get(field))
    return f"; valid: {', '.join(words)}" if words and all(isinstance(word, str) for word in words) else ""


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
    lines = [f"{path}:{line}: {not_there(name)}" for line, name in unknown]
    are_known = all(said_by(name).startswith((":", ",")) for _, name in unknown)  # others are guesses
    every = [] if are_known else [f"Valid: {', '.join(VOCABULARY)}"]
    msg = "\n".join([*lines, *every])
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
    yield from _scenario_faults(workload)
    if workload.optimizer is not None:
        yield from (f"optimizer.{fault}" for fault in _optimizer_faults(workload.optimizer))
    if not workload.data:
        yield "data is empty; it must name at least one source, such as 'synthetic'"
    if workload.learning_steps < 0:
        yield f"learning_steps is {workload.learning_steps}; it must be at least 0"


def _scenario_faults(workload: Workload) -> Iterator[str]:
    """Yield a sentence for each scenario that the workload cannot have."""
    if not workload.scenarios or len(set(workload.scenarios)) < len(workload.scenarios):
        yield f"scenarios is {workload.scenarios!r}; it must hold at least one of {', '.join(SCENARIOS)}, each once"
    for scenario in workload.scenarios:
        if "optimizer" in SCENARIOS[scenario].evidence and workload.optimizer is None:
            yield f"the scenarios include {scenario}, and optimizer is None"
    frozen = getattr(workload.optimizer, "frozen", ())
    if frozen and any("norms" in SCENARIOS[scenario].evidence for scenario in workload.scenarios):
        yield (
            f"scenarios is {workload.scenarios!r}, and optimizer.frozen names parameters; the gradients of samples are "
            "those of all parameters: take per-sample-gradients out, or frozen"
        )
    if workload.scenarios != ("train",) and any(size.collected for size in workload.sizes.values()):
        yield f"scenarios is {workload.scenarios!r}; a workload that collects has the scenario train alone"


_MOST_COUNTED = 2**31
"""Counts of samples and of steps are 32 bits wide in some frameworks; a batch of so many numbers takes 8 GB."""


def _size_faults(size: Size) -> Iterator[str]:
    """Name each field of a size whose value cannot be."""
    for field in ("batch_size", "parameters", "macs"):
        value = getattr(size, field)
        if value is not None and value < 1:
            yield f"{field} is {value}; it must be at least 1"
    if size.batch_size >= _MOST_COUNTED:
        yield f"batch_size is {size.batch_size}; it must be below {_MOST_COUNTED}"
    if size.metric is not None and not size.metric.name.strip():
        yield f"metric.name is {size.metric.name!r}; it must say what the number is"
    yield from _sample_faults(size)
    yield from _collected_faults(size)


def _collected_faults(size: Size) -> Iterator[str]:
    """Name what is wrong with what a step collects, or with the number of its updates."""
    if size.updates < 1 or (size.updates > 1 and not size.collected):
        yield f"updates is {size.updates}; it must be 1, or more where `collected` says what they are made on"
    if not size.collected:
        return
    if len(size.inputs) < 2:  # noqa: PLR2004 - one input is no mapping, to which something could be added
        yield "collected is added to the inputs by its names; declare two inputs or more"
    for name, array in size.collected.items():
        yield from (f"collected[{name!r}] {fault}" for fault in _array_faults(name, array))
        if name in size.sample.arrays:
            yield f"{name!r} is collected and is an array of the batch; each needs a name of its own"


def _sample_faults(size: Size) -> Iterator[str]:
    """Name what is wrong with the declared arrays: inputs and targets are each declared in one of two forms."""
    if size.inputs and size.input_shape:
        yield "inputs and input_shape are both given; declare either"
    elif not size.inputs and (not size.input_shape or min(size.input_shape) < 1):
        yield f"input_shape is {size.input_shape}; it must hold at least one axis, each at least 1"
    if size.targets and size.classes:
        yield "targets and classes are both given; declare either"
    elif size.classes < 0:
        yield f"classes is {size.classes}; it must be at least 1, or left out"
    sample = size.sample
    for name in sorted(sample.inputs.keys() & sample.targets.keys()):
        yield f"{name!r} is an input and a target; each array needs a name of its own"
    for field, arrays in (("inputs", size.inputs), ("targets", size.targets)):
        for name, array in arrays.items():
            yield from (f"{field}[{name!r}] {fault}" for fault in _array_faults(name, array))
            yield from (f"{field}[{name!r}] {fault}" for fault in _length_faults(array, sample))


def _array_faults(name: str, array: ArraySpec) -> Iterator[str]:
    """Name what is wrong with one declared array."""
    if not name.isidentifier() or name.endswith(HELD_OUT):
        yield f"is no name for an array; it must be a Python name that does not end in {HELD_OUT}"
    if min(array.shape, default=1) < 1:
        yield f"has shape {array.shape}; each axis must be at least 1"
    if array.dtype == "int32" and (array.high is None or array.high <= array.low):
        above = "and has no high" if array.high is None else f"to below {array.high}"
        yield f"has integers from {array.low} {above}; say a high that is above low, one more than the largest"


def _length_faults(array: ArraySpec, sample: SampleSpec) -> Iterator[str]:
    """Name what is wrong with a sequence's length, or with the law of lengths."""
    if array.length:
        counts = sample.arrays.get(array.length)
        if counts is None or counts.dtype != "int32" or counts.shape:
            yield f"has its length in {array.length!r}; it must name an int32 array of shape ()"
        elif not 0 <= array.along < len(array.shape):
            yield f"has its length along axis {array.along} of {array.shape}, which it does not have"
        elif counts.low < 1 or (counts.high or 0) > array.shape[array.along] + 1:
            most = array.shape[array.along]
            yield (
                f"has {most} entries, and {array.length!r} counts from {counts.low} to below {counts.high}; "
                f"it must be low=1 or more and high={most + 1} or less"
            )
    if array.law is None:
        return
    if array.dtype != "int32" or array.shape:
        yield "has a law, which only lengths have: int32 of shape ()"
    elif not (array.low <= array.law.mean < (array.high or 0) and array.law.deviation > 0):
        yield (
            f"has a law of mean {array.law.mean} and deviation {array.law.deviation}; "
            f"the mean must lie from {array.low} to below {array.high}, and the deviation above 0"
        )


def _schedule_faults(schedule: Schedule) -> Iterator[str]:
    """Yield a sentence for each number of a schedule that is out of its range."""
    warmup = schedule.warmup_steps
    for field in msgspec.structs.fields(schedule):
        value = getattr(schedule, field.name)
        every = value if isinstance(value, tuple) else (value,)
        if any(isinstance(one, int) and one >= _MOST_COUNTED for one in every):
            yield f"{field.name} is {value}; steps are below {_MOST_COUNTED}"
            return
    if warmup < 0:
        yield f"warmup_steps is {warmup}; it must be at least 0"
    if isinstance(schedule, Polynomial) and not 0 < schedule.power < math.inf:
        yield f"power is {schedule.power}; it must be above 0"
    if isinstance(schedule, Linear | Polynomial | Cosine | WarmupStableDecay) and schedule.steps <= max(warmup, 0):
        yield f"steps is {schedule.steps}; it must be above warmup_steps, which is {warmup}"
    for name in ("first", "final"):
        if not 0 <= getattr(schedule, name, 0) < math.inf:
            yield f"{name} is {getattr(schedule, name)}; it must be at least 0"
    if isinstance(schedule, StepDecay | Exponential):
        yield from _factor_faults(schedule, max(warmup, 0))
    if isinstance(schedule, CosineRestarts | Cyclic | OneCycle | WarmupStableDecay):
        yield from _cycle_faults(schedule, max(warmup, 0))


def _factor_faults(schedule: StepDecay | Exponential, warmup: int) -> Iterator[str]:
    """Yield a sentence for each number by which a rate cannot fall by factors."""
    if isinstance(schedule, StepDecay):
        boundaries = (warmup, *schedule.boundaries)
        if len(boundaries) == 1 or any(second <= first for first, second in pairwise(boundaries)):
            yield f"boundaries is {schedule.boundaries}; it must hold rising steps behind the warm-up of {warmup}"
        if not 0 < schedule.factor < math.inf:
            yield f"factor is {schedule.factor}; it must be above 0"
        return
    if schedule.every < 1:
        yield f"every is {schedule.every}; it must be at least 1"
    if not 0 < schedule.factor < 1:  # 1 changes nothing, and many powers of more are infinite
        yield f"factor is {schedule.factor}; it must be above 0 and below 1"


def _cycle_faults(schedule: CosineRestarts | Cyclic | OneCycle | WarmupStableDecay, warmup: int) -> Iterator[str]:
    """Yield a sentence for each number of one that rises and falls, or stays and falls, that is out of its range."""
    at_least: dict[str, int] = {}
    match schedule:
        case CosineRestarts():
            at_least = {"every": 2, "growth": 1}  # a cycle of one step is a constant
        case Cyclic(low=low):
            at_least = {"up_steps": 1, "down_steps": 1}
            if not 0 <= low < 1:
                yield f"low is {low}; it must be at least 0 and below 1"
        case OneCycle(steps=steps, rise_steps=rise):
            at_least = {"rise_steps": 2}  # the first has `first`, the last has 1
            if rise >= steps:
                yield f"rise_steps is {rise}; it must be below steps, which is {steps}"
        case WarmupStableDecay(steps=steps, decay_steps=decay):
            at_least = {"decay_steps": 1}
            if decay > max(steps - warmup, 0):
                yield f"decay_steps is {decay}; it must be at most {steps - warmup}, the steps behind the warm-up"
    for name, fewest in at_least.items():
        if getattr(schedule, name) < fewest:
            yield f"{name} is {getattr(schedule, name)}; it must be at least {fewest}"


_SMALLEST, _LARGEST = 2.0**-126, 2.0**127
"""Between these float32 holds rates as they are."""


def _group_faults(optimizer: Optimizer) -> Iterator[str]:
    """Yield a sentence for each group of parameters that cannot be."""
    if optimizer.no_decay and not optimizer.weight_decay:
        yield "no_decay names parameters, and weight_decay is 0; take no_decay out, or say a decay"
    for pattern, factor in optimizer.rates:
        if not 0 < factor < math.inf or not _SMALLEST <= optimizer.learning_rate * factor <= _LARGEST:
            yield (
                f"rates has {factor} for {pattern!r}; it must be above 0 and finite, and so the rate in float32: what "
                "is not to be trained stands in frozen"
            )


def _optimizer_faults(optimizer: Optimizer) -> Iterator[str]:
    """Yield a sentence for each hyperparameter that is out of its range."""
    if not optimizer.learning_rate > 0:
        yield f"learning_rate is {optimizer.learning_rate}; it must be above 0"
    if isinstance(optimizer, (Adam, AdamW, RMSprop)) and not optimizer.epsilon > 0:
        yield f"epsilon is {optimizer.epsilon}; it must be above 0"
    if not optimizer.weight_decay >= 0:
        yield f"weight_decay is {optimizer.weight_decay}; it must be at least 0"
    if isinstance(optimizer, SGD) and optimizer.nesterov and not optimizer.momentum:
        yield "nesterov is True, and momentum is 0; Nesterov's step needs a momentum"
    if optimizer.clip_norm is not None and not 0 < optimizer.clip_norm < math.inf:
        yield f"clip_norm is {optimizer.clip_norm}; it must be above 0, or None"
    yield from _group_faults(optimizer)
    if optimizer.schedule is not None:
        yield from (f"schedule.{fault}" for fault in _schedule_faults(optimizer.schedule))
    for field in ("momentum", "beta1", "beta2", "decay"):
        if not 0 <= getattr(optimizer, field, 0) < 1:
            yield f"{field} is {getattr(optimizer, field)}; it must be at least 0 and below 1"
