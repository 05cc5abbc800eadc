"""How far a variance in float32 is off where a batch is padded: what SUMS of certify/tolerances.py allows for.

    python benchmarks/running_sums.py [--draws 9] [--output STEM]

It runs itself with TensorFlow's interpreter, on a processor. Maps like those of deepspeech2's convolutions (batch,
frequencies, frames, channels), normally distributed with a bias for each channel, are zero beyond each sample's length,
which is drawn from half of the frames on. Their variance over all axes but the last is held against NumPy's in float64:
the largest error of a channel as a share of the largest variance. A step adds a tenth of it to a running variance, so
that the share is the same.

"Keras" is keras.ops.moments in a function of TensorFlow, which BatchNormalization calls; "two sums" takes the mean over
frames first, and that over batch and frequencies then. `allowed` is what a certificate would allow without SUMS: 4
times 128 roundings. There is no clock in it: what it finds does not depend on how busy the machine is.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from pathlib import Path
from typing import Any

from inside import run_inside

FREQUENCIES = 81
"""Of deepspeech2's map behind its first convolution."""

MAPS = ((2, 50, 4), (4, 43, 4), (4, 50, 4), (16, 50, 4), (4, 50, 32), (4, 850, 32))
"""Batch, frames and channels: the first four have reduced size's channels, fewer than a register holds, and the last
one is of full size."""

DEVIATION, BIAS = 1.4, 0.1
"""Of the map's values, and the largest bias: what the layer with its first weights gives for normal spectrograms."""


def errors(shape: tuple[int, int, int], draws: int) -> dict[str, list[float]]:
    """Give each way's error in each draw."""
    import keras
    import tensorflow as tf

    @tf.function
    def by_keras(x: Any) -> Any:
        return keras.ops.moments(x, (0, 1, 2))[1]

    @tf.function
    def by_two_sums(x: Any) -> Any:
        mean = tf.reduce_mean(tf.reduce_mean(x, 2), (0, 1))
        return tf.reduce_mean(tf.reduce_mean((x - mean) ** 2, 2), (0, 1))

    found: dict[str, list[float]] = {"Keras": [], "two sums": []}
    for seed in range(draws):
        x = padded(shape, seed)
        exact = x.astype("float64").var((0, 1, 2))
        for name, variance in (("Keras", by_keras), ("two sums", by_two_sums)):
            found[name].append(float(abs(variance(x).numpy() - exact).max() / exact.max()))
    return found


def padded(shape: tuple[int, int, int], seed: int) -> Any:
    """Draw a map in float32 whose samples have lengths of their own; the first one fills it."""
    import numpy as np

    batch, frames, channels = shape
    random = np.random.default_rng(seed)
    lengths = np.r_[frames, random.integers(frames // 2, frames, batch - 1)]
    is_real = (np.arange(frames) < lengths[:, None])[:, None, :, None]
    values = DEVIATION * random.standard_normal((batch, FREQUENCIES, frames, channels))
    return ((values + random.uniform(-BIAS, BIAS, channels)) * is_real).astype(np.float32)


def inside(draws: int) -> dict[str, Any]:
    """Give the errors of every map, and the versions."""
    import keras
    import tensorflow as tf

    versions = {"tensorflow": tf.__version__, "keras": keras.__version__}
    return {"versions": versions, "maps": [errors(shape, draws) for shape in MAPS]}


def told(shape: tuple[int, int, int], found: dict[str, list[float]]) -> dict[str, Any]:
    """Give a map's row."""
    from bakeoff.certify.tolerances import ROOM, amplitude

    batch, frames, channels = shape
    row: dict[str, Any] = {"batch": batch, "frequencies": FREQUENCIES, "frames": frames, "channels": channels}
    for name, values in found.items():
        row |= {f"{name}, median": f"{statistics.median(values):.1e}", f"{name}, most": f"{max(values):.1e}"}
    return row | {"allowed": f"{ROOM * amplitude('float32'):.1e}", "draws": len(found["Keras"])}


def main() -> None:
    """Measure every map, print the table and write it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=9)
    parser.add_argument("--output", type=Path)
    parser.add_argument("--into", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.into:
        asked.into.write_text(json.dumps(inside(asked.draws)))
        return
    from results import write

    found = run_inside("tensorflow", __file__, "--draws", str(asked.draws))
    versions = ", ".join(f"{name} {version}" for name, version in found["versions"].items())
    rows = [told(shape, one) for shape, one in zip(MAPS, found["maps"], strict=True)]
    write(rows, f"{__doc__}\n{versions}", asked.output)


if __name__ == "__main__":
    sys.exit(main())
