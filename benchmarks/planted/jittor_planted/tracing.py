"""Jittor's own profiler."""

from bakeoff.frameworks.jittor.tracing import Tracer

__all__ = ["Tracer"]
