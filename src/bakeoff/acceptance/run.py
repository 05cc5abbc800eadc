"""Runs an acceptance: one check after another within the time, each outcome on disk before the next begins."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import msgspec

import bakeoff
from bakeoff.acceptance.plan import HOUR_S, PlannedCheck, planned
from bakeoff.acceptance.setting import Launching, Setting
from bakeoff.measure import gpu_facts
from bakeoff.measure.gpus import VISIBLE, choose, uuid_in
from bakeoff.measure.machine import describe
from bakeoff.race.checks import check_kept
from bakeoff.race.devices import lacking
from bakeoff.race.prepare import check_any, checked
from bakeoff.spec.acceptance import Acceptance, AcceptanceOutcome, CheckResult, Finding
from bakeoff.spec.errors import BakeoffError, StoreError, UnknownNameError, UsageError
from bakeoff.spec.request import Request
from bakeoff.store import acceptances
from bakeoff.store.folders import new_folder
from bakeoff.store.locks import locked

ALREADY = ("passed", "failed", "inconclusive", "not applicable")
"""States of a check that is done, and is not done again."""

AGAIN = ("failed", "inconclusive")
"""States that are done again where that is asked for."""


class AcceptanceRequest(msgspec.Struct, frozen=True, kw_only=True):
    """An acceptance as asked for."""

    contenders: tuple[str, ...] = ()
    """As the user writes them; empty: every listed framework that is available."""
    device: str
    gpu: str | None = None
    """Of device cuda, by index or UUID; None: as a comparison chooses one."""
    size: str = "full"
    quick: bool = False
    seed: int = 0
    budget_s: float = HOUR_S
    only: tuple[str, ...] = ()
    """Keys of the checks that are made now; empty: all."""
    again: bool = False
    """Make those again that failed or were inconclusive."""
    results: str = "results"
    command: str = ""


class CheckStarted(msgspec.Struct, frozen=True):
    """A check begins; `number` counts from 1."""

    number: int
    of: int
    check: CheckResult
    left_s: float
    """Until the end of the budget."""


class CheckEnded(msgspec.Struct, frozen=True):
    """A check has its outcome."""

    number: int
    of: int
    check: CheckResult
    left_s: float


class AcceptanceStarted(msgspec.Struct, frozen=True):
    """The acceptance is on disk; `done` checks have their outcome already."""

    acceptance: Acceptance
    path: str
    done: int


CheckEvent = AcceptanceStarted | CheckStarted | CheckEnded
CheckObserver = Callable[[CheckEvent], None]


def accept(
    asked: AcceptanceRequest, observe: CheckObserver = lambda _: None, *, launching: Launching | None = None
) -> AcceptanceOutcome:
    """Make every check that is not made, as far as the budget goes, and return the outcome.

    A check that fails, whatever it fails of, ends no other. Raises UsageError before anything is started, StoreError
    where the acceptance cannot be written.
    """
    began_s = time.monotonic()
    wanted, plan = _wanted(asked)
    unknown = next((key for key in asked.only if key not in [check.result.key for check in plan]), None)
    if unknown is not None:
        raise UnknownNameError("check", unknown, [check.result.key for check in plan])
    results = Path(asked.results)
    check_kept(results, wanted)
    before = acceptances.latest_like(results, wanted)
    if before and not (asked.gpu or VISIBLE in os.environ):
        # Which GPU has the most free memory may have changed: it goes on with the one that it was begun with.
        wanted = msgspec.structs.replace(wanted, machine=_machine(asked, uuid_in(before[1].machine)))
    folder, acceptance = (
        _continued(before, wanted) if before else (new_folder(results, f"acceptance-{asked.device}"), wanted)
    )
    with locked(folder, "acceptance"):
        acceptance = msgspec.structs.replace(acceptance, id=folder.name, command=asked.command)
        running = _AcceptanceRun(folder, acceptance, asked, launching or Launching(), began_s)
        running.all_checks(plan, observe)
    return AcceptanceOutcome(acceptance=running.acceptance, path=str(folder))


def read_outcome(folder: Path) -> AcceptanceOutcome:
    """Return the outcome of an acceptance's folder; raise StoreError where there is none."""
    return AcceptanceOutcome(acceptance=acceptances.read(folder), path=str(folder))


