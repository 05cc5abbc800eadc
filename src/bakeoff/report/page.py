"""What a report says, in no form: every undertaking makes one page, and every form walks it.

What a section says in `words`, and the tables of an open one, stand in every form. Notes, tables that belong to a
picture, and folds stand where there is room for them: on the HTML page; programs read the same from `Page.data`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import msgspec

if TYPE_CHECKING:
    from bakeoff.judge.outcome import ContenderOutcome, Outcome


def with_command(sentence: str, command: str) -> str:
    """Return a sentence, and behind it, on a line of its own to be copied whole, the command that it speaks of."""
    return f"{sentence}:\n  {command}" if command else f"{sentence}."


class Line(msgspec.Struct, frozen=True):
    """One line of a table; a marked one is worth a look."""

    cells: list[str]
    marked: bool = False
    colour: str = ""
    """Of the contender that the line is about."""
    link: str = ""
    """Folder of the records that the line is about."""


class Table(msgspec.Struct, frozen=True):
    """A table; the first `words` columns and the last `last_words` are words, the others numbers.

    A table of words alone lists things, each with what is said of it in the last column.
    """

    heads: list[str]
    lines: list[Line]
    words: int = 1
    last_words: int = 0
    keys: int = 1
    """The first columns that name the line: they are repeated where a table is parted."""
    right: tuple[int, ...] = ()
    """Columns of numbers that are to end below each other, also under a longer head."""
    prose: int | None = None
    """The column of sentences, too long to stand in a line of a terminal."""

    def is_words(self, index: int) -> bool:
        """Return whether a column holds words, which are set left."""
        return index < self.words or index >= len(self.heads) - self.last_words or index == self.prose


class Picture(msgspec.Struct, frozen=True):
    """A picture, drawn when a form shows it."""

    finding: str
    """What it shows, for readers who do not see it."""
    draw: Callable[[int], Any]
    """Return altair's chart, laid out for so many pixels from left to right."""


Kind = Literal["open", "warnings", "page", "fold"]
"""How much room a section is worth.

open      its tables stand in every form
warnings  its words are warnings
page      tables and pictures that only a page has room for
fold      the same, folded: evidence for those who look for it
"""


class Section(msgspec.Struct, frozen=True, kw_only=True):
    """One subject of a page."""

    kind: Kind = "open"
    leads: bool = False
    """Its picture stands on a page directly under the first table."""
    title: str = ""
    caption: str = ""
    """What the tables show, in a document's words; the title where it is empty."""
    words: list[str] = []
    """Sentences, which stand in every form."""
    notes: list[str] = []
    """Sentences that explain tables, where there is room."""
    tables: list[Table] = []
    picture: Picture | None = None

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to say."""
        return not (self.words or self.notes or self.tables or self.picture)


class Subject(NamedTuple):
    """What one subject adds to a comparison's page; what it leaves out is empty."""

    sections: Callable[[Outcome], list[Section]] = lambda _: []
    cautions: Callable[[Outcome], list[str]] = lambda _: []
    """What a reader must know before trusting a number, in sentences."""
    data: Callable[[Outcome], dict[str, Any]] = lambda _: {}
    """Keys of the JSON object."""
    fields: Callable[[ContenderOutcome], dict[str, Any]] = lambda _: {}
    """Keys of a contender in the JSON object."""


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """All that is said of one outcome."""

    title: str
    headline: str
    """The answer in a sentence: every form begins with it."""
    trust: str = ""
    """Why to believe it, in a line under the headline: "Same work: verified. 5 rounds, 15 fresh processes."."""
    beside: str = ""
    """What stands on the title's line where it fits: the machine."""
    lines: list[str] = []
    """Under the title."""
    sections: list[Section]
    unpictured: tuple[str, ...] = ("Nothing was timed.",)
    """What a picture of the page says where no section has one, in lines."""
    begun: str = ""
    """When, and by which version of bakeoff."""
    measured: str
    """The same with the packages that were measured, on one line."""
    command: str
    """What repeats it; empty where no command does."""
    path: str
    """Folder of the records."""
    prefix: str = ""
    """Before the names of its files, where another page has files in the same folder."""
    data: dict[str, Any]
    """The same for programs, as the JSON object has it."""
    inner: list[Page] = []
    """Of each comparison of a study."""

    @property
    def under(self) -> str:
        """What stands under the title, in one line."""
        return "; ".join(line for line in [self.beside, *self.lines] if line)
