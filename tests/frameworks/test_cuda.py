"""The branches for CUDA, beside stand-ins for a GPU: no GPU is here, and the arithmetic on one was not run by us."""

from __future__ import annotations

import functools
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

import bakeoff
from bakeoff.environments.declared import frameworks
from bakeoff.environments.interpreters import resolve
from bakeoff.spec.contender import Contender

CHILD = Path(__file__).with_name("cuda_child.py")
WITH_CUDA = [
    name for name, found in frameworks().items() if found.info.listed and "cuda" in found.info.options["device"].values
]
pytestmark = pytest.mark.timeout(300)


@functools.cache
def told(name: str) -> dict[str, Any]:
    """Give what a framework's branches did, in its own interpreter."""
    framework = frameworks()[name]
    interpreter = resolve(Contender(framework=name, label=name), framework)
    done = subprocess.run(
        [interpreter, str(CHILD), name],
        check=False,
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(Path(bakeoff.__file__).parents[1]), "CUDA_VISIBLE_DEVICES": ""},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


@pytest.mark.parametrize("name", WITH_CUDA)
def test_tf32_needs_a_gpu_that_has_it(name: str) -> None:
    """A GPU before compute capability 8.0 is refused with its capability; a newer one computes in TF32."""
    assert told(name)["refused"] == "precision=tf32 needs CUDA compute capability 8.0, and a GPU has 7.5"
    assert told(name)["tf32"] == [True, True]


@pytest.mark.parametrize("name", WITH_CUDA)
def test_float32_is_float32_on_a_gpu(name: str) -> None:
    """TF32 is off for products and convolutions where float32 is asked for, whatever was in force before."""
    assert told(name)["float32"] == [False, False]


@pytest.mark.parametrize("name", WITH_CUDA)
def test_the_choice_of_algorithms_is_read_back(name: str) -> None:
    """Each value of conv_algorithm is what the framework tells to be in force."""
    assert told(name)["algorithms"] == ["heuristic", "profiling", "fixed"]
