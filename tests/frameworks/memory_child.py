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
    from bakeoff.frameworks.torch.memory import is_exhausted, reading

    torch.cuda.max_memory_allocated = lambda device: 1
    torch.cuda.max_memory_reserved = lambda device: 2
    torch.cuda.get_allocator_backend = lambda: "native"
    answers = [reading(torch.device("cuda")), reading(torch.device("cpu"))]
    half, short, full = torch.float16, torch.bfloat16, torch.float32
    sums = [accumulation(dtype, "cuda") for dtype in (half, short, full)] + [accumulation(short, "cpu")]
    torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
    torch.backends.cuda.matmul.allow_fp16_accumulation = True
    switched = [accumulation(dtype, "cuda") for dtype in (half, short)]
    return [
        *answers,
        sums,
        switched,
        exhausted(is_exhausted, lambda: torch.empty(TOO_MUCH)),
        torch_words(),
        torch_limit(),
    ]


def torch_limit() -> list[Any]:
    """Return what CUDA's allocator is asked for under a limit of 9 GiB on a GPU of 12."""
    import torch

    from bakeoff.frameworks.torch import memory

    asked: list[Any] = []
    torch.cuda.set_per_process_memory_fraction = lambda *given: asked.extend(given)
    memory.limit(9 << 30, 12 << 30)
    return asked


def judged(module: Any, errors: list[BaseException]) -> list[str]:
    """Return for each error what its words say of memory."""
    return [
        "yes" if module.is_exhausted(error) else "maybe" if module.may_be_exhausted(error) else "no" for error in errors
    ]


def torch_words() -> list[str]:
    """Return what is made of the forms in which PyTorch and the libraries below it run out of memory."""
    import torch

    from bakeoff.frameworks.torch import memory

    cublas = "CUDA error: CUBLAS_STATUS_{} when calling `cublasCreate(handle)`"
    return judged(
        memory,
        [
            torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB."),
            torch.AcceleratorError("CUDA error: out of memory", 2),
            RuntimeError("CUDA driver error: out of memory"),
            RuntimeError("Triton Error [CUDA]: out of memory"),
            RuntimeError(cublas.format("ALLOC_FAILED")),
            RuntimeError("cuDNN error: CUDNN_STATUS_ALLOC_FAILED"),
            RuntimeError("MPS backend out of memory (MPS allocated: 17.9 GB, other allocations: 1 GB)"),
            RuntimeError("cuDNN error: CUDNN_STATUS_NOT_INITIALIZED"),
            RuntimeError(cublas.format("NOT_INITIALIZED")),
            RuntimeError("GET was unable to find an engine to execute this computation"),
            RuntimeError("CUDA error: an illegal memory access was encountered"),
            RuntimeError("mat1 and mat2 shapes cannot be multiplied"),
        ],
    )


def jax() -> list[Any]:
    """Return what is reported of a GPU under three policies, and of a processor."""
    import jax.numpy as jnp

    from bakeoff.frameworks.jax.memory import is_exhausted, reading

    statistics = {"peak_bytes_in_use": 1, "pool_bytes": 2, "peak_pool_bytes": 3}
    gpu = SimpleNamespace(platform="gpu", memory_stats=lambda: statistics)
    answers = [reading(gpu)]
    os.environ["XLA_PYTHON_CLIENT_MEM_FRACTION"] = ".5"
    answers.append(reading(gpu))
    os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
    answers.append(reading(gpu))
    answers.append(reading(SimpleNamespace(platform="cpu")))
    return [*answers, exhausted(is_exhausted, lambda: jnp.zeros(TOO_MUCH).block_until_ready()), jax_words(), limited()]


