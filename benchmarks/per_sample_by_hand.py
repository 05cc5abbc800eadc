"""A step of differentially private training as users of PyTorch, Opacus and JAX write it, for two small networks.

Each function takes a batch as NumPy has it (images (batch, height, width, channels), labels) and gives one step that is
waited for. The networks are those of `mnist-cnn` and `cnn-cifar10` at full size.

torch_vmap: PyTorch's tutorial "Per-sample-gradients" (docs.pytorch.org/tutorials/intermediate/per_sample_grads.html),
with clipping, noise and torch.optim.SGD behind it. torch_hooks: Opacus' GradSampleModule and DPOptimizer without its
PrivacyEngine, which draws batches and keeps an account. jax_vmap: jit of vmap(grad), clip, noise and optax.sgd, as in
Subramani et al. 2020 (arXiv 2010.09063).
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

RATE, MAX_NORM, NOISE = 0.15, 1.0, 1.1  # fast-dpsgd's utils.py
CHANNELS = (3, 32, 64, 128)


def torch_network(workload: str) -> Any:
    """Give a network in torch.nn."""
    from torch import nn

    if workload == "mnist-cnn":
        convolved = [nn.Conv2d(1, 16, 8, 2, 3), nn.ReLU(), nn.MaxPool2d(2, 1)]
        convolved += [nn.Conv2d(16, 32, 4, 2), nn.ReLU(), nn.MaxPool2d(2, 1)]
        return nn.Sequential(*convolved, nn.Flatten(), nn.Linear(512, 32), nn.ReLU(), nn.Linear(32, 10))
    layers: list[Any] = []
    for first, second in pairwise(CHANNELS):
        layers += [nn.Conv2d(first, second, 3, padding=1), nn.ReLU()]
        layers += [nn.Conv2d(second, second, 3, padding=1), nn.ReLU(), nn.AvgPool2d(2)]
    layers += [nn.Conv2d(128, 256, 3, padding=1), nn.ReLU(), nn.Conv2d(256, 10, 3, padding=1)]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten())


def torch_batch(images: Any, labels: Any) -> tuple[Any, Any]:
    """Give a batch with channels first."""
    import torch

    return torch.from_numpy(images.transpose(0, 3, 1, 2).copy()), torch.from_numpy(labels).long()


def torch_vmap(workload: str, images: Any, labels: Any) -> Callable[[], None]:
    """Give a step by torch.func."""
    import torch
    from torch.func import functional_call, grad, vmap
    from torch.nn.functional import cross_entropy

    model = torch_network(workload)
    x, y = torch_batch(images, labels)
    optimizer = torch.optim.SGD(model.parameters(), RATE)

    def compute_loss(params: Any, sample: Any, target: Any) -> Any:
        predictions = functional_call(model, params, (sample.unsqueeze(0),))
        return cross_entropy(predictions, target.unsqueeze(0))

    compute_sample_grads = vmap(grad(compute_loss), in_dims=(None, 0, 0))

    def step() -> None:
        params = {name: parameter.detach() for name, parameter in model.named_parameters()}
        grads = compute_sample_grads(params, x, y)
        norms = torch.stack([one.flatten(1).norm(dim=1) for one in grads.values()]).norm(dim=0)
        factors = (MAX_NORM / norms).clamp(max=1.0)
        for name, parameter in model.named_parameters():
            total = torch.einsum("i,i...->...", factors, grads[name])
            parameter.grad = (total + MAX_NORM * NOISE * torch.randn_like(parameter)) / len(x)
        optimizer.step()

    return step


def torch_hooks(workload: str, images: Any, labels: Any) -> Callable[[], None]:
    """Give a step by Opacus."""
    import torch
    from opacus.grad_sample import GradSampleModule
    from opacus.optimizers import DPOptimizer

    model = GradSampleModule(torch_network(workload))
    x, y = torch_batch(images, labels)
    optimizer = DPOptimizer(
        torch.optim.SGD(model.parameters(), RATE),
        noise_multiplier=NOISE,
        max_grad_norm=MAX_NORM,
        expected_batch_size=len(x),
    )

    def step() -> None:
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()

    return step


def jax_network(workload: str) -> tuple[list[Any], Callable[[Any, Any], Any]]:
    """Give first parameters and the function of (parameters, images)."""
    import jax
    import jax.numpy as jnp
    import numpy as np
    from jax import lax

    random = np.random.default_rng(0)

    def made(*shape: int) -> tuple[Any, Any]:
        deviation = float(np.prod(shape[:-1])) ** -0.5
        return jnp.asarray(deviation * random.standard_normal(shape), jnp.float32), jnp.zeros(shape[-1])

    def conv(layer: Any, x: Any, stride: int, padding: int) -> Any:
        weight, bias = layer
        sides = [(padding, padding)] * 2
        found = lax.conv_general_dilated(x, weight, (stride, stride), sides, dimension_numbers=("NHWC", "HWIO", "NHWC"))
        return found + bias

    def pool(x: Any) -> Any:
        return lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 1, 1, 1), "VALID")

    def halved(x: Any) -> Any:
        return lax.reduce_window(x, 0.0, lax.add, (1, 2, 2, 1), (1, 2, 2, 1), "VALID") / 4.0

    def digits(params: Any, x: Any) -> Any:
        first, second, (w, b), (v, c) = params
        x = pool(jax.nn.relu(conv(first, x, 2, 3)))
        x = pool(jax.nn.relu(conv(second, x, 2, 0)))
        return jax.nn.relu(x.reshape(len(x), -1) @ w + b) @ v + c

    def pictures(params: Any, x: Any) -> Any:
        for place in range(0, 6, 2):
            x = jax.nn.relu(conv(params[place], x, 1, 1))
            x = halved(jax.nn.relu(conv(params[place + 1], x, 1, 1)))
        return conv(params[7], jax.nn.relu(conv(params[6], x, 1, 1)), 1, 1).mean((1, 2))

    if workload == "mnist-cnn":
        return [made(8, 8, 1, 16), made(4, 4, 16, 32), made(512, 32), made(32, 10)], digits
    shapes = [pair for a, b in pairwise(CHANNELS) for pair in ((a, b), (b, b))] + [(128, 256), (256, 10)]
    return [made(3, 3, *pair) for pair in shapes], pictures


def jax_vmap(workload: str, images: Any, labels: Any) -> Callable[[], None]:
    """Give a step by jax.vmap."""
    import jax
    import jax.numpy as jnp
    import optax

    params, network = jax_network(workload)
    optimizer = optax.sgd(RATE)
    x, y = jnp.asarray(images), jnp.asarray(labels)

    def loss(params: Any, image: Any, label: Any) -> Any:
        logits = network(params, image[None])
        return optax.softmax_cross_entropy_with_integer_labels(logits, label[None]).mean()

    def clipped(params: Any, image: Any, label: Any) -> Any:
        grads = jax.grad(loss)(params, image, label)
        divisor = jnp.maximum(optax.global_norm(grads) / MAX_NORM, 1.0)
        return jax.tree.map(lambda one: one / divisor, grads)

    @jax.jit
    def update(key: Any, params: Any, state: Any, x: Any, y: Any) -> Any:  # a batch is no constant of a program
        sums = jax.tree.map(lambda one: one.sum(0), jax.vmap(clipped, (None, 0, 0))(params, x, y))
        leaves, tree = jax.tree.flatten(sums)
        key, *keys = jax.random.split(key, len(leaves) + 1)
        noisy = [
            (one + MAX_NORM * NOISE * jax.random.normal(k, one.shape)) / len(x)
            for one, k in zip(leaves, keys, strict=True)
        ]
        updates, state = optimizer.update(jax.tree.unflatten(tree, noisy), state)
        return key, optax.apply_updates(params, updates), state

    now = [jax.random.key(0), params, optimizer.init(params)]

    def step() -> None:
        now[:] = update(*now, x, y)
        jax.block_until_ready(now[1])

    return step


BY_HAND = {("torch", "vmap"): torch_vmap, ("torch", "hooks"): torch_hooks, ("jax", "vmap"): jax_vmap}
"""By framework and by the value of the option `per_sample` that it is held against."""
