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
    """Return the modules that a text imports, wherever it does, with the packages that they lie in."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            named = [one.name for one in node.names]
        elif isinstance(node, ast.ImportFrom) and (not node.level or package):
            module = importlib.util.resolve_name("." * node.level + (node.module or ""), package)
            named = [module, *(f"{module}.{one.name}" for one in node.names)]
        else:
            continue
        for name in named:
            parts = name.split(".")
            yield from (".".join(parts[:count]) for count in range(1, len(parts) + 1))


def _own_file(name: str) -> str:
    """Return the file of a module of the user's own; empty for any other, and for a name that is no module's."""
    root = name.partition(".")[0]
    if root == _BAKEOFF or root in sys.stdlib_module_names:
        return ""
    module = sys.modules.get(name)
    file = getattr(module, "__file__", None)
    if module is None and root == name:
        try:
            spec = importlib.util.find_spec(name)  # of a name without a dot, which imports nothing
        except (ImportError, ValueError):
            return ""
        file = spec.origin if spec else None
    if not isinstance(file, str) or not file.endswith(".py") or _INSTALLED & {*Path(file).parts}:
        return ""
    return file if Path(file).is_file() else ""
