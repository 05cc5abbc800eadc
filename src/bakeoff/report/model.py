"""The one model that every form of a report shows: derived once from an outcome, in words and in digits."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from bakeoff.judge.outcome import ContenderOutcome, Outcome
from bakeoff.report import words
from bakeoff.report.cautions import cautions
from bakeoff.report.certified import certificate_line
from bakeoff.report.devices import device_line
from bakeoff.report.latency import latency_line
from bakeoff.report.pairs import FEWEST_ROUNDS, between, fastest, kind, ratio_parts
from bakeoff.report.runs import Run, run_of, short_runs
from bakeoff.report.tiers import tier_sentences
from bakeoff.report.units import (
    UNKNOWN,
    Unit,
    count,
    duration,
    listed,
    percent,
    quantity,
    rounded,
    size,
    unit_for,
)
from bakeoff.spec.verdict import Interval

if TYPE_CHECKING:
    from bakeoff.judge.rounds import BlockTime

REPORT_FILES = {"report": "report.html", "markdown": "report.md", "chart": "chart.png", "drawing": "chart.svg"}
"""What `save` writes into the comparison's folder."""


_AIMS = {
    "verdict": [],
    "how-much": ["until the ratios were known narrowly (--how-much)"],
    "until-sure": ["with intervals that hold at every round (--until-sure)"],
}


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One ranked contender as the table shows it; an empty cell has nothing to say, "unknown" was not measured."""

    label: str
    colour: str
    step: str
    low: str
    high: str
    samples_per_s: str
    first_step: str
    memory: str
    ratio: str = ""
    interval: str = ""
    verdict: str = ""


class Absent(msgspec.Struct, frozen=True, kw_only=True):
    """One that is not ranked, with its reason."""

    label: str
    status: str
    reason: str


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """An outcome in the words and digits of a report."""

    outcome: Outcome
    work: str
    """What was done: "mlp-mnist, train, batch 32, float32, digits"."""
    machine: str
    certificate: str
    headline: str
    rows: list[Row]
    """The shortest step first."""
    against: str
    """What the ratios of `rows` are against."""
    unit: Unit
    """Of step times."""
    memory_meaning: str
    absent: list[Absent]
    sentences: list[str]
    evidence: str
    latency: str
    accuracy: str
    device_memory: str
    """What the contenders held of accelerators, in a sentence; empty on processors."""
    short_runs: str
    cautions: list[str]
    ranked: list[ContenderOutcome]
    """In the order of `rows`."""
    runs: list[Run]

    @property
    def margin(self) -> float:
        """The margin of equality."""
        return self.outcome.comparison.procedure.margin

    @property
    def files(self) -> dict[str, str]:
        """The paths of the records and of the reports that are there, by their names."""
        folder = Path(self.outcome.path)
        paths = {name: folder / file for name, file in REPORT_FILES.items()}
        return {"records": str(folder)} | {name: str(path) for name, path in paths.items() if path.exists()}


def report_of(outcome: Outcome) -> Report:
    """Derive the model from an outcome."""
    ranked = sorted(
        (contender for contender in outcome.contenders if contender.status == "ranked"),
        key=lambda contender: contender.median_step_s or float("inf"),
    )
    labels = [contender.label for contender in ranked]
    runs = [run for contender in ranked if (run := run_of(contender))]
    unit = unit_for(contender.median_step_s for contender in ranked)
    on_device = bool(ranked) and all(_device_bytes(contender) is not None for contender in ranked)
    decided = fastest(labels, outcome.verdicts) is not None
    return Report(
        outcome=outcome,
        work=_work(outcome),
        machine=machine_line(outcome),
        certificate=certificate_line(outcome),
        headline=words.headline(outcome, labels),
        rows=[_row(contender, outcome, ranked, unit, on_device=on_device) for contender in ranked],
        against="against the fastest" if decided else "against the first",
        unit=unit,
        memory_meaning=(
            "the most that the framework held on the device" if on_device else "the process's peak beyond its import"
        ),
        absent=_absent(outcome),
        sentences=[*words.sentences(outcome, labels), *tier_sentences(outcome)],
        evidence=_evidence(outcome),
        latency=latency_line(outcome, ranked),
        accuracy=_accuracy(outcome, ranked),
        device_memory=device_line(ranked),
        short_runs=short_runs(runs, outcome.verdicts),
        cautions=cautions(outcome),
        ranked=ranked,
        runs=runs,
    )


def _row(
    contender: ContenderOutcome, outcome: Outcome, ranked: list[ContenderOutcome], unit: Unit, *, on_device: bool
) -> Row:
    """Put one contender into words."""
    step_s = contender.median_step_s
    interval = contender.step_s if contender.rounds >= FEWEST_ROUNDS else None
    step, low, high = quantity(interval, unit) if interval else (step_s and rounded(step_s * unit.per_base), "", "")
    first = unit_for([max((other.first_step_s or 0.0) for other in ranked)])
    ratio, ratio_interval, verdict = _against(contender, ranked[0], outcome)
    return Row(
        label=contender.label,
        colour=contender.plan.colour,
        step=f"{step} {unit.name}" if step else UNKNOWN,
        low=low,
        high=high,
        samples_per_s=_samples(contender, interval, outcome.comparison.batch_size),
        first_step=duration(contender.first_step_s, first),
        memory=size(_device_bytes(contender) if on_device else _process_bytes(contender)),
        ratio=ratio,
        interval=ratio_interval,
        verdict=verdict,
    )


def _against(contender: ContenderOutcome, first: ContenderOutcome, outcome: Outcome) -> tuple[str, str, str]:
    """Give ratio, interval and verdict of a contender against the first of the table; empty for the first itself."""
    verdict = between(outcome.verdicts, contender.label, first.label)
    if verdict is None:
        return "", "", ""
    return *ratio_parts(verdict, outcome.comparison.procedure.margin), kind(verdict)


def _samples(contender: ContenderOutcome, step_s: Interval | None, batch_size: int) -> str:
    """Give the throughput with the digits that the step time's interval carries."""
    if contender.samples_per_s is None:
        return UNKNOWN
    if step_s is None or step_s.low <= 0:
        return rounded(contender.samples_per_s)
    low, high = batch_size / step_s.high, batch_size / step_s.low
    return quantity(Interval(estimate=contender.samples_per_s, low=low, high=high), Unit("samples/s", 1.0)).estimate


