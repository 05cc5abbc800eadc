"""bakeoff's optimisers as Jittor's own; only Adam computes another formula, and gets its epsilon step by step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jittor as jt

from bakeoff.spec.optimizer import SGD, Adam, AdamW, Optimizer, RMSprop

if TYPE_CHECKING:
    from collections.abc import Iterable


class FormulaAdam(jt.optim.Adam):
    """Jittor's Adam with epsilon added after bias correction; Jittor adds it before, to the uncorrected root."""

    note = "epsilon after bias correction"

    def __init__(self, parameters: list[Any], epsilon: float, **options: Any) -> None:
        """Keep the epsilon of the formula."""
        super().__init__(parameters, **options)
        self._epsilon = epsilon

    def step(self, loss: Any = None, retain_graph: bool = False) -> None:  # noqa: FBT001, FBT002 - Jittor's signature
        """Update as Jittor does, with epsilon scaled by the root of the second moment's correction at this step."""
        self.eps = self._epsilon * (1 - self.betas[1] ** (self.n_step + 1)) ** 0.5
        super().step(loss, retain_graph)


def make(optimizer: Optimizer, parameters: Iterable[Any]) -> Any:
    """Return Jittor's optimiser of these parameters that computes the formula."""
    arrays = list(parameters)
    match optimizer:
        case SGD(learning_rate=rate, momentum=momentum, weight_decay=decay):
            return jt.optim.SGD(arrays, rate, momentum=momentum, weight_decay=decay)
        case Adam(learning_rate=rate, beta1=beta1, beta2=beta2, epsilon=epsilon):
            return FormulaAdam(arrays, epsilon, lr=rate, betas=(beta1, beta2))
        case AdamW(learning_rate=rate, beta1=beta1, beta2=beta2, epsilon=epsilon, weight_decay=decay):
            return jt.optim.AdamW(arrays, rate, eps=epsilon, betas=(beta1, beta2), weight_decay=decay)
        case RMSprop(learning_rate=rate, decay=decay, epsilon=epsilon):
            return jt.optim.RMSprop(arrays, rate, eps=epsilon, alpha=decay)


def describe(native: Any) -> str:
    """Name Jittor's class and what is different from it."""
    own = next(base for base in type(native).__mro__ if base.__module__.startswith("jittor"))
    note = getattr(native, "note", "")
    return f"jittor.optim.{own.__name__}" + (f", {note}" if note else "")
