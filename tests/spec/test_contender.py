from __future__ import annotations

import hypothesis.strategies as st
import pytest
from hypothesis import given

from bakeoff.spec.contender import Contender, parse_contender, parse_contenders, slug
from bakeoff.spec.errors import UsageError

FORMS = {
    "torch": ("torch", None, {}),
    "torch:mode=compiled": ("torch", None, {"mode": "compiled"}),
    "tensorflow:mode=graph,threads=1": ("tensorflow", None, {"mode": "graph", "threads": "1"}),
    "torch@nightly": ("torch", "nightly", {}),
    "torch@2.13:threads=1": ("torch", "2.13", {"threads": "1"}),
    "torch@/path/to/python": ("torch", "/path/to/python", {}),
    "torch@/path/to/python:threads=1,mode=eager": ("torch", "/path/to/python", {"threads": "1", "mode": "eager"}),
    "torch@~/envs/a b/bin/python3.11": ("torch", "~/envs/a b/bin/python3.11", {}),
    "torch@/odd:path/python": ("torch", "/odd:path/python", {}),
    "torch@/odd:path/python:mode=eager": ("torch", "/odd:path/python", {"mode": "eager"}),
    "torch@/größe/python": ("torch", "/größe/python", {}),
    "my-framework_2:step_ms=1.5": ("my-framework_2", None, {"step_ms": "1.5"}),
    "fake:note=a=b": ("fake", None, {"note": "a=b"}),
}


@pytest.mark.parametrize("text", FORMS)
def test_every_form_is_read(text: str) -> None:
    """Framework, environment and options are taken apart; the text itself is the label."""
    framework, environment, options = FORMS[text]
    expected = Contender(framework=framework, label=text, environment=environment, options=options)
    assert parse_contender(text) == expected


@pytest.mark.parametrize(
    "text", ["", " ", "2torch", ":mode=eager", "@env", "torch jax", "torch\n", "/usr/bin/python", "torch@"]
)
def test_another_form_is_refused(text: str) -> None:
    """What is no contender is told with the form that it should have."""
    with pytest.raises(UsageError, match=r"is not of the form framework\[@environment\]\[:option=value,\.\.\.\]"):
        parse_contender(text)


@pytest.mark.parametrize(
    ("text", "item"),
    [
        ("torch:", "''"),
        ("torch:eager", "'eager'"),
        ("torch:mode=", "'mode='"),
        ("torch:=eager", "'=eager'"),
        ("torch:mode=eager,", "''"),
        ("torch:mode=eager,,threads=1", "''"),
    ],
)
def test_a_broken_option_is_named(text: str, item: str) -> None:
    """Of several options the wrong one is told."""
    with pytest.raises(UsageError, match=f"contender '{text}': {item} is not of the form option=value"):
        parse_contender(text)


def test_an_option_given_twice_is_refused() -> None:
    """Two values for one option are no choice that bakeoff makes."""
    with pytest.raises(UsageError, match="option 'threads' is given twice"):
        parse_contender("torch:threads=1,mode=eager,threads=2")


def test_the_same_text_twice_is_told_apart() -> None:
    """A against A has labels of its own; everything else about the two is the same."""
    first, other, second, third = parse_contenders(["torch", "jax", "torch", "torch"])
    assert [one.label for one in (first, other, second, third)] == ["torch", "jax", "torch (2)", "torch (3)"]
    assert first.framework == second.framework == third.framework == "torch"
    assert first.options == second.options


@given(st.lists(st.sampled_from(sorted(FORMS)), max_size=8))
def test_labels_are_unique(texts: list[str]) -> None:
    """Within a comparison no two contenders have the same label, and their order is the user's."""
    contenders = parse_contenders(texts)
    assert len({one.label for one in contenders}) == len(texts)
    assert all(one.label.startswith(text) for one, text in zip(contenders, texts, strict=True))


@given(st.text(min_size=1))
def test_a_slug_is_a_safe_name(label: str) -> None:
    """A slug has no separator, no space, no quote and no control character, and does not start like an option."""
    assert all(character.isalnum() or character in "_.=-" for character in slug(label))
    assert not slug(label).startswith("-")


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("torch", "torch"),
        ("torch (2)", "torch-2"),
        ("torch:mode=compiled,threads=1", "torch-mode=compiled-threads=1"),
        ("torch@/opt/py 3.11/bin/python", "torch-opt-py-3.11-bin-python"),
    ],
)
def test_a_slug_can_be_read(label: str, expected: str) -> None:
    """Letters, digits, dots and equals signs stay; the rest becomes a dash."""
    assert slug(label) == expected
