"""The 1,797 handwritten digits that come with scikit-learn, at MNIST's 28 x 28: real data without a network.

Source: E. Alpaydin and C. Kaynak, Optical Recognition of Handwritten Digits (UCI Machine Learning Repository 1998), its
test set, as `sklearn.datasets.load_digits` returns it: 8 x 8 counts from 0 to 16.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bakeoff.data.dataset import DataSet
from bakeoff.spec.batch import labelled
from bakeoff.spec.errors import UsageError

if TYPE_CHECKING:
    from bakeoff.spec.workload import Size

_SIDE = 28  # MNIST's
_BRIGHTEST = 16.0  # of the counts
_HELD_OUT = 0.2  # 359 samples: an accuracy of 0.95 is then known to about 0.012 (one standard error)
_SHAPES = ((_SIDE * _SIDE,), (_SIDE, _SIDE, 1))


def load(size: Size, count: int, seed: int, location: str | None) -> DataSet:
    """Return all digits, in an order from the seed: four fifths to train on, but at most `count`."""
    if location is not None:
        msg = f"digits come with scikit-learn: write 'digits' instead of 'digits:{location}'"
        raise UsageError(msg)
    if size.input_shape not in _SHAPES or size.classes != 10:  # noqa: PLR2004 - there are ten digits
        msg = (
            f"digits are samples of shape {_SHAPES[0]} or {_SHAPES[1]} in 10 classes; this workload takes {size.sample}"
        )
        raise UsageError(msg)
    import sklearn
    from scipy.ndimage import zoom
    from sklearn.datasets import load_digits

    images, labels = load_digits(return_X_y=True)
    images = images.reshape(-1, 8, 8) / _BRIGHTEST
    # Bilinear; grid_mode takes pixels as areas, so the edges of small and large images coincide.
    images = zoom(images, (1, _SIDE / 8, _SIDE / 8), order=1, mode="nearest", grid_mode=True)
    order = np.random.RandomState(seed).permutation(len(images))
    x = images[order].reshape(-1, *size.input_shape).astype(np.float32)
    y = labels[order].astype(np.int32)
    held_out = int(_HELD_OUT * len(x))
    train = slice(held_out, held_out + count)
    samples = labelled(x, y)
    return DataSet(
        source=f"digits (scikit-learn {sklearn.__version__})",
        train=samples.taken(train),
        test=samples.taken(slice(held_out)),
    )
