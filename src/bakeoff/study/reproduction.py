"""The study that measures a document's figures here, at its own size or scaled down, and where its contenders run."""

from __future__ import annotations

import shlex
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from bakeoff.environments import probe
from bakeoff.environments.builds import NVIDIA, PROCESSOR
from bakeoff.environments.declared import framework, frameworks
from bakeoff.environments.interpreters import resolve
from bakeoff.environments.options import resolve_options
from bakeoff.environments.usable import why_not
from bakeoff.measure.machine import describe, usable_cores
from bakeoff.spec.contender import Contender, parse_contender
from bakeoff.spec.errors import BakeoffError, UsageError
from bakeoff.spec.parts import OF_STEPS
from bakeoff.spec.published import EPOCHS, Reproduces
from bakeoff.spec.request import Request
from bakeoff.spec.study import Point, Study
from bakeoff.spec.trial import FIXED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bakeoff.measure.system_settings import Facts
    from bakeoff.spec.published import Declared, PublishedRow, PublishedStudy


class DefaultDevice(NamedTuple):
    """Where a study runs that the user names no device for."""

    device: str
    told: str = ""
    """Why it is the processor although a GPU is here; "" otherwise."""


def place_for(published: PublishedStudy, contenders: Sequence[str] = ()) -> DefaultDevice:
    """Return where a study runs: on a GPU only where every framework of its rows that is here can use it.

    `contenders` race in place of the document's rows.
    """
    return place_of(contenders or [row.contender for row in published.rows], "the study runs")


def place_of(texts: Sequence[str], who: str) -> DefaultDevice:
    """Return where contenders run: on a GPU only where each framework of theirs that is here can use it.

    Their interpreters are asked, where NVML reports a GPU. `who` does what, as in "the study runs".
    """
    machine = describe()
    if machine.get("gpu"):
        here = [text for text in dict.fromkeys(texts) if not _problem(text, NVIDIA)]
        lacks = _without_gpu(here, machine)
        if lacks:
            reasons = "; ".join(f"{name}: {why}" for name, why in lacks.items())
            told = f"a GPU is here ({machine['gpu']}), and {who} on the processor: {reasons}"
            return DefaultDevice(PROCESSOR, told)
        return DefaultDevice(NVIDIA if here else PROCESSOR)
    return DefaultDevice(
        "mps" if sys.platform == "darwin" and "arm" in str(machine.get("architecture", "")) else PROCESSOR
    )


def _without_gpu(texts: Sequence[str], machine: Facts) -> dict[str, str]:
    """Return, by contender, why those that are here cannot use the GPU."""

    def ask(text: str) -> str:
        contender = parse_contender(text)
        declared = framework(contender.framework)
        interpreter = resolve(contender, declared, NVIDIA)
        options = {name: support.default for name, support in declared.info.options.items()}
        options |= contender.options | {"device": NVIDIA}
        answer = probe.probe(interpreter, declared.path, device=NVIDIA)
        return why_not(declared.info, answer, options, machine, contender.environment)

    with ThreadPoolExecutor(max_workers=max(1, len(texts))) as pool:
        return {text: why for text, why in zip(texts, pool.map(ask, texts), strict=True) if why}


def declare(  # noqa: PLR0913 - as many as the command has
    published: PublishedStudy,
    *,
    full: bool = False,
    device: str | None = None,
    contenders: Sequence[str] = (),
    seed: int = 0,
    budget_s: float | None = None,
    command: str = "",
) -> Study:
    """Return the study that measures these figures; raise UsageError where nothing of it can be run here.

    `contenders` race in place of the document's; one that is a row's own, in whatever environment, stands for that row.
    """
    device = device or place_for(published, contenders).device
    here = Reproduces(published=published, scaled=not full, device=device)
    wanted = [declared for declared in published.comparisons if full or declared.scaled]
    tried = [_point(here, declared, contenders, seed) for declared in wanted]
    points = [point for point in tried if point.request.contenders]
    if not points:
        reasons = [f"{name}: {why}" for name, why in tried[0].left_out.items()]
        msg = f"nothing of {published.id} can be run here. {'; '.join(reasons)}"
        raise UsageError(msg)
    return Study(
        name=published.id,
        title=published.full_title(),
        points=points,
        budget_s=budget_s,
        command=command,
        reproduces=here,
    )


