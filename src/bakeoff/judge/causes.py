"""Causes that are not operations: what the counters in records say about a contender whose steps cost it time."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from bakeoff.judge.counters import MOST_FAULTS_PER_STEP, block_counters
from bakeoff.judge.explanation import Cause, Unjudged
from bakeoff.judge.late import MANY
from bakeoff.measure.contention import is_flagged
from bakeoff.spec.gpu import BY_HAND, POWER_LIMIT
from bakeoff.spec.text import count, three_digits
from bakeoff.store.results import finished, of_contender, of_purpose

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from bakeoff.judge.explanation import Gap
    from bakeoff.judge.outcome import ContenderOutcome, Outcome
    from bakeoff.spec.record import Block, Record

DENORMALS, FAULTS, WAITING, SPINNING = "denormals", "page faults", "waiting threads", "spinning threads"
COMPILING, HOST, MEMORY, CLOCKS = "recompilation", "host-bound steps", "memory bandwidth", "clocks"

FAULT_S = 1.8e-6
"""Processor time of a page fault, about: what JAX's step took more with 445 of them, by each
(benchmarks/results/hidden-state-2026-11-20.md: 1.44 and 0.656 ms)."""

FAULTS_SHARE = 0.01
"""Of a step, from which on page faults could matter, by that estimate: a fifth of the margin of equality."""

CALM_SHARE = 0.5
"""Of a contender's blocks, of which more must have been calm: else no processor's time tells what its threads do."""

IDLE_SHARE = 0.25
"""Of the threads' time in which they use no processor, from which on they are said to wait: one thread of four."""

SPIN_SHARE = 0.1
"""Of the threads' time for which processors are busy while no operation runs, from which on they are said to spin:
twice the margin of equality, since a profile's own host dispatch is an upper bound."""

HOST_SHARE = 0.2
"""Of a step in which the host is busy with the framework's own code and no operation runs, from which on steps are
called host-bound: the faster contenders of the prototype's convolutional networks stayed below (3 to 15 %)."""

QUEUE_SHARE = 0.9
"""Of a block behind which its last step was dispatched, from which on an accelerator has waited for the host."""

BANDWIDTH_SHARE = 0.5
"""Of the memory's measured rate, by what no cache can hold alone: a step cannot become twice as fast."""

CLOCK_SHARE = 0.05
"""By which a clock has to be lower than another contender's: the margin of equality."""

TWICE = 2.0
"""A counter that is not twice another contender's is the same cause in both: page faults differ by orders."""

BUSY = "the machine was busy"
UNTOLD = "this system does not tell what other processes take"


class _Seen(NamedTuple):
    """One contender, with what its causes are read from."""

    one: ContenderOutcome
    timed: Sequence[Record]
    host_s: float | None
    """Of a step: host dispatch, by the profiles; None where there is none."""
    idle_s: float
    highest_mhz: float | None
    """The highest of all contenders' clocks."""
    cores_used: float | None
    """In calm blocks; None where too few were calm."""

    @property
    def step_s(self) -> float:
        """Return the raced step time."""
        return self.one.median_step_s or 0.0

    @property
    def is_on_processor(self) -> bool:
        """Return whether its steps run there, not on an accelerator."""
        return self.one.plan.contender.device == "cpu"

    @property
    def threads(self) -> int:
        """Return the threads of each device's work; 0 where it does not say, and where an accelerator does it."""
        if not self.is_on_processor:
            return 0
        text = self.one.plan.contender.options.get("threads", "")
        return int(text) if text.isdigit() else 0

    @property
    def all_threads(self) -> int:
        """Return those of all its devices, whose processors' time the counters hold together."""
        return self.threads * self.one.plan.devices


