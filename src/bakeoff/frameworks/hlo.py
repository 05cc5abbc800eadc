"""The text of a program that XLA has compiled: its instructions, and facts about the program as a whole.

The form is that of HloModule::ToString (xla/hlo/ir/hlo_module.cc), as JAX and TensorFlow hand it out.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from typing import TYPE_CHECKING, NamedTuple

from bakeoff.frameworks.tracing import by_class
from bakeoff.spec.explained import GraphStage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bakeoff.spec.explained import NodeClass

Fact = float | int | str


class Instruction(NamedTuple):
    """One instruction."""

    name: str
    """Unique in its module; a profile's events are named so."""
    operation: str
    """HLO's own name: "convolution", "fusion"."""
    operands: tuple[str, ...]
    calls: tuple[str, ...]
    """Computations that it runs: a fusion's, a loop's body."""
    op_name: str
    """What the framework has called it; empty where a pass of the compiler has made it, or dropped the name."""
    elements: int
    """Of the result; of a tuple, of its first."""
    is_root: bool
    target: str = ""
    """Of a custom call."""


Computation = dict[str, Instruction]
"""By name, in the text's order."""


class Module(NamedTuple):
    """A program."""

    name: str
    computations: dict[str, Computation]
    entry: str

    def running(self) -> Iterator[str]:
        """Yield the computations whose instructions run by themselves: not those within a fusion, or of a reduction."""
        called = {
            name
            for computation in self.computations.values()
            for one in computation.values()
            if one.operation not in CONTROL
            for name in one.calls
        }
        yield from (name for name in self.computations if name not in called)

    def within(self, instruction: Instruction) -> Iterator[Instruction]:
        """Yield the instructions of the computations that one runs, at every depth."""
        for name in instruction.calls:
            for one in self.computations.get(name, {}).values():
                yield one
                yield from self.within(one)


CONTROL = ("while", "conditional", "call", "async-start")
"""Instructions that only run others, each of which is an operation of its own."""

_EXPENSIVE = ("convolution", "dot", "ragged-dot", "scaled-dot", "fft", "cholesky", "triangular-solve")
_EXPENSIVE_TARGET = re.compile(r"conv|gemm|matmul|dot|fft|rnn|lstm|attention", re.IGNORECASE)
"""Libraries' functions that XLA calls in place of such instructions: __cudnn$convForward, __onednn$matmul."""

FREE = (
    *("parameter", "constant", "tuple", "get-tuple-element", "bitcast", "after-all"),
    *("add-dependency", "opt-barrier", "domain"),
)
"""Instructions for which nothing runs."""

_NO_WORK = (*FREE, *CONTROL, "fusion", "reshape")
"""Of class "no op": a fusion only runs what it holds, whose instructions are counted by themselves."""

_NAME = r"%?([\w.\-]+)"
_MODULE = re.compile(r"^HloModule ([\w.\-]+)")
_COMPUTATION = re.compile(rf"^(ENTRY )?{_NAME} .*\{{\s*$")
_INSTRUCTION = re.compile(rf"^\s+(ROOT )?{_NAME} = (.+)$")
_DIMENSIONS = re.compile(r"\(?\w+\[([\d,]*)\]")
_OPERATION = re.compile(r"\s*([\w\-]+)\(")
_CALL = re.compile(rf"(?:calls|to_apply|body|condition|true_computation|false_computation)={_NAME}")
_CALLS = re.compile(r"(?:branch_computations|called_computations)=\{([^}]*)\}")
_OPERAND = re.compile(r"%([\w.\-]+)")
_TEXT = r'="((?:[^"\\]|\\.)*)"'
_OP_NAME = re.compile(f"op_name{_TEXT}")
_TARGET = re.compile(f"custom_call_target{_TEXT}")
_METADATA = re.compile(r", metadata=\{(?:[^{}\"]|\"(?:[^\"\\]|\\.)*\")*\}")
_SETTINGS = "backend_config="
_TABLES = ("FileNames", "FunctionNames", "FileLocations", "StackFrames")
"""Headings of the tables before the first computation that source lines stand in, each up to an empty line."""


