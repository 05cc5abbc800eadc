"""The vocabulary has what 26 public models need: docs/own-model.md has the table, and this test its truth.

Which models, and what they call, was recorded by hooks and a function mode of PyTorch in one forward pass of each in
torchvision, Hugging Face's transformers (at one layer), nanoGPT and a few lines of PyTorch. The names here are those by
which a model is written in the file that the table names; a library may call others for the same.
"""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import msgspec
import pytest

from bakeoff.spec.vocabulary import VOCABULARY
from bakeoff.spec.workload import Workload
from bakeoff.workloads.interpreter import vocabulary
from bakeoff.workloads.load import names
from bakeoff.workloads.shape_functions import Counter

PAGE = Path(__file__).parents[2] / "docs" / "own-model.md"

MODELS = Path(__file__).parents[1] / "contract" / "contract_cases" / "models"

CONVOLUTIONS = ("Conv2d", "BatchNorm", "relu", "max_pool2d", "global_avg_pool2d", "Linear")
BLOCK = ("Conv2d", "BatchNorm", "relu", "Linear", "Conv2d(groups)")
TRANSFORMER = ("Embedding", "LayerNorm", "Linear", "attention", "reshape", "Dropout")
HELD: dict[str, tuple[str, ...]] = {
    "LSTM text classifier": ("Embedding", "LSTM", "Linear"),
    "ResNet-18": ("Conv2d", "BatchNorm", "relu", "global_avg_pool2d", "Linear"),
    "ResNet-50": CONVOLUTIONS,
    "VGG-16": ("Conv2d", "relu", "max_pool2d", "flatten", "Linear", "Dropout"),
    "MobileNetV2": (*BLOCK, "clip"),
    "MobileNetV3": (*BLOCK, "hard_swish", "hard_sigmoid", "per_channel"),
    "EfficientNet-B0": (
        *("Conv2d", "BatchNorm", "global_avg_pool2d", "Linear", "Dropout"),
        *("Conv2d(groups)", "silu", "sigmoid", "per_channel", "StochasticDepth"),
    ),
    "ConvNeXt-T": (
        *("Conv2d(groups)", "ChannelNorm", "tokens", "from_tokens", "Linear", "gelu", "per_channel"),
        *("StochasticDepth", "Parameter"),
    ),
    "Swin-T": (
        *("Conv2d", "LayerNorm", "Linear", "gelu", "tokens", "pad", "roll", "reshape", "permute_dims", "attention"),
        *("constant", "take", "broadcast_to", "StochasticDepth", "Parameter", "split"),
    ),
    "ViT-B/16": ("Conv2d", "tokens", "concat", "Parameter", "LayerNorm", "attention", "Linear", "gelu", "split"),
    "DenseNet-121": (*CONVOLUTIONS, "concat_channels", "avg_pool2d"),
    "ShuffleNetV2": ("Conv2d", "relu", "Conv2d(groups)", "channel_shuffle", "split_channels", "concat_channels"),
    "Inception v3": (*CONVOLUTIONS, "concat_channels", "avg_pool2d", "Dropout", "in_training"),
    "FCN (ResNet-50)": (
        *("Conv2d", "BatchNorm", "relu", "max_pool2d", "Conv2d(dilation)", "resize", "Dropout"),
        "cross_entropy(ignore)",
    ),
    "DeepLabV3 (ResNet-50)": (
        *("Conv2d", "BatchNorm", "relu", "max_pool2d", "Conv2d(dilation)", "resize", "map_size", "adaptive_avg_pool2d"),
        *("concat_channels", "Dropout", "cross_entropy(ignore)"),
    ),
    "DLRM": ("EmbeddingBag", "Linear", "relu", "stack", "matmul", "permute_dims", "take", "concat"),
    "U-Net": ("Conv2d", "BatchNorm", "relu", "max_pool2d", "ConvTranspose2d", "concat_channels"),
    "nanoGPT": (*TRANSFORMER, "attention(causal)", "gelu", "split", "Embedding.attend", "LayerNorm(bias)"),
    "VAE": ("Linear", "tanh", "exp", "RandomNormal", "sigmoid", "binary_cross_entropy"),
    "DCGAN's generator": ("ConvTranspose2d", "BatchNorm", "relu", "tanh", "from_tokens"),
    "BERT base": (*TRANSFORMER, "gelu", "tanh", "attention(mask)"),
    "DistilBERT": (*TRANSFORMER, "gelu", "attention(mask)"),
    "GPT-2": (
        *("Embedding", "LayerNorm", "Linear", "attention", "reshape"),
        *("attention(causal)", "gelu_tanh", "split", "Embedding.attend"),
    ),
    "T5 small": (
        *("Embedding", "Linear", "attention", "constant", "reshape", "Dropout"),
        *("attention(bias)", "RMSNorm", "relu", "Embedding.attend"),
    ),
    "Llama": (
        *("Embedding", "Linear", "attention", "constant", "reshape"),
        *("attention(causal)", "RMSNorm", "silu", "split", "concat", "Embedding.attend"),
    ),
    "Whisper's encoder": ("LayerNorm", "Linear", "attention", "constant", "reshape", "Conv1d", "gelu"),
}
"""By model: names of the vocabulary, and arguments of them in brackets, by which it is written here."""

