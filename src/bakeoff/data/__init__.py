"""Where batches come from, as NumPy; in bakeoff's own process only, workers read the arrays it wrote."""

from __future__ import annotations

from bakeoff.data.prepare import named, names, prepare

__all__ = ["named", "names", "prepare"]
