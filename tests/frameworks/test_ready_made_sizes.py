"""Which sizes a ready-made model stands for, and how it is trained."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from bakeoff.frameworks.engine import Model
from bakeoff.frameworks.ready_made import ReadyMadeModel
from bakeoff.spec.errors import UnsupportedError
from bakeoff.spec.optimizer import SGD, AdamW
from bakeoff.spec.workload import Size

SIZE = Size(batch_size=1, input_shape=(2,), classes=2, parameters=7)
NAMED = AdamW(learning_rate=0.1, no_decay=("*bias", "*norm.scale"), clip_norm=1.0)


def model(optimizer) -> Model:
    """Return a workload that is trained by this optimiser."""
    return Model(build=lambda *_: None, loss=None, size=SIZE, optimizer=optimizer, weights={})


def ready(**fields) -> ReadyMadeModel:
    """Return a ready-made model."""
    return ReadyMadeModel(name="library.Model", make=lambda size: size.batch_size, **fields)


def test_without_a_number_of_parameters_it_stands_for_any_size() -> None:
    """It is made of the size's config; one with a number is refused at another."""
    assert ready().made(msgspec.structs.replace(SIZE, parameters=None)) == 1
    with pytest.raises(UnsupportedError, match="stands for the size with 8 parameters; this one has 7"):
        ready(parameters=8).made(SIZE)


def test_what_is_not_decayed_is_called_by_the_models_own_names() -> None:
    """All else of the optimiser is the workload's."""
    found = ready(no_decay=("*beta",)).trained_by(model(NAMED)).optimizer
    assert found == msgspec.structs.replace(NAMED, no_decay=("*beta",))


@pytest.mark.parametrize("optimizer", [SGD(learning_rate=0.1), None])
def test_an_optimiser_that_names_nothing_stays(optimizer) -> None:
    """Names are given only in place of names."""
    assert ready(no_decay=("*beta",)).trained_by(model(optimizer)).optimizer == optimizer


def test_names_that_nobody_translates_are_refused() -> None:
    """A model that decays other parameters would be trained in another way."""
    with pytest.raises(UnsupportedError, match="Model calls its own otherwise"):
        ready().trained_by(model(NAMED))


@pytest.mark.parametrize("groups", [{"frozen": ("stem.*",)}, {"rates": (("stem.*", 0.1),)}])
def test_groups_of_the_workloads_own_names_are_refused(groups: dict[str, Any]) -> None:
    """Nothing says which parameters of a ready-made model these would be."""
    with pytest.raises(UnsupportedError, match=f"the workload's {next(iter(groups))} names its own parameters"):
        ready(no_decay=("*beta",)).trained_by(model(AdamW(learning_rate=0.1, **groups)))