def causes_of(outcome: Outcome, gaps: Sequence[Gap] = (), records: Iterable[Record] = ()) -> list[Cause]:
    """Return what is found of each ranked contender, in the order in which they were named.

    `gaps` tell what the host does in a step, and `records` are all of the comparison: without them, causes that are
    read from these are not found.
    """
    timed = finished(of_purpose(records, "time"))
    mine = {one.label: of_contender(timed, one.label) for one in outcome.contenders}
    clocks = [mhz for label in mine if (mhz := _calm_clock_mhz(mine[label])) is not None]
    found = []
    for one in outcome.contenders:
        if one.status != "ranked" or not one.median_step_s:
            continue
        host_s, idle_s = (_spent_s(gaps, one.label, kind) for kind in ("host dispatch", "idle"))
        cores = block_counters(_calm_blocks(mine[one.label])).cores_used
        seen = _Seen(one, mine[one.label], host_s, idle_s or 0.0, max(clocks, default=None), cores)
        found += [cause for find in _FINDERS if (cause := find(seen)) is not None]
    return [_held_against(cause, gaps, found) for cause in found]


def _held_against(cause: Cause, gaps: Sequence[Gap], causes: Sequence[Cause]) -> Cause:
    """Return a cause with the faster contenders whose gaps to its own it may explain."""
    against = [gap.first for gap in gaps if gap.second == cause.label and sets_apart(cause, gap.first, causes)]
    return msgspec.structs.replace(cause, against=against)


def sets_apart(cause: Cause, other: str, causes: Sequence[Cause]) -> bool:
    """Return whether another contender lacks a cause, or has it by half: what both have explains no gap."""
    same = [one for one in causes if (one.label, one.name) == (other, cause.name)]
    return all(_much(cause) >= TWICE * _much(one) > 0.0 for one in same)


def _much(cause: Cause) -> float:
    """Return how much there is of a cause: of threads that wait or spin the share of their time, else its counter."""
    if cause.name == CLOCKS:  # By how much it is lower; of a GPU that was slowed nobody tells.
        mhz = cause.numbers.get("clock_mhz", 0.0)
        return cause.numbers.get("highest_mhz", mhz) - mhz
    threads, cores = cause.numbers.get("threads"), cause.numbers.get("cores_used")
    if threads and cores is not None:
        explained = threads if cause.name == WAITING else cause.numbers.get("cores_explained", 0.0)
        return abs(explained - cores) / threads
    return next(iter(cause.numbers.values()), 0.0)


def unjudged(outcome: Outcome, records: Iterable[Record]) -> list[Unjudged]:
    """Return which causes were not looked for, because too few blocks were known to be undisturbed, and in whom."""
    timed = finished(of_purpose(records, "time"))
    found = []
    for one in outcome.contenders:
        mine = of_contender(timed, one.label)
        blocks = [block for record in mine for block in record.blocks]
        if one.status != "ranked" or not one.median_step_s or not blocks or _calm_blocks(mine):
            continue
        threads = _Seen(one, mine, None, 0.0, None, None).threads
        names = [*((WAITING, SPINNING) if threads >= _SEVERAL else ()), HOST]
        names += [CLOCKS] if clock_mhz(mine) is not None else []
        found.append(Unjudged(label=one.label, names=names, reason=_why_unjudged(blocks)))
    return found


def _why_unjudged(blocks: Sequence[Block]) -> str:
    """Return in how many blocks others were busy, and of how many nobody knows; these are half of all or more."""
    disturbed = sum(is_flagged(block.signals) for block in blocks)
    unknown = sum(block.signals.foreign_share is None for block in blocks)
    whole = count(len(blocks), "block")
    if unknown == len(blocks):
        return UNTOLD
    said = [f"{BUSY} in {disturbed:,} of {whole}"] if disturbed else []
    said += [f"what other processes took is not known of {unknown:,} of {whole}"] if unknown else []
    return ", and ".join(said)


def _spent_s(gaps: Sequence[Gap], label: str, kind: str) -> float | None:
    """Return what a contender spends of a step on one kind; None where no gap is about it."""
    for gap in gaps:
        if label in (gap.first, gap.second):
            return sum(row.first_s if gap.first == label else row.second_s for row in gap.by_kind if row.kind == kind)
    return None


