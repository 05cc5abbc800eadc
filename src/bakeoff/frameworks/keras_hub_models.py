"""GPT-2 and BERT of KerasHub's layers, for each framework that Keras runs on.

Its `GPT2CausalLM` and `BertMaskedLM` are made of the same layers, but they want a mask of padding, which GPT-2's
windows do not have; BERT's has GELU by tanh, and no next sentence. Nothing of it needs tokenisers or the network.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bakeoff.frameworks.ready_made import ReadyMadeModel
from bakeoff.spec.errors import UnsupportedError

if TYPE_CHECKING:
    from bakeoff.spec.workload import Size

_BERT_EPSILON = 1e-12
"""Of BERT's LayerNorm, as keras_hub.models.BertBackbone has it."""


def _layers() -> Any:
    """Return KerasHub's layers; raise UnsupportedError where it is not there."""
    try:
        import keras_hub.layers
    except ImportError as error:
        msg = f"KerasHub is not there ({error}); install it beside Keras: pip install keras-hub"
        raise UnsupportedError(msg) from error
    return keras_hub.layers


def _gpt2(size: Size) -> Any:
    """Make GPT-2 of a size: ids to logits."""
    import keras

    layers, config = _layers(), _numbers(size)
    features, positions = config["features"], config["positions"]
    (spec,) = size.inputs.values()
    ids = keras.Input(spec.shape, dtype="int32")
    tokens = layers.ReversibleEmbedding(config["tokens"], features, name="tokens")
    x = tokens(ids)
    x = keras.layers.Add()([x, layers.PositionEmbedding(positions, name="positions")(x)])
    for _ in range(config["layers"]):
        x = layers.TransformerDecoder(
            4 * features, config["heads"], activation=_gelu_tanh, layer_norm_epsilon=1e-5, normalize_first=True
        )(x)
    x = keras.layers.LayerNormalization(epsilon=1e-5)(x)
    return keras.Model(ids, tokens(x, reverse=True))


def _bert(size: Size) -> Any:
    """Make BERT of a size: by the targets' names the logits of masked tokens and of the next sentence."""
    import keras

    layers, config = _layers(), _numbers(size)
    inputs = {name: keras.Input(spec.shape, dtype="int32", name=name) for name, spec in size.inputs.items()}
    tokens = layers.ReversibleEmbedding(config["tokens"], config["features"], name="tokens")
    x = tokens(inputs["ids"])
    positions = layers.PositionEmbedding(config["positions"], name="positions")(x)
    segments = keras.layers.Embedding(2, config["features"])(inputs["segments"])
    x = keras.layers.LayerNormalization(epsilon=_BERT_EPSILON)(keras.layers.Add()([x, positions, segments]))
    x = keras.layers.Dropout(size.config["dropout"])(x)
    places = np.arange(x.shape[1], dtype=np.int32)
    within = keras.ops.less(places, keras.ops.expand_dims(inputs["length"], -1))
    for _ in range(config["layers"]):
        x = _encoder(layers, size, x.shape)(x, padding_mask=within)
    masked = layers.MaskedLMHead(
        token_embedding=tokens, intermediate_activation="gelu", layer_norm_epsilon=_BERT_EPSILON
    )(x, mask_positions=inputs["masked_positions"])
    pooled = keras.layers.Dense(config["features"], activation="tanh")(x[:, 0])
    return keras.Model(inputs, {"masked_ids": masked, "next_sentence": keras.layers.Dense(2)(pooled)})


def _encoder(layers: Any, size: Size, shape: Any) -> Any:
    """Return a layer of BERT, whose weights of attention have no dropout, as the workload's have none."""
    config = _numbers(size)
    encoder = layers.TransformerEncoder(
        config["dense"],
        config["heads"],
        dropout=size.config["dropout"],
        activation="gelu",
        layer_norm_epsilon=_BERT_EPSILON,
    )
    encoder.build(shape)
    encoder._self_attention_layer._dropout = 0.0  # noqa: SLF001 - the layer has one rate for all its dropout
    return encoder


def _gelu_tanh(x: Any) -> Any:
    """Return GPT-2's GELU."""
    import keras

    return keras.activations.gelu(x, approximate=True)


def _numbers(size: Size) -> dict[str, int]:
    """Return what a size's config has of whole numbers."""
    return {name: value for name, value in size.config.items() if isinstance(value, int)}


_UNDECAYED = ("*bias", "*gamma", "*beta")
"""What Keras calls biases, and the scale and bias of its normalisations."""

MODELS = {
    "gpt2": ReadyMadeModel(
        name="keras_hub.layers.ReversibleEmbedding, PositionEmbedding, TransformerDecoder",
        make=_gpt2,
        no_decay=_UNDECAYED,
    ),
    "bert-base": ReadyMadeModel(
        name="keras_hub.layers.ReversibleEmbedding, PositionEmbedding, TransformerEncoder, MaskedLMHead",
        make=_bert,
        no_decay=_UNDECAYED,
    ),
}
