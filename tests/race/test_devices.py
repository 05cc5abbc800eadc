"""Contenders that cannot run on their device are told before anything is timed, with what to type."""

from __future__ import annotations

import threading
import time
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from bakeoff.environments import usable
from bakeoff.environments.declared import framework
from bakeoff.race import devices
from bakeoff.race.loop import Runner
from bakeoff.race.prepare import prepared
from bakeoff.race.progress import silent
from bakeoff.race.workers.process import ProcessWorker
from bakeoff.race.workers.worker import WorkerLostError
from bakeoff.spec.contender import Contender
from bakeoff.spec.errors import UsageError
from bakeoff.spec.framework import Need
from bakeoff.spec.probe import ProbeAnswer
from bakeoff.spec.trial import TrialSpec
from bakeoff.store.files import read_record

if TYPE_CHECKING:
    from pathlib import Path

    from tests.gpu.pretended import PretendedGpus
    from tests.race.conftest import Race

L4 = {"gpu": "NVIDIA L4", "gpu_driver": "580.95.05", "gpu_driver_cuda": "13.0", "gpu_compute_capability": "8.9"}
FAKE = framework("fake").info
CUDA = {"device": "cuda", "mode": "eager"}
TOOLS = ["C compiler", "Python headers"]


def answer(**told: Any) -> ProbeAnswer:
    """Give the answer of an interpreter that has everything, or other things."""
    return ProbeAnswer(**({"devices": ["cpu", "cuda"], "cuda": "13.0", "tools": TOOLS} | told))


@pytest.fixture(autouse=True)
def _nothing_found_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """Know nothing of other tests' interpreters."""
    monkeypatch.setattr(devices, "_found", {})


@pytest.mark.parametrize(
    ("told", "facts", "environment", "words"),
    [
        ({}, L4, None, ""),
        (
            {"devices": ["cpu"], "cuda": "", "reasons": {"cuda": "it is built without CUDA"}},
            L4,
            None,
            "it is built without CUDA. Make the environment for the GPU: bakeoff env create fake --device cuda",
        ),
        (
            {"devices": ["cpu"], "cuda": ""},
            L4 | {"gpu_driver": "570.86", "gpu_driver_cuda": "12.8"},
            None,
            "an environment for cuda would not run either: driver 570.86 runs CUDA 12.8, these wheels need CUDA 13.0",
        ),
        ({"devices": ["cpu"], "cuda": ""}, L4, "1.2.3", "bakeoff env create fake@1.2.3 --device cuda"),
        ({"devices": ["cpu"], "cuda": ""}, L4, "/usr/bin/python3", "bakeoff env create fake --device cuda"),
        (
            {"devices": ["cpu"], "reasons": {"cuda": "with CUDA 13.0 it finds none"}},
            L4 | {"gpu_driver": "570.86", "gpu_driver_cuda": "12.8"},
            None,
            "with CUDA 13.0 it finds none: driver 570.86 runs CUDA 12.8, these wheels need CUDA 13.0",
        ),
        ({"devices": ["cpu"], "reasons": {"cuda": "own words"}}, L4, None, "own words"),
        ({"devices": ["cpu"], "cuda": ""}, {}, None, "NVML reports no NVIDIA GPU here: bakeoff doctor --device cuda"),
        ({"error": "ImportError: libnothing.so"}, L4, None, "cannot be used: ImportError: libnothing.so"),
        ({"kernels": ["sm_50", "sm_75"]}, L4, None, "has no kernels for compute capability 8.9, which NVIDIA L4 is of"),
        ({"kernels": ["sm_86"]}, L4, None, ""),
        (
            {},
            L4 | {"gpu_compute_capability": "7.0"},
            None,
            "its compute capability is 7.0, and these wheels have kernels",
        ),
        ({"cuda": "12.0"}, L4 | {"gpu_compute_capability": "7.0"}, None, ""),
    ],
)
def test_each_cause_is_told_by_itself(
    told: dict[str, Any], facts: dict[str, Any], environment: str | None, words: str
) -> None:
    """A missing package, a driver that is too old, missing kernels and all else are different things to do."""
    reason = usable.why_not(FAKE, answer(**told), CUDA, facts, environment)
    assert words in reason
    assert bool(reason) == bool(words)


