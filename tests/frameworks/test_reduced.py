from __future__ import annotations

import json

import pytest
from asking import answer

from bakeoff.environments.declared import frameworks
from bakeoff.environments.options import resolve_options
from bakeoff.spec.contender import Contender

LISTED = [name for name, found in frameworks().items() if "bfloat16" in found.info.options["precision"].values]


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", [name for name in LISTED if frameworks()[name].info.listed])
@pytest.mark.by_turns
def test_normalisation_and_parameters_keep_a_reduced_precision(name: str) -> None:
    """Behind a BatchNorm and beside a Parameter, both in float32, activations stay in bfloat16; statistics do not."""
    framework = frameworks()[name]
    contender = Contender(framework=name, label=name, options={"precision": "bfloat16"})
    options = resolve_options(framework.info, contender, {}, 2)
    told = answer(name, "reduced_child.py", name, json.dumps(options))
    assert told["precision"] == "bfloat16"
    assert 0 < told["loss"] < 10
    assert told["exact"]
    # The plain products of the machine's peak are computed in it, too: within three digits, and not in float32.
    assert 1e-4 < told["product"] < 1e-2