def clock_mhz(timed: Iterable[Record]) -> float | None:
    """Return the processors' clock at the ends of a contender's timed trials, the median; None where nobody tells."""
    seen = [clock for record in timed if isinstance(clock := record.weather.get("clock_mhz"), int | float)]
    return statistics.median(seen) if seen else None


def _calm_blocks(timed: Sequence[Record]) -> list[Block]:
    """Return the blocks beside which others are known to have rested; none where these are not most of all."""
    blocks = [block for record in timed for block in record.blocks]
    calm = [block for block in blocks if block.signals.foreign_share is not None and not is_flagged(block.signals)]
    return calm if len(calm) > CALM_SHARE * len(blocks) else []


def _calm_clock_mhz(timed: Sequence[Record]) -> float | None:
    """Return the clock at the ends of trials that were calm: other processes change it, too."""
    return clock_mhz(record for record in timed if _calm_blocks([record]))


def _denormals(seen: _Seen) -> Cause | None:
    """Return that arrays hold denormal numbers, which are computed with as they are."""
    late = seen.one.late
    if late is None or seen.one.settings.get("denormals") == "flushed":
        return None
    early = {name: one.share for name, one in late.early.items() if one.share >= MANY}
    if early:
        name, share = max(early.items(), key=lambda item: item[1])
        steps = count(late.early_step, "step")
        said = f"{_percent(share)} of the numbers in its {name} are denormal after {steps} of training"
        return _cause(seen, DENORMALS, said, {"early_share": share, "early_step": late.early_step})
    held = late.denormal()
    if not held or late.ratio is None or late.ratio.low <= 1.0:
        return None
    name, share = max(held.items(), key=lambda item: item[1])
    steps = count(late.late_step, "step")
    said = (
        f"{_percent(share)} of the numbers in its {name} are denormal after {steps} of training, "
        f"and a step takes {late.ratio.estimate:.2f}x as long then; the steps that were raced are earlier"
    )
    return _cause(
        seen, DENORMALS, said, {"late_share": share, "late_step": late.late_step, "late": late.ratio.estimate}
    )


def _faults(seen: _Seen) -> Cause | None:
    """Return that memory is handed out by the kernel in each step, where that could matter."""
    faults = seen.one.counters.minor_faults_per_step
    if faults is None or faults <= MOST_FAULTS_PER_STEP:
        return None
    share = faults * FAULT_S / seen.step_s
    if share < FAULTS_SHARE:
        return None
    many = three_digits(faults)
    said = (
        f"{many} page fault{'' if many == '1' else 's'} a step, which may take some {_percent(min(1.0, share))} of it "
        f"(estimated at {FAULT_S * 1e6:.1f} µs each): the system hands out memory within steps"
    )
    return _cause(seen, FAULTS, said, {"faults_per_step": faults, "estimated_share": share})


def _waiting(seen: _Seen) -> Cause | None:
    """Return that some of its threads have nothing to do."""
    cores, threads = seen.cores_used, seen.all_threads
    if cores is None or seen.threads < _SEVERAL or 1.0 - cores / threads < IDLE_SHARE:
        return None
    said = f"{threads} threads keep {cores:.2f} cores busy on average: threads wait for work"
    return _cause(seen, WAITING, said, {"threads": threads, "cores_used": cores})


_SEVERAL = 2


def _spinning(seen: _Seen) -> Cause | None:
    """Return that its threads keep processors busy while no operation runs."""
    cores, threads, host_s = seen.cores_used, seen.all_threads, seen.host_s
    if cores is None or seen.threads < _SEVERAL or host_s is None:
        return None
    # While the host dispatches, one thread of each device has work; while operations run, all may have.
    most = 1.0 - (seen.idle_s + host_s * (1.0 - 1.0 / seen.threads)) / seen.step_s
    beyond = cores / threads - most
    if beyond < SPIN_SHARE:
        return None
    said = (
        f"{threads} threads keep {cores:.2f} cores busy, and operations with their dispatch account for "
        f"{most * threads:.2f}: threads wait by spinning"
    )
    return _cause(seen, SPINNING, said, {"threads": threads, "cores_used": cores, "cores_explained": most * threads})


