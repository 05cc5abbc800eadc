"""A variational autoencoder: random draws within the step, and a loss that sees the inputs.

The encoder gives mean and log variance of each image's code; in training a code is drawn from them, in evaluation it is
the mean. The loss is the negative evidence lower bound of Kingma and Welling (arXiv 1312.6114), appendix B: the
cross-entropy of the pixels and the divergence of the codes from the standard normal distribution, for one image.
Widths are theirs of appendix C: one layer of 500, 20 codes. Parameters: (784 + 1) x 500 + 2 x (500 + 1) x 20
+ (20 + 1) x 500 + (500 + 1) x 784 = 815,824 in `full`; of tests only.
"""

from __future__ import annotations

from bakeoff.spec.optimizer import Adam
from bakeoff.spec.workload import Size, Workload

WORKLOAD = Workload(
    name="vae",
    summary="a variational autoencoder of flat images",
    source="written for the tests",
    sizes={
        "full": Size(batch_size=100, input_shape=(784,), config={"width": 500, "codes": 20}, parameters=815_824),
        "reduced": Size(batch_size=8, input_shape=(30,), config={"width": 16, "codes": 4}, parameters=1_222),
    },
    optimizer=Adam(learning_rate=1e-3),
)


def build(nn, size):
    """Make the model: images (batch, pixels) to logits of their pixels; in training with what the loss needs."""
    (pixels,), width, codes = size.input_shape, size.config["width"], size.config["codes"]

    class Autoencoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.encode = nn.Linear(pixels, width)
            self.mean = nn.Linear(width, codes)
            self.log_variance = nn.Linear(width, codes)
            self.noise = nn.RandomNormal()
            self.decode = nn.Linear(codes, width)
            self.pixels = nn.Linear(width, pixels)

        def forward(self, x):
            hidden = nn.tanh(self.encode(x))
            mean, log_variance = self.mean(hidden), self.log_variance(hidden)
            code = mean + nn.exp(0.5 * log_variance) * self.noise(mean)
            logits = self.pixels(nn.tanh(self.decode(code)))
            return (logits, mean, log_variance) if nn.in_training(self) else logits

    return Autoencoder()


def loss(nn, outputs, targets, inputs):
    """Return the loss of an image: images are their own targets, and there are no others."""
    del targets
    logits, mean, log_variance = outputs
    divergence = 0.5 * nn.sum(nn.exp(log_variance) + mean * mean - 1.0 - log_variance, axis=1)
    return nn.binary_cross_entropy(logits, nn.sigmoid(inputs)) * inputs.shape[1] + nn.mean(divergence)
