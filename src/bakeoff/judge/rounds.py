"""From the blocks of timed trials to each contender's times by round, and to the log-ratios of every pair."""

from __future__ import annotations

import statistics
from datetime import datetime
from itertools import combinations
from typing import TYPE_CHECKING

import msgspec

from bakeoff.measure.contention import is_disturbed, is_flagged
from bakeoff.spec.record import NS
from bakeoff.stats.differences import ping_pong_difference, process_median, sequential_difference
from bakeoff.stats.levels import Levels, machine_levels
from bakeoff.stats.pairs import Pair
from bakeoff.stats.progress import STOPPING
from bakeoff.stats.warmup import mser5
from bakeoff.store.results import finished, of_contender, of_purpose

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Sequence

    from bakeoff.spec.record import Block, Record, Signals

CUT_ROUNDS = 2
"""Rounds whose warm-ups are searched for their end; the longest is frozen for all contenders."""

PAUSE = 10.0
"""From one round's start to the next, longer than this times what the round's processes take is a pause: the comparison
was gone on with later. What else takes time, starting and ending processes, takes less than a round."""


class RoundTime(msgspec.Struct, frozen=True, kw_only=True):
    """One contender in one round."""

    turns: dict[int, float]
    """Step time in seconds by turn."""
    mean_s: float
    flagged: frozenset[int]
    """Turns whose block other processes disturbed."""
    resident: bool

    def calm(self) -> RoundTime:
        """Return this without the blocks that other processes disturbed."""
        turns = {turn: time for turn, time in self.turns.items() if turn not in self.flagged}
        return msgspec.structs.replace(self, turns=turns)


class CountedBlocks(msgspec.Struct, frozen=True, kw_only=True):
    """Which blocks count, decided by counters alone: never by how long a block took."""

    cut: int
    """Length of the warm-up in steps: blocks that began within it do not count, unless they began with the saved state
    of training, as all do in newer records."""
    attempts: dict[tuple[int, str], dict[int, int]]
    """By round and, where it has the machine for itself, contender: for each planned turn, the turn that stands for it;
    only where one was repeated."""

    def blocks(self, record: Record) -> list[tuple[int, Block]]:
        """Return the blocks of a timed trial that count, each with the planned turn that it stands for."""
        stands = self.attempts.get(_place(record), {})
        planned = [block for block in record.blocks if block.repeats is None]
        by_turn = {block.turn: block for block in record.blocks}
        chosen = [(block.turn, by_turn.get(stands.get(block.turn, block.turn), block)) for block in planned]
        return [(turn, block) for turn, block in chosen if block.restored or block.first_step >= self.cut]


def kept_blocks(timed: Sequence[Record]) -> CountedBlocks:
    """Return which blocks count of all timed trials of a comparison.

    A turn that was repeated because others disturbed it stands back for its repeat, for all contenders of the round
    alike, unless the repeat was disturbed, too.
    """
    attempts: dict[tuple[int, str], dict[int, int]] = {}
    for place in dict.fromkeys(_place(record) for record in timed):
        blocks = [block for record in timed if _place(record) == place for block in record.blocks]
        turns: dict[int, list[Signals]] = {}
        for block in blocks:
            turns.setdefault(block.turn, []).append(block.signals)
        disturbed = {turn for turn, signals in turns.items() if is_disturbed(signals)}
        again = {block.repeats: block.turn for block in blocks if block.repeats is not None}
        attempts[place] = {turn: repeat for turn, repeat in again.items() if repeat not in disturbed}
    return CountedBlocks(cut=frozen_cut(timed) or 0, attempts=attempts)


def repeated_turns(timed: Iterable[Record]) -> int:
    """Return how many turns were repeated, each counted once for all contenders of its round."""
    again = {(_place(record), block.turn) for record in timed for block in record.blocks if block.repeats is not None}
    return len(again)


def disturbed_turns(done: Iterable[Record]) -> int:
    """Return in how many turns that were repeated a contender's own block had been disturbed."""
    found = 0
    for record in done:
        repeated = {block.repeats for block in record.blocks}
        found += sum(block.turn in repeated and is_flagged(block.signals) for block in record.blocks)
    return found


