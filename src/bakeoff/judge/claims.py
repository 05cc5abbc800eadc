"""What a document claims in words, each claim judged by the rounds made here: holds here, does not, or neither is sure.

All intervals that a study's claims rest on hold together (stats/together.py); claim_quantity.py makes of them the one
quantity that decides a claim.
"""

from __future__ import annotations

import math
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from bakeoff.judge.claim_quantity import SUMS, Standing, in_percent, quantity, standing_of
from bakeoff.judge.epochs import epoch_times
from bakeoff.judge.reproduced_parts import NO_DEVICE, part_lines
from bakeoff.judge.reproduced_ticks import ticks_told
from bakeoff.judge.reproduction import contender_of, hole, is_early, verdict_on
from bakeoff.spec.parts import OF_STEPS
from bakeoff.spec.published import Claim
from bakeoff.spec.verdict import Interval, Verdict
from bakeoff.stats.together import Estimate, of_rounds, of_values, of_verdict

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from bakeoff.judge.reproduced_parts import PartLine
    from bakeoff.judge.study import PointOutcome, StudyOutcome
    from bakeoff.spec.published import PublishedStudy

    _Traced = Mapping[tuple[str, str, str], PartLine]
    """By comparison, row and what it is a part of."""

_EVERY = ("more", "most", "within", "each")
"""Kinds that say something of each comparison."""


class Judged(msgspec.Struct, frozen=True, kw_only=True):
    """A claim with what was measured of it here."""

    claim: Claim
    standing: Standing
    percent: Interval | None
    """Its quantity here, as the claim's own percent are meant; None where that is not known. Of counts both ends
    are it."""
    compared: int
    """Comparisons of the claim that are in what was asked for here."""
    intervals: int
    """Of rows against each other, or of each row's share, in these comparisons: what its quantity is made of."""
    verdicts: list[Verdict]
    """On the time of the second row against the first, where the claim is about a step's speed."""
    reason: str
    """Why it was not measured, or is inconclusive whatever its interval is; of ticks, how many agree; or empty."""
    together: int
    """As many intervals hold together."""


class _Term(NamedTuple):
    """Two rows in one comparison; of an overhead or a share, one row."""

    point: PointOutcome
    first: str
    second: str


class _Reading(NamedTuple):
    """A claim before the number of intervals is known."""

    claim: Claim
    points: list[PointOutcome]
    keys: frozenset[Hashable]
    """The intervals that it rests on, measured or still to come."""
    estimates: list[Estimate]
    reason: str
    told: Standing | None = None
    """Its standing, where no interval decides it."""


def judged(study: StudyOutcome, published: PublishedStudy) -> list[Judged]:
    """Return every claim, in the order of the study's file."""
    points = {one.point.title: one for one in study.points}
    traced: _Traced = {(one.comparison, one.row, one.of): one for one in part_lines(study, published)}
    read = []
    for claim in published.claims:
        mine = [points[name] for name in claim.comparisons if name in points]
        if claim.of == "ticks" and mine and not claim.unmeasured:
            told = ticks_told(study, published, claim)
            read.append(_Reading(claim, mine, frozenset(), [], told.reason, told.standing))
        else:
            read.append(_read(claim, mine, _left_out(study, published, claim), traced))
    together = len({key for one in read for key in one.keys})
    return [_judged(one, together) for one in read]


def _left_out(study: StudyOutcome, published: PublishedStudy, claim: Claim) -> str:
    """Return why comparisons of a claim are not in what was asked for here."""
    here = study.study.reproduces
    named = [one for one in published.comparisons if one.name in claim.comparisons]
    if here is not None and here.scaled and not any(one.scaled for one in named):
        return "not in the scaled variant"
    return "none of the rows can race here"


# --- What was measured --------------------------------------------------------------------------------------------