def _device_bytes(contender: ContenderOutcome) -> int | None:
    """Give the peak of the framework's own allocator on an accelerator."""
    return contender.memory.device_peak_bytes if contender.memory else None


def _process_bytes(contender: ContenderOutcome) -> int | None:
    """Give the process's peak beyond what its framework's import had taken."""
    memory = contender.memory
    if memory is None or memory.peak_bytes is None or memory.baseline_bytes is None:
        return None
    return memory.peak_bytes - memory.baseline_bytes


def _absent(outcome: Outcome) -> list[Absent]:
    """List everything that was asked for and is not ranked."""
    others = [contender for contender in outcome.contenders if contender.status != "ranked"]
    missing = [Absent(label=one.label, status=one.status, reason=one.reason or "no reason is known") for one in others]
    excluded = outcome.comparison.excluded.items()
    return missing + [Absent(label=name, status="excluded", reason=reason) for name, reason in excluded]


def _work(outcome: Outcome) -> str:
    """Name the work in one line."""
    comparison = outcome.comparison
    counted = [one for one in outcome.contenders if one.status == "ranked"] or outcome.contenders
    options = [one.plan.contender.options for one in counted]
    precisions = sorted({option["precision"] for option in options if "precision" in option})
    devices = sorted({option["device"] for option in options if "device" in option})
    parts = [comparison.workload.name, comparison.scenario, f"batch {comparison.batch_size}"]
    parts += [] if comparison.size == "full" else [f"{comparison.size} size"]
    parts += ["/".join(precisions)] if precisions else []
    parts += ["/".join(devices)] if devices != ["cpu"] and devices else []
    inputs = sorted({option.get("input", "resident") for option in options} - {"resident"})
    parts += [f"input {'/'.join(inputs)}"] if inputs else []
    return ", ".join([*parts, source_name(outcome)])


def source_name(outcome: Outcome) -> str:
    """Give the name of the data source without its version: "digits"."""
    return outcome.comparison.data.source.partition(" (")[0]


def machine_line(outcome: Outcome) -> str:
    """Name the machine and tell how calm it was."""
    share = outcome.foreign_share
    load = "" if share is None else f" (foreign load {percent(share)})"
    busy = f"busy in {outcome.flagged_rounds} of {count(outcome.rounds, 'round')}" if outcome.flagged_rounds else "busy"
    return f"{machine_name(outcome)}, " + {True: "calm", False: busy, None: "noise unknown"}[outcome.calm] + load


def machine_name(outcome: Outcome) -> str:
    """Name what the steps ran on: "AMD EPYC, 2 cores"."""
    machine = outcome.comparison.machine
    cores = machine.get("usable_cores") or machine.get("cores")
    parts = [_gpu(machine), str(machine.get("processor") or "unknown processor")]
    parts += [count(int(cores), "core")] if cores else []
    return ", ".join(part for part in parts if part)


def _gpu(machine: dict[str, str | int | float | None]) -> str:
    """Name the GPU with the driver, on which its speed hangs, too; empty where there is none."""
    if not machine.get("gpu"):
        return ""
    known = {"driver": machine.get("gpu_driver"), "CUDA": machine.get("gpu_driver_cuda")}
    told = ", ".join(f"{name} {version}" for name, version in known.items() if version)
    return f"{machine['gpu']} ({told})" if told else str(machine["gpu"])


def _evidence(outcome: Outcome) -> str:
    """Tell what the numbers rest on."""
    aim = _AIMS[outcome.comparison.procedure.aim]
    return ", ".join([count(outcome.rounds, "round"), count(outcome.processes, "fresh process"), *aim])


def _accuracy(outcome: Outcome, ranked: list[ContenderOutcome]) -> str:
    """Tell what the contenders learned; empty where nothing was to be learned."""
    learned = [contender for contender in ranked if contender.accuracy is not None]
    if not learned:
        return ""
    steps = listed(dict.fromkeys(f"{contender.learning_steps:,}" for contender in learned))
    reached = ", ".join(f"{contender.label} {contender.accuracy:.3f}" for contender in learned)
    return f"Accuracy on held-out {source_name(outcome)} after {steps} training steps: {reached}."


def blocks_of(contender: ContenderOutcome) -> tuple[list[BlockTime], list[BlockTime]]:
    """Give a contender's blocks without and with foreign load."""
    calm = [block for block in contender.blocks if not block.flagged]
    return calm, [block for block in contender.blocks if block.flagged]
