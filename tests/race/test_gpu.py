"""A pretended GPU beside the blocks of the scripted framework: what is read, and which of it is a warning."""

from __future__ import annotations

import os
import time
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import msgspec
import pynvml
import pytest
from tests.gpu.pretended import H100
from tests.race.inline import InlineWorker
from tests.report.shown import data_of

from bakeoff.judge.gpu import GpuRound, gpu_rounds
from bakeoff.measure.gpu_clocks import PERIOD_S, summary, watched_gpu
from bakeoff.race.workers import watched
from bakeoff.race.workers.watched import WatchedWorker, watching
from bakeoff.report.pages.comparison import cautions
from bakeoff.report.sections.gpu import gpu_table
from bakeoff.spec import protocol
from bakeoff.spec.contender import Contender
from bakeoff.spec.gpu import GpuDuringBlock
from bakeoff.store.results import read_records

if TYPE_CHECKING:
    from tests.gpu.pretended import PretendedGpus

    from bakeoff.judge.outcome import Outcome
    from bakeoff.measure.gpu_clocks import NvidiaGpu

BY_HAND, POWER, HEAT = (
    pynvml.nvmlClocksThrottleReasonApplicationsClocksSetting,
    pynvml.nvmlClocksThrottleReasonSwPowerCap,
    pynvml.nvmlClocksThrottleReasonHwThermalSlowdown,
)


def gpu_of(gpus: PretendedGpus, **values: Any) -> NvidiaGpu:
    """Return the first GPU as the parent watches it, with some other values, at work."""
    gpus.set(0, clock_idle_mhz=None, power_idle_mw=None, **values)
    gpu = watched_gpu(gpus.uuid())
    assert gpu is not None
    return gpu


@pytest.fixture
def hot(race: Any, pretended_gpus: PretendedGpus) -> Outcome:
    """Return a race of two on a GPU that heat holds at less than half of its clock."""
    gpu = gpu_of(pretended_gpus, clock_mhz=1000, throttle_reasons=HEAT, temperature_c=92)
    return race(
        "fake",
        "fake:step_ms=2",
        launch=lambda *trial: WatchedWorker(InlineWorker(*trial), gpu),
        max_rounds=3,
    )


def warnings(outcome: Outcome) -> list[str]:
    """Return what is said of the GPU as a warning."""
    return [sentence for sentence in cautions(outcome) if "GPU" in sentence]


def with_second(outcome: Outcome, **values: Any) -> Outcome:
    """Return the outcome with both contenders at full clock, and other values in the second one's rounds."""
    first, second = outcome.contenders
    calm = {"clock_mhz": 2000.0, "slowed": []}

    def changed(rounds: list[GpuRound], **others: Any) -> list[GpuRound]:
        return [msgspec.structs.replace(one, **calm | others) for one in rounds]

    contenders = [
        msgspec.structs.replace(first, gpu=changed(first.gpu)),
        msgspec.structs.replace(second, gpu=changed(second.gpu, **values)),
    ]
    return msgspec.structs.replace(outcome, contenders=contenders)


def test_a_gpu_that_heat_holds_back_is_a_warning_in_every_form_of_the_report(hot: Outcome) -> None:
    """Each block's record holds what was seen; the verdict stands."""
    first = hot.contenders[0]
    assert [one.round_number for one in first.gpu] == [1, 2, 3]
    assert (first.gpu[0].clock_mhz, first.gpu[0].clock_limit_mhz, first.gpu[0].temperature_c) == (1000, 2040, 92)
    assert warnings(hot)[0] == (
        "fake: the GPU's clock was below 75 % of its 2,040 MHz in 3 of 3 rounds (thermal limit, by hardware); "
        "92 degrees Celsius at most. Let it cool, or fix the clocks (sudo nvidia-smi -lgc MHZ), and run again."
    )
    assert data_of(hot)["contenders"][0]["gpu"][0]["slowed"] == ["thermal limit, by hardware"]
    (line, _) = gpu_table(hot).lines
    assert line.cells[:3] == ["fake", "1,000 of 2,040 MHz", "60 W"]

    # What is the contender's own doing, or the user's, is none: the power limit, and clocks that were set by hand.
    assert warnings(with_second(hot, clock_mhz=1400.0, slowed=["power limit"])) == []
    assert warnings(with_second(hot, clock_mhz=1400.0, slowed=["clocks set by hand", "power limit"])) == []
    (apart,) = warnings(with_second(hot, clock_mhz=1900.0))
    assert apart.startswith("The GPU's clock differed between contenders by more than 2 % in 3 rounds, and not by")
    (by_hand,) = warnings(with_second(hot, clock_mhz=1900.0, slowed=["clocks set by hand"]))
    assert "differed" in by_hand
    (beside,) = warnings(with_second(hot, other_processes=2))
    assert beside == "fake:step_ms=2: other processes computed on the GPU in 3 of 3 rounds: nvidia-smi names them."
    low, apart = warnings(with_second(hot, clock_mhz=1400.0, slowed=["power brake", "power limit"]))
    assert "below 75 %" in low
    assert "differed" in apart


