"""Faults in PyTorch's vocabulary: BatchNorm, functions, dropout and losses."""

from __future__ import annotations

from functools import partial

from catalogue.mutant import Mutant

in_nn = partial(Mutant, "torch", "vocabulary", "nn.py")
in_maps = partial(Mutant, "torch", "vocabulary", "maps.py")
in_convolutions = partial(Mutant, "torch", "vocabulary", "conv_layers.py")
in_attention = partial(Mutant, "torch", "vocabulary", "attention.py")
in_losses = partial(Mutant, "torch", "vocabulary", "losses.py")

NORM = "super().__init__(features, eps=epsilon, momentum=momentum)"

NORM_FORWARD = "    def _check_input_dim(self, input: Any) -> None:  # noqa: A002 - PyTorch's name\n"

HALF = """\
    def forward(self, x):
        outputs = super().forward(x)
        if self.training:
            self.running_mean.data = self.running_mean.half().to(x.dtype)
            self.running_var.data = self.running_var.half().to(x.dtype)
        return outputs

"""

UNBIASED = """\
    def forward(self, x):
        if not self.training:
            return super().forward(x)
        count, shape = x.numel() / x.shape[1], (1, -1) + (1,) * (x.ndim - 2)
        bias = self.bias.reshape(shape)
        return (super().forward(x) - bias) * ((count - 1) / count) ** 0.5 + bias

"""

ZERO_SLOPE = """\
class _Relu(torch.autograd.Function):
    @staticmethod
    def forward(context, x):
        context.save_for_backward(x)
        return torch.relu(x)

    @staticmethod
    def backward(context, gradient):
        (x,) = context.saved_tensors
        return gradient * (x >= 0)


relu = _Relu.apply
"""

PLAIN_BIAS = """\
bias)
        self.layouts = kernel_layout(self.kernel_size, in_channels // groups, out_channels)


class ConvTranspose2d"""

MASKED = "case/attention with mask, bias and scale"
CAUSAL = "case/attention that is causal, with fewer heads of keys"
NORMS = "case/batch norm of maps"
DEEP = "resnet50-cifar10/train"

