"""A trial with a framework that a test writes itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from bakeoff import data
from bakeoff.environments.declared import framework
from bakeoff.spec.contender import Contender
from bakeoff.spec.trial import TrialSpec
from bakeoff.store.files import write_trial
from bakeoff.workloads.load import load

DECLARED = """
name = "mine"
title = "Mine"
module = ""
distributions = []
[options]
"""


@pytest.fixture
def framework_of(tmp_path: Path) -> Any:
    """Give a function that makes a framework's folder from the text of its engine."""

    def make(engine: str, name: str) -> Path:
        folder = tmp_path / "frameworks" / name
        folder.mkdir(parents=True)
        (folder / "framework.toml").write_text(DECLARED)
        (folder / "__init__.py").touch()
        (folder / "engine.py").write_text(engine)
        return folder

    return make


@pytest.fixture
def trial_of(tmp_path: Path) -> Any:
    """Give a function that makes the folder of a trial that is not started yet."""
    loaded = load("mlp-mnist")
    batches = tmp_path / "inputs"
    data.prepare("synthetic", loaded.workload, loaded.size("reduced"), 4, 0, batches)

    def make(framework: Path, **options: str) -> Path:
        folder = tmp_path / "results" / "trial"
        spec = TrialSpec(
            comparison="mlp-mnist-1234",
            name="r01-mine",
            purpose="time",
            round_number=1,
            contender=Contender(framework=framework.name, label=framework.name, options=options),
            framework_path=str(framework),
            workload_path=str(loaded.path),
            workload_name="mlp-mnist",
            scenario="train",
            size="reduced",
            batch_size=4,
            seed=0,
            inputs_path=str(batches),
            variables={"BAKEOFF_TEST_VARIABLE": "set"},
        )
        write_trial(folder, msgspec.structs.replace(spec))
        return folder

    return make


@pytest.fixture
def fake() -> Path:
    """Give the scripted framework's folder."""
    import bakeoff.frameworks

    return Path(str(bakeoff.frameworks.__file__)).parent / "fake"


@pytest.fixture
def fakes_options() -> dict[str, str]:
    """Give the scripted framework's options, all resolved, as it declares their defaults."""
    declared = framework("fake").info.options
    return {name: support.default for name, support in declared.items()} | {"threads": "1"}
