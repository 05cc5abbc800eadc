"""Every kind of optimiser with its options: the formulas that all frameworks must compute."""

from __future__ import annotations

from bakeoff.spec.optimizer import SGD, Adam, AdamW, Optimizer, RMSprop
from bakeoff.spec.schedule import (
    Constant,
    Cosine,
    CosineRestarts,
    Cyclic,
    Exponential,
    InverseSquareRoot,
    Linear,
    OneCycle,
    Polynomial,
    StepDecay,
    WarmupStableDecay,
)

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
    "Nesterov, groups and a cosine": SGD(
        learning_rate=0.1,
        momentum=0.9,
        weight_decay=0.1,
        nesterov=True,
        no_decay=("*.bias",),
        schedule=Cosine(steps=1000, warmup_steps=100, final=0.1),
    ),
    "momentum, clipping and step decay": SGD(
        learning_rate=0.1,
        momentum=0.9,
        weight_decay=0.1,
        clip_norm=1.0,
        schedule=StepDecay(boundaries=(30, 60), factor=0.2),
    ),
    "momentum, decay and a power": SGD(
        learning_rate=0.1, momentum=0.9, weight_decay=0.1, schedule=Polynomial(steps=1000, power=0.9)
    ),
    "Nesterov without a schedule": SGD(learning_rate=0.1, momentum=0.9, nesterov=True),
    "Adam, decay, groups, clipping and a falling root": Adam(
        learning_rate=1e-2,
        weight_decay=0.3,
        no_decay=("*.bias",),
        clip_norm=0.1,
        schedule=InverseSquareRoot(warmup_steps=4000),
    ),
    "AdamW, groups, clipping and a line": AdamW(
        learning_rate=1e-2, weight_decay=0.3, no_decay=("*.bias",), clip_norm=5.0, schedule=Linear(steps=10, final=0.2)
    ),
    "RMSprop with momentum, groups and a staircase": RMSprop(
        learning_rate=1e-2,
        decay=0.9,
        epsilon=1e-3,
        momentum=0.9,
        weight_decay=0.1,
        no_decay=("*.bias",),
        schedule=Exponential(every=100, factor=0.5, staircase=True, warmup_steps=10),
    ),
    "RMSprop with decay and an exponential": RMSprop(
        learning_rate=1e-3, weight_decay=0.1, schedule=Exponential(every=100, factor=0.9)
    ),
    "SGD, rates of groups and frozen parameters": SGD(
        learning_rate=0.1,
        momentum=0.9,
        weight_decay=0.1,
        nesterov=True,
        no_decay=("*.bias",),
        frozen=("backbone.*",),
        rates=(("neck.*", 0.1), ("head.*", 3.0)),
        clip_norm=1.0,
        schedule=Cosine(steps=1000, warmup_steps=100),
    ),
    "Adam and a rate of a group": Adam(learning_rate=1e-2, rates=(("head.*", 0.1),)),
    "AdamW, rates of groups and frozen parameters": AdamW(
        learning_rate=1e-2,
        weight_decay=0.3,
        frozen=("backbone.*",),
        rates=(("neck.*", 0.1), ("head.*", 3.0)),
        clip_norm=5.0,
    ),
    "RMSprop with momentum and rates of groups": RMSprop(
        learning_rate=1e-2, epsilon=1e-3, momentum=0.9, weight_decay=0.1, rates=(("neck.*", 0.1), ("head.*", 3.0))
    ),
    "RMSprop, clipping and a warm-up": RMSprop(learning_rate=1e-3, clip_norm=1.0, schedule=Constant(warmup_steps=10)),
    "SGD with momentum and one cycle": SGD(
        learning_rate=0.1, momentum=0.9, schedule=OneCycle(steps=1000, rise_steps=300)
    ),
    "AdamW and a plateau": AdamW(
        learning_rate=1e-2, schedule=WarmupStableDecay(steps=1000, decay_steps=200, warmup_steps=10, final=0.1)
    ),
    "Adam and a cosine that restarts": Adam(
        learning_rate=1e-2, schedule=CosineRestarts(every=50, growth=2, final=0.1, warmup_steps=10)
    ),
    "RMSprop and triangles": RMSprop(learning_rate=1e-2, schedule=Cyclic(up_steps=20, down_steps=30, low=0.1)),
}

STEADY = SGD(
    learning_rate=0.1,
    momentum=0.9,
    weight_decay=0.1,
    nesterov=True,
    no_decay=("*.bias",),
    rates=(("*.weight", 0.5),),
    clip_norm=0.5,
    schedule=Cosine(steps=12, warmup_steps=1),
)
"""What a snapshot has to hold: each step has another rate."""
