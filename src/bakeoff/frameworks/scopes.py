"""Scopes at the vocabulary's border, whatever the framework: where they are opened, and what their names say again."""

from __future__ import annotations

import re
from functools import wraps
from typing import TYPE_CHECKING, Any, NamedTuple

from bakeoff.frameworks.tracing import FUNCTION, LAYER, OPTIMIZER, WHOLE
from bakeoff.spec.vocabulary import FUNCTIONS, VOCABULARY, GivenNames

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping
    from contextlib import AbstractContextManager

    from bakeoff.spec.explained import OperationKind, Phase

    Opener = Callable[[str], AbstractContextManager[Any]]

KINDS_OF_LAYERS: dict[str, OperationKind] = {
    **dict.fromkeys(("BatchNorm", "LayerNorm", "GroupNorm", "ChannelNorm", "RMSNorm"), "normalisation"),
    **dict.fromkeys(("LSTM", "GRU", "LSTMCell", "GRUCell"), "recurrent"),
}
"""Layers of which all operations are of one kind; what the others do, each operation's own name says."""

KINDS_OF_FUNCTIONS: dict[str, OperationKind] = {"attention": "attention", "scan": "recurrent"}

KEPT: tuple[OperationKind, ...] = ("device copy", "communication", "input wait", "idle")
"""Kinds that an operation is of, whatever it is done for."""

WITHOUT_SCOPE = ("in_training",)
"""Functions that compute nothing in a step."""

_NUMBER = re.compile(r"_\d+$")
"""What a framework puts behind a scope's name when it is opened again."""


class Place(NamedTuple):
    """Where in the model something is."""

    layer: str = ""
    function: str = ""


def layer(path: str) -> str:
    """Return the name of a layer's scope."""
    return LAYER + (path or WHOLE)


def vocabulary(nn: Any, changed: Mapping[str, Any]) -> GivenNames:
    """Return the vocabulary with some names changed; the framework's own module stays as it is."""
    names = {name: getattr(nn, name) for name in VOCABULARY if hasattr(nn, name)}
    return GivenNames(**names | dict(changed))


def functions(nn: Any, scope: Opener) -> dict[str, Callable[..., Any]]:
    """Return the functions of a framework's vocabulary, each within a scope of its name."""
    names = [name for name in FUNCTIONS if name not in WITHOUT_SCOPE and hasattr(nn, name)]
    return {name: within(scope, FUNCTION + name, getattr(nn, name)) for name in names}


def within(scope: Opener, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that is called within a scope."""

    @wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        with scope(name):
            return function(*args, **kwargs)

    return called


def place(names: Iterable[str], paths: Collection[str]) -> Place:
    """Return the innermost layer among the names of scopes, outermost first, and the function that is open within it.

    `paths` are those of the model's layers: a number that a framework puts behind a name is taken off unless a layer is
    called so.
    """
    found = Place()
    for name in names:
        found = entered(found, name, paths)
    return found


def entered(where: Place, name: str, paths: Collection[str]) -> Place:
    """Return the place within one more scope; any other name changes nothing.

    A layer within attention is the Dropout that it was given: what that computes is attention's, as where one kernel
    does both.
    """
    if name.startswith(LAYER):
        if where.function == "attention":
            return where
        return Place(_known(name.removeprefix(LAYER), paths))
    if name.startswith(FUNCTION):
        return where._replace(function=_known(name.removeprefix(FUNCTION), FUNCTIONS))
    return where


def is_optimizer(names: Iterable[str]) -> bool:
    """Return whether one of the scopes is that of the optimiser's update."""
    return any(_known(name, (OPTIMIZER,)) == OPTIMIZER for name in names)


def kind(native: OperationKind, phase: Phase, where: Place, layers: Mapping[str, str]) -> OperationKind:
    """Return the kind of an operation: by the vocabulary first, which all frameworks share, then by its native name.

    `layers` has the vocabulary's class of each path.
    """
    if native in KEPT:
        return native
    if phase == "optimiser":
        return "optimiser"
    if native == "host dispatch":
        return native
    by_layer = KINDS_OF_LAYERS.get(layers.get(where.layer, ""))
    return by_layer or KINDS_OF_FUNCTIONS.get(where.function, native)


def _known(name: str, names: Collection[str]) -> str:
    """Return a name without the number behind it, unless it is known with it."""
    return name if name in names else _NUMBER.sub("", name)
