"""From a request to a comparison: everything is looked up and checked before the first process is started."""

from __future__ import annotations

import secrets
import tempfile
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import msgspec

import bakeoff
from bakeoff import data
from bakeoff.environments.declared import Framework, framework, frameworks
from bakeoff.environments.interpreters import available, resolve
from bakeoff.environments.options import resolve_options, variables_of
from bakeoff.environments.tiers import NATIVE, expanded, preset
from bakeoff.measure.energy import meters
from bakeoff.measure.machine import describe, usable_cores
from bakeoff.race.inputs import inputs_folder
from bakeoff.spec.comparison import Aim, Comparison, ContenderPlan, Procedure
from bakeoff.spec.contender import Contender, parse_contenders
from bakeoff.spec.errors import BakeoffError, StoreError, UnavailableError, UnknownNameError, UsageError
from bakeoff.spec.options import WATCHED
from bakeoff.stats.boundaries import LOOKS
from bakeoff.workloads.load import LoadedWorkload, load

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bakeoff.spec.request import Request
    from bakeoff.spec.scenario import Scenario
    from bakeoff.spec.trial import Inputs
    from bakeoff.spec.workload import Workload

LARGEST_FAMILY = 9
"""Contenders: the boundary table ends at the 36 pairs of nine."""


@contextmanager
def prepared(request: Request) -> Iterator[tuple[Comparison, Path]]:
    """Give the comparison that a request asks for and the folder of its batches, which is removed in the end."""
    loaded, plans, excluded = checked(request)
    workload, batch_size = loaded.workload, _batch_size(request, loaded)
    source = request.data or workload.data[0]
    with inputs_folder(_results(request.results)) as folder:
        size = loaded.size(request.size)
        whole = request.epochs is not None and request.steps is None
        inputs = data.prepare(source, workload, size, batch_size, request.seed, folder, whole=whole)
        comparison = _comparison(request, loaded, inputs, plans, excluded)
        _check_text(comparison)
        yield comparison, folder


def checked(request: Request) -> tuple[LoadedWorkload, list[ContenderPlan], dict[str, str]]:
    """Look up all that a request names; give the workload, plans, and who is excluded for which reason."""
    loaded = load(request.workload)
    _scenario(loaded.workload, request.scenario)
    _check_numbers(request, _batch_size(request, loaded))
    data.named(request.data, loaded.workload)
    return loaded, *_plans(request, loaded.workload)


def _comparison(
    request: Request,
    loaded: LoadedWorkload,
    inputs: Inputs,
    plans: list[ContenderPlan],
    excluded: dict[str, str],
) -> Comparison:
    """Put together what is fixed before the first number is seen."""
    return Comparison(
        id=f"{loaded.workload.name}-{secrets.token_hex(2)}",
        created_at=datetime.now(UTC).isoformat(timespec="microseconds"),
        bakeoff=bakeoff.__version__,
        workload=loaded.workload,
        workload_path=str(loaded.path.resolve()),
        workload_sha256=loaded.sha256,
        scenario=_scenario(loaded.workload, request.scenario),
        size=request.size,
        batch_size=_batch_size(request, loaded),
        data=inputs,
        contenders=plans,
        reference=_reference([plan for plan in plans if plan.contender.options["tier"] != NATIVE]),
        excluded=excluded,
        procedure=Procedure(
            margin=request.margin,
            aim=request.aim,
            max_rounds=_max_rounds(request),
            budget_s=request.budget_s,
            trial_limit_s=request.trial_limit_s,
            seed=request.seed,
            epochs=request.epochs,
            steps=request.steps,
            repeats=request.repeats,
        ),
        no_energy=meters(sorted({plan.contender.options.get("device", "cpu") for plan in plans}))[1],
        machine=describe(),
        command=request.command,
    )


def _scenario(workload: Workload, wanted: str | None) -> Scenario:
    """Give the scenario, which the workload must have."""
    if wanted is None:
        return workload.scenarios[0]
    for scenario in workload.scenarios:
        if scenario == wanted:
            return scenario
    kind = f"scenario of {workload.name}"
    raise UnknownNameError(kind, wanted, workload.scenarios)


def _batch_size(request: Request, loaded: LoadedWorkload) -> int:
    """Give the batch size, by default the size's own."""
    return loaded.size(request.size).batch_size if request.batch_size is None else request.batch_size


def _check_numbers(request: Request, batch_size: int) -> None:
    """Refuse numbers that cannot be, each with its valid range."""
    if request.aim not in get_args(Aim):
        raise UnknownNameError("aim", request.aim, get_args(Aim))
    most, last = _max_rounds(request), LOOKS[-1]
    rounds = "a whole number from 1 " + ("on" if request.aim == "until-sure" else f"to {last}, any with --until-sure")
    checks = (
        ("batch size", batch_size, batch_size >= 1, "a whole number from 1 on"),
        ("rounds", most, most is None or (most >= 1 and (request.aim == "until-sure" or most <= last)), rounds),
        ("margin", request.margin, 0.0 < request.margin < 1.0, "between 0 and 1, such as 0.05 or 5%"),
        ("budget", request.budget_s, request.budget_s is None or request.budget_s > 0, "above 0, such as 90s or 5m"),
        ("trial limit", request.trial_limit_s, request.trial_limit_s > 0, "above 0, such as 90s or 10m"),
        ("seed", request.seed, 0 <= request.seed < 2**32, "a whole number from 0 to 4294967295"),
        ("epochs", request.epochs, request.epochs is None or request.epochs >= 1, "a whole number from 1 on"),
        ("steps", request.steps, request.steps is None or request.steps >= 1, "a whole number from 1 on"),
        ("repeats", request.repeats, request.repeats >= 1, "a whole number from 1 on"),
        ("threads", request.threads, request.threads is None or request.threads >= 1, "a whole number from 1 on"),
    )
    for name, value, fine, valid in checks:
        if not fine:
            msg = f"{name} {value} cannot be; valid: {valid}"
            raise UsageError(msg)


