"""GPT-2 as PyTorch's users write it by hand, with their loop around it, the twin that nanoGPT is; and its LSTM and GRU.

One product for queries, keys and values, scaled_dot_product_attention with its causal flag, the head tied to the
embeddings, a rate set for each step, two groups of AdamW. What is computed is the workload's.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import torch
from torch.nn import functional as F  # noqa: N812 - PyTorch's users' short name

if TYPE_CHECKING:
    from collections.abc import Callable


class Layer(torch.nn.Module):
    """Causal attention and a dense part."""

    def __init__(self, features: int, heads: int) -> None:
        """Make the layers."""
        super().__init__()
        self.heads = heads
        self.first, self.second = torch.nn.LayerNorm(features), torch.nn.LayerNorm(features)
        self.mixed, self.out = torch.nn.Linear(features, 3 * features), torch.nn.Linear(features, features)
        self.wide, self.narrow = torch.nn.Linear(features, 4 * features), torch.nn.Linear(4 * features, features)

    def forward(self, x: Any) -> Any:
        """Add both parts."""
        batch, length, features = x.shape
        heads = (batch, length, self.heads, features // self.heads)
        q, k, v = (part.view(heads).transpose(1, 2) for part in self.mixed(self.first(x)).split(features, dim=2))
        attended = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(attended.transpose(1, 2).contiguous().view(batch, length, features))
        return x + self.narrow(F.gelu(self.wide(self.second(x)), approximate="tanh"))


class GPT(torch.nn.Module):
    """Embeddings, layers, and the head that shares the embeddings' weights."""

    def __init__(self, config: Any) -> None:
        """Make the layers."""
        super().__init__()
        features = config["features"]
        self.tokens = torch.nn.Embedding(config["tokens"], features)
        self.positions = torch.nn.Embedding(config["positions"], features)
        self.layers = torch.nn.ModuleList(Layer(features, config["heads"]) for _ in range(config["layers"]))
        self.norm = torch.nn.LayerNorm(features)
        self.head = torch.nn.Linear(features, config["tokens"], bias=False)
        self.tokens.weight = self.head.weight
        self.apply(_initialised)

    def forward(self, ids: Any) -> Any:
        """Return the logits."""
        x = self.tokens(ids) + self.positions(torch.arange(ids.shape[1]))
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x))


def _initialised(layer: Any) -> None:
    """Draw weights as small as GPT-2's: at those of torch.nn.Embedding the logits are in the hundreds."""
    if isinstance(layer, torch.nn.Linear | torch.nn.Embedding):
        torch.nn.init.normal_(layer.weight, std=0.02)


def gpt2(model: Any, scenario: str, batch: Any) -> Callable[[], None]:
    """Return the step of a loop by hand."""
    network = GPT(model.size.config)
    ids, next_ids = (torch.tensor(one, dtype=torch.int64) for one in batch.arrays.values())
    if scenario == "infer":
        network.eval()

        def infer() -> None:
            with torch.inference_mode():
                network(ids)

        return infer
    declared = model.optimizer
    groups = [
        {"params": [one for one in network.parameters() if one.dim() > 1], "weight_decay": declared.weight_decay},
        {"params": [one for one in network.parameters() if one.dim() == 1], "weight_decay": 0.0},
    ]
    optimizer = torch.optim.AdamW(groups, lr=declared.learning_rate, betas=(declared.beta1, declared.beta2))
    done = 0

    def train() -> None:
        nonlocal done
        done += 1
        for group in optimizer.param_groups:
            group["lr"] = declared.learning_rate * _cosine(declared.schedule, done)
        logits = network(ids)
        loss = F.cross_entropy(logits.view(-1, logits.shape[-1]), next_ids.view(-1))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), declared.clip_norm)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    return train


def _cosine(schedule: Any, step: int) -> float:
    """Return the factor of a step: a warm-up, and then half a cosine."""
    if step < schedule.warmup_steps:
        return step / schedule.warmup_steps
    share = (step - schedule.warmup_steps) / (schedule.steps - schedule.warmup_steps)
    return schedule.final + 0.5 * (1 - schedule.final) * (1 + math.cos(math.pi * share))


class Recurrent(torch.nn.Module):
    """One recurrent layer, and classes by the mean of what it gives."""

    def __init__(self, layer: type[torch.nn.RNNBase], *, both: bool) -> None:
        """Make the layers, as scaled.py has them."""
        super().__init__()
        self.layer = layer(128, 256, batch_first=True, bidirectional=both)
        self.head = torch.nn.Linear(256 * (1 + both), 10)

    def forward(self, x: Any) -> Any:
        """Return the logits."""
        return self.head(self.layer(x)[0].mean(1))


def _recurrent(layer: type[torch.nn.RNNBase], *, both: bool) -> Callable[..., Callable[[], None]]:
    """Return what makes the step of a loop by hand for one layer."""

    def made(model: Any, scenario: str, batch: Any) -> Callable[[], None]:
        network = Recurrent(layer, both=both)
        x, labels = (torch.tensor(one) for one in batch.arrays.values())
        if scenario == "infer":
            network.eval()

            def infer() -> None:
                with torch.inference_mode():
                    network(x)

            return infer
        labels, optimizer = labels.long(), torch.optim.SGD(network.parameters(), lr=model.optimizer.learning_rate)

        def train() -> None:
            optimizer.zero_grad()
            F.cross_entropy(network(x), labels).backward()
            optimizer.step()

        return train

    return made


TWINS = {
    "gpt2": gpt2,
    "lstm": _recurrent(torch.nn.LSTM, both=False),
    "lstm-both": _recurrent(torch.nn.LSTM, both=True),
    "gru": _recurrent(torch.nn.GRU, both=False),
    "gru-both": _recurrent(torch.nn.GRU, both=True),
}
