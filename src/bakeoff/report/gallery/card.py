"""What the list of a gallery says of one undertaking: what is searched, filtered, sorted and shown."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

import msgspec

from bakeoff.judge.explanation import Explanation
from bakeoff.judge.outcome import Outcome
from bakeoff.judge.search import SearchOutcome
from bakeoff.judge.study import StudyOutcome
from bakeoff.report.gallery.found import Kind
from bakeoff.report.standings import kind, slower_first
from bakeoff.spec.acceptance import AcceptanceOutcome
from bakeoff.spec.text import plain

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bakeoff.report.page import Page
    from bakeoff.spec.comparison import Comparison, ContenderPlan

Undertaken = Outcome | StudyOutcome | SearchOutcome | AcceptanceOutcome | Explanation

DECIDED = "decided"
"""A pair of which one is faster, whichever of the two."""
NOT_RANKED = "not ranked"
"""A comparison in which nobody is ranked."""
ALONE = "one contender"
"""A comparison that has nobody to compare with."""

_DATE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d")


class Card(msgspec.Struct, frozen=True, kw_only=True):
    """One entry of the list; what is not known is empty."""

    slug: str
    kind: Kind
    title: str
    """The work in one line."""
    headline: str
    """The answer in a sentence."""
    created_at: str
    """To the minute, UTC: "2026-11-23T06:58"."""
    workloads: list[str] = []
    scenarios: list[str] = []
    devices: list[str] = []
    """Where steps ran, with the name of it: "cpu: AMD EPYC"."""
    frameworks: list[str] = []
    versions: list[str] = []
    """Of the frameworks' own packages, each behind its framework's name."""
    verdicts: dict[str, int] = {}
    """How many pairs are decided, equal, undecided or without a verdict; of an acceptance, checks by their state."""
    ratio: float | None = None
    """The largest of the pairs, at least 1."""
    study: str = ""
    """The slug of the study that it is a part of."""
    comparisons: int = 0
    """How many a study has."""
    warnings: int = 0
    picture: str = ""
    """What the picture is called; empty where there is none."""
    width: int = 0
    height: int = 0
    """Of the picture, in pixels."""


def card_of(page: Page, outcome: Undertaken, slug: str, study: str) -> Card:
    """Return the card of what was undertaken, still without its picture."""
    outcomes, plans = _outcomes(outcome), _plans(outcome)
    ratios = [slower_first(pair).ratio for one in outcomes for pair in one.pairs if pair.ratio]
    versions = {
        f"{name} {contender.versions[name]}"
        for one in outcomes
        for contender in one.contenders
        if (name := contender.plan.contender.framework) in contender.versions
    }
    return Card(
        slug=slug,
        kind=_kind(outcome),
        title=plain(page.title),
        headline=plain(page.headline),
        created_at=_minute(_created_at(outcome)),
        workloads=_sorted(one.workload.name for one in plans),
        scenarios=_sorted(one.scenario for one in plans),
        devices=_sorted(_device(one, plan) for one in plans for plan in one.contenders) or _checked_device(outcome),
        frameworks=_sorted(plan.contender.framework for one in plans for plan in one.contenders),
        versions=_sorted(versions),
        verdicts=_verdicts(outcome, outcomes),
        ratio=max((one for one in ratios if one is not None), default=None),
        study=study,
        comparisons=len(outcome.study.points) if isinstance(outcome, StudyOutcome) else 0,
        warnings=sum(len(section.words) for section in page.sections if section.kind == "warnings"),
    )


def _kind(outcome: Undertaken) -> Kind:
    """Return what was undertaken, in a word."""
    if isinstance(outcome, StudyOutcome):
        return "study" if outcome.study.reproduces is None else "reproduction"
    if isinstance(outcome, Explanation):
        return "explanation"
    if isinstance(outcome, SearchOutcome):
        return "search"
    return "comparison" if isinstance(outcome, Outcome) else "acceptance"


def _outcomes(outcome: Undertaken) -> list[Outcome]:
    """Return the comparisons that an undertaking consists of."""
    match outcome:
        case StudyOutcome():
            return outcome.outcomes
        case Explanation():
            return [outcome.outcome]
        case Outcome():
            return [outcome]
    return []


def _plans(outcome: Undertaken) -> list[Comparison]:
    """Return what was to be compared; a search has one, an acceptance none of its own."""
    if isinstance(outcome, SearchOutcome):
        return [outcome.search.plan]
    return [one.comparison for one in _outcomes(outcome)]


def _created_at(outcome: Undertaken) -> str:
    """Return when it was begun, as its file says."""
    match outcome:
        case StudyOutcome():
            return outcome.created_at
        case AcceptanceOutcome():
            return outcome.acceptance.created_at
    (plan,) = _plans(outcome)
    return plan.created_at


def _minute(created_at: str) -> str:
    """Return a time to the minute; empty for what is none."""
    found = _DATE.match(created_at)
    return found[0] if found else ""


def _device(comparison: Comparison, plan: ContenderPlan) -> str:
    """Return where a contender ran: "cuda: NVIDIA A100"; the processor is named for whatever is no GPU."""
    device = plan.contender.options.get("device", "")
    gpu = comparison.machine.get("gpu")
    name = gpu if gpu and device not in ("", "cpu") else comparison.machine.get("processor")
    return ": ".join(part for part in (device, str(name or "")) if part)


def _checked_device(outcome: Undertaken) -> list[str]:
    """Return the device that an acceptance is about, with its name."""
    if not isinstance(outcome, AcceptanceOutcome):
        return []
    acceptance = outcome.acceptance
    name = (acceptance.device != "cpu" and acceptance.machine.get("gpu")) or acceptance.machine.get("processor")
    return _sorted([": ".join(part for part in (acceptance.device, str(name or "")) if part)])


def _verdicts(outcome: Undertaken, outcomes: list[Outcome]) -> dict[str, int]:
    """Return how many pairs have which verdict."""
    if isinstance(outcome, AcceptanceOutcome):
        return dict(sorted(Counter(check.state for check in outcome.acceptance.checks).items()))
    found: Counter[str] = Counter()
    for one in outcomes:
        ranked = sum(contender.status == "ranked" for contender in one.contenders)
        if not one.pairs:
            found[ALONE if ranked else NOT_RANKED] += 1
        for pair in one.pairs:
            word = kind(pair)
            found[DECIDED if word in ("faster", "slower") else word] += 1
    return dict(sorted(found.items()))


def _sorted(names: Iterable[str]) -> list[str]:
    """Return names in order, each once, fit to be shown; empty ones are left out."""
    return sorted({plain(name) for name in names if name})
