from __future__ import annotations

import hashlib
import sys
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import pytest

from bakeoff import data
from bakeoff.spec.batch import ArraySpec
from bakeoff.spec.errors import StoreError, UnknownNameError, UsageError
from bakeoff.spec.trial import Inputs
from bakeoff.spec.workload import Size, Workload
from bakeoff.workloads.load import load

if TYPE_CHECKING:
    from pathlib import Path

SIZE = Size(batch_size=8, input_shape=(28, 28, 1), classes=10)
FLAT = Size(batch_size=8, input_shape=(784,), classes=10)
WORKLOAD = Workload(
    name="mine", summary="", source="", sizes={"full": SIZE}, data=("digits", "synthetic", "huggingface")
)


def arrays(folder: Path) -> dict[str, np.ndarray]:
    """Read what was written."""
    return {path.stem: np.load(path, allow_pickle=False) for path in folder.glob("*.npy")}


def test_sources_are_found_by_name() -> None:
    """Every file among the sources is a source."""
    assert data.names() == [
        "cora",
        "digits",
        "graphs",
        "huggingface",
        "imdb",
        "librispeech",
        "ljspeech",
        "ogb",
        "own",
        "synthetic",
        "wikitext",
        "wmt16",
    ]


@pytest.mark.parametrize("source", ["digits", "synthetic"])
def test_batches_have_the_agreed_form(tmp_path: Path, source: str) -> None:
    """Inputs are float32 batches with channels last, labels int32 within the classes."""
    inputs = data.prepare(source, WORKLOAD, SIZE, 8, 0, tmp_path)
    found = arrays(tmp_path)
    assert found["x"].shape == (inputs.batches, 8, 28, 28, 1)
    assert found["y"].shape == (inputs.batches, 8)
    assert (found["x"].dtype, found["y"].dtype) == (np.float32, np.int32)
    assert set(np.unique(found["y"])) == set(range(10))


def test_what_is_told_is_what_is_written(tmp_path: Path) -> None:
    """The hash is that of the arrays' bytes in their order, and inputs.json says the same as what is returned."""
    inputs = data.prepare("digits", WORKLOAD, FLAT, 32, 0, tmp_path)
    found = arrays(tmp_path)
    content = b"".join(found[name].tobytes() for name in ("x", "y", "x_test", "y_test"))
    assert inputs.sha256 == hashlib.sha256(content).hexdigest()
    assert msgspec.json.decode((tmp_path / "inputs.json").read_bytes(), type=Inputs) == inputs
    assert inputs.source.startswith("digits (scikit-learn ")


@pytest.mark.parametrize("source", ["digits", "synthetic"])
def test_seed_decides(tmp_path: Path, source: str) -> None:
    """The same seed gives the same batches, another seed others."""
    hashes = [data.prepare(source, WORKLOAD, FLAT, 16, seed, tmp_path).sha256 for seed in (1, 1, 2)]
    assert hashes[0] == hashes[1] != hashes[2]


def test_the_first_source_is_the_default(tmp_path: Path) -> None:
    """Without a word about data, the workload's first source is taken."""
    assert data.prepare(None, WORKLOAD, FLAT, 16, 0, tmp_path).source.startswith("digits")


def test_digits_are_split_without_overlap(tmp_path: Path) -> None:
    """A fifth of the digits is held out, and none of those is among the ones that are trained on."""
    inputs = data.prepare("digits", WORKLOAD, FLAT, 1, 3, tmp_path)
    assert (inputs.batches, inputs.has_test) == (64, True)
    data.prepare("digits", WORKLOAD, FLAT, 32, 3, tmp_path)
    found = arrays(tmp_path)
    assert found["x"].shape == (44, 32, 784)
    assert found["x_test"].shape == (359, 784)
    assert found["y_test"].shape == (359,)
    seen = {image.tobytes() for image in found["x"].reshape(-1, 784)}
    assert not seen & {image.tobytes() for image in found["x_test"]}


def test_digits_are_still_digits(tmp_path: Path) -> None:
    """A digit that is resized keeps its labels' meaning: nearest neighbours among held-out ones are of its class."""
    data.prepare("digits", WORKLOAD, FLAT, 32, 0, tmp_path)
    found = arrays(tmp_path)
    known, labels = found["x"].reshape(-1, 784), found["y"].ravel()
    assert known.min() == 0.0
    assert known.max() == 1.0
    distances = ((known**2).sum(1) - 2 * found["x_test"] @ known.T).argmin(1)
    assert (labels[distances] == found["y_test"]).mean() > 0.95


