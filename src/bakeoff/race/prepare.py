"""From a request to a comparison: everything is looked up and checked before the first process is started."""

from __future__ import annotations

from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import msgspec

import bakeoff
from bakeoff import data
from bakeoff.environments.builds import NVIDIA, PROCESSOR
from bakeoff.environments.declared import Framework, framework, frameworks
from bakeoff.environments.interpreters import NOT_INSTALLED, available, resolve
from bakeoff.environments.options import in_scenario, resolve_options, rounding_of, variables_of
from bakeoff.environments.tiers import NATIVE, expanded, preset
from bakeoff.measure.machine import usable_cores
from bakeoff.race import per_sample
from bakeoff.race.checks import check_memory, check_text, results_folder
from bakeoff.race.devices import lacking, machine_of, no_energy, without_device
from bakeoff.race.model_calls import with_more_exact, with_own_layers
from bakeoff.race.notices import notices
from bakeoff.race.padding import check_input, check_shapes, own_steps
from bakeoff.race.progress import Observer, ReadingData, silent
from bakeoff.race.scaling import check_scaling, cores_of_each, parts_of, scaled, sync_of, unlike_gpus
from bakeoff.spec.comparison import Comparison, ContenderPlan, Program
from bakeoff.spec.contender import Contender, parse_contenders
from bakeoff.spec.errors import BakeoffError, UnavailableError, UnknownNameError, UsageError
from bakeoff.spec.group import DEVICES, SYNC
from bakeoff.spec.options import RESIDENT, WATCHED, WATCHED_ON
from bakeoff.spec.scenario import SCENARIOS, Scenario
from bakeoff.spec.trial import Inputs
from bakeoff.stats.boundaries import LOOKS, MAX_CONTENDERS
from bakeoff.store.fingerprints import folder_sha256, packages_sha256
from bakeoff.store.inputs import inputs_folder
from bakeoff.workloads.executed import lines_sha256
from bakeoff.workloads.interpreter import check_model
from bakeoff.workloads.likewise import numbers_sha256, steps_sha256
from bakeoff.workloads.load import LoadedWorkload, load
from bakeoff.workloads.metric import check_metric
from bakeoff.workloads.work import mean_work

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from bakeoff.measure.system_settings import Facts
    from bakeoff.spec.request import Request
    from bakeoff.spec.workload import Workload


@contextmanager
def prepared(
    request: Request, observe: Observer = silent, *, asking: bool = False
) -> Iterator[tuple[Comparison, Path]]:
    """Yield the comparison that a request asks for and the folder of its batches, which is removed in the end.

    With `asking`, the interpreters of contenders on another device than the processor are asked for it first.
    """
    loaded, plans, excluded = checked(request)
    on = machine_of(request, plans)
    if asking:
        lacks = lacking(plans, on[0])
        plans, excluded = [plan for plan in plans if plan.contender.label not in lacks], excluded | lacks
        check_any(plans, excluded)
    workload, batch_size = loaded.workload, _batch_size(request, loaded)
    source = request.data or workload.data[0]
    steps = own_steps(request)
    check_memory(data.needed_bytes(source, workload, loaded.size(request.size), batch_size, steps))
    with inputs_folder(results_folder(request.results)) as folder:
        size = msgspec.structs.replace(loaded.size(request.size), batch_size=batch_size)
        whole = request.epochs is not None and request.steps is None
        if source not in MADE_AT_ONCE:
            observe(ReadingData(source))
        inputs = data.prepare(
            source,
            workload,
            size,
            batch_size,
            request.seed,
            folder,
            whole=whole,
            steps=steps,
            padding=request.padding,
            file=loaded.path,
        )
        check_shapes(loaded, size, _scenario(workload, request.scenario), inputs)
        comparison = _comparison(request, loaded, inputs, plans, excluded, on)
        check_text(comparison)
        yield comparison, folder


def outlined(request: Request) -> Comparison:
    """Return the comparison that a request asks for with nothing drawn or written: of its data there is the name alone.

    Raises as `prepared` does, but for what only drawing shows.
    """
    loaded, plans, excluded = checked(request)
    source, batch_size = request.data or loaded.workload.data[0], _batch_size(request, loaded)
    size, steps = loaded.size(request.size), own_steps(request)
    check_memory(data.needed_bytes(source, loaded.workload, size, batch_size, steps))
    inputs = Inputs(source=source, batches=0, sha256="", padding=request.padding)
    return _comparison(request, loaded, inputs, plans, excluded, machine_of(request, plans))


