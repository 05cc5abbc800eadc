"""Searches for the largest batch, made by hand, for every case that a report has to put into words."""

from __future__ import annotations

import msgspec
import pytest
from tests.report.conftest import certificate, comparison, plan

from bakeoff.judge.search import Attempt, LargestBatch, SearchOutcome
from bakeoff.spec.comparison import Search
from bakeoff.spec.record import Memory


def attempt(batch_size: int, megabytes: int | None, *, device: bool = False, fits: bool = True) -> Attempt:
    """Make an attempt that held so many megabytes, or was ended for them."""
    peak = None if megabytes is None else megabytes * 1_000_000
    memory = Memory(peak_bytes=peak, baseline_bytes=0, steps=3) if peak else None
    if device and memory:
        memory = msgspec.structs.replace(
            memory, device_peak_bytes=peak, device_reserved_bytes=2 * (peak or 0), device_preallocation="none"
        )
    return Attempt(
        batch_size=batch_size,
        fits=fits,
        outcome="done" if fits else "out-of-memory",
        reason="" if fits else "its steps took more than 700 MB beyond its import",
        memory=memory,
        peak_bytes=peak,
    )


def found(label: str, attempts: list[Attempt], state: str, reason: str = "") -> LargestBatch:
    """Make what was found for one contender."""
    good = [one.batch_size for one in attempts if one.fits]
    bad = [one.batch_size for one in attempts if not one.fits]
    return LargestBatch(
        plan=plan(label),
        label=label,
        state=state,
        reason=reason,
        largest=max(good, default=None),
        too_large=min(bad, default=None),
        attempts=attempts,
        certificate=certificate(label, reason=reason if state == "uncertified" else ""),
        versions={label: "2.13.0"},
        settings={"mode": "graph"},
    )


def search(contenders: list[LargestBatch], **changes: object) -> SearchOutcome:
    """Make the outcome of a search."""
    asked = comparison([one.label for one in contenders], excluded={"other": "no module named 'other' <i>"})
    asked = msgspec.structs.replace(asked, id="mlp-mnist-max-4f2a", command="bakeoff run mlp-mnist --max-batch")
    wanted = Search(plan=asked, limit_bytes=700_000_000, available_bytes=1_000_000_000, precision=0.02)
    made = SearchOutcome(search=wanted, path="results/mlp-mnist-max-4f2a", found=contenders)
    return msgspec.structs.replace(made, **changes)


@pytest.fixture
def host() -> SearchOutcome:
    """Three contenders in the memory of the host: one found, one unbounded, one without a certificate."""
    return search(
        [
            found("torch", [attempt(32, 100), attempt(64, 250), attempt(128, None, fits=False)], "found"),
            found("jax", [attempt(32, 10), attempt(1 << 20, 600)], "unbounded", "the search ends at 1,048,576 samples"),
            found("tensorflow", [], "uncertified", "gradients differ by 0.3"),
        ],
        damaged=["batch-64-jax: record.json is truncated"],
    )


@pytest.fixture
def device() -> SearchOutcome:
    """Two contenders on a device, one of which cannot take even one sample."""
    return search(
        [
            found("jax", [attempt(1, None, fits=False)], "nothing", "out of memory"),
            found("torch", [attempt(32, 100, device=True), attempt(33, None, fits=False)], "found"),
        ]
    )
