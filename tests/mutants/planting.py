"""Copies of the project's files with a fault in them, and contenders that run from them."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from catalogue.mutant import Mutant

import bakeoff
from bakeoff.environments import declared
from bakeoff.race import prepare

SOURCES = Path(bakeoff.__file__).parent

LEFT_OUT = shutil.ignore_patterns("__pycache__")


def planted(mutant: Mutant, folder: Path) -> Path:
    """Copy what a mutant is planted in to an empty folder, with the fault; return the copy.

    That is the framework's folder, the file of a workload that its independent implementation is asked about, or all of
    bakeoff's sources.
    """
    if any(question.startswith("independent/") for question in mutant.asked):
        copy = folder / Path(mutant.file).name
        shutil.copyfile(SOURCES / mutant.file, copy)
        file = copy
    elif mutant.framework:
        copy = folder / mutant.framework
        shutil.copytree(SOURCES / "frameworks" / mutant.framework, copy, ignore=LEFT_OUT)
        file = copy / mutant.file
    else:
        copy = folder / SOURCES.name
        shutil.copytree(SOURCES, copy, ignore=LEFT_OUT)
        file = copy / mutant.file
    file.write_text(_changed(mutant, file.read_text()))
    return copy


def _changed(mutant: Mutant, text: str) -> str:
    """Return a file's text with the fault; fail where it cannot be planted any more."""
    for old, new in mutant.changes:
        count = text.count(old)
        assert count == 1, f"{mutant.id!r} cannot be planted: {old!r} stands {count} times in {mutant.file}"
        text = text.replace(old, new)
    return text


def found_in(patch: pytest.MonkeyPatch, folder: Path) -> None:
    """Have the frameworks that come with bakeoff found in another folder."""
    patch.setattr(declared, "_shipped", lambda: folder)


def contenders_found_in(patch: pytest.MonkeyPatch, folder: Path) -> None:
    """Have contenders found in a folder of copies, and their reference where it is without a fault.

    Else a copy of the reference's framework would be its own reference, and a fault would stand on both sides.
    """
    shipped = declared._shipped()

    def without_fault(compute: Callable[..., Any]) -> Callable[..., Any]:
        def found(*asked: Any) -> Any:
            with pytest.MonkeyPatch.context() as meanwhile:
                found_in(meanwhile, shipped)
                return compute(*asked)

        return found

    for of_reference in ("_reference", "with_own_layers"):
        patch.setattr(prepare, of_reference, without_fault(getattr(prepare, of_reference)))
    found_in(patch, folder)