def _max_rounds(request: Request) -> int | None:
    """Give the number of rounds after which a comparison ends; None: no such number."""
    if request.max_rounds is None and request.aim != "until-sure":
        return LOOKS[-1]
    return request.max_rounds


def _results(results: str) -> Path:
    """Make the results directory and see that it can be written."""
    folder = Path(results)
    _check_text(str(folder.absolute()))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError as error:
        msg = f"results directory {folder} cannot be written: {error.strerror}; name another one by --results DIR"
        raise UsageError(msg) from error


def _check_text(content: object) -> None:
    """Refuse names that no record could hold: records are UTF-8, and names of files need not be."""
    try:
        msgspec.json.encode(content)
    except UnicodeEncodeError as error:
        msg = f"{error.object!r} is not UTF-8, and records are; use another name"
        raise UsageError(msg) from error


def _plans(request: Request, workload: Workload) -> tuple[list[ContenderPlan], dict[str, str]]:
    """Give a plan for each contender that can race, and the reasons for those that cannot.

    A word that nothing answers to is an error; a framework that is merely not here is told, and the others race on.
    """
    texts = request.contenders
    excluded: dict[str, str] = {}
    if not texts:
        interpreters, excluded = available()
        texts = tuple(interpreters)
    plans = []
    for contender in expanded(parse_contenders(texts), request.tiers):
        try:
            plans.append(_plan(contender, request, workload))
        except UnavailableError as error:
            excluded[contender.label] = str(error)
    if len(plans) > LARGEST_FAMILY:
        msg = f"{len(plans)} contenders are too many for one comparison; valid: up to {LARGEST_FAMILY}"
        raise UsageError(msg)
    if not plans:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in excluded.items())
        msg = f"no contender can race. {reasons}"
        raise UsageError(msg)
    return plans, excluded


def _plan(contender: Contender, request: Request, workload: Workload) -> ContenderPlan:
    """Resolve one contender: its framework, its options and its interpreter."""
    declared = framework(contender.framework)
    wanted = run_wide(request)
    optimizer = type(workload.optimizer).__name__ if workload.optimizer else ""
    best = preset(declared.info, contender, wanted, usable_cores(), optimizer)
    asked = wanted | contender.options | best.options
    options = resolve_options(declared.info, msgspec.structs.replace(contender, options=asked), {}, usable_cores())
    plan = _with_options(declared, contender, options, asked)
    return msgspec.structs.replace(plan, best=best.settings, best_left=best.left)


def run_wide(request: Request) -> dict[str, str]:
    """Give the options that hold for all contenders alike."""
    named = {"device": request.device, "threads": None if request.threads is None else str(request.threads)}
    return request.options | {name: value for name, value in named.items() if value is not None}


def _with_options(
    declared: Framework, contender: Contender, options: dict[str, str], asked: dict[str, str]
) -> ContenderPlan:
    """Put a plan together."""
    return ContenderPlan(
        asked=asked,
        watched=(*WATCHED, *declared.info.watched),
        contender=msgspec.structs.replace(contender, options=options),
        interpreter=resolve(contender, declared),
        framework_path=str(declared.path.resolve()),
        variables=variables_of(declared.info, options),
        cache_variables=_cache_variables(declared, options),
        colour=declared.info.colour,
        title=declared.info.title,
    )


def _cache_variables(declared: Framework, options: dict[str, str]) -> dict[str, str] | None:
    """Give what to set for a compiler that keeps its work for the next process; None where none is kept."""
    cache = declared.info.cache
    if cache is None or options.get("mode") not in cache.modes:
        return None
    return {variable.name: variable.value for variable in cache.variables}


def _reference(plans: list[ContenderPlan]) -> ContenderPlan | None:
    """Give the contender that computes the reference in float64: the best-ranked framework that is here.

    A scripted framework refers to itself, as no arithmetic stands behind it. Where nobody is to be held against it,
    there is none.
    """
    if not plans:
        return None
    known = frameworks()
    names = {plan.contender.framework for plan in plans}
    candidates = [known[name] for name in names if not known[name].info.listed]
    if not candidates:
        candidates = [declared for declared in known.values() if declared.info.listed and not declared.problem]
    for declared in sorted(candidates, key=lambda one: one.info.reference_rank):
        if declared.info.reference is None:
            continue
        named = [plan for plan in plans if plan.contender.framework == declared.info.name]
        environment = named[0].contender.environment if named else None
        wanted = Contender(
            framework=declared.info.name,
            label=f"{declared.info.name} in float64",
            environment=environment,
            options=declared.info.reference,
        )
        try:
            options = resolve_options(declared.info, wanted, {}, usable_cores())
            return _with_options(declared, wanted, options, wanted.options)
        except BakeoffError:
            continue  # Not here: the next framework by rank is asked.
    return None


def new_folder(results: Path, comparison: Comparison) -> tuple[Path, Comparison]:
    """Make the folder of a new comparison; an id that is taken already is drawn again."""
    while True:
        folder = results / comparison.id
        try:
            folder.mkdir()
        except FileExistsError:
            fresh = f"{comparison.workload.name}-{secrets.token_hex(2)}"
            comparison = msgspec.structs.replace(comparison, id=fresh)
        except OSError as error:
            msg = f"cannot make {folder}: {error.strerror}"
            raise StoreError(msg) from error
        else:
            return folder, comparison