def checked(request: Request) -> tuple[LoadedWorkload, list[ContenderPlan], dict[str, str]]:
    """Return the workload, the plans, and the reason of each contender that is excluded.

    Raises UsageError or UnknownNameError for what is not there or cannot be.
    """
    loaded = load(request.workload)
    per_sample.check_separable(loaded, request.size, request.scenario)
    scenario, batch_size = _scenario(loaded.workload, request.scenario), _batch_size(request, loaded)
    _check_numbers(request, batch_size)
    per_sample.asked_of(request, scenario)
    size = loaded.size(request.size)
    check_model(loaded, msgspec.structs.replace(size, batch_size=batch_size), scenario)
    check_metric(loaded, size, request.seed)
    data.named(request.data, loaded.workload)
    padding = data.padding_of(request.padding, size.sample)
    plans, excluded = _plans(request, loaded.workload)
    plans = with_more_exact(plans, loaded, size, scenario)
    per_sample.check_option(plans, scenario)
    check_input(str(padding), plans)
    check_scaling(request, plans, scenario, batch_size)
    for part in parts_of(request.scaling, plans, batch_size):
        check_model(loaded, msgspec.structs.replace(size, batch_size=part), scenario)
    if request.reference_device not in (None, *REFERENCE_DEVICES):
        msg = f"--reference-device {request.reference_device}: valid: {', '.join(REFERENCE_DEVICES)}"
        raise UsageError(msg)
    return loaded, plans, excluded


def _comparison(
    request: Request,
    loaded: LoadedWorkload,
    inputs: Inputs,
    plans: list[ContenderPlan],
    excluded: dict[str, str],
    on: tuple[Facts, str],
) -> Comparison:
    """Return the comparison: all that is fixed before the first number is seen."""
    scenario, batch_size = _scenario(loaded.workload, request.scenario), _batch_size(request, loaded)
    size = msgspec.structs.replace(loaded.size(request.size), batch_size=batch_size)
    machine, gpu_why = on
    matched = [plan for plan in plans if plan.contender.options["tier"] != NATIVE]
    reference = _reference(matched, scenario, request.reference_device)
    return Comparison(
        id="",  # The name of its folder, which is made later.
        created_at=datetime.now(UTC).isoformat(timespec="microseconds"),
        bakeoff=bakeoff.__version__,
        workload=loaded.workload,
        workload_path=str(loaded.path.resolve()),
        workload_sha256=loaded.sha256,
        steps_sha256=steps_sha256(loaded, loaded.size(request.size), scenario),
        numbers_sha256=numbers_sha256(loaded, loaded.size(request.size), scenario),
        lines_sha256=lines_sha256(loaded, loaded.size(request.size), scenario),
        scenario=scenario,
        per_sample=per_sample.asked_of(request, scenario),
        size=request.size,
        batch_size=batch_size,
        scaling=request.scaling,
        work=mean_work(loaded.build, size, scenario, loaded.workload.optimizer, inputs.shapes()),
        data=inputs,
        contenders=plans,
        reference=reference and with_own_layers(reference, loaded, size, scenario),
        excluded=excluded,
        uninstalled=[] if request.contenders else [one for one in excluded if excluded[one].startswith(NOT_INSTALLED)],
        procedure=msgspec.structs.replace(request.procedure(), max_rounds=_max_rounds(request)),
        notices=[*request.noted, *notices(loaded, size, scenario, plans), *unlike_gpus(plans, machine)],
        no_energy=no_energy(plans, machine),
        machine=machine,
        gpu_why=gpu_why,
        command=request.command,
    )


MADE_AT_ONCE = ("synthetic", "digits", "graphs")
"""Sources of data that nobody waits for: bakeoff's own draws, and what a package brings along."""

REFERENCE_DEVICES = (PROCESSOR, NVIDIA)
"""Where there is float64."""


def _scenario(workload: Workload, wanted: str | None) -> Scenario:
    """Return the scenario, by default the workload's first; raise UnknownNameError for one that it lacks."""
    if wanted is None:
        return workload.scenarios[0]
    for scenario in workload.scenarios:
        if scenario == wanted:
            return scenario
    kind = f"scenario of {workload.name}"
    declared = f"one that its file declares: scenarios={(*workload.scenarios, wanted)}"
    raise UnknownNameError(kind, wanted, workload.scenarios, declared if wanted in SCENARIOS else "")


