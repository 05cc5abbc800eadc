"""DeepLabV3 with a ResNet-50: one of 21 classes for each pixel of a 480 x 480 colour image.

A ResNet-50 whose stages 3 and 4 have dilation in the place of their strides, so that its last map is an eighth of the
image. Five branches look at this map: a 1x1 convolution, three 3x3 convolutions of dilations 12, 24 and 36, and the
mean over the map, whose BatchNorm sees one place of each sample and which is resized back. They are joined, narrowed by
a 1x1 convolution, and go through dropout of 0.5, a 3x3 convolution and a 1x1 convolution to the classes; bilinear
resizing to the image. Mean cross-entropy over the pixels that count.

Source: Chen et al., arXiv 1706.05587, in the form of torchvision's deeplabv3_resnet50 without its auxiliary head.
There, as in PASCAL VOC, pixels that do not count have the label 255; here they have 21, the next after the classes, so
that drawn labels are all of use. Batch and optimiser are the defaults of torchvision's
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
    name="deeplabv3-resnet50",
    summary="DeepLabV3 with a dilated ResNet-50: a class for each pixel of 480 x 480 colour images",
    source="Chen et al., arXiv 1706.05587, as torchvision's deeplabv3_resnet50 and its references/segmentation",
    sizes={
        "full": Size(
            batch_size=8,
            input_shape=(480, 480, 3),
            targets=labels(480, 480),
            parameters=39_638_869,
            config={"width": 64, "stages": (3, 4, 6, 3), "branch": 256, "dilations": (12, 24, 36)},
        ),
        "reduced": Size(
            batch_size=4,
            input_shape=(64, 48, 3),
            targets=labels(64, 48),
            config={"width": 8, "stages": (1, 1, 2, 2), "branch": 16, "dilations": (2, 3, 5)},
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
    config = size.config
    conv_norm, bottleneck = parts(nn)
    pyramid = make_pyramid(nn, conv_norm)

    class Network(nn.Module):
        def __init__(self):
            super().__init__()
            width, branch = config["width"], config["branch"]
            self.stem = conv_norm(3, width, 7, stride=2)
            self.blocks = nn.ModuleList([bottleneck(**one) for one in arrangement(width, config["stages"])])
            features = width * 2 ** (len(config["stages"]) - 1) * EXPANSION
            self.pyramid = pyramid(features, branch, config["dilations"])
            self.mix = conv_norm(branch, branch, 3)
            self.head = nn.Conv2d(branch, CLASSES, 1)

        def forward(self, x):
            x = nn.max_pool2d(nn.relu(self.stem(x)), 3, stride=2, padding=1)
            for block in self.blocks:
                x = block(x)
            x = self.head(nn.relu(self.mix(self.pyramid(x))))
            return nn.resize(x, size.input_shape[:2], "bilinear")

    return Network()


def make_pyramid(nn, conv_norm):
    """Make the class of the five branches and what joins them."""

    class Pyramid(nn.Module):
        def __init__(self, inputs, outputs, dilations):
            super().__init__()
            self.point = conv_norm(inputs, outputs, 1)
            self.dilated = nn.ModuleList([conv_norm(inputs, outputs, 3, dilation=one) for one in dilations])
            self.pooled = conv_norm(inputs, outputs, 1)
            self.join = conv_norm((2 + len(dilations)) * outputs, outputs, 1)
            self.drop = nn.Dropout(0.5)

        def forward(self, x):
            branches = [nn.relu(branch(x)) for branch in (self.point, *self.dilated)]
            pooled = nn.relu(self.pooled(nn.adaptive_avg_pool2d(x, (1, 1))))
            branches.append(nn.resize(pooled, nn.map_size(x), "bilinear"))
            return self.drop(nn.relu(self.join(nn.concat_channels(branches))))

    return Pyramid


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
