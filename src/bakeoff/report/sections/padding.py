"""Sequences of different lengths: how batches were padded, and how many of their entries are real."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bakeoff.judge.epochs import new_shapes
from bakeoff.report.page import Section, Subject
from bakeoff.report.units import listed, percent
from bakeoff.spec.text import count
from bakeoff.spec.trial import FIXED, Entries

if TYPE_CHECKING:
    from bakeoff.judge.outcome import Outcome
    from bakeoff.spec.trial import Inputs


def padding_line(data: Inputs) -> str:
    """Return how much of the batches is padding, and how they are padded; empty where nothing has lengths."""
    if not data.sequences:
        return ""
    real = "real are " + listed(_in_words(name, entries) for name, entries in data.sequences.items())
    if data.padding == FIXED:
        return f"Sequences of different lengths are padded to the workload's own length; {real}."
    shapes = len({repr(one) for one in data.shapes()})
    kind, _, buckets = data.padding.partition(":")
    how = f"to the bounds of {count(int(buckets), 'bucket')}" if kind == "buckets" else "to each batch's longest"
    return (
        f"Sequences of different lengths are padded {how}, the same for all contenders: {data.batches} batches "
        f"of {count(shapes, 'shape')}; {real}. Every timed part holds all of them, after a warm-up that has seen each."
    )


def _in_words(name: str, entries: Entries) -> str:
    """Return how many entries of a sequence are real."""
    whole = entries.real + entries.padding
    return f"{entries.real:,} of {whole:,} entries of {name} ({percent(entries.padded_share)} padding)"


def _sections(outcome: Outcome) -> list[Section]:
    """Return the sentence."""
    said = padding_line(outcome.comparison.data)
    return [Section(words=[said])] if said else []


def _data(outcome: Outcome) -> dict[str, Any]:
    """Return how batches are padded, and how many entries of each sequence are real."""
    data = outcome.comparison.data
    shapes = len({repr(one) for one in data.shapes()}) or 1
    every = data.sequences.values()
    together = Entries(real=sum(one.real for one in every), padding=sum(one.padding for one in every))
    share = together.padded_share if every else None
    sequences = [{"name": name, "real": one.real, "padding": one.padding} for name, one in data.sequences.items()]
    told = {"kind": data.padding, "padded_share": share, "shapes": shapes, "sequences": sequences}
    return {"padding": told | {"new_in_epochs": new_shapes(outcome.comparison)}}


PADDING = Subject(sections=_sections, data=_data)