def saved_step(timed: Iterable[Record]) -> int | None:
    """Return the steps of training behind the state that every timed part began with; None where it was not saved."""
    blocks = [block for record in timed for block in record.blocks]
    steps = {block.first_step for block in blocks}
    return steps.pop() if len(steps) == 1 and all(block.restored for block in blocks) else None


def _place(record: Record) -> tuple[int, str]:
    """Return whose turns are decided on together: all of a round, or one contender that has the machine for itself."""
    return record.trial.round_number, "" if record.trial.resident else record.trial.contender.label


def round_times(records: Iterable[Record], kept: CountedBlocks) -> dict[int, RoundTime]:
    """Return a contender's times by round, from the blocks that count."""
    times = {}
    for record in records:
        blocks = kept.blocks(record)
        if record.outcome != "done" or not blocks:
            continue
        times[record.trial.round_number] = RoundTime(
            turns={turn: _step_s(block) for turn, block in blocks},
            mean_s=max(1, sum(b.elapsed_ns for _, b in blocks)) * NS / sum(len(b.steps_ns) for _, b in blocks),
            flagged=frozenset(turn for turn, block in blocks if is_flagged(block.signals)),
            resident=record.trial.resident,
        )
    return times


def block_times(done: Sequence[Record], kept: CountedBlocks) -> list[BlockTime]:
    """Return the mean step time of every timed block that counts."""
    return [
        BlockTime(
            round_number=record.trial.round_number,
            turn=turn,
            step_s=_step_s(block),
            flagged=is_flagged(block.signals),
        )
        for record in done
        for turn, block in kept.blocks(record)
    ]


def _step_s(block: Block) -> float:
    """Return a block's mean step time; a block in which no time has passed counts as a nanosecond."""
    return max(1, block.elapsed_ns) * NS / len(block.steps_ns)


class BlockTime(msgspec.Struct, frozen=True, kw_only=True):
    """One timed block: the mean time of a step in it."""

    round_number: int
    turn: int
    step_s: float
    flagged: bool
    """Other processes disturbed it."""


def frozen_cut(records: Iterable[Record]) -> int | None:
    """Return the length of the warm-up in steps, the longest of the first rounds; None before them.

    None, too, where every timed part began with the saved state: then a warm-up cuts nothing off.
    """
    timed = finished(of_purpose(records, "time"))
    if all(block.restored for record in timed for block in record.blocks):
        return None
    searched = [r for r in timed if r.trial.round_number <= CUT_ROUNDS]
    if not any(r.trial.round_number >= CUT_ROUNDS for r in timed):
        return None
    return max(mser5(record.warm_steps_ns).steps for record in searched) if searched else None


def pairs_of(ranked: Sequence[str], timed: Sequence[Record], rounds: int, kept: CountedBlocks) -> list[Pair]:
    """Return every pair of ranked contenders, which are labels, with its log-ratio in each round."""
    mine = {label: of_contender(timed, label) for label in ranked}
    times = {label: round_times(records, kept) for label, records in mine.items()}
    lost = {label: _lost(records) for label, records in mine.items()}
    pairs = []
    for first, second in combinations(ranked, 2):
        both = [(times[first].get(number), times[second].get(number)) for number in range(1, rounds + 1)]
        pairs.append(
            Pair(
                first=first,
                second=second,
                differences=[None if a is None or b is None else _difference(a, b) for a, b in both],
                calm=[None if a is None or b is None else _difference(a.calm(), b.calm()) for a, b in both],
                blocks=[(0, 0) if a is None or b is None else _blocks(a, b) for a, b in both],
                means=[None if a is None or b is None else (a.mean_s, b.mean_s) for a, b in both],
                lost=min((one for one in (lost[first], lost[second]) if one is not None), default=None),
            )
        )
    return pairs


def _lost(records: Iterable[Record]) -> int | None:
    """Return the number of the round after which a contender was given up for failing; None where it was not."""
    failed = sorted(record.trial.round_number for record in records if record.outcome != "done")
    return failed[STOPPING.failures - 1] if len(failed) >= STOPPING.failures else None


