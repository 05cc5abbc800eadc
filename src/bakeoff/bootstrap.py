"""What another interpreter runs: it makes this very bakeoff importable there, and no other package of the parent's.

    PYTHON bootstrap.py trial FOLDER COMMAND_FD ANSWER_FD LIFELINE_FD
    PYTHON bootstrap.py probe FRAMEWORK_FOLDER ANSWER_FD DEVICE

A PYTHONPATH would do for a clone, but an installed bakeoff lies in a site-packages folder whose other packages must not
leak into the worker (docs/decisions/003).
"""

import importlib
import importlib.util
import os
import sys
import time
from pathlib import Path

STARTED_NS = time.perf_counter_ns()

MISSING = """{python} cannot run a bakeoff worker: {error}.
It needs numpy and msgspec beside the framework: {python} -m pip install numpy msgspec
"""


def _make_importable(package: Path) -> None:
    """Import the package `bakeoff` from its folder, without touching sys.path."""
    spec = importlib.util.spec_from_file_location(
        "bakeoff", package / "__init__.py", submodule_search_locations=[str(package)]
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["bakeoff"] = module
    spec.loader.exec_module(module)


def main() -> int:
    """Hand over to the trial or the probe; exit code 3 says that this interpreter cannot be a worker at all."""
    if sys.version_info < (3, 11):  # noqa: UP036 - a user may name any interpreter
        sys.stderr.write(f"{sys.executable} is Python {sys.version.split()[0]}; a bakeoff worker needs 3.11 or newer\n")
        return 3
    if sys.argv[1] == "trial":
        # An empty line tells the parent that this is a Python: what fails from here on is not the interpreter's name.
        os.write(int(sys.argv[4]), b"\n")
    # The script's own folder would make bakeoff's modules importable under their bare names.
    sys.path.pop(0)
    _make_importable(Path(__file__).resolve().parent)
    try:
        for name in ("msgspec", "numpy"):
            importlib.import_module(name)
    except ImportError as error:
        sys.stderr.write(MISSING.format(python=sys.executable, error=error))
        return 3
    from bakeoff.trial import __main__

    return __main__.main(sys.argv[1:], STARTED_NS)


if __name__ == "__main__":
    sys.exit(main())
