"""What a call in a user's model may look like: the vocabulary's signatures, over shapes and in every framework."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path
from typing import Any

import pytest
from test_interpreter import MAP, VECTOR, checked, write

import bakeoff.frameworks
from bakeoff.environments.declared import frameworks
from bakeoff.spec.errors import ModelFileError
from bakeoff.spec.vocabulary import FUNCTIONS, LAYERS, LOSSES, VOCABULARY
from bakeoff.workloads import plan
from bakeoff.workloads.interpreter import vocabulary
from bakeoff.workloads.mistakes import _SIGNATURE
from bakeoff.workloads.shape_functions import Counter

FOLDER = Path(bakeoff.frameworks.__file__).parent
LISTED = [name for name, declared in frameworks().items() if declared.info.listed]
NN = vocabulary(Counter(), trains=True)

Said = dict[str, list[tuple[str, Any]]]


def said() -> Said:
    """Give the arguments of each name with their defaults, `...` where there is none, as the vocabulary's line has it.

    Lines that show the parts of a pair, as pad2d's, have no name for it.
    """
    found: Said = {}
    for name, text in VOCABULARY.items():
        signature = _SIGNATURE.match(text)
        try:
            definition = ast.parse(f"def {signature[0]}: pass").body[0] if signature else None
        except SyntaxError:
            continue
        if isinstance(definition, ast.FunctionDef):
            found[name] = arguments(definition)
    return found


def arguments(definition: ast.FunctionDef) -> list[tuple[str, Any]]:
    """Give a function's arguments with their defaults, but self."""
    names = [one.arg for one in (*definition.args.posonlyargs, *definition.args.args)]
    defaults = [ast.unparse(one) for one in definition.args.defaults]
    found = [*zip(names, [...] * (len(names) - len(defaults)) + defaults, strict=True)]
    found += [(one.arg, ...) for one in (definition.args.vararg,) if one]
    return [pair for pair in found if pair[0] != "self"]


SAID = said()


def taken(made: Any) -> list[tuple[str, Any]]:
    """Give the arguments of a function, or of a layer's __init__, with their defaults."""
    parameters = inspect.signature(made.__init__ if isinstance(made, type) else made).parameters.values()
    return [
        (one.name, ... if one.default is inspect.Parameter.empty else repr(one.default))
        for one in parameters
        if one.name != "self"
    ]


def definitions(framework: str) -> dict[str, ast.FunctionDef]:
    """Give the functions, and the layers' __init__, that a framework's nn.py has under the vocabulary's names."""
    found: dict[str, ast.FunctionDef] = {}
    tree = ast.parse((FOLDER / framework / "nn.py").read_text("utf-8"))
    taken_in = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    own = f"bakeoff.frameworks.{framework}."
    files = {node.module: {one.name for one in node.names} for node in taken_in if (node.module or "").startswith(own)}
    for module, names in files.items():
        other = FOLDER / framework / f"{str(module).removeprefix(own)}.py"
        found |= _defined(ast.parse(other.read_text("utf-8")), names & VOCABULARY.keys())
    return found | _defined(tree, set(VOCABULARY))


def _defined(tree: ast.Module, names: set[str]) -> dict[str, ast.FunctionDef]:
    """Give what a file defines of these names."""
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            made = [one for one in node.body if isinstance(one, ast.FunctionDef) and one.name == "__init__"]
            functions.update((node.name, one) for one in made)
    return {name: node for name, node in functions.items() if name in names}


def test_nearly_every_name_says_its_arguments() -> None:
    """Only a base class, and those whose lines show a pair's parts, are not held here."""
    assert VOCABULARY.keys() - SAID.keys() == {"Module", "pad2d", "from_tokens", "adaptive_avg_pool2d", "resize"}


@pytest.mark.parametrize("name", sorted(SAID.keys() - {"in_training"}))
def test_a_call_over_shapes_is_the_vocabularys(name: str) -> None:
    """Names, order and defaults: a call that the vocabulary allows is not refused, whichever way it is written."""
    assert taken(getattr(NN, name)) == SAID[name]
    if name in LAYERS:
        assert taken(getattr(plan._VOCABULARY, name)) == SAID[name]


@pytest.mark.parametrize("framework", LISTED)
def test_a_call_in_a_framework_is_the_vocabularys(framework: str) -> None:
    """Every function and layer that a framework defines takes the vocabulary's arguments by their names."""
    found = definitions(framework)
    assert len(found) > len(VOCABULARY) / 2
    wrong = {name: arguments(found[name]) for name in found.keys() & SAID.keys()}
    assert {name: one for name, one in wrong.items() if one != SAID[name]} == {}


def test_a_frameworks_own_function_gets_its_arrays_without_names() -> None:
    """A framework that has its own function behind a name calls the arguments as it likes, so none may be named."""
    native = {name for one in LISTED for name in (FUNCTIONS | LOSSES).keys() - definitions(one).keys()}
    by_name = {
        name
        for name in native
        if any(one.kind is not one.POSITIONAL_ONLY for one in inspect.signature(getattr(NN, name)).parameters.values())
    }
    assert "relu" in native
    assert by_name == set()


def test_a_convolution_by_names_passes(tmp_path: Path) -> None:
    """Every argument may have its name, or its place."""
    layers = (
        "self.a = nn.Conv2d(in_channels=3, out_channels=6, kernel=3); self.b = nn.Conv2d(6, 5, 3, 1, 0, 1, 1, False)"
    )
    checked(write(tmp_path, MAP, layers, "return nn.global_avg_pool2d(self.b(self.a(x)))"))


def test_a_loss_by_names_passes(tmp_path: Path) -> None:
    """Its arguments are called as the vocabulary calls them."""
    sample = "input_shape=(6,), targets={'y': ArraySpec(shape=(5,))}"
    loss = "return nn.binary_cross_entropy(logits=outputs, targets=targets) + nn.mse(outputs=outputs, targets=targets)"
    checked(write(tmp_path, sample, "self.head = nn.Linear(6, 5)", "return self.head(x)", loss))


def test_a_function_that_takes_no_names_says_so(tmp_path: Path) -> None:
    """With the line, and how it is written."""
    path = write(tmp_path, VECTOR, "self.head = nn.Linear(6, 5)", "return nn.reshape(self.head(x), shape=(4, 5))")
    with pytest.raises(
        ModelFileError, match=r"mine\.py:18: .* as keyword arguments: 'shape'; it is nn\.reshape\(x, shape\)"
    ):
        checked(path)
