"""Faults in Jittor's folder."""

from __future__ import annotations

from functools import partial

from catalogue.jittor_steps import in_steps
from catalogue.mutant import HALVES, IDLES, Mutant

in_nn = partial(Mutant, "jittor", "vocabulary", "nn.py")
in_maps = partial(Mutant, "jittor", "vocabulary", "maps.py")
in_losses = partial(Mutant, "jittor", "vocabulary", "losses.py")
in_loss_functions = partial(Mutant, "", "certificate", "frameworks/jittor/losses.py")
in_optimizers = partial(Mutant, "jittor", "optimiser", "optimizers.py")
in_feed = partial(Mutant, "jittor", "feed", "input.py")

RAN = "        with jt.no_grad():\n            self._outputs = self._network(batch[0])\n"

BY_SUMS = "(1 - targets) * logits + most + jt.log(jt.exp(-most) + jt.exp(-logits - most))"
BY_SIDES = "jt.maximum(logits, 0) - logits * targets + jt.log(1 + jt.exp(-jt.abs(logits)))"

MUTANTS = [
    in_maps(
        "average pooling counts the padding",
        [("    if not any(ends) and (count_padding or not any(windows.padding)):\n", "    if pooled is not None:\n")],
        {"case/avg_pool2d with padding": "outputs"},
    ),
    in_nn(
        "dropout keeps what it should drop",
        [("super().__init__(rate)", "super().__init__(1 - rate if rate else rate)")],
        {"dropout/0.1": "the share of dropped elements"},
    ),
    in_nn(
        "a flattened map's weight is not permuted",
        [
            (
                "self.layout = Layout((self.in_features, out_features), (*inputs, out_features))",
                "self.layout = Layout((self.in_features, out_features), (self.in_features, out_features))",
            )
        ],
        {"case/flatten of a convolution": "outputs"},
    ),
    in_nn(
        "LayerNorm without a bias adds one",
        [("            self.bias = 0.0\n", "            self.bias = 1.0\n")],
        {"case/layer norm without a bias": "outputs"},
    ),
    in_loss_functions(
        "a cross-entropy's slope at a logit of 0 is that of one side",
        [(BY_SUMS, BY_SIDES)],
        {"unit/tests/frameworks/test_jittor.py": "test_a_logit_of_zero_has_the_slope_between"},
    ),
    in_losses(
        "losses are added in float32",
        [("jt.sum(array.float64()).float32()", "jt.sum(array)")],
        {"case/losses of many elements": "loss and gradients"},
    ),
    in_steps("inference of half the batch", [(RAN, HALVES + RAN)], {"mlp-mnist/infer": "ran"}),
    in_steps("inference computes nothing after the first batch", [(RAN, IDLES + RAN)], {"mlp-mnist/infer": "ran"}),
    in_optimizers(
        "Adam's epsilon is where Jittor has it",
        [
            (
                "return FormulaAdam(arrays, epsilon, lr=rate, betas=(beta1, beta2), weight_decay=decay)",
                "return jt.optim.Adam(arrays, rate, eps=epsilon, betas=(beta1, beta2))",
            )
        ],
        {"optimizer/Adam": "optimizer"},
    ),
    in_feed(
        "the loader does not shuffle",
        [("shuffle=True, drop_last=True", "shuffle=False, drop_last=True")],
        {"input/pipeline/linear": "orders that come twice"},
    ),
    in_feed(
        "a sample comes with the next one's label",
        [
            (
                "return tuple(array[index] for array in self._arrays)",
                "return self._arrays[0][index], self._arrays[1][index - 1]",
            )
        ],
        {"input/pipeline/linear": "with another label in epoch 0"},
    ),
]
