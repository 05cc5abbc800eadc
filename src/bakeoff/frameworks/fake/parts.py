"""What the script's step spends its time on: parts by kind of operation, phase and layer, and one that is planted."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, get_args

from bakeoff.spec.errors import UnsupportedError
from bakeoff.spec.explained import OperationKind, Phase

if TYPE_CHECKING:
    from collections.abc import Mapping


class Part(NamedTuple):
    """One part of a step."""

    kind: OperationKind
    phase: Phase
    layer: str
    weight: float
    """Of its time beside those of the other parts."""


def planted_ns(options: Mapping[str, str]) -> float:
    """Return how much longer a step takes for the part that is planted."""
    return float(options["planted_ms"]) * 1e6


def parts(options: Mapping[str, str]) -> list[Part]:
    """Return a step's parts, weighted so that their sum is 1; raise UnsupportedError for what is no part."""
    plain = [_part(text) for text in options["parts"].split(";")]
    whole = sum(part.weight for part in plain)
    step_ns = float(options["step_ms"]) * 1e6
    extra_ns = planted_ns(options)
    share = extra_ns / (step_ns + extra_ns) if extra_ns else 0.0
    scaled = [part._replace(weight=part.weight / whole * (1.0 - share)) for part in plain]
    return [*scaled, _part(f"{options['planted']}/{share!r}")] if extra_ns else scaled


def _part(text: str) -> Part:
    """Return a part from "kind/phase/layer/weight"; phase and layer may be empty."""
    kind, _, rest = text.strip().partition("/")
    phase, _, rest = rest.partition("/")
    layer, _, weight = rest.rpartition("/")
    if kind not in get_args(OperationKind) or phase not in get_args(Phase):
        msg = (
            f"part {text!r} of a step cannot be; write KIND/PHASE/LAYER/WEIGHT, in the words of bakeoff.spec.explained"
        )
        raise UnsupportedError(msg)
    return Part(kind, phase, layer, float(weight))  # type: ignore[arg-type] # both are among the literals
