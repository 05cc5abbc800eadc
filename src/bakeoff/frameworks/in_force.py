"""The value that an option has in a process: each folder's files keep what they compute by it."""

from __future__ import annotations


class InForce:
    """The value of an option in this process, and what was last computed as what."""

    def __init__(self, value: str, *kinds: str) -> None:
        """Begin with the option's default; nothing of these kinds was computed yet."""
        self.value = value
        self.computed: dict[str, str | None] = dict.fromkeys(kinds)
        """By kind: what it was last computed as, where that is not known before; None where nothing was."""

    def choose(self, value: str) -> None:
        """Take a value for what is computed from now on."""
        self.value = value
        self.computed = dict.fromkeys(self.computed)

    def settings(self) -> dict[str, str | None]:
        """Return what has computed each kind, as a record keeps it; None where there was none."""
        return dict(self.computed)
