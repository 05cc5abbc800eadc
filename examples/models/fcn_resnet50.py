"""FCN with a ResNet-50: one of 21 classes for each pixel of a 480 x 480 colour image.

A ResNet-50 whose stages 3 and 4 have dilation in the place of their strides, so that its last map is an eighth of the
image; a 3x3 convolution with BatchNorm and dropout of 0.1; a 1x1 convolution to the classes; bilinear resizing to the
image. Mean cross-entropy over the pixels that count.

Source: Long et al., arXiv 1411.4038, on He et al., arXiv 1512.03385, in the form of torchvision's fcn_resnet50 without
its auxiliary head. There, as in PASCAL VOC, pixels that do not count have the label 255; here they have 21, the next
after the classes, so that drawn labels are all of use. Batch and optimiser are the defaults of torchvision's
references/segmentation/train.py, over as many steps as its 30 epochs of VOC 2012's 1,464 images have.
"""

from __future__ import annotations

from bakeoff.spec.batch import ArraySpec
from bakeoff.spec.optimizer import SGD
from bakeoff.spec.schedule import Polynomial
from bakeoff.spec.workload import Size, Workload

CLASSES = 21
VOID = CLASSES
EXPANSION = 4
FIRST_DILATED = 2  # the stages before it have strides


def labels(height, width):
    """Return the labels of an image's pixels, one of which says that the pixel does not count."""
    return {"pixels": ArraySpec(shape=(height, width), dtype="int32", high=VOID + 1)}


WORKLOAD = Workload(
    name="fcn-resnet50",
    summary="FCN with a dilated ResNet-50: a class for each pixel of 480 x 480 colour images",
    source="Long et al., arXiv 1411.4038, as torchvision's fcn_resnet50; optimiser of its references/segmentation",
    sizes={
        "full": Size(
            batch_size=8,
            input_shape=(480, 480, 3),
            targets=labels(480, 480),
            parameters=32_957_013,
            config={"width": 64, "stages": (3, 4, 6, 3)},
        ),
        "reduced": Size(
            batch_size=4,
            input_shape=(48, 32, 3),
            targets=labels(48, 32),
            config={"width": 8, "stages": (1, 1, 2, 2)},
        ),
    },
    optimizer=SGD(
        learning_rate=0.01,
        momentum=0.9,
        weight_decay=1e-4,
        schedule=Polynomial(steps=5490, power=0.9),
    ),
)


def build(nn, size):
    """Make the model: images (batch, height, width, 3) to a map of logits of the same height and width."""
    conv_norm, bottleneck = parts(nn)

    class Network(nn.Module):
        def __init__(self):
            super().__init__()
            width = size.config["width"]
            self.stem = conv_norm(3, width, 7, stride=2)
            self.blocks = nn.ModuleList([bottleneck(**one) for one in arrangement(width, size.config["stages"])])
            features = width * 2 ** (len(size.config["stages"]) - 1) * EXPANSION
            self.narrow = conv_norm(features, features // 4, 3)
            self.drop = nn.Dropout(0.1)
            self.head = nn.Conv2d(features // 4, CLASSES, 1)

        def forward(self, x):
            x = nn.max_pool2d(nn.relu(self.stem(x)), 3, stride=2, padding=1)
            for block in self.blocks:
                x = block(x)
            x = self.head(self.drop(nn.relu(self.narrow(x))))
            return nn.resize(x, size.input_shape[:2], "bilinear")

    return Network()


def arrangement(width, stages):
    """Return what each bottleneck is made with: the first of a dilated stage has the dilation of the stage before."""
    found, inputs, dilation = [], width, 1
    for stage, count in enumerate(stages):
        own, before = width * 2**stage, dilation
        if stage >= FIRST_DILATED:
            dilation *= 2
        for place in range(count):
            is_first = place == 0
            found.append(
                {
                    "inputs": inputs,
                    "width": own,
                    "stride": 2 if is_first and 0 < stage < FIRST_DILATED else 1,
                    "dilation": before if is_first else dilation,
                    "projects": is_first,
                }
            )
            inputs = own * EXPANSION
    return found


def parts(nn):
    """Make the two classes that the network repeats: a convolution with its BatchNorm, and a bottleneck of three."""

    class ConvNorm(nn.Module):
        def __init__(self, inputs, outputs, kernel, stride=1, dilation=1):
            super().__init__()
            padding = dilation * (kernel // 2)
            self.conv = nn.Conv2d(inputs, outputs, kernel, stride, padding, dilation, bias=False)
            self.norm = nn.BatchNorm(outputs)

        def forward(self, x):
            return self.norm(self.conv(x))

    class Bottleneck(nn.Module):
        def __init__(self, inputs, width, stride, dilation, projects):
            super().__init__()
            self.reduce = ConvNorm(inputs, width, 1)
            self.middle = ConvNorm(width, width, 3, stride, dilation)
            self.expand = ConvNorm(width, width * EXPANSION, 1)
            self.project = ConvNorm(inputs, width * EXPANSION, 1, stride) if projects else None

        def forward(self, x):
            kept = self.project(x) if self.project is not None else x
            return nn.relu(self.expand(nn.relu(self.middle(nn.relu(self.reduce(x))))) + kept)

    return ConvNorm, Bottleneck


def loss(nn, outputs, targets):
    """Return the mean cross-entropy over all pixels that count."""
    return nn.cross_entropy(outputs, targets, ignore=VOID)
