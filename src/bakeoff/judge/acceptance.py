"""What an acceptance concludes from the outcome of each check: pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bakeoff.certify.certificate import in_words
from bakeoff.judge.ping_pong import AGREED
from bakeoff.spec.acceptance import Finding
from bakeoff.stats.digits import digits, significant

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from bakeoff.judge.bare import AgainstBare
    from bakeoff.judge.outcome import ContenderOutcome, Outcome
    from bakeoff.judge.ping_pong import TwoWays
    from bakeoff.judge.search import SearchOutcome
    from bakeoff.spec.acceptance import State
    from bakeoff.spec.probe import ProbeAnswer
    from bakeoff.spec.selftest import TimerVerdict
    from bakeoff.spec.verdict import Certificate, Check, Interval, Verdict

ROOM = 0.5
"""The largest error of a certificate, as a share of what is allowed, that leaves room for another machine's roundings:
tolerances were found on processors, and a GPU may add in any order."""

FEWEST_ROUNDS = 3
"""Fewer give no verdict, so that none of them can be wrong."""


def worst(states: Iterable[State]) -> State:
    """Return the state of a whole by those of its parts."""
    known = set(states) - {"not applicable"}
    order: tuple[State, ...] = ("failed", "not reached", "inconclusive", "passed")
    return next((state for state in order if state in known), "not applicable")


def devices(answers: Mapping[str, ProbeAnswer], reasons: Mapping[str, str]) -> Finding:
    """Return whether every contender's environment can be used on the device; `reasons` has those that cannot."""
    if reasons or not answers:
        told = "; ".join(f"{label}: {reason}" for label, reason in reasons.items())
        return Finding("failed", told or "no environment was asked")
    return Finding("passed", "; ".join(f"{label} {_answered(answer)}" for label, answer in answers.items()))


def _answered(answer: ProbeAnswer) -> str:
    """Return a framework's versions, the CUDA that it is built for, and its devices."""
    versions = [f"{name} {version}" for name, version in answer.versions.items()]
    versions += [f"CUDA {answer.cuda}"] if answer.cuda else []
    return f"({', '.join(versions)}; {', '.join(answer.devices)})"


def timers(verdicts: Sequence[TimerVerdict], labels: Sequence[str]) -> Finding:
    """Return whether every contender's timer has passed its self-test."""
    states: dict[str, State] = {"passed": "passed", "failed": "failed", "untold": "inconclusive"}
    known = {verdict.contender: verdict for verdict in verdicts}
    missing = [label for label in labels if label not in known]
    told = [f"{label}: its self-test came to nothing" for label in missing]
    for verdict in verdicts:
        checks = ", ".join(f"{check.name} {check.outcome}" for check in verdict.checks)
        why = f": {verdict.reason}" if verdict.reason else ""
        told.append(f"{verdict.contender} {verdict.outcome} ({checks}){why}")
    state = "failed" if missing else worst(states[verdict.outcome] for verdict in verdicts)
    return Finding(state, "; ".join(told))


def certificates(found: Mapping[int, Sequence[Certificate]], seeds: int) -> Finding:
    """Return whether all certificates of all seeds passed, with room; fewer seeds than wanted carry no answer."""
    refused = [(seed, one) for seed, some in found.items() for one in some if not one.passed]
    if refused:
        told = [f"{one.contender}, seed {seed}: {one.reason}" for seed, one in refused]
        return Finding("failed", f"{len(refused)} refused: {'; '.join(told)}")
    total = sum(len(some) for some in found.values())
    closest = max(
        (
            (_share(check), seed, one.contender, check)
            for seed, some in found.items()
            for one in some
            for check in one.checks
            if check.error is not None
        ),
        key=lambda item: item[0],
        default=None,
    )
    said = f"{total} certificates at {len(found)} of {seeds} seeds passed"
    if closest is not None:
        share, seed, label, check = closest
        said += f"; largest error: {share:.2f} of what is allowed ({label}, {in_words(check)}, seed {seed})"
    enough = len(found) == seeds and all(found.values()) and closest is not None and closest[0] <= ROOM
    return Finding("passed" if enough else "inconclusive", said)


