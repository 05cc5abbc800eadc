"""TensorFlow's own profiler."""

from bakeoff.frameworks.tensorflow.tracing import Tracer

__all__ = ["Tracer"]
