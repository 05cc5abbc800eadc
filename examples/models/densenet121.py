"""DenseNet-121 on 224 x 224 colour images, 1000 classes: each layer's channels join those of all layers before it.

A 7x7 convolution of stride 2 and a 3x3 max pooling of stride 2; four blocks of 6, 12, 24 and 16 layers; the mean over
height and width; Linear to the classes. A layer is a 1x1 convolution to 128 channels and a 3x3 convolution to 32, each
behind BatchNorm and ReLU, and its 32 channels are put behind its input's. Between two blocks, BatchNorm, ReLU and a 1x1
convolution halve the channels, and a 2x2 mean halves height and width. No convolution has a bias. Mean cross-entropy;
SGD with Nesterov's momentum of 0.9 and L2 of 1e-4 on all parameters, a tenth of the rate after 30 and after 60 epochs.

Source: Huang et al., arXiv 1608.06993, table 1: DenseNet-121 with growth 32, bottlenecks and compression 0.5; BatchNorm
(momentum 0.1, epsilon 1e-5) and padding as in torchvision's densenet121. The optimiser is the paper's, its rate of 0.1
for 256 images taken in proportion to the batch; batch 64 is our choice.
"""

from __future__ import annotations

from bakeoff.spec.optimizer import SGD
from bakeoff.spec.schedule import StepDecay
from bakeoff.spec.workload import Size, Workload

STEPS_PER_EPOCH = 1_281_167 // 64
"""Of ImageNet's images, in batches of 64."""

WORKLOAD = Workload(
    name="densenet121",
    summary="DenseNet-121 on 224 x 224 colour images: layers that see the channels of all before them",
    source="Huang et al., arXiv 1608.06993, BatchNorm and padding as in torchvision",
    sizes={
        "full": Size(
            batch_size=64,
            input_shape=(224, 224, 3),
            classes=1000,
            parameters=7_978_856,
            config={"stem": 64, "growth": 32, "bottleneck": 128, "blocks": (6, 12, 24, 16)},
        ),
        "reduced": Size(
            batch_size=4,
            input_shape=(64, 64, 3),
            classes=10,
            config={"stem": 16, "growth": 8, "bottleneck": 32, "blocks": (2, 3)},
        ),
    },
    optimizer=SGD(
        learning_rate=0.1 * 64 / 256,
        momentum=0.9,
        nesterov=True,
        weight_decay=1e-4,
        schedule=StepDecay(boundaries=(30 * STEPS_PER_EPOCH, 60 * STEPS_PER_EPOCH), factor=0.1),
    ),
)


def build(nn, size):
    """Make the model: images (batch, height, width, 3) to logits (batch, classes)."""
    config = size.config
    layer, transition = _layer(nn, config["growth"], config["bottleneck"]), _transition(nn)

    class Classifier(nn.Module):
        def __init__(self):
            super().__init__()
            self.stem = nn.Conv2d(size.input_shape[-1], config["stem"], 7, stride=2, padding=3, bias=False)
            self.stem_norm = nn.BatchNorm(config["stem"], momentum=0.1, epsilon=1e-5)
            channels, parts = config["stem"], []
            for block, count in enumerate(config["blocks"]):
                if block > 0:
                    parts.append(transition(channels, channels // 2))
                    channels //= 2
                parts += [layer(channels + place * config["growth"]) for place in range(count)]
                channels += count * config["growth"]
            self.parts = nn.ModuleList(parts)
            self.norm = nn.BatchNorm(channels, momentum=0.1, epsilon=1e-5)
            self.head = nn.Linear(channels, size.classes)

        def forward(self, x):
            x = nn.max_pool2d(nn.relu(self.stem_norm(self.stem(x))), 3, stride=2, padding=1)
            for part in self.parts:
                x = part(x)
            return self.head(nn.global_avg_pool2d(nn.relu(self.norm(x))))

    return Classifier()


def _layer(nn, growth, bottleneck):
    """Make the class of one layer, which returns its input with its own channels behind."""

    class Layer(nn.Module):
        def __init__(self, inputs):
            super().__init__()
            self.norm = nn.BatchNorm(inputs, momentum=0.1, epsilon=1e-5)
            self.conv = nn.Conv2d(inputs, bottleneck, 1, bias=False)
            self.grow_norm = nn.BatchNorm(bottleneck, momentum=0.1, epsilon=1e-5)
            self.grow = nn.Conv2d(bottleneck, growth, 3, padding=1, bias=False)

        def forward(self, x):
            inner = self.conv(nn.relu(self.norm(x)))
            return nn.concat_channels([x, self.grow(nn.relu(self.grow_norm(inner)))])

    return Layer


def _transition(nn):
    """Make the class of what stands between two blocks."""

    class Transition(nn.Module):
        def __init__(self, inputs, outputs):
            super().__init__()
            self.norm = nn.BatchNorm(inputs, momentum=0.1, epsilon=1e-5)
            self.conv = nn.Conv2d(inputs, outputs, 1, bias=False)

        def forward(self, x):
            return nn.avg_pool2d(self.conv(nn.relu(self.norm(x))), 2)

    return Transition


def loss(nn, outputs, targets):
    """Return the mean cross-entropy over the batch."""
    return nn.cross_entropy(outputs, targets)
