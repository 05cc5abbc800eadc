"""`bakeoff use-case`: a comparison that is called by a use case's number and a benchmark; `run` in all else.

The four use cases are those of the project JAX-vs-PyTorch-on-GPU, whose pipeline is called by the same two words.
"""

import inspect
import sys
from typing import Annotated, Any

import typer

from bakeoff.cli import completing, parameters, run
from bakeoff.report.called import pasteable
from bakeoff.spec.errors import UsageError
from bakeoff.spec.use_cases import BENCHMARKS, USE_CASES, Benchmark, UseCase, benchmark_of, use_case_of

PAIR = 2
"""Contenders that race where none is named: the frameworks of the pipeline, which are our first two references."""

FEWEST = 2
"""Devices of use cases 2 and 4, where there are not several GPUs."""

Number = Annotated[
    str,
    typer.Argument(
        metavar="|".join(USE_CASES),
        help="; ".join(f"{number}: {one.meaning}" for number, one in USE_CASES.items()) + ".",
        autocompletion=completing.one_of(tuple(USE_CASES)),
    ),
]
Name = Annotated[
    str,
    typer.Option(
        metavar="|".join(BENCHMARKS),
        help="Which workload: "
        + "; ".join(
            f"{name}: {one.workload}" + (f", in 3 and 4 {one.per_sample}" if one.per_sample != one.workload else "")
            for name, one in BENCHMARKS.items()
        )
        + ".",
        autocompletion=completing.one_of(tuple(BENCHMARKS)),
    ),
]

Contenders = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="CONTENDER",
        help="framework[@environment][:option=value,...], as in `bakeoff run`; none: the pipeline's two.",
        show_default=False,
        autocompletion=completing.contenders,
    ),
]


def use_case(context: typer.Context, **given: Any) -> None:
    """Race torch and jax, or other contenders, in one of four use cases of a benchmark; all else as in `run`."""
    asked = meant(given)
    context.params |= asked
    run.run(context, **asked)


def meant(given: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters of `run` that a use case means here; raise UnknownNameError for an unknown one."""
    number, work = looked_up(given)
    given = {name: value for name, value in given.items() if name not in ("number", "benchmark")}
    contenders = given["contenders"] or pair()
    asked = given | {
        "contenders": contenders,
        "scenario": number.scenario,
        "workload": number.workload_of(work),
        "batch_size": given["batch_size"] or number.batch_size_of(work),
        "device": given["device"] or _device(contenders),
    }
    if number.several:
        asked["devices"] = given["devices"] or str(_devices(asked["device"]))
    return asked


def looked_up(given: dict[str, Any]) -> tuple[UseCase, Benchmark]:
    """Return the use case and the benchmark that are named.

    Raises UnknownNameError, which lists what is valid, and UsageError for devices that contradict the number.
    """
    number, work = use_case_of(given["number"]), benchmark_of(given["benchmark"])
    counts = parameters.counts(given["devices"], "--devices")
    if counts and (max(counts) > 1) != number.several:
        numbers = {(case.scenario, case.several): one for one, case in USE_CASES.items()}
        other = numbers[number.scenario, not number.several]
        msg = f"use case {given['number']} is {number.meaning}, not --devices {given['devices']}: "
        raise UsageError(msg + f"that is use case {other}, {USE_CASES[other].meaning}")
    return number, work


def pair() -> list[str]:
    """Return the frameworks that race where none is named."""
    from bakeoff.environments.declared import frameworks

    ranks = {name: declared.info.reference_rank for name, declared in frameworks().items()}
    return sorted(ranks, key=lambda name: ranks[name])[:PAIR]


def _device(contenders: list[str]) -> str | None:
    """Return cuda where a GPU is here that all contenders can use; else None: the frameworks' own, and why."""
    from bakeoff.environments.builds import NVIDIA
    from bakeoff.study.reproduction import place_of

    place = place_of(contenders, "the use case runs")
    if place.told:
        sys.stderr.write(f"{pasteable(place.told)}; --device cuda races those that can\n")
    return NVIDIA if place.device == NVIDIA else None


def _devices(device: str | None) -> int:
    """Return how many devices are several: all GPUs where it runs on these, and at least two."""
    from bakeoff.environments.builds import NVIDIA
    from bakeoff.measure.gpus import visible_count

    return max(FEWEST, visible_count()) if device == NVIDIA else FEWEST


def _signature() -> inspect.Signature:
    """Return the parameters of `run` with a number and a benchmark in the place of what they stand for."""
    of_run = inspect.signature(run.run)
    context, _, of_contenders, *options = of_run.parameters.values()
    contenders = of_contenders.replace(annotation=Contenders)
    keyword = inspect.Parameter.KEYWORD_ONLY
    number = inspect.Parameter("number", contenders.kind, annotation=Number)
    benchmark = inspect.Parameter("benchmark", keyword, annotation=Name)
    kept = [one for one in options if one.name != "scenario"]
    return of_run.replace(parameters=[context, number, contenders, benchmark, *kept])


use_case.__signature__ = _signature()  # type: ignore[attr-defined] # by which typer reads a function's parameters
use_case.__annotations__ = {one.name: one.annotation for one in _signature().parameters.values()} | {"return": None}
