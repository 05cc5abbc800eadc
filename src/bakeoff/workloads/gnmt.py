"""GNMT v2: translation by LSTMs with attention, up to 50 parts of words in and out, a vocabulary of 32,320.

One embedding of 1024 features for both languages. The encoder: an LSTM in both directions within each sentence's
length, then three in one direction. The decoder: an LSTM whose outputs ask the normed additive attention, then three
more, each given its context, too; Linear to the vocabulary. Layers of 1024 units with two biases each, as PyTorch's
(one would be 160,634,433 parameters); residuals around the third and fourth of each; dropout of 0.2 on every LSTM's
input, as NVIDIA's README has it, but for the context (their decoder.py leaves out that of the decoder's first LSTM).

Training gives the decoder the true words before (teacher forcing), so that each of its LSTMs runs over a whole
sequence. Loss: cross-entropy with label smoothing 0.1, the sum over all true places over the batch size. Adam at
5e-4, gradients clipped at a norm of 5, batch 128.

Sources: Wu et al., arXiv 1609.08144; NVIDIA/DeepLearningExamples, PyTorch/Translation/GNMT (seq2seq/models,
train.py), of which this is the model, with its decoder's first state of zeros, where TensorFlow/Translation/GNMT has
the encoder's last; the rate is that one's for batches of 128. Theirs warm up and decay it; here it is constant. Their
weights begin uniform in ±0.1 and the attention's scale at 1/32; here the vocabulary's draws are, the scale's around 0.
Dai et al. 2022, table 1, time both; sentences there are of WMT 2016. Synthetic sentences have 5 to 50 parts, each
length as often.
"""

from __future__ import annotations

from typing import Any

from bakeoff.spec.batch import ArraySpec
from bakeoff.spec.optimizer import Adam
from bakeoff.spec.workload import Size, Workload

_DROPOUT = 0.2
_SMOOTHING = 0.1
_UNSEEN = -65504.0
"""The score of a place beyond a sentence's end, as NVIDIA's attention.py has it: float16's lowest number."""
_LAYERS = 4


def _size(length: int, words: int, hidden: int, **more: Any) -> Size:
    """Make a size: sentences of at most so many parts, at least 5."""

    def sentence(counted: str) -> ArraySpec:
        return ArraySpec(shape=(length,), dtype="int32", high=words, length=counted)

    count, target = ArraySpec(dtype="int32", low=5, high=length + 1), sentence("target_length")
    return Size(
        inputs={
            "source": sentence("source_length"),
            "source_length": count,
            "target_in": target,
            "target_length": count,
        },
        targets={"target_out": target},
        config={"words": words, "hidden": hidden},
        **more,
    )


WORKLOAD = Workload(
    name="gnmt",
    summary="GNMT v2: LSTMs with attention, sentences of up to 50 parts of words, 32,320 of these",
    source="Wu et al., arXiv 1609.08144; NVIDIA/DeepLearningExamples, PyTorch/Translation/GNMT",
    sizes={
        "full": _size(50, 32_320, 1024, batch_size=128, parameters=160_671_297, macs=6_378_496_000),
        "reduced": _size(12, 200, 32, batch_size=4, parameters=107_529, macs=1_191_936),
    },
    optimizer=Adam(learning_rate=5e-4, clip_norm=5.0),
    data=("synthetic", "wmt16"),
)


