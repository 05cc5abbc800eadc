"""torchvision's densenet121. The optimiser is the paper's, whose rate of 0.1 is for 256 images."""

from __future__ import annotations

from functools import partial

from torchvision.models.densenet import densenet121

from independent.implementation import Implementation, cross_entropy

OPTIMIZER = {
    "type": "sgd",
    "learning_rate": 0.1 / 4,
    "momentum": 0.9,
    "nesterov": True,
    "weight_decay": 1e-4,
    "schedule": {"type": "step decay", "boundaries": [600_540, 1_201_080], "factor": 0.1},
}
"""An epoch of ImageNet is 20,018 batches of 64."""

LAYER = {"norm1": "norm", "conv1": "conv", "norm2": "grow_norm", "conv2": "grow"}
TRANSITION = {"norm": "norm", "conv": "conv"}

loss = cross_entropy


def layers(network):
    """Name the workload's layers, whose parts are counted through all blocks and what stands between these."""
    parts = []
    for name, module in network.features.named_children():
        if name.startswith("denseblock"):
            parts += [(f"features.{name}.{layer}", LAYER) for layer, _ in module.named_children()]
        elif name.startswith("transition"):
            parts.append((f"features.{name}", TRANSITION))
    found = {
        f"{path}.{native}": f"parts.{number}.{named}"
        for number, (path, inner) in enumerate(parts)
        for native, named in inner.items()
    }
    outer = {"features.conv0": "stem", "features.norm0": "stem_norm", "features.norm5": "norm", "classifier": "head"}
    return found | outer


SIZES = {
    "full": Implementation(
        batch_size=64,
        input_shape=(224, 224, 3),
        classes=1000,
        parameters=7_978_856,
        network=partial(densenet121, num_classes=1000),
        computed_shape=(80, 64, 3),
    ),
}