def _read(claim: Claim, points: list[PointOutcome], left_out: str, traced: _Traced) -> _Reading:
    """Return what a claim rests on; nothing, where a row that it needs can never be measured here."""
    if claim.unmeasured or not points:
        return _Reading(claim, points, frozenset(), [], claim.unmeasured or left_out)
    if claim.is_of_shares:
        return _read_shares(claim, points, traced)
    if claim.kind == "grows" and len({one.point.request.batch_size for one in points}) == 1:
        return _Reading(claim, points, frozenset(), [], "one batch size alone shows no growth")
    terms = [_Term(point, *pair) for point in points for pair in _pairs(claim)]
    asked = [term for term in terms if _is_asked(term)]
    gone = "; ".join(sorted({hole(point, row) for point in points for row in claim.rows} - {""}))
    if len(asked) < len(terms) and claim.kind not in _EVERY:
        return _Reading(claim, points, frozenset(), [], gone)
    found = [_estimate(claim, term) for term in asked]
    known = [one for one in found if one is not None]
    keys = frozenset(_keys(claim, asked))
    return _Reading(claim, points, keys, known, "" if len(known) == len(terms) else gone or _unknown(claim, asked))


def _read_shares(claim: Claim, points: list[PointOutcome], traced: _Traced) -> _Reading:
    """Return the shares that a claim rests on: of each of its rows in each comparison.

    Counts of a graph are exact, and widen no interval.
    """
    if claim.kind == "least" and (len(points) == 1 or points[0].point.title != claim.comparisons[0]):
        return _Reading(claim, points, frozenset(), [], "a comparison that it needs is not in what was asked for here")
    terms = [_Term(point, row, "") for point in points for row in claim.rows]
    pairs = [(term, traced.get((term.point.point.title, term.first, claim.of))) for term in terms]
    lines = [(term, line) for term, line in pairs if line is not None]
    found = [_share(line) for _, line in lines]
    known = [one for one in found if one is not None]
    is_told = claim.of in OF_STEPS and all(line.hole != NO_DEVICE for _, line in lines)
    keys = _keys(claim, [term for term in terms if _is_asked(term)]) if is_told else []
    gone = "; ".join(sorted({line.hole for _, line in lines} - {""}))
    reason = "" if len(known) == len(found) else gone or "too few rounds of traces"
    return _Reading(claim, points, frozenset(keys), known, reason)


def _share(line: PartLine) -> Estimate | None:
    """Return a share as it is, and not as a logarithm; None where it is not known."""
    if line.measured is None:
        return None
    if line.of not in OF_STEPS:
        return Estimate(line.measured.mean, 0.0, 1.0)
    return of_rounds(line.measured.interval, line.rounds) if line.measured.interval else None


def _is_asked(term: _Term) -> bool:
    """Return whether contenders stand for the rows here: whether one was lost later does not count."""
    labels = [term.point.point.rows.get(row) for row in (term.first, term.second) if row]
    return all(label is not None and label not in term.point.point.left_out for label in labels)


def _pairs(claim: Claim) -> list[tuple[str, str]]:
    """Return the rows that are held against each other, or each row where they are held against nothing."""
    if claim.is_of_rows:
        return [(row, "") for row in claim.rows]
    return list(pairwise(claim.rows) if claim.kind == "more" else combinations(claim.rows, 2))


def _keys(claim: Claim, terms: Sequence[_Term]) -> list[Hashable]:
    """Return the names of the intervals that a claim rests on, each the same in every claim that reads it."""
    named = [(term.point.point.title, frozenset((term.first, term.second)), claim.of, claim.epoch) for term in terms]
    if claim.kind in SUMS and len(named) > 1:
        return [(claim.kind == "grows", tuple(named))]
    return list(named)


