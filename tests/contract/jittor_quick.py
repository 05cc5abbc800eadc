"""Have the contract's processes compile Jittor's operators by jittor_compiler.sh, which takes half the time.

They lie in a folder of their own: Jittor compiles an operator anew that another command has made. Workers of races,
which know nothing of tests, compile as Jittor does.
"""

from __future__ import annotations

import os
import sys

FOLDER, COMPILER = "BAKEOFF_TESTS_JITTOR_OPERATORS", "BAKEOFF_TESTS_JITTOR_COMPILER"
PYTHON = "BAKEOFF_TESTS_JITTOR_PYTHON"
"""The variables that say so, by jittor_operators.py."""


def before_import() -> None:
    """Set what Jittor reads when it is imported, where this is a process of it."""
    if FOLDER in os.environ:
        os.environ["BAKEOFF_JITTOR_OPERATORS"] = os.environ[FOLDER]


def after_import() -> None:
    """Set what Jittor overwrites when it is imported."""
    jittor = sys.modules.get("jittor")
    if jittor and COMPILER in os.environ:
        jittor.flags.python_path = os.environ[COMPILER]
