"""What a comparison's records amount to: computed by `judge` from records alone, and all that a report reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import msgspec

from bakeoff.judge.compiling import Compiling, compiling
from bakeoff.judge.counters import BlockCounters
from bakeoff.judge.energy import Energy, energy
from bakeoff.judge.epochs import WholeRuns, whole_runs
from bakeoff.judge.gpu import GpuRound
from bakeoff.judge.late import Late, late
from bakeoff.judge.light import Light
from bakeoff.judge.rounds import BlockTime
from bakeoff.judge.scaling import Scaling
from bakeoff.spec.comparison import Comparison, ContenderPlan
from bakeoff.spec.record import Memory, TrialOutcome
from bakeoff.spec.selftest import TimerVerdict
from bakeoff.spec.verdict import Certificate, Interval, Verdict
from bakeoff.stats.dependence import Resemblance, Trend
from bakeoff.stats.levels import Levels

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bakeoff.spec.record import Record

Status = Literal["ranked", "uncertified", "refused", "failed", "pending"]
"""ranked: certified and timed.  uncertified: no passing certificate, so never ranked.  refused: its timer failed the
self-test, its clock disagrees with the counters around its blocks or is its engine's own, its steps are faster than the
machine's peak allows, or its timed trials did not compute what was certified, so no time of it can be trusted.
failed: certified, but no round was finished.  pending: its turn has not come (an interrupted comparison)."""


Ending = Literal["decided", "futility", "budget", "rounds", "lost", "unfinished"]
"""Why a comparison is over.  lost: contenders were given up after they had been lost twice, so that pairs stay open, or
none could be raced at all."""


class ContenderOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of one contender; None is not measured or not known here."""

    plan: ContenderPlan
    label: str
    status: Status
    reason: str = ""
    """Why it is not ranked, in a sentence."""
    certificate: Certificate | None = None
    timer: TimerVerdict | None = None
    """Of the timer's self-test; None where it was not made."""
    rounds: int = 0
    lost_rounds: dict[int, str] = {}
    """Rounds in which its trial did not come to its end, with the reason: they count for nothing of it."""
    step_s: Interval | None = None
    """Step time: median over rounds of the median over blocks, with its own 95 % interval (from 3 rounds on)."""
    median_step_s: float | None = None
    """The estimate alone, also where there are too few rounds for an interval."""
    mean_step_s: float | None = None
    """Mean over all timed steps."""
    samples_per_s: float | None = None
    """Throughput by the median step time."""
    fenced_p50_s: float | None = None
    fenced_p90_s: float | None = None
    fenced_steps: int = 0
    """Of steps that were each waited for, in a part of their own after a round's last block (in records without it,
    of warm steps after the warm-up's cut)."""
    wait_s: float | None = None
    """What waiting costs where there is nothing to wait for, and so in every fenced step: median over rounds."""
    hidden_s: Interval | None = None
    """What asynchronous dispatch hides: median fenced step minus median streamed one, over rounds, with its 95 %
    interval; an interval that is not above 0 shows none. None below 3 rounds with a fenced part."""
    import_s: float | None = None
    build_s: float | None = None
    first_step_s: float | None = None
    """Medians over rounds: `first_step_s` over those whose compiler found nothing in its cache, or all without any."""
    compile_s: float | None = None
    """The first step's time beyond a steady step: tracing, compiling, autotuning, first allocations."""
    compiling: Compiling | None = None
    """None where records do not hold it."""
    memory: Memory | None = None
    """Of the process whose peak is the median of `memory_peaks_bytes`."""
    memory_peaks_bytes: list[int] = []
    """Peak resident size of each process in which it was read: the timed ones, before anything of bakeoff's is kept in
    them; in older records one process of its own."""
    light: Light | None = None
    """Its step against the machine's peaks; None where peaks or the model's work are unknown, and of ready-made models,
    whose work is not the workload's."""
    energy: Energy | None = None
    late: Late | None = None
    """What training does to the cost of its steps; None where it was not measured."""
    whole: WholeRuns | None = None
    """Of so many epochs or steps, where they were asked for."""
    accuracy: float | None = None
    test_samples: int = 0
    """Behind `accuracy`; 0: not known."""
    learning_steps: int = 0
    settings: dict[str, str | int | float | bool | None] = {}
    inherited: dict[str, str] = {}
    """Variables of the user's environment that counted for it."""
    overridden: dict[str, str] = {}
    """Those that bakeoff has set to other values, which are the framework's `variables`, with what they were."""
    versions: dict[str, str] = {}
    python: str = ""
    counters: BlockCounters = BlockCounters()
    """Over all timed blocks."""
    steady: bool = True
    """False: the warm-up found no steady state."""
    trend: Trend | None = None
    """Of its step time over the turns of a round, where every turn should find the same work; None with few rounds."""
    disturbed_turns: int = 0
    """Planned turns beside whose block of this contender others ran, of those that were repeated."""
    blocks: list[BlockTime] = []
    gpu: list[GpuRound] = []
    """Empty unless it ran on an NVIDIA GPU whose state NVML reports."""


