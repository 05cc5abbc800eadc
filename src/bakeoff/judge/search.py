"""From the records of a search to its outcome: nothing else is read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec

from bakeoff.judge.batches import LARGEST, bracket, guessed_end, next_batch
from bakeoff.judge.certificate import certificate_of
from bakeoff.spec.comparison import ContenderPlan, Search
from bakeoff.spec.record import Memory, TrialOutcome
from bakeoff.spec.verdict import Certificate
from bakeoff.store.results import of_contender, of_purpose, read_records
from bakeoff.store.searches import read_search

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from bakeoff.spec.record import Record

TOO_MUCH: tuple[TrialOutcome, ...] = ("out-of-memory", "killed", "crashed")
"""How an attempt ends that takes too much memory, if no other process has killed it. A native library may also crash
for want of it."""

State = Literal["found", "nothing", "unbounded", "stopped", "uncertified", "unfinished"]
"""found: the largest batch within the precision.  nothing: not even one sample fits.  unbounded: as large as bakeoff
tries.  stopped: an attempt failed for another reason than memory.  uncertified: no passing certificate, so nothing was
tried.  unfinished: interrupted, or the time budget has ended."""


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """One batch size, in a process of its own."""

    batch_size: int
    fits: bool | None
    """Whether it fits; None: it failed for another reason than memory."""
    outcome: TrialOutcome
    reason: str
    """Why it does not fit, or failed."""
    memory: Memory | None
    peak_bytes: int | None
    """Of the host, beyond the import, from the first step on; None where the process did not get so far."""
    suspected: bool = False
    """It failed in words that may mean exhausted memory: that is what they mean where a smaller batch has run."""


class LargestBatch(msgspec.Struct, frozen=True, kw_only=True):
    """How large a batch of one contender may be, as far as the search knows it."""

    plan: ContenderPlan
    label: str
    state: State
    reason: str = ""
    """Why the largest batch is not known."""
    largest: int | None = None
    """The largest batch that fits; a lower bound unless it is found."""
    too_large: int | None = None
    """The smallest that does not."""
    attempts: list[Attempt] = []
    """In the order of their sizes."""
    certificate: Certificate | None = None
    versions: dict[str, str] = {}
    settings: dict[str, str | int | float | bool | None] = {}

    @property
    def at_largest(self) -> Attempt | None:
        """Return the attempt at the largest batch."""
        return next((one for one in self.attempts if one.batch_size == self.largest), None)

    @property
    def at_too_large(self) -> Attempt | None:
        """Return the attempt at the smallest batch that does not fit."""
        return next((one for one in self.attempts if one.batch_size == self.too_large), None)


class SearchOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """A search, judged."""

    search: Search
    path: str
    found: list[LargestBatch]
    """In the order in which contenders were named."""
    damaged: list[str] = []


def judge_search(folder: Path) -> SearchOutcome:
    """Return the outcome of the search in a folder; raise StoreError where there is none."""
    search, known = read_search(folder), read_records(folder)
    plan = search.plan
    found = [
        found_of(search, one, known.records, certificate_of(plan, known.records, folder, one))
        for one in plan.contenders
    ]
    return SearchOutcome(search=search, path=str(folder), found=found, damaged=known.damaged)


def found_of(
    search: Search, plan: ContenderPlan, records: Mapping[str, Record], certificate: Certificate
) -> LargestBatch:
    """Return the result for one contender."""
    label = plan.contender.label
    mine = of_contender(records.values(), label)
    attempts = sorted(attempts_of(search, mine), key=lambda one: one.batch_size)
    low, high = bracket(tried(attempts))
    state, reason = _state(search, attempts, certificate)
    if any(_took_too_much(record) and record.trial.purpose == "certify" for record in mine):
        reason += f"; its certificate needs batch {search.plan.batch_size:,}: name a smaller --batch-size"
    done = [record for record in mine if record.outcome == "done" and record.trial.purpose != "program"]
    return LargestBatch(
        plan=plan,
        label=label,
        state=state,
        reason=reason,
        largest=low or None,
        too_large=high,
        attempts=attempts,
        certificate=certificate,
        versions=done[-1].versions if done else {},
        settings=done[-1].settings if done else {},
    )


def attempts_of(search: Search, records: Iterable[Record]) -> list[Attempt]:
    """Return one contender's attempts.

    A batch fits if the system's high-water mark stays within the limit, and on CUDA what the allocator has reserved.
    """
    found = [_attempt(search, record) for record in of_purpose(records, "batch")]
    ran = [one.batch_size for one in found if one.outcome == "done"]
    return [_settled(one, any(size < one.batch_size for size in ran)) for one in found]


def _settled(attempt: Attempt, ran_smaller: bool) -> Attempt:  # noqa: FBT001 - whether fewer samples ran
    """Return an attempt whose words may mean exhausted memory as one that does not fit, where fewer samples ran."""
    if attempt.fits is not None or not (attempt.suspected and ran_smaller):
        return attempt
    reason = f"{attempt.reason} (the same step ran with fewer samples)"
    return msgspec.structs.replace(attempt, fits=False, reason=reason)


def tried(attempts: Iterable[Attempt]) -> dict[int, bool]:
    """Return whether each size fits, where its attempt shows that."""
    return {one.batch_size: one.fits for one in attempts if one.fits is not None}


def following(search: Search, attempts: Iterable[Attempt]) -> int | None:
    """Return the batch size to try next; None at the end, or after a failure for another reason than memory.

    Where memory is suspected, a smaller batch tells.
    """
    known = list(attempts)
    if any(one.fits is None and not one.suspected for one in known):
        return None
    sizes = tried(known) | {one.batch_size: False for one in known if one.fits is None}
    return next_batch(search.plan.batch_size, sizes, search.precision, _guess(search, known))


def _guess(search: Search, known: Iterable[Attempt]) -> float | None:
    """Return the batch size at which memory ends, by the attempts that fit; None where they do not tell.

    On an accelerator, whose own memory is the limit, nothing is guessed: what a process takes there beside its batch
    does not show in one reading.
    """
    devices = {one.contender.device for one in search.plan.contenders}
    size = search.plan.workload.sizes.get(search.plan.size)
    peaks = {one.batch_size: one.peak_bytes for one in known if one.fits and one.peak_bytes is not None}
    if devices != {"cpu"} or size is None:
        return None
    return guessed_end(peaks, search.limit_bytes, size.sample.sample_bytes)


def _attempt(search: Search, record: Record) -> Attempt:
    """Return one attempt, from its record."""
    memory = record.memory
    peak_bytes = memory.beyond_import_bytes if memory else None
    fits: bool | None = None
    reason = record.reason
    if record.outcome == "done":
        reason = _beyond(search, record, peak_bytes)
        fits = not reason
    elif _took_too_much(record):
        fits = False
    return Attempt(
        batch_size=record.trial.batch_size,
        fits=fits,
        outcome=record.outcome,
        reason=reason,
        memory=memory,
        peak_bytes=peak_bytes,
        suspected=record.memory_suspected,
    )


def _took_too_much(record: Record) -> bool:
    """Return whether a trial has ended for want of memory, as far as its outcome tells."""
    return record.outcome in TOO_MUCH and record.killed_by != "other"


def _beyond(search: Search, record: Record, peak_bytes: int | None) -> str:
    """Return by how much an attempt went beyond its limit: on CUDA the GPU's, else the host's; empty within it."""
    memory = record.memory
    if search.gpu_limit_bytes is not None and record.trial.contender.on_cuda:
        held = (memory.device_reserved_bytes or memory.device_peak_bytes or 0) if memory else 0
        return f"its steps took {held / 1e6:,.0f} MB of the GPU" if held > search.gpu_limit_bytes else ""
    if peak_bytes is None or peak_bytes <= search.limit_bytes:
        return ""
    return f"its steps took {peak_bytes / 1e6:,.0f} MB beyond its import"


def _state(search: Search, attempts: list[Attempt], certificate: Certificate) -> tuple[State, str]:
    """Return how far a contender's search is."""
    if not certificate.passed:
        return "uncertified", certificate.reason
    failed = next((one for one in attempts if one.fits is None), None)
    more = following(search, attempts) is not None
    if failed is not None and not more:
        return "stopped", f"batch {failed.batch_size}: {failed.reason}"
    low, high = bracket(tried(attempts))
    if more:
        return "unfinished", "more sizes are to be tried"
    if not low:
        return "nothing", next(one.reason for one in attempts if one.batch_size == high)
    if high is None:
        return "unbounded", f"the search ends at {LARGEST:,} samples"
    return "found", ""
