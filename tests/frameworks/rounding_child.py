"""Run in PyTorch's interpreter by test_rounding.py: what moved operations give, as shares of what they give else."""

from __future__ import annotations

import json

import torch

from bakeoff.frameworks.torch.rounding import Rounding

SHARE = 1e-6


def results(seed: int | None) -> dict[str, torch.Tensor]:
    """Return the results of a product, of its gradient, and of what rounds nothing; None moves nothing."""
    weight = torch.linspace(1.0, 2.0, 400, dtype=torch.float64).reshape(20, 20).requires_grad_()
    x = torch.linspace(-1.0, 1.0, 400, dtype=torch.float64).reshape(20, 20)
    with torch.enable_grad() if seed is None else Rounding(SHARE, seed):
        product = x @ weight
        product.pow(2).sum().backward()
        parameter = torch.ones(3, dtype=torch.float64)
        parameter.add_(1.0)
        counts = torch.arange(3).to(torch.float64)
        torch.ops.aten._unsafe_view(x, [400])  # its schema says nothing of the memory that it shares
        exact = {"view": x.t(), "in place": parameter, "counts": counts, "copy": x.clone(), "argument": x}
    assert weight.grad is not None
    return {"product": product.detach(), "gradient": weight.grad, **exact}


def of_norms(context: type[torch.no_grad | torch.inference_mode]) -> dict[str, list[float]]:
    """Return by how much normalisations of a mean of 200 deviations are moved at most, and all samples alike."""
    torch.manual_seed(0)
    layers = {
        "batch": (torch.nn.BatchNorm1d(6), (32, 6)),
        "batch of maps": (torch.nn.BatchNorm2d(6), (32, 6, 4, 4)),
        "layer": (torch.nn.LayerNorm(64), (4, 5, 64)),
        "layer of two axes": (torch.nn.LayerNorm((8, 8), elementwise_affine=False), (4, 5, 8, 8)),
        "group": (torch.nn.GroupNorm(2, 6), (4, 6, 5, 5)),
        "layer of more rows than there are factors": (torch.nn.LayerNorm(2), (1, 1_100_000, 2)),
    }
    told = {}
    for name, (layer, shape) in layers.items():
        layer.to(torch.float64)
        x = torch.randn(shape, dtype=torch.float64) + 200.0
        if shape[-1] == 2:  # of two that are drawn the deviation may be as small as it likes
            x = torch.tensor([199.0, 201.0], dtype=torch.float64).expand(shape)
        plain = layer(x)
        with Rounding(SHARE, 1), context():
            difference = layer(x) - plain
        # What is taken away is of all samples in a batch, and of a sample by itself in the others.
        alike = (
            difference.mean(0)
            if name.startswith("batch")
            else difference.flatten(2 if name.startswith("l") else 1).mean(-1)
        )
        told[name] = [float(difference.detach().abs().max()), float(alike.detach().abs().max())]
    return told


def of_a_solved_sample() -> list[float]:
    """Return the gradient of a logit whose probability is all but one, and by how much it is moved, at most of ten."""
    logits = torch.zeros(3, 4, dtype=torch.float64)
    logits[:, 0] = 20.0

    def gradient(seed: int | None) -> torch.Tensor:
        own = logits.clone().requires_grad_()
        with torch.enable_grad() if seed is None else Rounding(SHARE, seed):
            torch.nn.functional.cross_entropy(own, torch.zeros(3, dtype=torch.int64), reduction="sum").backward()
        assert own.grad is not None
        return own.grad[:, 0]

    plain = gradient(None)
    return [float(plain.abs().max()), max(float((gradient(seed) - plain).abs().max()) for seed in range(10))]


def main() -> None:
    """Print the largest relative difference of each result, and whether one seed repeats and another does not."""
    plain, moved, again, other = (results(seed) for seed in (None, 1, 1, 2))
    told: dict[str, float | bool] = {}
    for name, one in plain.items():
        told[name] = float(((moved[name] - one).abs() / one.abs().clamp(min=1e-3)).max())
    elsewhere = Rounding(SHARE, 1)
    with elsewhere:  # "meta" is a device that holds shapes alone
        made = torch.ones(3, dtype=torch.float64, device="meta") * 2.0
    told["elsewhere"] = made.device.type == "meta" and sorted(one.type for one in elsewhere._factors) == ["cpu", "meta"]
    with Rounding(SHARE, 1):  # the backward pass of an exponential is a product with its result, as it was moved
        bases = torch.linspace(0.0, 1.0, 400, dtype=torch.float64).requires_grad_()
        powers = bases.exp()
        (gradient,) = torch.autograd.grad(powers.sum(), bases)
    told["saved"] = float(((gradient - powers) / powers).abs().max())
    told["repeats"] = torch.equal(moved["gradient"], again["gradient"])
    told["differs"] = not torch.equal(moved["product"], other["product"])
    norms = [of_norms(context) for context in (torch.no_grad, torch.inference_mode)]
    print(json.dumps(told | {"norms": norms, "solved": of_a_solved_sample()}))  # noqa: T201 - its answer


if __name__ == "__main__":
    main()
