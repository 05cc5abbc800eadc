from __future__ import annotations

import inspect

import pytest

from bakeoff.spec import errors
from bakeoff.spec.errors import BakeoffError, UnknownNameError, UsageError


@pytest.mark.parametrize(
    ("name", "valid", "message"),
    [
        ("jaxx", ["torch", "jax"], "unknown framework 'jaxx'; did you mean 'jax'? Valid: jax, torch"),
        ("caffe", ["torch", "jax"], "unknown framework 'caffe'. Valid: jax, torch"),
        ("caffe", [], "unknown framework 'caffe'. Valid: none"),
        ("", ["torch"], "unknown framework ''. Valid: torch"),
    ],
)
def test_an_unknown_name_tells_the_valid_ones(name: str, valid: list[str], message: str) -> None:
    """The message has what was asked, the nearest name where there is one, and all that are valid, in order."""
    assert str(UnknownNameError("framework", name, valid)) == message


def test_every_error_has_its_place_in_the_tree() -> None:
    """The tree that the module draws is the tree that there is."""
    classes = [one for _, one in inspect.getmembers(errors, inspect.isclass) if one.__module__ == errors.__name__]
    drawn = [line.lstrip("|- `").split()[0] for line in (errors.__doc__ or "").splitlines() if "Error" in line]
    assert {one.__name__ for one in classes} <= set(drawn)
    assert all(issubclass(one, BakeoffError) for one in classes)
    usage = {one.__name__ for one in classes if issubclass(one, UsageError)}
    assert usage == {"UsageError", "UnknownNameError", "ModelFileError"}
