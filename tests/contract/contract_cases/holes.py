"""What frameworks are known to lack. All else they compute: a refusal of any other work fails its test."""

from __future__ import annotations

WITHOUT_CLOCK = frozenset({"jittor", "mlx"})
"""Frameworks whose profiler gives no span to hold ours against; they say why."""

PER_SAMPLE_HOLES = {
    ("tensorflow", "vmap", "imdb-lstm"): "tf.while_loop",
    ("mlx", "vmap", "mnist-cnn"): "convolution",
    ("mlx", "vmap", "cnn-cifar10"): "convolution",
    ("torch", "hooks", "imdb-lstm"): "Opacus",
    ("torch", "hooks", "text-transformer"): "Opacus",
    ("jittor", "closed-form", "imdb-lstm"): "lstm (LSTM)",
    ("jittor", "closed-form", "text-transformer"): "no formula for the model",
}
"""Ways to per-sample gradients that a framework lacks for a workload, with a part of the reason."""

DEFAULT_WAY = {("tensorflow", "vmap"), ("jittor", "closed-form")}
"""What the value `default` takes for the workloads that every way computes: it is computed once."""

NOT_INSTALLED = "pip install opacus"
"""Where PyTorch's environment is one of the user's own, without Opacus, its way is not computed."""
