"""`--dry-run`: what would run, and how long that takes by what was measured here before."""

from __future__ import annotations

from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from bakeoff.cli.columns import columns, wrapped
from bakeoff.report.called import pasteable
from bakeoff.spec.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bakeoff.race.forecast import Forecast
    from bakeoff.spec.comparison import Comparison, ContenderPlan
    from bakeoff.spec.request import Request
    from bakeoff.spec.study import Study

INDENT = "  "

_UNITS = (("s", 1.0, 120.0), ("min", 60.0, 7200.0), ("h", 3600.0, float("inf")))
"""Of times, each with the seconds that it has, and up to how many it is used."""
FEW = 10.0
"""Below it a decimal says something of a time that is known within some tenths."""

VERSION = 1
"""Of the JSON object (docs/json-dry-run.md)."""


def check_printed(*, dry_run: bool, json: bool) -> None:
    """Raise UsageError where scripts are to be printed as JSON."""
    if dry_run and json:
        msg = "--dry-run prints scripts, which are no JSON: leave out --json"
        raise UsageError(msg)


def check(*, resume: bool, search: bool) -> None:
    """Check that it can be foreseen; raise UsageError where it cannot."""
    if search:
        msg = "--dry-run tells of races; in a search each attempt depends on the one before: leave out --max-batch"
        raise UsageError(msg)
    if resume:
        msg = "--dry-run tells of a new run, and --resume goes on with one: leave out one of them"
        raise UsageError(msg)


def tell(request: Request, *, json: bool, why: bool = False) -> None:
    """Print what one comparison would run; `why`: with its explanation behind it."""
    told = _forecast(request, Path(request.results))
    if why:
        told = _explained(told)
    if json:
        typer.echo(dumps({"version": VERSION, "comparisons": [_data(told)], **_total([told], None)}, indent=2))
        return
    behind = _why(told) if why else []
    for line in [*_work(told), *_stages(told), *_time(told), *behind, "", "Nothing was started or written."]:
        typer.echo(pasteable(line))


def _explained(told: Forecast) -> Forecast:
    """Return a forecast with the stages of an explanation."""
    import msgspec

    from bakeoff.race.forecast_why import stages_of_why

    return msgspec.structs.replace(told, stages=[*told.stages, *stages_of_why(len(told.comparison.contenders))])


def _why(told: Forecast) -> list[str]:
    """Return how long an explanation takes behind its race."""
    from bakeoff.race.forecast_why import seconds_of_why

    seconds = seconds_of_why(told)
    if seconds is None:
        return []
    traces, checks = (span(one, one) for one in seconds)
    budget = " A --budget is shared: half of it is the race's." if told.comparison.procedure.budget_s else ""
    return wrapped(f"Behind it, traces take {traces}, and races of suspects up to {checks[6:]}.{budget}")


def tell_study(study: Study, results: str, *, json: bool) -> None:
    """Print what the comparisons of a study would run."""
    from bakeoff.spec.text import count

    told = [_forecast(point.request, Path(results)) for point in study.points]
    if json:
        typer.echo(
            dumps(
                {"version": VERSION, "comparisons": [_data(one) for one in told], **_total(told, study.budget_s)},
                indent=2,
            )
        )
        return
    rows = [[point.title, _range(one), ", ".join(one.labels)] for point, one in zip(study.points, told, strict=True)]
    total = _total(told, study.budget_s)
    noticed = dict.fromkeys(said for one in told for said in _notices(one.comparison))
    time = span(total["low_s"], total["high_s"])
    roughly = "roughly " if any(one.unknown for one in told) else ""
    lines = [
        *wrapped(f"{study.title}: {count(len(told), 'comparison')}"),
        "",
        *columns([["comparison", "takes about", "contenders"], *rows], indent=INDENT),
        *[line for said in noticed for line in ["", *wrapped(said)]],
        "",
        *wrapped(f"In all {roughly}{time}{_share(study.budget_s)}{_not_counted(study)}."),
        *wrapped(f"{_unknown(told)}{_declared(study)}" if roughly else _from(told)),
        "",
        "Nothing was started or written.",
    ]
    for line in lines:
        typer.echo(pasteable(line))


def _forecast(request: Request, results: Path) -> Forecast:
    """Return what a request would run."""
    from bakeoff.race.forecast import earlier, forecast
    from bakeoff.race.other_size import by_other_size
    from bakeoff.race.prepare import outlined

    before = earlier(results)
    told = forecast(outlined(request), results, before)
    return told if not told.unknown else by_other_size(told, before) or told


# --- For people ---------------------------------------------------------------------------------------------------


