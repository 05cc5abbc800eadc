"""Which packages measured, in one line: a version that not all contenders share is told with whose it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bakeoff.report.units import listed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bakeoff.judge.outcome import ContenderOutcome


def packages(contenders: Iterable[ContenderOutcome]) -> str:
    """Name every package: "jax 0.9.2 (jax@0.9.2) and 0.10.2 (jax@0.10.2), flax 0.12.8"; empty where none is known."""
    found: dict[str, dict[str, dict[str, None]]] = {}
    for one in contenders:
        for name, version in one.versions.items():
            found.setdefault(name, {}).setdefault(version, {})[one.label] = None
    return ", ".join(f"{name} {_versions(labels)}" for name, labels in found.items())


def _versions(labels: dict[str, dict[str, None]]) -> str:
    """Name the one version, or each with the contenders that have it."""
    if len(labels) == 1:
        return next(iter(labels))
    return listed(f"{version} ({', '.join(mine)})" for version, mine in labels.items())
