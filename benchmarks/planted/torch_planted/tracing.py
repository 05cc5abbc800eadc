"""PyTorch's own profiler."""

from bakeoff.frameworks.torch.tracing import Tracer

__all__ = ["Tracer"]