def test_resizing_is_bilinear(tmp_path: Path) -> None:
    """The mean brightness of a resized digit is that of the original, and both forms hold the same pixels."""
    from sklearn.datasets import load_digits

    data.prepare("digits", WORKLOAD, SIZE, 32, 0, tmp_path)
    maps = arrays(tmp_path)
    data.prepare("digits", WORKLOAD, FLAT, 32, 0, tmp_path)
    flat = arrays(tmp_path)
    np.testing.assert_array_equal(maps["x"].reshape(flat["x"].shape), flat["x"])
    everything = np.concatenate([flat["x"].reshape(-1, 784), flat["x_test"]])
    assert everything.mean() == pytest.approx(load_digits().data.mean() / 16, rel=0.02)


def test_synthetic_inputs_are_normal_and_labels_uniform(tmp_path: Path) -> None:
    """Synthetic inputs have mean 0 and variance 1; every class is about as frequent."""
    data.prepare("synthetic", WORKLOAD, SIZE, 64, 0, tmp_path)
    found = arrays(tmp_path)
    assert found["x"].mean() == pytest.approx(0.0, abs=1e-2)
    assert found["x"].var() == pytest.approx(1.0, abs=1e-2)
    assert np.bincount(found["y"].ravel()).min() > 300
    assert len(np.unique(found["x"].reshape(64, -1), axis=0)) == 64


@pytest.mark.parametrize(
    ("shape", "batch_size", "batches"),
    [((4,), 8, 64), ((224, 224, 3), 32, 13), ((512, 512, 3), 32, 4)],
)
def test_number_of_batches_follows_from_their_size(tmp_path: Path, shape: Any, batch_size: int, batches: int) -> None:
    """As many batches as fit in 256 MB are kept, but no more than 64 and at least 4."""
    size = Size(batch_size=batch_size, input_shape=shape, classes=2)
    assert data.prepare("synthetic", WORKLOAD, size, batch_size, 0, tmp_path).batches == batches


def test_unknown_source(tmp_path: Path) -> None:
    """A misspelt source is answered with the valid names."""
    with pytest.raises(UnknownNameError, match=r"digit.*did you mean 'digits'.*synthetic"):
        data.prepare("digit", WORKLOAD, FLAT, 8, 0, tmp_path)


def test_source_that_the_workload_does_not_have(tmp_path: Path) -> None:
    """A source that exists but that the workload does not list is refused with those that it lists."""
    workload = msgspec.structs.replace(WORKLOAD, data=("synthetic",))
    with pytest.raises(UsageError, match=r"mine has no data from 'digits'; valid: synthetic"):
        data.prepare("digits", workload, FLAT, 8, 0, tmp_path)


@pytest.mark.parametrize(("shape", "classes"), [((32, 32, 3), 10), ((784,), 2)])
def test_source_that_does_not_fit(tmp_path: Path, shape: Any, classes: int) -> None:
    """Digits for a workload of other shapes are refused with both shapes."""
    size = Size(batch_size=8, input_shape=shape, classes=classes)
    with pytest.raises(UsageError, match=r"digits are samples of shape \(784,\)"):
        data.prepare("digits", WORKLOAD, size, 8, 0, tmp_path)


@pytest.mark.parametrize("source", ["digits:/somewhere", "synthetic:/somewhere"])
def test_location_where_there_is_none(tmp_path: Path, source: str) -> None:
    """A location for a source that has none is refused, not ignored."""
    with pytest.raises(UsageError, match="/somewhere"):
        data.prepare(source, WORKLOAD, FLAT, 8, 0, tmp_path)


def test_batch_larger_than_the_data(tmp_path: Path) -> None:
    """A batch that the data cannot fill is refused with the number of samples."""
    with pytest.raises(UsageError, match=r"batch size 2000: digits .* has only 1438 samples"):
        data.prepare("digits", WORKLOAD, FLAT, 2000, 0, tmp_path)


def test_batch_size_zero(tmp_path: Path) -> None:
    """An empty batch is refused."""
    with pytest.raises(UsageError, match="batch size 0"):
        data.prepare("digits", WORKLOAD, FLAT, 0, 0, tmp_path)


