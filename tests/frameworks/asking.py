"""Run a file beside this one in a framework's own interpreter, and read the JSON in its last line of output."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import bakeoff
from bakeoff.environments.declared import frameworks
from bakeoff.environments.interpreters import resolve
from bakeoff.spec.contender import Contender


def answer(framework: str, child: str, *arguments: str, without: tuple[str, ...] = (), **variables: str) -> Any:
    """Run the child with these arguments and variables, without those that begin so; return what it prints."""
    interpreter = resolve(Contender(framework=framework, label=framework), frameworks()[framework])
    clean = {name: value for name, value in os.environ.items() if not name.startswith(without)}
    done = subprocess.run(
        [interpreter, str(Path(__file__).with_name(child)), *arguments],
        check=False,
        capture_output=True,
        text=True,
        env=clean | variables | {"PYTHONPATH": str(Path(bakeoff.__file__).parents[1])},
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return json.loads(done.stdout.splitlines()[-1])
