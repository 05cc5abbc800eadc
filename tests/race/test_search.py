"""Searches for the largest batch: of the scripted framework, in this process and in real ones, and of a real one."""

from __future__ import annotations

import platform
import re
from pathlib import Path
from typing import Any

import psutil
import pytest
from tests.race.inline import InlineWorker
from tests.report.shown import data_of, markdown, printed

from bakeoff.frameworks.fake import engine
from bakeoff.judge.search import SearchOutcome, judge_search
from bakeoff.race.conductor import search_batches
from bakeoff.race.progress import Event, Tried
from bakeoff.race.stages import attempts
from bakeoff.race.workers.process import ProcessWorker
from bakeoff.report.pages import page_of
from bakeoff.spec.errors import StoreError, UsageError
from bakeoff.store.results import comparisons

pytestmark = pytest.mark.slow

MB = 1_000_000
DOCUMENT = Path(__file__).parents[2] / "docs" / "json-max-batch.md"
FREE = {"machine", "excluded", "contenders[].options", "contenders[].settings", "contenders[].versions"}


def found(outcome: SearchOutcome) -> list[tuple[str, int | None, int | None]]:
    """Give state, largest and too large of every contender."""
    return [(one.state, one.largest, one.too_large) for one in outcome.found]


@pytest.fixture
def scripted(request_of: Any) -> SearchOutcome:
    """Search with scripts: of so much memory, of next to none, one that computes wrongly, one that fails."""
    contenders = ("sample_kib=1,capacity_kib=45", "sample_kib=9,capacity_kib=8", "wrong=loss")
    names = [f"fake:{options}" for options in (*contenders, "fault=raise,fault_at=memory")]
    return search_batches(request_of(*names), launch=InlineWorker)


def test_the_largest_batch_is_found_by_the_frameworks_own_error(scripted: SearchOutcome) -> None:
    """Out of memory is a recorded outcome; no certificate and another failure are told apart from it."""
    assert found(scripted) == [
        ("found", 45, 46),
        ("uncertified", None, None),
        ("uncertified", None, None),
        ("stopped", None, None),
    ]
    first, small, wrong, failed = scripted.found
    assert [one.batch_size for one in first.attempts if one.fits] == [16, 32, 40, 44, 45]
    assert {one.outcome for one in first.attempts} == {"done", "out-of-memory"}
    assert small.reason.startswith("MemoryError: the script has 8 KiB")
    assert small.reason.endswith("its certificate needs batch 16: name a smaller --batch-size")
    assert wrong.attempts == []
    assert failed.reason == "batch 16: RuntimeError: a scripted failure"


def test_every_form_of_the_report_tells_it(scripted: SearchOutcome) -> None:
    """Terminal, Markdown and JSON name what was found, why no more, and within what limit."""
    for said in (printed(scripted, 200), markdown(scripted).replace("\\", "")):
        assert "fake:sample_kib=1,capacity_kib=45 45, " in said
        assert "MemoryError: the script has 45 KiB, and a step needs 46" in said
        assert "stopped: batch 16: RuntimeError: a scripted failure" in said
        assert re.search(r"Limit: .* of resident memory beyond the import \(70 % of the .* available\)", said)
    told = data_of(scripted)
    assert (told["contenders"][0]["largest"], told["contenders"][0]["too_large"]) == (45, 46)
    assert told["contenders"][3]["attempts"][0]["fits"] is None


def test_documentation_and_object_agree(scripted: SearchOutcome) -> None:
    """Every key is documented in docs/json-max-batch.md, and every documented key is there."""

    def paths(value: Any, path: str = "") -> set[str]:
        if isinstance(value, dict) and path not in FREE:
            below = {key: f"{path}.{key}" if path else key for key in value}
            return set(below.values()).union(*(paths(value[key], below[key]) for key in value))
        return set().union(*(paths(item, f"{path}[]") for item in value)) if isinstance(value, list) else set()

    documented = set(re.findall(r"^\| `([\w.\[\]]+)` \|", DOCUMENT.read_text(), re.MULTILINE))
    assert paths(data_of(scripted)) == documented


def test_a_search_is_no_comparison(scripted: SearchOutcome) -> None:
    """It is judged from its records alone, and those who read comparisons pass it over."""
    assert judge_search(Path(scripted.path)) == scripted
    assert comparisons(Path(scripted.path).parent) == []