@pytest.mark.parametrize(("clock_mhz", "target"), [(585, 2040), (900, 900)])
def test_the_clock_is_held_against_the_one_that_the_gpu_goes_to(
    pretended_gpus: PretendedGpus, clock_mhz: int, target: int
) -> None:
    """A clock for applications that was set by hand is the target; the one that a card has by itself is not."""
    gpu = gpu_of(pretended_gpus, clock_application_mhz=clock_mhz, clock_default_mhz=585)
    assert gpu.clock_limit_mhz == target


def test_the_gpu_is_read_while_the_block_runs(pretended_gpus: PretendedGpus) -> None:
    """A block of several periods has several readings; the shortest one has one."""
    gpu = gpu_of(pretended_gpus, throttle_reasons=BY_HAND | POWER)
    with gpu.watched() as readings:
        time.sleep(5 * PERIOD_S)
    assert len(readings) >= 2
    assert readings[0].slowed == {"clocks set by hand", "power limit"}
    with gpu.watched() as readings:
        pass
    assert len(readings) == 1


def test_what_a_driver_does_not_tell_is_unknown(pretended_gpus: PretendedGpus) -> None:
    """Power is refused; processes are compared only where the driver names one of ours."""
    own, other = os.getpid(), os.getppid()
    gpu = gpu_of(pretended_gpus, power_mw="error:NO_PERMISSION")
    pretended_gpus.hold(0, other, 5)
    state = summary(0, [gpu.read()], frozenset({own}), gpu)
    assert (state.power_w, state.other_processes, state.uuid) == (None, None, pretended_gpus.uuid())
    pretended_gpus.hold(0, own, 7)
    assert summary(0, [gpu.read()], frozenset({own}), gpu).other_processes == 1


def test_an_idle_gpu_is_not_held_back_and_another_one_is_not_read(pretended_gpus: PretendedGpus) -> None:
    """What lowers the clock of a GPU at rest, or beside another one, slows no work down."""
    resting = pynvml.nvmlClocksThrottleReasonGpuIdle | pynvml.nvmlClocksThrottleReasonSyncBoost
    pretended_gpus.add(H100, throttle_reasons=resting, clock_idle_mhz=700)
    gpu_of(pretended_gpus, throttle_reasons=HEAT)
    second = watched_gpu(pretended_gpus.uuid(1))
    assert second is not None
    reading = second.read()
    assert (reading.clock_mhz, reading.slowed, second.clock_limit_mhz) == (700, frozenset(), 1980)


def test_a_block_has_means_of_clocks_and_the_highest_temperature(pretended_gpus: PretendedGpus) -> None:
    """The memory's clock is its own; what one reading lacks, the others tell."""
    gpu = gpu_of(pretended_gpus, clock_mhz=1000, temperature_c=50)
    first = gpu.read()
    pretended_gpus.set(0, clock_mhz=2000, temperature_c=90, power_mw=None)
    state = summary(3, [first, gpu.read(), first], frozenset(), gpu)
    assert (state.clock_mhz, state.memory_clock_mhz, state.temperature_c) == (pytest.approx(4000 / 3), 6251, 90)
    assert (state.turn, state.readings, state.power_w) == (3, 3, 60.0)


