"""Suspects checked by a race: both contenders again, the slower one with switches turned, and a control, by turns."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from bakeoff.environments.declared import framework
from bakeoff.judge import explained
from bakeoff.judge.causes import DENORMALS, FAULTS
from bakeoff.judge.checks import CHECKS_FOLDER, Checks, Link, are_noted, read_checks, write_checks
from bakeoff.judge.counters import GIVES_BACK
from bakeoff.judge.suspects import suspects_of, switches_of, top_rows
from bakeoff.measure.noise import PROBE_S
from bakeoff.race import conductor
from bakeoff.race.again import text_of
from bakeoff.race.budget import CHECKS, Stopwatch, with_budget
from bakeoff.race.model_calls import idle_options
from bakeoff.race.progress import Event, Observer, Prepared, silent
from bakeoff.race.stages import certify, explain, late, rounds, selftest
from bakeoff.race.stages.stage import PROCESS_S, RaceState, WantedTrials
from bakeoff.race.workers.process import ProcessWorker
from bakeoff.spec.contender import parse_contenders
from bakeoff.store.files import COMPARISON_FILE, read_comparison, read_end
from bakeoff.store.results import is_done_again
from bakeoff.workloads.load import load

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bakeoff.judge.explanation import Cause, Explanation, Gap, Row
    from bakeoff.judge.outcome import Outcome
    from bakeoff.race.stages.stage import Stage
    from bakeoff.race.workers.worker import Launcher
    from bakeoff.spec.comparison import ContenderPlan
    from bakeoff.spec.request import Request

ROUNDS = 10
"""The third look of a comparison: by signed ranks an interval of 95 % needs six, and a switch that matters is seen long
before the twenty that settle a size."""

STAGES = (certify.wanted, rounds.wanted, selftest.wanted, rounds.wanted)
"""What a race of switches runs, before its profiles."""


def check(
    explanation: Explanation,
    request: Request,
    observe: Observer = silent,
    *,
    launch: Launcher = ProcessWorker,
    probe_s: float = PROBE_S,
) -> None:
    """Race the suspects of every gap to the fastest contender, and write down which race is about which.

    `request` asks for the comparison that is explained, with the time budget of all these races together. What races
    say is read with the explanation from then on; a race that was cut short goes on, what was raced before is not raced
    again, and nothing is where the budget is spent. Raises StoreError where results cannot be written.
    """
    folder = Path(explanation.outcome.path)
    known = {(link.first, link.second): link for link in read_checks(folder).links if link.comparison}
    gaps = gaps_to_fastest(explanation)
    links = [known.get((gap.first, gap.second)) or link_of(explanation, gap, request) for gap in gaps]
    write_checks(folder, Checks(links=links))
    watch, lacking = Stopwatch(request.budget_s), [place for place, link in enumerate(links) if lacks(link, folder)]
    # The widest gap is what was asked about, so that its race begins while there is most time.
    lacking.sort(key=lambda place: -gaps[place].gap_s)
    for number, place in enumerate(lacking):
        mine = Stopwatch(watch.left_s(1.0 / (len(lacking) - number)))
        left_s = mine.left_s()
        if left_s is not None and left_s < PROCESS_S:
            break
        asked, link = _request(explanation, links[place], request), links[place]
        if link.is_open or _is_cut(link, folder):
            first = msgspec.structs.replace(with_budget(asked, mine.left_s(CHECKS)), resume=not link.is_open)
            noting = _noting(observe, links, place, folder)
            conductor.run(first, noting, launch=launch, probe_s=probe_s, stages=_stages(link))
        race = folder / CHECKS_FOLDER / links[place].comparison
        conductor.add(race, with_budget(asked, mine.left_s()), [explain.wanted], observe, launch=launch)


def _noting(observe: Observer, links: list[Link], place: int, folder: Path) -> Observer:
    """Return an observer that writes down which race is about a link as soon as it has a folder.

    A race that is interrupted is then gone on with, and what it has finished is not lost.
    """

    def noting(event: Event) -> None:
        if isinstance(event, Prepared):
            links[place] = msgspec.structs.replace(links[place], comparison=Path(event.path).name)
            write_checks(folder, Checks(links=links))
        observe(event)

    return noting


def is_checked(folder: Path) -> bool:
    """Return whether the suspects of the comparison in a folder were looked for, and all raced and traced."""
    links = read_checks(folder).links
    return (
        are_noted(folder) and not any(lacks(link, folder) for link in links) and not _are_more_suspected(folder, links)
    )


def _are_more_suspected(folder: Path, links: list[Link]) -> bool:
    """Return whether a gap of which nothing was raced has a suspect that is not noted: the race may have gone on."""
    raced = {(link.first, link.second) for link in links if link.comparison}
    if links and len(raced) == len(links):
        return False
    noted = {(link.first, link.second, *_about(one.row)) for link in links for one in link.suspects if one.row}
    gaps = [gap for gap in gaps_to_fastest(explained.explain(folder)) if (gap.first, gap.second) not in raced]
    # Notes of before layers were looked into have none of them, and are as good.
    rows = [(gap.first, gap.second, *_about(row)) for gap in gaps for row in top_rows(gap) if row.kind is not None]
    return any(one not in noted for one in rows)


def _about(row: Row) -> tuple[str, str, str]:
    """Return what a row is about."""
    return str(row.kind), row.phase, row.layer


def lacks_traces(folder: Path, trace_rounds: int | None = None) -> bool:
    """Return whether a trial that explains the comparison in a folder, in so many rounds, is still to be run."""
    return any(isinstance(wish, WantedTrials) for wish in explain.wanted(going_on(folder), rounds=trace_rounds))


def going_on(folder: Path) -> RaceState:
    """Return the state from which the comparison in a folder goes on: trials that are then done again are not there."""
    # Nothing is started to see that, so that no batches are needed.
    state = RaceState(read_comparison(folder), folder, folder)
    state.records = {name: record for name, record in state.records.items() if not is_done_again(record)}
    return state


def lacks(link: Link, folder: Path) -> bool:
    """Return whether suspects are still to be raced, or their race to be traced; one that is gone lacks nothing."""
    race = folder / CHECKS_FOLDER / link.comparison
    if link.is_open or _is_cut(link, folder):
        return True
    return bool(link.comparison) and (race / COMPARISON_FILE).exists() and lacks_traces(race)


def _is_cut(link: Link, folder: Path) -> bool:
    """Return whether a race has ended before its rounds: by its time budget, or because it was interrupted."""
    race = folder / CHECKS_FOLDER / link.comparison
    return bool(link.comparison) and (race / COMPARISON_FILE).exists() and read_end(race) in {"", "budget"}


def _stages(link: Link) -> tuple[Stage, ...]:
    """Return the stages of a race: late steps tell of denormal numbers, where these are suspected."""
    return (*STAGES, late.wanted) if any(one.cause == DENORMALS for one in link.suspects) else STAGES


def gaps_to_fastest(explanation: Explanation) -> list[Gap]:
    """Return the gaps to the fastest contender, of each number of devices.

    What one contender takes more on several devices is what agreeing costs, which no switch takes away.
    """
    devices = {one.label: one.plan.devices for one in explanation.outcome.contenders}
    gaps = [gap for gap in explanation.gaps if devices.get(gap.first) == devices.get(gap.second)]
    behind = {gap.second for gap in gaps}
    return [gap for gap in gaps if gap.first not in behind]


def link_of(explanation: Explanation, gap: Gap, request: Request) -> Link:
    """Return the suspects of a gap, with the labels that contenders have in the race that checks them."""
    comparison = explanation.outcome.comparison
    plans = {plan.contender.label: plan for plan in comparison.contenders}
    loaded = load(request.workload)
    size = msgspec.structs.replace(loaded.size(comparison.size), batch_size=comparison.batch_size)
    suspects = suspects_of(
        gap,
        plans[gap.first],
        plans[gap.second],
        framework(plans[gap.second].contender.framework).info,
        causes=turned_causes(explanation.causes, explanation.outcome, gap.second),
        idle=tuple(idle_options(loaded, size, comparison.scenario)),
    )
    switches = switches_of(suspects)
    texts = _texts(explanation, gap.first, gap.second, switches)
    first, second, *turned = (contender.label for contender in parse_contenders(texts))
    return Link(
        first=gap.first,
        second=gap.second,
        suspects=suspects,
        first_again=first,
        second_again=second,
        labels=dict(zip(switches, turned, strict=True)),
    )


def turned_causes(causes: Sequence[Cause], outcome: Outcome, slower: str) -> list[Cause]:
    """Return causes without the slower contender's page faults where its malloc is none that gives memory back.

    Another one's stay: what both have explains no gap.
    """
    gives_back = any(one.label == slower and one.settings.get("malloc") in GIVES_BACK for one in outcome.contenders)
    return [cause for cause in causes if gives_back or cause.label != slower or cause.name != FAULTS]


def _texts(explanation: Explanation, first: str, second: str, switches: list[str]) -> tuple[str, ...]:
    """Return the contenders of a race: both of a gap, and the slower one with each switch turned."""
    contenders = explanation.outcome.comparison.contenders
    plans = {plan.contender.label: plan for plan in contenders}
    if any(plan.devices > 1 for plan in contenders):
        plans = {label: _with_threads(plan) for label, plan in plans.items()}
    return (
        text_of(plans[first]),
        text_of(plans[second]),
        *(text_of(plans[second], switch) for switch in switches),
    )


def _with_threads(plan: ContenderPlan) -> ContenderPlan:
    """Return a plan that asks for the threads that it has.

    They were shared out among the most devices of a comparison, whose contenders are not all in the race of a gap.
    """
    threads = {name: value for name, value in plan.contender.options.items() if name == "threads"}
    return msgspec.structs.replace(plan, asked=plan.asked | threads)


def _request(explanation: Explanation, link: Link, request: Request) -> Request:
    """Return what asks for the race of one gap."""
    return msgspec.structs.replace(
        request,
        contenders=_texts(explanation, link.first, link.second, list(link.labels)),
        # Every option stands in the contenders' texts.
        options={},
        device=None,
        threads=None,
        tiers=(),
        devices=(),
        max_rounds=ROUNDS,
        aim="size",
        epochs=None,
        steps=None,
        results=str(Path(explanation.outcome.path) / CHECKS_FOLDER),
        resume=False,
    )