def _point(here: Reproduces, declared: Declared, given: Sequence[str], seed: int) -> Point:
    """Return one comparison, at its own size or scaled down."""
    rows = [_of_declared(row, declared) for row in here.published.rows_of(declared)]
    placed, left_out = _given(rows, here, given) if given else _own(rows, here)
    raced = given or [text for text in dict.fromkeys(placed.values()) if text not in left_out]
    smaller, parts = declared.scaled if here.scaled else None, {*here.published.parts}
    request = Request(
        workload=declared.workload,
        contenders=tuple(raced),
        scenario=declared.scenario,
        batch_size=(smaller and smaller.batch_size) or declared.batch_size,
        size=(smaller and smaller.size) or declared.size,
        device=here.device,
        steps=_steps(here, declared),
        epochs=EPOCHS if declared.epochs_apart else None,
        padding=declared.padding,
        max_rounds=smaller.rounds if smaller else None,
        seed=seed,
        traced=bool(parts),
        # Counts of a graph are the same in every round.
        trace_rounds=1 if parts and not parts & OF_STEPS else None,
    )
    alone = msgspec.structs.replace(request, command=_command(request))
    return Point(title=declared.name, request=alone, left_out=left_out, rows=placed)


def _steps(here: Reproduces, declared: Declared) -> int | None:
    """Return the steps of whole runs, which only a document makes whose figures are of such runs."""
    if here.published.unit_of(declared) != "s":
        return None
    return declared.scaled.steps if here.scaled and declared.scaled else declared.run_steps()


def _command(request: Request) -> str:
    """Return the command that repeats one comparison alone."""
    options = {
        "--scenario": request.scenario,
        "--batch-size": request.batch_size,
        "--size": request.size if request.size != "full" else None,
        "--device": request.device,
        "--padding": request.padding if request.padding != FIXED else None,
        "--epochs": request.epochs,
        "--steps": request.steps,
        "--rounds": request.max_rounds,
        "--seed": request.seed or None,
    }
    words = [word for name, value in options.items() if value is not None for word in (name, str(value))]
    return shlex.join(["bakeoff", "run", request.workload, *request.contenders, *words])


def _of_declared(row: PublishedRow, declared: Declared) -> PublishedRow:
    """Return a row with the contender that stands for it in this comparison."""
    text = declared.contenders.get(row.name)
    return row if text is None else msgspec.structs.replace(row, contender=text, on_cpu=row.on_cpu and text)


def _own(rows: Sequence[PublishedRow], here: Reproduces) -> tuple[dict[str, str], dict[str, str]]:
    """Return the contender of each row, and why some of them cannot race."""
    placed = {row.name: stand_in(row, here.kind) or row.contender for row in rows}
    left_out = {row.contender: row.missing for row in rows if not stand_in(row, here.kind)}
    problems = {text: _problem(text, here.device) for text in placed.values() if text not in left_out}
    return placed, left_out | {text: problem for text, problem in problems.items() if problem}


def _given(
    rows: Sequence[PublishedRow], here: Reproduces, given: Sequence[str]
) -> tuple[dict[str, str], dict[str, str]]:
    """Return the contender of each row for which one of these stands; the others are not asked for."""
    known = {_what(parse_contender(text)): text for text in reversed(given)}
    wanted = {row.name: stand_in(row, here.kind) for row in rows}
    keys = {name: _what(parse_contender(text)) for name, text in wanted.items() if text}
    return {name: known[key] for name, key in keys.items() if key in known}, {}


def stand_in(row: PublishedRow, kind: str) -> str:
    """Return the contender that stands for a row on a kind of device; empty where none can."""
    return row.on_cpu if kind == "cpu" else row.contender


def processor_contenders(published: PublishedStudy) -> int:
    """Return how many contenders the scaled variant has on a processor where every framework is, by comparisons."""
    scaled = [one for one in published.comparisons if one.scaled]
    rows = [[_of_declared(row, one) for row in published.rows_of(one)] for one in scaled]
    return sum(len({stand_in(row, "cpu") for row in mine} - {""}) for mine in rows)


def _what(contender: Contender) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Return what makes a contender the same in every environment."""
    return contender.framework, tuple(sorted(contender.options.items()))


def _problem(text: str, device: str) -> str:
    """Return why a contender cannot race here; empty where it can."""
    contender = parse_contender(text)
    if contender.framework not in frameworks():
        return f"bakeoff has no framework {contender.framework!r}"
    try:
        declared = framework(contender.framework)
        resolve_options(declared.info, contender, {"device": device}, usable_cores())
        resolve(contender, declared, contender.options.get("device", device))
    except BakeoffError as error:
        return str(error)
    return ""
