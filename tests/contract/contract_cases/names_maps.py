"""Cases of convolutions, normalisations, pools and sizes of feature maps and sequences, with their NumPy forms.

Each chains several names before a head that weighs every place by itself, so that a framework compiles few programs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from contract_cases.vocabulary import BATCH, CLASSES, Case, batch_norm, linear, model, pair, random

if TYPE_CHECKING:
    from contract_cases.vocabulary import Array, Pair, Weights

# --- What the names mean, in NumPy ------------------------------------------------------------------------------------


def seen(x: Array, kernel: Pair, stride: Pair, padding: Pair, dilation: Pair = 1, fill: float = 0.0) -> Array:
    """Return (batch, height, width, channels, kernel height, kernel width): what each place of a kernel sees."""
    (down, across), (rows, columns) = pair(stride), pair(dilation)
    span = [(window - 1) * apart + 1 for window, apart in zip(pair(kernel), pair(dilation), strict=True)]
    padded = np.pad(x, ((0, 0), *((side, side) for side in pair(padding)), (0, 0)), constant_values=fill)
    views = np.lib.stride_tricks.sliding_window_view(padded, span, axis=(1, 2))
    return views[:, ::down, ::across, :, ::rows, ::columns]


def conv2d(weights: Weights, name: str, x: Array, *way: Any) -> Array:
    """Cross-correlation by stride, padding, dilation and groups: the outputs of a group see its inputs."""
    stride, padding, dilation, groups = (*way, *(1, 0, 1, 1)[len(way) :])
    weight = weights[f"{name}.weight"]
    views = seen(x, weight.shape[:2], stride, padding, dilation)
    parts = zip(np.split(views, groups, 3), np.split(weight, groups, 3), strict=True)
    found = np.concatenate([np.einsum("bhwcij,ijco->bhwo", part, own) for part, own in parts], 3)
    return found + weights.get(f"{name}.bias", 0.0)


def conv1d(weights: Weights, name: str, x: Array, *way: Any) -> Array:
    """Cross-correlation of a map of one row."""
    stride, padding, dilation, groups = (*way, *(1, 0, 1, 1)[len(way) :])
    wide = {**weights, f"{name}.weight": weights[f"{name}.weight"][None]}
    return conv2d(wide, name, x[:, None], (1, stride), (0, padding), (1, dilation), groups)[:, 0]


def conv_transpose2d(weights: Weights, name: str, x: Array, *way: Any) -> Array:
    """Add every input, times the kernel, to the places that it has come from in the convolution."""
    weight = weights[f"{name}.weight"]
    steps, sides, more = (pair(number) for number in (*way, 0)[:3])
    _, rows, columns, _ = x.shape
    height, width = (
        (count - 1) * step + window + end
        for count, step, window, end in zip((rows, columns), steps, weight.shape, more, strict=False)
    )
    whole = np.zeros((len(x), height, width, weight.shape[2]))
    for row, column in np.ndindex(*weight.shape[:2]):
        down = slice(row, row + (rows - 1) * steps[0] + 1, steps[0])
        across = slice(column, column + (columns - 1) * steps[1] + 1, steps[1])
        whole[:, down, across] += x @ weight[row, column].T
    kept = whole[:, sides[0] : height - sides[0], sides[1] : width - sides[1]]
    return kept + weights.get(f"{name}.bias", 0.0)


def normal(x: Array, axes: tuple[int, ...], epsilon: float) -> Array:
    """Subtract the mean over some axes and divide by the root of the biased variance."""
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + epsilon)


def scaled(weights: Weights, name: str, x: Array) -> Array:
    """Multiply by the scale and add the bias."""
    return x * weights[f"{name}.scale"] + weights.get(f"{name}.bias", 0.0)


def group_norm(weights: Weights, name: str, x: Array, groups: int, epsilon: float) -> Array:
    """Normalise each group of neighbouring channels of each sample."""
    parted = x.reshape(len(x), -1, groups, x.shape[-1] // groups)
    return scaled(weights, name, normal(parted, (1, 3), epsilon).reshape(x.shape))


def channel_norm(weights: Weights, name: str, x: Array, epsilon: float) -> Array:
    """Normalise over the last axis."""
    return scaled(weights, name, normal(x, (-1,), epsilon))


def rms_norm(weights: Weights, name: str, x: Array, epsilon: float) -> Array:
    """Divide by the root of the mean of squares."""
    return scaled(weights, name, x / np.sqrt((x**2).mean(-1, keepdims=True) + epsilon))


def max_pool(x: Array, kernel: Pair, stride: Pair, padding: Pair) -> Array:
    """Largest of each window."""
    return seen(x, kernel, stride, padding, fill=-np.inf).max((-1, -2))


def avg_pool(x: Array, kernel: Pair, stride: Pair, padding: Pair, *, count_padding: bool) -> Array:
    """Mean of each window."""
    counts = 1.0 if count_padding else seen(np.ones_like(x), kernel, stride, padding).mean((-1, -2))
    return seen(x, kernel, stride, padding).mean((-1, -2)) / counts


def adaptive_avg_pool(x: Array, size: tuple[int, int]) -> Array:
    """Mean of each window, the i-th from floor(i * n / size) to ceil((i + 1) * n / size)."""
    height, width = x.shape[1:3]
    found = np.zeros((len(x), *size, x.shape[3]))
    for row, column in np.ndindex(*size):
        down = slice(row * height // size[0], -(-(row + 1) * height // size[0]))
        across = slice(column * width // size[1], -(-(column + 1) * width // size[1]))
        found[:, row, column] = x[:, down, across].mean((1, 2))
    return found


def bilinear(x: Array, size: tuple[int, int]) -> Array:
    """Interpolate between the centres of points, row by row and column by column."""
    for axis, wanted in ((1, size[0]), (2, size[1])):
        length = x.shape[axis]
        centres = np.clip((np.arange(wanted) + 0.5) * length / wanted - 0.5, 0, length - 1)
        before, weight = np.floor(centres).astype(int), centres % 1
        after = np.minimum(before + 1, length - 1)
        weight = weight.reshape(-1, *[1] * (3 - axis))
        x = np.take(x, before, axis) * (1 - weight) + np.take(x, after, axis) * weight
    return x


# --- Cases ------------------------------------------------------------------------------------------------------------


def head(weights: Weights, x: Array) -> Array:
    """Weigh every place and channel by itself."""
    return linear(weights, "head", x.reshape(len(x), -1))


def sequences() -> Case:
    """Convolve, normalise and convolve sequences."""

    def build(nn: Any) -> Any:
        layers = {
            "first": nn.Conv1d(4, 6, 3, stride=2, padding=2, dilation=2, groups=2),
            "norm": nn.BatchNorm(6),
            "second": nn.Conv1d(6, 2, 2, bias=False),
            "head": nn.Linear(10, CLASSES),
        }
        return model(nn, layers, lambda m, x: m.head(nn.flatten(nn.tanh(m.second(nn.tanh(m.norm(m.first(x))))))))

    def first(weights: Weights, x: Array) -> Array:
        return conv1d(weights, "first", x, 2, 2, 2, 2)

    def rest(weights: Weights, x: Array, *, training: bool) -> Array:
        x = np.tanh(batch_norm(weights, "norm", first(weights, x), 1e-5, training=training))
        return head(weights, np.tanh(conv1d(weights, "second", x)))

    def statistics(weights: Weights, x: Array) -> dict[str, tuple[Array, Array, int, float]]:
        found = first(weights, x)
        return {"norm": (found.mean((0, 1)), found.var((0, 1)), found[..., 0].size, 0.1)}

    return Case(
        names=("Conv1d", "BatchNorm"),
        build=build,
        forward=lambda w, x: rest(w, x, training=False),
        in_training=lambda w, x: rest(w, x, training=True),
        batch_statistics=statistics,
        x=random(BATCH, 11, 4),
    )


def sequence_norms() -> Case:
    """Normalise and pool sequences."""

    def build(nn: Any) -> Any:
        layers = {
            "first": nn.Conv1d(2, 4, 1),
            "groups": nn.GroupNorm(2, 4, epsilon=0.5),
            "rms": nn.RMSNorm(4),
            "wide": nn.RMSNorm(4, epsilon=0.25),
            "head": nn.Linear(16, CLASSES),
        }

        def forward(m: Any, x: Any) -> Any:
            x = nn.max_pool1d(m.groups(m.first(x)), 3, 2, 1)
            return m.head(nn.flatten(m.wide(m.rms(x * 0.001))))

        return model(nn, layers, forward)

    def forward(weights: Weights, x: Array) -> Array:
        x = group_norm(weights, "groups", conv1d(weights, "first", x), 2, 0.5)
        x = max_pool(x[:, None], (1, 3), (1, 2), (0, 1))[:, 0]
        return head(weights, rms_norm(weights, "wide", rms_norm(weights, "rms", x * 0.001, 1e-6), 0.25))

    return Case(names=("GroupNorm", "RMSNorm", "max_pool1d"), build=build, forward=forward, x=random(BATCH, 7, 2))


def grouped() -> Case:
    """Convolve in groups: depthwise, of several channels, with dilation, and with two strides."""

    def build(nn: Any) -> Any:
        layers = {
            "depthwise": nn.Conv2d(2, 4, 3, padding=1, groups=2),
            "grouped": nn.Conv2d(4, 6, (3, 2), stride=(2, 1), padding=(1, 0), dilation=(1, 2), groups=2),
            "dilated": nn.Conv2d(6, 6, 3, stride=2, padding=2, dilation=2, groups=6, bias=False),
            "mixed": nn.Conv2d(6, 2, (1, 2), dilation=(1, 1)),
            "head": nn.Linear((2, 1, 2), CLASSES),
        }

        def forward(m: Any, x: Any) -> Any:
            x = nn.tanh(m.grouped(nn.tanh(m.depthwise(x))))
            return m.head(nn.flatten(nn.tanh(m.mixed(nn.tanh(m.dilated(x))))))

        return model(nn, layers, forward)

    def forward(weights: Weights, x: Array) -> Array:
        x = np.tanh(conv2d(weights, "depthwise", x, 1, 1, 1, 2))
        x = np.tanh(conv2d(weights, "grouped", x, (2, 1), (1, 0), (1, 2), 2))
        x = np.tanh(conv2d(weights, "dilated", x, 2, 2, 2, 6))
        return head(weights, np.tanh(conv2d(weights, "mixed", x)))

    return Case(names=("Conv2d",), build=build, forward=forward, x=random(BATCH, 7, 6, 2))


def transposed() -> Case:
    """Convolve backwards, with what is cut off differing from axis to axis, and as "SAME" would."""

    def build(nn: Any) -> Any:
        layers = {
            "doubled": nn.ConvTranspose2d(2, 2, 3, stride=2, padding=1, output_padding=1),
            "first": nn.ConvTranspose2d(2, 3, (3, 2), stride=(2, 1), padding=(1, 0), output_padding=(1, 0)),
            "second": nn.ConvTranspose2d(3, 2, 4, stride=2, padding=1, bias=False),
            "head": nn.Linear((8, 10, 2), CLASSES),
        }

        def forward(m: Any, x: Any) -> Any:
            return m.head(nn.flatten(nn.tanh(m.second(nn.tanh(m.first(nn.tanh(m.doubled(x))))))))

        return model(nn, layers, forward)

    def forward(weights: Weights, x: Array) -> Array:
        x = np.tanh(conv_transpose2d(weights, "doubled", x, 2, 1, 1))
        x = np.tanh(conv_transpose2d(weights, "first", x, (2, 1), (1, 0), (1, 0)))
        return head(weights, np.tanh(conv_transpose2d(weights, "second", x, 2, 1)))

    return Case(names=("ConvTranspose2d",), build=build, forward=forward, x=random(BATCH, 1, 2, 2))


def map_norms() -> Case:
    """Normalise maps, and scale their channels by a parameter and by what was pooled."""

    def build(nn: Any) -> Any:
        layers = {
            "first": nn.Conv2d(2, 4, 1),
            "groups": nn.GroupNorm(2, 4),
            "channels": nn.ChannelNorm(4),
            "wide": nn.ChannelNorm(4, epsilon=0.3),
            "scale": nn.Parameter((4,)),
            "one": nn.GroupNorm(1, 4),
            "squeeze": nn.Linear(4, 4),
            "head": nn.Linear((3, 2, 4), CLASSES),
        }

        def forward(m: Any, x: Any) -> Any:
            # So small that the default epsilons are not small against the variances.
            x = nn.tanh(m.channels(m.groups(m.first(x) * 0.005) * 0.001))
            x = m.wide(x) * m.one(nn.per_channel(m.scale))  # a map of one pixel, also by itself
            return m.head(nn.flatten(x * nn.per_channel(nn.sigmoid(m.squeeze(nn.global_avg_pool2d(x))))))

        return model(nn, layers, forward)

    def forward(weights: Weights, x: Array) -> Array:
        x = group_norm(weights, "groups", conv2d(weights, "first", x) * 0.005, 2, 1e-5)
        x = np.tanh(channel_norm(weights, "channels", x * 0.001, 1e-6))
        one = group_norm(weights, "one", weights["scale"].reshape(1, 1, 1, 4), 1, 1e-5)
        x = channel_norm(weights, "wide", x, 0.3) * one
        excited = 1 / (1 + np.exp(-linear(weights, "squeeze", x.mean((1, 2)))))
        return head(weights, x * excited[:, None, None])

    return Case(
        names=("GroupNorm", "ChannelNorm", "per_channel"), build=build, forward=forward, x=random(BATCH, 3, 2, 2)
    )


def sizes() -> Case:
    """Shuffle, part and join channels, and bring maps to other sizes."""

    def build(nn: Any) -> Any:
        layers = {"first": nn.Conv2d(2, 6, 1), "head": nn.Linear((3, 4, 6), CLASSES)}

        def forward(m: Any, x: Any) -> Any:
            parts = nn.split_channels(nn.channel_shuffle(nn.tanh(m.first(x)), 3), (1, 2, 3))
            parts.insert(0, parts.pop())  # a list in every framework
            x = nn.pad2d(nn.concat_channels(parts), ((1, 0), (2, 1)))
            height, width = nn.map_size(x)  # 5 and 6
            x = nn.resize(nn.tanh(nn.resize(x, (2 * height, 3 * width), "nearest") + 0.5), (7, 20), "bilinear")
            x = nn.adaptive_avg_pool2d(nn.tanh(x), (4, 3))
            return m.head(nn.flatten(nn.from_tokens(nn.tokens(x), (3, 4))))

        return model(nn, layers, forward)

    def forward(weights: Weights, x: Array) -> Array:
        x = np.tanh(conv2d(weights, "first", x))
        x = x.reshape(*x.shape[:3], 3, 2).swapaxes(3, 4).reshape(x.shape)
        one, two, three = np.split(x, (1, 3), 3)
        x = np.pad(np.concatenate([three, one, two], 3), ((0, 0), (1, 0), (2, 1), (0, 0)))
        x = bilinear(np.tanh(x.repeat(2, 1).repeat(3, 2) + 0.5), (7, 20))
        return head(weights, adaptive_avg_pool(np.tanh(x), (4, 3)))

    return Case(
        names=(
            "split_channels",
            "channel_shuffle",
            "pad2d",
            "map_size",
            "resize",
            "adaptive_avg_pool2d",
            "from_tokens",
        ),
        build=build,
        forward=forward,
        x=random(BATCH, 4, 3, 2),
    )


def edges() -> Case:
    """Put mirrored places around a map, as many as there are, and its edges around that, more than there are."""

    def build(nn: Any) -> Any:
        layers = {"first": nn.Conv2d(2, 3, 1), "head": nn.Linear((9, 14, 3), CLASSES)}

        def forward(m: Any, x: Any) -> Any:
            x = nn.tanh(nn.pad2d(m.first(x), ((2, 0), (1, 3)), "reflect"))
            return m.head(nn.flatten(nn.pad2d(x, ((0, 4), (5, 1)), mode="replicate")))

        return model(nn, layers, forward)

    def forward(weights: Weights, x: Array) -> Array:
        x = np.tanh(np.pad(conv2d(weights, "first", x), ((0, 0), (2, 0), (1, 3), (0, 0)), "reflect"))
        return head(weights, np.pad(x, ((0, 0), (0, 4), (5, 1), (0, 0)), "edge"))

    return Case(names=("pad2d",), build=build, forward=forward, x=random(BATCH, 3, 4, 2))


def pools() -> Case:
    """Pool with windows, strides and paddings that differ from axis to axis; to sizes that divide a map's, too."""

    def build(nn: Any) -> Any:
        layers = {"first": nn.Conv2d(2, 2, 1), "head": nn.Linear((2, 1, 2), CLASSES)}

        def forward(m: Any, x: Any) -> Any:
            x = nn.max_pool2d(m.first(x), (3, 2), (2, 1), (1, 0))
            x = nn.avg_pool2d(nn.tanh(x), (2, 3), (1, 2), (1, 1), count_padding=True)
            x = nn.avg_pool2d(nn.tanh(x * 3.0), (3, 2), (1, 1), (1, 1))
            return m.head(nn.flatten(nn.adaptive_avg_pool2d(x, (2, 1))))

        return model(nn, layers, forward)

    def forward(weights: Weights, x: Array) -> Array:
        x = max_pool(conv2d(weights, "first", x), (3, 2), (2, 1), (1, 0))
        x = avg_pool(np.tanh(x), (2, 3), (1, 2), (1, 1), count_padding=True)
        x = avg_pool(np.tanh(x * 3.0), (3, 2), 1, 1, count_padding=False)
        return head(weights, adaptive_avg_pool(x, (2, 1)))

    return Case(
        names=("max_pool2d", "avg_pool2d", "adaptive_avg_pool2d"),
        build=build,
        forward=forward,
        x=random(BATCH, 5, 6, 2),
    )


CASES: dict[str, Case] = {
    "sequences convolved": sequences(),
    "norms and pools of sequences": sequence_norms(),
    "convolutions in groups": grouped(),
    "transposed convolutions": transposed(),
    "norms of maps": map_norms(),
    "sizes of maps": sizes(),
    "edges of maps": edges(),
    "pools with pairs": pools(),
    "stochastic depth in evaluation": Case(
        names=("StochasticDepth",),
        build=lambda nn: model(
            nn,
            {"drop": nn.StochasticDepth(0.5), "first": nn.Conv2d(2, 2, 1)},
            lambda m, x: nn.global_avg_pool2d(m.drop(m.first(x))),
        ),
        forward=lambda w, x: conv2d(w, "first", x).mean((1, 2)),
        x=random(BATCH, 2, 3, 2),
        deterministic=False,
    ),
}
