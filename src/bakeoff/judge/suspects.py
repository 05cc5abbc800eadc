"""From the rows of a gap, and from causes that are no operations, to suspects, which a race with a switch checks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from bakeoff.judge.causes import DENORMALS, sets_apart
from bakeoff.judge.explanation import Suspect
from bakeoff.judge.switches import OF_CAUSES, TO, acts_on, can_be, control_for, turned_for
from bakeoff.spec.verdict import Interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bakeoff.judge.explanation import Cause, Gap, Row
    from bakeoff.spec.comparison import ContenderPlan
    from bakeoff.spec.framework import FrameworkInfo

MOST_ROWS = 3
"""Kinds of operations in a gap that are looked into: each may be a contender more in the race that checks them."""

UNFELT = "denormals"
"""The option that a contender does not feel whose arrays hold no denormal numbers: the control of most models."""

AGAIN = "the same contender once more"
"""The control where no switch is known to change nothing."""

OF_ALL_LAYERS = "an option acts on all layers, and the kinds of operations have suspects of their own"
"""Why a layer has no switch but what two contenders of one framework differ in."""

ROUNDING = 1e-12
"""Of a sum of seconds: rows below are none."""


def suspects_of(
    gap: Gap,
    first: ContenderPlan,
    second: ContenderPlan,
    info: FrameworkInfo,
    *,
    causes: Sequence[Cause] = (),
    idle: tuple[str, ...] = (),
) -> list[Suspect]:
    """Return the suspects of a gap, the largest row first, then causes, and in the end the control.

    The switches are the slower contender's, whose framework `info` is of; `idle` names options that mean nothing to
    the model. There is no control where no suspect has a switch.
    """
    mine = second.contender
    found = [_of_row(gap, row, turned_for(row.kind, info, first.contender, mine, idle)) for row in top_rows(gap)]
    own = [cause for cause in causes if cause.label == gap.second and sets_apart(cause, gap.first, causes)]
    found += [one for cause in own if (one := _of_cause(gap, cause, info, second)) is not None]
    taken = frozenset(one.switch.partition("=")[0] for one in found if one.switch)
    if not taken:
        return found
    same = first.contender.options.get(UNFELT) == mine.options.get(UNFELT)
    unfelt = (UNFELT,) if same and all(cause.name != DENORMALS for cause in causes) else ()
    turned = control_for(info, mine.options, (*idle, *unfelt), taken)
    control = Suspect(
        first=gap.first,
        second=gap.second,
        label=gap.second,
        switch=turned,
        is_control=True,
        cause="" if turned else AGAIN,
    )
    return [*found, control]


def top_rows(gap: Gap) -> list[Row]:
    """Return the rows in which the slower contender spends more beyond chance, the largest difference first.

    Two kinds of operations may trade time from process to process, so that neither is beyond chance while the layer
    that has both is. A layer with more than all kinds that are beyond chance comes before them.
    """
    kinds = sorted(filter(_is_longer, gap.by_kind), key=lambda row: -row.gap_s)
    layers = [row for row in gap.by_layer if row.kind is None and row.layer and _is_longer(row)]
    largest = max(layers, key=lambda row: row.gap_s, default=None)
    if largest is None or largest.gap_s - sum(row.gap_s for row in kinds) <= ROUNDING:
        return kinds[:MOST_ROWS]
    return [largest, *kinds[:MOST_ROWS]]


def _is_longer(row: Row) -> bool:
    """Return whether the slower contender spends more on a row beyond chance."""
    return row.told_apart and row.gap_s > 0.0


def _of_row(gap: Gap, row: Row, switch: str) -> Suspect:
    """Return the suspect of a row."""
    return Suspect(
        first=gap.first,
        second=gap.second,
        label=gap.second,
        row=row,
        switch=switch,
        at_most_s=predicted(gap, switch).estimate if switch else row.gap_s,
        reason="" if switch else "no option of this framework acts on it" if row.kind else OF_ALL_LAYERS,
    )


def _of_cause(gap: Gap, cause: Cause, info: FrameworkInfo, plan: ContenderPlan) -> Suspect | None:
    """Return the suspect of a cause; None where no row could be smaller without it, as with clocks."""
    option = OF_CAUSES.get(cause.name)
    if option is None:
        return None
    can = can_be(info, plan.contender.options, option, TO[option])
    switch = f"{option}={TO[option]}" if can else ""
    reason = "" if switch else f"this framework has no {option}={TO[option]}, or has it in force"
    return Suspect(first=gap.first, second=gap.second, label=gap.second, cause=cause.name, switch=switch, reason=reason)


def predicted(gap: Gap, switch: str) -> Interval:
    """Return what a switch can save at most: the differences of all rows that it acts on, where the slower spends more.

    The interval is wide: its ends are the sums of the rows' ends, as if these moved together.
    """
    kinds = acts_on(switch)
    rows = [row for row in gap.by_kind if row.kind in kinds and row.gap_s > ROUNDING]
    ends = [row.difference_s or _exact(row.gap_s) for row in rows]
    return Interval(
        estimate=sum(row.gap_s for row in rows),
        low=sum(max(0.0, one.low) for one in ends),
        high=sum(max(0.0, one.high) for one in ends),
    )


def _exact(value: float) -> Interval:
    """Return a number as an interval."""
    return Interval(estimate=value, low=value, high=value)


def switches_of(suspects: Sequence[Suspect]) -> list[str]:
    """Return what is to be raced, each switch once: those of suspects, and last the control's."""
    named = [one.switch for one in suspects if one.switch and not one.is_control]
    controls = [one.switch for one in suspects if one.is_control]
    return list(dict.fromkeys([*named, *controls]))


def unraced(suspects: Sequence[Suspect], reason: str) -> list[Suspect]:
    """Return suspects with the reason why no race has said anything of those that have a switch."""
    return [msgspec.structs.replace(one, reason=reason) if one.switch or one.is_control else one for one in suspects]
