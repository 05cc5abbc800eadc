from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from bakeoff.spec.trial import KINDS, Purpose, TrialSpec
from bakeoff.store.files import TRIAL_FILE
from bakeoff.trial.model import make_model
from bakeoff.workloads import layers, plan
from bakeoff.workloads.load import load


@pytest.mark.parametrize("purpose", KINDS)
def test_dropout_is_in_all_steps_and_not_in_the_certificate(trial_of: Any, purpose: Purpose) -> None:
    """What is timed, tested or measured drops at the workload's rate; evidence does not: draws are each framework's."""
    rates = {0.0} if purpose in ("reference", "program", "certify") else {0.5}
    written = msgspec.json.decode((trial_of(Path("fake")) / TRIAL_FILE).read_bytes(), type=TrialSpec)
    trial = msgspec.structs.replace(written, workload_path=str(load("vgg16").path), purpose=purpose)
    made = []

    def dropout(rate: float) -> Any:
        made.append(rate)
        return layers.Dropout(rate)

    model = make_model(trial)
    model.build(SimpleNamespace(**vars(plan._VOCABULARY) | {"Dropout": dropout}), model.size)
    assert set(made[-1:]) == rates
