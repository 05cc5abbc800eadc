"""Memory of a GPU, end to end: who is resident with whom, and what fits; scripts on pretended GPUs."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from tests.race.inline import InlineWorker
from tests.report.shown import data_of, markdown, printed

from bakeoff.judge.ledger import ledger
from bakeoff.judge.outcome import Outcome
from bakeoff.judge.search import SearchOutcome, _beyond
from bakeoff.measure.gpus import uuid_in
from bakeoff.race import conductor
from bakeoff.race.conductor import search_batches
from bakeoff.race.fitting import MemoryNeed, need_of, why_apart, why_apart_on_the_gpu
from bakeoff.race.specs import Specs, Trial
from bakeoff.race.stages.attempts import LIMITS
from bakeoff.race.workers.process import ProcessWorker
from bakeoff.report.sections.settings import SETTINGS
from bakeoff.spec.contender import Contender
from bakeoff.spec.errors import UsageError
from bakeoff.spec.record import Memory
from bakeoff.store.results import read_records

if TYPE_CHECKING:
    from tests.gpu.pretended import PretendedGpus

pytestmark = pytest.mark.slow

GIB = 1 << 20
"""In KiB, as the script's options count."""

LEAD_S = 1.0


@pytest.fixture(autouse=True)
def _certificates_and_times_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have comparisons leave out what comes behind the verdict."""
    monkeypatch.setattr(conductor, "COMPARISON", conductor.COMPARISON[:2])


@pytest.fixture
def raced(race: Any) -> Any:
    """Give a function that races scripts of these options on the GPU for one round, by default in this process."""

    def run(*options: str, launch: Any = InlineWorker) -> Outcome:
        contenders = [f"fake:step_ms={1 + place},{one}".rstrip(",") for place, one in enumerate(options)]
        outcome: Outcome = race(*contenders, launch=launch, device="cuda", max_rounds=1)
        return outcome

    return run


def records_of(outcome: Outcome, purpose: str) -> list[Any]:
    """Return the records of trials of one kind, in the order of their labels."""
    found = read_records(Path(outcome.path)).records.values()
    return sorted((one for one in found if one.trial.purpose == purpose), key=lambda one: one.trial.contender.label)


@pytest.mark.by_turns
def test_workers_that_fit_are_resident_together(pretended_gpus: PretendedGpus, raced: Any) -> None:
    """Three of 6 GiB and a context each, on 26: the certificate's trials have measured it before the first round."""
    pretended_gpus.set(0, memory_total_bytes=26 << 30)
    outcome = raced(*[f"gpu_kib={6 * GIB}"] * 3, launch=ProcessWorker)
    assert (outcome.resident, outcome.apart) == (True, "")
    assert {one.outcome for one in records_of(outcome, "time")} == {"done"}
    for one in records_of(outcome, "certify"):
        assert one.memory.device_process_bytes == (6 * GIB + 307_200) << 10
        assert one.memory.device_reserved_bytes == 6 * GIB << 10


def test_workers_that_do_not_fit_run_one_after_another(pretended_gpus: PretendedGpus, raced: Any) -> None:
    """Each has the GPU for itself, with a lead-in that its clock rises in, and the report says why."""
    pretended_gpus.set(0, memory_total_bytes=20 << 30)
    outcome = raced(*[f"gpu_kib={6 * GIB}"] * 3)
    assert not outcome.resident
    # NVML names no process of the worker's own here: 1 GB of context each is taken for granted.
    assert outcome.apart.startswith("together they hold about 22.3 GB of the GPU, more than 80 % of the")
    assert {one.outcome for one in records_of(outcome, "time")} == {"done"}
    for record in records_of(outcome, "time"):
        first, *others = record.blocks
        assert first.lead_ns >= LEAD_S * 1e9
        assert max(one.lead_ns for one in others) < LEAD_S * 1e9
    assert f"one after another: {outcome.apart}" in markdown(outcome)
    assert data_of(outcome)["comparison"]["apart"] == outcome.apart


def test_pools_run_one_after_another(pretended_gpus: PretendedGpus, raced: Any) -> None:
    """Three that take 75 % each are decided all the same, and none has run out of memory."""
    assert pretended_gpus.uuid()
    outcome = raced(*["device_memory=pool"] * 2, "")
    assert outcome.apart.startswith("device_memory=pool: fake:step_ms=1,device_memory=pool, fake:step_ms=2,")
    assert {one.outcome for one in records_of(outcome, "time")} == {"done"}
    certified = [one.memory.device_preallocation for one in records_of(outcome, "certify")]
    assert certified == ["0.75 of the GPU; allocator scripted"] * 2 + ["none; allocator scripted"]
    assert {one.kind for one in ledger(outcome.contenders) if one.key == "device_memory"} == {"asked"}


