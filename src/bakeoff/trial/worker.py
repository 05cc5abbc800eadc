"""The worker's loop: it obeys the parent's commands and leaves a record, whatever happens."""

from __future__ import annotations

import traceback
from contextlib import ExitStack
from typing import TYPE_CHECKING

import msgspec

from bakeoff.measure.clock import collected_garbage
from bakeoff.spec import protocol
from bakeoff.spec.errors import ChangedError, StoreError, UnavailableError, UnsupportedError
from bakeoff.spec.trial import TrialSpec
from bakeoff.store.files import TRIAL_FILE
from bakeoff.trial.built import Running, Unrun, build
from bakeoff.trial.draft import Draft
from bakeoff.trial.handlers import handle
from bakeoff.trial.opened import Opened, import_framework, open_trial

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from bakeoff.frameworks.engine import Engine
    from bakeoff.spec.record import TrialOutcome
    from bakeoff.trial.channel import Channel

DETAIL_CHARACTERS = 4000
"""How much of a traceback a record keeps: its end, where the cause is."""


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

    def serve(self, channel: Channel) -> int:
        """Obey until QUIT; return the exit code. A trial whose parent is gone is unfinished and leaves no record."""
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
        self._opened, import_ns = open_trial(self._trial, self._draft, imported)
        return protocol.Ready(import_ns=import_ns)

    def _do(self, command: protocol.Command) -> protocol.Answer:
        """Do one command: BUILD and QUIT change the trial's state, and all others need one."""
        match command:
            case protocol.Build():
                return self._build()
            case protocol.Quit():
                return self._finish()
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
        outcome: TrialOutcome = "failed"
        if isinstance(error, UnsupportedError):
            outcome = "unsupported"
        elif isinstance(error, UnavailableError):
            outcome = "unavailable"
        elif self._is_out_of_memory(error):
            outcome = "out-of-memory"
        known = isinstance(error, ChangedError | UnsupportedError | UnavailableError)
        reason = str(error) if known else f"{type(error).__name__}: {error}"
        detail = "".join(traceback.format_exception(error))[-DETAIL_CHARACTERS:]
        try:
            self._write(outcome, reason, detail)
        except StoreError as store_error:
            reason = f"{store_error}, after {reason}"
        return protocol.Failed(reason=reason)

    def _is_out_of_memory(self, error: BaseException | None) -> bool:
        """Return whether this error, or one that caused it, is Python's or the framework's own for want of memory."""
        # An engine may be written without the method.
        says_so = getattr(self._engine, "is_out_of_memory", lambda _: False)
        while error is not None:
            if isinstance(error, MemoryError) or says_so(error):
                return True
            error = error.__cause__
        return False

    def _write(self, outcome: TrialOutcome, reason: str = "", detail: str = "") -> None:
        """Write the record, with garbage collected again as it was before."""
        self._resources.close()
        self._draft.write(outcome, reason, detail)
