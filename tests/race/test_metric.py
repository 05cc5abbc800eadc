"""A workload's own metric of trained parameters: read after whole runs, and held in the certificate."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from bakeoff.judge.epochs import whole_runs
from bakeoff.spec.errors import ModelFileError
from bakeoff.spec.metric import Metric
from bakeoff.spec.record import EpochRun
from bakeoff.store.results import read_records
from bakeoff.workloads import plan
from bakeoff.workloads.load import load
from bakeoff.workloads.metric import measured

pytestmark = pytest.mark.slow

FILE = """
import numpy as np

from bakeoff.spec.metric import Metric
from bakeoff.spec.optimizer import SGD
from bakeoff.spec.workload import Size, Workload

SIZE = Size(batch_size=4, input_shape=(5,), classes=3, metric=Metric(name="weight", unit="kg", less_is_better=False))
WORKLOAD = Workload(
    name="mine", summary="s", source="s", sizes={"full": SIZE, "reduced": SIZE}, optimizer=SGD(learning_rate=0.1)
)
LEAST = 0.0


def build(nn, size):
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.head = nn.Linear(5, 3)

        def forward(self, x):
            return self.head(x)

    return Model()


def loss(nn, outputs, targets):
    return nn.cross_entropy(outputs, targets)


def metric(size, parameters):
    found = sum(np.abs(value).sum() for value in parameters.values())
    if found < LEAST:
        raise ValueError("too light")
    return found
"""

LEFT = 0.8
"""Of the weights after 20 steps: in the script's each step takes a tenth of a tenth of the first weights away."""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Write the workload's file."""
    path = tmp_path / "mine.py"
    path.write_text(FILE)
    return path


@pytest.fixture
def first(file: Path) -> float:
    """Give the metric before the first step."""
    loaded = load(file)
    value = measured(loaded, loaded.size("full"), plan.weights(loaded.build, loaded.size("full"), 0))
    assert value is not None
    return value


def test_a_whole_run_ends_with_the_metric_of_its_parameters(race: Any, file: Path, first: float) -> None:
    """It is that of the parameters after the last step, and the outcome says what it is."""
    (contender,) = race("fake", workload=str(file), steps=20, max_rounds=3).contenders
    assert contender.whole.metric == Metric(name="weight", unit="kg", less_is_better=False)
    assert [run.metric for run in contender.whole.runs] == [pytest.approx(LEFT * first)] * 3
    assert contender.whole.median_metric == pytest.approx(LEFT * first)


def test_the_certificate_holds_it(race: Any, file: Path) -> None:
    """It is among the checks of both stages; a contender that trains at half the rate fails it as timed."""
    (contender,) = race("fake", workload=str(file), max_rounds=3).contenders
    assert contender.status == "ranked"
    stages = [check.stage for check in contender.certificate.checks if check.name == "metric"]
    assert stages == ["program", "timed"]
    (cheat,) = race("fake:wrong=rate", workload=str(file), max_rounds=3).contenders
    assert cheat.status == "uncertified"
    assert "metric" in {check.name for check in cheat.certificate.checks if not check.passed}


def test_inference_and_other_workloads_have_none(race: Any, file: Path) -> None:
    """What is not trained, and a workload that declares no metric, tells none."""
    for asked in ({"workload": str(file), "scenario": "infer"}, {}):
        (contender,) = race("fake", steps=20, max_rounds=3, **asked).contenders
        assert contender.whole.metric is None
        assert [run.metric for run in contender.whole.runs] == [None] * 3
        assert "metric" not in {check.name for check in contender.certificate.checks}


def test_a_metric_that_fails_in_the_end_costs_no_run(race: Any, file: Path, first: float) -> None:
    """The run keeps its time and its loss, and tells no metric."""
    file.write_text(FILE.replace("LEAST = 0.0", f"LEAST = {0.9 * first}"))
    (contender,) = race("fake", workload=str(file), steps=20, max_rounds=3).contenders
    assert (contender.status, contender.whole.failures, contender.whole.metric) == ("ranked", [], None)
    assert all(run.loss is not None and run.metric is None for run in contender.whole.runs)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("    return found", "    return found * np.nan", "metric returned no finite number of the first weights"),
        ("    return found", "    return parameters['tail.weight']", "in metric: KeyError"),
        ("LEAST = 0.0", "LEAST = 1e9", "in metric: ValueError: too light"),
    ],
)
def test_a_metric_of_no_number_is_told_before_anything_starts(
    race: Any, file: Path, old: str, new: str, told: str
) -> None:
    """A function that fails on the first weights, or gives no finite number of them, is an error of the user's file."""
    file.write_text(FILE.replace(old, new))
    with pytest.raises(ModelFileError, match=told):
        race("fake", workload=str(file), max_rounds=3)
    assert not list(file.parent.glob("results/*/comparison.json"))


def test_records_from_before_metrics_are_judged(race: Any, file: Path) -> None:
    """Whole runs that were recorded without the field have everything else, and no metric."""
    outcome = race("fake", workload=str(file), steps=20, repeats=1, max_rounds=3)
    (record,) = (one for one in read_records(Path(outcome.path)).records.values() if one.trial.purpose == "epochs")
    assert record.epochs is not None
    assert record.epochs.metric is not None
    fields = msgspec.to_builtins(record.epochs)
    del fields["metric"]
    older = msgspec.structs.replace(record, epochs=msgspec.json.decode(msgspec.json.encode(fields), type=EpochRun))
    whole = whole_runs([older])
    assert whole is not None
    assert (whole.metric, whole.runs[0].metric, whole.runs[0].loss) == (None, None, record.epochs.loss)