def _difference(first: RoundTime, second: RoundTime) -> float | None:
    """Return the log-ratio of one round; None where they have no blocks to compare."""
    if first.resident and second.resident:
        return ping_pong_difference(first.turns, second.turns)
    return sequential_difference(list(first.turns.values()), list(second.turns.values()))


def _blocks(first: RoundTime, second: RoundTime) -> tuple[int, int]:
    """Return how many blocks of a round other processes disturbed, and how many there are."""
    return len(first.flagged) + len(second.flagged), len(first.turns) + len(second.turns)


def steps_by_round(ranked: Sequence[str], timed: Sequence[Record], kept: CountedBlocks) -> dict[str, dict[int, float]]:
    """Return the step time of every ranked contender in each of its rounds."""
    return {
        label: {
            number: process_median(list(time.turns.values()))
            for number, time in round_times(of_contender(timed, label), kept).items()
        }
        for label in ranked
    }


def levels_of(
    ranked: Sequence[str], timed: Sequence[Record], kept: CountedBlocks, never: Container[tuple[str, str]] = ()
) -> Levels | None:
    """Return how often the machine changed its speed under all ranked contenders at once.

    None where no two of them took turns, and where blocks went on training: then it is the steps that change.
    Pairs that are `never` formed have no ratio.
    """
    found = {label: round_times(of_contender(timed, label), kept) for label in ranked}
    if saved_step(timed) is None:
        return None
    by_turn = {
        label: {(number, turn): s for number, one in times.items() if one.resident for turn, s in one.turns.items()}
        for label, times in found.items()
    }
    signals: dict[tuple[int, int], list[Signals]] = {}
    for record in timed:
        for turn, block in kept.blocks(record) if record.trial.resident else ():
            signals.setdefault((record.trial.round_number, turn), []).append(block.signals)
    disturbed = {turn for turn, theirs in signals.items() if is_disturbed(theirs)}
    levels = machine_levels({label: mine for label, mine in by_turn.items() if mine}, disturbed)
    if levels is None:
        return None
    return msgspec.structs.replace(levels, ratios=[r for r in levels.ratios if (r.first, r.second) not in never])


def round_s(timed: Sequence[Record]) -> float | None:
    """Return how long a round takes on the wall clock, in seconds: the median from one round's start to the next.

    Processes of a round that start together overlap, so that it is less than what they take together. Rounds with fewer
    contenders than the first are left out, and so are pauses. Where nothing else is known, with a single round or where
    rounds are shorter than the whole seconds of start times, it is what its processes took together by their own
    records. None where no round was finished.
    """
    rounds: dict[int, list[Record]] = {}
    for record in timed:
        rounds.setdefault(record.trial.round_number, []).append(record)
    if not rounds:
        return None
    own_s = statistics.median(sum(own_ns(record) for record in records) for records in rounds.values()) * NS
    starts = {number: min(_at(record) for record in records) for number, records in rounds.items()}
    contenders = len(rounds[min(rounds)])
    full = [number for number in sorted(rounds) if len(rounds[number]) == contenders and number + 1 in rounds]
    lengths = [(starts[number + 1] - starts[number]).total_seconds() for number in full]
    known = [length for length in lengths if length <= PAUSE * own_s]
    return statistics.median(known) if known and statistics.median(known) > 0 else own_s


def _at(record: Record) -> datetime:
    """Return when a trial was started, to the second."""
    return datetime.fromisoformat(record.started_at)


def own_ns(record: Record) -> int:
    """Return how long a timed process took by its own record, from its start to its last step."""
    known = (record.start_ns, record.import_ns, record.build_ns, record.first_step_ns)
    return sum(ns or 0 for ns in known) + steps_ns(record)


def steps_ns(record: Record) -> int:
    """Return how much of that it spent in steps behind the first: warming up, in blocks, and waited for one by one."""
    blocks_ns = sum(block.lead_ns + (block.restore_ns or 0) + block.elapsed_ns for block in record.blocks)
    return sum(record.warm_steps_ns) + blocks_ns + sum(record.fenced_steps_ns)
