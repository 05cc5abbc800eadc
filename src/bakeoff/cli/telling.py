"""What events are in words: one line each, for the live screen and for logs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bakeoff.race.least import LESS, least
from bakeoff.race.notices import foreseen_shapes
from bakeoff.race.progress import (
    Certified,
    PointEnded,
    PointStarted,
    ReadingData,
    StudyStarted,
    TimerTested,
    TrialEnded,
    Tried,
)
from bakeoff.report.gpus import busy, gpu_memory
from bakeoff.report.standings import kind, ratio_text, slower_first
from bakeoff.report.units import duration, elapsed, percent, size
from bakeoff.spec.text import count
from bakeoff.spec.trial import spread_name
from bakeoff.stats.boundaries import LOOKS
from bakeoff.stats.pairs import is_open

if TYPE_CHECKING:
    from bakeoff.measure.system_settings import Facts
    from bakeoff.race.progress import Prepared, RoundEnded, StudyEvent, Waiting
    from bakeoff.spec.comparison import Comparison
    from bakeoff.spec.selftest import TimerVerdict
    from bakeoff.spec.verdict import Certificate, Verdict

INTERIM = "interim, not a verdict"

SHORT_S = 10.0
"""What takes less is waited for without a word."""

_ENDINGS = {
    "decided": "what was asked for is known",
    "futility": "more rounds would hardly decide the pairs that are open",
    "budget": "the time budget is spent",
    "rounds": "all rounds that were asked for are done",
    "lost": "no contender is left to race",
    "unfinished": "not finished",
}


def title(comparison: Comparison) -> str:
    """Return what is raced."""
    work = f"{comparison.workload.name}, {comparison.scenario}, batch {comparison.batch_size}, {comparison.data.source}"
    return f"{work}: {', '.join(plan.contender.label for plan in comparison.contenders)}"


def notes(event: Prepared) -> list[str]:
    """Return what a reader should know before the first trial."""
    missing, excluded = event.comparison.uninstalled, event.comparison.excluded
    said = [f"{label} does not race: {reason}" for label, reason in excluded.items() if label not in missing]
    if missing:
        said.append(f"not installed here: {', '.join(missing)} (to add one: bakeoff env create {missing[0]})")
    said += [*event.comparison.notices, *foreseen_shapes(event.comparison)]
    if event.resumed:
        said.append(f"going on with {count(event.resumed, 'trial')} that are there already")
    if event.again:
        said.append(f"doing again what was killed, timed out, crashed or could not start: {', '.join(event.again)}")
    if event.foreseen:
        said.append(event.foreseen)
    if event.calm is False:
        said.append("other processes keep this machine busy: stop them, or wait for them with --wait-for-calm 60s")
    if event.gpu:
        said.append(chosen_gpu(event.comparison, event.gpu))
        if doing := busy(event.gpu):
            said.append(f"this GPU does not rest, {doing}: nvidia-smi names them; end them, or name another by --gpu")
    return said


def chosen_gpu(comparison: Comparison, now: Facts) -> str:
    """Return which GPU work on CUDA runs on, and why this one."""
    machine, why = comparison.machine, f", {comparison.gpu_why}" if comparison.gpu_why else ""
    number = f"GPU {machine.get('gpu_index')} of {machine.get('gpus')}{why}"
    return f"on {number}: {machine.get('gpu')}, {machine.get('gpu_uuid')}, {gpu_memory(machine, now)}"


def study_lines(event: StudyEvent) -> list[str]:
    """Return where a study is."""
    match event:
        case StudyStarted(study, path, done):
            budget = "" if study.budget_s is None else f", sharing {duration(study.budget_s)}"
            lines = [f"{study.title}: {count(len(study.points), 'comparison')}{budget}; records in {path}"]
            return lines + ([f"{done} of them are finished already"] if done else [])
        case PointStarted(number, of, point, budget_s):
            share = "" if budget_s is None else f", at most {duration(budget_s)} after its first round"
            left_out = [f"{label} does not race there: {reason}" for label, reason in point.left_out.items()]
            return [f"{number} of {of}: {point.title}{share}", *left_out]
        case PointEnded(_, _, point, reason):
            return [f"{point.title}: {reason}"] if reason else []


def of_one(event: ReadingData | TrialEnded | Certified | TimerTested | Tried) -> str:
    """Return what became of one contender's trial, or was found by it; or what is waited for before all of them."""
    match event:
        case ReadingData(source):
            return reading(source)
        case TrialEnded(name):
            return f"{name}: {ended(event)}"
        case Certified(certificate):
            return f"{certificate.contender}: same work {certified(certificate)}"
        case TimerTested(verdict):
            return f"{verdict.contender}: timer {timer_text(verdict)}"
        case Tried():
            return tried(event)