MUTANTS = [
    in_maps(
        "BatchNorm's epsilon is 1e-3",
        [(NORM, NORM.replace("eps=epsilon", "eps=1e-3"))],
        {NORMS: "outputs", DEEP: "outputs", "resnet50/train": "outputs"},
    ),
    in_maps(
        "BatchNorm's epsilon is 1e-4",
        [(NORM, NORM.replace("eps=epsilon", "eps=1e-4"))],
        {NORMS: "loss and gradients", DEEP: "outputs"},
    ),
    in_maps(
        "BatchNorm's momentum is 0.01",
        [(NORM, NORM.replace("=momentum", "=0.01"))],
        {"case/batch norm of vectors": "running statistics", DEEP: "state"},
    ),
    in_maps(
        "BatchNorm's running statistics are kept in float16",
        [(NORM_FORWARD, HALF + NORM_FORWARD)],
        {NORMS: "running statistics", DEEP: "state"},
    ),
    in_maps(
        "BatchNorm normalises by the unbiased variance",
        [(NORM_FORWARD, UNBIASED + NORM_FORWARD)],
        {NORMS: "loss and gradients", DEEP: "gradients"},
    ),
    in_nn(
        "ReLU leaks a thousandth",
        [("relu = torch.relu\n", "def relu(x): return F.leaky_relu(x, 1e-3)\n")],
        {"case/relu": "outputs", "mlp-mnist/train": "outputs", DEEP: "outputs"},
    ),
    in_nn(
        "ReLU's slope at 0 is 1",
        [("relu = torch.relu\n", ZERO_SLOPE)],
        {"case/relu": "", "mlp-mnist/train": "", DEEP: ""},
        "no value of these models is exactly 0: a sum of products of drawn numbers that is one has no chance",
    ),
    in_maps(
        "max-pooling pads with zeros",
        [
            (
                "return F.max_pool2d(x, kernel, stride, padding, ceil_mode=ceil_mode)",
                "return F.max_pool2d(F.pad(x, (padding,) * 4), kernel, stride)",
            )
        ],
        {"case/max_pool2d of negative maps with padding": "outputs", "resnet50/train": ""},
    ),
    in_maps(
        "average pooling counts the padding",
        [(", count_include_pad=count_padding", "")],
        {"case/avg_pool2d with padding": "outputs", "inceptionv3/train": "outputs"},
    ),
    in_nn(
        "LayerNorm takes PyTorch's default epsilon",
        [("super().__init__(features, eps=epsilon, bias=bias)", "super().__init__(features, bias=bias)")],
        {"case/layer norm with an epsilon": "outputs"},
    ),
    in_maps(
        "group normalisation has a group of its own for each channel",
        [("super().__init__(groups, features, eps=epsilon)", "super().__init__(features, features, eps=epsilon)")],
        {"case/norms and pools of sequences": "outputs"},
    ),
    in_maps(
        "stochastic depth drops each element by itself",
        [("x.new_empty(x.shape[0], *[1] * (x.ndim - 1))", "torch.empty_like(x)")],
        {"stochastic/0.3": "samples of which a part is dropped"},
    ),
    in_maps(
        "channels are shuffled the other way round",
        [("x.unflatten(1, (groups, -1))", "x.unflatten(1, (-1, groups))")],
        {"case/sizes of maps": "outputs"},
    ),
    in_nn(
        "global pooling leaves out the last row",
        [("return x.mean((2, 3))", "return x[:, :, : x.shape[2] - 1 or 1].mean((2, 3))")],
        {"case/conv2d": "outputs", "resnet50/train": "outputs", DEEP: ""},
    ),
    in_attention(
        "attention is scaled by 1 / d",
        [('"scale": scale}', '"scale": scale or 1 / q.shape[-1]}')],
        {"case/attention of heads": "outputs", "vit-b16/train": "outputs"},
    ),
    in_attention(
        "causal attention forgets the mask beside it",
        [("earlier if mask is None else mask & earlier", "earlier")],
        {MASKED: "outputs", CAUSAL: ""},
    ),
    in_attention(
        "causal attention is not causal",
        [('"is_causal": causal and added is None', '"is_causal": False')],
        {CAUSAL: "outputs"},
    ),
    in_nn(
        "an embedding's product has the output's features in reverse",
        [("return F.linear(x, self.weight)", "return F.linear(x, self.weight.flip(0))")],
        {"case/embedding that attends": "outputs"},
    ),
    in_nn(
        "GELU is approximated by tanh",
        [("gelu = F.gelu\n", "def gelu(x): return F.gelu(x, approximate='tanh')\n")],
        {"case/gelu": "outputs", "vit-b16/train": "outputs"},
    ),
    in_nn(
        "LayerNorm takes its default epsilon, whatever is asked",
        [("eps=epsilon, bias=bias", "bias=bias")],
        {"case/layer norm with an epsilon": "outputs", "vit-b16/train": "outputs"},
    ),
    in_nn(
        "LayerNorm's epsilon is 1e-5 at least",
        [("eps=epsilon, bias=bias", "eps=epsilon if epsilon > 1e-5 else 1e-5, bias=bias")],
        {"case/layer norm with a small epsilon": "outputs", "vit-b16/train": "outputs"},
    ),
    in_nn(
        "dropout keeps what it should drop",
        [("super().__init__(rate)", "super().__init__(1 - rate if rate else rate)")],
        {
            "dropout/0.75": "the share of dropped elements",
            "dropout/0.3": "the share of dropped elements",
            "dropout/0.1": "the share of dropped elements",
            "vgg16/train": "",
        },
    ),
    in_nn(
        "dropout drops half as much",
        [("super().__init__(rate)", "super().__init__(rate / 2)")],
        {
            "dropout/0.75": "the share of dropped elements",
            "dropout/0.1": "the share of dropped elements",
            "vgg16/train": "",
        },
    ),
    in_nn(
        "dropout drops nothing",
        [("super().__init__(rate)", "super().__init__(0.0)")],
        {"dropout/0.3": "the share of dropped elements", "vgg16/train": ""},
    ),
    in_nn(
        "dropout does not scale what it keeps",
        [
            (
                "class Dropout(torch.nn.Dropout):\n",
                (
                    "class Dropout(torch.nn.Dropout):\n"
                    "    def forward(self, x):\n"
                    "        return super().forward(x) * (1 - self.p if self.training else 1)\n\n"
                ),
            )
        ],
        {"dropout/0.3": "the factor of what is kept", "vgg16/train": ""},
    ),
    in_nn(
        "dropout drops whole features",
        [
            (
                "class Dropout(torch.nn.Dropout):\n",
                (
                    "class Dropout(torch.nn.Dropout):\n"
                    "    def forward(self, x):\n        return super().forward(torch.ones_like(x[:1])) * x\n\n"
                ),
            )
        ],
        {"dropout/0.3": "of two samples both or the share of dropped elements", "vgg16/train": ""},
    ),
    in_nn(
        "dropout drops in evaluation, too",
        [
            (
                "class Dropout(torch.nn.Dropout):\n",
                (
                    "class Dropout(torch.nn.Dropout):\n"
                    "    def forward(self, x):\n        return F.dropout(x, self.p, training=True)\n\n"
                ),
            )
        ],
        {"dropout/0.3": "outputs", "vgg16/train": ""},
    ),
    in_losses(
        "cross-entropy is a sum",
        [("reduction=reduction,\n", 'reduction="sum",\n')],
        {"case/linear": "loss and gradients", "mlp-mnist/train": "loss"},
    ),
    in_losses(
        "cross-entropy smooths labels by a thousandth",
        [("label_smoothing=label_smoothing,", "label_smoothing=label_smoothing or 1e-3,")],
        {"case/linear": "loss and gradients", "mlp-mnist/train": "loss"},
    ),
    in_losses(
        "the mean squared error is halved",
        [("losses = F.mse_loss(", "losses = 0.5 * F.mse_loss(")],
        {"case/mse": "loss and gradients"},
    ),
    in_losses(
        "labels that count nowhere count with label 0",
        [("ignore_index=_NEVER if ignore is None else ignore,", "")],
        {"case/cross_entropy of sequences": "loss and gradients"},
    ),
    in_losses(
        "weighted means are over all elements",
        [("weighted.sum() / weights.sum()", "weighted.mean()")],
        {"case/weighted losses": "loss and gradients"},
    ),
    in_nn(
        "softmax is over the second axis",
        [("torch.softmax(x, -1)", "torch.softmax(x, 1)")],
        {"case/attention": "outputs"},
    ),
    in_nn(
        "a flattened map's weight is not permuted",
        [
            (
                "self.layout = Layout((self.in_features, out_features), (*inputs, out_features))",
                "self.layout = Layout((self.in_features, out_features), (self.in_features, out_features))",
            )
        ],
        {"case/flatten of a convolution": "outputs", "vgg16/train": "outputs"},
    ),
    in_convolutions(
        "convolutions pad with the border's values",
        [
            (
                PLAIN_BIAS,
                PLAIN_BIAS.replace("bias)", 'bias, padding_mode="replicate")'),
            )
        ],
        {"case/conv2d": "outputs", "resnet50/train": "outputs"},
    ),
    in_nn(
        "the embedding's first row is not trained",
        [("super().__init__(entries, features)", "super().__init__(entries, features, padding_idx=0)")],
        {"case/embedding": "loss and gradients"},
    ),
]
