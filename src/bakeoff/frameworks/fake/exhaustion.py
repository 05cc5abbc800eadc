"""What frameworks say when a GPU's memory is exhausted: texts for the script to raise, and how it knows them again."""

from __future__ import annotations

from bakeoff.frameworks.exhaustion import Sign


class FakeGpuError(RuntimeError):
    """What the pretended GPU raises, as frameworks raise errors of their own."""


TEXTS = {
    "plain": "CUDA out of memory. Tried to allocate {asked} of {total}.",
    "resource": "RESOURCE_EXHAUSTED: Out of memory while trying to allocate {asked}.",
    "tensor": "Failed copying input tensor from CPU:0 to GPU:0 in order to run Identity: Dst tensor is not "
    "initialized.",
    "backend": "Unable to initialize backend 'cuda': INTERNAL: no supported devices found for platform CUDA",
    "library": "cuDNN error: CUDNN_STATUS_NOT_INITIALIZED",
    "unknown": "an illegal memory access was encountered",
}
"""By the value of the option `oom_text`: PyTorch's words, XLA's, TensorFlow's, those of JAX's start and of a library,
which may have other causes, and words that say nothing of memory."""

SIGNS = (
    Sign(MemoryError),
    Sign(FakeGpuError, "CUDA out of memory"),
    Sign(FakeGpuError, "RESOURCE_EXHAUSTED"),
    Sign(FakeGpuError, "Dst tensor is not initialized"),
    Sign(FakeGpuError, "no supported devices found", sure=False),
    Sign(FakeGpuError, "CUDNN_STATUS_NOT_INITIALIZED", sure=False),
)
