"""bakeoff's optimisers as Jittor's own; only Adam computes another formula, and gets its epsilon step by step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jittor as jt
import numpy as np

from bakeoff.frameworks.groups import groups, in_words
from bakeoff.frameworks.schedules import factor
from bakeoff.spec.optimizer import SGD, Adam, AdamW, Optimizer, RMSprop, frozen_of

if TYPE_CHECKING:
    from collections.abc import Mapping


class FormulaAdam(jt.optim.Adam):
    """Jittor's Adam with epsilon added after bias correction; Jittor adds it before, to the uncorrected root."""

    note = "epsilon after bias correction"

    def __init__(self, parameters: list[Any], epsilon: float, **options: Any) -> None:
        """Keep the epsilon of the formula."""
        super().__init__(parameters, **options)
        self._epsilon = epsilon

    def step(self, loss: Any = None, retain_graph: bool = False) -> None:  # noqa: FBT001, FBT002 - Jittor's signature
        """Update as Jittor does, with epsilon scaled by the root of the second moment's correction at this step.

        Jittor counts a step in its backward pass: without a loss that is behind.
        """
        count = self.n_step + (loss is not None)
        self.eps = self._epsilon * (1 - self.betas[1] ** count) ** 0.5
        super().step(loss, retain_graph)


class FormulaRMSprop(jt.optim.RMSprop):
    """Jittor's RMSprop with momentum, and with weight decay as an L2 term of the gradient; Jittor's has neither."""

    def __init__(self, parameters: list[Any], decay: float, momentum: float, **options: Any) -> None:
        """Take both beside Jittor's own options, and begin a momentum at zero."""
        super().__init__(parameters, **options)
        self._decay, self._momentum = decay, momentum
        added = ("momentum" if momentum else "", "weight decay added to the gradient" if decay else "")
        self.note = ", ".join(filter(None, added))
        for group in self.param_groups if momentum else ():
            group["m"] = [jt.zeros(one.shape, one.dtype).stop_grad() for one in group["params"]]

    def step(self, loss: Any = None, retain_graph: bool = False) -> None:  # noqa: FBT001, FBT002 - Jittor's signature
        """Update by the formula of `bakeoff.spec.optimizer.RMSprop`."""
        self.pre_step(loss, retain_graph)
        for group in self.param_groups:
            decay = group.get("weight_decay", self._decay)
            rate, momenta = group.get("lr", self.lr), group.get("m", [None] * len(group["params"]))
            for p, g, v, m in zip(group["params"], group["grads"], group["values"], momenta, strict=True):
                if not p.is_stop_grad():
                    self._update(p, g + decay * p, v, m, rate)
        self.post_step()

    def _update(self, parameter: Any, gradient: Any, v: Any, m: Any, rate: float) -> None:
        """Update one parameter and its arrays."""
        v.update(self.alpha * v + (1 - self.alpha) * gradient * gradient)
        change = gradient / (jt.sqrt(v) + self.eps)
        if m is not None:
            m.update(self._momentum * m + change)
            change = m
        parameter.update(parameter - rate * change)


def freeze(optimizer: Optimizer, parameters: Mapping[str, Any]) -> None:
    """Have Jittor compute no gradient of parameters, by canonical name, that are not trained."""
    for name in frozen_of(optimizer, parameters):
        parameters[name].stop_grad()


def make(optimizer: Optimizer, parameters: Mapping[str, Any]) -> Any:
    """Return Jittor's optimiser of these parameters, by canonical name, that computes the formula but for `step`."""
    arrays = groups(optimizer, parameters)
    match optimizer:
        case SGD(learning_rate=rate, momentum=momentum, weight_decay=decay, nesterov=nesterov):
            return jt.optim.SGD(arrays, rate, momentum=momentum, weight_decay=decay, nesterov=nesterov)
        case Adam(learning_rate=rate, beta1=beta1, beta2=beta2, epsilon=epsilon, weight_decay=decay):
            return FormulaAdam(arrays, epsilon, lr=rate, betas=(beta1, beta2), weight_decay=decay)
        case AdamW(learning_rate=rate, beta1=beta1, beta2=beta2, epsilon=epsilon, weight_decay=decay):
            return jt.optim.AdamW(arrays, rate, eps=epsilon, betas=(beta1, beta2), weight_decay=decay)
        case RMSprop(learning_rate=rate, decay=kept, epsilon=epsilon, momentum=momentum, weight_decay=decay):
            options = {"lr": rate, "eps": epsilon, "alpha": kept}
            is_plain = not (momentum or decay)
            return (
                jt.optim.RMSprop(arrays, **options) if is_plain else FormulaRMSprop(arrays, decay, momentum, **options)
            )


def step(native: Any, optimizer: Optimizer, loss: Any) -> None:
    """Do one step by a loss: with the schedule's rate, and with gradients clipped, where that is asked for."""
    _set_rate(native, optimizer)
    if optimizer.clip_norm is None:
        native.step(loss)
        return
    native.backward(loss)
    _clip(native, optimizer.clip_norm)
    native.step()


def step_on(native: Any, optimizer: Optimizer, gradients: Mapping[int, Any]) -> None:
    """Do the same by given gradients, by the identity of their parameters."""
    _set_rate(native, optimizer)
    native.n_step += 1  # as Jittor's backward pass does
    for group in native.param_groups:
        group["grads"] = [gradients[id(parameter)].stop_grad() for parameter in group["params"]]
    if optimizer.clip_norm is not None:
        _clip(native, optimizer.clip_norm)
    native.step()


def used(native: Any) -> dict[int, Any]:
    """Return the gradients of the last step, by the identity of their parameters; none where there was no step."""
    pairs = (zip(group["params"], group.get("grads", ()), strict=False) for group in native.param_groups)
    return {id(parameter): gradient for group in pairs for parameter, gradient in group}


def _set_rate(native: Any, optimizer: Optimizer) -> None:
    """Set the rate of the step that comes, where there is a schedule."""
    if optimizer.schedule is None:
        return
    share = float(factor(optimizer.schedule, native.n_step + 1.0, np))
    native.lr = optimizer.learning_rate * share
    for group in native.param_groups:
        if "lr" in group:
            group["lr"] = group.setdefault("whole_rate", group["lr"]) * share


def _clip(native: Any, most: float) -> None:
    """Clip the gradients of all groups; Jittor's own clip_grad_norm adds 1e-6 to the norm, and joins them all."""
    gradients = [gradient for group in native.param_groups for gradient in group["grads"]]
    share = jt.minimum(most / jt.sqrt(sum(map(squares, gradients))), 1.0)
    for gradient in gradients:
        gradient.update(gradient * share)


def squares(gradient: Any) -> Any:
    """Return the sum of an array's squares, added in float64: Jittor adds all into one number, one by one.

    Of the 39 million of GPT-2's tokens that made its clipped gradients 0.3 % too large. The cast is part of the same
    operator, and takes no longer.
    """
    return jt.sum((gradient * gradient).float64()).float32()


def describe(native: Any, optimizer: Optimizer) -> str:
    """Name Jittor's class, what is different from it, and what was asked for beside it."""
    own = next(base for base in type(native).__mro__ if base.__module__.startswith("jittor"))
    parts = [f"jittor.optim.{own.__name__}"]
    if note := getattr(native, "note", ""):
        parts.append(note)
    if optimizer.schedule is not None:
        parts.append("a rate for each step")
    if grouped := in_words(native):
        parts.append(grouped)
    if optimizer.clip_norm is not None:
        parts.append("clipped by the formula")
    return ", ".join(parts)
