"""Faults in TensorFlow's folder."""

from __future__ import annotations

from functools import partial

from catalogue.mutant import HALVES, IDLES, Mutant
from catalogue.tensorflow_steps import in_steps

in_nn = partial(Mutant, "tensorflow", "vocabulary", "nn.py")
in_padding = partial(Mutant, "tensorflow", "vocabulary", "padding.py")
in_convolutions = partial(Mutant, "tensorflow", "vocabulary", "conv_layers.py")
in_attention = partial(Mutant, "tensorflow", "vocabulary", "attention.py")
in_optimizers = partial(Mutant, "tensorflow", "optimiser", "optimizers.py")
in_feed = partial(Mutant, "tensorflow", "feed", "input.py")

RAN = "        self._last = self._run(batch[0])\n"

MUTANTS = [
    in_nn(
        "BatchNorm's momentum is the weight of the old value",
        [("momentum=1 - momentum", "momentum=momentum")],
        {"case/batch norm of vectors": "running statistics"},
    ),
    in_nn(
        "BatchNorm takes Keras' default epsilon",
        [("momentum=1 - momentum, epsilon=epsilon, synchronized", "momentum=1 - momentum, synchronized")],
        {"case/batch norm of maps": "outputs", "case/batch norm of vectors": "outputs"},
    ),
    in_nn(
        "GELU is approximated by tanh",
        [("tf.nn.gelu(x, approximate=False)", "tf.nn.gelu(x, approximate=True)")],
        {"case/gelu": "outputs", "vit-b16/train": "outputs"},
    ),
    in_nn(
        "dropout keeps what it should drop",
        [("super().__init__(rate, seed", "super().__init__(1 - rate if rate else rate, seed")],
        {"dropout/0.1": "the share of dropped elements", "dropout/0.75": "the share of dropped elements"},
    ),
    in_padding(
        "every padding is TensorFlow's SAME",
        [('        return x, "VALID"\n    axes', '        return x, "VALID"\n    return x, "SAME"\n    axes')],
        {"case/conv2d with stride on an even side": "outputs"},
    ),
    in_convolutions(
        "transposed convolutions are cut at their end only",
        [("found[:, top : top + rows, left : left + columns]", "found[:, :rows, :columns]")],
        {"case/transposed convolutions": "outputs"},
    ),
    in_attention(
        "attention is not scaled",
        [("q.shape[-1] ** -0.5 if scale is None", "1.0 if scale is None")],
        {"case/attention of heads": "outputs", "vit-b16/train": "outputs"},
    ),
    in_steps("inference of half the batch", [(RAN, HALVES + RAN)], {"mlp-mnist/infer": "ran"}),
    in_steps("inference computes nothing after the first batch", [(RAN, IDLES + RAN)], {"mlp-mnist/infer": "ran"}),
    in_optimizers(
        "Adam's epsilon is where Keras has it",
        [("else FormulaAdam(", "else keras.optimizers.Adam(")],
        {"optimizer/Adam": "optimizer", "mlp-mnist/train": "optimizer"},
    ),
    in_optimizers(
        "RMSprop's epsilon is where Keras has it",
        [("else FormulaRMSprop(**", "else keras.optimizers.RMSprop(**")],
        {"optimizer/RMSprop": "optimizer"},
    ),
    in_optimizers(
        "SGD's weight decay is Keras' own, apart from the gradient",
        [
            (
                "return DecayedSGD(decay, **options) if decay",
                "return keras.optimizers.SGD(**options, weight_decay=decay) if decay",
            )
        ],
        {"optimizer/SGD with decay": "optimizer"},
    ),
    in_feed(
        "the loader shuffles only once",
        [("reshuffle_each_iteration=True", "reshuffle_each_iteration=False")],
        {"input/pipeline/linear": "orders that come twice"},
    ),
    in_feed(
        "the loader leaves out a batch",
        [
            ("dataset = shuffled.batch(", "dataset = shuffled.repeat().batch("),
            (
                "            yield from map(self._names.paired, dataset)",
                "            yield from map(self._names.paired, dataset.skip(1))",
            ),
        ],
        {"input/pipeline/linear": "missing in epoch 0"},
    ),
    in_feed(
        "the loader's labels are another sample's",
        [("from_tensor_slices(tuple(self._arrays))", "from_tensor_slices((self._arrays[0], self._arrays[1][::-1]))")],
        {"input/pipeline/linear": "with another label in epoch 0"},
    ),
]