@pytest.mark.parametrize(
    ("capability", "kernels", "taken"),
    [
        ("8.9", ["sm_75", "sm_80", "sm_86", "compute_90"], "sm_86"),
        ("12.0", ["sm_60", "sm_80", "sm_89", "compute_90"], "compute_90"),
        ("12.0", ["sm_80", "sm_120"], "sm_120"),
        ("9.0", ["sm_80", "sm_90a"], "sm_90a"),
        ("10.3", ["sm_80", "sm_100a"], ""),
        ("7.0", ["sm_75", "compute_80"], ""),
        ("12.1", ["sm_120f", "sm_100"], "sm_120f"),
        ("12.0", ["compute_100f"], ""),
        ("10.3", ["compute_100f"], "compute_100f"),
    ],
)
def test_binaries_run_within_a_generation_and_code_on_all_newer_gpus(
    capability: str, kernels: list[str], taken: str
) -> None:
    """As NVIDIA's documents have it for binaries, for what is compiled at the first start, and for "a" and "f"."""
    assert usable.kernels_for(capability, kernels) == taken


def test_what_a_compiler_needs_on_the_machine_is_asked_for() -> None:
    """torch.compile on CUDA wants a C compiler and Python.h: told before the first trial, with the line to type."""
    torch = framework("torch").info
    options = {"device": "cuda", "mode": "compiled"}
    assert usable.missing_tools(torch, answer(), options) == ""
    lacks = usable.missing_tools(torch, answer(tools=["C compiler"]), options)
    assert lacks.startswith("mode=compiled, device=cuda lacks Python headers")
    assert lacks.endswith(": sudo apt install python3-dev")
    assert usable.missing_tools(torch, answer(tools=[]), options).endswith("sudo apt install gcc python3-dev")
    assert usable.missing_tools(torch, answer(tools=[]), options | {"mode": "eager"}) == ""
    assert usable.missing_tools(torch, answer(tools=[]), options | {"device": "cpu"}) == ""