def _estimate(claim: Claim, term: _Term) -> Estimate | None:
    """Return by how much the first has more than the second, as a logarithm; None where that is not known yet."""
    if claim.of == "overhead":
        return _overhead(term)
    if claim.of == "memory":
        return of_values(_peaks(term.point, term.first), _peaks(term.point, term.second))
    if claim.of == "run":
        return of_values(*(_runs(term.point, row) for row in (term.second, term.first)))
    if claim.epoch is not None:
        return of_values(*(_epochs(term.point, row, claim.epoch) for row in (term.second, term.first)))
    verdict = _verdict(term)
    return of_verdict(verdict) if verdict else None


def _verdict(term: _Term) -> Verdict | None:
    """Return the verdict on the second's step time against the first's; None before there is one."""
    verdict = verdict_on(term.point, term.second, term.first)
    return verdict if verdict and not is_early(verdict) else None


def _overhead(term: _Term) -> Estimate | None:
    """Return the log-ratio of a row's step on several devices over that of the same contender on one."""
    label = term.point.point.rows.get(term.first)
    found = term.point.outcome.scalings if term.point.outcome else []
    known = next((one.verdict for one in found if one.label == label and not is_early(one.verdict)), None)
    estimate = of_verdict(known) if known else None
    return estimate._replace(centre=-estimate.centre) if estimate else None


def _peaks(point: PointOutcome, row: str) -> list[float]:
    """Return the logarithms of a row's peaks of memory, one a process."""
    known = contender_of(point, row)
    return [math.log(peak) for peak in (known.memory_peaks_bytes if known else []) if peak > 0]


def _runs(point: PointOutcome, row: str) -> list[float]:
    """Return the logarithms of the times of a row's whole runs, with the first step."""
    known = contender_of(point, row)
    return [math.log(one) for one in (known.whole.totals_s() if known and known.whole else []) if one > 0]


def _epochs(point: PointOutcome, row: str, epoch: int) -> list[float]:
    """Return the logarithms of the times of an epoch, one a whole run."""
    known = contender_of(point, row)
    return [math.log(one) for one in epoch_times(known.whole if known else None, epoch) if one > 0]


def _unknown(claim: Claim, terms: Sequence[_Term]) -> str:
    """Return why rows that were measured have no interval."""
    if claim.epoch is not None or claim.of == "run":
        return "too few whole runs came to their end"
    if claim.of == "memory":
        return "too few peaks of memory were read"
    if claim.of == "speed" and all(_verdict(term) for term in terms):
        return _CONTRADICTED
    return "too few rounds"


_CONTRADICTED = "rounds after a decision point the other way"
"""Why rows with a verdict tell no size."""


# --- What follows from it -----------------------------------------------------------------------------------------


def _judged(read: _Reading, together: int) -> Judged:
    """Return a claim with its standing."""
    claim = read.claim
    speeds = claim.of == "speed" and claim.epoch is None
    terms = [_Term(point, *pair) for point in read.points for pair in _pairs(claim)] if speeds else []
    standing, value = _found(read, together)
    return Judged(
        claim=claim,
        standing=standing,
        percent=in_percent(claim, value) if value else None,
        compared=len(read.points),
        intervals=len(read.estimates),
        verdicts=[verdict for term in terms if (verdict := _verdict(term))],
        reason=read.reason,
        together=together,
    )


def _found(read: _Reading, together: int) -> tuple[Standing, Interval | None]:
    """Return a claim's standing, and its quantity where that was measured."""
    if read.told:
        return read.told, None
    nothing: Standing = "inconclusive" if read.reason == _CONTRADICTED else "not measured"
    if not read.estimates or (read.reason and read.claim.kind not in _EVERY):
        return nothing, None
    outcomes = [one.outcome for one in read.points if one.outcome]
    value = quantity(read.claim, read.estimates, max(1, together), [one.comparison.batch_size for one in outcomes])
    standing = standing_of(read.claim, value, outcomes[0].comparison.procedure.margin)
    # One comparison is enough to refute what is said of each, whatever the others would have shown.
    return (standing, value) if not read.reason or standing == "does not hold" else (nothing, None)
