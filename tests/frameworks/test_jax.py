from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import bakeoff
from bakeoff.environments.declared import frameworks
from bakeoff.environments.interpreters import resolve
from bakeoff.spec.contender import Contender

CHILD = Path(__file__).with_name("jax_child.py")


def test_products_are_convolutions() -> None:
    """The option convolution=products computes what XLA's convolution does, in float64, whatever the shapes."""
    interpreter = resolve(Contender(framework="jax", label="jax"), frameworks()["jax"])
    done = subprocess.run(
        [interpreter, str(CHILD)],
        check=False,
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(Path(bakeoff.__file__).parents[1])},
    )
    assert done.returncode == 0, done.stderr[-4000:]
    errors = json.loads(done.stdout.splitlines()[-1])
    assert len(errors) == 9
    assert all(error < 1e-12 for error in errors.values()), errors
