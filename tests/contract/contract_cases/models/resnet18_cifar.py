"""ResNet-18 for CIFAR-10 with the training of its paper (He et al. 2015, section 4.2): a first model of many users.

Residual blocks and normalisations magnify rounding, and a rate of 0.1 more so; no tolerance stands here.
"""

from __future__ import annotations

from bakeoff.spec.optimizer import SGD
from bakeoff.spec.workload import Size, Workload

WORKLOAD = Workload(
    name="resnet18-cifar",
    summary="ResNet-18 for CIFAR-10",
    source="He et al. 2015, arXiv 1512.03385; widths of its ImageNet form, written for the tests",
    sizes={
        "full": Size(
            batch_size=128, input_shape=(32, 32, 3), classes=10, parameters=11173962, config={"width": 64, "blocks": 2}
        ),
        "reduced": Size(batch_size=8, input_shape=(16, 16, 3), classes=10, config={"width": 8, "blocks": 1}),
    },
    optimizer=SGD(learning_rate=0.1, momentum=0.9, weight_decay=5e-4),
    scenarios=("train", "infer"),
)


def build(nn, size):
    """Return the model: images to logits."""
    width = size.config["width"]

    class Block(nn.Module):
        def __init__(self, inputs, outputs, stride):
            super().__init__()
            self.conv1 = nn.Conv2d(inputs, outputs, 3, stride=stride, padding=1, bias=False)
            self.bn1 = nn.BatchNorm(outputs)
            self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1, bias=False)
            self.bn2 = nn.BatchNorm(outputs)
            self.project = stride != 1 or inputs != outputs
            if self.project:
                self.shortcut = nn.Conv2d(inputs, outputs, 1, stride=stride, bias=False)
                self.norm = nn.BatchNorm(outputs)

        def forward(self, x):
            y = nn.relu(self.bn1(self.conv1(x)))
            y = self.bn2(self.conv2(y))
            return nn.relu(y + (self.norm(self.shortcut(x)) if self.project else x))

    class ResNet(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv1 = nn.Conv2d(3, width, 3, padding=1, bias=False)
            self.bn1 = nn.BatchNorm(width)
            blocks, inputs = [], width
            for outputs, stride in ((width, 1), (2 * width, 2), (4 * width, 2), (8 * width, 2)):
                blocks.append(Block(inputs, outputs, stride))
                blocks += [Block(outputs, outputs, 1) for _ in range(1, size.config["blocks"])]
                inputs = outputs
            self.blocks = nn.ModuleList(blocks)
            self.fc = nn.Linear(8 * width, size.classes)

        def forward(self, x):
            x = nn.relu(self.bn1(self.conv1(x)))
            for block in self.blocks:
                x = block(x)
            return self.fc(nn.global_avg_pool2d(x))

    return ResNet()


def loss(nn, outputs, targets):
    """Return the mean cross-entropy."""
    return nn.cross_entropy(outputs, targets)
