"""What a planted fault is."""

from __future__ import annotations

from typing import Literal, NamedTuple

Where = Literal[
    "vocabulary", "engine", "optimiser", "feed", "clock", "snapshot", "workload", "certificate", "explanation"
]

COUNTED = "        self._calls = getattr(self, '_calls', 0) + 1\n"
"""The first line of a step that counts its calls."""

LATER = COUNTED + "        if self._calls > 1:\n            "
"""What stands before the one line with which a step begins from its second call on."""

SKIPS = COUNTED + "        if self._calls % 2 == 0:\n            return\n"
"""The first lines of a step of which every second call does nothing."""

STREAMED = """\
        self._streamed = getattr(self, "_streamed", 0) + 1
        if self._streamed % 2 == 0:
            return
"""
"""The first lines of a step that does nothing where the one before it was not waited for."""

WAITED = "        self._streamed = 0\n"
"""The first line of the wait that such a step needs."""

IDLES = """\
        if getattr(self, "_ran", False):
            return
        self._ran = True
"""
"""The first lines of a step that does something in its first call alone."""

HALVES = "        batch = tuple(part[: len(part) // 2] for part in batch)\n"
"""The first line of a step that takes the first half of its batch."""


class Mutant(NamedTuple):
    """A fault, planted by replacing text in a copy of the file where it lives: a text that is gone fails loudly."""

    framework: str
    """Its folder; empty for what belongs to no framework."""
    where: Where
    file: str
    """In the framework's folder, or in that of bakeoff's sources where it belongs to none."""
    name: str
    """What is wrong, in plain words."""
    changes: list[tuple[str, str]]
    """Each text, which stands in the file once, and what stands there in its place."""
    asked: dict[str, str]
    """Which questions are asked (`judging.py` says what there is to ask), and the check that has to fail, or one of
    several with "or" between them; empty for a question whose checks are known to pass."""
    equivalent: str = ""
    """Why nothing can catch it: it changes no number. Then all that is asked gives the same bits as without it."""

    @property
    def id(self) -> str:
        """Return a name that no other mutant has."""
        return f"{self.framework or self.where}-{self.name}"
