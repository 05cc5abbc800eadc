"""A mistake in a function or class beside the model, in the same file, is told with its own line."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_interpreter import VECTOR, checked, write

from bakeoff.spec.errors import ModelFileError

HELPERS = {
    "a name under another parameter": (
        "def block(features, lib):\n    return lib.Linaer(features, 5)",
        "lib.Linaer",
        "in build: nn.Linaer is not in the vocabulary; did you mean nn.Linear?",
    ),
    "an argument of a layer": (
        "def block(features, lib):\n    return lib.Linear(features, 5, use_bias=True)",
        "use_bias",
        "in build: nn.Linear got an unexpected keyword argument 'use_bias'; it is nn.Linear(in_features,",
    ),
    "a shape": (
        (
            "def block(features, lib):\n"
            "    class Block(lib.Module):\n"
            "        def __init__(self):\n"
            "            super().__init__()\n"
            "            self.linear = lib.Linear(features + 1, 5)\n\n"
            "        def forward(self, x):\n"
            "            return self.linear(x)\n\n"
            "    return Block()"
        ),
        "return self.linear(x)",
        "in forward: nn.Linear over the last axis of an array (4, 6): made for 7, given 6",
    ),
}


@pytest.mark.parametrize("name", HELPERS)
def test_a_mistake_in_a_helper_has_the_helpers_line(name: str, tmp_path: Path) -> None:
    """Whatever the helper calls the vocabulary, and whichever of its parameters it is."""
    helper, place, told = HELPERS[name]
    path = write(tmp_path, VECTOR, "self.head = block(6, nn)", "return self.head(x)")
    text = path.read_text().replace("def build(nn, size):", f"{helper}\n\n\ndef build(nn, size):")
    path.write_text(text)
    line = text[: text.index(place)].count("\n") + 1
    with pytest.raises(ModelFileError) as refused:
        checked(path)
    assert str(refused.value).startswith(f"{path}:{line}: {told}")


def test_a_mistake_of_a_helper_in_the_loss_has_its_line(tmp_path: Path) -> None:
    """A loss that is put together from functions is run over shapes as a whole."""
    path = write(tmp_path, VECTOR, "self.head = nn.Linear(6, 5)", "return self.head(x)", "return far(outputs, nn)")
    text = path.read_text() + "\n\ndef far(outputs, lib):\n    return lib.mean(outputs, axis=2)\n"
    path.write_text(text)
    with pytest.raises(
        ModelFileError, match=rf"mine\.py:{text.count(chr(10))}: in loss: nn\.mean: axis 2 of an array \(4, 5\)"
    ):
        checked(path)
