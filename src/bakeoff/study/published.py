"""What a document published, as data, and the study that measures it here: at its own size, or scaled down.

A study of this kind is one TOML file in `shipped/`, or a user's own. Its rows are the document's, by the document's
names; each row says which contender stands for it, and which one on a machine without a GPU.
"""

from __future__ import annotations

import re
import shlex
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
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
from bakeoff.spec.errors import BakeoffError, UnknownNameError, UsageError
from bakeoff.spec.parts import OF_STEPS
from bakeoff.spec.published import EPOCHS, OF_SHARES_ALONE, Declared, PublishedStudy, Reproduces
from bakeoff.spec.request import Request
from bakeoff.spec.study import Point, Study
from bakeoff.spec.trial import FIXED
from bakeoff.study.benchmarks import filled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bakeoff.measure.system_settings import Facts
    from bakeoff.spec.published import Claim, Declared, PublishedRow

SHIPPED = Path(__file__).with_name("shipped")

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
"""Of a study: never the name of another folder than one in the results directory."""
_ID_SAID = "a folder's name of letters, digits, dots, dashes and underscores, a letter or digit first"

_BOUNDED = ("within", "mostly-within", "mean-difference", "most", "at-least")
"""Kinds of claims that say nothing without a number."""

SHARED = {"dai2022-table5": "dai2022-figure2"}
"""Tables that another study measures with what is its own: the name that a reader looks for, and the study's."""


def names() -> list[str]:
    """Return the names of the shipped studies."""
    return sorted(path.stem for path in SHIPPED.glob("*.toml"))


def known_names() -> list[str]:
    """Return every name that a shipped study can be asked for by."""
    return sorted([*names(), *SHARED])


def load(name: str) -> PublishedStudy:
    """Return a shipped study by one of its names, or a user's own by the path of its file, which ends in .toml."""
    path = Path(name) if name.endswith(".toml") else SHIPPED / f"{SHARED.get(name, name)}.toml"
    if path.parent == SHIPPED and not path.exists():
        kind = "study"
        raise UnknownNameError(kind, name, known_names())
    try:
        study = msgspec.convert(filled(tomllib.loads(path.read_text(encoding="utf-8"))), PublishedStudy)
        problems = _problems(study)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, msgspec.ValidationError, UsageError) as error:
        msg = f"{path} cannot be used as a study: {error}"
        raise UsageError(msg) from error
    if problems:
        msg = f"{path} cannot be used as a study: {'; '.join(problems)}"
        raise UsageError(msg)
    return study


def _problems(study: PublishedStudy) -> list[str]:
    """Return what does not fit together."""
    found = [] if _ID.fullmatch(study.id) else [f"id {study.id!r} is to be {_ID_SAID}"]
    found += [f"{kind} has none" for kind in ("machines", "rows") if not getattr(study, kind)]
    found += _twice("machine", [machine.name for machine in study.machines])
    found += _twice("row", [row.name for row in study.rows])
    found += [] if any(one.scaled for one in study.comparisons) else ["no comparison has a scaled variant"]
    found += _twice("comparison", [declared.name for declared in study.comparisons])
    for row in study.rows:
        parse_contender(row.contender)
        if row.on_cpu:
            parse_contender(row.on_cpu)
        if bool(row.on_cpu) == bool(row.missing):
            found.append(f"row {row.name!r} wants either on_cpu or missing, the reason why there is none")
    for declared in study.comparisons:
        found += _of_comparison(study, declared)
    measured = {name for declared in study.comparisons for figure in declared.figures for name in figure.memory_gb}
    found += [f"memory names {name!r}, which no figure has" for name in sorted({*study.memory} - measured)]
    found += _of_shape(study)
    return found + [problem for claim in study.claims for problem in _of_claim(study, claim)]


def _of_shape(study: PublishedStudy) -> list[str]:
    """Return what does not fit together in how the table or figure looks."""
    rows = {row.name for row in study.rows}
    named = [("difference", study.difference)] + [("drawing", panel.rows) for panel in study.drawing.panels]
    found = [f"{key} names {name!r}, which is no row" for key, names in named for name in names if name not in rows]
    if len(study.difference) not in (0, 2):
        found.append("difference names two rows, or none")
    return found + _of_ticks(study, rows)


def _of_ticks(study: PublishedStudy, rows: set[str]) -> list[str]:
    """Return what does not fit together in a table of ticks."""
    columns = study.ticks.columns if study.ticks else ()
    named = {row for column in columns for row in column.rows.values()}
    found = [f"ticks names {row!r}, which is no row" for row in sorted(named - rows)]
    found += _twice("ticks: column", [column.name for column in columns])
    for declared in study.comparisons:
        given = {name for ticks in declared.ticks for name in ticks.can}
        strange = sorted(given - {column.name for column in columns})
        found += [f"{declared.name}: ticks names {name!r}, which is no column of the study's ticks" for name in strange]
        found += _twice(f"{declared.name}: ticks of part", [ticks.part for ticks in declared.ticks])
    return found


