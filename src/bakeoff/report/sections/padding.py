"""Sequences of different lengths: how batches were padded, and which share of them is padding."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bakeoff.report.page import Section, Subject
from bakeoff.report.units import percent
from bakeoff.spec.text import count
from bakeoff.spec.trial import FIXED

if TYPE_CHECKING:
    from bakeoff.judge.outcome import Outcome
    from bakeoff.spec.trial import Inputs


def padding_line(data: Inputs) -> str:
    """Return how much of the batches is padding, and how they are padded; empty where nothing has lengths."""
    if data.padded_share is None:
        return ""
    share = f"{percent(data.padded_share)} of the entries of sequences are padding"
    if data.padding == FIXED:
        return f"Sequences of different lengths are padded to the workload's own length: {share}."
    shapes = len({repr(one) for one in data.shapes()})
    kind, _, buckets = data.padding.partition(":")
    how = f"to the bounds of {count(int(buckets), 'bucket')}" if kind == "buckets" else "to each batch's longest"
    return (
        f"Sequences of different lengths are padded {how}, the same for all contenders: {data.batches} batches "
        f"of {count(shapes, 'shape')}, {share}. Every timed part holds all of them, after a warm-up that has seen each."
    )


def _sections(outcome: Outcome) -> list[Section]:
    """Return the sentence."""
    said = padding_line(outcome.comparison.data)
    return [Section(words=[said])] if said else []


def _data(outcome: Outcome) -> dict[str, Any]:
    """Return how batches are padded; the share is null where nothing has lengths."""
    data = outcome.comparison.data
    shapes = len({repr(one) for one in data.shapes()}) or 1
    return {"padding": {"kind": data.padding, "padded_share": data.padded_share, "shapes": shapes}}


PADDING = Subject(sections=_sections, data=_data)