def test_who_has_no_device_is_left_out_and_the_others_race(
    request_of: Any, pretended_gpus: PretendedGpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Interpreters are asked once each, as workers would be, for the device that is asked for; reasons are kept."""
    asked: list[str] = []
    ask, why_not = devices.probe, devices.why_not

    def probe(interpreter: str, folder: Path, **about: Any) -> ProbeAnswer:
        asked.append(about["device"])
        assert about["variables"]["CUDA_VISIBLE_DEVICES"] == pretended_gpus.uuid(0)
        return ask(interpreter, folder, **about)

    def without_cuda(info: Any, answer: ProbeAnswer, options: Any, *rest: Any) -> str:
        shown = msgspec.structs.replace(answer, devices=["cpu"], cuda="") if options["step_ms"] == "2" else answer
        return why_not(info, shown, options, *rest)

    monkeypatch.setattr(devices, "probe", probe)
    monkeypatch.setattr(devices, "why_not", without_cuda)
    labels = ("fake:device=cuda", "fake:device=cuda,step_ms=2", "fake:step_ms=3")
    with prepared(request_of(*labels), asking=True) as (comparison, _):
        assert [plan.contender.label for plan in comparison.contenders] == [labels[0], labels[2]]
        assert "bakeoff env create fake --device cuda" in comparison.excluded[labels[1]]
    assert asked == ["cuda"]
    with prepared(request_of(*labels), asking=True):
        assert asked == ["cuda"]


@pytest.mark.parametrize(("mode", "at_once"), [("default", 2), ("exclusive process", 1)])
def test_an_exclusive_gpu_is_asked_by_one_after_another(
    monkeypatch: pytest.MonkeyPatch, mode: str, at_once: int
) -> None:
    """JAX makes a context to tell its devices, and a second one would be refused; who lacked it is asked again."""
    inside: list[str] = []
    seen: list[int] = []
    meeting = threading.Barrier(at_once)

    def probe(interpreter: str, *_: Any, **__: Any) -> ProbeAnswer:
        inside.append(interpreter)
        meeting.wait(10)
        seen.append(len(inside))
        inside.remove(interpreter)
        return answer(devices=["cpu"])

    monkeypatch.setattr(devices, "probe", probe)
    plans: Any = [
        SimpleNamespace(
            contender=Contender(framework="fake", label=name, options={"device": "cuda"}),
            interpreter=name,
            framework_path="f",
        )
        for name in ("one", "two")
    ]
    for asked in (2, 4):
        assert set(devices.lacking(plans, L4 | {"gpu_compute_mode": mode})) == {"one", "two"}
        assert len(seen) == asked
    assert max(seen) == at_once


@pytest.mark.slow
def test_where_nobody_is_left_it_ends_in_seconds_and_nothing_is_begun(
    race: Race, no_gpus: PretendedGpus, tmp_path: Path
) -> None:
    """An error with every reason, before any reference or trial."""
    assert no_gpus
    began_s = time.monotonic()
    with pytest.raises(
        UsageError, match=r"no contender can race\. fake:device=cuda: .*NVML reports no NVIDIA GPU here"
    ):
        race("fake:device=cuda", launch=ProcessWorker)
    assert time.monotonic() - began_s < 10
    assert not list((tmp_path / "results").glob("*/trial*"))


def test_races_on_processors_ask_nobody(race: Race, monkeypatch: pytest.MonkeyPatch) -> None:
    """A race on the processor loses no time by it."""

    def never(*_: Any, **__: Any) -> ProbeAnswer:
        raise AssertionError

    monkeypatch.setattr(devices, "probe", never)
    assert devices.lacking([], {}) == {}
    assert race("fake", max_rounds=1).comparison.excluded == {}


def test_a_need_is_one_of_its_options_alone() -> None:
    """All of its options have to be there with one of its values."""
    need = Need(when={"mode": ("compiled",), "device": ("cuda",)}, tools=("C compiler",), reason="why")
    info = msgspec.structs.replace(FAKE, needs=(need,))
    assert usable.missing_tools(info, answer(tools=[]), {"mode": "compiled"}) == ""
    assert "why" in usable.missing_tools(info, answer(tools=[]), {"mode": "compiled", "device": "cuda"})


@pytest.mark.parametrize(("capability", "is_told"), [("12.0", "yes"), ("8.9", "")])
def test_a_worker_that_is_late_may_have_waited_for_the_driver(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capability: str, is_told: str
) -> None:
    """On a GPU newer than the wheel, the reason of a time-out says what to allow; elsewhere it stays as it is."""
    asked = devices._Question("python", "/frameworks/fake", "cuda", "GPU-1")
    monkeypatch.setattr(devices, "_found", {asked: answer(kernels=["sm_89", "compute_90"])})
    trial = TrialSpec(
        comparison="c",
        name="certify-fake",
        purpose="certify",
        contender=Contender(framework="fake", label="fake", options={"device": "cuda"}),
        gpu={"gpu_compute_capability": capability},
        framework_path="/frameworks/fake",
        workload_path="w.py",
        workload_name="w",
        scenario="train",
        size="full",
        batch_size=1,
        seed=0,
        inputs_path="inputs",
    )
    runner = Runner(tmp_path, ProcessWorker, silent, limit_s=1.0)
    (tmp_path / trial.name).mkdir()
    runner._write_lost(trial, WorkerLostError("timeout", "no answer within the time limit of 600 s"))
    reason = read_record(tmp_path / trial.name).reason
    assert reason.startswith("no answer within the time limit of 600 s")
    assert ("compiling compute_90" in reason and "--trial-limit 1h" in reason) == bool(is_told)
