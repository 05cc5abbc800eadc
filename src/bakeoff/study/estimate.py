"""What studies cost on machines that they were not run on: by what was measured here, and by stated assumptions.

What a contender's time consists of is read from its records (race/forecast.py): steps, and all else, such as starting a
process, importing, compiling and certifying. A faster device shortens steps alone, and of a round not below the time
that its blocks last whatever the device. Every assumption is a sentence with its source.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from bakeoff.judge.epochs import length_of
from bakeoff.judge.reproduction import machine_of, published_step_s
from bakeoff.race.forecast import SMALL_CONTENDER_S
from bakeoff.race.stages.rounds import BLOCK, FENCED, TURNS
from bakeoff.spec.published import RELATIVE
from bakeoff.study.foreseen import ForeseenPoint, together

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bakeoff.race.forecast import Forecast
    from bakeoff.spec.published import Machine
    from bakeoff.study.foreseen import Basis, Foreseen

CORE_WATTS = 6.25
"""Of a server's processor at full load, for each core: 350 W TDP of 56 cores (Intel Xeon Platinum 8480+, Intel ARK)."""

A100_WATTS = 400.0
"""TDP of an A100 in an SXM4 module (NVIDIA A100 Tensor Core GPU data sheet)."""

NODE_GPUS = 8
"""GPUs of a cluster's node, as NVIDIA's DGX A100 has them."""

NODES = 100

JOB_START_S = 300.0
"""Until a job's first process runs: modules, containers and interpreters from a file system that a hundred nodes read
at once; bakeoff's own jobs are given as much for it."""

LEAST_STEPS_S = TURNS.usual * (BLOCK.lead_s + BLOCK.timed_s) + FENCED.seconds
"""Of a round, for each contender: blocks and fenced steps last so long however fast a step is."""


class Span(NamedTuple):
    """At least, and at most; None: no limit is known."""

    low: float
    high: float | None

    def times(self, factor: float) -> Span:
        """Return both ends so many times."""
        return Span(self.low * factor, None if self.high is None else self.high * factor)


def summed(spans: Sequence[Span]) -> Span:
    """Return the sum of spans."""
    return Span(sum(one.low for one in spans), together(one.high for one in spans))


class PlacedComparison(msgspec.Struct, frozen=True, kw_only=True):
    """One comparison as it is placed on devices."""

    seconds: Span
    devices: int


class PlaceCost(msgspec.Struct, frozen=True, kw_only=True):
    """What studies cost at one place."""

    place: str
    seconds: Span
    device_hours: Span
    kwh: Span
    unknown: int
    """Comparisons of which nothing is known there: they are in no figure."""


class CostEstimate(msgspec.Struct, frozen=True, kw_only=True):
    """What studies cost, by place, and what that rests on."""

    comparisons: int
    figures: list[PlaceCost]
    assumptions: list[str]


def estimate(told: Sequence[Foreseen], cores: int) -> CostEstimate:
    """Return what studies cost here, on one A100, on eight, and on a cluster of 100 nodes, all comparisons once.

    `cores` are those of this machine, and not their threads: by them its power is assumed where none was read.
    """
    points = [(study, point) for study in told for point in study.points if not point.problem]
    here = [_here(point) for _, point in points]
    there = [_there(study, point) for study, point in points]
    watts = _measured_watts(told)
    power_w = cores * CORE_WATTS if watts is None else watts
    return CostEstimate(
        comparisons=len(points),
        figures=[
            _figure("this machine", here, 1, power_w, counts_machine=True),
            _figure("one A100", there, 1, A100_WATTS),
            _figure("8 A100s", there, NODE_GPUS, A100_WATTS),
            _figure(f"{NODES} nodes", there, NODES * NODE_GPUS, A100_WATTS, start_s=JOB_START_S),
        ],
        assumptions=_assumptions(told, watts, cores),
    )


# --- One comparison -------------------------------------------------------------------------------------------------


def _here(point: ForeseenPoint) -> PlacedComparison | None:
    """Return a comparison on this machine; None where how long it takes is not known."""
    if point.basis == "rough":
        return None
    return PlacedComparison(seconds=Span(point.low_s, point.high_s), devices=_devices(point))


def _there(study: Foreseen, point: ForeseenPoint) -> PlacedComparison | None:
    """Return a comparison on A100s; None where how long it takes is not known."""
    told = point.forecast
    if told is None:
        return None
    steps_s = _published_steps_s(study, point)
    if point.basis in ("measured", "counted"):
        seconds = _measured_there(told, steps_s, point.trace_rounds)
    elif point.basis == "declared":
        seconds = Span(point.low_s, point.high_s)
    elif all(label in steps_s for label in told.labels):
        seconds = _unmeasured_there(told, steps_s)
    else:
        return None
    return PlacedComparison(seconds=seconds, devices=_devices(point))