PLAIN = {*CONVOLUTIONS, "flatten", "LayerNorm", "Embedding", "Dropout", "reshape"}
"""Names that are not told one by one."""

BLOCKS = "its blocks, `mobile.py`"
CERTIFIED = {
    "LSTM text classifier": "`imdb-lstm`",
    "ResNet-18": "for CIFAR-10, `resnet18_cifar.py`",
    "ResNet-50": "`resnet50`",
    "VGG-16": "`vgg16`",
    "ViT-B/16": "`vit-b16`",
    "Inception v3": "`inceptionv3`",
    "U-Net": "a small one, `unet.py`",
    "MobileNetV2": BLOCKS,
    "MobileNetV3": BLOCKS,
    "ConvNeXt-T": BLOCKS,
    "ShuffleNetV2": BLOCKS,
    "DLRM": "a small one, `dlrm.py`",
    "VAE": "a small one, `vae.py`",
    "BERT base": "`bert-base`",
    "GPT-2": "`gpt2`",
    "EfficientNet-B0": "`examples/models/efficientnet_b0.py`",
    "Swin-T": "`examples/models/swin_t.py`",
    "DenseNet-121": "`examples/models/densenet121.py`",
    "FCN (ResNet-50)": "`examples/models/fcn_resnet50.py`",
    "DeepLabV3 (ResNet-50)": "`examples/models/deeplabv3_resnet50.py`",
    "nanoGPT": "`examples/models/nanogpt_shakespeare.py`",
    "DCGAN's generator": "`examples/models/dcgan_generator.py`",
    "DistilBERT": "with two classes, `examples/models/distilbert_sst2.py`",
    "T5 small": "`examples/models/t5_small.py`",
    "Llama": "SmolLM-135M, `examples/models/smollm_135m.py`",
    "Whisper's encoder": "tiny, `examples/models/whisper_tiny_encoder.py`",
}
"""Shipped workloads, files of tests/contract/contract_cases/models, and files of examples/models."""

_NAME = re.compile(r"(\w+)(?:\((\w+)\)|\.(\w+))?$")


def is_there(name: str) -> bool:
    """Return whether the vocabulary over shapes has a name, with the argument or the method that is asked for."""
    nn = vocabulary(Counter(), trains=True)
    found = _NAME.match(name)
    assert found
    base, argument, method = found.groups()
    if base not in VOCABULARY:
        return False
    one = getattr(nn, base)
    if method:
        return callable(getattr(one, method, None))
    return not argument or argument in _parameters(one)


def _parameters(one: object) -> set[str]:
    """Return the names of the arguments of a function, or of a class and those that it is made of."""
    makers = [kind.__init__ for kind in inspect.getmro(one)] if inspect.isclass(one) else [one]
    return {name for maker in makers for name in inspect.signature(maker).parameters}


