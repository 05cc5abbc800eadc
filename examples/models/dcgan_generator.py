"""DCGAN's generator: 100 numbers to a 64 x 64 colour image, by five transposed convolutions.

The 100 numbers are a map of one point, of which the first transposed convolution makes 4 x 4; each of the others
doubles height and width. BatchNorm and ReLU stand behind all but the last, tanh behind the last; no convolution has a
bias. Adam at 0.0002 with beta1 0.5; batch 64.

A generator is trained together with a second model, which judges its images, each by an optimiser of its own; two
models cannot be one workload. Here it is trained by the mean squared error to target images: the same network and its
cost, not the training by which it learns to draw.

Source: Radford et al., arXiv 1511.06434, in the form of https://github.com/pytorch/examples, dcgan: kernels of 4 x 4
and 512, 256, 128 and 64 channels. The paper's figure 1 has twice as many channels, and so has its authors' code
(https://github.com/Newmu/dcgan_code), with kernels of 5 x 5.
"""

from __future__ import annotations

from itertools import pairwise

from bakeoff.spec.batch import ArraySpec
from bakeoff.spec.optimizer import Adam
from bakeoff.spec.workload import Size, Workload

KERNEL = 4


def arrays(numbers, pixels):
    """Return the arrays of a sample: what an image is made of, and the image."""
    return {
        "inputs": {"noise": ArraySpec(shape=(numbers,))},
        "targets": {"images": ArraySpec(shape=(pixels, pixels, 3))},
    }


WORKLOAD = Workload(
    name="dcgan-generator",
    summary="DCGAN's generator of 64 x 64 colour images, trained by the squared error to targets, with no second model",
    source="Radford et al., arXiv 1511.06434, as pytorch/examples, dcgan, has it",
    sizes={
        "full": Size(
            batch_size=64,
            **arrays(100, 64),
            parameters=3_576_704,
            config={"channels": (512, 256, 128, 64)},
        ),
        "reduced": Size(
            batch_size=4,
            **arrays(10, 16),
            config={"channels": (16, 8)},
        ),
    },
    optimizer=Adam(learning_rate=2e-4, beta1=0.5),
)


def build(nn, size):
    """Make the model: numbers (batch, numbers) to images (batch, height, width, 3)."""
    (numbers,) = size.inputs["noise"].shape
    channels = size.config["channels"]
    up_norm = make_up_norm(nn)

    class Generator(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = up_norm(numbers, channels[0], stride=1, padding=0)
            self.layers = nn.ModuleList([up_norm(*pair, stride=2, padding=1) for pair in pairwise(channels)])
            self.last = nn.ConvTranspose2d(channels[-1], 3, KERNEL, stride=2, padding=1, bias=False)

        def forward(self, noise):
            x = nn.from_tokens(nn.reshape(noise, (noise.shape[0], 1, numbers)), (1, 1))
            x = self.first(x)
            for layer in self.layers:
                x = layer(x)
            return nn.tanh(self.last(x))

    return Generator()


def make_up_norm(nn):
    """Make the class of a transposed convolution with its BatchNorm and ReLU."""

    class UpNorm(nn.Module):
        def __init__(self, inputs, outputs, stride, padding):
            super().__init__()
            self.up = nn.ConvTranspose2d(inputs, outputs, KERNEL, stride, padding, bias=False)
            self.norm = nn.BatchNorm(outputs)

        def forward(self, x):
            return nn.relu(self.norm(self.up(x)))

    return UpNorm


def loss(nn, outputs, targets):
    """Return the mean of the squared differences over all pixels and colours."""
    return nn.mse(outputs, targets)
