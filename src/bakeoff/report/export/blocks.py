"""The table of timed blocks: what the clock and the counters said, whether verdicts rest on it or not."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from bakeoff.judge.rounds import kept_blocks
from bakeoff.measure.contention import is_flagged
from bakeoff.report.export.columns import SHARED, Column, ExportTable, fact, versions
from bakeoff.store.results import of_purpose

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from bakeoff.judge.outcome import ContenderOutcome, Outcome
    from bakeoff.spec.record import Block, Record

BLOCKS = ExportTable(
    "blocks",
    "one timed block of one contender",
    (
        *SHARED,
        Column("contender", "text", "contender.label", "label"),
        Column("framework", "text", "contender.plan.contender.framework", "name"),
        Column("versions", "text", "versions", "of its packages, by name: `numpy 2.4.6`"),
        Column("round", "integer", "record.trial.round_number", "from 1 on"),
        Column("started_at", "text", "record.started_at", "when its process was started, UTC, ISO 8601"),
        Column("outcome", "text", "record.outcome", "how its process ended: `done`, or why it counts for nothing"),
        Column("turn", "integer", "block.turn", "within the round, from 0 on"),
        Column(
            "repeats", "integer", "block.repeats", "the disturbed turn that it repeats; missing where it was planned"
        ),
        Column("counts", "boolean", "counts", "whether verdicts rest on it"),
        Column("disturbed", "boolean", "disturbed", "whether other processes disturbed it"),
        Column("first_step", "integer", "block.first_step", "steps of training behind the state that it began with"),
        Column("lead_steps", "integer", "block.lead_steps", "steps before the timed part"),
        Column("lead_ns", "integer", "block.lead_ns", "their time"),
        Column("restore_ns", "integer", "block.restore_ns", "time in which the saved state was put back, in no other"),
        Column("asked_ns", "integer", "block.asked_ns", "time of asking what was compiled so far, in no other"),
        Column("steps", "integer", "steps", "timed steps"),
        Column("elapsed_ns", "integer", "block.elapsed_ns", "their time, until the last result was there"),
        Column("wall_ns", "integer", "block.signals.wall_ns", "time over which what follows was counted"),
        Column("cpu_ns", "integer", "block.signals.cpu_ns", "processor time of the contender, user and system"),
        Column("foreign_share", "number", "block.signals.foreign_share", "processor time of other processes, 0 to 1"),
        Column(
            "steal_share", "number", "block.signals.steal_share", "that which the hypervisor gave to others, 0 to 1"
        ),
        Column(
            "pressure_us", "integer", "block.signals.pressure_us", "microseconds in which some task waited for a core"
        ),
        Column("involuntary_switches", "integer", "block.signals.involuntary_switches", "interruptions by other tasks"),
        Column("minor_faults", "integer", "block.signals.minor_faults", "page faults without a disk"),
        Column("major_faults", "integer", "block.signals.major_faults", "page faults that waited for a disk"),
        Column("compilations", "integer", "block.compilations", "programs compiled within it, where none should be"),
        Column("clock", "text", "record.clock", "`monotonic`; `virtual` is the scripted framework's"),
    ),
)


class BlockRow(NamedTuple):
    """A timed block, and where it stands."""

    outcome: Outcome
    contender: ContenderOutcome
    record: Record
    block: Block
    counts: bool
    """Not where its process failed, a repeat stands for it, or it lies within the warm-up."""

    @property
    def processor(self) -> str | None:
        """The machine's processor."""
        return fact(self.outcome, "processor")

    @property
    def gpu(self) -> str | None:
        """The machine's GPU."""
        return fact(self.outcome, "gpu")

    @property
    def versions(self) -> str:
        """Of the contender's packages."""
        return versions(self.contender)

    @property
    def steps(self) -> int:
        """How many steps were timed."""
        return len(self.block.steps_ns)

    @property
    def disturbed(self) -> bool:
        """Whether other processes took part of the machine."""
        return is_flagged(self.block.signals)


def timed_blocks(outcome: Outcome, records: Iterable[Record], said: Outcome) -> Iterator[BlockRow]:
    """Yield every block of every timed trial, in the order of rounds, contenders and turns.

    `said` is the same outcome without what is to be left out: what rows say of names is taken from it.
    """
    timed = of_purpose(records, "time")
    kept = kept_blocks(timed)
    contenders = {one.label: other for one, other in zip(outcome.contenders, said.contenders, strict=True)}
    order = {label: place for place, label in enumerate(contenders)}
    known = [record for record in timed if record.trial.contender.label in order]
    for record in sorted(known, key=lambda one: (one.trial.round_number, order[one.trial.contender.label])):
        counted = {block.turn for _, block in kept.blocks(record)} if record.outcome == "done" else set()
        for block in record.blocks:
            yield BlockRow(said, contenders[record.trial.contender.label], record, block, block.turn in counted)
