"""Labelled images from Hugging Face, or from a local folder in the same form; needs the extra `data`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bakeoff.data.dataset import DataSet
from bakeoff.data.reading import library, split_of
from bakeoff.spec.batch import labelled
from bakeoff.spec.bounded import at_home
from bakeoff.spec.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from bakeoff.spec.batch import Batch
    from bakeoff.spec.workload import Size

# By the shape of an image, height, width and channels: the data set that is meant when no location is given.
_BY_SHAPE: dict[tuple[int, ...], str] = {(28, 28, 1): "ylecun/mnist", (32, 32, 3): "uoft-cs/cifar10"}
_FLAT = {784: (28, 28, 1), 3072: (32, 32, 3)}
_SHAPES_TOLD = 3  # of a data set whose images differ: enough to see it
_TEST_SAMPLES = 2000  # an accuracy of 0.95 is then known to about 0.005 (one standard error)


def load(size: Size, count: int, seed: int, location: str | None) -> DataSet:
    """Return up to `count` images of the split `train` in an order from the seed, scaled to 0 to 1, and some of `test`.

    `location` is a folder as `datasets` reads or saves it; without one, the data set is found by the shape.
    """
    splits, source = _open(size, location)
    train = _samples(split_of(source, splits, "train"), size, count, seed, source)
    test = _samples(splits["test"], size, _TEST_SAMPLES, seed, source) if "test" in splits else None
    return DataSet(source=source, train=train, test=test)


def _open(size: Size, location: str | None) -> tuple[Any, str]:
    """Open a data set; return its splits and its name with the version of the library."""
    if size.inputs or size.targets or not size.classes:
        msg = f"data from Hugging Face are one image and one class a sample; this workload takes {size.sample}"
        raise UsageError(msg)
    datasets = library("datasets", "huggingface")
    library("PIL.Image", "huggingface")  # what `datasets` decodes images with, and does not itself depend on
    name = location or _by_shape(size)
    if location is not None and not at_home(location).is_dir():
        msg = f"huggingface:{location}: there is no such folder"
        raise UsageError(msg)
    try:
        splits = _read(datasets, at_home(location)) if location is not None else datasets.load_dataset(name)
    except (OSError, ValueError, RuntimeError, datasets.exceptions.DatasetsError) as error:
        remedy = "" if location else ". Without a network use another source, or a folder: huggingface:/path/to/folder"
        msg = f"cannot read {name!r} with datasets {datasets.__version__}: {type(error).__name__}: {error}{remedy}"
        raise UsageError(msg) from error
    return splits, f"huggingface {name} (datasets {datasets.__version__})"


def _read(datasets: Any, folder: Path) -> Any:
    """Read a folder: saved by `save_to_disk`, or of files that `load_dataset` knows."""
    saved = (folder / "dataset_dict.json").exists()
    return datasets.load_from_disk(str(folder)) if saved else datasets.load_dataset(str(folder))


def _by_shape(size: Size) -> str:
    """Choose the data set that fits the workload's samples."""
    if _image_shape(size) not in _BY_SHAPE:
        known = ", ".join(f"{shape} for {name}" for shape, name in _BY_SHAPE.items())
        msg = (
            f"no data set is known for samples of shape {size.input_shape}; known are {known}; "
            "name a folder: huggingface:/path/to/folder"
        )
        raise UsageError(msg)
    return _BY_SHAPE[_image_shape(size)]


def _image_shape(size: Size) -> tuple[int, ...]:
    """Return the shape of an image whose flat form the workload may take."""
    return _FLAT.get(size.input_shape[0], size.input_shape) if len(size.input_shape) == 1 else size.input_shape


def _samples(split: Any, size: Size, count: int, seed: int, source: str) -> Batch:
    """Return up to `count` images and labels of a split, in an order from the seed."""
    image, label = _columns(split, size, source)
    order = np.random.RandomState(seed).permutation(len(split))[:count]
    # Selected before they are decoded: decoding all of MNIST takes longer than most races.
    chosen = split.select(order)
    images = _stacked(chosen, image, size, source)
    shape = _image_shape(size)
    if images.ndim == 3:  # noqa: PLR2004 - grey images have no axis for channels
        images = images[..., np.newaxis]
    if images.shape[1:] != shape:
        msg = f"{source} has images of shape {images.shape[1:]}; this workload takes {size.input_shape}"
        raise UsageError(msg)
    x = (images.astype(np.float32) / 255).reshape(-1, *size.input_shape)
    return labelled(x, np.asarray(chosen[label], np.int32))


def _stacked(chosen: Any, column: str, size: Size, source: str) -> NDArray[Any]:
    """Return a column of pictures as one array; raise UsageError where one is none, or not of the others' shape."""
    try:
        images = [np.asarray(picture) for picture in chosen[column]]
    except OSError as error:  # as Pillow tells what it cannot decode
        msg = f"{source} has an image that cannot be decoded: {error}"
        raise UsageError(msg) from error
    if len(shapes := sorted({one.shape for one in images})) > 1:
        found = ", ".join(map(str, shapes[:_SHAPES_TOLD]))
        msg = f"{source} has images of several shapes, such as {found}; this workload takes {size.input_shape}"
        raise UsageError(msg)
    return np.stack(images)


def _columns(split: Any, size: Size, source: str) -> tuple[str, str]:
    """Find the column of images and that of labels by their types: their names differ between data sets."""
    kinds = {name: type(feature).__name__ for name, feature in split.features.items()}
    images = [name for name, kind in kinds.items() if kind == "Image"]
    labels = [name for name, kind in kinds.items() if kind == "ClassLabel"]
    fitting = [name for name in labels if split.features[name].num_classes == size.classes]
    if not images or not fitting:
        present = ", ".join(f"{name} ({kind})" for name, kind in kinds.items())
        msg = f"{source} has columns {present}; needed are an Image and a ClassLabel of {size.classes} classes"
        raise UsageError(msg)
    return images[0], fitting[0]
