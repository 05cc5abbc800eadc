"""Faults in MLX's folder."""

from __future__ import annotations

from functools import partial

from catalogue.mlx_steps import in_steps
from catalogue.mutant import HALVES, IDLES, Mutant

in_nn = partial(Mutant, "mlx", "vocabulary", "nn.py")
in_maps = partial(Mutant, "mlx", "vocabulary", "maps.py")
in_losses = partial(Mutant, "mlx", "vocabulary", "losses.py")
in_optimizers = partial(Mutant, "mlx", "optimiser", "optimizers.py")
in_feed = partial(Mutant, "mlx", "feed", "input.py")

RAN = "        self._results = self._forward(batch[0])\n"

MUTANTS = [
    in_maps(
        "average pooling counts the padding",
        [("    if not any(ends) and (count_padding or not any(sides)):\n        return means\n", "    return means\n")],
        {"case/avg_pool2d with padding": "outputs"},
    ),
    in_maps(
        "groups of channels are MLX's own",
        [(", pytorch_compatible=True", "")],
        {"case/norms of maps": "outputs"},
    ),
    in_nn(
        "BatchNorm's momentum is the weight of the old value",
        [("eps=epsilon, momentum=momentum", "eps=epsilon, momentum=1 - momentum")],
        {"case/batch norm of vectors": "running statistics"},
    ),
    in_nn(
        "GELU is approximated by tanh",
        [("gelu = mlx.nn.gelu\n", "gelu = mlx.nn.gelu_approx\n")],
        {"case/gelu": "outputs", "vit-b16/train": "outputs"},
    ),
    in_nn(
        "dropout keeps what it should drop",
        [("super().__init__(rate)", "super().__init__(1 - rate if rate else rate)")],
        {"dropout/0.1": "the share of dropped elements", "dropout/0.75": "the share of dropped elements"},
    ),
    in_losses(
        "the mean squared error is a sum",
        [('reduction == "sum"', "True")],
        {"case/mse": "loss and gradients"},
    ),
    in_losses(
        "losses are added into one number",
        [("while array.size > _ROW:", "while False:")],
        {"case/losses of many elements": "loss and gradients"},
    ),
    in_steps("inference of half the batch", [(RAN, HALVES + RAN)], {"mlp-mnist/infer": "ran"}),
    in_steps("inference computes nothing after the first batch", [(RAN, IDLES + RAN)], {"mlp-mnist/infer": "ran"}),
    in_optimizers(
        "Adam without bias correction, as MLX has it by default",
        [('"eps": epsilon, "bias_correction": True}', '"eps": epsilon}')],
        {"optimizer/Adam": "optimizer", "mlp-mnist/train": "optimizer"},
    ),
    in_optimizers(
        "SGD without momentum",
        [("mlx.optimizers.SGD(rate, momentum=momentum, ", "mlx.optimizers.SGD(rate, ")],
        {"optimizer/SGD with momentum": "optimizer"},
    ),
    in_feed(
        "the loader does not shuffle",
        [("samples.shuffle().batch", "samples.batch")],
        {"input/pipeline/linear": "orders that come twice"},
    ),
    in_feed(
        "copies have the next sample's labels",
        [
            (
                "yield self._names.paired([mx.array(array) for array in arrays])",
                "yield self._names.paired([mx.array(arrays[0]), mx.array(np.roll(arrays[1], 1))])",
            )
        ],
        {"input/per-step/linear": "y in another place"},
    ),
]