def _wanted(asked: AcceptanceRequest) -> tuple[Acceptance, list[PlannedCheck]]:
    """Return what is asked for, with every check not reached; raise UsageError for what cannot be."""
    if asked.gpu is not None and asked.device != "cuda":
        msg = f"--gpu {asked.gpu} names an NVIDIA GPU: it needs --device cuda"
        raise UsageError(msg)
    texts = tuple(dict.fromkeys(asked.contenders))
    request = Request(workload="mlp-mnist", contenders=texts, device=asked.device, size=asked.size, seed=asked.seed)
    _, plans, excluded = checked(request)
    machine = _machine(asked)
    lacks = lacking(plans, machine)
    plans = [plan for plan in plans if plan.contender.label not in lacks]
    check_any(plans, excluded | lacks)  # Without a contender every check would fail of the same.
    contenders = tuple(plan.contender.label for plan in plans)
    plan = planned(contenders, asked.device, quick=asked.quick)
    acceptance = Acceptance(
        id="",  # The name of its folder, which is made later.
        created_at=datetime.now(UTC).isoformat(timespec="microseconds"),
        bakeoff=bakeoff.__version__,
        contenders=contenders,
        excluded=(excluded if asked.contenders else {}) | lacks,
        device=asked.device,
        size=asked.size,
        quick=asked.quick,
        seed=asked.seed,
        machine=machine,
        command=asked.command,
        checks=[check.result for check in plan],
    )
    return acceptance, plan


def _machine(asked: AcceptanceRequest, uuid: str = "") -> dict[str, str | int | float | None]:
    """Return the machine's facts with those of the GPU that is checked; raise UsageError for one that there is not."""
    if asked.device != "cuda":
        return describe()
    chosen = None if uuid else choose(asked.gpu)
    return describe(gpu_facts.gpu(chosen.gpu.uuid if chosen else uuid))


def _continued(before: tuple[Path, Acceptance], wanted: Acceptance) -> tuple[Path, Acceptance]:
    """Return what to go on with; raise StoreError where it was begun on another machine or by another version."""
    folder, acceptance = before
    known = wanted.machine | acceptance.machine  # One that is not here has fewer facts, such as none of its GPU.
    changed = [name for name in known if acceptance.machine.get(name) != wanted.machine.get(name)]
    if acceptance.bakeoff != wanted.bakeoff:
        changed.append("bakeoff's version")
    if changed:
        msg = (
            f"cannot go on with {folder}: it was begun with another {', '.join(changed)}; name another folder by "
            "--results DIR"
        )
        raise StoreError(msg)
    return folder, acceptance


class _AcceptanceRun:
    """An acceptance on its way; after each check its file is written."""

    def __init__(
        self, folder: Path, acceptance: Acceptance, asked: AcceptanceRequest, launching: Launching, began_s: float
    ) -> None:
        self.acceptance = acceptance
        self._folder, self._asked, self._launching, self._began_s = folder, asked, launching, began_s

    def all_checks(self, plan: list[PlannedCheck], observe: CheckObserver) -> None:
        """Make the checks that are not made, in their order."""
        done = {check.key for check in self.acceptance.checks if self._is_done(check)}
        acceptances.write(self._folder, self.acceptance)
        observe(AcceptanceStarted(self.acceptance, str(self._folder), len(done)))
        for index, check in enumerate(plan):
            key, left_s = check.result.key, self._left_s()
            if key in done or (self._asked.only and key not in self._asked.only) or left_s <= 0.0:
                continue
            observe(CheckStarted(index + 1, len(plan), check.result, left_s))
            self._note(index, check.result)  # Not reached: whatever it was before is no outcome of this one.
            made = self._made(check, left_s)
            self._note(index, made)
            observe(CheckEnded(index + 1, len(plan), made, self._left_s()))

    def _is_done(self, check: CheckResult) -> bool:
        """Return whether a check keeps its outcome."""
        return check.state in ALREADY and not (self._asked.again and check.state in AGAIN)

    def _left_s(self) -> float:
        """Return the time that is left."""
        return self._asked.budget_s - (time.monotonic() - self._began_s)

    def _made(self, check: PlannedCheck, left_s: float) -> CheckResult:
        """Make a check, and return its result, whatever happens."""
        began_s = time.monotonic()
        folder = self._folder / check.result.key
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        most_s = min(left_s, check.result.most_s * self._asked.budget_s / HOUR_S)
        try:
            finding = check.make(self._setting(folder, most_s))
        except BakeoffError as error:
            finding = Finding("failed", str(error))
        except Exception as error:  # noqa: BLE001 - whatever it is, it is an outcome, and the next check is made
            finding = Finding("failed", f"it could not be made: {type(error).__name__}: {error}")
        took_s = time.monotonic() - began_s
        return msgspec.structs.replace(check.result, state=finding.state, found=finding.found, took_s=took_s)

    def _setting(self, folder: Path, most_s: float) -> Setting:
        """Return what a check is made with."""
        acceptance = self.acceptance
        return Setting(
            contenders=acceptance.contenders,
            excluded=acceptance.excluded,
            device=acceptance.device,
            size=acceptance.size,
            quick=acceptance.quick,
            seed=acceptance.seed,
            machine=acceptance.machine,
            folder=folder,
            whole=self._folder,
            most_s=most_s,
            launching=self._launching,
        )

    def _note(self, index: int, result: CheckResult) -> None:
        """Keep a result, and write it."""
        results = list(self.acceptance.checks)
        results[index] = result
        self.acceptance = msgspec.structs.replace(self.acceptance, checks=results)
        acceptances.write(self._folder, self.acceptance)
