"""The worker's loop: it obeys the parent's commands and leaves a record, whatever happens."""

from __future__ import annotations

import traceback
from contextlib import ExitStack
from typing import TYPE_CHECKING

import msgspec

from bakeoff.measure import gpu_left
from bakeoff.measure.clock import collected_garbage
from bakeoff.measure.cores import bind
from bakeoff.spec import protocol
from bakeoff.spec.errors import (
    ChangedError,
    ModelFileError,
    StoreError,
    UnavailableError,
    UnequalError,
    UnsupportedError,
)
from bakeoff.spec.trial import TrialSpec
from bakeoff.store.files import TRIAL_FILE
from bakeoff.trial.built import Running, Unrun, build
from bakeoff.trial.companions import Companions
from bakeoff.trial.cores import own_cores
from bakeoff.trial.draft import Draft
from bakeoff.trial.handlers import handle
from bakeoff.trial.opened import Opened, import_framework, open_trial

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from bakeoff.frameworks.engine import Engine
    from bakeoff.spec.record import TrialOutcome
    from bakeoff.trial.channel import Channel

DETAIL_CHARACTERS = 4000
"""How much of a traceback a record keeps: its end, where the cause is."""


_KNOWN = (ChangedError, ModelFileError, UnavailableError, UnequalError, UnsupportedError)
"""Errors whose text says it all."""

FULL_SHARE = 0.05
"""A GPU with less of its memory left has no room for a library's handle and workspace: cuDNN's and cuBLAS' take some
hundred MB, of GPUs of 8 to 80 GB."""


class TrialProcess:
    """One trial in this process: started, then opened, then built; each state is None until it is reached."""

    def __init__(self, folder: Path, *, started_ns: int) -> None:
        """Read what is asked; `started_ns` is how long the interpreter took to start."""
        self._trial = msgspec.json.decode((folder / TRIAL_FILE).read_bytes(), type=TrialSpec)
        self._draft = Draft(folder, self._trial, started_ns=started_ns)
        self._resources = ExitStack()
        self._engine: Engine | None = None
        self._opened: Opened | None = None
        self._built: Unrun | Running | None = None
        self._companions = Companions()

    def serve(self, channel: Channel) -> int:
        """Obey until QUIT; return the exit code. A trial whose parent is gone is unfinished and leaves no record."""
        self._companions.channel = channel
        bind(own_cores(self._trial))  # not in `start`, which another process may call, too: that one stays as it is
        answer = self.start()
        channel.send(answer)
        while not isinstance(answer, protocol.Failed) and (command := channel.receive()) is not None:
            answer = self.obey(command)
            channel.send(answer)
            if isinstance(command, protocol.Quit):
                return 0
        return 1

    def start(self) -> protocol.Answer:
        """Import and configure the framework; any failure of a trial is a recorded outcome."""
        return self._recorded(self._open)

    def obey(self, command: protocol.Command) -> protocol.Answer:
        """Do one command; any failure of a trial is a recorded outcome."""
        return self._recorded(lambda: self._do(command))

    def _recorded(self, work: Callable[[], protocol.Answer]) -> protocol.Answer:
        """Do some work, and record its failure."""
        try:
            return work()
        except Exception as error:  # noqa: BLE001 - whatever it is, the record says so
            return self._fail(error)

    def _open(self) -> protocol.Ready:
        """Import the framework and configure it."""
        imported = import_framework(self._trial, self._draft)
        self._engine = imported.engine
        self._opened, import_ns = open_trial(self._trial, self._draft, imported, self._companions)
        return protocol.Ready(import_ns=import_ns)

    def _do(self, command: protocol.Command) -> protocol.Answer:
        """Do one command: BUILD and QUIT change the trial's state, and all others need one."""
        match command:
            case protocol.Build():
                return self._build()
            case protocol.Quit():
                return self._finish()
            case protocol.Beside(pids):
                self._companions.pids = pids
                return protocol.Done()
            case _:
                return handle(self._built or self._opened, self._draft, command)

    def _build(self) -> protocol.Built:
        """Build the step."""
        assert self._opened is not None
        self._built, answer = build(self._opened, self._draft)
        if isinstance(self._built, Running):
            self._resources.enter_context(collected_garbage())
        return answer

    def _finish(self) -> protocol.Done:
        """Write the record."""
        state = self._built or self._opened
        assert state is not None
        state.conclude(self._draft)
        self._write("done")
        return protocol.Done()

    def _fail(self, error: Exception) -> protocol.Failed:
        """Record a failure; one to write is no finding about the contender: the parent hears of it, with no record."""
        if isinstance(error, StoreError):
            return protocol.Failed(reason=str(error))
        known = isinstance(error, _KNOWN)
        reason = str(error) if known else f"{type(error).__name__}: {error}"
        outcome: TrialOutcome = "failed"
        # What is said for want of memory may have been taken for a gap of the framework.
        if (seen := self._want_of_memory(error)) is not None:
            outcome, reason = "out-of-memory", reason + seen
        elif isinstance(error, UnsupportedError):
            outcome = "unsupported"
        elif isinstance(error, UnavailableError):
            outcome = "unavailable"
        elif isinstance(error, ChangedError):
            outcome = "changed"
        detail = "".join(traceback.format_exception(error))[-DETAIL_CHARACTERS:]
        try:
            self._write(outcome, reason, detail)
        except StoreError as store_error:
            reason = f"{store_error}, after {reason}"
        return protocol.Failed(reason=reason)

    def _want_of_memory(self, error: BaseException) -> str | None:
        """Return None unless this error, or one that caused it, says that memory is exhausted.

        Words that have other causes, too, count on a GPU that is full, which is returned as a remark.
        """
        # An engine may be written without the methods.
        says_so = getattr(self._engine, "is_out_of_memory", lambda _: False)
        may_say_so = getattr(self._engine, "may_be_out_of_memory", lambda _: False)
        causes = list(_causes(error))
        if any(isinstance(one, MemoryError) or says_so(one) for one in causes):
            return ""
        if not any(map(may_say_so, causes)):
            return None
        self._draft.put(memory_suspected=True)
        left = gpu_left.left_share() if self._trial.contender.on_cuda else None
        if left is None or left >= FULL_SHARE:
            return None
        return f" (the GPU had {100 * left:.1f} % of its memory left)"

    def _write(self, outcome: TrialOutcome, reason: str = "", detail: str = "") -> None:
        """Write the record, with garbage collected again as it was before."""
        self._resources.close()
        self._draft.write(outcome, reason, detail)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and those that caused it."""
    while error is not None:
        yield error
        error = error.__cause__
