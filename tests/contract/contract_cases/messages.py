"""What the tests and child.py send each other, a line of JSON each."""

from __future__ import annotations

import msgspec

from bakeoff.spec.trial import TrialSpec


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """The contender that a process is."""

    folder: str
    """The framework's."""
    variables: dict[str, str]
    """Set before the framework is imported."""
    options: dict[str, str]


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """One piece of work, by its name, and the file for its arrays."""

    name: str
    path: str
    trial: TrialSpec | None = None
    """For the evidence of a workload; any other work is known to child.py by its name."""
    folder: str = ""
    """Of the framework, where it is not the job's: a copy with a planted fault."""


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """How a piece of work has ended: with arrays, unless one of these is not empty."""

    fault: str = ""
    """The traceback of what was raised, or the output of a process that ended."""
    hole: str = ""
    """The reason for which the framework refuses."""
