"""What the script's step spends its time on: parts by kind of operation, phase and layer, and one that is planted."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, get_args

from bakeoff.spec.errors import UnsupportedError
from bakeoff.spec.explained import GraphStage, OperationKind, Phase
from bakeoff.spec.group import DEVICES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bakeoff.spec.explained import NodeClass


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
    """Return a step's parts, weighted so that their sum is 1; raise UnsupportedError for what is no part.

    Communication is a part on several devices alone.
    """
    told = [_part(text) for text in options["parts"].split(";")]
    plain = [part for part in told if part.kind != "communication" or int(options[DEVICES]) > 1]
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


def stages(options: Mapping[str, str]) -> list[GraphStage]:
    """Return a graph of 100 nodes after the passes of the script, one after another; without one there is no graph.

    Of ten nodes one is expensive, two are cheap; passes take away what is no operation first, then what is cheap.
    """
    if options["passes"] == "none":
        return []
    found, left = [_stage((), _GRAPH)], _GRAPH
    for text in options["passes"].split(";"):
        name, _, count = text.partition("/")
        taken, left = int(count), dict(left)
        for kind in reversed(_GRAPH):
            gone = min(taken, left[kind])
            left[kind], taken = left[kind] - gone, taken - gone
        found.append(_stage((*found[-1].passes, name), left))
    return found


_GRAPH: dict[NodeClass, int] = {"expensive": 10, "cheap": 20, "no op": 70}


def _stage(passes: tuple[str, ...], nodes: dict[NodeClass, int]) -> GraphStage:
    """Return one stage of the graph."""
    return GraphStage(passes=passes, nodes=nodes, removed={kind: _GRAPH[kind] - nodes[kind] for kind in _GRAPH})