def _recompiling(seen: _Seen) -> Cause | None:
    """Return that programs were compiled within timed blocks."""
    blocks = [block for record in seen.timed for block in record.blocks]
    programs = sum(block.compilations or 0 for block in blocks)
    if not programs:
        return None
    steps = sum(len(block.steps_ns) for block in blocks)
    was = "was" if programs == 1 else "were"
    said = f"{count(programs, 'program')} {was} compiled within {count(steps, 'timed step')}, where none should be"
    return _cause(seen, COMPILING, said, {"programs": programs, "steps": steps})


def _host_bound(seen: _Seen) -> Cause | None:
    """Return that the host's own code is what a step waits for; beside busy neighbours it waits for processors."""
    if seen.cores_used is None:
        return None
    if not seen.is_on_processor:
        shares = [block.steps_ns[-1] / block.elapsed_ns for r in seen.timed for block in r.blocks if block.elapsed_ns]
        share = statistics.median(shares) if shares else 0.0
        if share < QUEUE_SHARE:
            return None
        said = (
            f"the last step of a block is dispatched after {_percent(share)} of its time: the device waits for the host"
        )
        return _cause(seen, HOST, said, {"dispatched_share": share})
    share = (seen.host_s or 0.0) / seen.step_s
    if share < HOST_SHARE:
        return None
    said = f"for {_percent(share)} of a step the host is busy with the framework's own code, and no operation runs"
    return _cause(seen, HOST, said, {"host_share": share})


def _bandwidth(seen: _Seen) -> Cause | None:
    """Return that a step needs much of what memory can give."""
    light = seen.one.light
    if light is None or light.bytes_share is None or light.bytes_share < BANDWIDTH_SHARE:
        return None
    said = (
        f"a step moves at least {three_digits(light.beyond_cache_bytes / 1e6)} MB beyond the caches, which takes "
        f"{_percent(light.bytes_share)} of its time at the memory's measured rate"
    )
    return _cause(seen, MEMORY, said, {"bytes": light.beyond_cache_bytes, "share": light.bytes_share})


def _clocks(seen: _Seen) -> Cause | None:
    """Return that its clock was lower than it could be."""
    slowed = [held for state in seen.one.gpu if (held := set(state.slowed) - {POWER_LIMIT, BY_HAND})]
    if slowed:
        mhz = [state.clock_mhz for state in seen.one.gpu if state.clock_mhz is not None]
        rounds = f"{len(slowed):,} of {count(len(seen.one.gpu), 'round')}"
        said = f"the GPU's clock was held down in {rounds}: {', '.join(sorted({why for one in slowed for why in one}))}"
        return _cause(seen, CLOCKS, said, {"clock_mhz": statistics.fmean(mhz)} if mhz else {})
    mine = _calm_clock_mhz(seen.timed)
    if mine is None or seen.highest_mhz is None or mine >= seen.highest_mhz * (1.0 - CLOCK_SHARE):
        return None
    other = f"{seen.highest_mhz:,.0f} MHz"
    said = f"the processor ran at {mine:,.0f} MHz at the end of its trials, and at {other} in another's"
    return _cause(seen, CLOCKS, said, {"clock_mhz": mine, "highest_mhz": seen.highest_mhz})


_FINDERS: tuple[Callable[[_Seen], Cause | None], ...] = (
    _denormals,
    _faults,
    _waiting,
    _spinning,
    _recompiling,
    _host_bound,
    _bandwidth,
    _clocks,
)


def _cause(seen: _Seen, name: str, said: str, numbers: dict[str, float]) -> Cause:
    """Return a cause of one contender."""
    return Cause(label=seen.one.label, name=name, said=f"{seen.one.label}: {said}.", numbers=numbers)


def _percent(share: float) -> str:
    """Write a share as a text."""
    return f"{share:.0%}" if share >= 0.01 else f"{share:.1%}"  # noqa: PLR2004 - below, a digit more
