"""From a comparison's records to its explanation: nothing else is read, and nothing is started."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bakeoff.judge.causes import causes_of, unjudged
from bakeoff.judge.checks import with_checks
from bakeoff.judge.comparison import judge_comparison
from bakeoff.judge.explanation import Explanation
from bakeoff.judge.gap import gaps
from bakeoff.judge.profile import profiles_of
from bakeoff.store.results import read_records

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from bakeoff.judge.outcome import Outcome
    from bakeoff.spec.record import Record


def explain(folder: Path) -> Explanation:
    """Return the explanation of the comparison in a folder; raise StoreError where there is none."""
    found = explanation(judge_comparison(folder), list(read_records(folder).records.values()))
    return with_checks(found, folder, explain)


def explanation(outcome: Outcome, records: Sequence[Record]) -> Explanation:
    """Return what the records say of each ranked contender's step, and of each pair's gap."""
    found = gaps(outcome, records)
    return Explanation(
        outcome=outcome,
        profiles=profiles_of(outcome, records),
        gaps=found,
        causes=causes_of(outcome, found, records),
        unjudged=unjudged(outcome, records),
    )
