"""What a search says of one contender, from attempts that are made by hand: nothing is started."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from tests.explaining.test_causes import record
from tests.report.conftest import certificate, comparison, plan

from bakeoff.judge.batches import LARGEST
from bakeoff.judge.search import Attempt, LargestBatch, attempts_of, following, found_of
from bakeoff.spec.comparison import ContenderPlan, Search
from bakeoff.spec.record import Memory, Record

MB = 1_000_000
LIMIT_BYTES = 700 * MB
IMPORT_BYTES = 200 * MB


def on(device: str) -> ContenderPlan:
    """Give torch's plan on a device."""
    made = plan("torch")
    options = made.contender.options | {"device": device}
    return msgspec.structs.replace(made, contender=msgspec.structs.replace(made.contender, options=options))


def search_on(device: str = "cpu", **changed: Any) -> Search:
    """Give a search of torch from batch 32 on, within 700 MB."""
    asked = msgspec.structs.replace(comparison(["torch"]), contenders=[on(device)])
    fields = {"plan": asked, "limit_bytes": LIMIT_BYTES, "available_bytes": 1000 * MB, "precision": 0.02}
    return Search(**(fields | changed))


def trial(
    batch_size: int, outcome: str = "done", *, purpose: str = "batch", device: str = "cpu", **more: Any
) -> Record:
    """Give the record of a trial of torch."""
    made = record("torch")
    asked = msgspec.structs.replace(
        made.trial,
        purpose=purpose,
        batch_size=batch_size,
        contender=on(device).contender,
        name=f"{purpose}-{batch_size}",
    )
    return msgspec.structs.replace(made, trial=asked, outcome=outcome, **more)


def held(batch_size: int, steps_bytes: int, **more: Any) -> Record:
    """Give an attempt whose steps took so much beyond the import."""
    memory = Memory(baseline_bytes=IMPORT_BYTES, peak_bytes=IMPORT_BYTES + steps_bytes)
    return trial(batch_size, memory=memory, **more)


def told(*records: Record, reason: str = "", search: Search | None = None) -> LargestBatch:
    """Give what was found for torch; `reason` says why it has no certificate."""
    known = {str(place): one for place, one in enumerate(records)}
    asked = search or search_on()
    return found_of(asked, asked.plan.contenders[0], known, certificate("torch", reason=reason))


def one_of(*records: Record, search: Search | None = None) -> Attempt:
    """Give the last of these attempts."""
    return attempts_of(search or search_on(), records)[-1]


@pytest.mark.parametrize(("beyond", "fits"), [(0, True), (1, False)])
def test_a_batch_fits_whose_steps_take_no_more_than_the_limit_beyond_the_import(beyond: int, *, fits: bool) -> None:
    """What the import took is no part of it, and what is too much is told with its size."""
    found = one_of(held(64, LIMIT_BYTES + beyond))
    assert (found.fits, found.peak_bytes) == (fits, LIMIT_BYTES + beyond)
    assert found.reason == ("" if fits else "its steps took 700 MB beyond its import")


def test_an_attempt_whose_memory_nobody_has_read_fits_where_it_ran() -> None:
    """Unknown is neither nothing nor too much."""
    unread = one_of(trial(64))
    assert (unread.fits, unread.peak_bytes, unread.reason) == (True, None, "")


@pytest.mark.parametrize(
    ("outcome", "fits"),
    [("out-of-memory", False), ("killed", False), ("crashed", False), ("failed", None), ("timeout", None)],
)
def test_only_an_end_for_want_of_memory_says_that_a_batch_is_too_large(outcome: str, fits: bool | None) -> None:  # noqa: FBT001
    """Any other failure says nothing of its size, and ends the search with the reason."""
    found = told(held(32, 50 * MB), trial(64, outcome, reason="why"))
    assert [one.fits for one in found.attempts] == [True, fits]
    assert (found.largest, found.too_large) == (32, 64 if fits is False else None)
    assert (found.state, found.reason) == (
        ("stopped", "batch 64: why") if fits is None else ("unfinished", "more sizes are to be tried")
    )


def test_words_that_may_mean_memory_mean_it_where_fewer_samples_ran() -> None:
    """Not where none ran, nor where as many or more did, nor where the words mean something else."""
    failed = trial(64, "failed", reason="CUBLAS_STATUS_ALLOC_FAILED", memory_suspected=True)
    settled = one_of(held(32, 2 * LIMIT_BYTES), failed)
    assert (settled.fits, settled.outcome) == (False, "failed")
    assert settled.reason == "CUBLAS_STATUS_ALLOC_FAILED (the same step ran with fewer samples)"
    for others in ([], [trial(32, "out-of-memory")], [held(64, MB)], [held(128, MB)]):
        unsettled = one_of(*others, failed)
        assert (unsettled.fits, unsettled.reason) == (None, "CUBLAS_STATUS_ALLOC_FAILED")
    assert one_of(held(32, MB), trial(64, "failed", reason="a typo")).fits is None


def test_a_smaller_batch_is_tried_where_memory_is_suspected_and_nothing_after_another_failure() -> None:
    """Down to a single sample, after which the search has stopped by the failure of the smallest."""

    def suspected(batch_size: int) -> Record:
        return trial(batch_size, "failed", reason=f"words of {batch_size}", memory_suspected=True)

    search = search_on()
    assert following(search, attempts_of(search, [suspected(32)])) == 16
    assert told(suspected(32)).state == "unfinished"
    ended = told(suspected(2), suspected(1))
    assert (ended.state, ended.reason, ended.largest, ended.too_large) == ("stopped", "batch 1: words of 1", None, None)
    assert following(search, attempts_of(search, [trial(32, "failed"), held(16, MB)])) is None


