"""TensorFlow's switches behind the common options: cuDNN's algorithms, Grappler and XLA, oneDNN."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import keras
import tensorflow as tf

from bakeoff.frameworks import xla
from bakeoff.frameworks.denormals import in_force
from bakeoff.frameworks.tensorflow import graphs, grappler, recurrent
from bakeoff.frameworks.tensorflow.devices import onednn
from bakeoff.spec.errors import UnsupportedError
from bakeoff.spec.options import DEFAULT

if TYPE_CHECKING:
    from collections.abc import Mapping

AUTOTUNE = "TF_CUDNN_USE_AUTOTUNE"
"""0: cuDNN's heuristics choose; TensorFlow tries algorithms otherwise. framework.toml sets it before the import."""

_LEVEL_0: xla.Flags = {"xla_backend_optimization_level": 0}
"""What XLA's code generator does to its programs: nothing; its passes over the graph have no common switch."""


def switch(options: Mapping[str, str]) -> None:
    """Set what the options say, before TensorFlow's runtime starts; raise UnsupportedError where it has none such."""
    if options["conv_algorithm"] == "fixed":
        tf.config.experimental.enable_op_determinism()
    if options["mode"] == "compiled":
        xla.add(xla.CONVOLUTIONS[options["conv_algorithm"]])  # AUTOTUNE does not reach XLA
    if options["graph_optimization"] == "off":
        tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})
        if options["mode"] == "compiled":
            xla.add(_LEVEL_0)
    grappler.switch(options.get("grappler", DEFAULT))
    recurrent.choose(options["lstm"], options["mode"])
    graphs.in_force.choose(options["aggregate"])
    if options["onednn"] == "on" and onednn() == "off":
        msg = f"onednn=on: TensorFlow {tf.__version__} here has no oneDNN, or none for this processor"
        raise UnsupportedError(msg)


def settings(device: str, mode: str) -> dict[str, str | int | float | bool | None]:
    """Read back what is in force; None where nothing could be affected by it, or where it is not reported."""
    return {
        "layout": "nhwc",
        "optimizer_kernel": DEFAULT,
        "conv_algorithm": _convolutions(mode) if device == "cuda" else None,
        "graph_optimization": _graph_optimization(mode),
        "grappler": grappler.setting() if mode == "graph" else None,
        "onednn": onednn() if device == "cpu" else None,
        "attention": _attention(),
        **recurrent.in_force.settings(),
        **graphs.in_force.settings(),
        **({"command_buffers": xla.command_buffers()} if device == "cuda" and mode == "compiled" else {}),
    }


def _attention() -> str:
    """Read back what Keras' attention may take; with TensorFlow it computes by einsum unless flash is set."""
    return "flash" if keras.config.is_flash_attention_enabled() else "einsum"


def _graph_optimization(mode: str) -> str | None:
    """Return whether graphs are rewritten, by Grappler and in mode compiled by XLA too; None in mode eager."""
    if mode == "eager":
        return None
    without = bool(tf.config.optimizer.get_experimental_options().get("disable_meta_optimizer"))
    if mode == "compiled":
        without = without and xla.written(_LEVEL_0) in os.environ.get(xla.FLAGS, "")
    return "off" if without else "on"


def _convolutions(mode: str) -> str:
    """Return how cuDNN's algorithms are chosen: TensorFlow, and XLA too, tries them unless it is set otherwise."""
    if _is_deterministic():
        return "fixed"
    if mode == "compiled":
        return xla.algorithms()
    return "heuristic" if os.environ.get(AUTOTUNE) == "0" else "profiling"


def _is_deterministic() -> bool:
    """Return whether operations are deterministic; TensorFlow has no public name to ask."""
    from tensorflow.python.framework import config

    return bool(config.is_op_determinism_enabled())


def denormals(mode: str) -> str:
    """Read back what a multiplication does with denormal numbers, executed as the mode says."""
    multiply = tf.multiply
    if mode != "eager":
        multiply = tf.function(tf.multiply, autograph=False, jit_compile=mode == "compiled")
    threads = tf.config.threading.get_intra_op_parallelism_threads()
    return in_force(lambda left, right: multiply(tf.constant(left), tf.constant(right)).numpy(), threads)