def parsed(text: str) -> Module:
    """Return the program that a text holds; a line of no known form is passed over."""
    found = _MODULE.match(text)
    module = Module(found.group(1) if found else "", {}, "")
    current: Computation | None = None
    for line in text.splitlines():
        if not line.startswith(" "):
            if head := _COMPUTATION.match(line):
                current = module.computations.setdefault(head.group(2), {})
                module = module._replace(entry=head.group(2)) if head.group(1) else module
        elif current is not None and (instruction := _instruction(line)):
            current[instruction.name] = instruction
    return module


def _instruction(line: str) -> Instruction | None:
    """Return the instruction of a line; None where it has none."""
    found = _INSTRUCTION.match(line)
    if found is None:
        return None
    root, name, rest = found.groups()
    shape_end = _closed(rest, 1) if rest.startswith("(") else rest.find(" ")
    operation = _OPERATION.match(rest, shape_end)
    if operation is None:
        return None
    end = _closed(rest, operation.end())
    tail = rest[end:]
    called = [*_CALL.findall(tail), *(name for group in _CALLS.findall(tail) for name in _OPERAND.findall(group))]
    return Instruction(
        name=name,
        operation=operation.group(1),
        operands=tuple(_OPERAND.findall(rest, operation.end(), end)),
        calls=tuple(called),
        op_name=_first(_OP_NAME, tail),
        elements=_elements(rest),
        is_root=bool(root),
        target=_first(_TARGET, tail),
    )


def _closed(text: str, start: int) -> int:
    """Return the place behind the bracket that closes the one before `start`; strings hold none that counts."""
    depth = 1
    for place in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[place], 0)
        if not depth:
            return place + 1
    return len(text)


def _first(pattern: re.Pattern[str], text: str) -> str:
    """Return the first group of the first match, unescaped; empty without one."""
    found = pattern.search(text)
    return re.sub(r"\\(.)", r"\1", found.group(1)) if found else ""


def _elements(shape: str) -> int:
    """Return how many elements a shape has."""
    found = _DIMENSIONS.match(shape)
    return math.prod(int(one) for one in found.group(1).split(",") if one) if found else 0


def without_metadata(text: str) -> str:
    """Return the text without names of the framework and source lines: what is left is the program."""
    kept, inside = [], False
    for line in text.splitlines():
        inside = bool(line) if inside else line in _TABLES
        if not inside:
            kept.append(_in_order(_METADATA.sub("", line)))
    return "\n".join(line for line in kept if line)


def _in_order(line: str) -> str:
    """Return a line with the keys of its backend's settings in order: XLA writes them in another one each time."""
    start = line.find(_SETTINGS) + len(_SETTINGS)
    if start < len(_SETTINGS):
        return line
    try:
        settings, end = json.JSONDecoder().raw_decode(line, start)
    except ValueError:
        return line  # some custom calls have a text of their own there
    return line[:start] + json.dumps(settings, sort_keys=True) + line[end:]


def sha256(text: str) -> str:
    """Return the SHA-256 of the program, whatever its instructions are called after."""
    return hashlib.sha256(without_metadata(text).encode()).hexdigest()


def instructions(module: Module) -> int:
    """Count the instructions of all computations, those within fusions too."""
    return sum(map(len, module.computations.values()))


def fusions(module: Module) -> int:
    """Count the fusions."""
    return sum(one.operation == "fusion" for body in module.computations.values() for one in body.values())


def stage(module: Module, passes: tuple[str, ...] = ()) -> GraphStage:
    """Return the instructions of all computations by class; `passes` are what the program went through."""
    nodes = (_class(one) for body in module.computations.values() for one in body.values())
    return GraphStage(passes=passes, nodes=by_class(nodes))


def _class(instruction: Instruction) -> NodeClass:
    """Return what an instruction costs."""
    if instruction.operation in _EXPENSIVE or _EXPENSIVE_TARGET.search(instruction.target):
        return "expensive"
    return "no op" if instruction.operation in _NO_WORK else "cheap"