def begins(comparison: Comparison, trial: str) -> str:
    """Return that what takes longest of a large model begins: its reference; empty of whatever is soon there.

    What it computes more is rare, and is said in any case, with why it is computed.
    """
    reference, names = comparison.reference, comparison.references()
    is_spread = trial in map(spread_name, names)
    if not (trial in names or is_spread) or reference is None:
        return ""
    told = None if reference.contender.on_cuda else least(comparison)
    taken_s = 0.0 if told is None else told.float64_spread_s if is_spread else told.reference_s
    lasts = f" on this machine's processor, for {elapsed(taken_s)} or more by its operations alone; {LESS}"
    if is_spread:
        why = "a program is off by more than any is allowed, so what float64 itself loses in this model is computed"
        return f"{trial}: {why}{lasts if taken_s >= SHORT_S else ''}"
    if taken_s < SHORT_S:
        return ""
    later = "once a contender is verified, later races of the same work remember it"
    return f"reference: it computes in float64{lasts}, and {later}"


def certified(certificate: Certificate) -> str:
    """Return whether a contender is shown to do the same work."""
    if certificate.passed:
        return "not compared: it is ready-made" if certificate.ready_made else "verified"
    return f"not verified: {certificate.reason}"


def timer_text(verdict: TimerVerdict) -> str:
    """Return how the self-test of a timer has ended."""
    said = {"passed": "passed", "failed": "failed", "untold": "inconclusive"}[verdict.outcome]
    return f"self-test {said}" + (f": {verdict.reason}" if verdict.reason else "")


def ended(event: TrialEnded) -> str:
    """Return how a trial has ended."""
    return f"{event.outcome} in {event.seconds:.1f} s" + (f": {event.reason}" if event.reason else "")


def tried(event: Tried) -> str:
    """Return how an attempt at a batch size went."""
    name = f"{event.label}: batch {event.batch_size:,}"
    held = f" in {size(event.peak_bytes)} beyond the import" if event.peak_bytes is not None else ""
    if event.device_peak_bytes is not None:
        held = f" in {size(event.device_peak_bytes)} of the device"
    if event.fits:
        return f"{name} fits{held}"
    return f"{name} {'failed' if event.fits is None else 'does not fit'}: {event.reason}"


def reading(source: str) -> str:
    """Return what is done before anything is started, where that may take long."""
    return f"reading the data: {source}"


def waiting(event: Waiting) -> str:
    """Return what a round waits for."""
    return f"waiting until other processes rest, at most {elapsed(event.left_s)}: they take {percent(event.share)}"


def finished(reason: str) -> str:
    """Return why it is over."""
    return f"finished: {_ENDINGS.get(reason, reason)}"


def rounds_line(event: RoundEnded) -> str:
    """Return how far the rounds are, and how long until something is decided."""
    return "; ".join(part for part in (f"round {event.round_number} done", to_come(event), rounds_left(event)) if part)


def rounds_left(event: RoundEnded) -> str:
    """Return how long rounds go on at most; empty where nothing limits them, and behind the last of them."""
    return f"at most {elapsed(event.left_s)} left" if event.left_s else ""


def to_come(event: RoundEnded) -> str:
    """Return how long it takes until a verdict is possible, or until the open pairs have theirs; empty if none is."""
    still_open = [verdict for verdict in event.verdicts if is_open(verdict)]
    if not still_open:
        return ""
    before_first = LOOKS[0] - max(verdict.rounds for verdict in still_open)
    if before_first > 0:
        what, more = "until a verdict is possible", before_first
    else:
        what, more = "to a full answer", max(verdict.more_rounds or 0 for verdict in still_open)
    is_beyond = event.max_rounds is not None and event.round_number + more > event.max_rounds
    if not more or is_beyond:
        return ""
    return f"about {elapsed(max(1.0, more * event.round_s))} {what} ({count(more, 'round')})"


def pairs_line(verdicts: tuple[Verdict, ...], margin: float) -> str:
    """Return how all pairs stand, in one line."""
    return "; ".join(f"{pair_name(one)} {pair_state(one, margin)}" for one in verdicts)


def pair_name(verdict: Verdict) -> str:
    """Return the pair, the slower one first."""
    pair = slower_first(verdict)
    return f"{pair.first} / {pair.second}"


def pair_state(verdict: Verdict, margin: float, interim: str = INTERIM) -> str:
    """Return a pair's ratio and its verdict: what is not settled is marked as interim."""
    pair = slower_first(verdict)
    state = kind(pair) if is_settled(pair) else f"given up ({pair.stopped})" if pair.stopped else interim
    return f"{ratio_text(pair, margin)} {state}"


def is_settled(verdict: Verdict) -> bool:
    """Return whether a pair has its verdict."""
    return kind(verdict) in {"faster", "slower", "equal"}