def _share(check: Check) -> float:
    """Return a check's error as a share of what is allowed; 0 where it has none."""
    return check.error / check.allowed if check.error and check.allowed else 0.0


def injected(certificate: Certificate, honest: str, planted: str) -> Finding:
    """Return whether a certificate was refused where another precision was planted than the one that was asked for."""
    if certificate.passed:
        return Finding("failed", f"{planted} in the place of {honest} was given a certificate")
    failed = [check for check in certificate.checks if not check.passed]
    numeric = [check for check in failed if check.error is not None and check.stage == "timed"]
    if not numeric:
        return Finding("inconclusive", f"refused, and not for its arithmetic: {certificate.reason}")
    parts = ", ".join(f"{check.name} {check.error:.1e} where {check.allowed:.1e} is allowed" for check in numeric)
    return Finding("passed", f"refused: {parts}")


def itself(races: Sequence[Outcome]) -> Finding:
    """Return whether a contender against itself had no winner: one race in twenty has one by chance, two hardly."""
    if not races or not races[-1].verdicts:
        return Finding("failed", f"it could not be raced against itself: {_lost(races[-1]) if races else 'no race'}")
    verdict = races[-1].verdicts[0]
    said = f"{verdict.verdict}, ratio {_ratio(verdict)}, {verdict.rounds} rounds"
    if verdict.verdict in ("faster", "slower"):
        state: State = "failed" if len(races) > 1 else "inconclusive"
        return Finding(state, f"a winner in {'each of two races' if len(races) > 1 else 'the only race'}: {said}")
    if verdict.rounds < FEWEST_ROUNDS:
        return Finding("inconclusive", said)
    return Finding("passed", f"no winner: {said}" + (", after a race with one" if len(races) > 1 else ""))


def tf32(race: Outcome) -> Finding:
    """Return whether TF32, which is named second, is faster than float32."""
    if not race.verdicts:
        return Finding("failed", f"there is no verdict: {_lost(race)}")
    verdict = race.verdicts[0]
    first_is_float32 = verdict.first == race.contenders[0].label
    wanted = "slower" if first_is_float32 else "faster"
    said = f"{verdict.first} {verdict.verdict}, ratio {_ratio(verdict)}, {verdict.rounds} rounds"
    if verdict.verdict == wanted:
        return Finding("passed", said)
    return Finding("inconclusive" if verdict.verdict == "undecided" else "failed", said)


def race(outcome: Outcome) -> Finding:
    """Return whether every contender of a race was certified and timed."""
    lost = [one for one in outcome.contenders if one.status != "ranked"]
    excluded = [f"{label}: {reason}" for label, reason in outcome.comparison.excluded.items()]
    if lost or excluded:
        return Finding("failed", "; ".join([*(f"{one.label} {one.status}: {one.reason}" for one in lost), *excluded]))
    times = [f"{one.label} {1e3 * one.median_step_s:.3g} ms" for one in outcome.contenders if one.median_step_s]
    alone = "resident together" if outcome.resident else "one after another"
    return Finding("passed", f"{', '.join(times)}; {outcome.rounds} rounds, workers {alone}; {outcome.ended}")


def light(outcome: Outcome) -> Finding:
    """Return whether no contender's step is faster than what was reached on this machine allows."""
    found = [_below(one) for one in outcome.contenders]
    return Finding(worst(one.state for one in found), "; ".join(one.found for one in found))


