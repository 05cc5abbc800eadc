"""Random numbers of Python's or NumPy's that a model or its loss would draw by itself: refused, with the line.

Each framework, and each process, would compute with other numbers, and a compiled step with the same ones for ever.
What comes out the same each time passes: a generator with a seed, and all where one is set. A draw in another module is
seen by what it does to Python's and NumPy's own generators; of one without a seed that is made there, and of what it
draws while it is imported, nothing is seen.
"""

from __future__ import annotations

import ast
import random
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bakeoff.spec.errors import ModelFileError
from bakeoff.workloads.steady import UnsteadyError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_MAKERS = frozenset(
    (
        *("random.Random", "numpy.random.RandomState", "numpy.random.default_rng", "numpy.random.Generator"),
        *("numpy.random.SeedSequence", "numpy.random.MT19937", "numpy.random.PCG64", "numpy.random.PCG64DXSM"),
        *("numpy.random.Philox", "numpy.random.SFC64"),
    )
)
"""What gives a generator, or what one is made of: with a seed, it draws the same each time."""

_SEED = ".seed"
"""Sets the seed of the library's own generator: what a file draws by it is taken to be the same each time."""

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
        text = Path(file).read_bytes()
        if b"random" not in text:  # nothing of either library can be called: no file is taken apart in vain
            continue
        tree = ast.parse(text)
        lines = {code.co_firstlineno for code in codes if code.co_filename == file}
        roots = [node for node in ast.walk(tree) if isinstance(node, _Function) and _first_line(node) in lines]
        names = _Names(tree)
        found = sorted(names.drawn(roots))
        if found and not any(name.endswith(_SEED) for _, name, _ in (*found, *names.drawn(tree.body))):
            told = (f"{file}:{line}: {name} draws {place}: {_INSTEAD}" for line, name, place in found)
            raise ModelFileError("\n".join(told))


def check_drawing(file: str, run: Callable[[], None]) -> None:
    """Run a model over shapes; raise ModelFileError where another module of its draws, each time something else."""
    drawn: list[str] = []
    for _ in range(2):  # what sets a seed first comes to the same place again
        before = _states()
        unsteady: UnsteadyError | None = None
        try:
            run()
        except UnsteadyError as error:  # of a draw that another module makes, too
            unsteady = error
        drawn = [name for name, state in _states().items() if state != before.get(name)]
        if unsteady is not None and not drawn:
            raise unsteady
        if not drawn:
            return
    msg = f"{file}: build, forward or loss, or what they call, draws by {' and '.join(drawn)}: {_INSTEAD}"
    raise ModelFileError(msg)


def _states() -> dict[str, Any]:
    """Return where Python's and NumPy's own generators are."""
    found: dict[str, Any] = {"random": random.getstate()}
    if (numpy := sys.modules.get("numpy.random")) is not None:  # imported by nobody, it is drawn from by nobody
        name, words, *place = numpy.get_state(legacy=True)
        found["numpy.random"] = name, words.tobytes(), *place
    return found


def _first_line(node: _Function) -> int:
    """Return the line in which Python says that a function begins: that of its first decorator."""
    decorators = () if isinstance(node, ast.Lambda) else node.decorator_list
    lines = [node.lineno, *(one.lineno for one in decorators)]
    return min(lines)