def _measured_there(told: Forecast, published_s: dict[str, float], trace_rounds: int) -> Span:
    """Return the time of a comparison whose contenders were measured here: faster steps, and all else as it is here."""
    fewest = most = fixed_s = 0.0
    for label, cost in told.costs.items():
        faster = min(1.0, published_s[label] / cost.step_s) if label in published_s and cost.step_s else 1.0
        start_s = cost.round_s - cost.steps_s
        round_s = start_s + max(min(LEAST_STEPS_S, cost.steps_s), cost.steps_s * faster)
        fixed_s += cost.certificates_s + cost.behind_s + _runs_s(told, start_s, cost.step_s * faster)
        fixed_s += trace_rounds * round_s
        fewest += told.fewest_rounds * round_s
        most += (told.most_rounds or 0) * round_s
    return Span(fixed_s + fewest, None if told.most_rounds is None else fixed_s + most)


def _unmeasured_there(told: Forecast, published_s: dict[str, float]) -> Span:
    """Return the time of a comparison that was never run here, by the published time of a step."""
    runs_s = sum(_runs_s(told, 0.0, published_s[label]) for label in told.labels)
    return Span(SMALL_CONTENDER_S * len(told.labels) + runs_s, None)


def _runs_s(told: Forecast, start_s: float, step_s: float) -> float:
    """Return the time of a contender's whole runs."""
    length = length_of(told.comparison)
    return 0.0 if length is None else told.comparison.procedure.repeats * (start_s + length.steps * step_s)


class _Step(NamedTuple):
    """A published step on a GPU."""

    machine: Machine
    contender: str
    """That stands for its row."""
    seconds: float


def _published_steps_s(study: Foreseen, point: ForeseenPoint) -> dict[str, float]:
    """Return by contender the shortest published step on a GPU that is no faster than an A100."""
    found: dict[str, float] = {}
    for step in _gpu_steps(study, point):
        if step.machine.within_a100:
            found[step.contender] = min(step.seconds, found.get(step.contender, step.seconds))
    return found


def _gpu_steps(study: Foreseen, point: ForeseenPoint) -> list[_Step]:
    """Return what the document published of the same steps on GPUs; nothing where they are smaller here."""
    here = study.study.reproduces
    if here is None or here.scaled or point.problem:
        return []
    published = here.published
    declared = next(one for one in published.comparisons if one.name == point.title)
    rows = next(one.rows for one in study.study.points if one.title == point.title)
    if declared.other or published.unit_of(declared) in RELATIVE:
        return []
    machines = {machine.name: machine for machine in published.machines}
    return [
        _Step(machines[machine_of(published, one)], rows[one.row], published_step_s(published, declared, one))
        for one in declared.figures
        if one.row in rows and published.row(one.row).device == "gpu"
    ]


def _devices(point: ForeseenPoint) -> int:
    """Return the most devices that a contender trains on."""
    plans = point.forecast.comparison.contenders if point.forecast else []
    return max((int(plan.contender.options.get("devices", "1")) for plan in plans), default=1)


# --- All of them ----------------------------------------------------------------------------------------------------


def _figure(
    place: str,
    jobs: Sequence[PlacedComparison | None],
    devices: int,
    watts: float,
    *,
    start_s: float = 0.0,
    counts_machine: bool = False,
) -> PlaceCost:
    """Return what comparisons cost on so many devices of so much power; a machine is one device, however many rows."""
    known = [
        PlacedComparison(
            seconds=Span(one.seconds.low + start_s, None if one.seconds.high is None else one.seconds.high + start_s),
            devices=1 if counts_machine else one.devices,
        )
        for one in jobs
        if one is not None
    ]
    hours = summed([one.seconds.times(one.devices / 3600.0) for one in known])
    low_s = makespan([(one.seconds.low, one.devices) for one in known], devices)
    bounded = [(one.seconds.high, one.devices) for one in known if one.seconds.high is not None]
    return PlaceCost(
        place=place,
        seconds=Span(low_s, makespan(bounded, devices) if len(bounded) == len(known) else None),
        device_hours=hours,
        kwh=hours.times(watts / 1000.0),
        unknown=len(jobs) - len(known),
    )


def makespan(jobs: Sequence[tuple[float, int]], devices: int) -> float:
    """Return when the last of some jobs ends, each of so many seconds on so many devices, the longest begun first.

    A job that wants more devices than there are takes all of them, and so many times as long: replicas then share them.
    """
    free_at = [0.0] * devices
    ends = 0.0
    for seconds, wanted in sorted(jobs, reverse=True):
        taken = [heapq.heappop(free_at) for _ in range(min(wanted, devices))]
        end = max(taken) + seconds * wanted / len(taken)
        for _ in taken:
            heapq.heappush(free_at, end)
        ends = max(ends, end)
    return ends


def _measured_watts(told: Sequence[Foreseen]) -> float | None:
    """Return the power of this machine while steps ran, weighed by contenders; None where none was counted."""
    forecasts = [point.forecast for study in told for point in study.points if point.forecast]
    watts = [cost.watts for one in forecasts for cost in one.costs.values() if cost.watts is not None]
    return sum(watts) / len(watts) if watts else None


