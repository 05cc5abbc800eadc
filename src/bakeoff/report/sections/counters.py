"""The counters that are read at every block: a new one is a head, a cell and, where it may mislead, a warning here."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from bakeoff.judge.counters import GIVES_BACK, MOST_FAULTS_PER_STEP
from bakeoff.report.page import Subject
from bakeoff.report.units import UNKNOWN, rounded
from bakeoff.spec.text import count

if TYPE_CHECKING:
    from bakeoff.judge.counters import BlockCounters
    from bakeoff.judge.outcome import Outcome

HEADS = ["cores used", "page faults a step"]


def cells(counters: BlockCounters) -> list[str]:
    """Return the cells under these heads."""
    numbers = [counters.cores_used, counters.minor_faults_per_step]
    return [UNKNOWN if number is None else rounded(number) for number in numbers]


def _cautions(outcome: Outcome) -> list[str]:
    """Return the page faults that waited for a disk."""
    return [
        f"{one.label}: {count(one.counters.major_faults, 'page fault')} within its blocks had to wait for a disk: "
        "memory was short, or a part of a program was read for the first time. Free memory, and run again."
        for one in outcome.contenders
        if one.counters.major_faults
    ]


def fault_notes(outcome: Outcome) -> list[str]:
    """Return whose step time holds the work of fetching memory again."""
    return [
        f"{one.label}: {rounded(faults)} page faults a step: memory that it frees goes back to the system and is "
        "fetched again, and its step time holds that work"
        f"{'; the option malloc=keep may have it kept' if one.settings.get('malloc') in GIVES_BACK else ''}."
        for one in outcome.contenders
        if (faults := one.counters.minor_faults_per_step) is not None and faults > MOST_FAULTS_PER_STEP
    ]


COUNTERS = Subject(cautions=_cautions, fields=lambda contender: msgspec.to_builtins(contender.counters))
