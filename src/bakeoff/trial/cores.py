"""The processors of a process in a comparison on several devices: its own, and what all replicas have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bakeoff.measure.cores import ranges, usable
from bakeoff.spec.group import BOUND_TO

if TYPE_CHECKING:
    from bakeoff.spec.trial import TrialSpec
    from bakeoff.trial.draft import Draft


def own_cores(trial: TrialSpec) -> tuple[int, ...]:
    """Return the processors that this process is to be bound to; none where it is not bound."""
    rank = trial.group.rank if trial.group else 0
    return trial.cores[rank] if trial.cores else ()


def cores_in_force(trial: TrialSpec) -> str:
    """Return the processors that this process may use, as ranges, read back; empty where it was not to be bound."""
    return ranges(usable()) if trial.cores else ""


def told_cores(draft: Draft) -> dict[str, str]:
    """Return the setting: the processors of this process, or of every replica, once all have reported theirs."""
    replicas = draft.seen("replicas", list) or []
    each = [one.cores for one in replicas] or [cores_in_force(draft.trial)]
    return {BOUND_TO: "; ".join(each)} if all(each) else {}
