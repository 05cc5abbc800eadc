"""Run in Jittor's interpreter: PYTHON jittor_header.py FOLDER. Compiles the headers that its operators include, once.

g++ reads them for each of several hundred operators anew, which is most of what an operator takes. The last line of
output is the header's path; empty where the compiler takes no such header.
"""

from __future__ import annotations

import hashlib
import shlex
import subprocess
import sys
from pathlib import Path

from bakeoff.frameworks.jittor import home

home.settle()

import jittor as jt  # noqa: E402 - reads its settings when it is imported

HEADER = """#define JIT 1
#include <assert.h>
#include <algorithm>
#include <cmath>
#include <limits>
#include "executor.h"
#include "fused_op.h"
#include "var.h"
#include "misc/cpu_math.h"
#include "ops/array_op.h"
#include "ops/binary_op.h"
#include "ops/broadcast_to_op.h"
#include "ops/op_register.h"
#include "ops/reduce_op.h"
#include "ops/ternary_op.h"
#include "ops/unary_op.h"
"""
"""What most operators begin with; the macro stands in every one of them, and changes some of these headers."""

OPERATOR = '#define JIT 1\n#include "var.h"\nint checked = 0;\n'
"""A source that begins as operators do."""

ADDED = {"debugged": "-g", "plain": "-g0"}
"""What Jittor's asm_tuner.py adds to its flags, and what jittor_compiler.sh does; g++ takes the header that fits."""

HEADERS = ("-x", "c++-header", "-o")

NOT_COMPILING = ("-l", "-L", "-Wl,", "-shared")
"""What Jittor's flags hold for the linker."""


def main(folder: str) -> None:
    """Compile the header with the flags of operators, unless it is there, and say where it is."""
    flags = [flag for flag in shlex.split(str(jt.flags.cc_flags)) if not flag.startswith(NOT_COMPILING)]
    command = [str(jt.flags.cc_path), *flags]
    identity = "\n".join([*command, *ADDED.values(), jt.__version__, HEADER])
    header = Path(folder) / f"operators-{hashlib.sha256(identity.encode()).hexdigest()[:12]}.h"
    compiled = Path(f"{header}.gch")
    compiled.mkdir(exist_ok=True)
    header.write_text(HEADER)
    for name, added in ADDED.items():
        if not (compiled / name).exists():
            new = header.with_suffix(".new")
            if not subprocess.run([*command, added, *HEADERS, str(new), str(header)], check=False).returncode:
                new.rename(compiled / name)
    sys.stdout.write(f"{header if all(is_taken([*command, added], header) for added in ADDED.values()) else ''}\n")


def is_taken(command: list[str], header: Path) -> bool:
    """Return whether the compiler takes a compiled header for an operator, and does not read the text."""
    told = [*command, "-H", "-include", str(header), "-fsyntax-only", "-x", "c++", "-"]
    done = subprocess.run(told, input=OPERATOR, capture_output=True, text=True, check=False)
    return done.returncode == 0 and f"! {header}.gch/" in done.stderr


if __name__ == "__main__":
    main(*sys.argv[1:])
