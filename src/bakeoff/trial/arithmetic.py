"""Whether a GPU computes in what was asked: TF32 as it was measured, beside the switch that was to decide it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from bakeoff.spec.errors import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bakeoff.trial.opened import Opened

Settings = dict[str, str | int | float | bool | None]

DEVICES = ("cuda",)
"""That have TF32."""

OVERRIDE = "NVIDIA_TF32_OVERRIDE"
"""The variable by which NVIDIA's libraries pass over all switches: 0 forbids TF32, 1 takes it (NVIDIA, "Accelerating
AI Training with NVIDIA TF32 Tensor Cores")."""

_KINDS = {"tf32_matmul": "products of matrices", "tf32_convolution": "convolutions"}


def measured_tf32(opened: Opened) -> Settings:
    """Return, as settings, in what float32 is computed here; empty where there is nothing to ask."""
    if opened.trial.contender.device not in DEVICES or not hasattr(opened.engine, "measured_tf32"):
        return {}
    return dict(opened.engine.measured_tf32())


def check_tf32(settings: Settings) -> None:
    """Raise UnsupportedError where settings say that TF32 was measured and is switched off, or is on and not there.

    One kind of product that stays in float32 although TF32 is allowed is a library's choice, and no fault.
    """
    if reason := _why_other(settings):
        raise UnsupportedError(reason + _because(os.environ))


def _why_other(settings: Settings) -> str:
    """Return in what way TF32 is not as it was asked; empty where it is, or was not measured."""
    switched = {name: settings.get(name) for name in _KINDS}
    found = {name: settings.get(f"{name}_measured") for name in _KINDS}
    beyond = [_KINDS[name] for name in _KINDS if found[name] is True and switched[name] is False]
    if beyond:
        return (
            f"{' and '.join(beyond)} of float32 are computed in TF32 or less, which is switched off: "
            "1 + 2^-12 was rounded to 1"
        )
    if all(switched.values()) and all(value is False for value in found.values()):
        return "precision=tf32 is not in force: neither products of matrices nor convolutions are computed in TF32"
    return ""


def _because(environment: Mapping[str, str]) -> str:
    """Return what the user's environment has to do with it, and what to do."""
    if OVERRIDE in environment:
        return f". {OVERRIDE}={environment[OVERRIDE]} is set, which passes over every framework's switch: unset it"
    return f". {OVERRIDE} is not set, so this is the framework's or its libraries' own doing"
