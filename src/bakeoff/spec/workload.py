"""What a workload declares about itself; its model is the function `build` beside it."""

from __future__ import annotations

import msgspec

from bakeoff.spec.batch import INPUT, TARGET, ArraySpec, SampleSpec
from bakeoff.spec.metric import Metric
from bakeoff.spec.optimizer import Optimizer
from bakeoff.spec.scenario import Scenario


class Size(msgspec.Struct, frozen=True, kw_only=True):
    """One size of a workload: what `build` needs, and what the batches look like.

    In the short form a sample is one float32 array of `input_shape` (channels last), and its target is one class out of
    `classes`. In the general form `inputs` and `targets` declare each array by its name. With one input the model is
    called with that array, with several it is called with a mapping of names to arrays; so is the loss with targets.
    """

    batch_size: int
    input_shape: tuple[int, ...] = ()
    classes: int = 0
    """May be left out, and targets with it, where a workload only infers."""
    inputs: dict[str, ArraySpec] = {}
    """Instead of `input_shape`."""
    targets: dict[str, ArraySpec] = {}
    """Instead of `classes`."""
    collected: dict[str, ArraySpec] = {}
    """What a training step computes first, without a gradient: arrays by the names under which the model's method
    `collect(inputs)` returns them, as reinforcement learning does with its rollouts. `forward` and the loss find them
    among the inputs, which are several then; targets may be left out."""
    updates: int = 1
    """Of the parameters in one step, all on what it has collected; several only where it collects."""
    parameters: int | None = None
    macs: int | None = None
    """Multiply-accumulates of one sample's forward pass, and of its `collect` where the model has one."""
    contains: dict[str, int] = {}
    """What a sample has so many of, where reports tell its number a second, too: {"environment steps": 10}."""
    metric: Metric | None = None
    """What the function `metric(size, parameters)` in the workload's file gives of trained parameters."""
    config: dict[str, int | float | str | bool | tuple[int, ...]] = {}
    """Whatever `build` needs, under names of its own: `size.config["hidden"]`."""

    @property
    def sample(self) -> SampleSpec:
        """Return what one sample is made of, whichever form declares it."""
        label = {TARGET: ArraySpec(dtype="int32", high=self.classes)} if self.classes else {}
        return SampleSpec(
            inputs=self.inputs or {INPUT: ArraySpec(shape=self.input_shape)}, targets=self.targets or label
        )


class Workload(msgspec.Struct, frozen=True, kw_only=True):
    """A model with its data, loss, optimiser and sizes, independent of any framework."""

    name: str
    summary: str
    source: str
    """Where the model and its sizes come from: a document, a paper, a public file."""
    sizes: dict[str, Size]
    optimizer: Optimizer | None = None
    """None where the workload is for inference only."""
    scenarios: tuple[Scenario, ...] = ("train", "infer")
    """Scenarios that it is meant for; a scenario that bakeoff gains later is not among them by itself."""
    data: tuple[str, ...] = ("synthetic",)
    """Data sources that fit it; the first is the default."""
    learning_steps: int = 0
    """Training steps after which the accuracy on held-out data is measured, where the data has labels to learn."""
