from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from bakeoff.spec.trial import TrialSpec
from bakeoff.store.files import TRIAL_FILE
from bakeoff.trial.model import make_model
from bakeoff.workloads import plan
from bakeoff.workloads.load import load


@pytest.mark.parametrize(("purpose", "rates"), [("time", {0.5}), ("memory", {0.5}), ("certify", {0.0})])
def test_dropout_is_in_what_is_timed_and_not_in_the_certificate(trial_of: Any, purpose: Any, rates: set[float]) -> None:
    """Timed steps drop at the workload's rate; the certificate's drop nothing, as draws are each framework's own."""
    written = msgspec.json.decode((trial_of(Path("fake")) / TRIAL_FILE).read_bytes(), type=TrialSpec)
    trial = msgspec.structs.replace(written, workload_path=str(load("vgg16").path), purpose=purpose)
    made = []

    def dropout(rate: float) -> Any:
        made.append(rate)
        return plan.Dropout(rate)

    model = make_model(trial)
    model.build(SimpleNamespace(**vars(plan._VOCABULARY) | {"Dropout": dropout}), model.size)
    assert set(made[-1:]) == rates
