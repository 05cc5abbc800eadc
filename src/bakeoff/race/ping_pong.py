"""Each contender alone on the machine, and in ping-pong with the others, by turns: both are bakeoff's own rounds.

Fresh processes each time, in the order that alternates: alone, ping-pong, ping-pong, alone ...
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from bakeoff.judge.ping_pong import WAYS
from bakeoff.race.loop import Runner
from bakeoff.race.prepare import prepared
from bakeoff.race.progress import Observer, silent
from bakeoff.race.stages.rounds import by_itself, together
from bakeoff.race.stages.stage import RaceState
from bakeoff.race.workers.process import ProcessWorker
from bakeoff.stats.intervals import MIN_VALUES

if TYPE_CHECKING:
    from pathlib import Path

    from bakeoff.judge.ping_pong import Way
    from bakeoff.race.workers.worker import Launcher
    from bakeoff.spec.record import Record
    from bakeoff.spec.request import Request

APART = "each is alone by intent, to be compared with rounds together"
"""Why a contender runs by itself, in the words of a trial's record."""


def both_ways(
    request: Request,
    folder: Path,
    rounds: int,
    observe: Observer = silent,
    *,
    launch: Launcher = ProcessWorker,
) -> dict[Way, list[Record]]:
    """Run rounds both ways, as many as begin within the request's budget and at least three; return the records.

    The trials' folders lie in `folder`.
    """
    began_s = time.monotonic()
    records: dict[Way, list[Record]] = {way: [] for way in WAYS}
    with prepared(request, asking=launch is ProcessWorker) as (comparison, inputs):
        state = RaceState(comparison, folder, inputs)
        runner = Runner(folder, launch, observe, limit_s=comparison.procedure.trial_limit_s)
        for number in range(rounds):
            spent_s = time.monotonic() - began_s
            if number >= MIN_VALUES and request.budget_s is not None and spent_s > request.budget_s:
                break
            for place, way in enumerate(WAYS if number % 2 == 0 else WAYS[::-1]):
                round_number, plans = 2 * number + place + 1, comparison.contenders
                ready = [by_itself(state, plan, round_number, len(plans), APART) for plan in plans]
                wanted = ready if way == "alone" else [together(state, plans, round_number)]
                records[way] += [record for one in wanted for record in runner.run(one)]
                # What the first round has fixed holds for all: the same steps of training in both ways.
                state.records |= {record.trial.name: record for record in records[way]}
    return records
