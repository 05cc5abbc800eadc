from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from bakeoff import data
from bakeoff.data.padding import Padding, arranged, counted, padding_of
from bakeoff.spec.batch import ArraySpec, Batch, Law
from bakeoff.spec.errors import ModelFileError, UsageError
from bakeoff.spec.trial import Entries
from bakeoff.spec.workload import Size, Workload
from bakeoff.trial.inputs import Batches, Repeated
from bakeoff.workloads.check import check_fields

SIZE = Size(
    batch_size=4,
    inputs={
        "ids": ArraySpec(shape=(20,), dtype="int32", low=1, high=50, length="count"),
        "mask": ArraySpec(shape=(20,), dtype="bool", length="count"),
        "count": ArraySpec(dtype="int32", low=1, high=21, law=Law(mean=8, deviation=4)),
        "sound": ArraySpec(shape=(3, 40), length="frames", along=1),
        "frames": ArraySpec(dtype="int32", low=1, high=41),
    },
    classes=2,
)
WORKLOAD = Workload(name="mine", summary="", source="", sizes={"full": SIZE})


def prepare(folder: Path, padding: str, **fields: Any) -> Any:
    """Prepare synthetic batches."""
    return data.prepare("synthetic", WORKLOAD, SIZE, 4, 0, folder, padding=padding, **fields)


def test_padding_is_zeros_and_masks_tell_it(tmp_path: Path) -> None:
    """Beyond its length a sequence is zeros, along its own axis; truth values are true up to there."""
    inputs = prepare(tmp_path, "fixed")
    batch = Batches(tmp_path).at(3)
    ids, mask, counts = (batch.inputs[name] for name in ("ids", "mask", "count"))
    np.testing.assert_array_equal(mask, np.arange(20) < counts[:, np.newaxis])
    np.testing.assert_array_equal(ids > 0, mask)
    sound, frames = batch.inputs["sound"], batch.inputs["frames"]
    np.testing.assert_array_equal((sound != 0).all(1), np.arange(40) < frames[:, np.newaxis])
    assert (inputs.padding, inputs.entries, inputs.pass_steps) == ("fixed", {}, 1)
    assert inputs.sequences.keys() == {"ids", "mask", "sound"}
    for name, length in (("ids", "count"), ("sound", "frames")):
        assert inputs.sequences[name].real == np.load(tmp_path / f"{length}.npy").sum()
        assert 0.4 < inputs.sequences[name].padded_share < 0.6


@pytest.mark.parametrize("kind", ["normal", "lognormal"])
def test_lengths_follow_their_law(tmp_path: Path, kind: Any) -> None:
    """Synthetic lengths have the declared mean and deviation, and none is outside of what the array may hold."""
    law = ArraySpec(dtype="int32", low=1, high=1001, law=Law(kind=kind, mean=100, deviation=20))
    size = Size(batch_size=100, inputs={"x": ArraySpec(shape=(2,)), "n": law}, classes=2)
    data.prepare("synthetic", WORKLOAD, size, 100, 0, tmp_path)
    drawn = np.load(tmp_path / "n.npy").ravel()
    assert drawn.mean() == pytest.approx(100, abs=1.5)
    assert drawn.std() == pytest.approx(20, abs=1.5)
    tight = msgspec.structs.replace(size, inputs=size.inputs | {"n": msgspec.structs.replace(law, low=90, high=101)})
    data.prepare("synthetic", WORKLOAD, tight, 100, 0, tmp_path)
    drawn = np.load(tmp_path / "n.npy")
    assert (drawn.min(), drawn.max()) == (90, 100)