def missing(model: str) -> list[str]:
    """Return what the vocabulary lacks for a model."""
    return sorted({name for name in HELD[model] if not is_there(name)})


def table() -> str:
    """Return the table as docs/own-model.md has it."""
    lines = ["| model | by the names | here |", "|---|---|---|"]
    for model, needed in HELD.items():
        shown = ", ".join(f"`{name}`" for name in dict.fromkeys(needed) if name not in PLAIN)
        lines.append(f"| {model} | {shown or 'plain ones'} | {CERTIFIED[model]} |")
    return "\n".join(lines)


def test_the_vocabulary_has_what_public_models_need() -> None:
    """Every name that one of 26 public models needs is there, with the arguments that it needs."""
    assert len(HELD) == 26
    assert {model: lacks for model in HELD if (lacks := missing(model))} == {}


def test_the_page_has_the_table() -> None:
    """docs/own-model.md tells which names each model needs, and where it is written."""
    assert table() in PAGE.read_text(), f"docs/own-model.md should have:\n{table()}"


def test_the_page_names_all_that_a_workload_has_to_have() -> None:
    """Who writes a file by docs/own-model.md is not refused for what it does not mention."""
    (told,) = re.findall(r"^- \*\*`WORKLOAD`\*\*.*?(?=^- )", PAGE.read_text(), flags=re.MULTILINE | re.DOTALL)
    needed = [one.name for one in msgspec.structs.fields(Workload) if one.required]
    assert [one for one in (*needed, "optimizer") if f"`{one}`" not in told] == []


def written(model: str) -> str:
    """Return the text of the file in which a model is written, shipped, public or of the tests."""
    root = PAGE.parents[1]
    (named,) = re.findall(r"`([^`]+)`", CERTIFIED[model])
    shipped = root / "src" / "bakeoff" / "workloads" / f"{named.replace('-', '_')}.py"
    return next(path for path in (root / named, MODELS / named, shipped) if path.is_file()).read_text(encoding="utf-8")


def occurs(name: str, text: str) -> bool:
    """Return whether a file calls a name of the vocabulary, gives the argument, or calls the method."""
    found = _NAME.match(name)
    assert found
    base, argument, method = found.groups()
    wanted = [rf"\bnn\.{base}\b", *([rf"\b{argument}="] if argument else []), *([rf"\.{method}\("] if method else [])]
    return all(re.search(one, text) for one in wanted)


@pytest.mark.parametrize("model", HELD)
def test_each_name_is_in_the_file(model: str) -> None:
    """A model's file calls every name that the table says it is written by."""
    text = written(model)
    assert [name for name in HELD[model] if not occurs(name, text)] == []


def test_a_name_that_a_file_lacks_is_told() -> None:
    """Neither a name, an argument nor a method that does not occur in a file counts as there."""
    text = "self.conv = nn.Conv2d(3, 8, 3, groups=2)"
    assert occurs("Conv2d(groups)", text)
    assert [one for one in ("Conv1d", "Conv2d(dilation)", "Conv2d.attend") if occurs(one, text)] == []


def test_every_model_is_written() -> None:
    """Every workload that the table names is shipped, and every file is one that the contract certifies."""
    root = PAGE.parents[1]
    files = {path.name for path in MODELS.glob("*.py")}
    public = {path.relative_to(root).as_posix() for path in (root / "examples" / "models").glob("*.py")}
    told = {name for one in CERTIFIED.values() for name in re.findall(r"`([^`]+)`", one)}
    assert told <= files | public | set(names())
    assert public <= told


@pytest.mark.parametrize("name", ["Conv2d(groups)", "Embedding.attend", "attention(causal)", "relu"])
def test_names_are_looked_up_with_their_arguments(name: str) -> None:
    """What is there is found, and an argument that is not there is not taken for one."""
    assert is_there(name)
    assert not is_there("Conv2d(ceil_mode)")
    assert not is_there("Linear.attend")
    assert not is_there("Transformer")


if __name__ == "__main__":
    import sys

    sys.stdout.write(table() + "\n")
