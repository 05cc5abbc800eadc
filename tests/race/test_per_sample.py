"""Comparisons with per-sample gradients: a scripted step that clips and adds noise, and what it can do wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.race.inline import InlineWorker

from bakeoff.race import conductor
from bakeoff.race.conductor import search_batches
from bakeoff.report.pages.comparison import _data, work
from bakeoff.spec.errors import UsageError
from bakeoff.spec.per_sample import PerSample

SCENARIO = "per-sample-gradients"
ASKED = {"workload": "mnist-cnn", "scenario": SCENARIO}
NOISY = ASKED | {"noise_multiplier": 1.1}

MODEL = """
from bakeoff.spec.optimizer import SGD
from bakeoff.spec.workload import Size, Workload

WORKLOAD = Workload(
    name="mine", summary="one layer", source="a test", optimizer=SGD(learning_rate=0.1),
    sizes={"full": Size(batch_size=4, input_shape=(6,), classes=3)}, scenarios=("train", "per-sample-gradients"),
)


def build(nn, size):
    class Network(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm = nn.BatchNorm(6)
            self.head = nn.Linear(6, 3)

        def forward(self, x):
            return self.head(self.norm(x))

    return Network()


def loss(nn, outputs, targets):
    return nn.cross_entropy(outputs, targets)
"""


def verified(request: Any) -> Any:
    """Return the certificate of the one contender."""
    (found,) = conductor.verify(request, launch=InlineWorker)
    return found


@pytest.mark.parametrize("asked", [ASKED, ASKED | {"max_norm": 1.5}, NOISY], ids=["plain", "another norm", "noise"])
def test_an_honest_step_is_ranked(race: Any, asked: dict[str, Any]) -> None:
    """It is certified, timed and tied to its certificate, with noise and without."""
    outcome = race("fake", max_rounds=1, **asked)
    (only,) = outcome.contenders
    assert only.certificate.passed, only.certificate.reason
    assert only.status == "ranked", only.reason
    assert outcome.comparison.per_sample == PerSample(
        max_norm=asked.get("max_norm", 1.0), noise_multiplier=asked.get("noise_multiplier", 0.0)
    )


@pytest.mark.parametrize(
    ("wrong", "check"),
    [
        ("clipped-sum", "gradients"),
        ("unclipped", "gradients"),
        ("layer-norms", "gradients"),
        ("mean-norm", "gradients"),
        ("undivided", "gradients"),
        ("batch-gradient", "norms"),
        ("stale", "norms"),
    ],
)
def test_every_mistake_in_clipping_is_caught(request_of: Any, wrong: str, check: str) -> None:
    """The certificate refuses each, with noise or without, by the check that is made for it."""
    for asked in (ASKED, NOISY):
        found = verified(request_of(f"fake:wrong={wrong}", **asked))
        failed = {one.name for one in found.checks if not one.passed}
        assert check in failed, (asked, found.reason)


@pytest.mark.parametrize("wrong", ["no-noise", "double-noise", "noise-each", "noise-before", "same-noise", "one-noise"])
def test_every_mistake_in_the_noise_is_caught(request_of: Any, wrong: str) -> None:
    """The certificate refuses each by the noise's statistics alone."""
    found = verified(request_of(f"fake:wrong={wrong}", **NOISY))
    assert "noise" in {one.name for one in found.checks if not one.passed}, found.reason


def test_noise_that_is_told_and_not_added_is_caught(request_of: Any) -> None:
    """What the step makes of the parameters has to follow from the gradients with noise."""
    for wrong in ("told-noise", "skipped", "rate"):
        found = verified(request_of(f"fake:wrong={wrong}", **NOISY))
        assert {one.name for one in found.checks if not one.passed} == {"update"}, wrong


def test_without_noise_there_is_no_check_of_it(request_of: Any) -> None:
    """Noise is held where it is asked for alone, and every step's loss where it is not."""
    plain, noisy = (verified(request_of("fake", **asked)) for asked in (ASKED, NOISY))
    assert not [one for one in plain.checks if one.name == "noise"]
    assert [one.stage for one in noisy.checks if one.name == "noise"] == ["program", "timed"]
    assert plain.losses is None
    assert noisy.losses == 1
    assert not [one for one in noisy.checks if one.name == "trajectory"]


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"max_norm": 0.0}, "max norm 0.0 cannot be; valid: a number above 0, such as 1.0"),
        ({"max_norm": float("nan")}, "max norm nan cannot be"),
        ({"noise_multiplier": -1.0}, "noise multiplier -1.0 cannot be; valid: a number from 0 on"),
    ],
)
def test_numbers_that_cannot_be_are_refused(request_of: Any, asked: dict[str, float], message: str) -> None:
    """A norm or a multiplier that cannot be ends with its valid range."""
    with pytest.raises(UsageError, match=message):
        conductor.verify(request_of("fake", **ASKED | asked), launch=InlineWorker)


