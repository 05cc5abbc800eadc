"""Gaps, and races that check suspects, made by hand."""

from __future__ import annotations

from typing import Any

import msgspec
from tests.report.conftest import outcome, plan, ranked, verdict

from bakeoff.judge.checked import SuspectRace
from bakeoff.judge.explanation import Gap, Row, Suspect
from bakeoff.judge.outcome import ContenderOutcome, Outcome
from bakeoff.spec.comparison import ContenderPlan
from bakeoff.spec.explained import OperationKind, Phase
from bakeoff.spec.framework import FrameworkInfo, OptionSupport, Refusal
from bakeoff.spec.verdict import Interval

MS = 1e-3


def around(middle: float, half: float) -> Interval:
    """Make an interval of so much to each side."""
    return Interval(estimate=middle, low=middle - half, high=middle + half)


def row(kind: OperationKind, first_ms: float, second_ms: float, phase: Phase = "backward", **more: Any) -> Row:
    """Make a row whose difference is known to 0.1 ms, and told apart beyond that."""
    difference_s = (second_ms - first_ms) * MS
    return Row(
        kind=kind,
        phase=phase,
        first_s=first_ms * MS,
        second_s=second_ms * MS,
        difference_s=around(difference_s, 0.1 * MS),
        told_apart=abs(difference_s) > 0.1 * MS,
        **more,
    )


def gap(*rows: Row, first: str = "quick", second: str = "slow") -> Gap:
    """Make a gap of these rows alone."""
    first_s, second_s = sum(one.first_s for one in rows), sum(one.second_s for one in rows)
    return Gap(first=first, second=second, first_s=first_s, second_s=second_s, by_kind=list(rows))


def planned(label: str, **options: str) -> ContenderPlan:
    """Make a contender's plan with these options beside the usual ones."""
    one = plan(label)
    contender = msgspec.structs.replace(one.contender, options=one.contender.options | options)
    return msgspec.structs.replace(one, contender=contender)


def declared(*refusals: Refusal, **options: tuple[str, ...]) -> FrameworkInfo:
    """Make a framework that has these values of options."""
    supports = {name: OptionSupport(default=values[0], values=values) for name, values in options.items()}
    return FrameworkInfo(
        name="slow", title="Slow", module="", distributions=(), options=supports, refusals=tuple(refusals)
    )


def timed(label: str, step_ms: float, **more: Any) -> ContenderOutcome:
    """Make a contender of this step time."""
    one = ranked(label, around(step_ms * MS, 0.01 * MS), 0.1, 100)
    return msgspec.structs.replace(one, **more)


def raced(steps_ms: dict[str, float], half: float = 0.01) -> Outcome:
    """Make a race of contenders with these step times; every pair's ratio is known to within `half` of itself."""
    labels = list(steps_ms)
    verdicts = [
        verdict(
            one, other, "undecided", ratio := steps_ms[one] / steps_ms[other], ratio * (1 - half), ratio * (1 + half)
        )
        for index, one in enumerate(labels)
        for other in labels[index + 1 :]
    ]
    return outcome([timed(label, step_ms) for label, step_ms in steps_ms.items()], verdicts)


SWITCH, CONTROL = "optimizer_kernel=fused", "denormals=flush"
TURNED, TWIN = f"slow:{SWITCH}", f"slow:{CONTROL}"


def suspects(at_most_ms: float = 2.0) -> list[Suspect]:
    """Make the suspect of an optimiser, and the control."""
    named: dict[str, str] = {"first": "quick", "second": "slow", "label": "slow"}
    optimiser = row("optimiser", 1.0, 1.0 + at_most_ms, "optimiser")
    return [
        Suspect(**named, row=optimiser, switch=SWITCH, at_most_s=at_most_ms * MS),
        Suspect(**named, switch=CONTROL, is_control=True),
    ]


def suspect_race(turned_ms: float, row_after_ms: float, *, control_ms: float = 10.0, half: float = 0.01) -> SuspectRace:
    """Make a race in which the slower one takes 10 ms, and so many with the switch turned; its row took 3 ms."""
    steps_ms = {"quick": 8.0, "slow": 10.0, TURNED: turned_ms, TWIN: control_ms}
    again = gap(row("optimiser", row_after_ms, 3.0, "optimiser"), first=TURNED)
    return SuspectRace(
        outcome=raced(steps_ms, half),
        first="quick",
        second="slow",
        labels={SWITCH: TURNED, CONTROL: TWIN},
        gaps=[again],
        comparison="checks/mlp-1",
    )