OF_ITS_TRIALS: dict[str, Callable[[Sequence[Record]], Any]] = {
    "compiling": compiling,
    "energy": energy,
    "late": late,
    "whole": whole_runs,
}
"""Fields of a contender's outcome, each with what judges it from all of its records: a kind of trial is a line here."""


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """A comparison, judged."""

    comparison: Comparison
    path: str
    """The comparison's folder."""
    contenders: list[ContenderOutcome]
    """In the order in which they were named."""
    verdicts: list[Verdict]
    """Every pair of ranked contenders on as many devices."""
    scalings: list[Scaling] = []
    """Every ranked contender on several devices that was raced beside itself on one."""
    rounds: int = 0
    processes: int = 0
    """Fresh processes that were timed."""
    cut_steps: int = 0
    """Warm-up steps that were frozen after round 2; 0 where every timed part began with the saved state of training."""
    repeated_turns: int = 0
    """Turns that were run again, for all contenders of the round alike, because others disturbed one of them."""
    first_step: int | None = None
    """The steps of training behind the state that every timed part began with; None where each went on training."""
    resident: bool = True
    """Workers of a round were resident together, alternating blocks; False: one after another."""
    apart: str = ""
    """Why workers of the latest such round ran one after another; empty where none did, and in older records."""
    calm: bool | None = None
    foreign_share: float | None = None
    """Median over blocks of the processor share of other processes."""
    flagged_rounds: int = 0
    round_s: float | None = None
    """From one round's start to the next on the wall clock: the median. None before the first."""
    resemblance: Resemblance | None = None
    """Of neighbouring rounds, of which every interval takes for granted that there is none beyond chance; None below 10
    common rounds."""
    levels: Levels | None = None
    """Turns in which all contenders were slower, or all faster, at once; None where no two took turns."""
    clock_mhz: tuple[float, float] | None = None
    """Lowest and highest mean clock of the processors, at the ends of timed trials."""
    ended: Ending = "unfinished"
    damaged: list[str] = []
    """A sentence for each record that is not used, with its file."""
    again: dict[str, TrialOutcome] = {}
    """How trials ended, by name, that came to nothing for what may have passed: `--resume` does them again."""
    gone: dict[str, list[int]] = {}
    """By label, the rounds of a comparison that has ended of which a contender has no record, and should have one."""

    @property
    def pairs(self) -> list[Verdict]:
        """Every pair that rounds are run for: of contenders, and of one contender on one device and on several."""
        return [*self.verdicts, *(one.verdict for one in self.scalings)]

    @property
    def other_speeds(self) -> Levels | None:
        """The turns at another speed, where the machine is said to have changed it."""
        return self.levels if self.levels is not None and self.levels.is_found else None

    @property
    def is_answered(self) -> bool:
        """Whether there is what was asked for: a pair, or of a single contender its figures."""
        ranked = sum(contender.status == "ranked" for contender in self.contenders)
        return ranked >= min(2, len(self.contenders) + len(self.comparison.excluded))