def _work(told: Forecast) -> list[str]:
    """Return the work, and who would do it."""
    from bakeoff.cli.telling import chosen_gpu
    from bakeoff.spec.optimizer import describe
    from bakeoff.spec.per_sample import clipping_sentence
    from bakeoff.spec.scenario import SCENARIOS

    comparison = told.comparison
    size = comparison.workload.sizes[comparison.size]
    facts = [comparison.workload.name, comparison.scenario, f"{comparison.size} size", f"batch {comparison.batch_size}"]
    facts += [f"{size.parameters:,} parameters"] if size.parameters else []
    facts += [f"{comparison.data.source} data"]
    trains = SCENARIOS[comparison.scenario].trains
    trained = (
        [f"trained by {describe(comparison.workload.optimizer)}"] if trains and comparison.workload.optimizer else []
    )
    trained += [clipping_sentence(comparison.per_sample)] if comparison.per_sample else []
    reference = comparison.reference.contender.label if comparison.reference else "none"
    rows = [[plan.contender.label, _versions(plan), plan.interpreter] for plan in comparison.contenders]
    left_out = [[label, f"does not race: {why}"] for label, why in comparison.excluded.items()]
    return [
        *wrapped("; ".join([", ".join(facts), *trained])),
        "",
        *columns(rows, indent=INDENT),
        *columns(left_out, indent=INDENT),
        *columns([["reference", reference]], indent=INDENT),
        *(wrapped(chosen_gpu(comparison, {})) if comparison.machine.get("gpu_uuid") else []),
        *[line for said in _notices(comparison) for line in ["", *wrapped(said)]],
    ]


def _notices(comparison: Comparison) -> list[str]:
    """Return what is to be known before it is run."""
    from bakeoff.race.notices import foreseen_shapes

    return [*comparison.notices, *foreseen_shapes(comparison)]


def _versions(plan: ContenderPlan) -> str:
    """Return the versions that lie beside a contender's interpreter, which is not started."""
    from bakeoff.environments.declared import framework
    from bakeoff.environments.interpreters import versions_beside

    found = versions_beside(plan.interpreter, framework(plan.contender.framework).info)
    return ", ".join(f"{name} {version}" for name, version in found.items()) or "version not known"


def _stages(told: Forecast) -> list[str]:
    """Return the stages in their order, with how many processes each starts."""
    rows = [["stage", "processes", "what they do"]]
    rows += [[one.stage, _count(one.fewest, one.most), one.about] for one in told.stages]
    return ["", *columns(rows, indent=INDENT)]


def _count(fewest: int, most: int | None) -> str:
    """Return how many there are."""
    if most is None:
        return f"{fewest} and more"
    return f"{most}" if fewest == most else f"{fewest} to {most}"


def _time(told: Forecast) -> list[str]:
    """Return how long it takes, how many rounds a budget buys, and what that is known from."""
    if told.unknown:
        return ["", *wrapped(_unknown([told]))]
    behind_s = told.behind_s or 0.0
    behind = f", and behind the verdict up to {_seconds(behind_s)}" if behind_s >= 1 else ""
    whole = (
        f"Takes {_range(told)}: certificates {_seconds(told.certificates_s)}, then "
        f"{_count(told.fewest_rounds, told.most_rounds)} rounds of {_seconds(told.round_s)}{behind}{_whole_runs(told)}."
    )
    lines = [whole] if told.budget_rounds is None else [whole, _bought(told)]
    return ["", *[line for sentence in [*lines, _from([told])] for line in wrapped(sentence)]]


def _whole_runs(told: Forecast) -> str:
    """Return that the runs that were asked for beside the race are not in the time."""
    procedure = told.comparison.procedure
    return "" if procedure.epochs is None and procedure.steps is None else ", whole runs not counted"


def _bought(told: Forecast) -> str:
    """Return how many rounds a time budget buys, and whether that is enough for a verdict."""
    from bakeoff.stats.boundaries import LOOKS

    rounds = told.budget_rounds or 0
    few = f"; a verdict needs {LOOKS[0]}" if rounds < LOOKS[0] and len(told.labels) > 1 else ""
    noun, budget_s = "round" if rounds == 1 else "rounds", told.comparison.procedure.budget_s or 0.0
    return f"The budget of {time_text(budget_s)} buys about {rounds} {noun}{few}."


def _from(told: Sequence[Forecast]) -> str:
    """Return which earlier comparisons the times are from."""
    found = {
        source.id: f"{source.id} of {source.made_at[:10]} ({', '.join(source.contenders)})"
        for one in told
        for source in one.sources
    }
    counted = (
        ", where batch or size is another, and operations counted in each" if any(one.resized for one in told) else ""
    )
    return f"By what was measured on this machine in {'; '.join(found.values())}{counted}."


