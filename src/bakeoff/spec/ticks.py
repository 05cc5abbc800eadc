"""What a document says that models, or parts of them, can use: a table of ticks and crosses."""

from __future__ import annotations

from typing import Annotated

import msgspec


class TickColumn(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One of the things that a model can use, or cannot."""

    name: str
    """The document's name for it."""
    value: str
    """What the setting of a part says where this computed it."""
    rows: Annotated[dict[str, str], msgspec.Meta(min_length=1)]
    """The study's rows that ask for it, each by the name of who does."""


class TickTable(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The table as a whole; its lines are those of the comparisons."""

    number: Annotated[str, msgspec.Meta(min_length=1)]
    """"table 5"."""
    columns: Annotated[tuple[TickColumn, ...], msgspec.Meta(min_length=1)]


class Ticks(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One line: what a model, or a part of it, can use."""

    part: str = ""
    """Of the model, by the document's name; empty: all of it."""
    setting: str
    """The setting of a contender, read back after its run, that says what computed this part."""
    can: Annotated[tuple[str, ...], msgspec.Meta(min_length=1)]
    """Columns with a tick; each other one has a cross."""
