"""bakeoff races deep-learning frameworks on the same work and gives a verdict that holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bakeoff.api import (
        BakeoffError,
        ExplainedResult,
        Result,
        StoreError,
        StudyResult,
        UnknownNameError,
        UsageError,
        compare,
        explain,
        load,
        max_batch,
        sweep,
    )

__version__ = "0.1.0"
__all__ = [
    "BakeoffError",
    "ExplainedResult",
    "Result",
    "StoreError",
    "StudyResult",
    "UnknownNameError",
    "UsageError",
    "__version__",
    "compare",
    "explain",
    "load",
    "max_batch",
    "sweep",
]


def __getattr__(name: str) -> Any:
    """Import the Python interface on first use, so that `import bakeoff` stays light."""
    if name in __all__:
        from bakeoff import api

        return getattr(api, name)
    msg = f"module 'bakeoff' has no attribute {name!r}"
    raise AttributeError(msg)


def __dir__() -> list[str]:
    """Name what is public, before its first use, too."""
    return sorted({*globals(), *__all__})
