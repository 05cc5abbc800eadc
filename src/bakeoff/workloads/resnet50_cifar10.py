"""ResNet-50 on CIFAR-10: the ImageNet network as libraries have it, with 10 classes and 32 x 32 colour images.

Its stem shrinks such an image to 8 x 8 before the first stage. The size `full-3x3-stem` has a stem for small images, a
3x3 convolution without stride and no pooling: 15.6 times the work. Mean cross-entropy; RMSprop at 0.001, decay 0.99,
epsilon 1e-8 outside the root; batch 32.

Source: "notes on TensorFlow, PyTorch and Jittor", tables 3 and 4 ("ResNet50 on CIFAR10 dataset", RMSProp at 1e-3, batch
32, and 8 on the smaller card). They name neither the stem nor RMSprop's decay and epsilon, in which the frameworks'
defaults differ: the stock stem is what "ResNet50" of a library does, the rest is PyTorch's.
"""

from __future__ import annotations

from bakeoff.spec.optimizer import RMSprop
from bakeoff.spec.workload import Size, Workload
from bakeoff.workloads.resnet50 import build, loss

__all__ = ["WORKLOAD", "build", "loss"]


WORKLOAD = Workload(
    name="resnet50-cifar10",
    summary="ResNet-50 v1.5 with ImageNet's stem on 32 x 32 colour images",
    source="notes on TensorFlow, PyTorch and Jittor, tables 3 and 4: ResNet50 on CIFAR10, batch 32, RMSProp at 1e-3",
    sizes={
        "full": Size(
            batch_size=32,
            input_shape=(32, 32, 3),
            classes=10,
            parameters=23_528_522,
            macs=83_431_424,
            config={"width": 64, "stages": (3, 4, 6, 3), "stem": 7},
        ),
        "full-3x3-stem": Size(
            batch_size=32,
            input_shape=(32, 32, 3),
            classes=10,
            parameters=23_520_842,
            macs=1_297_829_888,
            config={"width": 64, "stages": (3, 4, 6, 3), "stem": 3},
        ),
        # The stem of resnet50's reduced size is the other one, so both are certified on every change.
        "reduced": Size(
            batch_size=4,
            input_shape=(32, 32, 3),
            classes=10,
            parameters=509_594,
            macs=27_972_608,
            config={"width": 16, "stages": (1, 1, 1, 1), "stem": 3},
        ),
    },
    optimizer=RMSprop(learning_rate=1e-3, decay=0.99, epsilon=1e-8),
    data=("synthetic", "huggingface"),
)