def _assumptions(told: Sequence[Foreseen], watts: float | None, cores: int) -> list[str]:
    """Return what figures rest on, each with its source."""
    bases = {point.basis for study in told for point in study.points if not point.problem}
    said = [text for basis, text in _OF_TIMES.items() if basis in bases]
    if bases & {"measured", "counted", "rough"}:
        said += _of_steps(told)
    return [*said, *_OF_PLACES, _of_power(watts, cores, is_on_gpu=_is_on_gpu(told))]


def _is_on_gpu(told: Sequence[Foreseen]) -> bool:
    """Return whether any of the studies runs on a GPU here."""
    return any(one.study.reproduces is not None and one.study.reproduces.kind == "gpu" for one in told)


_OF_TIMES: dict[Basis, str] = {
    "measured": "Times here: what the same contenders took in earlier comparisons on this machine.",
    "declared": (
        "Times of what was not run here before: the minutes that its study declares for two calm cores, a part for "
        "each contender that can race here, the same at every place."
    ),
    "counted": (
        "Times of what ran here at other sizes alone: what the same contenders took there, with steps in proportion "
        "to the multiply-accumulates that are counted in a step of each; larger ones mostly use a processor better."
    ),
    "rough": (
        "What was never run here, whatever the size, has no time here. On A100s it takes its whole runs by the "
        f"published step, and {SMALL_CONTENDER_S:.0f} s a contender for certificates and rounds, as sweeps count a "
        "small network's; without a published step it is in no figure."
    ),
}
"""Where times are from, by their basis."""

_OF_PLACES = (
    (
        "Starting processes, importing, compiling, certificates and what comes behind the verdict take as long as "
        "here: none of them shrinks with a GPU. Nor do a round's blocks, of which a contender has "
        f"{LEAST_STEPS_S:.2g} s however fast its step is (race/stages/rounds.py)."
    ),
    f"An A100 takes {A100_WATTS:.0f} W all the time: its TDP (NVIDIA A100 data sheet, SXM4). Hosts are not counted.",
    (
        "Comparisons run side by side, one on a device; one with contenders on more devices than there are is taken "
        f"for so many times as long. A node of the {NODES} has {NODE_GPUS} A100s (NVIDIA DGX A100). A job's first "
        f"process runs after {JOB_START_S:.0f} s, which is bakeoff's own allowance; none waits in a queue."
    ),
)
"""What is assumed of GPUs and clusters, whatever the studies."""


def _of_power(watts: float | None, cores: int, *, is_on_gpu: bool) -> str:
    """Return what is known or assumed of this machine's power."""
    if watts is not None:
        who = "what RAPL and the GPU's driver counted" if is_on_gpu else "RAPL's count"
        return f"This machine takes {watts:.0f} W: {who} while steps ran in those comparisons."
    gpu = " Its GPU is not counted." if is_on_gpu else ""
    return (
        f"This machine takes {cores * CORE_WATTS:.3g} W: no counter of energy was read here. Assumed are {CORE_WATTS} "
        f"W for each of its {cores} cores, by the 350 W TDP of 56 cores (Intel Xeon Platinum 8480+, Intel ARK).{gpu}"
    )


def _of_steps(told: Sequence[Foreseen]) -> list[str]:
    """Return what is assumed of a step's time on an A100."""
    taken, left = (_documents(told, within=within) for within in (True, False))
    where = " where the GPU here is no faster than an A100" if _is_on_gpu(told) else ""
    said = [f"A step on an A100 is assumed as fast as here, which makes these figures upper bounds{where}."]
    if taken:
        said = [
            (
                "A step on an A100 is assumed no longer than the document's own on its GPU: "
                f"{'; '.join(taken)}. Without such a figure it is assumed as fast as here."
            ),
            f"Why none of these GPUs is faster than an A100: {'; '.join(_grounds(told))}.",
        ]
    if left:
        said.append(
            "Not estimated from a document whose GPU nothing published shows to be no faster than an A100: "
            f"{'; '.join(left)}."
        )
    return said


def _documents(told: Sequence[Foreseen], *, within: bool) -> list[str]:
    """Return the documents with steps on GPUs that are no faster than an A100, or on others, each with these GPUs."""
    found: dict[str, dict[str, None]] = {}
    for study, step in _all_gpu_steps(told):
        here = study.study.reproduces
        if here is not None and bool(step.machine.within_a100) == within:
            document = f"{here.published.document.name}, {here.published.document.number}"
            found.setdefault(document, {})[step.machine.name] = None
    return [f"{document} ({', '.join(machines)})" for document, machines in found.items()]


def _grounds(told: Sequence[Foreseen]) -> list[str]:
    """Return by what each GPU whose steps are taken is no faster than an A100."""
    machines = [step.machine for _, step in _all_gpu_steps(told) if step.machine.within_a100]
    return list(dict.fromkeys(f"{machine.name}: {machine.within_a100}" for machine in machines))


def _all_gpu_steps(told: Sequence[Foreseen]) -> list[tuple[Foreseen, _Step]]:
    """Return every published step of the same work on a GPU, with its study."""
    return [(study, step) for study in told for point in study.points for step in _gpu_steps(study, point)]
