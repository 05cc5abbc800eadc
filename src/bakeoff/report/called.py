"""How bakeoff was called, so that every command that is printed can be pasted where it was printed.

Records, JSON and reports in files keep the plain `bakeoff run ...`: they are read elsewhere. Only what is printed to a
person here goes through `pasteable`.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from pathlib import Path

PLAIN = "bakeoff"

COMMANDS = frozenset(
    (
        "acceptance",
        "completion",
        "diff",
        "doctor",
        "env",
        "explain",
        "export",
        "gallery",
        "history",
        "list",
        "report",
        "reproduce",
        "run",
        "slurm",
        "track",
        "use-case",
        "verify",
        "--help",
        "-h",
    )
)
"""What follows the name in a command: by it a command is told from a sentence about bakeoff."""

_COMMAND = re.compile(rf"(?<![\w./@-]){PLAIN}(?= +(?:{'|'.join(sorted(COMMANDS))})(?![\w.-]))")


class _Called:
    """How this process was called; another program's until its command line says otherwise."""

    name = PLAIN


def note(program: str | None = None) -> None:
    """Note how the command line of this process was called, by its first word if not said."""
    _Called.name = name_of(sys.argv[0] if program is None else program)


def forget() -> None:
    """Print every command as the plain `bakeoff`: what is printed from now on is read elsewhere."""
    _Called.name = PLAIN


def name() -> str:
    """Return what is typed here to call bakeoff, quoted for the shell where it has to be."""
    return _Called.name


def pasteable(text: str) -> str:
    """Return a text in which every command of bakeoff begins as bakeoff was called."""
    return text if _Called.name == PLAIN else _COMMAND.sub(lambda _: _Called.name, text)


def name_of(program: str) -> str:
    """Return what is typed to call this program: its plain name where that finds it, else its path.

    `program` is a process's first word: the path of the script, or of `__main__.py` after `python -m bakeoff`.
    """
    if Path(program).name == "__main__.py":
        return f"{shlex.quote(_python())} -m {PLAIN}"
    found = shutil.which(Path(program).name)
    if found is not None and _is_same(found, program):
        return shlex.quote(Path(program).name)
    return shlex.quote(program if os.sep in program else os.path.join(os.curdir, program))  # noqa: PTH118 - Path drops it


def _python() -> str:
    """Return how this interpreter was called: its name where that finds it, else its path."""
    word = sys.orig_argv[0] if sys.orig_argv else ""
    named = shutil.which(word) if word and os.sep not in word else None
    # An environment's interpreter is a link to another one, so paths are compared and not files.
    if os.sep in word or (named is not None and Path(named).absolute() == Path(sys.executable).absolute()):
        return word
    return sys.executable


def _is_same(one: str, other: str) -> bool:
    """Return whether two paths lead to one file; False where one leads nowhere."""
    try:
        return Path(one).samefile(other)
    except OSError:
        return False
