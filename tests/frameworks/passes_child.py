"""Run in a framework's own interpreter: tell what its compiler is asked for, with passes over the graph and without.

PYTHON passes_child.py FRAMEWORK
"""

from __future__ import annotations

import json
import sys
from typing import Any
from unittest import mock

OPTIONS = {
    "mode": "compiled",
    "layout": "nhwc",
    "optimizer_kernel": "default",
    "conv_algorithm": "default",
    "onednn": "default",
    "attention": "default",
    "lstm": "cell",
    "lengths": "default",
    "aggregate": "segment",
    "device": "cpu",
}
WAYS = ("on", "off")


def torch() -> dict[str, Any]:
    """Tell what torch.compile is given, and the options that the installed Inductor has."""
    import torch
    from torch._inductor import list_options

    from bakeoff.frameworks.torch.switches import Switches

    def given(way: str) -> dict[str, Any]:
        with mock.patch.object(torch, "compile") as call:
            Switches(OPTIONS | {"graph_optimization": way}).compiled(torch.mm)
        return dict(call.call_args.kwargs)

    return {"given": {way: given(way) for way in WAYS}, "there": list_options()}


def jax() -> dict[str, Any]:
    """Tell which options XLA is given with a jitted function."""
    import jax

    from bakeoff.frameworks.jax.switches import Switches

    def given(way: str) -> Any:
        with mock.patch.object(jax, "jit") as call:
            Switches(OPTIONS | {"graph_optimization": way}).executed(jax.numpy.add)
        return call.call_args.kwargs["compiler_options"]

    return {"given": {way: given(way) for way in WAYS}}


if __name__ == "__main__":
    print(json.dumps(globals()[sys.argv[1]]()))  # noqa: T201 - it is the answer
