"""The stand-in for NVML, asked by the real nvidia-ml-py: what it answers, and how it refuses."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pynvml
import pytest
from tests.gpu.pretended import H100

from bakeoff.measure import nvml

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.gpu.pretended import PretendedGpus

CUDA = """
import ctypes, sys
cuda = ctypes.CDLL("libcuda.so.1")
count, uuid = ctypes.c_int(), (ctypes.c_ubyte * 16)()
print(cuda.cuInit(0), cuda.cuDeviceGetCount(ctypes.byref(count)), count.value)
for device in range(count.value):
    assert cuda.cuDeviceGetUuid_v2(uuid, device) == 0
    print(bytes(uuid).hex()[:8])
import pynvml
pynvml.nvmlInit()
print(pynvml.nvmlDeviceGetName(pynvml.nvmlDeviceGetHandleByIndex(0)))
"""


@pytest.fixture
def opened(pretended_gpus: PretendedGpus) -> Iterator[PretendedGpus]:
    """Return one pretended GPU while NVML is open."""
    with nvml.opened():
        yield pretended_gpus


def test_every_question_has_the_answer_of_its_file(opened: PretendedGpus) -> None:
    """The client's structures are filled as NVML fills them; a key that is missing is not supported."""
    gpu = pynvml.nvmlDeviceGetHandleByIndex(0)
    memory = pynvml.nvmlDeviceGetMemoryInfo(gpu, version=pynvml.nvmlMemory_v2)
    assert (memory.total, memory.free) == (23_034 * 2**20, 23_034 * 2**20)
    assert (pynvml.nvmlDeviceGetCount(), pynvml.nvmlDeviceGetName(gpu)) == (1, "NVIDIA L4")
    assert pynvml.nvmlDeviceGetCudaComputeCapability(gpu) == (8, 9)
    assert pynvml.nvmlSystemGetCudaDriverVersion_v2() == 13000
    assert pynvml.nvmlDeviceGetEccMode(gpu) == [1, 1]
    assert pynvml.nvmlDeviceGetClockInfo(gpu, pynvml.NVML_CLOCK_SM) == 210
    assert pynvml.nvmlDeviceGetUUID(pynvml.nvmlDeviceGetHandleByUUID(opened.uuid())) == opened.uuid()
    for refused in (pynvml.nvmlDeviceGetMigMode, lambda one: pynvml.nvmlDeviceGetApplicationsClock(one, 0)):
        with pytest.raises(pynvml.NVMLError_NotSupported):
            refused(gpu)


def test_living_processes_hold_memory_and_warm_the_clock(opened: PretendedGpus) -> None:
    """What a process has left behind does not count; another driver does not tell how much one holds."""
    gone = subprocess.Popen([sys.executable, "-c", ""])
    opened.hold(0, gone.pid, 5)
    gone.wait()
    opened.hold(0, os.getpid(), 7 * 2**20)
    gpu = pynvml.nvmlDeviceGetHandleByIndex(0)
    for listed in (pynvml.nvmlDeviceGetComputeRunningProcesses_v2, pynvml.nvmlDeviceGetComputeRunningProcesses_v3):
        assert [(one.pid, one.usedGpuMemory) for one in listed(gpu)] == [(os.getpid(), 7 * 2**20)]
    assert pynvml.nvmlDeviceGetMemoryInfo(gpu).used == 7 * 2**20
    assert pynvml.nvmlDeviceGetClockInfo(gpu, pynvml.NVML_CLOCK_SM) == 2040
    opened.set(0, processes="unsized")
    assert pynvml.nvmlDeviceGetComputeRunningProcesses(gpu)[0].usedGpuMemory is None
    opened.set(0, processes="race")
    with pytest.raises(pynvml.NVMLError_InsufficientSize):
        pynvml.nvmlDeviceGetComputeRunningProcesses(gpu)


@pytest.mark.parametrize(
    ("system", "card", "error"),
    [
        ({"init": "error:DRIVER_NOT_LOADED"}, {}, "Driver Not Loaded"),
        ({"init": "error:LIB_RM_VERSION_MISMATCH"}, {}, "RM has detected an NVML/RM version mismatch."),
        ({}, {"all": "error:GPU_IS_LOST"}, "GPU is lost"),
        ({}, {"name": "error:NO_PERMISSION"}, "Insufficient Permissions"),
        ({}, {"name": "error:UNKNOWN"}, "Unknown Error"),
    ],
)
def test_every_refusal_reaches_the_client(pretended_gpus: PretendedGpus, system: Any, card: Any, error: str) -> None:
    """An error is named in the file, and raised by the real client with its text."""
    pretended_gpus.system(**system)
    pretended_gpus.set(0, **card)
    with pytest.raises(nvml.UnavailableError, match=error), nvml.opened():
        pynvml.nvmlDeviceGetName(pynvml.nvmlDeviceGetHandleByIndex(0))


def test_parts_of_a_gpu_are_devices_of_their_own(opened: PretendedGpus) -> None:
    """A MIG device has its own UUID and memory, and leads to its GPU."""
    opened.add(H100)
    part = opened.add_mig(1)
    handle = pynvml.nvmlDeviceGetHandleByUUID(part)
    assert pynvml.nvmlDeviceGetMemoryInfo(handle).total == 9_856 * 2**20
    whole = pynvml.nvmlDeviceGetDeviceHandleFromMigDeviceHandle(handle)
    assert pynvml.nvmlDeviceGetUUID(whole) == opened.uuid(1)
    assert pynvml.nvmlDeviceGetUUID(pynvml.nvmlDeviceGetMigDeviceHandleByIndex(whole, 0)) == part
    with pytest.raises(pynvml.NVMLError_NotSupported):
        pynvml.nvmlDeviceGetPowerUsage(handle)


def test_other_processes_see_the_same_gpus(pretended_gpus: PretendedGpus) -> None:
    """By LD_LIBRARY_PATH: CUDA has the fastest first, where NVML has the order of the bus."""
    pretended_gpus.add(H100)

    def seen(**variables: str) -> list[str]:
        command = [sys.executable, "-c", CUDA]
        done = subprocess.run(command, env=os.environ | variables, text=True, capture_output=True, check=True)
        return done.stdout.splitlines()

    assert seen() == ["0 0 2", "b6e1d0f4", "7f3a91c2", "NVIDIA L4"]
    chosen = seen(CUDA_DEVICE_ORDER="PCI_BUS_ID", CUDA_VISIBLE_DEVICES=f"{pretended_gpus.uuid(1)},7,0")
    assert chosen == ["0 0 1", "b6e1d0f4", "NVIDIA L4"]
