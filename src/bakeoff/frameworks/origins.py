"""Where in the model each operation of a program comes from that XLA has compiled, and of which kind it is.

The framework's name of an instruction (`op_name`) tells it where it is there:
`jit(_next)/transpose(jvp(L.net))/L.stages.0/L.stages.0.second/conv_general_dilated`. XLA drops it of most gradients of
weights, and of copies that its passes put in; those are placed by rules, and say by which (`inferred`):

"the weight that it updates"  what has no name and meets a parameter of as many elements in the optimiser's update is
                              that parameter's gradient, in the backward pass of its layer: that of the parameter's
                              name in JAX, else the one that uses it in the forward pass
"its user"                    what has no name belongs to what uses its result; to most of them, where they differ
"its operand"                 else, to what it takes

A fusion is its root's, and `mixed` where it holds several kinds of computing, phases or layers. A fusion that ends in a
copy behind element-wise operations is a copy in another order, with what was computed again on its way.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, NamedTuple

from bakeoff.frameworks import hlo, scopes
from bakeoff.frameworks.planes import copied
from bakeoff.frameworks.scopes import Place

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

    from bakeoff.frameworks.hlo import Computation, Instruction, Module
    from bakeoff.spec.explained import OperationKind, Phase


class Scope(NamedTuple):
    """When and where."""

    phase: Phase
    place: Place


class Origin(NamedTuple):
    """What is known of one operation."""

    kind: OperationKind
    phase: Phase = ""
    layer: str = ""
    function: str = ""
    inferred: str = ""
    mixed: bool = False
    launches: bool = True
    """Not so a loop, which runs others."""


NOTE = (
    "Operations whose names XLA has dropped are placed by rules: a weight's gradient by the weight that it updates, "
    "a copy by what uses it."
)
"""What a reader has to know of such a profile."""

WEIGHT, USER, OPERAND = "the weight that it updates", "its user", "its operand"

_KINDS: dict[OperationKind, tuple[str, ...]] = {
    "convolution": ("convolution",),
    "matrix product": ("dot", "ragged-dot", "scaled-dot", "triangular-solve", "cholesky"),
    "reduction": ("reduce", "reduce-window", "select-and-scatter", "sort", "topk"),
    "communication": (
        *("all-gather", "all-reduce", "all-to-all", "reduce-scatter", "collective-broadcast", "collective-permute"),
        *("ragged-all-to-all", "partition-id", "replica-id", "send", "send-done", "recv", "recv-done"),
    ),
    "data movement": (
        *("copy", "transpose", "bitcast", "reshape", "broadcast", "concatenate", "pad", "slice", "dynamic-slice"),
        *("dynamic-update-slice", "gather", "scatter", "reverse", "iota", "copy-start", "copy-done", "dynamic-reshape"),
        *("bitcast-convert", "convert", "get-dimension-size"),
    ),
    "other": ("fft", "infeed", "outfeed"),
    "host dispatch": hlo.CONTROL,
}
"""By HLO's operations (openxla.org/xla/operation_semantics); all others are element-wise, random numbers too."""
_KIND_OF: dict[str, OperationKind] = {one: kind for kind, operations in _KINDS.items() for one in operations}

_TARGETS: tuple[tuple[str, OperationKind], ...] = (
    ("callback", "host dispatch"),  # into Python
    ("fmha|attention", "attention"),
    ("rnn|lstm", "recurrent"),
    ("conv", "convolution"),
    ("gemm|matmul|dot|blas|triangularsolve|cholesky|potrf|trsm", "matrix product"),
    ("norm", "normalisation"),
    ("topk|sort|reduce", "reduction"),
)
"""Custom calls by what their targets' names contain: "__cublas$gemm", "__cudnn$convForward", "__onednn$matmul"."""

_RANK: tuple[OperationKind, ...] = (
    *("communication", "attention", "recurrent", "convolution", "matrix product", "normalisation"),
    *("host dispatch", "other", "reduction", "element-wise", "data movement"),
)
"""What a fusion's time goes to, where several kinds are in it: the first of them."""

_UNTOLD = ("broadcast", "iota")
"""Instructions within fusions whose names say nothing of it: a constant of one place serves several."""

_SPLIT = re.compile(r"[/()]")
_PARAMETER = re.compile(r"\[['\"](.+?)['\"]\]")
"""The canonical name within what jax.jit calls an argument: state.parameters['blocks.0.conv.weight']."""
_BACKWARD = ("transpose(", "gradient_tape/")
"""How JAX and TensorFlow name the backward pass."""
_FORWARD = "jvp("
_PASSES = 4
"""How many instructions without a name may follow each other; ResNet-50 has up to 3 of them."""