def test_an_interrupted_search_goes_on(request_of: Any) -> None:
    """Finished attempts are kept and never made twice; --resume finishes the search with its limit as it was."""
    wanted = request_of("fake:sample_kib=1,capacity_kib=45")
    sizes: list[int] = []

    def interrupt(event: Event) -> None:
        if isinstance(event, Tried):
            sizes.append(event.batch_size)
            if len(sizes) == 3:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        search_batches(wanted, interrupt, launch=InlineWorker)
    (folder,) = Path(wanted.results).glob("*-max-batch-*")
    assert found(judge_search(folder)) == [("unfinished", 32, 64)]
    assert "at least 32" in page_of(judge_search(folder)).headline
    more: list[int] = []
    resumed = request_of("fake:sample_kib=1,capacity_kib=45", resume=True)
    outcome = search_batches(
        resumed, lambda event: more.append(event.batch_size) if isinstance(event, Tried) else None, launch=InlineWorker
    )
    assert found(outcome) == [("found", 45, 46)]
    assert not set(sizes) & set(more)
    with pytest.raises(UsageError, match="nothing to go on with"):
        search_batches(request_of("fake:sample_kib=2", resume=True), launch=InlineWorker)


def test_a_search_does_not_mix_versions(request_of: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Attempts with another version of the framework are no part of a search that is gone on with."""
    search_batches(request_of("fake:capacity_kib=45", budget_s=1e-9), launch=InlineWorker)
    monkeypatch.setattr(engine.Engine, "versions", lambda self: {"fake": "2.0"})
    with pytest.raises(StoreError, match=r"had .*1\.0.* and has .*2\.0"):
        search_batches(request_of("fake:capacity_kib=45", resume=True), launch=InlineWorker)


@pytest.mark.parametrize("changed", ["Python", "variable"])
def test_a_search_does_not_mix_what_a_comparison_does_not(
    request_of: Any, monkeypatch: pytest.MonkeyPatch, changed: str
) -> None:
    """Another Python and other variables of the user's environment are refused as by a comparison, with both values."""
    monkeypatch.delenv("MALLOC_TOP_PAD_", raising=False)
    search_batches(request_of("fake:capacity_kib=45", budget_s=1e-9), launch=InlineWorker)
    if changed == "Python":
        monkeypatch.setattr(platform, "python_version", lambda: "3.0.0")
    else:
        monkeypatch.setenv("MALLOC_TOP_PAD_", "65536")
    has = {"Python": r"Python 3\.0\.0", "variable": "MALLOC_TOP_PAD_ 65536"}[changed]
    with pytest.raises(StoreError, match=f"cannot go on with .*-max-batch-.* had Python .* and has .*{has}"):
        search_batches(request_of("fake:capacity_kib=45", resume=True), launch=InlineWorker)


def test_a_spent_budget_starts_no_attempt(request_of: Any) -> None:
    """The time budget ends a search between two attempts, and what is known is a bound."""
    outcome = search_batches(request_of("fake:sample_kib=1", budget_s=1e-9), launch=InlineWorker)
    assert found(outcome) == [("unfinished", None, None)]


def test_memory_that_a_process_takes_ends_its_attempt(request_of: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the limit a real process is ended from outside, or its steps' peak tells; nothing larger was tried."""
    monkeypatch.setattr(attempts, "PRECISION", 0.2)
    before = set(psutil.Process().children())
    outcome = search_batches(request_of("fake:sample_kib=2048"), limit_bytes=150 * MB, launch=ProcessWorker)
    (one,) = outcome.found
    assert one.state == "found"
    # 150 MB hold 71 samples of 2 MiB; a process takes some MB beside them, and the precision is a fifth.
    assert 45 <= one.largest <= 71
    assert one.at_largest.peak_bytes < 150 * MB
    ended = [attempt for attempt in one.attempts if attempt.reason.startswith("ended when it held")]
    assert ended
    assert {attempt.outcome for attempt in ended} == {"out-of-memory"}
    assert max(attempt.batch_size for attempt in one.attempts) <= 128
    assert set(psutil.Process().children()) <= before


def test_a_limit_that_the_machine_cannot_keep_is_refused(request_of: Any) -> None:
    """More than the machine can give without swapping is refused before anything is started."""
    with pytest.raises(UsageError, match="valid is up to"):
        search_batches(request_of("fake"), limit_bytes=10**15, launch=InlineWorker)


@pytest.mark.by_turns
@pytest.mark.timeout(300)  # Four processes that import it, on a busy machine.
def test_a_real_framework_is_searched(request_of: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """PyTorch's largest batch is found within a small limit, and its peak is below it."""
    monkeypatch.setattr(attempts, "PRECISION", 1.0)
    outcome = search_batches(request_of("torch:threads=1", batch_size=4096), limit_bytes=150 * MB)
    (one,) = outcome.found
    assert (one.state, one.reason) == ("found", "")
    assert one.largest >= 512
    assert one.at_largest.peak_bytes <= 150 * MB
    assert one.largest < one.too_large <= 2 * one.largest