def test_exclusive_gpus_are_used_one_after_another(pretended_gpus: PretendedGpus, raced: Any) -> None:
    """A second context would fail; with two GPUs, the mode is that of the one that workers run on."""
    pretended_gpus.add(compute_mode=3, uuid="GPU-0badcafe-0000-4000-8000-000000000000", memory_total_bytes=40 << 30)
    outcome = raced("", "")
    assert outcome.comparison.machine["gpu_uuid"] == "GPU-0badcafe-0000-4000-8000-000000000000"
    assert "compute mode, exclusive process, admits no second process" in outcome.apart
    assert {one.outcome for one in records_of(outcome, "time")} == {"done"}


def test_what_nvml_does_not_tell_is_taken_from_the_allocator(pretended_gpus: PretendedGpus) -> None:
    """As in WSL: a reserve and 1 GB of context each, or one after another where a framework reports no reserve."""
    assert pretended_gpus.uuid()
    comparison: Any = SimpleNamespace(machine={"gpu_uuid": pretended_gpus.uuid()}, work=None)
    plan: Any = SimpleNamespace(contender=Contender(framework="fake", label="fake", options={"device": "cuda"}))

    def apart(*memories: Memory) -> str:
        needs = [need_of(comparison, plan, [one]) for one in memories]
        return why_apart(comparison, needs)

    reserved = Memory(peak_bytes=1, device_reserved_bytes=8_000_000_000)
    assert apart(reserved, reserved) == ""
    larger = Memory(peak_bytes=1, device_reserved_bytes=9_000_000_000)
    assert "about 20.0 GB of the GPU, more than 80 % of the 24.2 GB" in apart(larger, larger)
    assert apart(reserved, Memory(peak_bytes=1)) == "how much of the GPU fake holds is not known"
    pretended_gpus.set(0, uuid="GPU-another")
    assert "free is not known: NVML: " in apart(reserved, reserved)


def test_room_is_that_of_the_fullest_gpu_of_all_devices(pretended_gpus: PretendedGpus) -> None:
    """Contenders on two GPUs are resident together where both have room; those on one GPU ask for its own alone."""
    pretended_gpus.add(memory_total_bytes=10 << 30, uuid="GPU-0badcafe-0000-4000-8000-000000000000")
    comparison: Any = SimpleNamespace(machine={"gpu_uuid": pretended_gpus.uuid()}, work=None)

    def apart(**options: str) -> str:
        contender = Contender(framework="fake", label="fake", options={"device": "cuda", **options})
        return why_apart_on_the_gpu(comparison, [MemoryNeed(contender=contender, host_bytes=0, gpu_bytes=5 << 30)] * 2)

    assert apart() == ""
    assert apart(devices="2").startswith("together they hold about 10.7 GB of the GPU, more than 80 % of the 10.7 GB")
    pretended_gpus.set(1, compute_mode=3)
    assert "admits no second process" in apart(devices="2")


def test_saved_states_need_room_on_the_gpu_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three copies of parameters and the optimiser's state, four bytes a number; on the GPU that the race is on."""
    comparison: Any = SimpleNamespace(machine={"gpu_uuid": "GPU-1"}, work=SimpleNamespace(parameters=100, state=200))
    plan: Any = SimpleNamespace(contender=Contender(framework="fake", label="fake", options={"device": "cuda"}))
    need = need_of(comparison, plan, [Memory(peak_bytes=5, device_process_bytes=7)])
    assert (need.host_bytes, need.gpu_bytes) == (5 + 3600, 7 + 3600)
    # What one process has beside its allocator's reserve, the others have, too.
    both = Memory(peak_bytes=5, device_process_bytes=10, device_reserved_bytes=8)
    assert need_of(comparison, plan, [both, Memory(peak_bytes=5, device_reserved_bytes=9)]).gpu_bytes == 11 + 3600
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "5,6")
    assert uuid_in(comparison.machine) == "GPU-1"


def test_memory_that_others_hold_is_told_as_memory(pretended_gpus: PretendedGpus, race: Any) -> None:
    """In whatever words: those that have other causes, too, count on a GPU that is full."""
    free = 23_034 << 20
    pretended_gpus.hold(0, os.getppid(), free - (400 << 20))
    words = ("tensor", "backend", "unknown")
    names = [f"fake:oom_text={one},context_kib={500 << 10}" for one in words]
    outcome = race(*names, launch=ProcessWorker, device="cuda", max_rounds=1)
    found = {one.trial.contender.options["oom_text"]: one for one in records_of(outcome, "certify")}
    assert {name: one.outcome for name, one in found.items()} == {
        "tensor": "out-of-memory",
        "backend": "out-of-memory",
        "unknown": "failed",
    }
    assert found["backend"].reason.endswith("(the GPU had 1.7 % of its memory left)")


