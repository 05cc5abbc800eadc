"""The other replicas of a group, as one of them knows them: their processes, and the common start of a timed part."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bakeoff.spec.protocol import Go, Poised

if TYPE_CHECKING:
    from bakeoff.trial.channel import Channel


class Companions:
    """Nobody, in a trial that is one process."""

    def __init__(self) -> None:
        """Know nobody yet."""
        self.pids: list[int] = []
        """Their processes: the processor time they use is the contender's own."""
        self.channel: Channel | None = None
        """To the parent; None in a worker without pipes."""

    def await_start(self) -> None:
        """Wait until all replicas are ready for the timed part; the parent hears that this one is."""
        assert self.channel is not None
        self.channel.send(Poised())
        command = self.channel.receive()
        if not isinstance(command, Go):
            msg = f"the group was not started, but told {type(command).__name__}"
            raise RuntimeError(msg)  # noqa: TRY004 - a wrong order of commands, no wrong type
