"""What the test and its child send each other, a line of JSON each."""

from __future__ import annotations

import msgspec


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """A workload's file, or one that stands for it, to be held against the workload's independent implementation."""

    workload: str
    path: str
    size: str
    """`small` is the implementation's own."""


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """In what the two differ, a sentence each."""

    declared: list[str] = []
    computed: list[str] = []
    compared: int = 0
    """How many arrays were."""
    largest: float | None = None
    """Of their relative differences; None where an array has no counterpart."""
    is_missing: bool = False
    """Whether the independent implementation lacks the size."""
    fault: str = ""
    """The traceback where nothing could be compared."""