def test_folder_that_cannot_be_written(tmp_path: Path) -> None:
    """A folder that cannot be made is told by path and cause."""
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match=r"cannot write the batches to .*file"):
        data.prepare("synthetic", WORKLOAD, FLAT, 8, 0, tmp_path / "file" / "inside")


def test_disk_that_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """NumPy counts bytes where a file is not written whole; what that means, and what to do, is told."""

    def refused(*_: object, **__: object) -> None:
        msg = "131072 requested and 76768 written"
        raise OSError(msg)

    monkeypatch.setattr(np, "save", refused)
    with pytest.raises(StoreError, match=r"no space is left there, or a limit .* by --results DIR"):
        data.prepare("synthetic", WORKLOAD, FLAT, 8, 0, tmp_path)


@pytest.mark.parametrize(("source", "start"), [("synthetic", "c6a4d1e476dbc54e"), ("digits", "62fa949b2100e9bf")])
def test_batches_stay_what_they_were(source: str, start: str, tmp_path: Path) -> None:
    """The batches of the first releases are drawn again bit by bit, so that their comparisons can be resumed."""
    loaded = load("mlp-mnist")
    inputs = data.prepare(source, loaded.workload, loaded.size("reduced"), 16, 0, tmp_path)
    assert inputs.sha256.startswith(start)
    assert (inputs.inputs, inputs.targets) == (("x",), ("y",))


@pytest.mark.parametrize("source", ["digits", "huggingface"])
def test_labelled_images_are_refused_where_other_arrays_are_declared(source: str, tmp_path: Path) -> None:
    """A source of images and classes says what the workload takes instead."""
    size = Size(batch_size=4, inputs={"tokens": ArraySpec(shape=(3,), dtype="int32", high=9)}, classes=10)
    workload = msgspec.structs.replace(WORKLOAD, data=("digits", "huggingface"))
    with pytest.raises(UsageError, match=r"this workload takes tokens int32 \(3,\) -> y int32 \(\)"):
        data.prepare(source, workload, size, 4, 0, tmp_path)


def test_the_number_of_batches_follows_from_all_declared_arrays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A large target counts as an input of its size does."""
    prepare = sys.modules["bakeoff.data.prepare"]
    monkeypatch.setattr(prepare, "_LIMITS", prepare._Limits(race_bytes=256_000))
    image = ArraySpec(shape=(1000,))
    labels = Size(batch_size=2, inputs={"image": image}, classes=2)
    images = Size(batch_size=2, inputs={"image": image}, targets={"other": image})
    counts = [
        data.prepare("synthetic", WORKLOAD, size, 2, 0, tmp_path / name).batches
        for name, size in (("labels", labels), ("images", images))
    ]
    assert counts == [32, 16]


def sample(length: ArraySpec, places: ArraySpec) -> Size:
    """Return a size of texts with a length, parts that follow each other, and places within the length."""
    parts = ArraySpec(shape=(9,), dtype="int32", high=3, order="ascending")
    return Size(batch_size=50, inputs={"length": length, "parts": parts, "places": places}, classes=2)


def test_places_lie_within_a_samples_length(tmp_path: Path) -> None:
    """Drawn places are different ones in ascending order, below the sample's own length; parts follow each other."""
    length = ArraySpec(dtype="int32", low=4, high=10)
    places = ArraySpec(shape=(4,), dtype="int32", high=9, order="places", within="length")
    data.prepare("synthetic", WORKLOAD, sample(length, places), 50, 0, tmp_path)
    lengths, parts, found = (np.load(tmp_path / f"{name}.npy") for name in ("length", "parts", "places"))
    assert (np.diff(found) > 0).all()
    assert (found.min() == 0) & (found < lengths[..., np.newaxis]).all()
    assert found.max() == 8
    assert (np.diff(parts) >= 0).all()
    assert set(np.unique(parts)) == {0, 1, 2}


@pytest.mark.parametrize("within", ["length", ""])
def test_more_places_than_there_are_is_refused(within: str, tmp_path: Path) -> None:
    """Five different places of a text of four words, or below four, cannot be drawn."""
    places = ArraySpec(shape=(5,), dtype="int32", high=9 if within else 4, order="places", within=within)
    with pytest.raises(UsageError, match="places is to hold 5 different places"):
        data.prepare("synthetic", WORKLOAD, sample(ArraySpec(dtype="int32", low=4, high=10), places), 5, 0, tmp_path)
