"""Holds the lines that a workload's file runs in a framework to those that it runs over shapes."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import msgspec

from bakeoff.spec.errors import ModelFileError
from bakeoff.spec.trial import KINDS
from bakeoff.trial.model import loaded_of
from bakeoff.trial.ready_made import ready_made_name
from bakeoff.workloads.executed import Lines, are_unlike, executed, expected, lines_sha256, unlike

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bakeoff.spec.trial import TrialSpec


class Watch:
    """Notes the lines of a trial's workload while its step is built and run for the first time.

    In a trial that is timed, behind all that is timed: a file that runs other lines there than in its certificate, by
    its trial's name, the number of its calls or the clock, does other work than what was certified.
    """

    def __init__(self, trial: TrialSpec) -> None:
        """Find what is to be expected: nothing of a ready-made model, or of batches of many shapes.

        Before a step runs, so that what counts its calls counts those over shapes from the same number.
        """
        self._expected, self._lines, self._why = None, Lines(), ""
        if trial.pass_steps > 1 or ready_made_name(trial):
            return
        loaded = loaded_of(trial)
        self._file, self._path = loaded.build.__code__.co_filename, loaded.path
        size = msgspec.structs.replace(loaded.size(trial.size), batch_size=trial.batch_size)
        evaluates = not KINDS[trial.purpose].steps
        self._expected = expected(loaded, size, trial.scenario, evaluates=evaluates)
        if are_unlike(lines_sha256(loaded, loaded.size(trial.size), trial.scenario), trial.lines_sha256):
            self._why = "other lines of it run over shapes in this process than where the comparison was fixed"

    @contextmanager
    def noting(self) -> Iterator[None]:
        """Note the lines that run meanwhile."""
        if self._expected is None:
            yield
            return
        with executed(self._file) as lines:
            yield
        for name, ran in lines.items():
            self._lines.setdefault(name, set()).update(ran)

    def check(self) -> None:
        """Raise ModelFileError where other lines ran than over shapes."""
        if self._expected is not None and (why := self._why or unlike(self._lines, self._expected)):
            msg = (
                f"the workload's file {self._path}: {why}, and a model is the same for all: it must not ask what its "
                "arrays or nn are, nor which framework, process or environment it runs in"
            )
            raise ModelFileError(msg)
