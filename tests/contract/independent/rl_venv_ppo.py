"""PPO (arXiv 1707.06347) and GAE (arXiv 1506.02438) in torch.nn, by loops over time; networks of REVIVE's public files.

The environment of stage 2 is data: its weights are the workload's own, and what they are is held in tests/workloads.
"""

from __future__ import annotations

from itertools import pairwise

import torch

from bakeoff.spec.batch import ArraySpec
from bakeoff.workloads import pendulum
from independent.implementation import Implementation

OPTIMIZER = {"type": "adam", "learning_rate": 4e-5, "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8}


class Block(torch.nn.Module):
    """Two layers with ReLU beside a skip."""

    def __init__(self, features, hidden):
        """Make the layers."""
        super().__init__()
        self.one = torch.nn.Linear(features, hidden)
        self.two = torch.nn.Linear(hidden, hidden)
        self.skip = torch.nn.Linear(features, hidden) if features != hidden else torch.nn.Identity()

    def forward(self, x):
        """Return the sum of both ways."""
        return self.skip(x) + self.two(self.one(x).relu()).relu()


def resnet(features, hidden, layers, out):
    """Return blocks and a last layer."""
    widths = [features, *[hidden] * layers]
    blocks = [Block(*pair) for pair in pairwise(widths)]
    return torch.nn.Sequential(*blocks, torch.nn.Linear(hidden, out))


def mlp(features, hidden, layers, out):
    """Return layers with a leaky ReLU between, and a last one."""
    widths = [features, *[hidden] * layers]
    parts = []
    for pair in pairwise(widths):
        parts += [torch.nn.Linear(*pair), torch.nn.LeakyReLU(0.1)]
    return torch.nn.Sequential(*parts, torch.nn.Linear(hidden, out))


def gaussian(outputs):
    """Return the distribution of a head: REVIVE 0.9.3, modules.py."""
    mean, spread = outputs.chunk(2, -1)
    return torch.distributions.Normal(mean.tanh(), (spread.tanh() + 1) / 2 * (0.5 - 0.001) + 0.001)


def gae(rewards, values):
    """Return advantages backward over time, equation 16 of GAE by its recursion."""
    advantages, later = [], torch.zeros(len(rewards))
    for t in reversed(range(rewards.shape[1])):
        later = rewards[:, t] + 0.99 * values[:, t + 1] - values[:, t] + 0.99 * 0.95 * later
        advantages.insert(0, later)
    return torch.stack(advantages, 1)


class Environment(torch.nn.Module):
    """Stage 1."""

    def __init__(self, hidden, layers):
        """Make the networks."""
        super().__init__()
        self.behaviour, self.transition = resnet(3, hidden, layers, 2), resnet(4, hidden, layers, 6)
        self.matcher, self.value = mlp(7, hidden, layers, 1), mlp(3, hidden, layers, 1)

    def collect(self, x):
        """Roll out with the given numbers, and judge what came out."""
        state, steps, log_prob = x["windows"][:, 0, :3], [], []
        for t in range(x["noise"].shape[1]):
            acts = gaussian(self.behaviour(state))
            action = acts.mean + acts.stddev * x["noise"][:, t, :1]
            moves = gaussian(self.transition(torch.cat([state, action], 1)))
            new = moves.mean + moves.stddev * x["noise"][:, t, 1:]
            log_prob.append(acts.log_prob(action).sum(1) + moves.log_prob(new).sum(1))
            steps.append(torch.cat([state, action, new], 1))
            state = new
        transitions = torch.stack(steps, 1)
        likeness = self.matcher(transitions).sigmoid()[:, :, 0]
        near = -(transitions[:, :, 4:] - x["windows"][:, :, 4:]).abs().mean(2)
        rewards = -0.75 * torch.log(1 - likeness + 1e-6) + 0.25 * near
        values = self.value(torch.cat([x["windows"][:, :1, :3], transitions[:, :, 4:]], 1))[:, :, 0]
        advantage = gae(rewards, values)
        collected = {"transitions": transitions, "log_prob": torch.stack(log_prob, 1), "advantage": advantage}
        return collected | {"returns": advantage + values[:, :-1]}

    def forward(self, x):
        """Return log-probabilities, values, and the matcher's logits of what was recorded and generated."""
        states, actions, nexts = x["transitions"][:, :, :3], x["transitions"][:, :, 3:4], x["transitions"][:, :, 4:]
        acted = gaussian(self.behaviour(states)).log_prob(actions).sum(2)
        moved = gaussian(self.transition(x["transitions"][:, :, :4])).log_prob(nexts).sum(2)
        logits = [self.matcher(x[name])[:, :, 0] for name in ("windows", "transitions")]
        return torch.stack([acted + moved, self.value(states)[:, :, 0], *logits], 2)


class Policy(torch.nn.Module):
    """Stage 2."""

    def __init__(self, hidden, layers):
        """Make the networks, and take the environment's weights."""
        super().__init__()
        self.policy, self.value = mlp(3, hidden, layers, 2), mlp(3, hidden, layers, 1)
        for name, pairs in pendulum.learnt(hidden, layers).items():
            for place, array in enumerate(array for pair in pairs for array in pair):
                self.register_buffer(f"{name}_{place}", torch.tensor(array), persistent=False)

    def environment(self, name, x):
        """Return what a frozen ResNet gives."""
        arrays = {key: array for key, array in self.named_buffers() if key.startswith(name)}
        *blocks, weight, bias = arrays.values()
        first, rest = blocks[:6], blocks[6:]
        branch = ((x @ first[0] + first[1]).relu() @ first[2] + first[3]).relu()
        x = x @ first[4] + first[5] + branch
        for a, b, c, d in zip(*[iter(rest)] * 4, strict=True):
            x = x + ((x @ a + b).relu() @ c + d).relu()
        return gaussian(x @ weight + bias)

    def collect(self, x):
        """Roll out with the given numbers."""
        state, states, actions = x["starts"], [x["starts"]], []
        for t in range(x["noise"].shape[1]):
            acts = gaussian(self.policy(state))
            actions.append(acts.mean + acts.stddev * x["noise"][:, t, :1])
            moves = self.environment("transition", torch.cat([state, actions[-1]], 1))
            state = moves.mean + moves.stddev * x["noise"][:, t, 1:]
            states.append(state)
        every, actions = torch.stack(states, 1), torch.stack(actions, 1)
        states = every[:, :-1]
        torque = (2 * actions[:, :, 0]).clamp(-2, 2)
        rewards = -(2 * (1 - states[:, :, 0]) + 0.1 * (8 * states[:, :, 2]) ** 2 + 0.001 * torque**2)
        values = self.value(every)[:, :, 0]
        advantage = gae(rewards, values)
        behaves = self.environment("behaviour", states)
        return {
            "states": states,
            "actions": actions,
            "behaviour": torch.cat([behaves.mean, behaves.stddev], 2),
            "log_prob": gaussian(self.policy(states)).log_prob(actions)[:, :, 0],
            "advantage": advantage,
            "returns": advantage + values[:, :-1],
        }

    def forward(self, x):
        """Return log-probabilities, values, means and deviations."""
        acts = gaussian(self.policy(x["states"]))
        value, acted = self.value(x["states"])[:, :, 0], acts.log_prob(x["actions"])[:, :, 0]
        return torch.stack([acted, value, acts.mean[:, :, 0], acts.stddev[:, :, 0]], 2)


def layers(network):
    """Name the workload's layers."""
    names = {}
    for name, module in network.named_modules():
        if not isinstance(module, torch.nn.Linear):
            continue
        net, place, *rest = name.split(".")
        last = str(len(network.get_submodule(net)) - 1)
        if net in {"behaviour", "transition"}:
            inner = {"one": "first", "two": "second", "skip": "skip"}
            names[name] = f"{net}.head" if place == last else f"{net}.blocks.{place}.{inner[rest[0]]}"
        else:
            names[name] = f"{net}.head" if place == last else f"{net}.hidden.{int(place) // 2}"
    return names


def loss(outputs, targets, inputs):
    """Return equation 7 of PPO, with the value's error and the matcher's entropy or the divergence."""
    del targets
    log_prob, value, first, second = outputs.unbind(2)
    ratio = (log_prob - inputs["log_prob"]).exp()
    clipped = torch.where(ratio > 1.2, 1.2, torch.where(ratio < 0.8, 0.8, ratio))
    found = -torch.minimum(ratio * inputs["advantage"], clipped * inputs["advantage"]).mean()
    found = found + 0.5 * (value - inputs["returns"]).square().mean()
    if "windows" in inputs:
        logits = torch.cat([first, second])
        real = torch.cat([torch.ones_like(first), torch.zeros_like(second)])
        return found + torch.nn.functional.binary_cross_entropy_with_logits(logits, real)
    behaves = torch.distributions.Normal(*inputs["behaviour"].unbind(2))
    return found + torch.distributions.kl_divergence(torch.distributions.Normal(first, second), behaves).mean()


def venv(horizon):
    """Return the declared inputs of stage 1."""
    return {"windows": ArraySpec(shape=(horizon, 7)), "noise": ArraySpec(shape=(horizon, 4))}


def policy(horizon):
    """Return the declared inputs of stage 2."""
    return {"starts": ArraySpec(shape=(3,)), "noise": ArraySpec(shape=(horizon, 4))}


def dense(*widths):
    """Return the parameters of layers between these widths."""
    return sum(a * b + b for a, b in pairwise(widths))


def of_resnet(features, hidden, layers, out):
    """Return the parameters of blocks, the first of which has a skip, and of a last layer."""
    return dense(features, *[hidden] * (2 * layers)) + dense(features, hidden) + dense(hidden, out)


def of_policy(hidden, layers):
    """Return the parameters of stage 2."""
    return dense(3, *[hidden] * layers, 2) + dense(3, *[hidden] * layers, 1)


SIZES = {
    "full": Implementation(
        batch_size=1024,
        inputs=venv(10),
        parameters=of_resnet(3, 256, 4, 2)
        + of_resnet(4, 256, 4, 6)
        + dense(7, *[256] * 4, 1)
        + dense(3, *[256] * 4, 1),
        network=lambda: Environment(256, 4),
    ),
    "policy": Implementation(
        batch_size=256, inputs=policy(100), parameters=of_policy(256, 4), network=lambda: Policy(256, 4)
    ),
    "policy-reduced": Implementation(
        batch_size=8, inputs=policy(5), parameters=of_policy(64, 2), network=lambda: Policy(64, 2)
    ),
}
SMALL = Implementation(
    inputs=venv(10), network=lambda: Environment(5, 2), config={"hidden": 5, "layers": 2}, computed_batch=3
)
