"""torchvision's vit_b_16. AdamW at 0.001 with decay 0.1, and batch 64, are the project's own choices."""

from __future__ import annotations

from functools import partial

from torchvision.models.vision_transformer import VisionTransformer, vit_b_16

from independent.implementation import Implementation, cross_entropy

OPTIMIZER = {
    "type": "adamw",
    "learning_rate": 1e-3,
    "beta1": 0.9,
    "beta2": 0.999,
    "epsilon": 1e-8,
    "weight_decay": 0.1,
}

PARTS = {
    "ln_1": "attention_norm",
    "self_attention.in_proj_weight": "attention.mixed.weight",
    "self_attention.in_proj_bias": "attention.mixed.bias",
    "self_attention.out_proj": "attention.out",
    "ln_2": "dense_norm",
    "mlp.0": "wide",
    "mlp.3": "narrow",
}

loss = cross_entropy


def layers(network):
    """Name the workload's layers, and its arrays that belong to no layer."""
    parts = {
        f"encoder.layers.encoder_layer_{number}.{part}": f"layers.{number}.{named}"
        for number in range(len(network.encoder.layers))
        for part, named in PARTS.items()
    }
    return parts | {
        "conv_proj": "patches",
        "class_token": "class_token",
        "encoder.pos_embedding": "positions",
        "encoder.ln": "norm",
        "heads.head": "head",
    }


SIZES = {
    "full": Implementation(
        batch_size=64,
        input_shape=(224, 224, 3),
        classes=1000,
        parameters=86_567_656,
        network=partial(vit_b_16, image_size=32, num_classes=1000),
        computed_shape=(32, 32, 3),
    ),
}
SMALL = Implementation(
    input_shape=(32, 32, 3),
    classes=10,
    network=lambda: VisionTransformer(
        image_size=32, patch_size=8, num_layers=2, num_heads=2, hidden_dim=64, mlp_dim=128, num_classes=10
    ),
    config={"patch": 8, "features": 64, "layers": 2, "heads": 2, "dense": 128},
)
