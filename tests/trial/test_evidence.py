"""What computing evidence holds in memory."""

from __future__ import annotations

import gc
import weakref
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import msgspec
import numpy as np
import pytest

from bakeoff.spec.evidence import Evidence
from bakeoff.trial import evidence
from bakeoff.trial.built import Unrun

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class Model(msgspec.Struct):
    """What draws read of a model."""

    weights: dict[str, np.ndarray[Any, Any]]
    size: Any = None
    optimizer: Any = None


class Ring:
    """A step that refers to itself, as one with an optimiser of PyTorch does."""

    def __init__(self) -> None:
        """Close the ring."""
        self.itself = self

    def settings(self) -> dict[str, str]:
        """Return nothing."""
        return {}


@pytest.fixture
def without_collections() -> Iterator[None]:
    """Have Python look for no rings by itself."""
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("without_collections")
def test_no_draw_of_a_large_model_finds_an_earlier_one_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The step of each is gone before the next is built."""
    monkeypatch.setattr(evidence, "LARGE_BYTES", 8)
    monkeypatch.setattr(evidence, "read_arrays", lambda *_: {})
    monkeypatch.setattr(evidence, "spread", lambda *_, **__: None)
    found = SimpleNamespace(compute=lambda **_: None, arrays={}, losses=[], metric=None)
    monkeypatch.setattr(evidence, "Gathering", lambda *_, **__: found)
    built: list[weakref.ref[Ring]] = []

    def build(*_: Any) -> Ring:
        assert not [one for one in built if one() is not None]
        step = Ring()
        built.append(weakref.ref(step))
        return step

    reference = Evidence(version=2, parameter_shapes={}, state_shapes={}, losses=[], arrays_sha256="")
    engine = cast("Any", SimpleNamespace(build=build))
    model = cast("Any", Model(weights={"a": np.zeros(2)}, size=SimpleNamespace(inputs={})))
    trial = cast("Any", SimpleNamespace(scenario="train", options={}))
    evidence.with_spread(reference, engine, model, trial, cast("Any", None), tmp_path, precision="float32")
    assert len(built) == 2


@pytest.mark.usefixtures("without_collections")
def test_a_step_that_is_released_is_gone_where_it_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """A small one may wait for Python's own time, since looking takes longer than it is worth."""
    monkeypatch.setattr("bakeoff.trial.built.Unrun.conclude", lambda *_: None)
    for large_bytes, is_there in ((8, False), (1000, True)):
        monkeypatch.setattr(evidence, "LARGE_BYTES", large_bytes)
        unrun = Unrun(cast("Any", None), cast("Any", Ring()), cast("Any", Model(weights={"a": np.zeros(2)})))
        step = weakref.ref(cast("Any", unrun.step))
        unrun.release(cast("Any", None))
        assert (step() is not None) == is_there
