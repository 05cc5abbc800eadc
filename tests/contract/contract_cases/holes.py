"""What each framework is known to lack: the contract's work that it refuses, with its reason, instead of computing it.

Work is named as child.py names it: `case/attention`, `optimizer/RMSprop`, `vit-b16/train`.
"""

from __future__ import annotations

HOLES: dict[str, frozenset[str]] = {}
"""By framework. A refusal that is not here fails its test, and so does a hole here that is none any more."""

WITHOUT_CLOCK = frozenset({"jittor", "mlx"})
"""Frameworks whose profiler gives no span to hold ours against; they say why."""