def _unknown(told: Sequence[Forecast]) -> str:
    """Return that times are not known, with a rough range."""
    labels = list(dict.fromkeys(label for one in told for label in one.unknown))
    head = f"How long is not known: nothing like it was run here before for {', '.join(labels)}."
    low_s = sum(one.low_s for one in told)
    if not any(one.least for one in told):
        high_s = sum(one.high_s or 0.0 for one in told)
        return f"{head} Roughly {span(low_s, high_s)} for a small network, and longer for a large one."
    return f"{head} By the operations of its steps alone {span(low_s, None)} on this processor{_parts(told)}."


def _parts(told: Sequence[Forecast]) -> str:
    """Return what the least time of a single race consists of; empty of several."""
    from bakeoff.race.least import LESS
    from bakeoff.spec.text import count

    least = told[0].least if len(told) == 1 else None
    if least is None:
        return ""
    parts = [f"certificates {time_text(least.reference_s + least.contenders_s)}"]
    if least.round_s:  # of what runs on a GPU nothing is counted
        parts.append(f"{count(told[0].fewest_rounds, 'round')} of {time_text(least.round_s)}")
    return f": {', '.join(parts)}; {LESS}"


def _declared(study: Study) -> str:
    """Return what a study declares that it takes, of one that reproduces a document as it is scaled here."""
    here = study.reproduces
    if here is None or not here.scaled:
        return ""
    return f" On two calm cores all of it took about {here.published.minutes:g} min, as the study declares."


def _share(budget_s: float | None) -> str:
    """Return what a study's budget does to that."""
    return (
        ""
        if budget_s is None
        else f"; they share a budget of {time_text(budget_s)}, and each finishes the round it began"
    )


def _not_counted(study: Study) -> str:
    """Return what is asked for beside the races and is not in the time."""
    requests = [point.request for point in study.points]
    runs = any(one.steps is not None or one.epochs is not None for one in requests)
    named = (["whole runs"] if runs else []) + (["traces"] if any(one.traced for one in requests) else [])
    return f"; {' and '.join(named)} not counted" if named else ""


def _range(told: Forecast) -> str:
    """Return how long a comparison takes."""
    return f"{span(told.low_s, told.high_s)}{' (rough)' if told.unknown else ''}"


def span(low_s: float, high_s: float | None) -> str:
    """Return a range of times: "about 29 s", "40 to 90 s", "50 s to 2 min", "2 min and more"."""
    low = time_text(low_s)
    if high_s is None:
        return f"{low} and more"
    high = time_text(high_s)
    if low == high:
        return f"about {high}"
    (number, unit), same = low.split(), low.split()[1] == high.split()[1]
    return f"{number if same else f'{number} {unit}'} to {high}"


def time_text(seconds: float) -> str:
    """Return a time in its unit, with at most two digits below 10 and without decimals from there on."""
    unit, per_s = next((unit, per_s) for unit, per_s, below_s in _UNITS if seconds < below_s)
    value = seconds / per_s
    return f"{value:.2g} {unit}" if value < FEW else f"{value:.0f} {unit}"


def _seconds(seconds: float | None) -> str:
    """Return a time: "about 12 s"."""
    return span(seconds or 0.0, seconds or 0.0)


# --- For programs -------------------------------------------------------------------------------------------------


def _total(told: Sequence[Forecast], budget_s: float | None) -> dict[str, Any]:
    """Return the whole time: of a study with a budget no more than that and a round of each."""
    low_s = sum(one.low_s for one in told)
    ends = [one.high_s for one in told]
    high_s = None if any(end is None for end in ends) else sum(end or 0.0 for end in ends)
    if budget_s is not None:
        last_s = budget_s + sum((one.certificates_s or 0.0) + (one.round_s or 0.0) for one in told)
        low_s, high_s = min(low_s, last_s), last_s if high_s is None else min(high_s, last_s)
    return {"budget_s": budget_s, "low_s": low_s, "high_s": high_s}


def _data(told: Forecast) -> dict[str, Any]:
    """Return one comparison's forecast as an object."""
    import msgspec

    comparison = told.comparison
    fields = msgspec.to_builtins(told)
    del fields["comparison"], fields["costs"]
    return {
        "workload": comparison.workload.name,
        "scenario": comparison.scenario,
        "size": comparison.size,
        "batch_size": comparison.batch_size,
        "data": comparison.data.source,
        "contenders": [
            {
                "label": plan.contender.label,
                "framework": plan.contender.framework,
                "interpreter": plan.interpreter,
                "options": plan.contender.options,
            }
            for plan in comparison.contenders
        ],
        "excluded": comparison.excluded,
        "notices": _notices(comparison),
        "reference": comparison.reference.contender.label if comparison.reference else None,
        "budget_s": comparison.procedure.budget_s,
        **fields,
    }