def _of_claim(study: PublishedStudy, claim: Claim) -> list[str]:
    """Return what does not fit together within one claim."""
    known, rows = {one.name for one in study.comparisons}, {row.name for row in study.rows}
    strange = sorted({*claim.comparisons} - known) + sorted({*claim.rows} - rows)
    found = [f"claim {claim.text!r} names {name!r}, which is not there" for name in strange]
    apart = {one.name for one in study.comparisons if one.epochs_apart}
    if (claim.epoch is not None) != (claim.kind == "less-time") or (claim.epoch and {*claim.comparisons} - apart):
        found.append(f"claim {claim.text!r}: less-time and an epoch go together, where epochs are told apart")
    fewest = 0 if claim.of == "ticks" else 1 if claim.is_of_rows else 2
    if not claim.unmeasured and (not claim.comparisons or len(claim.rows) < fewest):
        found.append(f"claim {claim.text!r} wants comparisons and rows, or unmeasured, the reason why it has none")
    has_bound = claim.is_of_shares or claim.kind not in _BOUNDED
    if not (claim.unmeasured or has_bound or claim.percent or claim.taken_percent):
        found.append(f"claim {claim.text!r}: {claim.kind} wants percent, or taken_percent where the document has none")
    if claim.then and not claim.is_of_rows and claim.kind not in ("more", "within"):
        found.append(f"claim {claim.text!r}: then goes with more, as an order, and with within")
    batches = {one.batch_size for one in study.comparisons if one.name in claim.comparisons}
    if claim.kind == "grows" and len(batches) == 1:
        found.append(f"claim {claim.text!r}: grows is with the batch, and wants comparisons of several batch sizes")
    ticked = {one.name for one in study.comparisons if one.ticks}
    if claim.of == "ticks" and not claim.unmeasured and {*claim.comparisons} - ticked:
        found.append(f"claim {claim.text!r} is of ticks, and wants comparisons that have some")
    if claim.of == "overhead" and claim.kind not in ("most", "at-least"):
        found.append(f"claim {claim.text!r}: of overhead it is most or at-least these percent")
    return found + _of_shares(study, claim)


def _of_shares(study: PublishedStudy, claim: Claim) -> list[str]:
    """Return what does not fit together within a claim on shares, or in one of other quantities that has their kind."""
    if claim.unmeasured or not claim.is_of_shares:
        is_other = not claim.unmeasured and claim.kind in OF_SHARES_ALONE
        return [f"claim {claim.text!r}: {claim.kind} goes with shares of a step or a graph"] if is_other else []
    found = []
    if claim.of == "launches" or claim.of not in study.parts:
        found.append(f"claim {claim.text!r}: {claim.of} is no share that the study's parts name")
    if claim.kind not in ("most", *OF_SHARES_ALONE):
        found.append(f"claim {claim.text!r}: of shares it is most, each, about or least")
    if claim.kind == "each" and not (claim.percent or claim.taken_percent):
        found.append(f"claim {claim.text!r}: {claim.kind} wants percent, or taken_percent where the document has none")
    if claim.kind == "about" and not (claim.percent and claim.taken_percent):
        found.append(f"claim {claim.text!r}: about wants percent, and in taken_percent how far off is still that")
    if claim.kind == "least" and (len(claim.rows) != 1 or len(claim.comparisons) == 1):
        found.append(f"claim {claim.text!r}: least is of one row, in the first of several comparisons")
    return found


def _of_comparison(study: PublishedStudy, declared: Declared) -> list[str]:
    """Return what does not fit together within one comparison."""
    rows, machines = {row.name for row in study.rows}, {machine.name for machine in study.machines}
    found = []
    if study.unit_of(declared) == "s" and declared.run_steps() is None:
        found.append(f"{declared.name} has figures in s and needs steps, or epochs and samples")
    if declared.epochs_apart and (study.unit_of(declared) != "s" or declared.epochs != 1):
        found.append(f"{declared.name} tells epochs apart and needs figures in s, epochs = 1 and samples")
    for row, text in declared.contenders.items():
        parse_contender(text)
        found += [] if row in rows else [f"{declared.name}: contenders names {row!r}, which is no row"]
    found += [f"{declared.name}: rows names {row!r}, which is no row" for row in declared.rows if row not in rows]
    for figure in declared.figures:
        where = f"{declared.name}, {figure.row}"
        if figure.row not in rows:
            found.append(f"{where}: this row is not there")
        elif not declared.has(figure.row):
            found.append(f"{where}: this row does not race there")
        if not (figure.machine in machines if figure.machine else len(machines) == 1):
            found.append(f"{where}: machine {figure.machine!r} is not there")
        if figure.epoch and not declared.epochs_apart:
            found.append(f"{where}: epoch {figure.epoch} wants epochs_apart = true")
    for part in declared.parts:
        where = f"{declared.name}, {part.of}"
        found += [] if part.row in {"", *rows} else [f"{where}: row {part.row!r} is not there"]
        found += [] if part.of in study.parts else [f"{where}: the study's parts do not name it"]
    found += _twice(f"{declared.name}: part", [f"{part.of} {part.row}".strip() for part in declared.parts])
    named = [f"{one.row} {one.machine} {one.epoch or ''}".strip() for one in declared.figures]
    return found + _twice(f"{declared.name}: figure of", named)


def _twice(kind: str, given: list[str]) -> list[str]:
    """Return what is there twice."""
    return [f"{kind} {name!r} is there twice" for name in sorted({name for name in given if given.count(name) > 1})]


class Place(NamedTuple):
    """Where a study runs that the user names no device for."""

    device: str
    told: str = ""
    """Why it is the processor although a GPU is here; "" otherwise."""


def place_for(published: PublishedStudy, contenders: Sequence[str] = ()) -> Place:
    """Return where a study runs: on a GPU only where every framework of its rows that is here can use it.

    `contenders` race in place of the document's rows.
    """
    return place_of(contenders or [row.contender for row in published.rows], "the study runs")


def place_of(texts: Sequence[str], who: str) -> Place:
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
            return Place(PROCESSOR, told)
        return Place(NVIDIA if here else PROCESSOR)
    return Place("mps" if sys.platform == "darwin" and "arm" in str(machine.get("architecture", "")) else PROCESSOR)


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