def _tops(tree: ast.Module) -> Iterator[tuple[str, ast.stmt]]:
    """Yield each name that the file itself gives a meaning, with the statement that does.

    Each process runs the file anew, and so what stands at its top.
    """
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name, node
        else:
            bound = {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
            yield from ((name, node) for name in bound)


class _Names:
    """What the names of a file mean where they stand, of those by which random numbers are drawn."""

    def __init__(self, tree: ast.Module) -> None:
        """Take what each function binds, and what it imports."""
        self._around = dict(_functions_around(tree))
        self._tops = list(_tops(tree))
        self._imported: dict[tuple[int, str], str] = {}
        """By the function that imports it, 0 for the file itself, and the name: what it stands for."""
        self._bound: set[tuple[int, str]] = set()
        for node in ast.walk(tree):
            within = self._within(node)
            if isinstance(node, ast.Import | ast.ImportFrom):
                self._imported |= {(within, name): meaning for name, meaning in _imports(node)}
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                self._bound.add((within, node.id))
            elif isinstance(node, ast.arg):
                self._bound.add((within, node.arg))

    def drawn(self, roots: Iterable[ast.AST]) -> set[tuple[int, str, str]]:
        """Return the line of each draw in what is reached from these, what draws, and where that is."""
        return {draw for node in self._reached(roots) for draw in self._draws(node)}

    def _reached(self, roots: Iterable[ast.AST]) -> Iterator[ast.AST]:
        """Yield the roots, and each statement at the top of the file that gives a name which these read."""
        waiting, seen = list(roots), set[int]()
        while waiting:
            node = waiting.pop()
            if id(node) in seen:
                continue
            seen.add(id(node))
            yield node
            read = {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and self._is_of_file(one)}
            waiting += [top for name, top in self._tops if name in read]

    def _draws(self, within: ast.AST) -> Iterator[tuple[int, str, str]]:
        """Yield the line of each draw in a statement, what draws, and the innermost function there."""
        for node in ast.walk(within):
            if isinstance(node, ast.Call) and (name := self._drawn(node)):
                function = self._around.get(id(node))
                place = f"in {getattr(function, 'name', 'the model')}" if function else "at the top of the file"
                yield node.lineno, name, place

    def _is_of_file(self, node: ast.Name) -> bool:
        """Return whether a name is read that no function around it gives a meaning of its own."""
        around = self._around.get(id(node))
        while around is not None:
            key = (id(around), node.id)
            if key in self._bound or key in self._imported:
                return False
            around = self._around.get(id(around))
        return isinstance(node.ctx, ast.Load)

    def _drawn(self, call: ast.Call) -> str:
        """Return by which name a call draws random numbers that are not the same each time; empty where it does not."""
        name = self._meaning(call.func)
        is_draw = name.startswith(("random.", "numpy.random.")) and (name not in _MAKERS or not _is_seeded(call))
        return name if is_draw else ""

    def _within(self, node: ast.AST) -> int:
        """Return the innermost function around a node, by identity; 0 for the file itself."""
        return id(self._around[id(node)]) if id(node) in self._around else 0

    def _meaning(self, node: ast.expr) -> str:
        """Return what a name means by imports, as numpy.random.normal; empty where it means nothing such."""
        if isinstance(node, ast.Name):
            return self._of_name(node)
        before = self._meaning(node.value) if isinstance(node, ast.Attribute) else ""
        return f"{before}.{node.attr}" if before and isinstance(node, ast.Attribute) else ""

    def _of_name(self, node: ast.Name) -> str:
        """Return what a name was imported as by the innermost function that has it; empty where that is no import."""
        around: _Function | None = self._around.get(id(node))
        while around is not None:
            if found := self._imported.get((id(around), node.id)):
                return found
            if (id(around), node.id) in self._bound:
                return ""
            around = self._around.get(id(around))
        return self._imported.get((0, node.id), "")


def _imports(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str]]:
    """Yield each name that a statement imports, and what it stands for."""
    for one in node.names:
        if isinstance(node, ast.ImportFrom):
            yield one.asname or one.name, f"{node.module}.{one.name}"
        else:
            yield (one.asname, one.name) if one.asname else (one.name.split(".")[0], one.name.split(".")[0])


def _functions_around(tree: ast.Module) -> Iterator[tuple[int, _Function]]:
    """Yield every node in a function, by identity, with the innermost function around it last."""
    for function in ast.walk(tree):  # which comes to an outer function first
        if isinstance(function, _Function):
            yield from ((id(node), function) for node in ast.walk(function) if node is not function)


def _is_seeded(call: ast.Call) -> bool:
    """Return whether what makes a generator is given anything but None."""
    given = [*call.args, *(one.value for one in call.keywords)]
    return any(not (isinstance(one, ast.Constant) and one.value is None) for one in given)
