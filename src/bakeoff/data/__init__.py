"""Where batches come from, as NumPy arrays; used in the parent only: workers read the arrays that it wrote."""

from __future__ import annotations

from bakeoff.data.padding import padding_of
from bakeoff.data.prepare import named, names, needed_bytes, prepare

__all__ = ["named", "names", "needed_bytes", "padding_of", "prepare"]