def _batch_size(request: Request, loaded: LoadedWorkload) -> int:
    """Return the batch size, by default the size's own."""
    return loaded.size(request.size).batch_size if request.batch_size is None else request.batch_size


def _check_numbers(request: Request, batch_size: int) -> None:
    """Raise UsageError for a number that cannot be, with its valid range."""
    request.check()
    most, last = _max_rounds(request), LOOKS[-1]
    any_number = "a whole number from 1 on"
    limited = any_number if request.aim == "until-sure" else f"a whole number from 1 to {last}, any with --until-sure"
    checks = (
        ("batch size", batch_size, batch_size >= 1, any_number),
        ("rounds", most, most is None or (most >= 1 and (request.aim == "until-sure" or most <= last)), limited),
        ("threads", request.threads, request.threads is None or request.threads >= 1, any_number),
    )
    for name, value, is_valid, valid in checks:
        if not is_valid:
            msg = f"{name} {value} cannot be; valid: {valid}"
            raise UsageError(msg)


def _max_rounds(request: Request) -> int | None:
    """Return the number of rounds after which a comparison ends; None where nothing limits it."""
    if request.max_rounds is None and request.aim != "until-sure":
        return LOOKS[-1]
    return request.max_rounds


def _plans(request: Request, workload: Workload) -> tuple[list[ContenderPlan], dict[str, str]]:
    """Return a plan for each contender that can race, and the reasons for those that cannot.

    Raises for an unknown name; a framework that is merely not installed is excluded, and the others race on.
    """
    texts = request.contenders
    excluded: dict[str, str] = {}
    if not texts:
        interpreters, excluded = available()
        without = without_device(run_wide(request).get("device"), tuple(interpreters))
        texts, excluded = tuple(name for name in interpreters if name not in without), excluded | without
    plans = []
    contenders = scaled(expanded(parse_contenders(texts), request.tiers), request.devices)
    cores = cores_of_each(contenders, run_wide(request))
    for contender in contenders:
        try:
            plans.append(_plan(contender, request, workload, cores))
        except UnavailableError as error:
            excluded[contender.label] = str(error)
    if len(plans) > MAX_CONTENDERS:
        msg = f"{len(plans)} contenders are too many for one comparison; valid: up to {MAX_CONTENDERS}"
        raise UsageError(msg)
    check_any(plans, excluded)
    return plans, excluded


def check_any(plans: list[ContenderPlan], excluded: dict[str, str]) -> None:
    """Raise UsageError where no contender is left, with the reason of each."""
    if not plans:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in excluded.items())
        msg = f"no contender can race. {reasons}"
        raise UsageError(msg)


def _plan(contender: Contender, request: Request, workload: Workload, cores: int) -> ContenderPlan:
    """Return the plan of one contender: its framework, its options and its interpreter; each device has these cores."""
    declared = framework(contender.framework)
    wanted = run_wide(request)
    optimizer = type(workload.optimizer).__name__ if workload.optimizer else ""
    best = preset(declared.info, contender, wanted, cores, optimizer)
    asked = wanted | contender.options | best.options
    info = in_scenario(declared.info, asked, _scenario(workload, request.scenario))
    declared = msgspec.structs.replace(declared, info=info)
    options = resolve_options(declared.info, msgspec.structs.replace(contender, options=asked), {}, cores)
    plan = _with_options(declared, contender, options, asked)
    program, why = _program(declared, contender, options, asked, cores)
    plan = msgspec.structs.replace(plan, best=best.settings, best_left=best.left, program=program, no_program=why)
    if not request.inject:
        return plan
    same = {name: value for name, value in options.items() if name == "threads"}
    return _injected(plan, declared, contender, asked | same, request.inject)


def _injected(
    plan: ContenderPlan, declared: Framework, contender: Contender, asked: dict[str, str], inject: dict[str, str]
) -> ContenderPlan:
    """Return a plan whose framework gets other options than it is judged by, with the variables that belong to them."""
    wanted = msgspec.structs.replace(contender, options=asked | inject)
    options = resolve_options(declared.info, wanted, {}, usable_cores())
    if options == plan.contender.options:
        msg = f"{', '.join(map('='.join, inject.items()))} plants no fault: it is what {contender.label} is asked for"
        raise UsageError(msg)
    return msgspec.structs.replace(plan, injected=inject, variables=variables_of(declared.info, options))


