"""The parts of somebody's own Markdown file: found by their markers, and nothing else is touched."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bakeoff.report.readme import parts_of, rewritten
from bakeoff.spec.errors import UsageError

BEGIN, END = "<!-- bakeoff:mine -->", "<!-- /bakeoff -->"

AROUND = st.text(alphabet=st.sampled_from("a<!->/ \t\r\n\v\f\x1c\x85\u2028\ufeff`#é|"), max_size=40)
"""What somebody may have around markers: any kind of line's end, half of a marker, a fence."""


def filled(text: str, content: str = "new\n") -> str:
    """Return a text with all of its parts written."""
    parts = parts_of(text, "README.md")
    return rewritten(text, parts, [content] * len(parts))


@given(before=AROUND, inside=AROUND, after=AROUND, newline=st.sampled_from(["\n", "\r\n"]))
def test_nothing_outside_of_markers_changes(before: str, inside: str, after: str, newline: str) -> None:
    """What stands before the first marker's line and behind the second's has the same characters, and twice is once."""
    before, inside = (part.replace("`", "") for part in (before, inside))
    head, tail = f"{before}\n{BEGIN}{newline}", f"{END}{newline}{after}"
    written = filled(f"{head}{inside}\n{tail}", "one\ntwo\n")
    assert written == f"{head}one{newline}two{newline}{tail}"
    assert filled(written, "one\ntwo\n") == written


def test_a_file_keeps_its_line_ends_and_its_last_line() -> None:
    """A part has the line's ends of its marker, the last marker without one gets none; several parts are written."""
    text = f"\ufeff{BEGIN}\r\nold\r\n{END}\r\nmine\n  <!--bakeoff: other-1.2 -->  \n{END}"
    parts = parts_of(text, "README.md")
    assert [part.name for part in parts] == ["mine", "other-1.2"]
    assert rewritten(text, parts, ["a\nb\n", "c\n"]) == (
        f"\ufeff{BEGIN}\r\na\r\nb\r\n{END}\r\nmine\n  <!--bakeoff: other-1.2 -->  \nc\n{END}"
    )


@pytest.mark.parametrize("fence", ["```", "~~~", "````markdown", "~~~ x"])
def test_markers_in_a_block_of_code_are_examples(fence: str) -> None:
    """Markers in a fenced block, in a line of text or behind four spaces mean nothing, and one behind it counts."""
    close = fence.rstrip("markdown x")
    example = f"{fence}\n{BEGIN}\n{close[0] * 2}\n{END}\n{close}\n`{BEGIN}` and {END}\n    {BEGIN}\n``` a`b\n"
    assert [part.begin for part in parts_of(f"{example}{BEGIN}\n{END}\n", "README.md")] == [8]
    with pytest.raises(UsageError, match="has no part for bakeoff to write: put in <!-- bakeoff:NAME -->"):
        parts_of(example, "README.md")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            f"a\n{BEGIN}\nb\n",
            "README.md: the part <!-- bakeoff:mine --> of line 2 has no end: put in <!-- /bakeoff -->",
        ),
        (f"{BEGIN}\n\n{BEGIN}\n{END}\n", "line 3: the part <!-- bakeoff:mine --> of line 1 has no end before the next"),
        (f"a\n{END}\n", "README.md, line 2: <!-- /bakeoff --> without <!-- bakeoff:NAME --> above it"),
        (f"{BEGIN}\n{END}\n{END}\n", "README.md, line 3: <!-- /bakeoff --> without"),
        ("", "README.md has no part"),
    ],
)
def test_markers_that_do_not_pair_are_named_with_their_line(text: str, told: str) -> None:
    """The message has the file, the line and what to do."""
    with pytest.raises(UsageError) as error:
        parts_of(text, "README.md")
    assert told in str(error.value)


def test_what_is_written_can_hold_no_marker() -> None:
    """A content with a line that is a marker is refused: the next time it would end the part."""
    with pytest.raises(UsageError, match="holds a line that is a marker"):
        filled(f"{BEGIN}\n{END}\n", f"a\n{END}\n")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("```\n<!-- bakeoff:example -->\n`````\n", "mine"),  # A fence may be closed by a longer one,
        ("```\n``` python\n<!-- bakeoff:example -->\n```\n", "mine"),  # and by none with words behind it.
    ],
)
def test_a_block_of_code_ends_where_commonmark_has_it_end(text: str, name: str) -> None:
    """What follows it is a part, and nothing within it is."""
    assert [part.name for part in parts_of(f"{text}{BEGIN}\n{END}\n", "README.md")] == [name]


def test_an_open_fence_within_a_part_hides_no_end() -> None:
    """What stands between markers is thrown away, whatever it opened."""
    assert filled(f"{BEGIN}\n```\n{END}\n") == f"{BEGIN}\nnew\n{END}\n"
    with pytest.raises(UsageError, match="holds a line that is a marker"):
        filled(f"{BEGIN}\n{END}\n", f"{BEGIN}\n")