def test_the_longest_of_each_batch(tmp_path: Path) -> None:
    """Each batch ends with its longest sample; samples keep their order, and nothing but padding is cut."""
    inputs = prepare(tmp_path, "longest")
    found = Batches(tmp_path)
    ids, sound, y = (np.load(tmp_path / f"{name}.npy") for name in ("ids", "sound", "y"))
    assert inputs.batches == found.count == inputs.pass_steps == 16
    for index in range(20):
        batch, at = found.at(index), index % 16
        most, frames = (int(batch.inputs[name].max()) for name in ("count", "frames"))
        assert batch.inputs["ids"].shape == batch.inputs["mask"].shape == (4, most)
        assert batch.inputs["sound"].shape == (4, 3, frames)
        assert batch.inputs["sound"].flags.c_contiguous
        np.testing.assert_array_equal(batch.inputs["ids"], ids[at, :, :most])
        np.testing.assert_array_equal(batch.inputs["sound"], sound[at, :, :, :frames])
        np.testing.assert_array_equal(batch.targets["y"], y[at])
        assert not ids[at, :, most:].any()


def test_buckets(tmp_path: Path) -> None:
    """A batch's samples are of one bucket, the first that holds all of their sequences, and padded to its bound."""
    inputs = prepare(tmp_path, "buckets:5", whole=False)
    batches = Batches(tmp_path)
    shapes = set()
    for index in range(inputs.batches):
        batch = batches.at(index)
        counts, frames = batch.inputs["count"], batch.inputs["frames"]
        bucket = np.maximum(-(-counts // 4), -(-frames // 8))
        assert len(set(bucket)) == 1
        assert batch.inputs["ids"].shape == (4, 4 * bucket[0])
        assert batch.inputs["sound"].shape == (4, 3, 8 * bucket[0])
        shapes.add(int(bucket[0]))
    assert len(shapes) > 2
    assert inputs.padding == "buckets:5"


def test_buckets_pad_less_than_batches_as_they_come(tmp_path: Path) -> None:
    """The share of padding falls from fixed over longest to buckets, which is what they are for."""
    found = [prepare(tmp_path / kind, kind).sequences for kind in ("fixed", "longest", "buckets")]
    padding = [sum(entries.padded_share for entries in sequences.values()) for sequences in found]
    assert padding[0] > padding[1] > padding[2] > 0


def test_entries_by_hand() -> None:
    """Entries are counted once whatever they hold: 8 of 20 are padding here, and 2 of 14 without what all share."""
    sample = Size(
        batch_size=2,
        inputs={"x": ArraySpec(shape=(5, 3), length="n"), "n": ArraySpec(dtype="int32", low=1, high=6)},
        classes=2,
    ).sample
    samples = Batch({"x": np.zeros((4, 5, 3)), "n": np.array([1, 2, 5, 4])}, {"y": np.zeros(4)})
    longest = arranged(samples, sample, 2, Padding("longest"))
    assert longest.entries == {"x": [2, 5]}
    assert counted(samples, sample, 2, {}) == {"x": Entries(real=12, padding=8)}
    assert counted(samples, sample, 2, longest.entries) == {"x": Entries(real=12, padding=2)}
    buckets = arranged(samples, sample, 1, Padding("buckets", 2))
    assert buckets.entries == {"x": [3, 3, 5, 5]}


def test_what_fills_no_batch_of_its_bucket_is_left_over() -> None:
    """Batches stand in the order in which they are full, and hold whole batches alone."""
    sample = Size(
        batch_size=2,
        inputs={"x": ArraySpec(shape=(4,), length="n"), "n": ArraySpec(dtype="int32", low=1, high=5)},
        classes=2,
    ).sample
    samples = Batch({"x": np.zeros((5, 4)), "n": np.array([4, 1, 2, 1, 4])}, {"y": np.zeros(5)})
    found = arranged(samples, sample, 2, Padding("buckets", 2))
    assert found.order.tolist() == [1, 2, 0, 4]
    assert found.entries == {"x": [2, 4]}


def test_padding_is_among_what_the_hash_holds(tmp_path: Path) -> None:
    """The same arrays cut in another way are other data: nothing that is remembered of one holds for the other."""
    hashes = {kind: prepare(tmp_path / kind, kind).sha256 for kind in ("fixed", "longest", "buckets:4", "buckets:5")}
    assert len(set(hashes.values())) == 4
    assert hashes["longest"] == prepare(tmp_path / "again", "longest").sha256


def test_a_search_for_the_largest_batch_takes_whole_sequences(tmp_path: Path) -> None:
    """A batch of any size has samples of every bucket: it is as long as the workload says."""
    prepare(tmp_path, "buckets")
    assert Repeated(tmp_path, 7).at(0).inputs["ids"].shape == (7, 20)


@pytest.mark.parametrize("text", ["", "bucket", "buckets:0", "buckets:x", "longest:3", "fixed:1", "buckets:99999"])
def test_paddings_that_cannot_be(text: str) -> None:
    """What is no padding is refused with those that there are."""
    with pytest.raises(UsageError, match=r"cannot be; valid: fixed, longest, buckets or buckets:N"):
        padding_of(text, SIZE.sample)


def test_samples_without_lengths(tmp_path: Path) -> None:
    """Where nothing has lengths there is nothing to cut, and fixed is what there is."""
    size = Size(batch_size=4, input_shape=(3,), classes=2)
    with pytest.raises(UsageError, match=r"this workload's samples have no lengths.*valid: fixed"):
        data.prepare("synthetic", WORKLOAD, size, 4, 0, tmp_path, padding="buckets")
    assert data.prepare("synthetic", WORKLOAD, size, 4, 0, tmp_path).sequences == {}


def test_too_few_samples_of_one_bucket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Data that fill no batch of one bucket are refused with the number of buckets."""
    from bakeoff.data.sources import synthetic

    drawn = synthetic.load
    monkeypatch.setattr(synthetic, "load", lambda size, count, seed, location: drawn(size, 5, seed, location))
    with pytest.raises(UsageError, match=r"has only 5 samples to train on, too few of one bucket of 20"):
        prepare(tmp_path, "buckets:20")


@pytest.mark.parametrize(
    ("array", "told"),
    [
        (ArraySpec(shape=(4,), length="nobody"), r"its length in 'nobody'; it must name an int32 array of shape"),
        (ArraySpec(shape=(4,), length="n", along=1), r"along axis 1 of \(4,\), which it does not have"),
        (ArraySpec(shape=(3,), length="n"), r"'n' counts from 1 to below 5; it must be low=1 or more and high=4 or le"),
        (ArraySpec(shape=(4,), law=Law(mean=1, deviation=1)), "a law, which only lengths have"),
        (ArraySpec(dtype="int32", high=5, law=Law(mean=9, deviation=1)), "the mean must lie from 0 to below 5"),
    ],
)
def test_lengths_that_cannot_be(array: ArraySpec, told: str) -> None:
    """A length that is not there, does not fit its sequence, or a law of what is none is told with its array."""
    size = Size(batch_size=2, inputs={"x": array, "n": ArraySpec(dtype="int32", low=1, high=5)}, classes=2)
    workload = msgspec.structs.replace(WORKLOAD, sizes={"full": size}, scenarios=("infer",))
    with pytest.raises(ModelFileError, match=rf"sizes\['full'\]\.inputs\['x'\] .*{told}"):
        check_fields(Path("mine.py"), workload)


def test_whole_runs_of_many_steps_have_shapes_of_their_own(tmp_path: Path) -> None:
    """Where shapes differ, an epoch of so many steps has as many batches; the race keeps the first 16 of them."""
    inputs = prepare(tmp_path, "longest", steps=40)
    assert (inputs.batches, inputs.epoch_batches) == (16, 40)
    assert Batches(tmp_path, whole=True).count == len(inputs.entries["ids"]) == 40
    assert (Batches(tmp_path).count, len(inputs.shapes())) == (16, 16)
    assert prepare(tmp_path, "longest", steps=3).epoch_batches == 16
    assert prepare(tmp_path, "fixed", steps=400).epoch_batches == 64
    drawn = data.needed_bytes("synthetic", WORKLOAD, SIZE, 4, 100_000)
    assert drawn > 1000 * data.needed_bytes("synthetic", WORKLOAD, SIZE, 4)
