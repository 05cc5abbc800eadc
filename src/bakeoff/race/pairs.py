"""What is asked of one contender against another needs two."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bakeoff.environments.interpreters import available
from bakeoff.race.prepare import checked
from bakeoff.spec.errors import UsageError

if TYPE_CHECKING:
    from bakeoff.spec.request import Request


def check_pair(request: Request) -> None:
    """Raise UsageError where an explanation is asked of one contender alone: a gap has two sides."""
    _, plans, excluded = checked(request)
    if len(plans) + (len(excluded) if request.contenders else 0) > 1:
        return
    mine = plans[0].contender
    others = sorted(available()[0].keys() - {mine.framework})
    rest = f"; installed here: {', '.join(others)}" if others else ""
    msg = (
        f"an explanation says why one contender is slower than another, and {mine.label} is alone: name another one "
        f"beside it, or the same framework with another option{rest}"
    )
    raise UsageError(msg)
