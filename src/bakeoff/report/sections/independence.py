"""Independence: whether rounds resemble their neighbours, and whether step times move within a round."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bakeoff.report.page import Subject
from bakeoff.report.standings import ranked
from bakeoff.report.units import percent, rounded
from bakeoff.spec.text import count

if TYPE_CHECKING:
    from bakeoff.judge.outcome import Outcome


def _cautions(outcome: Outcome) -> list[str]:
    """Return what makes the intervals of a comparison narrower than they should be."""
    said = []
    found = outcome.resemblance
    if found is not None and found.is_found:
        said.append(
            "Rounds followed each other: neighbouring rounds resemble each other more than independent ones do "
            f"(von Neumann ratio {rounded(found.ratio)} over {count(found.rounds, 'round')}; the same rounds in random "
            f"orders give less than {rounded(found.low)} in 5 % of them). The intervals may be too narrow: race "
            "again at another time, and set both side by side (bakeoff diff)."
        )
    for one in ranked(outcome):
        if one.trend is not None and one.trend.is_found:
            longer = "longer" if one.trend.change > 0 else "shorter"
            said.append(
                f"{one.label}: within a round its step gets {percent(abs(one.trend.change))} {longer} from the first "
                f"turn to the last (in {count(one.trend.rounds, 'round')}), so that its step time depends on which "
                "turns are counted. Whole runs count all steps (--epochs)."
            )
    return said


def _data(outcome: Outcome) -> dict[str, Any]:
    """Return both findings, and how long a round takes; null where it is not known."""
    resemblance = {name: getattr(outcome.resemblance, name, None) for name in ("ratio", "low", "rounds", "is_found")}
    names = ("change", "low", "high", "rounds", "is_found")
    trends = [
        {"contender": one.label} | {name: getattr(one.trend, name, None) for name in names} for one in ranked(outcome)
    ]
    return {"round_s": outcome.round_s, "independence": {"resemblance": resemblance, "trends": trends}}


INDEPENDENCE = Subject(cautions=_cautions, data=_data)
