"""Every kind of optimiser with its options: the formulas that all frameworks must compute."""

from __future__ import annotations

from bakeoff.spec.optimizer import SGD, Adam, AdamW, Optimizer, RMSprop

OPTIMIZERS: dict[str, Optimizer] = {
    "SGD": SGD(learning_rate=0.1),
    "SGD with momentum": SGD(learning_rate=0.1, momentum=0.9),
    "SGD with decay": SGD(learning_rate=0.1, momentum=0.5, weight_decay=0.01),
    "Adam": Adam(learning_rate=1e-3),
    "Adam with a large epsilon": Adam(learning_rate=1e-2, beta1=0.8, beta2=0.95, epsilon=1e-3),
    "AdamW": AdamW(learning_rate=1e-3),
    "AdamW with a large decay": AdamW(learning_rate=1e-2, beta1=0.8, beta2=0.95, epsilon=1e-6, weight_decay=0.1),
    "RMSprop": RMSprop(learning_rate=1e-3),
    "RMSprop with a large epsilon": RMSprop(learning_rate=1e-2, decay=0.9, epsilon=1e-3),
}