def _program(
    declared: Framework, contender: Contender, options: dict[str, str], asked: dict[str, str], cores: int
) -> tuple[Program | None, str]:
    """Return how a contender's code runs in float64, or why it does not; neither where it is timed in float64.

    Batches are on the device, and malloc is set for float64: what does not compute is checked in the settings that are
    timed.
    """
    info = declared.info
    if options["tier"] == NATIVE or options.get("precision") == "float64":
        return None, ""
    support = info.options.get("precision")
    if support is None or "float64" not in support.values:
        why = support.why if support and support.why else "it has no such precision"
        return None, f"{info.title} is not run in float64: {why}"
    aside = {"input": RESIDENT, "malloc": "settled"}
    wanted = asked | {"precision": "float64"} | {name: value for name, value in aside.items() if name in options}
    if not info.listed:  # A script has no arithmetic: what it says in float64 is what the reference says.
        wanted = {name: options[name] for name in (DEVICES, SYNC) if name in options} | (info.reference or {})
    try:
        chosen = resolve_options(info, msgspec.structs.replace(contender, options=wanted), {}, cores)
    except BakeoffError as error:
        return None, f"it has no float64 in these settings: {error}"
    return Program(options=chosen, variables=variables_of(info, chosen)), ""


def run_wide(request: Request) -> dict[str, str]:
    """Return the options that hold for all contenders alike."""
    named = {"device": request.device, "threads": None if request.threads is None else str(request.threads)}
    return request.options | {name: value for name, value in named.items() if value is not None}


def _with_options(
    declared: Framework, contender: Contender, options: dict[str, str], asked: dict[str, str]
) -> ContenderPlan:
    """Return the plan of a contender with these options resolved and those asked for."""
    interpreter = resolve(contender, declared, options.get("device", PROCESSOR))
    return ContenderPlan(
        asked=asked,
        watched=(*WATCHED, *WATCHED_ON.get(options.get("device", ""), ()), *declared.info.watched),
        joins_steps=declared.info.joins_steps,
        contender=msgspec.structs.replace(contender, options=options),
        interpreter=interpreter,
        packages_sha256=packages_sha256(interpreter),
        framework_path=str(declared.path.resolve()),
        framework_sha256=folder_sha256(declared.path),
        rounding=rounding_of(declared.info, options),
        variables=variables_of(declared.info, options),
        sync=sync_of(declared.info, options),
        cache_variables=_cache_variables(declared, options),
        scripted=not declared.info.listed,
        cache_kept=bool(declared.info.cache and declared.info.cache.kept),
        colour=declared.info.colour,
        title=declared.info.title,
    )


def _cache_variables(declared: Framework, options: dict[str, str]) -> dict[str, str] | None:
    """Return the variables with which a compiler keeps its work for the next process; None where it keeps none."""
    cache = declared.info.cache
    if cache is None or options.get("mode") not in cache.modes:
        return None
    return {variable.name: variable.value for variable in cache.variables}


def _reference(plans: list[ContenderPlan], scenario: Scenario, device: str | None) -> ContenderPlan | None:
    """Return the contender that computes the reference in float64: the best-ranked framework that can, if it is here.

    A scripted framework is its own reference, as no arithmetic stands behind it. On a GPU it is one of the contenders
    that run there: their environments are known to. None where no contender needs one.
    """
    if not plans:
        return None
    known = frameworks()
    there = [plan for plan in plans if plan.contender.on_cuda] if device == NVIDIA else []
    device, plans = device if there else None, there or plans
    names = {plan.contender.framework for plan in plans}
    candidates = [known[name] for name in names if not known[name].info.listed]
    if not candidates:
        candidates = [declared for declared in known.values() if declared.info.listed and not declared.problem]
        candidates = [one for one in candidates if not there or one.info.name in names]
    for declared in sorted(candidates, key=lambda one: one.info.reference_rank):
        if declared.info.reference is None:
            continue
        named = [plan for plan in plans if plan.contender.framework == declared.info.name]
        environment = named[0].contender.environment if named else None
        wanted = Contender(
            framework=declared.info.name,
            label=f"{declared.info.name} in float64" + (f" on {device}" if device == NVIDIA else ""),
            environment=environment,
            options=declared.info.reference
            | ({} if device is None else {"device": device})
            | per_sample.plainest(declared, scenario),
        )
        try:
            options = resolve_options(declared.info, wanted, {}, usable_cores())
            return _with_options(declared, wanted, options, wanted.options)
        except BakeoffError:
            continue  # Not here: the next framework by rank is asked.
    return None
