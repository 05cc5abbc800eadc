"""Holds the lines that a workload's file runs in a framework to those that it runs over shapes."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import msgspec

from bakeoff.spec.errors import ModelFileError
from bakeoff.spec.trial import KINDS
from bakeoff.trial.model import loaded_of
from bakeoff.trial.ready_made import ready_made_name
from bakeoff.workloads.executed import Lines, are_unlike, executed, expected, lines_sha256, sha256_of, unlike

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
        own = loaded.size(trial.size)
        size = msgspec.structs.replace(own, batch_size=trial.batch_size)
        self._is_later = KINDS[trial.purpose].steps
        found = self._expected = expected(loaded, size, trial.scenario)
        # A large model takes seconds over shapes, and this is done in each of its trials.
        sha256 = sha256_of(found) if size == own else lines_sha256(loaded, own, trial.scenario)
        if are_unlike(sha256, trial.lines_sha256):
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
        asked = self._expected
        if asked is not None and (why := self._why or unlike(self._lines, asked, is_later=self._is_later)):
            msg = (
                f"the workload's file {self._path}: {why}, and a model is the same for all: it must not ask what its "
                "arrays or nn are, nor which framework, process or environment it runs in"
            )
            raise ModelFileError(msg)
