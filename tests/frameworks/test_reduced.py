from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

import bakeoff
from bakeoff.environments.declared import frameworks
from bakeoff.environments.interpreters import resolve
from bakeoff.environments.options import resolve_options
from bakeoff.spec.contender import Contender

CHILD = Path(__file__).with_name("reduced_child.py")
LISTED = [name for name, found in frameworks().items() if "bfloat16" in found.info.options["precision"].values]


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", [name for name in LISTED if frameworks()[name].info.listed])
def test_normalisation_and_parameters_keep_a_reduced_precision(name: str) -> None:
    """Behind a BatchNorm and beside a Parameter, both in float32, activations stay in bfloat16; statistics do not."""
    framework = frameworks()[name]
    contender = Contender(framework=name, label=name, options={"precision": "bfloat16"})
    options = resolve_options(framework.info, contender, {}, 2)
    done = subprocess.run(
        [resolve(contender, framework), str(CHILD), name, json.dumps(options)],
        check=False,
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(Path(bakeoff.__file__).parents[1])},
    )
    assert done.returncode == 0, done.stderr[-4000:]
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["precision"] == "bfloat16"
    assert 0 < told["loss"] < 10
    assert told["exact"]