def jax_words() -> list[str]:
    """Return what is made of the forms in which JAX and XLA run out of memory."""
    from jax.errors import JaxRuntimeError

    from bakeoff.frameworks.jax import memory

    start = "Unable to initialize backend 'cuda': INTERNAL: {}"
    return judged(
        memory,
        [
            JaxRuntimeError("RESOURCE_EXHAUSTED: Out of memory while trying to allocate 123 bytes."),
            JaxRuntimeError("INTERNAL: Failed to execute XLA Runtime executable: CUDNN_STATUS_ALLOC_FAILED"),
            JaxRuntimeError("INTERNAL: CUBLAS_STATUS_ALLOC_FAILED"),
            JaxRuntimeError("INTERNAL: Failed to load in-memory CUBIN: CUDA_ERROR_OUT_OF_MEMORY: out of memory"),
            RuntimeError(start.format("CUDA_ERROR_OUT_OF_MEMORY: out of memory")),
            RuntimeError(start.format("no supported devices found for platform CUDA")),
            JaxRuntimeError("FAILED_PRECONDITION: DNN library initialization failed. Look at the errors above"),
            JaxRuntimeError("INVALID_ARGUMENT: Executable expected shape"),
            RuntimeError("Unknown backend cuda"),
        ],
    )


def limited() -> list[Any]:
    """Return what JAX gives its GPU client under a limit, where the user's environment says something else."""
    from jaxlib import xla_client

    from bakeoff.frameworks.jax.memory import limit, policy

    os.environ["XLA_PYTHON_CLIENT_MEM_FRACTION"] = ".5"
    limit(9 << 30, 12 << 30)
    policies = []
    for given in ("false", "true"):
        os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = given
        policies.append(policy())
    return [xla_client.generate_pjrt_gpu_plugin_options()["memory_fraction"], *policies]


def tensorflow() -> list[Any]:
    """Return what is reported of a GPU that takes all, one that grows as configured, and one that is forced to."""
    import tensorflow as tf

    from bakeoff.frameworks.tensorflow.memory import is_exhausted, reading

    tf.config.experimental.get_memory_info = lambda device: {"current": 1, "peak": 2}
    tf.config.get_visible_devices = lambda kind: ["gpu"]
    answers = []
    for configured, forced in ((None, None), (True, None), (False, "true"), (True, "false")):
        tf.config.experimental.get_memory_growth = lambda gpu, grows=configured: grows
        if forced:
            os.environ["TF_FORCE_GPU_ALLOW_GROWTH"] = forced
        answers.append(reading())
    return [
        *answers,
        exhausted(is_exhausted, lambda: tf.zeros([TOO_MUCH >> 20, 1 << 20])),
        tensorflow_words(),
        tensorflow_limit(),
    ]


def tensorflow_limit() -> list[Any]:
    """Return what the runtime is asked for under a limit of 9 GiB, in MiB."""
    import tensorflow as tf

    from bakeoff.frameworks.tensorflow import memory

    asked: list[Any] = []
    tf.config.set_logical_device_configuration = lambda gpu, given: asked.extend([gpu, given[0].memory_limit])
    memory.limit("gpu", 9 << 30)
    return asked


def tensorflow_words() -> list[str]:
    """Return what is made of the forms in which TensorFlow and the libraries below it run out of memory."""
    from tensorflow import errors

    from bakeoff.frameworks.tensorflow import memory

    copying = "Failed copying input tensor from CPU:0 to GPU:0 in order to run Identity: Dst tensor is not initialized."
    start = "CUDA runtime implicit initialization on GPU:0 failed. Status: out of memory"
    return judged(
        memory,
        [
            errors.ResourceExhaustedError(None, None, "OOM when allocating tensor with shape[64,64,112,112]"),
            errors.InternalError(None, None, copying),
            errors.InternalError(None, None, start),
            errors.InternalError(None, None, "Failed to load a kernel: CUDA_ERROR_OUT_OF_MEMORY"),
            errors.UnknownError(None, None, "CUDNN_STATUS_ALLOC_FAILED in tensorflow/stream_executor/cuda/cuda_dnn.cc"),
            errors.InternalError(None, None, "Could not create cuBLAS handle: CUBLAS_STATUS_ALLOC_FAILED"),
            errors.NotFoundError(None, None, "No algorithm worked!"),
            errors.InternalError(None, None, "Blas xGEMM launch failed : a.shape=[1,128,64]"),
            errors.UnknownError(None, None, "Failed to get convolution algorithm. This is probably because"),
            errors.InvalidArgumentError(None, None, "Incompatible shapes"),
        ],
    )


if __name__ == "__main__":
    answers = {"torch": torch, "jax": jax, "tensorflow": tensorflow}[sys.argv[1]]()
    sys.stdout.write(msgspec.json.encode(answers).decode() + "\n")
