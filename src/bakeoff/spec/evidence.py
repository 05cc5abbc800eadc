"""Evidence: what one contender computed, from which its certificate is made."""

from __future__ import annotations

from typing import Literal

import msgspec


class InputPass(msgspec.Struct, frozen=True, kw_only=True):
    """One pass through a contender's own way of input, compared with the batches that every contender is to take."""

    mode: str
    """Value of the option `input`."""
    samples: int
    """How many samples the batches hold."""
    missing: int
    """Samples that did not come, or came with another's targets."""
    unexpected: int = msgspec.field(name="strange")
    """Samples that came and are none of the batches', or came a second time."""
    in_order: bool
    """The samples came in the order of the batches."""


EVIDENCE_VERSION = 3
"""What evidence holds. 0: no `ran/N` or `update/<parameter>`; 1: both; 2: the positions of updates, and the reference's
spreads, which say how closely others have to agree with it; 3: `later/<name>`."""


class Spread(msgspec.Struct, frozen=True, kw_only=True):
    """How far the reference's results move when its parameters are moved at random; None where not finite.

    Each error is the largest of all draws, taken as the certificate takes it between a contender and the reference.
    """

    amplitude: float
    """Largest relative change of a parameter."""
    draws: int
    output: float | None
    losses: list[float | None] = []
    """Of each step of the trajectory."""
    trajectory: list[float | None] = []
    """Of the parameters after each step; in float64 alone."""
    gradient: float | None = 0.0
    gradient_norm: float | None = 0.0
    state: float | None = 0.0
    later: float | None = 0.0
    norms: float | None = 0.0
    """Of each sample's gradient; 0 where none are kept."""
    metric: float | None = 0.0
    """Of the workload's metric after the trajectory; 0 where it declares none, and in records older than this field."""


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """What a contender computed, for the certificate; the arrays are in evidence.npz.

    Arrays: `output/0`... (batch, ...), of large samples a row each, as `certify.sample` takes them;
    `gradient/<parameter>` as it takes the gradient in canonical layout; `optimizer/<step>/<array>` the parameters
    after each step of the optimiser on given gradients;
    `state/<name>` what the first training step added to a running statistic: its new value less (1 - momentum) times
    its old value, sampled likewise; `later/<name>` what the later steps have added, likewise; `ran/0`... what a timed
    step has kept, on the batches of `output/0`...; `update/<parameter>` at a few positions of a parameter, in rows: its
    values before the first step of the trajectory, then for each step the contender's own gradient before it, and the
    values after it; `position/<parameter>` these positions; `norms/0`... (batch,) the L2 norm of each sample's gradient
    on the batches of `output/0`..., before the first step; `noise/<parameter>` at the first positions of a parameter,
    in rows: what each step of the trajectory added to its gradients, which are those with noise in `update/`; `norm`,
    where the optimiser clips, the L2 norm of all gradients before each of these steps; `used/<parameter>`, where the
    gradients within a step may be others, at the same positions, a row a step: what the optimiser followed, clipped;
    `frozen/<parameter>` of one that is not trained, which has none of these, the SHA-256 of its array before the first
    step of the trajectory and after each, a row of bytes each.
    """

    version: int = 0
    """What is kept; see `EVIDENCE_VERSION`."""
    parameter_shapes: dict[str, tuple[int, ...]]
    """Shapes of the parameters in canonical layout, by name."""
    state_shapes: dict[str, tuple[int, ...]] = {}
    """Shapes of the running statistics, by name; empty in a model without any."""
    running_variance: Literal["", "biased", "unbiased"] = ""
    """Which variance of the batch they follow; empty in a model without any, and in records older than this field."""
    losses: list[float | None] = []
    """Losses of the training trajectory, before step 0, 1, ... on batch 0, 1, ...; None where not finite."""
    outputs: int = 0
    """Number of arrays `output/N`."""
    shards: int = 1
    """In the reference's evidence for several devices: how many shards each had its own losses and statistics, of which
    these are means; `first/<name>` then holds what `state/<name>` would be by the first shard alone."""
    ready_made: str = ""
    """The ready-made model that ran in place of the workload's: "torchvision.models.resnet50"; without gradients."""
    changed: int | None = None
    """How many arrays of a ready-made model's parameters the trajectory changed; None where that was not looked at."""
    checksums: list[float] = []
    """`certify.checksum.checksums` of `output/0`; empty in records older than this field."""
    others: list[float] = []
    """The same of `output/1`."""
    accuracy: float | None = None
    """Accuracy on held-out data after `learning_steps` training steps, 0 to 1."""
    learning_steps: int = 0
    test_samples: int = 0
    """Number of held-out samples behind `accuracy`; 0 where there is none, and in records older than this field."""
    metric: float | None = None
    """The workload's own metric of the parameters after the trajectory; None where its size declares none, or where it
    is not finite."""
    input_pass: InputPass | None = msgspec.field(default=None, name="fed")
    """What came by the contender's own way of input; None where batches are on the device."""
    spreads: dict[str, Spread] = {}
    """In the reference's evidence, by the precision whose roundings they stand for."""
    own_gradients: int | None = None
    """How many of the first updates have the contender's own gradients in `update/`: later rows repeat the first one's;
    None: all, as in records older than this field."""
    arrays_sha256: str = ""
    """SHA-256 of evidence.npz."""
