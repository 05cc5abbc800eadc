"""MLX's profiler, of which there is none that a program can read."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from bakeoff.frameworks.tracing import Trace

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from pathlib import Path

    from bakeoff.spec.explained import Level


class Tracer:
    """Nothing to ask: MLX computes a step's graph when its results are asked for, and notes no times."""

    level: Level = "none"
    counts = True
    reason = (
        "MLX has no profiler that a program can read: of Apple's GPU it writes captures for Xcode "
        "(mlx.core.metal.start_capture), of a processor nothing, and evaluating operation by operation would be "
        "another program"
    )

    def scoped(self, build: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        """Return the workload's `build` as it is."""
        return build

    def attach(self, step: Any) -> None:
        """Leave the step as it is."""

    def trace(
        self,
        step: Any,  # noqa: ARG002 - the port's signature
        work: Callable[[Callable[[], AbstractContextManager[Any]]], None],
        folder: Path,  # noqa: ARG002 - the same
    ) -> Trace:
        """Do the work, and see nothing of it."""
        work(nullcontext)
        return Trace(steps=[], events=[])
