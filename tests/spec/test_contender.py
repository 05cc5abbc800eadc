from __future__ import annotations

import hypothesis.strategies as st
import msgspec
import pytest
from hypothesis import given

from bakeoff.spec.contender import (
    Contender,
    parse_contender,
    parse_contenders,
    parse_values,
    quoted,
    slug,
)
from bakeoff.spec.errors import UsageError

LINES = st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), min_size=1)
"""What an environment or a value may be: any characters on one line."""

FORMS = {
    "torch": ("torch", None, {}),
    "torch:mode=compiled": ("torch", None, {"mode": "compiled"}),
    "tensorflow:mode=graph,threads=1": ("tensorflow", None, {"mode": "graph", "threads": "1"}),
    "torch@nightly": ("torch", "nightly", {}),
    "torch@2.13:threads=1": ("torch", "2.13", {"threads": "1"}),
    "torch@/path/to/python": ("torch", "/path/to/python", {}),
    "torch@/path/to/python:threads=1,mode=eager": ("torch", "/path/to/python", {"threads": "1", "mode": "eager"}),
    "torch@~/envs/a b/bin/python3.11": ("torch", "~/envs/a b/bin/python3.11", {}),
    'torch@"/odd:path/python"': ("torch", "/odd:path/python", {}),
    "torch@'/odd:path/python':mode=eager": ("torch", "/odd:path/python", {"mode": "eager"}),
    "torch@/a,b=c/python": ("torch", "/a,b=c/python", {}),
    "torch@/größe/python": ("torch", "/größe/python", {}),
    "my-framework_2:step_ms=1.5": ("my-framework_2", None, {"step_ms": "1.5"}),
    "fake:note=a=b": ("fake", None, {"note": "a=b"}),
    "torch:code=models/my.py": ("torch", None, {"code": "models/my.py"}),
    "torch@/p/python:code=a/b.py": ("torch", "/p/python", {"code": "a/b.py"}),
    'torch:code="models/my net.py",mode=compiled': ("torch", None, {"code": "models/my net.py", "mode": "compiled"}),
    "fake:note='a:b, c=d',mode=eager": ("fake", None, {"note": "a:b, c=d", "mode": "eager"}),
    r'''fake:note="say \"it's\" and \\ \n"''': ("fake", None, {"note": r"""say "it's" and \ \n"""}),
    r"fake:note=a\b": ("fake", None, {"note": r"a\b"}),
}

AMBIGUOUS = {
    "torch@/odd:path/python": 'torch@"/odd:path/python"',
    "torch@/odd:path/python:mode=eager": 'torch@"/odd:path/python":mode=eager',
    "torch@/p/python:code=https://x": 'torch@/p/python:code="https://x"',
    "torch@/it's/python": 'torch@"/it\'s/python"',
    "torch:code=a:b": 'torch:code="a:b"',
    "torch:mode=eager,code=a,b": 'torch:mode=eager,code="a,b"',
    "torch:code=models/'my net'.py": "torch:code=\"models/'my net'.py\"",
    'torch:code="a"b': r'''torch:code="\"a\"b"''',
}
"""Texts that could mean more than one thing, each with the example of quoting that its refusal shows."""


@pytest.mark.parametrize("text", FORMS)
def test_every_form_is_read(text: str) -> None:
    """Framework, environment and options are taken apart; the text itself is the label."""
    framework, environment, options = FORMS[text]
    expected = Contender(framework=framework, label=text, environment=environment, options=options)
    assert parse_contender(text) == expected


@pytest.mark.parametrize("text", ['torch:a=""', "torch@''", "torch@/p/python:"])
def test_nothing_is_shown_in_quotes_where_something_is_missing(text: str) -> None:
    """An empty environment, value or list of options is refused without an example that would mean something else."""
    with pytest.raises(UsageError) as raised:
        parse_contender(text)
    assert "such as" not in str(raised.value)


def test_labels_are_unique_whatever_is_written() -> None:
    """A text that looks like the label of a repeated one does not take it away."""
    labels = [contender.label for contender in parse_contenders(["torch@x", "torch@x", "torch@x (2)"])]
    assert len(set(labels)) == len(labels) == 3


@pytest.mark.parametrize("text", AMBIGUOUS)
def test_what_could_mean_two_things_is_refused_with_its_quotes(text: str) -> None:
    """Neither a path nor a value is cut or joined silently: the refusal shows a text that is accepted."""
    with pytest.raises(UsageError) as raised:
        parse_contender(text)
    assert str(raised.value).endswith(f"stands in quotes, such as {AMBIGUOUS[text]}")
    parse_contender(AMBIGUOUS[text])


@given(
    st.builds(
        Contender,
        framework=st.from_regex(r"[A-Za-z][\w-]*", fullmatch=True),
        label=st.just(""),
        environment=st.none() | LINES,
        options=st.dictionaries(st.from_regex(r"[\w.-]+", fullmatch=True), LINES, max_size=4),
    )
)
def test_a_contender_survives_its_own_text(contender: Contender) -> None:
    """What is formatted parses to the same framework, environment and options, whatever characters they hold."""
    environment = "" if contender.environment is None else f"@{quoted(contender.environment)}"
    options = ",".join(f"{name}={quoted(value)}" for name, value in contender.options.items())
    text = f"{contender.framework}{environment}{':' if options else ''}{options}"
    assert parse_contender(text) == msgspec.structs.replace(contender, label=text)


@given(st.lists(LINES, min_size=1, max_size=5))
def test_values_survive_their_list(values: list[str]) -> None:
    """Values with commas, quotes and spaces stand in one list of values, quoted."""
    assert parse_values(", ".join(map(quoted, values))) == values


def test_a_list_keeps_the_places_of_missing_values() -> None:
    """Nothing between two commas is a value that is missing, and white space around a value is none of it."""
    assert parse_values("8, 16 ,,'a, b'") == ["8", "16", "", "a, b"]


def test_a_quote_within_a_listed_value_is_refused() -> None:
    """A value is quoted as a whole or not at all; the refusal shows how."""
    with pytest.raises(UsageError, match="quote the whole value"):
        parse_values("it's,b")


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
