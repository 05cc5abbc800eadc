"""What can be timed on a workload, and which evidence each scenario owes before it is."""

from __future__ import annotations

from typing import Literal, NamedTuple

Scenario = Literal["train", "infer", "per-sample-gradients"]

EvidencePart = Literal["outputs", "ran", "losses", "gradients", "optimizer", "updates", "state", "norms", "noise"]
"""What a certificate can check beside the parameters; see `bakeoff.spec.evidence.Evidence`.

outputs    of the model in evaluation mode
ran        the outputs that a timed step keeps
losses     of the training trajectory, step by step
gradients  of every parameter, before the first step
optimizer  parameters after steps on given gradients
updates    what each step of the trajectory does to the parameters
state      what the first step adds to running statistics
norms      of each sample's gradient, before the first step
noise      what each step adds to its gradients, where the comparison asks for noise
"""


class ScenarioSpec(NamedTuple):
    """One scenario; a plain tuple, so that the command line's help can list them without importing anything heavy."""

    verb: str
    """What a contender does in it, as sentences say it: "trains"."""
    trains: bool
    """Whether a step changes the parameters."""
    evidence: frozenset[EvidencePart]
    """Evidence that a contender must leave: without any of it there is no passing certificate."""
    per_sample: bool = False
    """A step clips each sample's gradient by itself; see `bakeoff.spec.per_sample`."""
    measures_latency: bool = False
    """The time from a batch's call to its outputs is reported, too."""

    @property
    def has_loss(self) -> bool:
        """Whether a step computes a loss, as every step that trains does."""
        return "losses" in self.evidence


SCENARIOS: dict[Scenario, ScenarioSpec] = {
    "train": ScenarioSpec(
        verb="trains",
        trains=True,
        evidence=frozenset({"outputs", "losses", "gradients", "optimizer", "updates", "state"}),
    ),
    "infer": ScenarioSpec(verb="infers", trains=False, evidence=frozenset({"outputs", "ran"}), measures_latency=True),
    # No state: running statistics would mix the samples, so that a model that has any is refused.
    "per-sample-gradients": ScenarioSpec(
        verb="trains with per-sample gradients",
        trains=True,
        evidence=frozenset({"outputs", "losses", "gradients", "optimizer", "updates", "norms", "noise"}),
        per_sample=True,
    ),
}
"""Every scenario: command line, worker, certificate and reports all decide by this table."""