def origins(module: Module, layers: Mapping[str, str]) -> dict[str, Origin]:
    """Return what is known of each instruction that runs by itself, by its name.

    `layers` has the vocabulary's class of each layer of the model, by its path.
    """
    found: dict[str, Origin] = {}
    for name in module.running():
        found |= _Placing(module, module.computations[name], layers).found()
    return found


def scope_of(op_name: str, paths: Collection[str]) -> Scope | None:
    """Return what a framework's name of an instruction says; None where it says nothing."""
    names = _SPLIT.split(op_name)
    if scopes.is_optimizer(names):
        return Scope("optimiser", Place())
    place = scopes.place(names, paths)
    is_backward = any(mark in op_name for mark in _BACKWARD)
    if place == Place() and not is_backward and _FORWARD not in op_name:
        return None
    return Scope("backward" if is_backward else "forward", place)


def _is_free(one: Instruction) -> bool:
    """Return whether nothing runs for an instruction."""
    return one.operation in hlo.FREE


def _is_moved(one: Instruction) -> bool:
    """Return whether an instruction only hands on what it takes, in whatever order."""
    return one.operation in ("copy", "transpose", "fusion", *hlo.FREE)


class _Placing:
    """The instructions of one computation, and the scopes that were found for them so far."""

    def __init__(self, module: Module, computation: Computation, layers: Mapping[str, str]) -> None:
        """Take what the names say themselves."""
        self._module, self._body, self._layers = module, computation, layers
        self._users: defaultdict[str, list[str]] = defaultdict(list)
        for one in computation.values():
            for operand in one.operands:
                self._users[operand].append(one.name)
        self._timed = [one for one in computation.values() if one.operation not in hlo.FREE]
        self._scopes: dict[str, Scope] = {}
        self._rules: dict[str, str] = {}
        for one in self._timed:
            if scope := self._told(one):
                self._scopes[one.name] = scope

    def found(self) -> dict[str, Origin]:
        """Return what is known of each instruction, once the rules have placed what has no name."""
        self._place(WEIGHT, self._weight)
        for _ in range(_PASSES):
            self._place(USER, self._user)
        for _ in range(_PASSES):
            self._place(OPERAND, self._operand)
        return {one.name: self._origin(one) for one in self._timed}

    def _place(self, rule: str, found: Callable[[Instruction], Scope | None]) -> None:
        """Place what has no scope and for which a rule finds one; all at once, so that order does not matter."""
        new = {one.name: found(one) for one in self._timed if one.name not in self._scopes}
        told = {name: scope for name, scope in new.items() if scope is not None}
        self._scopes |= told
        self._rules |= dict.fromkeys(told, rule)

    def _told(self, one: Instruction) -> Scope | None:
        """Return what an instruction's own name says, or most of those within it."""
        if self._is_copied(one):
            return None
        own = scope_of(one.op_name, self._layers)
        if own and (own.phase == "optimiser" or own.place != Place()):
            return own
        return _most(self._inside(one)) or own

    def _is_copied(self, one: Instruction) -> bool:
        """Return whether a fusion ends in a copy that a pass has put in for whoever uses it, behind what it copies."""
        if one.operation != "fusion" or "element-wise" not in self._kinds(one):
            return False
        root = _root(self._module, one)
        is_nobodys = scope_of(root.op_name, self._layers) is None
        return root.operation == "copy" or (root.operation == "transpose" and is_nobodys)

    def _inside(self, one: Instruction) -> list[Scope]:
        """Return the scopes of what is within an instruction."""
        told = [each for each in self._module.within(one) if each.operation not in (*hlo.FREE, *_UNTOLD)]
        return [scope for each in told if (scope := scope_of(each.op_name, self._layers))]

    def _weight(self, one: Instruction) -> Scope | None:
        """Return the backward pass of the layer whose parameter a result without a name meets in the update."""
        if not one.elements or self._comes_from_a_parameter(one):
            return None
        reached, seen = [one.name], {one.name}
        for _ in range(_PASSES):
            reached = [user for name in reached for user in self._users[name] if user not in seen]
            seen.update(reached)
            for user in reached:
                if (layer := self._updated(user, one.elements)) is not None:
                    return Scope("backward", Place(layer))
            reached = [user for user in reached if user not in self._scopes]
        return None

    def _updated(self, user: str, elements: int) -> str | None:
        """Return the layer of the parameter, of so many elements, that a part of the update takes; None without."""
        scope = self._scopes.get(user)
        if scope is None or scope.phase != "optimiser":
            return None
        sources = [self._source(operand) for operand in self._body[user].operands]
        given = [one for one in sources if one and one.operation == "parameter" and one.elements == elements]
        return next((layer for one in given if (layer := self._owner(one)) is not None), None)

    def _owner(self, parameter: Instruction) -> str | None:
        """Return the layer of what the program was given: by its name, or that which uses it in the forward pass."""
        if named := _PARAMETER.search(parameter.op_name):
            return self._layer(named.group(1))
        forward = [one for one in self._of_users(parameter.name, _PASSES, _is_moved) if one.phase == "forward"]
        found = _most(one for one in forward if one.place.layer)
        return found.place.layer if found else None

    def _source(self, name: str) -> Instruction | None:
        """Return the instruction behind copies of it."""
        one = self._body.get(name)
        while one and one.operation in ("copy", "bitcast") and one.operands:
            one = self._body.get(one.operands[0])
        return one

    def _comes_from_a_parameter(self, one: Instruction) -> bool:
        """Return whether an instruction only hands on what the program was given."""
        source = self._source(one.name)
        return source is not None and source.operation == "parameter"

    def _layer(self, parameter: str) -> str:
        """Return the layer of a parameter by its canonical name: the longest path that it begins with."""
        path = parameter
        while "." in path:
            path = path.rpartition(".")[0]
            if path in self._layers:
                return path
        return ""

    def _user(self, one: Instruction) -> Scope | None:
        """Return the scope of most users of a result: of the update's products the backward pass, of no known layer."""
        found = _most(self._of_users(one.name, _PASSES))
        is_product = self._native(one) in ("convolution", "matrix product")
        return Scope("backward", Place()) if found and found.phase == "optimiser" and is_product else found

    def _of_users(self, name: str, depth: int, passed: Callable[[Instruction], bool] = _is_free) -> Iterator[Scope]:
        """Yield the scopes of a result's users; those that are passed, and have none, hand it on to their own."""
        for user in self._users[name]:
            if user in self._scopes:
                yield self._scopes[user]
            elif depth and passed(self._body[user]):
                yield from self._of_users(user, depth - 1, passed)

    def _operand(self, one: Instruction) -> Scope | None:
        """Return the scope of most operands."""
        return _most(self._scopes[name] for name in one.operands if name in self._scopes)

    def _origin(self, one: Instruction) -> Origin:
        """Return what is known of an instruction."""
        native, rule = self._native(one), self._rules.get(one.name, "")
        phase, place = self._scopes.get(one.name, Scope("", Place()))
        is_moved = bool(rule) and native == "data movement"
        kind = scopes.kind(native, phase, Place() if is_moved else place, self._layers)
        launches = one.operation not in hlo.CONTROL
        return Origin(kind, phase, *place, inferred=rule, mixed=self._is_mixed(one), launches=launches)

    def _native(self, one: Instruction) -> OperationKind:
        """Return an instruction's kind by what it computes."""
        if self._is_copied(one):
            heavy = self._kinds(one) - {"element-wise", "data movement"}
            return min(heavy, key=_RANK.index, default="data movement")
        return min(self._kinds(one), key=_RANK.index) if one.operation == "fusion" else kind_of(one)

    def _kinds(self, one: Instruction) -> set[OperationKind]:
        """Return the kinds of what is within a fusion."""
        parts = [each for each in self._module.within(one) if each.operation not in hlo.FREE]
        return {kind_of(each) for each in parts if each.operation not in hlo.CONTROL} or {"data movement"}

    def _is_mixed(self, one: Instruction) -> bool:
        """Return whether a fusion holds several kinds of computing, phases or layers."""
        if one.operation != "fusion":
            return False
        inside = self._inside(one)
        kinds = self._kinds(one) - {"data movement"}
        return max(len(kinds), len({each.phase for each in inside}), len({each.place.layer for each in inside})) > 1


