"""Random numbers of Python's or NumPy's that a model or its loss would draw by itself: refused, with the line.

Each framework, and each process, would compute with other numbers, and a compiled step with the same ones for ever.
What comes out the same each time passes: a generator that gets its seed where it is used.
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bakeoff.spec.errors import ModelFileError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_MAKERS = frozenset(
    (
        *("random.Random", "numpy.random.RandomState", "numpy.random.default_rng", "numpy.random.Generator"),
        *("numpy.random.SeedSequence", "numpy.random.MT19937", "numpy.random.PCG64", "numpy.random.PCG64DXSM"),
        *("numpy.random.Philox", "numpy.random.SFC64"),
    )
)
"""What gives a generator, or what one is made of: with a seed, it draws the same each time."""

_OTHERS = frozenset(("data", "metric"))
"""Functions of a workload's file that run outside of the model, and may draw; a model may have names like theirs."""

_INSTEAD = (
    "each framework would compute with other numbers, and a compiled step with the same ones for ever. In training "
    "nn.RandomNormal() and nn.Dropout(rate) draw; other draws come with the batch, from data(size, samples, seed); an "
    "array that stays is nn.constant(numpy.random.RandomState(0).standard_normal(shape)), its seed where it is drawn"
)

_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


def check_draws(*functions: Any) -> None:
    """Raise ModelFileError for each draw of random numbers in build, loss, or what they call of their file."""
    codes = [function.__code__ for function in functions if hasattr(function, "__code__")]
    for file in sorted({code.co_filename for code in codes if Path(code.co_filename).is_file()}):
        tree = ast.parse(Path(file).read_bytes())
        lines = {code.co_firstlineno for code in codes if code.co_filename == file}
        roots = [node for node in ast.walk(tree) if isinstance(node, _Function) and _first_line(node) in lines]
        names = _File(tree)
        if found := sorted({draw for node in _reached(tree, roots) for draw in names.draws(node)}):
            told = (f"{file}:{line}: {name} draws in {function}: {_INSTEAD}" for line, name, function in found)
            raise ModelFileError("\n".join(told))


def _first_line(node: _Function) -> int:
    """Return the line in which Python says that a function begins: that of its first decorator."""
    decorators = () if isinstance(node, ast.Lambda) else node.decorator_list
    lines = [node.lineno, *(one.lineno for one in decorators)]
    return min(lines)


def _reached(tree: ast.Module, roots: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Yield the roots, and every function and class at the top of the file whose name stands in what is reached."""
    tops = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    waiting, seen = list(roots), set[int]()
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        yield node
        names = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)} - _OTHERS
        waiting += [tops[name] for name in names & tops.keys()]


class _File:
    """What the names of a file mean, of those by which random numbers are drawn."""

    def __init__(self, tree: ast.Module) -> None:
        """Take imports, and the generators that are kept under a name or as an attribute."""
        self._imported = dict(_imports(tree))
        self._owners: dict[str, set[int]] = {}
        """By the name of a generator, the functions that make it: an assignment of another one is another name."""
        self._kept: set[str] = set()
        """The attributes that hold a generator."""
        self._around = dict(_functions_around(tree))
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign | ast.AnnAssign) and self._makes(node.value):
                for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                    self._note(target)

    def draws(self, within: ast.AST) -> Iterator[tuple[int, str, str]]:
        """Yield the line of each draw in a function or class, what draws, and the innermost function there."""
        for node in ast.walk(within):
            if isinstance(node, ast.Call) and (name := self._drawn(node)):
                function = self._around.get(id(node))
                yield node.lineno, name, getattr(function, "name", "the model")

    def _drawn(self, call: ast.Call) -> str:
        """Return by which name a call draws random numbers that are not the same each time; empty where it does not."""
        name = self._meaning(call.func)
        if name.startswith(("random.", "numpy.random.")):
            return name if name not in _MAKERS or not _is_seeded(call) else ""
        generator = call.func.value if isinstance(call.func, ast.Attribute) else None
        if isinstance(generator, ast.Attribute) and generator.attr in self._kept:
            return ast.unparse(call.func)
        if not isinstance(generator, ast.Name) or not self._comes_from_outside(generator):
            return ""
        return ast.unparse(call.func)

    def _comes_from_outside(self, generator: ast.Name) -> bool:
        """Return whether a name is a generator's that goes on from one call of the innermost function to the next.

        In __init__ it is not where build makes it: the next model gets another one.
        """
        owners, function = self._owners.get(generator.id, set()), self._around.get(id(generator))
        if id(function) in owners:
            return False
        around, is_init = self._around.get(id(function)), getattr(function, "name", "") == "__init__"
        while around is not None and id(around) not in owners:
            around = self._around.get(id(around))
        return id(around) in owners and (around is None or not is_init)

    def _note(self, target: ast.expr) -> None:
        """Note a generator under the name that it is assigned to."""
        if isinstance(target, ast.Attribute):
            self._kept.add(target.attr)
        elif isinstance(target, ast.Name):
            self._owners.setdefault(target.id, set()).add(id(self._around.get(id(target))))

    def _makes(self, value: ast.expr | None) -> bool:
        """Return whether an expression makes a generator."""
        return isinstance(value, ast.Call) and self._meaning(value.func) in _MAKERS

    def _meaning(self, node: ast.expr) -> str:
        """Return what a name means by the file's imports, as numpy.random.normal; empty where it means nothing such."""
        if isinstance(node, ast.Name):
            return self._imported.get(node.id, "")
        before = self._meaning(node.value) if isinstance(node, ast.Attribute) else ""
        return f"{before}.{node.attr}" if before and isinstance(node, ast.Attribute) else ""


def _imports(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield each name that the file imports, and what it stands for."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for one in node.names:
                yield (one.asname, one.name) if one.asname else (one.name.split(".")[0], one.name.split(".")[0])
        elif isinstance(node, ast.ImportFrom):
            yield from ((one.asname or one.name, f"{node.module}.{one.name}") for one in node.names)


def _functions_around(tree: ast.Module) -> Iterator[tuple[int, _Function]]:
    """Yield every node in a function, by identity, with the innermost function around it last."""
    for function in ast.walk(tree):  # which comes to an outer function first
        if isinstance(function, _Function):
            yield from ((id(node), function) for node in ast.walk(function) if node is not function)


def _is_seeded(call: ast.Call) -> bool:
    """Return whether what makes a generator is given anything but None."""
    given = [*call.args, *(one.value for one in call.keywords)]
    return any(not (isinstance(one, ast.Constant) and one.value is None) for one in given)
