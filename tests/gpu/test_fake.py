"""The scripted framework on a pretended GPU: who asks for more than is there is refused, as by a real one."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from tests.gpu.pretended import PretendedGpus

from bakeoff.frameworks.fake.engine import Engine
from bakeoff.frameworks.fake.gpu import EXCLUSIVE_PROCESS, GPUS, VISIBLE, PretendedGpu
from bakeoff.spec.errors import UnsupportedError

KIB = 1 << 10
OPTIONS = {
    "device_memory": "grow",
    "gpu_kib": "100",
    "context_kib": "50",
    "pool_share": "0.75",
    "oom_text": "plain",
}


@pytest.fixture
def gpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PretendedGpus:
    """Pretend a GPU of 1,000 KiB; another process, the one that waits for this one, holds 400 of them.

    No stand-in for NVIDIA's libraries is needed: the scripted framework reads the folder itself.
    """
    found = PretendedGpus(tmp_path / "gpus", tmp_path)
    found.hold(found.add(uuid="GPU-1", memory_total_bytes=1000 * KIB), os.getppid(), 400 * KIB)
    monkeypatch.setenv(GPUS, str(found.folder))
    monkeypatch.delenv(VISIBLE, raising=False)
    return found


def held_kib(gpus: PretendedGpus) -> float:
    """Return what this process has noted."""
    return int((gpus.folder / "0/processes" / str(os.getpid())).read_text()) / KIB


def test_memory_grows_until_the_gpu_is_full(gpus: PretendedGpus) -> None:
    """Context first, then model and steps; what was reserved stays so, and what does not fit is refused in words."""
    pretended = PretendedGpu(OPTIONS)
    assert held_kib(gpus) == 50
    pretended.take(400 * KIB)
    pretended.take(10 * KIB)
    assert held_kib(gpus) == 550
    with pytest.raises(RuntimeError, match="CUDA out of memory"):
        pretended.take(500 * KIB)
    told = pretended.reading()
    assert (told.peak_bytes, told.reserved_bytes) == (500 * KIB, 500 * KIB)
    assert told.preallocation == "none; allocator scripted"


def test_what_processes_that_are_gone_held_is_free_again(gpus: PretendedGpus) -> None:
    """A crash leaves its note, and no memory."""
    gpus.hold(0, 999_999_999, 900 * KIB)
    PretendedGpu(OPTIONS).take(400 * KIB)
    assert held_kib(gpus) == 550  # context, model and this


def test_a_pool_is_taken_at_the_start_and_backs_off(gpus: PretendedGpus) -> None:
    """750 KiB do not fit beside 400 and the context, nor 675 or 607; what fits is 547, and a step has no more."""
    pretended = PretendedGpu(OPTIONS | {"device_memory": "pool"})
    reserved = pretended.reading().reserved_bytes
    assert reserved is not None
    assert held_kib(gpus) == pytest.approx(50 + 750 * 0.9**3, abs=0.1)
    pretended.take(400 * KIB)
    with pytest.raises(RuntimeError):
        pretended.take(460 * KIB)
    assert pretended.reading().reserved_bytes == reserved


def test_a_limit_holds_beside_the_context(gpus: PretendedGpus) -> None:
    """Whatever the GPU has."""
    pretended = PretendedGpu(OPTIONS, limit_bytes=200 * KIB)
    pretended.take(100 * KIB)
    with pytest.raises(RuntimeError):
        pretended.take(101 * KIB)
    assert held_kib(gpus) == 250


@pytest.mark.parametrize(("visible", "devices"), [("", ["cpu"]), ("7", ["cpu"]), ("GPU-1", ["cpu", "cuda"])])
def test_cuda_is_there_where_a_gpu_is_shown(
    gpus: PretendedGpus,
    monkeypatch: pytest.MonkeyPatch,
    fakes_options: dict[str, str],
    visible: str,
    devices: list[str],
) -> None:
    """As with a real framework, and without one the reason is told."""
    del gpus
    monkeypatch.setenv(VISIBLE, visible)
    assert Engine().devices() == devices
    if devices == ["cpu"]:
        with pytest.raises(UnsupportedError, match=r"no CUDA device.*CUDA_VISIBLE_DEVICES shows none"):
            Engine().configure(fakes_options | {"device": "cuda"})


def test_another_process_has_an_exclusive_gpu(gpus: PretendedGpus) -> None:
    """The second context fails, in CUDA's words."""
    gpus.set(0, compute_mode=int(EXCLUSIVE_PROCESS))
    with pytest.raises(RuntimeError, match="busy or unavailable"):
        PretendedGpu(OPTIONS)


@pytest.fixture
def fakes_options() -> dict[str, Any]:
    """Give the scripted framework's options, as it declares their defaults."""
    from bakeoff.environments.declared import framework

    declared = framework("fake").info.options
    return {name: support.default for name, support in declared.items()} | {"threads": "1"}
