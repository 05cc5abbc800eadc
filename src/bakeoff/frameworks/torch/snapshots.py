"""A copy on the device of all that training steps change, and the way back into the tensors that are there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from bakeoff.frameworks.slots import FIRST_MOMENT, MEAN_SQUARE, MOMENTUM, SECOND_MOMENT, slot_name
from bakeoff.frameworks.torch import nn

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

_SLOTS = {
    "exp_avg": FIRST_MOMENT,
    "exp_avg_sq": SECOND_MOMENT,
    "momentum_buffer": MOMENTUM,
    "square_avg": MEAN_SQUARE,
}
"""What torch.optim calls an optimiser's arrays; `step`, which it keeps beside them, counts."""


class Snapshot(NamedTuple):
    """What steps change."""

    tensors: list[torch.Tensor]
    """Parameters, then buffers: running statistics and their counters."""
    optimizer: list[dict[str, Any]]
    """For each parameter what the optimiser keeps, step counts with it; empty before the first step."""
    rates: list[float]
    """The learning rate of each group of parameters, and behind them the count of the schedule, where there is one."""
    scaler: dict[str, Any]
    """The loss scaling of float16; empty without."""
    random: torch.Tensor
    """The state of the device's generator, which Dropout draws from."""


def take(network: Any, optimizer: Any, scaler: dict[str, Any]) -> Snapshot:
    """Return copies of what the next steps will change."""
    return Snapshot(
        [tensor.detach().clone() for tensor in _tensors(network)],
        [
            {name: _copied(value) for name, value in optimizer.state.get(parameter, {}).items()}
            for parameter in network.parameters()
        ],
        [*(group["lr"] for group in optimizer.param_groups), *_count(optimizer)],
        scaler,
        _generator(network).get_state(),
    )


def put_back(snapshot: Snapshot, network: Any, optimizer: Any) -> None:
    """Copy a snapshot into the tensors of network and optimiser, whose addresses stay; loss scaling is the caller's."""
    with torch.no_grad():
        for tensor, saved in zip(_tensors(network), snapshot.tensors, strict=True):
            tensor.copy_(saved)
        for parameter, kept in zip(network.parameters(), snapshot.optimizer, strict=True):
            _put_back_state(optimizer.state, parameter, kept)
    for group, rate in zip(optimizer.param_groups, snapshot.rates, strict=False):
        group["lr"] = rate
    if optimizer.schedule is not None:
        optimizer.schedule.last_epoch = int(snapshot.rates[-1])
    _generator(network).set_state(snapshot.random)


def optimizer_arrays(network: Any, optimizer: Any) -> Iterator[tuple[str, NDArray[Any]]]:
    """Return the optimiser's arrays one by one, by slot and canonical parameter, in their own precision and layout."""
    for name, (parameter, _) in nn.parameters(network).items():
        for own, value in optimizer.state.get(parameter, {}).items():
            if own in _SLOTS and isinstance(value, torch.Tensor):
                yield slot_name(_SLOTS[own], name), value.detach().cpu().numpy()


def _count(optimizer: Any) -> list[float]:
    """Return how many steps a schedule has counted; nothing where there is none."""
    return [] if optimizer.schedule is None else [float(optimizer.schedule.last_epoch)]


def _put_back_state(state: Any, parameter: Any, kept: dict[str, Any]) -> None:
    """Put back what an optimiser keeps for a parameter: into its tensors where it has them."""
    if not kept:
        state.pop(parameter, None)
        return
    present = state[parameter]
    for name, saved in kept.items():
        if isinstance(saved, torch.Tensor) and isinstance(present.get(name), torch.Tensor):
            present[name].copy_(saved)
        else:
            present[name] = _copied(saved)


def _tensors(network: Any) -> Iterator[Any]:
    """Go through parameters and buffers."""
    yield from network.parameters()
    yield from network.buffers()


def _copied(value: Any) -> Any:
    """Return a copy of a tensor; a number is its own."""
    return value.clone() if isinstance(value, torch.Tensor) else value


def _generator(network: Any) -> torch.Generator:
    """Return the default generator of the network's device."""
    device = next(network.parameters()).device
    if device.type == "cuda":
        torch.cuda.init()
        return torch.cuda.default_generators[device.index or 0]
    return torch.mps._get_default_mps_generator() if device.type == "mps" else torch.default_generator  # noqa: SLF001
