"""What can be timed on a workload, and which evidence each scenario owes before it is."""

from __future__ import annotations

from typing import Literal, NamedTuple

Scenario = Literal["train", "infer"]

EvidencePart = Literal["outputs", "losses", "gradients", "optimizer", "state"]
"""What the certificate can hold a contender to, beside its parameters; see `bakeoff.spec.record.Evidence`.

outputs    of the model in evaluation mode
losses     of the training trajectory, step by step
gradients  of every parameter, before the first step
optimizer  parameters after steps on given gradients
state      what the first step adds to running statistics
"""


class ScenarioSpec(NamedTuple):
    """One scenario; a plain tuple, so that the command line's help can list them without importing anything heavy."""

    verb: str
    """What a contender does in it, as sentences say it: "trains"."""
    trains: bool
    """Each step changes the parameters."""
    evidence: frozenset[EvidencePart]
    """What a contender owes: a certificate without one of these does not pass."""
    measures_latency: bool = False
    """The time from a batch's call to its outputs is told, too."""


SCENARIOS: dict[Scenario, ScenarioSpec] = {
    "train": ScenarioSpec(
        verb="trains",
        trains=True,
        evidence=frozenset({"outputs", "losses", "gradients", "optimizer", "state"}),
    ),
    "infer": ScenarioSpec(verb="infers", trains=False, evidence=frozenset({"outputs"}), measures_latency=True),
}
"""Every scenario: the one list that the command line, the worker, the certificate and the reports decide by."""
