"""What a workload's file imports of the user's own is a part of its text."""

from __future__ import annotations

import hashlib
import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.workloads.test_load import GOOD

from bakeoff.workloads.load import load

HELPERS = {
    "bakeoff_helper.py": "WIDTH = 5\n",
    "bakeoff_parts/__init__.py": "from .wide import WIDTH\n",
    "bakeoff_parts/wide.py": "from .inner import narrow\nWIDTH = 5\n",
    "bakeoff_parts/inner/__init__.py": "from . import narrow\n",
    "bakeoff_parts/inner/narrow.py": "from ..last import NOTHING\n",
    "bakeoff_parts/last.py": "NOTHING = 0\n",
    "bakeoff_parts/broken.py": "def (\n",
    "bakeoff_parts/beyond.py": "def never():\n    from ...nowhere import NOTHING\n",
}


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], Path]]:
    """Return what writes a workload's file with these imports; modules lie in a folder of PYTHONPATH."""
    folder = tmp_path / "own"
    for name, text in HELPERS.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    monkeypatch.syspath_prepend(folder)

    def write(imports: str) -> Path:
        path = tmp_path / "mine.py"
        path.write_text(imports + GOOD)
        return path

    yield write
    for name in [name for name in sys.modules if name.startswith(("bakeoff_helper", "bakeoff_parts"))]:
        del sys.modules[name]


@pytest.mark.parametrize(
    ("imports", "edited"),
    [
        ("import bakeoff_helper\n", "bakeoff_helper.py"),
        ("from bakeoff_helper import WIDTH\n", "bakeoff_helper.py"),
        ("def width():\n    from bakeoff_helper import WIDTH\n    return WIDTH\n", "bakeoff_helper.py"),
        ("import bakeoff_parts.wide as wide\n", "bakeoff_parts/__init__.py"),
        ("from bakeoff_parts import WIDTH\n", "bakeoff_parts/wide.py"),
        ("from bakeoff_parts.wide import WIDTH\n", "bakeoff_parts/inner/__init__.py"),
        ("from bakeoff_parts import WIDTH\n", "bakeoff_parts/inner/narrow.py"),
        ("from bakeoff_parts import WIDTH\n", "bakeoff_parts/last.py"),
        ("def width():\n    from bakeoff_parts.wide import WIDTH\n", "bakeoff_parts/wide.py"),
        ("def never():\n    import bakeoff_parts.broken\n", "bakeoff_parts/broken.py"),
        ("import bakeoff_parts.beyond\n", "bakeoff_parts/beyond.py"),
    ],
)
def test_an_edit_of_a_module_of_the_users_own_is_another_text(
    mine: Callable[[str], Path], tmp_path: Path, imports: str, edited: str
) -> None:
    """Else evidence that is remembered would be that of another model, and a race mix the two."""
    path = mine(imports)
    before = load(path).sha256
    assert load(path).sha256 == before
    with (tmp_path / "own" / edited).open("a") as file:
        file.write("# edited\n")
    assert load(path).sha256 != before


def test_the_text_is_the_same_whatever_was_imported(mine: Callable[[str], Path]) -> None:
    """A worker hashes before the model is built, and again behind it."""
    path = mine("def width():\n    from bakeoff_parts.wide import WIDTH\n")
    before = load(path).sha256
    importlib.import_module("bakeoff_parts.wide")
    assert load(path).sha256 == before


def test_what_data_imports_is_no_part_of_the_text(mine: Callable[[str], Path], tmp_path: Path) -> None:
    """It runs in the parent alone, where modules may lie that no worker finds."""
    path = mine("")
    with path.open("a") as file:
        file.write("\n\ndef data(size, samples, seed):\n    import bakeoff_helper\n")
    before = load(path).sha256
    (tmp_path / "own" / "bakeoff_helper.py").unlink()
    assert load(path).sha256 == before


def test_what_is_installed_is_told_by_its_version(mine: Callable[[str], Path]) -> None:
    """NumPy, the standard library, and a package that a file can go on without, are no part of its text."""
    alone = load(mine("")).path.read_bytes()
    for imports in ("import numpy\nimport json\n", "try:\n    import not_there\nexcept ImportError:\n    pass\n"):
        assert load(mine(imports)).sha256 == hashlib.sha256(imports.encode() + alone).hexdigest()
