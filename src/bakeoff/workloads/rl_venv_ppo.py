"""Reinforcement learning in a virtual environment, in two stages: first it is learnt, then a policy is, both by PPO.

Stage 1, sizes `full` and `reduced`: from 100 recorded trajectories of a pendulum a behaviour policy and a transition,
each a ResNet of 4 blocks of 256 with a Gaussian head, are learnt adversarially. A step rolls 1024 recorded starts out
for 10 steps, rewards what a matcher, an MLP of 4 x 256, takes for recorded (weight 0.75, -log(1 - D + 1e-6)) and what
is near to the recorded window (0.25, minus the mean absolute error), and makes 2 updates of all networks by PPO.
50 epochs are 500 steps.

Stage 2, sizes `policy` and `policy-reduced`: a policy, an MLP of 4 x 256, is learnt in a frozen environment, 256 starts
for 100 steps, with the reward of Gym's pendulum, which has the square of the angle where this has 2 (1 - cos angle),
and a Kullback-Leibler term of weight 1 to the behaviour policy. 20 epochs are 100 steps.

PPO (Schulman et al., arXiv 1707.06347) with clipping at 0.2 and a value network of 4 x 256, its loss of weight 0.5;
advantages by GAE (Schulman et al., arXiv 1506.02438), gamma 0.99 and lambda 0.95. Adam at 4e-5. All random numbers come
with the batch, drawn by NumPy, so that all frameworks act alike.

The structure is that of the REVIVE SDK 0.7 with `venv_algo` ppo; its sizes and constants are those of its public
configuration. REVIVE itself is closed: it is neither run nor measured here. Where it is closed, or one loss for all
networks is not enough, this is ours: the matcher learns beside the generator, in both updates and at its rate (REVIVE
has one update at 6e-4); one environment is learnt, not two; no behaviour cloning. And the environment of stage 2 is not
the one that stage 1 ends with, which would be another one in every framework: its random features are fitted to the
same recorded trajectories, the same numbers for all.

What each stage has learnt is tried on the pendulum itself, from states that nothing was learnt from: the environment by
the error of its next states, the policy by its reward. These metrics are ours, too.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np

from bakeoff.spec.batch import ArraySpec
from bakeoff.spec.metric import Metric
from bakeoff.spec.optimizer import Adam
from bakeoff.spec.workload import Size, Workload
from bakeoff.workloads import in_numpy
from bakeoff.workloads.pendulum import ACTION, FASTEST, STATE, STRONGEST, data, driven, learnt, unseen

__all__ = ["WORKLOAD", "build", "data", "loss", "metric"]

GAMMA, LAMBDA, CLIP = 0.99, 0.95, 0.2
VALUE_WEIGHT, KL_WEIGHT = 0.5, 1.0
LIKENESS_WEIGHT, NEARNESS_WEIGHT = 0.75, 0.25
SLOPE = 0.1
"""Of the leaky ReLU in MLPs."""

LEAST_STD, MOST_STD = 0.001, 0.5
HALF_LOG_TAU = 0.5 * math.log(2 * math.pi)


def _venv(batch_size: int, horizon: int, parameters: int, macs: int, **config: int) -> Size:
    """Return a size of stage 1: recorded windows [state, action, next state], and standard normal numbers."""
    each = ArraySpec(shape=(horizon,))
    return Size(
        batch_size=batch_size,
        inputs={
            "windows": ArraySpec(shape=(horizon, 2 * STATE + ACTION)),
            "noise": ArraySpec(shape=(horizon, ACTION + STATE)),
        },
        collected={
            "transitions": ArraySpec(shape=(horizon, 2 * STATE + ACTION)),
            "log_prob": each,
            "advantage": each,
            "returns": each,
        },
        updates=2,
        parameters=parameters,
        macs=macs,
        contains={"environment steps": horizon},
        metric=Metric(name="next-state error"),
        config={"stage": "venv", "horizon": horizon, **config},
    )


def _policy(batch_size: int, horizon: int, parameters: int, macs: int, **config: int) -> Size:
    """Return a size of stage 2: states to start in, and standard normal numbers."""
    each = ArraySpec(shape=(horizon,))
    return Size(
        batch_size=batch_size,
        inputs={
            "starts": ArraySpec(shape=(STATE,)),
            "noise": ArraySpec(shape=(horizon, ACTION + STATE)),
        },
        collected={
            "states": ArraySpec(shape=(horizon, STATE)),
            "actions": ArraySpec(shape=(horizon, ACTION)),
            "behaviour": ArraySpec(shape=(horizon, 2 * ACTION)),
            "log_prob": each,
            "advantage": each,
            "returns": each,
        },
        updates=2,
        parameters=parameters,
        macs=macs,
        contains={"environment steps": horizon},
        metric=Metric(name="reward a step", less_is_better=False),
        config={"stage": "policy", "horizon": horizon, **config},
    )


WORKLOAD = Workload(
    name="rl-venv-ppo",
    summary="a virtual environment learnt by adversarial PPO, and a policy by PPO in one (--size policy)",
    source="the public configuration of the REVIVE SDK 0.7; PPO: arXiv 1707.06347; GAE: arXiv 1506.02438",
    sizes={
        "full": _venv(1024, 10, 1_326_090, 28_572_772, hidden=256, layers=4),
        "policy": _policy(256, 100, 397_571, 191_414_032, hidden=256, layers=4),
        "policy-reduced": _policy(8, 5, 9_027, 244_057, hidden=64, layers=2),
        "reduced": _venv(32, 5, 35_850, 376_857, hidden=64, layers=2),
    },
    optimizer=Adam(learning_rate=4e-5),
    scenarios=("train",),
    data=("own",),
)


def build(nn: Any, size: Size) -> Any:
    """Return the model of one stage; `collect` rolls out, and `forward` gives (batch, horizon, 4) for the loss."""
    return _environment(nn, size) if size.config["stage"] == "venv" else _policy_in(nn, size)


def _environment(nn: Any, size: Size) -> Any:
    """Return stage 1: the outputs are log-probability, value, and the matcher's logits of recorded and generated."""
    config: Any = size.config
    horizon, hidden, layers = config["horizon"], config["hidden"], config["layers"]
    resnet, mlp = _resnet(nn, nn.Linear), _mlp(nn)

    class Environment(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.behaviour = resnet(STATE, hidden, layers, 2 * ACTION)
            self.transition = resnet(STATE + ACTION, hidden, layers, 2 * STATE)
            self.matcher = mlp(2 * STATE + ACTION, hidden, layers)
            self.value = mlp(STATE, hidden, layers)
            self.discounts = nn.constant(_discounts(horizon))

        def collect(self, x: Any) -> dict[str, Any]:
            windows = x["windows"]
            transitions, log_prob = _rolled_out(nn, self.behaviour, self.transition, windows[:, 0, :STATE], x["noise"])
            states = nn.concat([windows[:, :1, :STATE], transitions[:, :, STATE + ACTION :]], 1)
            likeness = nn.sigmoid(_last(nn, self.matcher(transitions)))
            far = nn.mean(nn.abs(transitions[:, :, STATE + ACTION :] - windows[:, :, STATE + ACTION :]), 2)
            reward = LIKENESS_WEIGHT * -nn.log(1.0 - likeness + 1e-6) - NEARNESS_WEIGHT * far
            advantage, returns = _advantages(nn, reward, _last(nn, self.value(states)), self.discounts)
            return {"transitions": transitions, "log_prob": log_prob, "advantage": advantage, "returns": returns}

        def forward(self, x: Any) -> Any:
            states, actions, nexts = nn.split(x["transitions"], (STATE, ACTION, STATE), 2)
            acted = _log_prob(nn, actions, *_gaussian(nn, self.behaviour(states), ACTION))
            moved = _log_prob(nn, nexts, *_gaussian(nn, self.transition(nn.concat([states, actions], 2)), STATE))
            logits = [_last(nn, self.matcher(one)) for one in (x["windows"], x["transitions"])]
            return nn.stack([acted + moved, _last(nn, self.value(states)), *logits], 2)

    return Environment()


def _policy_in(nn: Any, size: Size) -> Any:
    """Return stage 2: the outputs are log-probability, value, and the mean and deviation of the policy's actions."""
    config: Any = size.config
    horizon, hidden, layers = config["horizon"], config["hidden"], config["layers"]
    mlp = _mlp(nn)

    class Policy(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.policy = mlp(STATE, hidden, layers, 2 * ACTION)
            self.value = mlp(STATE, hidden, layers)
            fitted = learnt(hidden, layers)
            self.behaviour = _frozen(nn, fitted["behaviour"])(STATE, hidden, layers, 2 * ACTION)
            self.transition = _frozen(nn, fitted["transition"])(STATE + ACTION, hidden, layers, 2 * STATE)
            self.discounts = nn.constant(_discounts(horizon))

        def collect(self, x: Any) -> dict[str, Any]:
            transitions, _ = _rolled_out(nn, self.policy, self.transition, x["starts"], x["noise"])
            states, actions, nexts = nn.split(transitions, (STATE, ACTION, STATE), 2)
            acted = _log_prob(nn, actions, *_gaussian(nn, self.policy(states), ACTION))
            every = nn.concat([states, nexts[:, horizon - 1 :]], 1)
            values = _last(nn, self.value(every))
            advantage, returns = _advantages(nn, _reward(nn, states, actions), values, self.discounts)
            behaviour = nn.concat(list(_gaussian(nn, self.behaviour(states), ACTION)), 2)
            collected = {"states": states, "actions": actions, "behaviour": behaviour, "log_prob": acted}
            return collected | {"advantage": advantage, "returns": returns}

        def forward(self, x: Any) -> Any:
            mean, std = _gaussian(nn, self.policy(x["states"]), ACTION)
            acted = _log_prob(nn, x["actions"], mean, std)
            return nn.stack([acted, _last(nn, self.value(x["states"])), mean[:, :, 0], std[:, :, 0]], 2)

    return Policy()


def loss(nn: Any, outputs: Any, targets: Any, inputs: Any) -> Any:
    """Return PPO's clipped loss, that of the value, and the matcher's or the Kullback-Leibler term of the policy."""
    del targets
    advantage = inputs["advantage"]
    ratio = nn.exp(outputs[:, :, 0] - inputs["log_prob"])
    surrogate = nn.minimum(ratio * advantage, nn.clip(ratio, 1.0 - CLIP, 1.0 + CLIP) * advantage)
    found = VALUE_WEIGHT * nn.mse(outputs[:, :, 1], inputs["returns"]) - nn.mean(surrogate)
    if "windows" in inputs:
        recorded, generated = outputs[:, :, 2], outputs[:, :, 3]
        return found + 0.5 * (nn.mean(nn.softplus(-recorded)) + nn.mean(nn.softplus(generated)))
    mean, std, other, other_std = outputs[:, :, 2], outputs[:, :, 3], *_halves(inputs["behaviour"])
    far = (std * std + (mean - other) * (mean - other)) / (2.0 * other_std * other_std)
    return found + KL_WEIGHT * nn.mean(nn.log(other_std / std) + far - 0.5)


def metric(size: Size, parameters: Any) -> float:
    """Return how far the learnt environment is off, or what the learnt policy earns, on the pendulum itself.

    Stage 1: the mean absolute error of its mean next states, on transitions that it did not learn from. Stage 2: the
    mean reward of a step where the policy's mean actions drive the pendulum for 200 steps.
    """
    config: Any = size.config
    hidden, layers, nn = config["hidden"], config["layers"], in_numpy.VOCABULARY
    if config["stage"] == "venv":
        known, after = unseen()
        resnet = _resnet(nn, nn.Linear)(STATE + ACTION, hidden, layers, 2 * STATE)
        transition = in_numpy.with_parameters(resnet, "transition", parameters)
        return float(np.mean(np.abs(np.tanh(transition(known)[:, :STATE]) - after)))
    policy = in_numpy.with_parameters(_mlp(nn)(STATE, hidden, layers, 2 * ACTION), "policy", parameters)
    return float(np.mean(_reward(np, *driven(lambda states: np.tanh(policy(states)[:, :ACTION])))))


# --- Networks ---------------------------------------------------------------------------------------------------------


def _resnet(nn: Any, linear: Any) -> Any:
    """Return the class of a ResNet: blocks skip(x) + ReLU(Linear(ReLU(Linear(x)))), and a Linear behind them."""

    class Block(nn.Module):
        def __init__(self, features: int, hidden: int) -> None:
            super().__init__()
            self.first = linear(features, hidden)
            self.second = linear(hidden, hidden)
            self.is_first = features != hidden
            if self.is_first:
                self.skip = linear(features, hidden)

        def forward(self, x: Any) -> Any:
            return (self.skip(x) if self.is_first else x) + nn.relu(self.second(nn.relu(self.first(x))))

    class ResNet(nn.Module):
        def __init__(self, features: int, hidden: int, layers: int, out: int) -> None:
            super().__init__()
            self.blocks = nn.ModuleList([Block(hidden if place else features, hidden) for place in range(layers)])
            self.head = linear(hidden, out)

        def forward(self, x: Any) -> Any:
            for block in self.blocks:
                x = block(x)
            return self.head(x)

    return ResNet


def _frozen(nn: Any, arrays: Any) -> Any:
    """Return the class of a ResNet of these weights and biases, in the order of its layers; nothing trains them."""

    class Frozen(nn.Module):
        def __init__(self, weight: Any, bias: Any) -> None:
            super().__init__()
            self.weight = nn.constant(weight)
            self.bias = nn.constant(bias)

        def forward(self, x: Any) -> Any:
            return nn.matmul(x, self.weight) + self.bias

    each = iter(arrays)
    return _resnet(nn, lambda *_: Frozen(*next(each)))


def _mlp(nn: Any) -> Any:
    """Return the class of an MLP of so many hidden layers."""

    class MLP(nn.Module):
        def __init__(self, features: int, hidden: int, layers: int, out: int = 1) -> None:
            super().__init__()
            widths = [features, *[hidden] * layers]
            self.hidden = nn.ModuleList([nn.Linear(*pair) for pair in pairwise(widths)])
            self.head = nn.Linear(hidden, out)

        def forward(self, x: Any) -> Any:
            for layer in self.hidden:
                x = nn.leaky_relu(layer(x), SLOPE)
            return self.head(x)

    return MLP


# --- What rollouts are made of ----------------------------------------------------------------------------------------


def _rolled_out(nn: Any, policy: Any, transition: Any, start: Any, noise: Any) -> tuple[Any, Any]:
    """Return the transitions [state, action, next state] from a start, and their log-probabilities (batch, horizon)."""

    def step(state: Any, drawn: Any) -> tuple[Any, Any]:
        mean, std = _gaussian(nn, policy(state), ACTION)
        action = mean + std * drawn[:, :ACTION]
        mean, other_std = _gaussian(nn, transition(nn.concat([state, action], 1)), STATE)
        new = mean + other_std * drawn[:, ACTION:]
        return new, (nn.concat([state, action, new], 1), nn.concat([std, other_std], 1))

    _, (transitions, std) = nn.scan(step, start, noise)
    return transitions, nn.sum(-0.5 * noise * noise - nn.log(std) - HALF_LOG_TAU, 2)


def _gaussian(nn: Any, outputs: Any, features: int) -> tuple[Any, Any]:
    """Return the mean and the standard deviation that a network's outputs stand for."""
    mean, spread = nn.split(outputs, (features, features), len(outputs.shape) - 1)
    return nn.tanh(mean), (nn.tanh(spread) + 1.0) * ((MOST_STD - LEAST_STD) / 2) + LEAST_STD


def _log_prob(nn: Any, x: Any, mean: Any, std: Any) -> Any:
    """Return the logarithm of the density at x (batch, horizon, features), all features together."""
    far = (x - mean) / std
    return nn.sum(-0.5 * far * far - nn.log(std) - HALF_LOG_TAU, 2)


def _advantages(nn: Any, reward: Any, values: Any, discounts: Any) -> tuple[Any, Any]:
    """Return GAE's advantages (batch, horizon), and with the values added the returns; no trajectory ends earlier."""
    horizon = reward.shape[1]
    before, after = values[:, :horizon], values[:, 1:]
    advantage = nn.matmul(reward + GAMMA * after - before, discounts)
    return advantage, advantage + before


def _discounts(horizon: int) -> Any:
    """Return (gamma lambda)^(j - i) at row j and column i, j >= i: a product with it is a sum over what is later."""
    places = np.arange(horizon)
    apart = places[:, None] - places[None, :]
    return np.where(apart >= 0, (GAMMA * LAMBDA) ** np.maximum(apart, 0), 0.0)


def _reward(nn: Any, states: Any, actions: Any) -> Any:
    """Return minus the cost (batch, horizon) of angle, speed and torque."""
    speed = FASTEST * states[:, :, 2]
    torque = nn.clip(STRONGEST * actions[:, :, 0], -STRONGEST, STRONGEST)
    return 2.0 * states[:, :, 0] - 2.0 - 0.1 * speed * speed - 0.001 * torque * torque


def _last(nn: Any, x: Any) -> Any:
    """Return (batch, length, 1) without its last axis."""
    return nn.reshape(x, (x.shape[0], x.shape[1]))


def _halves(x: Any) -> tuple[Any, Any]:
    """Return both features of (batch, horizon, 2)."""
    return x[:, :, 0], x[:, :, 1]
