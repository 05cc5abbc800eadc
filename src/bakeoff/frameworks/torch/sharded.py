"""The reference for several devices: each shard of a batch by itself, in one process, and the mean of all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from bakeoff.frameworks.torch import nn
from bakeoff.frameworks.torch.engine import TrainStep

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bakeoff.frameworks.engine import Arrays, Model
    from bakeoff.frameworks.steps import DeviceBatch


class ShardedTrainStep(TrainStep):
    """A training step whose losses, gradients and running statistics are means over shards."""

    def __init__(self, network: Any, model: Model, *how: Any) -> None:
        """Take the network, and of how many shards a batch is."""
        super().__init__(network, model, *how)
        self._shards = model.shards
        self._first: dict[str, Any] = {}
        loss_of = self._loss_of
        self._of_shard = loss_of
        self._loss_of = self._mean

    def _mean(self, inputs: Any, targets: Any) -> Any:
        """Return the mean of the shards' losses, and leave the mean of their running statistics."""
        before = {name: tensor.clone() for name, tensor in nn.state(self._network).items()}
        losses, after = [], []
        for shard in self._cut((inputs, targets)):
            for name, tensor in nn.state(self._network).items():
                tensor.data = before[name].clone()  # in its place would be a change that the backward pass refuses
            losses.append(self._of_shard(*shard))
            after.append({name: tensor.clone() for name, tensor in nn.state(self._network).items()})
        self._first = after[0]
        for name, tensor in nn.state(self._network).items():
            tensor.data = torch.stack([one[name] for one in after]).mean(dim=0)
        return torch.stack(losses).mean()

    def _cut(self, batch: DeviceBatch) -> Iterator[tuple[Any, Any]]:
        """Yield the shards of a batch in the order of the replicas."""
        inputs, targets = batch
        for shard in range(self._shards):
            yield _rows(inputs, shard, self._shards), _rows(targets, shard, self._shards)

    def first_state(self) -> Arrays:
        """Return the running statistics as the first shard alone has moved them."""
        return {name: np.array(tensor.cpu().numpy()) for name, tensor in self._first.items()}


def _rows(arrays: Any, shard: int, shards: int) -> Any:
    """Return one shard of an array, or of each of several by name."""
    if isinstance(arrays, dict):
        return {name: _rows(array, shard, shards) for name, array in arrays.items()}
    return arrays.chunk(shards)[shard]
