"""What other libraries have a name for is told in the vocabulary's own, which has to be there."""

from __future__ import annotations

import re

import pytest

from bakeoff.spec.vocabulary import VOCABULARY
from bakeoff.workloads.mistakes import not_there
from bakeoff.workloads.shapes import LayoutError, Shape
from bakeoff.workloads.synonyms import SAID_BY


def test_what_is_said_is_in_the_vocabulary() -> None:
    """Each name that an advice uses is there, and none is given for a name that is there itself."""
    assert not SAID_BY.keys() & VOCABULARY.keys()
    for name, said in SAID_BY.items():
        assert set(re.findall(r"nn\.(\w+)", said)) <= VOCABULARY.keys(), name


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("relu6", ": it is nn.clip(x, 0, 6)"),
        ("erf", ", and nothing in it does that"),
        ("topk", ": it is values, indices = nn.top_k(x, k)"),
        ("ReLU", "; did you mean nn.relu?"),
        ("MaxPool2d", "; did you mean nn.max_pool2d?"),
        ("layernorm", "; did you mean nn.LayerNorm?"),
        ("sofmax", "; did you mean nn.softmax?"),
        ("xyzzy", ""),
    ],
)
def test_a_name_of_another_library_is_answered(name: str, told: str) -> None:
    """By what it is here, by the same name in another style, or by one that is spelt nearly so."""
    assert not_there(name) == f"nn.{name} is not in the vocabulary{told}"


@pytest.mark.parametrize(
    ("name", "told"), [("mean", "; nn.mean is a function"), ("T", "; T is nn.permute_dims(x, axes)"), ("device", "")]
)
def test_an_attribute_of_arrays_elsewhere_is_answered(name: str, told: str) -> None:
    """By the function that it is here."""
    with pytest.raises(LayoutError) as refused:
        getattr(Shape((2, 3)), name)
    assert str(refused.value).endswith(f"slices and + - * / **{told}")
