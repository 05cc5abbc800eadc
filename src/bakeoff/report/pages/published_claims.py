"""One sentence for each claim of a document: it holds here, does not, or is inconclusive, with the interval."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from bakeoff.judge.claims import judged
from bakeoff.report.page import Line, Section, Table
from bakeoff.report.units import listed, percent
from bakeoff.spec.text import count
from bakeoff.stats.digits import digits, significant
from bakeoff.stats.size import LEVEL

if TYPE_CHECKING:
    from bakeoff.judge.claim_quantity import Standing
    from bakeoff.judge.claims import Judged
    from bakeoff.judge.study import StudyOutcome
    from bakeoff.spec.published import ClaimKind, PublishedStudy
    from bakeoff.spec.verdict import Interval

TITLE = "What the document claims"
_WILD = 900.0
"""Percent between the ends of an interval that tells not even the magnitude of a ratio, as of ten times."""

_ONE: dict[Standing, str] = {
    "holds": "holds here",
    "does not hold": "does not hold here",
    "inconclusive": "is inconclusive here",
    "not measured": "is not measured here",
}
_ALONE: dict[Standing, str] = {"inconclusive": "inconclusive here", "not measured": "not measured here"}
"""Behind a colon."""
_MANY: dict[Standing, str] = {
    "holds": "hold here",
    "does not hold": "do not hold here",
    "inconclusive": "are inconclusive here",
    "not measured": "are not measured here",
}
_OF_DIRECTION: tuple[ClaimKind, ...] = ("more", "mean", "less-time")
"""Kinds whose percent, where they are there, decide nothing: which is more does, by however much."""


def claims_sections(study: StudyOutcome, published: PublishedStudy) -> list[Section]:
    """Return the claims, one sentence each, behind one that says how many hold; nothing where there are none."""
    found = judged(study, published)
    lines = [Line([_named(one), _said(one)]) for one in found]
    table = Table(["claim", "here"], lines, words=2)
    return [Section(title=TITLE, words=[_all(found)], tables=[table])] if found else []


def claims_told(study: StudyOutcome, published: PublishedStudy) -> str:
    """Return how many of the document's claims hold here; empty where there are none."""
    found = judged(study, published)
    return _counted(found) if found else ""


def _counted(found: list[Judged]) -> str:
    """Return how many claims hold."""
    counts = Counter(one.standing for one in found)
    if len(found) == 1:
        return f"The document's claim {_ONE[found[0].standing]}."
    if len(counts) == 1:
        return f"All {len(found)} claims of the document {_MANY[found[0].standing]}."
    told = [f"{number} {(_ONE if number == 1 else _MANY)[word]}" for word in _ONE if (number := counts[word])]
    return f"Of {len(found)} claims of the document {listed(told)}."


def _all(found: list[Judged]) -> str:
    """Return how many claims hold, and what their intervals are."""
    said = _counted(found)
    together = found[0].together
    if not together or not any(one.percent for one in found):
        return said
    if together == 1:
        return f"{said} It rests on one interval, of {percent(LEVEL)}."
    who = "It rests" if len(found) == 1 else "They rest"
    return f"{said} {who} on {together} intervals, which hold all together in {percent(LEVEL)} of such studies."


def sentence(one: Judged) -> str:
    """Return a claim with what became of it: "... (insight 2): holds here: 12 % (8 to 17 %), there 15 %."."""
    return f"{_named(one)}: {_said(one)}."


def _named(one: Judged) -> str:
    """Return a claim with where it stands."""
    return f"{one.claim.text} ({one.claim.where})" if one.claim.where else one.claim.text


def _said(one: Judged) -> str:
    """Return what became of a claim."""
    claim, word = one.claim, _ALONE.get(one.standing, _ONE[one.standing]) + _beyond(one)
    if one.percent is None:
        return f"{word}: {one.reason}"
    parts = [f"{_quantity(one)}{_level(one.percent)}", *([f"there {claim.percent:g} %"] if claim.percent else [])]
    near = "give or take" if claim.kind == "about" else "taken as"
    parts += [f"{near} {claim.taken_percent:g} %"] if claim.taken_percent else []
    missing = len(claim.comparisons) - one.compared
    parts += [f"in {one.compared} of its {len(claim.comparisons)} comparisons"] if missing else []
    parts += [f"the rest is not measured: {one.reason}"] if one.reason else []
    return f"{word}: {', '.join(parts)}"


def _beyond(one: Judged) -> str:
    """Return ", by less" or ", by more" where a claim's direction holds, and its size is beyond the interval here."""
    claim, here = one.claim, one.percent
    if one.standing != "holds" or claim.kind not in _OF_DIRECTION or not claim.percent or here is None:
        return ""
    if here.low <= claim.percent <= here.high:
        return ""
    return ", by less" if here.high < claim.percent else ", by more"


def _quantity(one: Judged) -> str:
    """Return which of several numbers the percent are of: "smallest of 3: "; empty where there is one."""
    if one.intervals == 1:
        return ""
    if one.claim.kind == "grows":
        return f"for each doubling of the batch, over {count(one.intervals, 'comparison')}: "
    named = {
        "more": "smallest of",
        "most": "largest of",
        "at-least": "largest of",
        "within": "furthest apart of",
        "mostly-within": "what more than half keep within, of",
        "each": "smallest of",
        "least": "below the next of",
    }.get(one.claim.kind, "mean of")
    return f"{named} {one.intervals}: "


def _level(found: Interval) -> str:
    """Return percent with the digits that their interval carries: "12 % (8 to 17 %)"; of counts, which have none, 3."""
    if found.low == found.high:
        return f"{significant(found.estimate) if found.estimate else 0} %"
    if found.high - found.low > _WILD:
        return f"{significant(found.estimate, 2)} % (too noisy to say)"
    shown = digits(found.estimate, found.low, found.high, apart_from=(0.0,))
    return f"{shown.estimate} % ({shown.low} to {shown.high} %)"


def claims_data(study: StudyOutcome, published: PublishedStudy) -> list[dict[str, Any]]:
    """Return every claim for programs."""
    return [_data(one) for one in judged(study, published)]


def _data(one: Judged) -> dict[str, Any]:
    """Return one claim."""
    return {
        "text": one.claim.text,
        "where": one.claim.where or None,
        "published_percent": one.claim.percent or None,
        "taken_percent": one.claim.taken_percent or None,
        "standing": one.standing,
        "percent": one.percent.estimate if one.percent else None,
        "percent_interval": [one.percent.low, one.percent.high] if one.percent else None,
        "together": one.together,
        "comparisons": one.compared,
        "verdicts": [verdict.verdict for verdict in one.verdicts],
        "reason": one.reason or None,
        "sentence": sentence(one),
    }
