"""How much sooner the reference has the gradients of an LSTM whose recurrent weights' gradient is summed once.

    python benchmarks/reference_lstm.py [--rounds 5] [--output STEM]

It runs itself with PyTorch's interpreter, on a processor and one thread, in float64. A layer of one direction takes a
batch (batch, length, units) and gives the gradients of all arrays for the sum of its outputs: torch.nn.LSTM, and what
the reference takes in its place from 512 units on (frameworks/torch/summed.py). Both are timed by turns, after a turn
each that is not counted. The ratio is how many times as long torch.nn.LSTM takes, the median over turns, with the least
and the largest; "moved" is the same where every operation's result is moved, as in the draws that tolerances are made
of. `off` is the largest difference of a gradient, as a share of the array's largest.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from inside import run_inside

LAYERS = (
    ("deepspeech2, shortened", 1, 100, 1024),
    ("gnmt", 1, 50, 1024),
    ("gnmt", 8, 50, 1024),
    ("512 units", 1, 100, 512),
    ("256 units", 1, 100, 256),
    ("imdb-lstm", 64, 256, 100),
)
"""Batch, length and units; 512 is the least width that the reference has a layer of its own for."""

SHARE = 4 * 2.0**-24
"""By which results are moved, as in float32 (certify/tolerances.py)."""


def gradients(layer: Any, x: Any) -> list[Any]:
    """Compute the gradients of a layer's arrays."""
    for parameter in layer.parameters():
        parameter.grad = None
    layer(x)[0].sum().backward()
    return [parameter.grad for parameter in layer.parameters()]


def measured(batch: int, length: int, units: int, rounds: int) -> dict[str, Any]:
    """Return the ratios of a layer, and how far its gradients are apart."""
    import torch

    from bakeoff.frameworks.torch.recurrent import LSTM
    from bakeoff.frameworks.torch.rounding import Rounding
    from bakeoff.frameworks.torch.summed import SummedLSTM

    torch.manual_seed(0)
    native, summed = LSTM(units, units).double(), SummedLSTM(units, units).double()
    summed.load_state_dict(native.state_dict())
    for layer in (native, summed):  # as `settle` does: what has no bias of its own has one of zeros
        layer.bias_hh_l0.zero_()
    x = torch.randn(batch, length, units, dtype=torch.float64)
    pairs = zip(gradients(native, x), gradients(summed, x), strict=True)
    found: dict[str, Any] = {"off": max(float((a - b).abs().max() / a.abs().max()) for a, b in pairs)}
    for name, around in (("plain", nullcontext()), ("moved", Rounding(SHARE, 0))):
        ratios = []
        with around:
            for turn in range(rounds + 1):
                took = []
                for layer in (native, summed):
                    began = time.perf_counter()
                    gradients(layer, x)
                    took.append(time.perf_counter() - began)
                ratios += [took[0] / took[1]] if turn else []
        found[name] = ratios
    return found


def inside(rounds: int) -> dict[str, Any]:
    """Return what was measured of every layer, and the version."""
    import torch

    torch.set_num_threads(1)
    return {"version": torch.__version__, "layers": [measured(*shape, rounds) for _, *shape in LAYERS]}


def row(layer: tuple[str, int, int, int], found: dict[str, Any]) -> dict[str, Any]:
    """Return a layer's row."""
    name, batch, length, units = layer
    told: dict[str, Any] = {"layer": name, "batch": batch, "length": length, "units": units}
    for way in ("plain", "moved"):
        ratios = found[way]
        told[f"torch.nn.LSTM / summed, {way}"] = f"{statistics.median(ratios):.2f}"
        told[f"{way}, from to"] = f"{min(ratios):.2f} to {max(ratios):.2f}"
    return told | {"off": f"{found['off']:.1e}"}


def main() -> None:
    """Measure every layer, print the table and write it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--output", type=Path)
    parser.add_argument("--into", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.into:
        asked.into.write_text(json.dumps(inside(asked.rounds)))
        return
    from results import write

    found = run_inside("torch", __file__, "--rounds", str(asked.rounds))
    rows = [row(layer, one) for layer, one in zip(LAYERS, found["layers"], strict=True)]
    write(rows, f"{__doc__}\ntorch {found['version']}", asked.output)


if __name__ == "__main__":
    sys.exit(main())
