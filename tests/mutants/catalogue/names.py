"""Faults in pools that are cut at their ends."""

from __future__ import annotations

from functools import partial

from catalogue.mutant import Mutant

in_torch_maps, in_jax_maps, in_tensorflow_maps, in_mlx_maps, in_jittor_maps = (
    partial(Mutant, framework, "vocabulary", "maps.py") for framework in ("torch", "jax", "tensorflow", "mlx", "jittor")
)

CUT = {"case/pools that are cut at their ends": "outputs"}

MUTANTS = [
    in_torch_maps(
        "the mean of a cut window counts the padding",
        [("count_include_pad=count_padding", "count_include_pad=count_padding or ceil_mode")],
        CUT,
    ),
    in_jax_maps(
        "the mean of a cut window counts what lies behind the padding",
        [("counts = not any(ends) and (", "counts = (")],
        CUT,
    ),
    in_tensorflow_maps(
        "the mean of a cut window never counts the padding",
        [("if count_padding and any(sides):", "if count_padding and any(sides) and not any(ends):")],
        CUT,
    ),
    in_mlx_maps("a cut window has the largest of its padding", [("ends, -math.inf), 0", "ends, 1.0), 0")], CUT),
    in_jittor_maps(
        "the mean of a cut window never counts the padding",
        [("windows.padding if count_padding else (0, 0)", "(0, 0)")],
        CUT,
    ),
]