@pytest.mark.parametrize("asked", [{"max_norm": 1.0}, {"noise_multiplier": 1.1}])
def test_clipping_is_not_passed_over_elsewhere(request_of: Any, asked: dict[str, float]) -> None:
    """A norm or noise for a scenario without per-sample gradients is refused, and so is the option."""
    with pytest.raises(UsageError, match="add --scenario per-sample-gradients"):
        conductor.verify(request_of("fake", **asked), launch=InlineWorker)
    with pytest.raises(UsageError, match="per_sample=loop says how per-sample gradients are computed"):
        conductor.verify(request_of("fake:per_sample=loop"), launch=InlineWorker)


def test_a_batch_normalisation_is_refused_with_its_line(request_of: Any, tmp_path: Path) -> None:
    """A model whose samples have no gradients of their own ends before anything is started, in whichever workload."""
    path = tmp_path / "mine.py"
    path.write_text(MODEL)
    with pytest.raises(UsageError, match=r"mine.py:15: norm normalises over the batch.*nn.GroupNorm or nn.LayerNorm"):
        conductor.verify(request_of("fake", workload=str(path), size="full", scenario=SCENARIO), launch=InlineWorker)
    with pytest.raises(UsageError, match="normalises over the batch"):
        conductor.verify(request_of("fake", workload="resnet50", scenario=SCENARIO), launch=InlineWorker)


def test_a_comparison_goes_on_with_the_same_clipping_alone(race: Any) -> None:
    """Another norm is another comparison: it is not resumed."""
    first = race("fake", max_rounds=1, **ASKED)
    assert race("fake", max_rounds=1, resume=True, **ASKED).comparison.id == first.comparison.id
    with pytest.raises(UsageError, match="nothing to go on with"):
        race("fake", max_rounds=1, resume=True, max_norm=2.0, **ASKED)


def test_the_largest_batch_is_searched_as_in_any_scenario(request_of: Any) -> None:
    """What fits with per-sample gradients is found by the same attempts, and the report has the clipping."""
    outcome = search_batches(request_of("fake:sample_kib=1,capacity_kib=21", **NOISY), launch=InlineWorker)
    (found,) = outcome.found
    assert found.certificate.passed
    assert found.largest == 21
    assert outcome.search.plan.per_sample == PerSample(noise_multiplier=1.1)


def test_the_report_tells_how_gradients_are_clipped(race: Any) -> None:
    """The data and the page's words have the norm and the noise."""
    outcome = race("fake", max_rounds=1, **NOISY)
    told = _data(outcome)["comparison"]
    assert "clipped to 1 with noise of 1.1" in work(outcome)
    assert told["scenario"] == SCENARIO
    assert told["per_sample"] == {"max_norm": 1.0, "noise_multiplier": 1.1}


def test_a_framework_without_the_scenario_refuses() -> None:
    """An engine that has no step for the scenario says which it has."""
    from bakeoff.frameworks.steps import for_scenario
    from bakeoff.spec.errors import UnsupportedError

    with pytest.raises(UnsupportedError, match="no step for the scenario 'per-sample-gradients'; it has train, infer"):
        for_scenario({"train": 1, "infer": 2}, SCENARIO)
