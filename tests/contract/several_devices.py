"""The certificate of a framework on two devices, each way that it declares, from processes as a race has them."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from contract_run import DECLARED, REFERENCE

from bakeoff.environments import declared
from bakeoff.race import conductor
from bakeoff.spec.group import BATCH_STATISTICS
from bakeoff.spec.request import Request

if TYPE_CHECKING:
    from bakeoff.spec.framework import FrameworkInfo
    from bakeoff.spec.verdict import Certificate

_CASES = Path(__file__).parent / "contract_cases"
MODEL = _CASES / "replicated" / "normalised.py"
FINETUNED = _CASES / "models" / "finetuned.py"
"""A model with frozen parameters, and rates by groups."""


def _is_refused(info: FrameworkInfo, statistics: str) -> bool:
    """Return whether a framework has these statistics on GPUs alone."""
    return any(
        statistics in one.when.get(BATCH_STATISTICS, ()) and "cpu" in one.when.get("device", ())
        for one in info.refusals
    )


WAYS = [
    (name, sync, statistics)
    for name, found in DECLARED.items()
    for sync in found.info.syncs
    for statistics in found.info.options[BATCH_STATISTICS].values
    if not _is_refused(found.info, statistics)
]
"""Every framework, its ways of several devices, and of which samples their statistics are."""


CLIPPED_WAYS = [(name, sync) for name, found in DECLARED.items() for sync in found.info.syncs]
"""Every framework, and its ways of several devices: per-sample gradients have no batch statistics."""


def certified_per_sample(framework: str, sync: str, copy: Path | None = None) -> Certificate:
    """Return the certificate of per-sample gradients with noise on two devices, of a small model that convolves."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        if copy is not None:
            _plant(patch, copy)
        asked = {"scenario": "per-sample-gradients", "noise_multiplier": 0.5}
        contenders = (_on_two(framework, {"sync": sync}),)
        request = Request(
            workload="mnist-cnn", contenders=contenders, size="reduced", data="synthetic", results=folder, **asked
        )
        (certificate,) = conductor.verify(request)
    return certificate


def certified(
    framework: str, sync: str, statistics: str, copy: Path | None = None, *, model: Path = MODEL
) -> Certificate:
    """Return the certificate on two devices of the framework's folder, or of a copy that lies alone in its parent.

    In float64 where the framework has it: there is no stage beside the one that is asked for.
    """
    text = _on_two(framework, {"sync": sync, BATCH_STATISTICS: statistics})
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        if copy is not None:
            _plant(patch, copy)
        request = Request(workload=str(model), contenders=(text,), size="reduced", data="synthetic", results=folder)
        (certificate,) = conductor.verify(request)
    return certificate


def _on_two(framework: str, asked: dict[str, str]) -> str:
    """Return a contender on two devices, in float64 where the framework has it."""
    has_float64 = "float64" in DECLARED[framework].info.options["precision"].values
    options = {"devices": "2", "threads": "1"} | asked | ({"precision": "float64"} if has_float64 else {})
    return f"{framework}:{','.join(map('='.join, options.items()))}"


def _plant(patch: pytest.MonkeyPatch, copy: Path) -> None:
    """Have frameworks found where the copy is, with the reference's folder beside it as it is."""
    reference = copy.parent / REFERENCE
    if not reference.exists():
        reference.symlink_to(DECLARED[REFERENCE].path, target_is_directory=True)
    patch.setattr(declared, "_shipped", lambda: copy.parent)
