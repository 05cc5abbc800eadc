"""JAX's own profiler."""

from bakeoff.frameworks.jax.tracing import Tracer

__all__ = ["Tracer"]
