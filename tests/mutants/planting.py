"""Copies of the project's files with a fault in them."""

from __future__ import annotations

import shutil
from pathlib import Path

from catalogue.mutant import Mutant

import bakeoff

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
