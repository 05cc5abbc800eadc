"""A layer or an array that no framework would find in a model is told where the model uses it."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_interpreter import TOKENS, VECTOR, checked, write

from bakeoff.spec.errors import ModelFileError

LOST = {
    "in a closure": ("head = nn.Linear(6, 5); self.made = lambda: head", "return self.made()(x)"),
    "in an object of another class": (
        "from types import SimpleNamespace; self.parts = SimpleNamespace(head=nn.Linear(6, 5))",
        "return self.parts.head(x)",
    ),
}


@pytest.mark.parametrize("name", LOST)
def test_a_layer_that_the_model_does_not_hold(name: str, tmp_path: Path) -> None:
    """No framework would load or train its parameters; a certificate could only say that outputs differ."""
    layers, forward = LOST[name]
    path = write(tmp_path, VECTOR, layers, forward)
    with pytest.raises(ModelFileError) as refused:
        checked(path)
    assert str(refused.value).startswith(f"{path}:18: in forward: nn.Linear is called, and the model does not hold it")
    assert "nn.ModuleList([...])" in str(refused.value)


def test_a_layer_that_draws_has_to_be_held_too(tmp_path: Path) -> None:
    """It has no parameters, and yet whether it is in training is told to what the model holds."""
    layers = "self.head = nn.Linear(6, 5); drop = nn.Dropout(0.5); self.made = lambda: drop"
    path = write(tmp_path, VECTOR, layers, "return self.made()(self.head(x))")
    with pytest.raises(ModelFileError, match=r"mine\.py:18: in forward: nn\.Dropout is called, and the model"):
        checked(path)


UNHELD = {
    "Parameter in a closure": (
        "bias = nn.Parameter((5,)); self.made = lambda: bias",
        "return self.head(x) + self.made()",
    ),
    "Parameter in an object of another class": (
        "from types import SimpleNamespace; self.parts = SimpleNamespace(bias=nn.Parameter((5,)))",
        "return nn.maximum(self.head(x), self.parts.bias)",
    ),
    "Parameter in a module that the model does not hold": (
        "part = nn.Module(); part.bias = nn.Parameter((6, 5)); self.made = lambda: part",
        "return nn.matmul(x, self.made().bias)",
    ),
    "constant in a closure": (
        "import numpy; mask = nn.constant(numpy.ones(5)); self.made = lambda: mask",
        "return self.head(x) * self.made()",
    ),
    "constant in an object of another class": (
        "import numpy, types; self.parts = types.SimpleNamespace(mask=nn.constant(numpy.ones(5)))",
        "return nn.maximum(self.head(x), self.parts.mask)",
    ),
}
WHY = {"Parameter": "nothing would load", "constant": "not every framework"}


@pytest.mark.parametrize("name", UNHELD)
def test_an_array_that_the_model_does_not_hold(name: str, tmp_path: Path) -> None:
    """A Parameter would be computed with, and stay as it was drawn, in whatever framework has drawn it.

    Of a constant, in some frameworks only a module makes an array, and only there does it follow the model to its
    device.
    """
    kind, (layers, forward) = name.split(maxsplit=1)[0], UNHELD[name]
    path = write(tmp_path, VECTOR, f"self.head = nn.Linear(6, 5); {layers}", forward)
    with pytest.raises(ModelFileError) as refused:
        checked(path)
    told = f"{path}:18: in forward: nn.{kind} is used, and the model does not hold it, so that {WHY[kind]}"
    assert str(refused.value).startswith(told)
    assert f"(self.array = nn.{kind}(...) in __init__)" in str(refused.value)


def test_a_constant_that_the_model_holds_by_another_name_passes(tmp_path: Path) -> None:
    """What counts is that a module has it; its shape may be asked for while the model is built."""
    layers = "import numpy; mask = nn.constant(numpy.ones(5)); self.mask = mask; "
    layers += "self.head = nn.Linear(6, self.mask.shape[0])"
    checked(write(tmp_path, VECTOR, layers, "return self.head(x) * self.mask"))


def test_rows_that_the_model_does_not_hold(tmp_path: Path) -> None:
    """A product with an embedding's rows is a call of it, too."""
    layers = "self.table = nn.Embedding(11, 5); other = nn.Embedding(5, 5); self.made = lambda: other"
    path = write(tmp_path, TOKENS, layers, "return self.made().attend(self.table(x))[:, 0]")
    with pytest.raises(ModelFileError, match=r"mine\.py:18: in forward: nn\.Embedding is called, and the model does"):
        checked(path)


@pytest.mark.parametrize(
    ("layers", "line"),
    [
        ("self.rows = []; self.rows.append(nn.Linear(6, 5))", 13),
        ("self.rows = {}; self.rows['a'] = [nn.Parameter((6,))]", 13),
        ("self.rows = [[nn.Linear(6, 5)]]", 15),
    ],
)
def test_layers_in_plain_lists(layers: str, line: int, tmp_path: Path) -> None:
    """However deep, and also where they were added to a list that the model had already: nothing has to call them."""
    path = write(tmp_path, VECTOR, f"self.head = nn.Linear(6, 5); {layers}", "return self.head(x)")
    with pytest.raises(ModelFileError) as refused:
        checked(path)
    assert str(refused.value).startswith(f"{path}:{line}: in build: ")
    assert "that holds layers; hold them in nn.ModuleList([...])" in str(refused.value)


def test_parameters_in_plain_lists(tmp_path: Path) -> None:
    """A ModuleList does not hold them, so that another way is told."""
    path = write(tmp_path, VECTOR, "self.rows = [nn.Parameter((6,))]", "return self.rows[0] * x")
    with pytest.raises(ModelFileError, match=r"in build: .*holds an nn.Parameter or nn.constant; make each an a"):
        checked(path)


@pytest.mark.parametrize(
    "layers",
    [
        "self.head = nn.Linear(6, 9); self.head = nn.Linear(6, 5)",
        "self.rows = nn.ModuleList([nn.Linear(6, 5)]); self.head = self.rows[0]",
        "rows = [nn.Linear(6, 5)]; self.rows = nn.ModuleList(rows); self.head = rows[0]",
        "self.bias = nn.Parameter((9,)); self.bias = nn.Parameter((5,)); self.head = lambda x: x[:, :5] + self.bias",
    ],
)
def test_a_layer_that_is_replaced_or_shared_passes(layers: str, tmp_path: Path) -> None:
    """What counts is what the model holds in the end, under whatever path."""
    checked(write(tmp_path, VECTOR, layers, "return self.head(x)"))


def test_an_array_is_given_to_a_layer_without_a_name(tmp_path: Path) -> None:
    """What a layer calls its input is each framework's own: in one it is `input`, in another `inputs`."""
    path = write(tmp_path, VECTOR, "self.head = nn.Linear(6, 5)", "return self.head(x=x)")
    with pytest.raises(
        ModelFileError, match=r"mine\.py:18: in forward: nn\.Linear is called without an array; names of"
    ):
        checked(path)
