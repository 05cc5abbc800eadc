from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from bakeoff import data
from bakeoff.spec.errors import UsageError
from bakeoff.spec.workload import Size, Workload

FLAT = Size(batch_size=4, input_shape=(784,), classes=10)
COLOUR = Size(batch_size=4, input_shape=(32, 32, 3), classes=10)
WORKLOAD = Workload(name="mine", summary="", source="", sizes={"full": FLAT}, data=("huggingface",))


@pytest.fixture
def datasets(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Give the library, kept away from the network and from the user's cache."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "cache"))
    found = pytest.importorskip("datasets", reason="the extra 'data' is not installed: pip install 'bakeoff[data]'")
    monkeypatch.setattr(found.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    return found


def tiny(datasets: Any, samples: int, shape: Any, *, label: str = "label", classes: int = 10) -> Any:
    """Give a real data set whose image number i has brightness i everywhere and label i % 10."""
    images = [np.full(shape, index, np.uint8) for index in range(samples)]
    features = datasets.Features({"picture": datasets.Image(), label: datasets.ClassLabel(num_classes=classes)})
    columns = {"picture": images, label: [index % classes for index in range(samples)]}
    return datasets.Dataset.from_dict(columns, features=features)


def prepare(folder: Path, size: Size, out: Path, batch_size: int = 4) -> Any:
    """Prepare batches from a folder."""
    inputs = data.prepare(f"huggingface:{folder}", WORKLOAD, size, batch_size, 0, out)
    return inputs, {path.stem: np.load(path) for path in out.glob("*.npy")}


def test_saved_folder(datasets: Any, tmp_path: Path) -> None:
    """A folder that was saved by the library gives its images, scaled to 0 to 1, with their own labels."""
    splits = datasets.DatasetDict(train=tiny(datasets, 20, (28, 28)), test=tiny(datasets, 6, (28, 28)))
    splits.save_to_disk(tmp_path / "saved")
    inputs, found = prepare(tmp_path / "saved", FLAT, tmp_path / "out")
    assert (inputs.batches, inputs.has_test) == (5, True)
    assert found["x"].shape == (5, 4, 784)
    assert found["x"].dtype == np.float32
    brightness = np.rint(found["x"].mean(-1) * 255).astype(int)
    assert sorted(brightness.ravel()) == list(range(20))
    assert list(brightness.ravel()) != list(range(20)), "the order is the seed's, not the file's"
    np.testing.assert_array_equal(brightness % 10, found["y"])
    assert found["x_test"].shape == (6, 784)


def test_folder_of_files(datasets: Any, tmp_path: Path) -> None:
    """A folder of Parquet files, one a split, in the form in which data sets are published, is read the same way."""
    (tmp_path / "files").mkdir()
    tiny(datasets, 8, (32, 32, 3), label="fine").to_parquet(tmp_path / "files" / "train.parquet")
    inputs, found = prepare(tmp_path / "files", COLOUR, tmp_path / "out")
    assert (inputs.batches, inputs.has_test) == (2, False)
    assert found["x"].shape == (2, 4, 32, 32, 3)


@pytest.mark.parametrize(
    ("shape", "classes", "told"),
    [((28, 28), 10, r"images of shape \(28, 28, 1\)"), ((32, 32, 3), 7, r"ClassLabel of 10 classes")],
)
def test_data_set_that_does_not_fit(datasets: Any, tmp_path: Path, shape: Any, classes: int, told: str) -> None:
    """Images or labels that the workload does not take are refused with what the data set has."""
    datasets.DatasetDict(train=tiny(datasets, 8, shape, classes=classes)).save_to_disk(tmp_path / "saved")
    with pytest.raises(UsageError, match=told):
        prepare(tmp_path / "saved", COLOUR, tmp_path / "out")


@pytest.mark.parametrize(
    ("odd", "told"),
    [
        (np.zeros((14, 20), np.uint8), r"several shapes, such as \(14, 20\), \(28, 28\); .* takes \(784,\)"),
        ({"bytes": b"no image", "path": None}, "has an image that cannot be decoded: cannot identify"),
    ],
)
def test_an_image_that_is_not_like_the_others(datasets: Any, tmp_path: Path, odd: Any, told: str) -> None:
    """One of another shape, as photographs in a folder have, or a damaged one is told, with what the workload takes."""
    features = datasets.Features({"picture": datasets.Image(), "label": datasets.ClassLabel(num_classes=10)})
    images = [np.full((28, 28), place, np.uint8) for place in range(7)]
    columns = {"picture": [*images, odd], "label": list(range(8))}
    train = datasets.Dataset.from_dict(columns, features=features)
    datasets.DatasetDict(train=train).save_to_disk(tmp_path / "saved")
    with pytest.raises(UsageError, match=told):
        prepare(tmp_path / "saved", FLAT, tmp_path / "out")


def test_no_split_to_train_on(datasets: Any, tmp_path: Path) -> None:
    """A data set without a split `train` is refused with the splits that it has."""
    datasets.DatasetDict(test=tiny(datasets, 8, (28, 28))).save_to_disk(tmp_path / "saved")
    with pytest.raises(UsageError, match=r"no split 'train'; it has test"):
        prepare(tmp_path / "saved", FLAT, tmp_path / "out")


def test_folder_that_is_not_a_data_set(datasets: Any, tmp_path: Path) -> None:
    """A folder that the library cannot read is told with the library's own reason."""
    assert datasets.__version__
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match=r"cannot read .*empty"):
        prepare(tmp_path / "empty", FLAT, tmp_path / "out")


def test_missing_folder(datasets: Any, tmp_path: Path) -> None:
    """A folder that is not there is told by its path."""
    assert datasets.__version__
    with pytest.raises(UsageError, match=r"nowhere: there is no such folder"):
        prepare(tmp_path / "nowhere", FLAT, tmp_path / "out")


def test_no_network(datasets: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a network the reason is told, and what to do."""

    def refuse(name: str) -> Any:
        msg = f"cannot reach the server of {name}"
        raise ConnectionError(msg)

    monkeypatch.setattr(datasets, "load_dataset", refuse)
    with pytest.raises(UsageError, match=r"cannot read 'ylecun/mnist'.*cannot reach.*huggingface:/path/to/folder"):
        data.prepare("huggingface", WORKLOAD, FLAT, 4, 0, tmp_path)


def test_shape_without_a_known_data_set(datasets: Any, tmp_path: Path) -> None:
    """Without a location only MNIST's and CIFAR-10's shapes are known; others are told to name a folder."""
    assert datasets.__version__
    size = Size(batch_size=4, input_shape=(64, 64, 3), classes=10)
    with pytest.raises(UsageError, match=r"ylecun/mnist.*uoft-cs/cifar10.*huggingface:/path"):
        data.prepare("huggingface", WORKLOAD, size, 4, 0, tmp_path)


def test_missing_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the extra the user is told how to install it."""
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(UsageError, match=r"pip install 'bakeoff\[data\]'"):
        data.prepare("huggingface", WORKLOAD, FLAT, 4, 0, tmp_path)


def test_workloads_list_of_sources_holds_for_locations(tmp_path: Path) -> None:
    """A location does not smuggle in a source that the workload does not have."""
    workload = msgspec.structs.replace(WORKLOAD, data=("synthetic",))
    with pytest.raises(UsageError, match="valid: synthetic"):
        data.prepare("huggingface:/anywhere", workload, FLAT, 4, 0, tmp_path)