def test_what_the_environment_says_of_a_variable_that_is_set_does_not_count(
    race: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And that is said, below the settings; what it says the same changes nothing."""
    monkeypatch.setattr(Specs, "trial", with_variables(Specs.trial, BAKEOFF_TEST_ONE="1", BAKEOFF_TEST_TWO="2"))
    monkeypatch.setenv("BAKEOFF_TEST_ONE", "0")
    monkeypatch.setenv("BAKEOFF_TEST_TWO", "2")
    outcome = race("fake", max_rounds=1, launch=ProcessWorker)
    assert outcome.contenders[0].overridden == {"BAKEOFF_TEST_ONE": "0"}
    (fold,) = [one for one in SETTINGS.sections(outcome) if one.title == "Settings"]
    assert "fake: BAKEOFF_TEST_ONE=0 in the environment did not count: bakeoff sets it for all alike." in fold.notes


def with_variables(given: Any, **variables: str) -> Any:
    """Return the method that makes trials, with variables of a framework beside those that it has."""

    def trial(self: Specs, *arguments: Any, **asked: Any) -> Trial:
        made: Trial = given(self, *arguments, **asked)
        return made._replace(spec=msgspec.structs.replace(made.spec, variables=made.spec.variables | variables))

    return trial


@pytest.fixture
def searched(pretended_gpus: PretendedGpus, request_of: Any) -> Any:
    """Give a function that searches the largest batch of scripts whose samples take 1 MiB, on a GPU of 1,000 MiB."""
    pretended_gpus.set(0, memory_total_bytes=1000 << 20)

    def search(*options: str, limit_bytes: int | None = None) -> SearchOutcome:
        names = [f"fake:sample_kib=1024,context_kib=51200,{one}".rstrip(",") for one in options]
        request = request_of(*names, device="cuda")
        return search_batches(request, launch=InlineWorker, limit_bytes=limit_bytes)

    return search


def test_one_limit_holds_for_every_allocator(searched: Any) -> None:
    """Whether it grows or takes a pool; the report says whereof the limit is, and that the context is beyond it."""
    outcome = searched("", "device_memory=pool,pool_share=0.2", limit_bytes=400 << 20)
    assert [(one.state, one.largest) for one in outcome.found] == [("found", 400)] * 2
    assert outcome.search.gpu_limit_bytes == 400 << 20
    assert outcome.search.limit_bytes == int(LIMITS.share * outcome.search.available_bytes)  # the host has its own
    assert {one.outcome for found in outcome.found for one in found.attempts} == {"done", "out-of-memory"}
    said = printed(outcome, 200)
    assert "of the GPU for each framework's allocator (as asked), set by its own means" in said
    assert "is beyond it" in said


@pytest.mark.parametrize(
    ("held", "fits"),
    [
        ({"device_reserved_bytes": 11, "device_peak_bytes": 5}, False),
        ({"device_reserved_bytes": 10, "device_peak_bytes": 5}, True),
        ({"device_peak_bytes": 11}, False),
        ({"device_peak_bytes": 10}, True),
        ({}, True),
    ],
)
def test_an_allocator_that_keeps_no_limit_is_held_by_what_it_has_reserved(held: dict[str, int], *, fits: bool) -> None:
    """What it took of the GPU is gone for others, however little of it lived; without that, what lived at once."""
    search: Any = SimpleNamespace(gpu_limit_bytes=10, limit_bytes=1 << 40)
    contender = SimpleNamespace(on_cuda=True)
    record: Any = SimpleNamespace(memory=Memory(**held), trial=SimpleNamespace(contender=contender))
    assert (not _beyond(search, record, None)) == fits


def test_words_with_other_causes_count_where_fewer_samples_ran(searched: Any) -> None:
    """By default the limit is 90 % of what is free, and so the GPU is not full where it ends."""
    library, unknown = searched("oom_text=library", "oom_text=unknown").found
    assert library.state == "found"
    assert 0.98 * 900 <= library.largest <= 900
    assert library.at_too_large.reason.endswith("(the same step ran with fewer samples)")
    assert (unknown.state, unknown.largest) == ("stopped", 512)


@pytest.mark.parametrize(("limit_bytes", "said"), [(950 << 20, "90 % of what is free of the GPU"), (10, "1 MB")])
def test_a_limit_that_the_gpu_cannot_keep_is_refused(searched: Any, limit_bytes: int, said: str) -> None:
    """With what is valid."""
    with pytest.raises(UsageError, match=said):
        searched("", limit_bytes=limit_bytes)
