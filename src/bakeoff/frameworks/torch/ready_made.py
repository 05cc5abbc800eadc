"""What PyTorch's users would take ready-made: torchvision's and Hugging Face's models, in the engine of all others."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec
import torch

from bakeoff.frameworks.ready_made import ReadyMadeModel, find
from bakeoff.frameworks.torch import attention, nn, torchvision_models, transformers_models
from bakeoff.frameworks.torch.engine import Engine
from bakeoff.spec.errors import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bakeoff.frameworks.engine import Model, Step
    from bakeoff.spec.scenario import Scenario
    from bakeoff.spec.workload import Size


class ReadyMadeModels:
    """The models of torchvision and of Hugging Face."""

    def name(self, workload: str) -> str:
        """Return what a user would write to have the model."""
        return find(MODELS, {}, workload).name

    def build(self, workload: str, model: Model, scenario: Scenario, options: Mapping[str, str]) -> Step:
        """Make the model's step: as with a model of their own, users write the loop by themselves."""
        found = find(MODELS, {}, workload)
        network, model = found.made(model.size), found.trained_by(model)
        engine = Engine()
        engine.configure(options)
        weights = nn.read(network, lambda parameter: parameter)
        step = engine.build(
            msgspec.structs.replace(model, build=lambda *_: network, weights=weights, state={}), scenario, options
        )
        attention.leave_unasked()
        return step


def _make(name: str, size: Size, **arguments: Any) -> Any:
    """Make one of torchvision's classifiers."""
    try:
        models = torchvision_models.imported()
    except ImportError as error:
        msg = f"torchvision is not there ({error}); bakeoff env create torch installs it"
        raise UnsupportedError(msg) from error
    return models.get_model(name, weights=None, num_classes=size.classes, **arguments)


def _ready(name: str, parameters: int, **arguments: Any) -> ReadyMadeModel:
    """Describe one of torchvision's classifiers."""
    shown = ", ".join(f"{argument}={value}" for argument, value in arguments.items() if argument != "init_weights")
    return ReadyMadeModel(
        name=f"torchvision.models.{name}({shown})", parameters=parameters, make=partial(_make, name, **arguments)
    )


class TextLSTM(torch.nn.Module):
    """What PyTorch's users write around torch.nn.LSTM, with its two biases."""

    def __init__(self, words: int, hidden: int, classes: int) -> None:
        """Make the layers."""
        super().__init__()
        self.table = torch.nn.Embedding(words, hidden)
        self.lstm = torch.nn.LSTM(hidden, hidden, batch_first=True)
        self.head = torch.nn.Linear(hidden, classes)

    def forward(self, ids: Any) -> Any:
        """Return the logits of each text."""
        sequence, _ = self.lstm(self.table(ids))
        return self.head(sequence.mean(1))


def _make_lstm(size: Size) -> TextLSTM:
    """Make the LSTM of a size of imdb-lstm."""
    words, hidden = (int(str(size.config[name])) for name in ("words", "hidden"))
    return TextLSTM(words, hidden, 2)


MODELS = transformers_models.MODELS | {
    "imdb-lstm": ReadyMadeModel(name="torch.nn.Embedding, LSTM, Linear", make=_make_lstm),
    "resnet50": _ready("resnet50", 25_557_032),
    "resnet50-cifar10": _ready("resnet50", 23_528_522),
    "vgg16": _ready("vgg16", 138_357_544),
    "inceptionv3": _ready("inception_v3", 23_834_568, aux_logits=False, init_weights=True),
    "vit-b16": _ready("vit_b_16", 86_567_656),
}