def _below(one: ContenderOutcome) -> Finding:
    """Return whether one contender's step is slow enough to be true."""
    if one.light is None:
        why = one.reason or "the machine's peak, its work or its step time is not known"
        return Finding("failed" if one.status == "refused" else "inconclusive", f"{one.label}: {why}")
    if one.light.least_share > 1.0:
        return Finding("failed", f"{one.label}: {one.light.finding}")
    rate, peak = 2e-9 * one.light.macs_per_s, one.light.peak
    share = f"{100 * one.light.macs_share:.2g} % of the {2e-9 * peak.macs_per_s:,.4g} GFLOP/s by {peak.macs_by}"
    return Finding("passed", f"{one.label} {rate:,.4g} GFLOP/s, {share}")


BUSY = "; other processes were busy: make it again when they rest"


def ping_pong(found: Sequence[TwoWays], *, calm: bool | None = None, lost: Sequence[str] = ()) -> Finding:
    """Return whether every contender's step takes as long in ping-pong as alone; a busy machine cannot deny it.

    `lost` says which trials failed, and of what.
    """
    states: list[State] = [_agreement(one.agrees, calm=calm) for one in found]
    told = [f"{one.label} {_interval(one.quickest)}, {one.rounds} rounds" for one in found]
    state = worst(states)
    return Finding(state, "; ".join([*told, *lost]) + (BUSY if calm is False and state != "passed" else ""))


def bare(found: AgainstBare, *, calm: bool | None = None) -> Finding:
    """Return whether bakeoff's step takes as long as the framework's bare loop; a busy machine cannot deny it."""
    said = f"{_interval(found.ratio)}, {found.rounds} rounds"
    if found.bakeoff_s is not None and found.bare_s is not None:
        said += f"; {1e3 * found.bakeoff_s:.4g} ms against {1e3 * found.bare_s:.4g} ms"
    state = _agreement(found.agrees, calm=calm)
    return Finding(state, said + (BUSY if calm is False and state != "passed" else ""))


def batches(outcome: SearchOutcome) -> Finding:
    """Return whether the largest batch was found for every contender."""
    states: dict[str, State] = {"found": "passed", "unbounded": "passed", "unfinished": "inconclusive"}
    told = [
        f"{one.label} {one.state}"
        + (f" {one.largest:,}" if one.largest else "")
        + (f": {one.reason}" if one.reason else "")
        for one in outcome.found
    ]
    search = outcome.search
    limit_bytes = search.limit_bytes if search.gpu_limit_bytes is None else search.gpu_limit_bytes
    limit = f"limit {limit_bytes / 1e9:,.3g} GB for all"
    return Finding(worst(states.get(one.state, "failed") for one in outcome.found), f"{'; '.join(told)}; {limit}")


def _agreement(agrees: bool | None, *, calm: bool | None) -> State:  # noqa: FBT001 - an answer, and no switch
    """Return the state that an agreement stands for."""
    if agrees is None or (not agrees and calm is False):
        return "inconclusive"
    return "passed" if agrees else "failed"


def _interval(ratio: Interval | None) -> str:
    """Return a ratio with its interval."""
    return "no interval" if ratio is None else _with_ends(ratio.estimate, ratio.low, ratio.high)


def _ratio(verdict: Verdict) -> str:
    """Return a verdict's ratio with its interval."""
    if verdict.ratio is None:
        return "unknown"
    if verdict.low is None or verdict.high is None:
        return significant(verdict.ratio)
    return _with_ends(verdict.ratio, verdict.low, verdict.high)


def _with_ends(ratio: float, low: float, high: float) -> str:
    """Return a ratio and its interval with the digits that it supports, and its side of each limit."""
    shown = digits(ratio, low, high, apart_from=(1.0, 1.0 - AGREED, 1.0 + AGREED))
    return f"{shown.estimate} ({shown.low} to {shown.high})"


def _lost(outcome: Outcome) -> str:
    """Return why contenders were not timed."""
    reasons = [f"{one.label}: {one.reason}" for one in outcome.contenders if one.reason]
    reasons += [f"{label}: {reason}" for label, reason in outcome.comparison.excluded.items()]
    return "; ".join(reasons) or "no round was finished"