def test_on_the_host_the_next_batch_is_aimed_by_the_memory_of_those_that_fit() -> None:
    """A megabyte a sample beside 100: memory ends at 600. On an accelerator it is doubled, and nothing is guessed."""
    small, large = held(32, 132 * MB), held(64, 164 * MB)
    search = search_on()
    aimed = following(search, attempts_of(search, [small, large]))
    assert aimed is not None
    assert 0.98 * 600 <= aimed < 600
    too_much = trial(1000, "out-of-memory", memory=Memory(baseline_bytes=0, peak_bytes=MB))
    assert following(search, attempts_of(search, [small, large, too_much])) == aimed
    gpu = search_on("cuda", gpu_limit_bytes=10_000 * MB)
    on_gpu = [
        msgspec.structs.replace(one, trial=trial(one.trial.batch_size, device="cuda").trial) for one in (small, large)
    ]
    assert following(gpu, attempts_of(gpu, on_gpu)) == 128


@pytest.mark.parametrize(("device", "fits"), [("cuda", True), ("cpu", False)])
def test_the_gpu_s_limit_holds_for_those_on_it_and_the_host_s_for_all_others(device: str, *, fits: bool) -> None:
    """What a process on a GPU takes of the host decides nothing there, nor what it holds of a GPU elsewhere."""
    memory = Memory(baseline_bytes=0, peak_bytes=2 * LIMIT_BYTES, device_reserved_bytes=10)
    asked = search_on("cuda", gpu_limit_bytes=10)
    assert one_of(trial(32, device=device, memory=memory), search=asked).fits == fits
    more = msgspec.structs.replace(memory, peak_bytes=0, device_reserved_bytes=2 * MB)
    found = one_of(trial(32, device=device, memory=more), search=asked)
    assert (found.fits, found.reason) == ((False, "its steps took 2 MB of the GPU") if fits else (True, ""))


def test_a_search_that_is_done_tells_its_two_ends() -> None:
    """The largest that fits and the smallest that does not, whatever the order of the attempts, each with its own."""
    too_much = trial(101, "out-of-memory", reason="too much")
    found = told(too_much, held(32, 100 * MB), held(100, 690 * MB), trial(128, "killed", reason="far too much"))
    assert (found.state, found.reason, found.largest, found.too_large) == ("found", "", 100, 101)
    assert [one.batch_size for one in found.attempts] == [32, 100, 101, 128]
    assert found.at_largest is not None
    assert found.at_largest.peak_bytes == 690 * MB
    assert found.at_largest.memory == Memory(baseline_bytes=IMPORT_BYTES, peak_bytes=IMPORT_BYTES + 690 * MB)
    assert found.at_too_large is not None
    assert found.at_too_large.reason == "too much"
    assert told().at_largest is None


def test_where_not_even_one_sample_fits_its_reason_is_told() -> None:
    """Not that of the sizes before it."""
    found = told(*(trial(size, "killed", reason=f"killed at {size}") for size in (2, 1)))
    assert (found.state, found.reason, found.largest, found.too_large) == ("nothing", "killed at 1", None, 1)


def test_memory_that_does_not_end_is_told_as_no_bound() -> None:
    """At the largest batch that is tried; before it the search has not come to its end."""
    found = told(held(LARGEST, 10 * MB))
    assert (found.state, found.reason) == ("unbounded", "the search ends at 1,048,576 samples")
    assert (found.largest, found.too_large) == (LARGEST, None)
    before = told(held(LARGEST - 1, 10 * MB))
    assert (before.state, before.reason, before.largest) == ("unfinished", "more sizes are to be tried", LARGEST - 1)
    assert told().state == "unfinished"


@pytest.mark.parametrize(
    ("outcome", "purpose", "is_for_memory"),
    [
        ("out-of-memory", "certify", True),
        ("killed", "certify", True),
        ("failed", "certify", False),
        ("killed", "batch", False),
    ],
)
def test_without_a_certificate_nothing_is_told_but_why(outcome: str, purpose: str, *, is_for_memory: bool) -> None:
    """And what to do where it was memory that the certificate's batch lacked."""
    found = told(trial(32, outcome, purpose=purpose, reason="why"), reason="no evidence")
    remedy = "; its certificate needs batch 32: name a smaller --batch-size" if is_for_memory else ""
    assert (found.state, found.reason) == ("uncertified", f"no evidence{remedy}")
    assert found.certificate is not None
    assert not found.certificate.passed


def test_versions_and_settings_are_those_of_the_last_process_that_ran_steps() -> None:
    """Neither of one that was ended, nor of one that only compiled a program, nor of another contender."""

    def ran(size: int, version: str, **more: Any) -> Record:
        return trial(size, **({"versions": {"torch": version}, "settings": {"mode": version}} | more))

    other = ran(40, "other")
    named = msgspec.structs.replace(other.trial.contender, label="jax")
    found = told(
        ran(32, "1"),
        ran(33, "2"),
        ran(34, "program", purpose="program"),
        ran(35, "ended", outcome="killed"),
        msgspec.structs.replace(other, trial=msgspec.structs.replace(other.trial, contender=named)),
    )
    assert (found.versions, found.settings) == ({"torch": "2"}, {"mode": "2"})
    assert [one.batch_size for one in found.attempts] == [32, 33, 35]
    assert told(trial(32, "killed")).versions == {}
