"""Within which limit a search tries batches, and what an attempt is given of it: nothing is started."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from tests.race.test_search_by_hand import held, on, search_on, trial
from tests.report.conftest import comparison

from bakeoff.measure import gpu_memory
from bakeoff.measure.gpu_memory import Room
from bakeoff.race.specs import Trial
from bakeoff.race.stages import attempts
from bakeoff.race.stages.stage import WantedTrials
from bakeoff.spec.comparison import Comparison, Search
from bakeoff.spec.errors import UsageError
from bakeoff.spec.record import Memory

MB = 1_000_000
AVAILABLE_BYTES = 1000 * MB
ROOM = Room(free_bytes=500 * MB, total_bytes=800 * MB)


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Give a function that says what a machine has; at first a thousand MB, and a GPU with half of that free."""

    def has(available_bytes: int | None = AVAILABLE_BYTES, room: Room = ROOM) -> None:
        monkeypatch.setattr(attempts, "available_memory_bytes", lambda: available_bytes)
        monkeypatch.setattr(gpu_memory, "room_of", lambda _: room)

    has()
    return has


def of(*devices: str) -> Comparison:
    """Give a plan with a contender on each of these devices."""
    return msgspec.structs.replace(comparison(["torch"]), contenders=[on(device) for device in devices])


@pytest.mark.usefixtures("machine")
def test_a_search_on_processors_takes_what_was_asked_for_or_a_share_of_what_is_available() -> None:
    """Seven tenths by itself, up to nine tenths where the user says so; no GPU is asked."""
    found = attempts.within(of("cpu"), None)
    assert (found.limit_bytes, found.asked_bytes, found.available_bytes) == (700 * MB, None, AVAILABLE_BYTES)
    assert (found.gpu_limit_bytes, found.gpu_free_bytes, found.gpu_total_bytes) == (None, None, None)
    assert found.precision == 0.02
    asked = attempts.within(of("cpu"), 900 * MB)
    assert (asked.limit_bytes, asked.asked_bytes) == (900 * MB, 900 * MB)
    with pytest.raises(
        UsageError, match=r"limit of 0\.90 GB cannot be: valid is up to 0\.90 GB now, 90 % of .*available"
    ):
        attempts.within(of("cpu"), 900 * MB + 1)
    assert attempts.within(of("cpu"), MB).limit_bytes == MB
    with pytest.raises(UsageError, match="999999 bytes cannot be: valid is from 1,000,000 bytes on"):
        attempts.within(of("cpu"), MB - 1)


@pytest.mark.usefixtures("machine")
def test_a_search_on_a_gpu_has_a_limit_of_its_own_there() -> None:
    """Nine tenths of what is free or what was asked for; the host keeps its share beside either."""
    found = attempts.within(of("cuda"), None)
    assert (found.limit_bytes, found.gpu_limit_bytes) == (700 * MB, 450 * MB)
    assert (found.gpu_free_bytes, found.gpu_total_bytes) == (500 * MB, 800 * MB)
    asked = attempts.within(of("cuda"), 100 * MB)
    assert (asked.limit_bytes, asked.gpu_limit_bytes, asked.asked_bytes) == (700 * MB, 100 * MB, 100 * MB)
    with pytest.raises(UsageError, match=r"valid is up to 0\.45 GB now, 90 % of what is free of the GPU"):
        attempts.within(of("cuda"), 451 * MB)
    assert attempts.within(of("cpu", "cuda"), None).gpu_limit_bytes == 450 * MB


def test_a_limit_that_nobody_can_keep_is_refused_with_the_reason(machine: Any) -> None:
    """Of several devices, of one without a limit of its own, and where the machine or the GPU tells nothing."""
    for devices, named in ((("cpu", "cuda"), "cpu, cuda"), (("mps",), "mps")):
        with pytest.raises(UsageError, match=f"these run on {named}: leave it out"):
            attempts.within(of(*devices), 100 * MB)
    assert attempts.within(of("mps"), None).limit_bytes == 700 * MB
    machine(room=Room(reason="NVML: no driver"))
    assert attempts.within(of("cuda"), None).gpu_limit_bytes is None
    with pytest.raises(UsageError, match="what is free of the GPU, and that is not known: NVML: no driver"):
        attempts.within(of("cuda"), 100 * MB)
    machine(available_bytes=None)
    with pytest.raises(UsageError, match="does not tell how much memory is available"):
        attempts.within(of("cpu"), None)


def given(search: Search, batch_size: int) -> Any:
    """Give the trial that is started for a batch size."""
    plan = search.plan.contenders[0]

    def made(plan: Any, purpose: str, **asked: Any) -> Trial:
        spec = trial(asked["batch_size"], purpose=purpose, device=plan.contender.device).trial
        return Trial(msgspec.structs.replace(spec, ceiling_bytes=asked["ceiling_bytes"]), "python")

    state: Any = SimpleNamespace(comparison=search.plan, specs=SimpleNamespace(trial=made))
    (one,) = attempts._attempt(search, state, plan, batch_size).trials
    return one.spec


def test_an_attempt_is_ended_beyond_its_limit_and_three_copies_of_its_batch() -> None:
    """A sample of mlp-mnist is 784 float32; limits of a GPU are for those on it."""
    gpu = {"gpu_limit_bytes": 450 * MB, "gpu_total_bytes": 800 * MB}
    there, here = given(search_on("cuda", **gpu), 1000), given(search_on("cpu", **gpu), 1000)
    for spec in (there, here):
        assert (spec.purpose, spec.batch_size) == ("batch", 1000)
        assert spec.ceiling_bytes == 700 * MB + 3 * 1000 * 784 * 4
    assert (there.gpu_limit_bytes, there.gpu_total_bytes) == (450 * MB, 800 * MB)
    assert (here.gpu_limit_bytes, here.gpu_total_bytes) == (None, None)
    assert attempts.ceiling_bytes(search_on()) == 700 * MB


def test_each_attempt_is_told_and_no_other_is_wanted_at_the_end() -> None:
    """By its own size and reason, with what it held of the host and of a device."""
    memory = Memory(baseline_bytes=0, peak_bytes=MB, device_peak_bytes=7)
    records = [held(32, 2 * MB), trial(33, "killed", reason="why", memory=memory)]
    search = search_on()
    (plan,) = search.plan.contenders
    state: Any = SimpleNamespace(certified=lambda: [plan], of=lambda purpose, _: records if purpose == "batch" else [])
    assert [one for one in attempts.wanted(search, state) if isinstance(one, WantedTrials)] == []
    told = [msgspec.structs.astuple(attempts._tried(search, state, plan, size)) for size in (33, 32)]
    assert told == [("torch", 33, False, MB, "why", 7), ("torch", 32, True, 2 * MB, "", None)]
