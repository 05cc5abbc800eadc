"""An acceptance: the checks that prove or refuse, on one machine and device, what stand-ins could not."""

from __future__ import annotations

from typing import Literal

import msgspec

State = Literal["passed", "failed", "inconclusive", "not applicable", "not reached"]
"""failed: what was expected did not happen, or the check could not be made.  inconclusive: it was made, and the data
carry neither answer.  not applicable: there is nothing to check here.  not reached: its turn has not come."""

STATES: tuple[State, ...] = ("passed", "failed", "inconclusive", "not applicable", "not reached")


class Finding(msgspec.Struct, frozen=True):
    """What a check has found."""

    state: State
    found: str
    """In a sentence or two, with the figures."""


class CheckResult(msgspec.Struct, frozen=True, kw_only=True):
    """One check: what was expected, and what was found."""

    key: str
    """The name of its folder, which holds its records."""
    title: str
    expected: str
    most_s: float
    """About how long it may take where the whole has an hour."""
    state: State = "not reached"
    found: str = ""
    took_s: float | None = None


class Acceptance(msgspec.Struct, frozen=True, kw_only=True):
    """The content of acceptance.json, written before the first check and after each."""

    version: int = 1
    id: str
    created_at: str
    bakeoff: str
    """The version of bakeoff."""
    contenders: tuple[str, ...]
    """As they were written."""
    excluded: dict[str, str] = {}
    """Contenders that cannot race here, each with the reason."""
    device: str
    size: str
    quick: bool = False
    """Fewer workloads, seeds and rounds."""
    seed: int = 0
    machine: dict[str, str | int | float | None]
    command: str = ""
    """The command line that goes on with it, or repeats it elsewhere."""
    checks: list[CheckResult]
    redacted: bool = False
    """Names of people, machines and folders were taken out, to be sent on."""

    def count(self, state: State) -> int:
        """Return how many checks are in a state."""
        return sum(check.state == state for check in self.checks)

    @property
    def has_passed(self) -> bool:
        """Whether every check that is applicable has passed, and there was one."""
        return self.count("passed") > 0 and self.count("passed") + self.count("not applicable") == len(self.checks)


class AcceptanceOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """An acceptance, and where its records are."""

    acceptance: Acceptance
    path: str
    """Its folder, or the bundle that it was read from."""
