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
    print(json.dumps(told))  # noqa: T201 - its answer


if __name__ == "__main__":
    main()
