"""The first state of a trial: the framework is imported and configured, nothing is built."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bakeoff.measure import gpu_packages, memory
from bakeoff.measure.clock import Clock, monotonic
from bakeoff.spec.errors import UnavailableError, UnsupportedError
from bakeoff.spec.options import inherited
from bakeoff.store.fingerprints import check_unchanged, folder_sha256, packages_sha256
from bakeoff.trial.device import device_settings
from bakeoff.trial.framework import make_engine, set_denormals, set_variables
from bakeoff.trial.inputs import Batches, batches_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bakeoff.frameworks.engine import Engine
    from bakeoff.spec.trial import TrialSpec
    from bakeoff.trial.companions import Companions
    from bakeoff.trial.draft import Draft


@dataclass(frozen=True)
class Imported:
    """A framework in this process, not configured yet."""

    engine: Engine
    clock: Clock
    began_ns: int
    """When the import began, by time.perf_counter_ns."""


@dataclass(frozen=True)
class Opened:
    """A trial whose engine is configured and whose batches are mapped."""

    trial: TrialSpec
    engine: Engine
    clock: Clock
    batches: Batches
    baseline_bytes: int | None
    """Resident memory of the process after the import; None is unknown."""
    companions: Companions
    device: Mapping[str, str | None]
    """What identifies the GPU that the process sees, read back."""

    def in_force(self) -> dict[str, str | int | float | bool | None]:
        """Return what bakeoff's worker has set or chosen, read back."""
        return {"malloc": memory.malloc_state(), **self.device}

    def conclude(self, draft: Draft) -> None:
        """Note nothing more: without a step there are no settings to read back."""


def import_framework(trial: TrialSpec, draft: Draft) -> Imported:
    """Set the framework's variables and what the process is to have before threads are made, and import it.

    Raises UnavailableError, ChangedError, and UnsupportedError for what the system cannot be set to.
    """
    folder = Path(trial.framework_path)
    check_unchanged(f"the framework's folder {folder}", trial.framework_sha256, folder_sha256(folder))
    beside = f"what is installed beside {trial.interpreter}"
    check_unchanged(beside, trial.packages_sha256, packages_sha256(trial.interpreter))
    draft.put(overridden=_overridden(trial.variables))
    set_variables(trial.variables)
    set_denormals(trial.contender.options)
    seen = inherited(trial.watched, os.environ)
    given = {name: value for name, value in seen.items() if name not in trial.variables}
    # What the user has set goes on to count, beside what is added to it.
    if own := memory.of_the_user(seen.get(memory.TUNABLES, "")):
        given[memory.TUNABLES] = own
    draft.put(inherited=given)
    memory.PREPARE[trial.contender.options.get("malloc", "settled")]()
    began_ns = time.perf_counter_ns()
    try:
        engine, clock = make_engine(folder)
    except Exception as error:
        msg = f"{trial.contender.framework} cannot be imported: {type(error).__name__}: {error}"
        raise UnavailableError(msg) from error
    draft.put(clock="monotonic" if clock is monotonic else "virtual")
    return Imported(engine, clock, began_ns)


def open_trial(trial: TrialSpec, draft: Draft, imported: Imported, companions: Companions) -> tuple[Opened, int]:
    """Configure the engine and map the batches; return the trial, and how long import and configuring took in ns."""
    if hasattr(imported.engine, "preload"):
        imported.engine.preload(trial.scenario)
    _limit(trial, imported.engine)
    if trial.group is not None:
        imported.engine.join(trial.group)
    imported.engine.configure(trial.options)
    import_ns = time.perf_counter_ns() - imported.began_ns
    draft.put(
        import_ns=import_ns,
        versions=imported.engine.versions() | (gpu_packages.versions() if trial.contender.on_cuda else {}),
    )
    baseline_bytes = memory.resident_bytes()
    device = device_settings(trial)
    batches = batches_of(trial)
    return Opened(trial, imported.engine, imported.clock, batches, baseline_bytes, companions, device), import_ns


def _overridden(variables: Mapping[str, str]) -> dict[str, str]:
    """Return the values that the user's environment has for variables which are to be set to others."""
    return {
        name: os.environ[name] for name, value in variables.items() if name in os.environ and os.environ[name] != value
    }


def _limit(trial: TrialSpec, engine: Engine) -> None:
    """Have the framework's allocator keep a limit, where the trial has one; raise UnsupportedError where it cannot."""
    if trial.gpu_limit_bytes is None or trial.gpu_total_bytes is None:
        return
    if not hasattr(engine, "limit_memory"):
        msg = f"{trial.contender.framework} has no limit for the memory that it takes of a GPU"
        raise UnsupportedError(msg)
    engine.limit_memory(trial.gpu_limit_bytes, trial.gpu_total_bytes)
