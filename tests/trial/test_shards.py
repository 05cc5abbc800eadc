"""Which samples a replica takes: its rows of the joined batch, each sample once."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import numpy as np
import pytest

from bakeoff.spec.group import Group
from bakeoff.spec.trial import Inputs
from bakeoff.trial.inputs import Joined, batches_of

BATCHES, SAMPLES, LENGTH = 6, 4, 5


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Write batches whose values say which sample they are of; sequences of odd batches are shorter."""
    samples = np.arange(BATCHES * SAMPLES).reshape(BATCHES, SAMPLES)
    np.save(tmp_path / "tokens.npy", np.repeat(samples[:, :, None], LENGTH, axis=2))
    np.save(tmp_path / "label.npy", samples)
    entries = {"tokens": [LENGTH - index % 2 for index in range(BATCHES)]}
    inputs = Inputs(
        source="test",
        batches=BATCHES,
        sha256="",
        inputs=("tokens",),
        targets=("label",),
        entries=entries,
        along={"tokens": 0},
    )
    (tmp_path / "inputs.json").write_bytes(msgspec.json.encode(inputs))
    return tmp_path


def group(rank: int, world: int) -> Group:
    """Give one process of a group."""
    return Group(rank=rank, world=world, ports=(1,) * world)


@pytest.mark.parametrize("joined", [1, 2])
def test_replicas_take_the_rows_of_the_joined_batch(folder: Path, joined: int) -> None:
    """The replicas' samples, joined in the order of their ranks, are those of one device with all of them."""
    whole = Joined(folder, joined, None)
    parts = [Joined(folder, joined, group(rank, 2)) for rank in range(2)]
    assert {part.count for part in parts} == {whole.count}
    for step in range(2 * whole.count):
        expected, found = whole.at(step), [part.at(step) for part in parts]
        for name, array in expected.arrays.items():
            assert np.array_equal(np.concatenate([one.arrays[name] for one in found]), array)


def test_every_batch_is_taken_once(folder: Path) -> None:
    """Each sample is in one step of a pass, and passes repeat."""
    batches = Joined(folder, 2, None)
    labels = np.concatenate([batches.at(step).targets["label"] for step in range(batches.count)])
    assert sorted(labels) == list(range(BATCHES * SAMPLES))
    assert np.array_equal(batches.at(batches.count).targets["label"], batches.at(0).targets["label"])


def test_sequences_are_cut_where_the_longest_of_all_ends(folder: Path) -> None:
    """All replicas have one shape: that of the longest batch among those that are joined."""
    for rank in range(2):
        assert Joined(folder, 2, group(rank, 2)).at(0).inputs["tokens"].shape == (SAMPLES, LENGTH)


@pytest.mark.parametrize(("purpose", "count"), [("time", BATCHES // 4), ("epochs", BATCHES // 2)])
def test_whole_runs_join_batches_as_the_race_does(folder: Path, purpose: Any, count: int) -> None:
    """Those of the whole data set, of which a race has the first."""
    file = folder / "inputs.json"
    inputs = msgspec.json.decode(file.read_bytes(), type=Inputs)
    file.write_bytes(msgspec.json.encode(msgspec.structs.replace(inputs, batches=BATCHES // 2)))
    trial: Any = SimpleNamespace(purpose=purpose, inputs_path=folder, joined=2, group=group(1, 2), batch_size=SAMPLES)
    batches = batches_of(trial)
    assert batches.count == count
    assert list(batches.at(0).targets["label"]) == list(range(SAMPLES, 2 * SAMPLES))
