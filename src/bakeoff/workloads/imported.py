"""Which files the text of a workload is made of, beside its own: modules of the user's own that it imports."""

from __future__ import annotations

import ast
import importlib.util
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_BAKEOFF = "bakeoff"
"""Its own modules are told by its version and its own hash."""

_INSTALLED = frozenset({"site-packages", "dist-packages"})
"""Folders of installed packages, which are told by their versions; one that is installed as editable lies elsewhere."""


def imported(path: Path, text: bytes, package: str = "") -> set[str]:
    """Return the files of the user's own modules that a file imports, and that these import.

    `package` is the one that a file lies in, to which its relative imports lead. The standard library, bakeoff and
    installed packages are left out.
    """
    found: set[str] = set()
    waiting = [(str(path), text, package)]
    while waiting:
        file, source, within = waiting.pop()
        for name in _names(source, within):
            other = _own_file(name)
            if other and other != file and other not in found:
                found.add(other)
                inside = name if Path(other).name == "__init__.py" else name.rpartition(".")[0]
                waiting.append((other, Path(other).read_bytes(), inside))
    return found - {str(path)}


def _names(text: bytes, package: str) -> Iterator[str]:
    """Return the modules that a text imports, with the packages that they lie in; none of a text that Python refuses.

    Not what a function `data` at its top does: it runs once, for all, and its arrays are hashed.
    """
    try:
        tree = ast.parse(text)
        nodes = [node for top in tree.body if not _is_data(top) for node in ast.walk(top)]
    except (SyntaxError, ValueError, RecursionError):
        return
    for node in nodes:
        for name in _imports(node, package):
            parts = name.split(".")
            yield from (".".join(parts[:count]) for count in range(1, len(parts) + 1))


def _is_data(top: ast.stmt) -> bool:
    """Return whether a statement defines the function by which a file gives its own data."""
    return isinstance(top, ast.FunctionDef) and top.name == "data"


def _imports(node: ast.AST, package: str) -> list[str]:
    """Return the modules that a statement may import, by their whole names: what it takes of one may be one, too."""
    if isinstance(node, ast.Import):
        return [one.name for one in node.names]
    if not isinstance(node, ast.ImportFrom):
        return []
    above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
    if node.level and not (package and above):
        return []  # beyond the package that it lies in
    module = ".".join([*above, *([node.module] if node.module else [])])
    return [module, *(f"{module}.{one.name}" for one in node.names)]


def _own_file(name: str) -> str:
    """Return the file of a module of the user's own; empty for any other, and for a name that is no module's.

    Nothing is imported for it, and it is the same whatever has been.
    """
    root, *rest = name.split(".")
    if root == _BAKEOFF or root in sys.stdlib_module_names:
        return ""
    try:
        spec = importlib.util.find_spec(root)
    except (ImportError, ValueError, AttributeError):
        return ""
    if spec is None:
        return ""
    file, folders = spec.origin or "", [Path(folder) for folder in spec.submodule_search_locations or ()]
    for part in rest:
        places = [place for folder in folders for place in (folder / part / "__init__.py", folder / f"{part}.py")]
        file = next((str(place) for place in places if place.is_file()), "")
        folders = [folder / part for folder in folders if (folder / part).is_dir()]
    is_own = file.endswith(".py") and not _INSTALLED & {*Path(file).parts}
    return file if is_own and Path(file).is_file() else ""