def build(nn: Any, size: Size) -> Any:
    """Make the model: both sentences and their lengths, by name, to logits (batch, length, vocabulary)."""
    config: Any = size.config
    words, hidden = config["words"], config["hidden"]
    encoder, decoder = _encoder(nn, hidden), _decoder(nn, hidden)

    class Network(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.table = nn.Embedding(words, hidden)
            self.encoder = encoder()
            self.decoder = decoder()
            self.head = nn.Linear(hidden, words)

        def forward(self, inputs: Any) -> Any:
            lengths = inputs["source_length"]
            encoded = self.encoder(self.table(inputs["source"]), lengths)
            return self.head(self.decoder(self.table(inputs["target_in"]), encoded, lengths))

    return Network()


def _encoder(nn: Any, hidden: int) -> Any:
    """Make the class of the encoder."""

    class Encoder(nn.Module):
        """Sentences (batch, length, hidden) as outputs of the same shape."""

        def __init__(self) -> None:
            super().__init__()
            self.drop = nn.Dropout(_DROPOUT)
            self.both = nn.LSTM(hidden, hidden, bidirectional=True, biases=2)
            self.joined = nn.LSTM(2 * hidden, hidden, biases=2)
            self.layers = nn.ModuleList([nn.LSTM(hidden, hidden, biases=2) for _ in range(_LAYERS - 2)])

        def forward(self, x: Any, lengths: Any) -> Any:
            x, _ = self.both(self.drop(x), lengths=lengths)
            # From here on all goes forward: what stands behind a sentence's end reaches no place within it.
            x, _ = self.joined(self.drop(x))
            for layer in self.layers:
                more, _ = layer(self.drop(x))
                x = x + more
            return x

    return Encoder


def _decoder(nn: Any, hidden: int) -> Any:
    """Make the class of the decoder."""
    attention = _attention(nn, hidden)

    class Decoder(nn.Module):
        """Words so far, (batch, length, hidden), and the encoder's outputs as outputs of the same shape."""

        def __init__(self) -> None:
            super().__init__()
            self.drop = nn.Dropout(_DROPOUT)
            self.first = nn.LSTM(hidden, hidden, biases=2)
            self.attention = attention()
            self.layers = nn.ModuleList([nn.LSTM(2 * hidden, hidden, biases=2) for _ in range(_LAYERS - 1)])

        def forward(self, x: Any, encoded: Any, lengths: Any) -> Any:
            x, _ = self.first(self.drop(x))
            context = self.attention(x, encoded, lengths)
            for place, layer in enumerate(self.layers):
                more, _ = layer(nn.concat([self.drop(x), context], axis=2))
                x = x + more if place else more
            return x

    return Decoder


def _attention(nn: Any, hidden: int) -> Any:
    """Make the class of the normed additive attention (Bahdanau et al. 2015; Luong's nmt, normed_bahdanau)."""

    class Attention(nn.Module):
        """For each of the queries the mixture of the encoder's outputs within each sentence's length."""

        def __init__(self) -> None:
            super().__init__()
            self.query = nn.Linear(hidden, hidden, bias=False)
            self.key = nn.Linear(hidden, hidden, bias=False)
            self.score = nn.Parameter((hidden,))
            self.scale = nn.Parameter((1,))
            self.bias = nn.Parameter((hidden,))

        def forward(self, queries: Any, encoded: Any, lengths: Any) -> Any:
            batch, outs, ins = queries.shape[0], queries.shape[1], encoded.shape[1]
            asked = nn.reshape(self.query(queries), (batch, outs, 1, hidden))
            given = nn.reshape(self.key(encoded), (batch, 1, ins, hidden))
            direction = self.score * nn.rsqrt(nn.sum(self.score * self.score)) * self.scale
            mixed = nn.reshape(nn.tanh(asked + given + self.bias), (batch * outs * ins, hidden))
            scores = nn.reshape(nn.matmul(mixed, nn.reshape(direction, (hidden, 1))), (batch, outs, ins))
            is_seen = nn.reshape(nn.less(nn.arange(ins), nn.reshape(lengths, (batch, 1))), (batch, 1, ins))
            return nn.matmul(nn.softmax(nn.where(is_seen, scores, _UNSEEN)), encoded)

    return Attention


def loss(nn: Any, outputs: Any, targets: Any, inputs: Any) -> Any:
    """Return the sum of all true places' losses over the batch size."""
    batch, length = targets.shape[0], targets.shape[1]
    losses = nn.cross_entropy(outputs, targets, label_smoothing=_SMOOTHING, reduction="none")
    is_true = nn.less(nn.arange(length), nn.reshape(inputs["target_length"], (batch, 1)))
    return nn.sum(nn.where(is_true, losses, 0.0)) / batch
