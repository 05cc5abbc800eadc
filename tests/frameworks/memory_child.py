"""Run in a framework's interpreter: `PYTHON memory_child.py FRAMEWORK` prints what it tells of a stand-in for a GPU."""

from __future__ import annotations

import os
import sys
from types import SimpleNamespace
from typing import Any

import msgspec

TOO_MUCH = 1 << 48
"""Numbers: 1 PB, more than any address space of today's processors."""


def exhausted(is_exhausted: Any, allocate: Any) -> list[bool]:
    """Return whether an error for want of memory is recognised as one, and whether another error is."""
    answers = []
    for error in (allocate, lambda: int("one")):
        try:
            error()
        except Exception as raised:  # noqa: BLE001 - each framework has its own
            answers.append(is_exhausted(raised))
    return answers


def torch() -> list[Any]:
    """Return what is reported of CUDA's allocator, and of the type in which products are summed."""
    import torch

    from bakeoff.frameworks.torch.accumulation import accumulation
    from bakeoff.frameworks.torch.memory import is_exhausted, told

    torch.cuda.max_memory_allocated = lambda device: 1
    torch.cuda.max_memory_reserved = lambda device: 2
    torch.cuda.get_allocator_backend = lambda: "native"
    answers = [told(torch.device("cuda")), told(torch.device("cpu"))]
    half, short, full = torch.float16, torch.bfloat16, torch.float32
    sums = [accumulation(dtype, "cuda") for dtype in (half, short, full)] + [accumulation(short, "cpu")]
    torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
    torch.backends.cuda.matmul.allow_fp16_accumulation = True
    switched = [accumulation(dtype, "cuda") for dtype in (half, short)]
    return [*answers, sums, switched, exhausted(is_exhausted, lambda: torch.empty(TOO_MUCH))]


def jax() -> list[Any]:
    """Return what is reported of a GPU under three policies, and of a processor."""
    import jax.numpy as jnp

    from bakeoff.frameworks.jax.memory import is_exhausted, told

    statistics = {"peak_bytes_in_use": 1, "pool_bytes": 2, "peak_pool_bytes": 3}
    gpu = SimpleNamespace(platform="gpu", memory_stats=lambda: statistics)
    answers = [told(gpu)]
    os.environ["XLA_PYTHON_CLIENT_MEM_FRACTION"] = ".5"
    answers.append(told(gpu))
    os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
    answers.append(told(gpu))
    answers.append(told(SimpleNamespace(platform="cpu")))
    return [*answers, exhausted(is_exhausted, lambda: jnp.zeros(TOO_MUCH).block_until_ready())]


def tensorflow() -> list[Any]:
    """Return what is reported of a GPU that takes all, one that grows as configured, and one that is forced to."""
    import tensorflow as tf

    from bakeoff.frameworks.tensorflow.memory import is_exhausted, told

    tf.config.experimental.get_memory_info = lambda device: {"current": 1, "peak": 2}
    tf.config.get_visible_devices = lambda kind: ["gpu"]
    answers = []
    for configured, forced in ((None, None), (True, None), (False, "true"), (True, "false")):
        tf.config.experimental.get_memory_growth = lambda gpu, grows=configured: grows
        if forced:
            os.environ["TF_FORCE_GPU_ALLOW_GROWTH"] = forced
        answers.append(told())
    return [*answers, exhausted(is_exhausted, lambda: tf.zeros([TOO_MUCH >> 20, 1 << 20]))]


if __name__ == "__main__":
    answers = {"torch": torch, "jax": jax, "tensorflow": tensorflow}[sys.argv[1]]()
    sys.stdout.write(msgspec.json.encode(answers).decode() + "\n")
