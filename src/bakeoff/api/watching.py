"""Progress for a program's own calls: live in a terminal, in lines in a notebook, nothing in a pipe unless asked."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from bakeoff.race.progress import silent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from bakeoff.race.progress import Event, StudyEvent, StudyObserver


@contextmanager
def observing(progress: bool | None, observer: Callable[[Any], None] | None) -> Iterator[StudyObserver]:  # noqa: FBT001
    """Yield what hears the events: the observer that was given, and what shows progress, each where it is wanted."""
    if not _is_wanted(progress, observer):
        yield observer or silent
        return
    from bakeoff.cli.progress import shown

    # What a program prints on stdout is its own; a notebook shows stderr as if something had gone wrong.
    with shown(sys.stdout if _is_notebook() else sys.stderr) as show:

        def both(event: StudyEvent | Event) -> None:
            if observer is not None:
                observer(event)
            show(event)

        yield both


def _is_wanted(progress: bool | None, observer: object) -> bool:  # noqa: FBT001
    """Return whether progress is shown; without a word where somebody looks, and nobody else takes the events."""
    if progress is not None:
        return progress
    return observer is None and (_is_notebook() or sys.stderr.isatty())


def _is_notebook() -> bool:
    """Return whether this runs in a notebook, which IPython knows."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return type(shell).__name__ == "ZMQInteractiveShell"
