"""What each framework is known to lack: the contract's work that it refuses, with its reason, instead of computing it.

Work is named as child.py names it: `case/attention`, `optimizer/RMSprop`, `vit-b16/train`.
"""

from __future__ import annotations

HOLES: dict[str, frozenset[str]] = {}
"""By framework. A refusal that is not here fails its test, and so does a hole here that is none any more."""

ROUNDED: dict[str, frozenset[str]] = {"mlx": frozenset({"inceptionv3/train", "resnet50-cifar10/train"})}
"""Work whose losses and gradients a framework rounds more than the workload allows: it gets no certificate there, which
a user is told in its place. On a processor MLX adds up the values of a channel one after another in float32: outputs
are off by 6e-7, three times as much as PyTorch's, so that values near the zero of a ReLU go the other way. With seeds 0
to 11 the worst gradient of resnet50-cifar10 was off by 1e-5 at most in five, by 7e-3 to 1e-1 in the other seven."""

WITHOUT_CLOCK = frozenset({"jittor", "mlx"})
"""Frameworks whose profiler gives no span to hold ours against; they say why."""
