"""What all checks are made with: who is checked, on what, and what starts and observes workers."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bakeoff.environments.declared import framework
from bakeoff.environments.options import resolve_options
from bakeoff.measure.gpus import uuid_in
from bakeoff.measure.machine import usable_cores
from bakeoff.measure.noise import PROBE_S
from bakeoff.race.progress import Observer, silent
from bakeoff.race.workers.process import ProcessWorker
from bakeoff.spec.contender import parse_contender, quoted
from bakeoff.spec.errors import BakeoffError
from bakeoff.spec.request import Request

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from pathlib import Path

    from bakeoff.race.workers.worker import Launcher

TRIAL_LIMIT_S = 600.0
"""As of a comparison: a worker that does not answer for so long hangs."""

LEAST_LIMIT_S = 60.0
"""Importing and compiling may take so long: nothing is ended before, however little time is left."""

TF32_CAPABILITY = 8.0
"""The compute capability from which on GPUs have TF32 (NVIDIA's Ampere)."""


@dataclass(frozen=True)
class Launching:
    """What starts workers and observes them; tests have others."""

    launch: Launcher = ProcessWorker
    probe_s: float = PROBE_S
    """How long the noise before a race is watched."""
    watching: Callable[[], AbstractContextManager[Observer]] = lambda: nullcontext(silent)


@dataclass(frozen=True)
class Setting:
    """What one check is made with."""

    contenders: tuple[str, ...]
    """As they were written."""
    excluded: dict[str, str]
    """Contenders that cannot race here, each with the reason."""
    device: str
    size: str
    quick: bool
    seed: int
    machine: dict[str, str | int | float | None]
    folder: Path
    """For its records; it exists."""
    whole: Path
    """The acceptance's folder, where the records of other checks lie."""
    most_s: float
    """It may take about so long: no more is begun after that."""
    launching: Launching

    def request(self, workload: str, *contenders: str, **asked: Any) -> Request:
        """Return a request of these contenders, of all without any; `asked` are fields of Request."""
        fields: dict[str, Any] = {
            "device": self.device,
            "gpu": uuid_in(self.machine) or None if self.device == "cuda" else None,
            "size": self.size,
            "data": "synthetic",
            "seed": self.seed,
            "results": str(self.folder),
            "trial_limit_s": min(TRIAL_LIMIT_S, max(LEAST_LIMIT_S, self.most_s)),
        }
        return Request(workload=workload, contenders=contenders or self.contenders, **fields | asked)

    def has(self, contender: str, **options: str) -> bool:
        """Return whether a contender's framework has these values of options, beside its own, on this device."""
        named = parse_contender(contender)
        try:
            info = framework(named.framework).info
            resolve_options(
                info, parse_contender(with_options(contender, **options)), {"device": self.device}, usable_cores()
            )
        except BakeoffError:
            return False
        return True

    @property
    def has_tf32(self) -> bool:
        """Whether the device has TF32: an NVIDIA GPU, unless its compute capability is known to be too low."""
        capability = self.machine.get("gpu_compute_capability")
        return self.device == "cuda" and (capability is None or float(str(capability)) >= TF32_CAPABILITY)


def with_options(contender: str, **options: str) -> str:
    """Return a contender with other values of options, as it is written."""
    named = parse_contender(contender)
    environment = "" if named.environment is None else f"@{quoted(named.environment)}"
    both = named.options | options
    return f"{named.framework}{environment}:{','.join(f'{name}={quoted(value)}' for name, value in both.items())}"