def on_gpu(origin: Origin, name: str) -> Origin:
    """Return what an event on a GPU is of this origin, by the event's own name.

    A copy between host and device is that whatever it is for. What only runs others on a processor has kernels there,
    of which nothing is known but that they are its own: those of a recorded command buffer.
    """
    kind = copied(name)
    if kind == "device copy" or origin.kind == "host dispatch":
        return origin._replace(kind=kind or "other", launches=True)
    return origin


def kind_of(one: Instruction) -> OperationKind:
    """Return an instruction's kind by its operation, or what its custom call is called."""
    if one.operation == "custom-call":
        target = one.target.lower()
        return next((kind for words, kind in _TARGETS if re.search(words, target)), "other")
    operation = one.operation.removesuffix("-start").removesuffix("-done")
    return _KIND_OF.get(one.operation) or _KIND_OF.get(operation, "element-wise")


def _root(module: Module, one: Instruction) -> Instruction:
    """Return what makes a fusion's result, behind bitcasts."""
    body = next((module.computations[name] for name in one.calls if name in module.computations), {})
    root = next((each for each in body.values() if each.is_root), one)
    while root.operation == "bitcast" and root.operands and root.operands[0] in body:
        root = body[root.operands[0]]
    return root


def _most(found: Iterable[Scope]) -> Scope | None:
    """Return the scope that comes most often, of equals the first; None of none."""
    counted = Counter(found).most_common(1)
    return counted[0][0] if counted else None
