"""Every way in which implementations of the same network are known to differ, put into a workload on purpose."""

from __future__ import annotations

from pathlib import Path

import pytest
from certified import certificate_of
from contract_run import KNOWN, LIMIT_S, reference

pytestmark = pytest.mark.timeout(LIMIT_S)

TANH_GELU = """
def tanh_gelu(nn, x):
    return 0.5 * x * (1.0 + nn.tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)))


def loss("""

TRAPS: dict[str, tuple[str, list[tuple[str, str]]]] = {
    "v1, whose stages have their stride in the first 1x1": (
        "resnet50",
        [
            ("ConvNorm(inputs, width, 1)", "ConvNorm(inputs, width, 1, stride)"),
            ("ConvNorm(width, width, 3, stride)", "ConvNorm(width, width, 3)"),
        ],
    ),
    "convolutions with a bias": ("resnet50", [("bias=False", "bias=True")]),
    "another epsilon in BatchNorm": ("resnet50", [("epsilon=1e-5", "epsilon=1e-3")]),
    "a pooling without padding": ("resnet50", [("nn.max_pool2d(x, 3, stride=2, padding=1)", "nn.max_pool2d(x, 2)")]),
    "SGD without momentum": ("resnet50", [("momentum=0.9", "momentum=0.0")]),
    "SGD without L2": ("resnet50", [("weight_decay=1e-4", "weight_decay=0.0")]),
    "RMSprop with Keras' decay": ("resnet50-cifar10", [("decay=0.99", "decay=0.9")]),
    "RMSprop with Keras' epsilon": ("resnet50-cifar10", [("epsilon=1e-8", "epsilon=1e-7")]),
    "the map flattened in the framework's own order": (
        "vgg16",
        [("(height // halvings, width // halvings, channels[-1])", "4 * channels[-1]")],
    ),
    "another epsilon in Inception's BatchNorm": ("inceptionv3", [("_EPSILON = 1e-3", "_EPSILON = 1e-5")]),
    "a maximum where Inception has a mean": (
        "inceptionv3",
        [("nn.avg_pool2d(x, 3, stride=1, padding=1)", "nn.max_pool2d(x, 3, stride=1, padding=1)")],
    ),
    "another weight of the auxiliary head": ("inceptionv3", [("_AUXILIARY_WEIGHT = 0.4", "_AUXILIARY_WEIGHT = 0.3")]),
    "an auxiliary head that is never trained": (
        "inceptionv3",
        [(" + _AUXILIARY_WEIGHT * nn.cross_entropy(auxiliary, targets)", "")],
    ),
    "GELU by tanh": ("vit-b16", [("nn.gelu(", "tanh_gelu(nn, "), ("\ndef loss(", TANH_GELU)]),
    "Keras' epsilon in LayerNorm": ("vit-b16", [("_EPSILON = 1e-6", "_EPSILON = 1e-3")]),
    "AdamW without decay": ("vit-b16", [("weight_decay=0.1", "weight_decay=0.0")]),
    "convolutions and their statistics see the padding": (
        "deepspeech2",
        [("self.wide_norm(x * mask) * mask", "self.wide_norm(x)")],
    ),
    "an LSTM that reads the padding": ("deepspeech2", [("lstm(x, lengths=lengths)", "lstm(x)")]),
    "an encoder that reads the padding": ("tacotron2", [("self.lstm(x, lengths=lengths)[0]", "self.lstm(x)[0]")]),
    "attention that knows where it is and not where it was": ("tacotron2", [("total + weights)", "total)")]),
    "no loss of the mels before the postnet": ("tacotron2", [('nn.mse(before, targets["mels"]) + ', "")]),
    "labels that are not smoothed": ("gnmt", [("label_smoothing=_SMOOTHING, ", "")]),
    "a loss that is a mean over words": ("gnmt", [("losses, 0.0)) / batch", "losses, 0.0)) / (batch * length)")]),
    "attention to padded words": ("gnmt", [("nn.where(is_seen, scores, _UNSEEN)", "scores")]),
    "scores of attention that are not normed": ("gnmt", [(" * nn.rsqrt(nn.sum(self.score * self.score))", "")]),
    "GELU by tanh in BERT": ("bert-base", [("nn.gelu(self.wide", "nn.gelu_tanh(self.wide")]),
    "PyTorch's epsilon in BERT's LayerNorm": ("bert-base", [("_EPSILON = 1e-12", "_EPSILON = 1e-5")]),
    "decay of biases and norms": ("bert-base", [('no_decay=("*bias", "*norm.scale"),', "")]),
    "GELU without tanh in GPT-2": ("gpt2", [("nn.gelu_tanh(", "nn.gelu(")]),
    "attention to what comes after": ("gpt2", [(", causal=True", "")]),
    "Adam's usual second beta in GPT-2": ("gpt2", [("beta2=0.95", "beta2=0.999")]),
    "a mean over padded words": ("text-transformer", [("self.norm(h) * weights", "self.norm(h)")]),
    "attention to padding": ("text-transformer", [(", mask=mask", "")]),
    "the last output in the place of the mean": ("imdb-lstm", [("nn.mean(sequence, 1)", "sequence[:, -1]")]),
    "a user's SGD without decay": ("resnet18-cifar", [("weight_decay=5e-4", "weight_decay=0.0")]),
    "a user's block without its second normalisation": (
        "resnet18-cifar",
        [("y = self.bn2(self.conv2(y))", "y = self.conv2(y)")],
    ),
    "a user's stride in the second convolution": (
        "resnet18-cifar",
        [
            (
                "nn.Conv2d(inputs, outputs, 3, stride=stride, padding=1, bias=False)",
                "nn.Conv2d(inputs, outputs, 3, padding=1, bias=False)",
            ),
            (
                "self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1",
                "self.conv2 = nn.Conv2d(outputs, outputs, 3, stride=stride, padding=1",
            ),
        ],
    ),
}


def trapped(trap: str, folder: Path) -> Path:
    """Write the file of a workload with a trap in it."""
    workload, changes = TRAPS[trap]
    text = KNOWN[workload].path.read_text()
    for old, new in changes:
        assert text.count(old) == 1, (trap, old)
        text = text.replace(old, new)
    path = folder / f"trap_{list(TRAPS).index(trap)}.py"
    path.write_text(text)
    return path


def failed_checks(workload: str, path: Path | None) -> list[str]:
    """Return the checks that a file with a trap, or without one the workload itself, fails against the workload."""
    certificate = certificate_of(reference().exhibit(workload, workload, "train", path), workload, "train")
    return [check.name for check in certificate.checks if not check.passed]


@pytest.mark.parametrize("trap", TRAPS)
@pytest.mark.by_turns
def test_no_trap_gets_a_certificate(trap: str, tmp_path: Path) -> None:
    """A workload in which one thing is as another implementation has it does not pass for the workload."""
    workload, _ = TRAPS[trap]
    assert failed_checks(workload, trapped(trap, tmp_path))
    assert not failed_checks(workload, None)
