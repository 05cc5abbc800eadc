"""Per-sample gradients in PyTorch: torch.func's vmap of grad, Opacus' hooks, or one backward pass after another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch.func import functional_call, grad_and_value, vmap
from torch.utils._pytree import tree_leaves, tree_map

from bakeoff.frameworks.steps import training_parts
from bakeoff.frameworks.torch import hooks, nn, recurrent
from bakeoff.frameworks.torch.engine import InferStep, TrainStep
from bakeoff.spec.errors import UnsupportedError
from bakeoff.spec.per_sample import OPTION, PerSample

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from bakeoff.frameworks.engine import Arrays, Model
    from bakeoff.frameworks.steps import DeviceBatch
    from bakeoff.frameworks.torch.precision import Precision
    from bakeoff.frameworks.torch.switches import Switches
    from bakeoff.spec.scenario import Scenario


class Found(NamedTuple):
    """What a batch's samples give."""

    loss: Any
    """The mean of their losses."""
    norms: Any
    """(batch,), of their gradients before clipping."""
    sums: Sequence[Any]
    """Of their clipped gradients, for each parameter."""


class PerSampleStep(TrainStep):
    """Each sample's gradient, clipped; their sum with noise, divided by the batch size; and the optimiser.

    In mode compiled, torch.compile takes what computes the clipped sum, with `vmap` the whole of it and with `loop` the
    loss of one sample and its backward pass; noise and optimiser stay PyTorch's own.
    """

    def __init__(self, network: Any, model: Model, mode: str, precision: Precision, switches: Switches) -> None:
        """Take the network with its workload's loss and optimiser; raise UnsupportedError for float16."""
        super().__init__(network, model, mode, precision, switches)
        if precision.compute == torch.float16:
            msg = "per-sample gradients have no precision=float16: a scaled loss has scaled norms; choose bfloat16"
            raise UnsupportedError(msg)
        self._asked = model.per_sample or PerSample()
        self._way = switches.per_sample
        self._parameters = list(network.parameters())
        self._clipped = _WAYS[self._way](self, training_parts(model)[0])

    def _replicated(self, network: Any) -> Any:
        """Return the network itself: what replicas add up are the clipped gradients of all of their samples."""
        return self._switches.replicas.started_alike(network)

    def vectorised(self, loss: Callable[..., Any]) -> Callable[[Any, Any], Found]:
        """Return torch.func's way: the gradient of one sample's loss, vectorised over the batch."""
        recurrent.vectorise()
        network, most = self._network, self._asked.max_norm
        named = dict(network.named_parameters())

        def loss_of(parameters: dict[str, Any], inputs: Any, targets: Any) -> Any:
            alone, label = (tree_map(lambda one: one.unsqueeze(0), part) for part in (inputs, targets))
            return loss(nn, functional_call(network, parameters, (alone,)), label, alone)

        # The precision is that of the forward pass alone: a backward pass follows it by itself.
        each = vmap(
            grad_and_value(self._precision.around(loss_of)), in_dims=(None, 0, 0), randomness="different"
        )  # Dropout draws for each sample

        def clipped(inputs: Any, targets: Any) -> Found:
            gradients, losses = each({name: one.detach() for name, one in named.items()}, inputs, targets)
            parts = [gradients[name] for name in named]
            norms = _norms([torch.linalg.vector_norm(part.flatten(1), dim=1) for part in parts])
            factors = most / norms.clamp(min=most)
            return Found(losses.mean(), norms, [torch.tensordot(factors, part, 1) for part in parts])

        return self._switches.compiled(clipped) if self._mode == "compiled" else clipped

    def looped(self, loss: Callable[..., Any]) -> Callable[[Any, Any], Found]:
        """Return the definition: one sample after another."""
        del loss  # TrainStep has made a function of it
        most = self._asked.max_norm

        def clipped(inputs: Any, targets: Any) -> Found:
            count = len(tree_leaves(inputs)[0])
            sums = [torch.zeros_like(parameter) for parameter in self._parameters]
            norms, losses = [], []
            for place in range(count):
                alone, label = (tree_map(lambda one, at=place: one[at : at + 1], p) for p in (inputs, targets))
                found = self._loss_of(alone, label)
                parts = torch.autograd.grad(found, self._parameters, allow_unused=True, materialize_grads=True)
                norm = _norms([torch.linalg.vector_norm(part) for part in parts])
                torch._foreach_add_(sums, torch._foreach_mul(parts, most / norm.clamp(min=most)))  # noqa: SLF001 - PyTorch's name for it
                norms.append(norm)
                losses.append(found.detach())
            return Found(torch.stack(losses).mean(), torch.stack(norms), sums)

        return clipped

    def hooked(self, loss: Callable[..., Any]) -> Callable[[Any, Any], Found]:
        """Return Opacus' way: one backward pass, in which every layer notes the gradients of its samples."""
        del loss  # TrainStep has made a function of it
        gradients, most = hooks.hooked(self._network), self._asked.max_norm

        def clipped(inputs: Any, targets: Any) -> Found:
            found = self._loss_of(inputs, targets)
            parts = gradients(found, self._parameters)
            norms = _norms([torch.linalg.vector_norm(part.flatten(1), dim=1) for part in parts])
            factors = most / norms.clamp(min=most)
            return Found(found.detach(), norms, [torch.tensordot(factors, part, 1) for part in parts])

        return clipped

    def run(self, batch: DeviceBatch) -> None:
        """Train on one batch."""
        found = self._clipped(*batch)
        for parameter, mean in zip(self._parameters, self._noisy(found), strict=True):
            parameter.grad = _like(mean, parameter)
        self._update.step()
        self._loss = found.loss

    def _noisy(self, found: Found) -> list[Any]:
        """Return what the optimiser is given for each parameter; of several replicas the first alone draws noise."""
        if not (self._asked.is_noisy and self._switches.replicas.is_first):
            return self._mean(found.sums, found)
        drawn = [one.add(torch.randn_like(one), alpha=self._asked.deviation) for one in found.sums]
        return self._mean(drawn, found)

    def _mean(self, sums: Sequence[Any], found: Found) -> list[Any]:
        """Return the sums over all replicas, divided by the number of samples of all."""
        replicas = self._switches.replicas
        return [one / (len(found.norms) * replicas.world) for one in replicas.summed(sums)]

    def gradients(self, batch: DeviceBatch) -> Arrays:
        """Return the mean of the clipped gradients, without noise."""
        found = self._clipped(*batch)
        return self._canonical(self._mean(found.sums, found))

    def noisy_gradients(self, batch: DeviceBatch) -> Arrays:
        """Return what the next step is given, with the noise that it will draw."""
        with torch.random.fork_rng(devices=self._drawing(), device_type=self._device.type):
            return self._canonical(self._noisy(self._clipped(*batch)))

    def _drawing(self) -> list[Any]:
        """Return the accelerators whose generators have to be put back; the processor's always is."""
        return [] if self._device.type == "cpu" else [self._device]

    def norms(self, batch: DeviceBatch) -> NDArray[np.float64]:
        """Return the norm of each sample's gradient."""
        found: NDArray[np.float64] = self._clipped(*batch).norms.detach().cpu().double().numpy()
        return found

    def _canonical(self, tensors: Sequence[Any]) -> Arrays:
        """Return a tensor for each parameter as canonical arrays."""
        by_parameter = dict(zip(self._parameters, tensors, strict=True))
        return nn.read(self._network, lambda parameter: by_parameter[parameter])

    def settings(self) -> dict[str, str | int | float | bool | None]:
        """Read back what is in force, with how gradients are clipped."""
        asked = {"max_norm": self._asked.max_norm, "noise_multiplier": self._asked.noise_multiplier}
        opacus = {"opacus": hooks.version()} if self._way == "hooks" else {}
        return super().settings() | {OPTION: self._way} | asked | opacus


def _like(gradient: Any, parameter: Any) -> Any:
    """Return a gradient that lies in memory as its parameter does, which fused optimisers take for granted.

    What autograd accumulates lies so by itself; a sum over samples is contiguous, whatever the layout.
    """
    is_like = gradient.stride() == parameter.stride()
    return gradient if is_like else torch.empty_like(parameter).copy_(gradient)


def _norms(of_parameters: Sequence[Any]) -> Any:
    """Return the norm over all parameters from those of each."""
    return torch.linalg.vector_norm(torch.stack(list(of_parameters)), dim=0)


_WAYS: dict[str, Callable[[PerSampleStep, Callable[..., Any]], Callable[[Any, Any], Found]]] = {
    "vmap": PerSampleStep.vectorised,
    "loop": PerSampleStep.looped,
    "hooks": PerSampleStep.hooked,
}

STEPS: dict[Scenario, type[TrainStep | InferStep]] = {
    "train": TrainStep,
    "infer": InferStep,
    "per-sample-gradients": PerSampleStep,
}
"""The step of each scenario."""