def test_only_workers_on_a_gpu_are_watched(pretended_gpus: PretendedGpus, tmp_path: Path) -> None:
    """On a processor nothing asks NVML; where no GPU answers, a worker is left as it is."""

    def trial(device: str) -> Any:
        return SimpleNamespace(
            contender=Contender(framework="fake", label="fake", options={"device": device}),
            gpu={"gpu_uuid": pretended_gpus.uuid()},
            variables={},
        )

    start = watching(lambda *_: "worker")  # type: ignore[arg-type,return-value]
    assert isinstance(start(tmp_path, trial("cuda"), ""), WatchedWorker)
    assert start(tmp_path, trial("cpu"), "") == "worker"
    pretended_gpus.system(init="error:DRIVER_NOT_LOADED")
    assert start(tmp_path, trial("cuda"), "") == "worker"


def test_all_gpus_of_a_worker_are_watched(pretended_gpus: PretendedGpus, tmp_path: Path) -> None:
    """Each block has a state of each GPU that the worker is shown; of several the slowest one's clock counts."""
    pretended_gpus.add(H100)
    uuids = [pretended_gpus.uuid(index) for index in range(2)]
    on_both: Any = SimpleNamespace(
        contender=Contender(framework="fake", label="fake", options={"device": "cuda"}),
        gpu={"gpu_uuid": uuids[0]},
        variables={"CUDA_VISIBLE_DEVICES": ",".join(uuids)},
    )
    asked: list[Any] = []
    stub: Any = SimpleNamespace(ask=lambda command, _: asked.append(command))
    worker = watching(lambda *_: stub)(tmp_path, on_both, "")
    worker.ask(protocol.RunBlock(lead=0, steps=1, turn=3), 1.0)
    worker.ask(protocol.Quit(), 1.0)
    (note,) = [one for one in asked if isinstance(one, protocol.Note)]
    assert [(state.turn, state.uuid) for state in note.facts["gpu"]] == [(3, uuid) for uuid in uuids]
    states = [
        GpuDuringBlock(turn=0, uuid=uuid, readings=1, clock_mhz=clock_mhz, power_w=power_w)
        for uuid, clock_mhz, power_w in zip(uuids, (1000.0, 2000.0), (50.0, 70.0), strict=True)
    ]
    record: Any = SimpleNamespace(trial=SimpleNamespace(round_number=1), gpu=states)
    (told,) = gpu_rounds([record])
    assert (told.clock_mhz, told.power_w) == (1000.0, 120.0)


def test_a_rounds_state_is_the_mean_of_clocks_and_the_most_of_all_else() -> None:
    """Clocks over the blocks; the highest limit and temperature and the most other processes; unknown stays unknown."""
    states = [
        GpuDuringBlock(
            turn=turn,
            uuid="GPU-1",
            readings=1,
            clock_mhz=mhz,
            clock_limit_mhz=limit,
            temperature_c=c,
            other_processes=n,
        )
        for turn, (mhz, limit, c, n) in enumerate(
            [(1000.0, 1980, 70, 0), (2000.0, 1500, 90, 2), (1500.0, 1900, 80, 1), (None, None, None, None)]
        )
    ]
    of_round: Any = SimpleNamespace(round_number=1)
    (told,) = gpu_rounds([SimpleNamespace(trial=of_round, gpu=states)])
    assert (told.clock_mhz, told.clock_limit_mhz, told.temperature_c, told.other_processes) == (1500.0, 1980, 90, 2)
    (unknown,) = gpu_rounds([SimpleNamespace(trial=of_round, gpu=states[3:])])
    assert (unknown.clock_mhz, unknown.clock_limit_mhz, unknown.other_processes) == (None, None, None)


def test_processes_are_looked_through_once(race: Any, pretended_gpus: PretendedGpus, monkeypatch: Any) -> None:
    """For each worker of a round, after its first block, and not after every one: an idle GPU's clocks fall."""
    gpu, looked = gpu_of(pretended_gpus), []
    monkeypatch.setattr(watched, "_own_processes", lambda: looked.append(1) or frozenset())
    outcome = race(
        "fake", "fake:step_ms=2", launch=lambda *trial: WatchedWorker(InlineWorker(*trial), gpu), max_rounds=1
    )
    found = [one.gpu for one in read_records(Path(outcome.path)).records.values() if one.gpu]
    assert len(looked) == len(found) < sum(map(len, found))
