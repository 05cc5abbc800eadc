"""Run in a framework's own interpreter: take the branches for CUDA beside stand-ins for a GPU, and tell what they did.

PYTHON cuda_child.py FRAMEWORK
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import bakeoff.frameworks
from bakeoff.spec.errors import UnsupportedError
from bakeoff.trial.framework import import_engine

OLD, NEW = (7, 5), (8, 0)
ALGORITHMS = ("heuristic", "profiling", "fixed")
OPTIONS = {
    "mode": "compiled",
    "layout": "nhwc",
    "optimizer_kernel": "default",
    "graph_optimization": "on",
    "onednn": "default",
}


def torch() -> dict[str, Any]:
    """Take PyTorch's."""
    import torch

    from bakeoff.frameworks.torch import precision, switches

    def on(capability: tuple[int, int], name: str) -> Any:
        told = {"get_device_capability": lambda: capability, "get_device_name": lambda: "a GPU"}
        with mock.patch.multiple(torch.cuda, **told):
            precision.Precision(name, "cuda")
            return torch.get_float32_matmul_precision() != "highest", torch.backends.cudnn.allow_tf32

    def chosen(algorithm: str) -> Any:
        switches.Switches(OPTIONS | {"conv_algorithm": algorithm})
        return switches._convolutions()

    def words() -> list[str]:
        from bakeoff.frameworks.torch import engine

        with mock.patch.object(torch.version, "cuda", "13.0"):
            return [engine.Engine().why_not("cuda"), engine.Engine().built_for().cuda]

    return told(on, chosen) | {"words": words()}


def jax() -> dict[str, Any]:
    """Take JAX's."""
    from bakeoff.frameworks.jax import precision, switches

    def on(capability: tuple[int, int], name: str) -> Any:
        made = precision.Precision(name)
        made.check(SimpleNamespace(compute_capability="{}.{}".format(*capability), device_kind="a GPU"))
        settings = made.settings("cuda")
        return settings["tf32_matmul"], settings["tf32_convolution"]

    def chosen(algorithm: str) -> Any:
        return switches.Switches(OPTIONS | {"conv_algorithm": algorithm}).settings("cuda", "compiled")["conv_algorithm"]

    def words() -> list[str]:
        from bakeoff.frameworks.jax import devices

        full = RuntimeError(
            "Unable to initialize backend 'cuda': INTERNAL: no supported devices found for platform CUDA"
        )
        without = devices.in_words("cuda", full)
        with mock.patch.object(devices, "_plugin", return_value="jax-cuda13-plugin"):
            return [devices.in_words("cuda", full), devices.built_for_cuda(), without]

    return told(on, chosen) | {"words": words()}


def tensorflow() -> dict[str, Any]:
    """Take TensorFlow's; its variable is set as the worker sets it before the import."""
    import os

    import tensorflow as tf

    from bakeoff.frameworks.tensorflow import precision, switches

    def on(capability: tuple[int, int], name: str) -> Any:
        details = {"compute_capability": capability, "device_name": "a GPU"}
        with (
            mock.patch.object(tf.config, "get_visible_devices", return_value=["GPU:0"]),
            mock.patch.object(tf.config.experimental, "get_device_details", return_value=details),
        ):
            settings = precision.Precision(name).settings("cuda")
        return settings["tf32_matmul"], settings["tf32_convolution"]

    def chosen(algorithm: str) -> Any:
        os.environ[switches.AUTOTUNE] = {"heuristic": "0"}.get(algorithm, "1")
        switches.switch(OPTIONS | {"conv_algorithm": algorithm})
        return switches.settings("cuda", "graph")["conv_algorithm"]

    def words() -> list[str]:
        from bakeoff.frameworks.tensorflow import engine

        build = {"cuda_version": "12.5.1", "cuda_compute_capabilities": ["sm_60", "compute_90"]}
        with (
            mock.patch.object(tf.test, "is_built_with_cuda", return_value=True),
            mock.patch.object(tf.sysconfig, "get_build_info", return_value=build),
        ):
            built = engine.Engine().built_for()
            return [engine.Engine().why_not("cuda"), built.cuda, *built.kernels]

    return told(on, chosen) | {"words": words()}


def told(on: Any, chosen: Any) -> dict[str, Any]:
    """Ask for every branch: TF32 on an old GPU and on a new one, float32 after it, each choice of algorithms."""
    try:
        refused = f"not refused: {on(OLD, 'tf32')}"
    except UnsupportedError as error:
        refused = str(error)
    return {
        "refused": refused,
        "tf32": on(NEW, "tf32"),
        "float32": on(NEW, "float32"),
        "algorithms": [chosen(algorithm) for algorithm in ALGORITHMS],
    }


if __name__ == "__main__":
    import_engine(Path(bakeoff.frameworks.__file__).parent / sys.argv[1])
    print(json.dumps(globals()[sys.argv[1]]()))  # noqa: T201 - its answer
