"""What a GPU is, how it is set, and what goes on on it now, as NVML tells it."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

from bakeoff.measure import nvml
from bakeoff.spec.errors import UnavailableError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bakeoff.measure.system_settings import Facts

COMPUTE_MODES = ("default", "exclusive thread", "prohibited", "exclusive process")
"""By NVML's number (nvmlComputeMode_t): whether several processes may compute on the GPU."""

_STATES = ("off", "on")

LEVELS = {
    0: "one board",
    10: "one PCIe switch",
    20: "several PCIe switches",
    30: "one PCIe host bridge",
    40: "one NUMA node",
    50: "several NUMA nodes",
}
"""By NVML's number (nvmlGpuTopologyLevel_t): the nearest that two GPUs have in common, as in `nvidia-smi topo -m`."""


class Device:
    """A GPU whose questions may all go unanswered; NVML is open."""

    def __init__(self, pynvml: Any, uuid: str = "") -> None:
        """Find it by its UUID, or take the first; a MIG device's clocks and settings are those of its GPU."""
        self._nvml = pynvml
        handle = pynvml.nvmlDeviceGetHandleByUUID(uuid) if uuid else pynvml.nvmlDeviceGetHandleByIndex(0)
        self.handle = self.whole = handle
        self.is_part = bool(uuid) and uuid.startswith("MIG-")
        if self.is_part:
            self.whole = pynvml.nvmlDeviceGetDeviceHandleFromMigDeviceHandle(handle)

    def ask(self, function: str, *arguments: Any, part: bool = False) -> Any:
        """Return what a function of NVML answers for the whole GPU, or for its part; None where it is unknown."""
        try:
            return getattr(self._nvml, function)(self.handle if part else self.whole, *arguments)
        except self._nvml.NVMLError:
            return None

    def clock(self, function: str, kind: str) -> int | None:
        """Return a clock in MHz: of `SM`, `GRAPHICS` or `MEM`."""
        clock: int | None = self.ask(function, getattr(self._nvml, f"NVML_CLOCK_{kind}"))
        return clock

    def watts(self, function: str) -> float | None:
        """Return a power in watts; NVML's are in milliwatts."""
        milliwatts = self.ask(function)
        return None if milliwatts is None else milliwatts / 1000

    def compute_mode(self) -> str | None:
        """Return whether several processes may compute on the GPU, in one of COMPUTE_MODES' words."""
        return _named(COMPUTE_MODES, self.ask("nvmlDeviceGetComputeMode"))


def gpu(uuid: str = "") -> Facts:
    """Return what must agree for records to be compared; empty where NVML or a GPU is missing.

    Of the GPU with this UUID that is what it is and how it is set; of the first one, without a UUID, only what it is.
    """
    try:
        with nvml.opened() as pynvml:
            device = Device(pynvml, uuid)
            return _identity(pynvml, device) | (_settings(pynvml, device) if uuid else {})
    except UnavailableError:
        return {}


def state(uuid: str = "") -> Facts:
    """Return what changes from moment to moment; empty where NVML or the GPU is missing."""
    try:
        with nvml.opened() as pynvml:
            device = Device(pynvml, uuid)
            memory = device.ask("nvmlDeviceGetMemoryInfo", part=True)
            running = device.ask("nvmlDeviceGetComputeRunningProcesses", part=True)
            used = device.ask("nvmlDeviceGetUtilizationRates")
            return {
                "gpu_free_bytes": None if memory is None else int(memory.free),
                "gpu_processes": None if running is None else len(running),
                "gpu_utilization_percent": None if used is None else int(used.gpu),
                "gpu_clock_mhz": device.clock("nvmlDeviceGetClockInfo", "SM"),
                "gpu_power_w": device.watts("nvmlDeviceGetPowerUsage"),
                "gpu_temperature_c": device.ask("nvmlDeviceGetTemperature", pynvml.NVML_TEMPERATURE_GPU),
                "gpu_pcie_now": _pcie(device, "Curr"),
            }
    except UnavailableError:
        return {}


def links(uuids: Sequence[str]) -> str | None:
    """Return what GPUs are linked by, and which pair by what where they differ; None where NVML does not tell.

    "NVLink, one NUMA node", or "one NUMA node (0-1); several NUMA nodes (0-2, 1-2)", by NVML's indices.
    """
    found: dict[str, list[str]] = {}
    try:
        with nvml.opened() as pynvml:
            devices = [Device(pynvml, uuid) for uuid in uuids]
            for one, other in combinations(devices, 2):
                places = [str(device.ask("nvmlDeviceGetIndex")) for device in (one, other)]
                found.setdefault(_link(pynvml, one, other), []).append("-".join(places))
    except UnavailableError:
        return None
    if len(found) <= 1:
        return next(iter(found), "") or None
    return "; ".join(f"{link or 'unknown'} ({', '.join(pairs)})" for link, pairs in found.items())


def _link(pynvml: Any, one: Device, other: Device) -> str:
    """Return what two GPUs are linked by; empty where it is not known."""
    by_nvlink = one.ask("nvmlDeviceGetP2PStatus", other.whole, pynvml.NVML_P2P_CAPS_INDEX_NVLINK)
    level = one.ask("nvmlDeviceGetTopologyCommonAncestor", other.whole)
    said = ["NVLink" if by_nvlink == pynvml.NVML_P2P_STATUS_OK else "", LEVELS.get(level, "")]
    return ", ".join(part for part in said if part)


def _identity(pynvml: Any, device: Device) -> Facts:
    """Return what the GPU is, and what drives it."""
    major, minor = pynvml.nvmlDeviceGetCudaComputeCapability(device.whole)
    # The newest CUDA that the driver runs: NVML reports CUDA 12.8 as 12080.
    cuda = int(pynvml.nvmlSystemGetCudaDriverVersion_v2())
    memory = device.ask("nvmlDeviceGetMemoryInfo", part=True)
    return {
        "gpu": str(pynvml.nvmlDeviceGetName(device.handle)),
        "gpus": int(pynvml.nvmlDeviceGetCount()),
        "gpu_compute_capability": f"{major}.{minor}",
        "gpu_driver": str(pynvml.nvmlSystemGetDriverVersion()),
        "gpu_driver_cuda": f"{cuda // 1000}.{cuda % 1000 // 10}",
        "gpu_memory_bytes": None if memory is None else int(memory.total),
    }


def _settings(pynvml: Any, device: Device) -> Facts:
    """Return which GPU it is, and how it is set; what it does not have is None."""
    mig = device.ask("nvmlDeviceGetMigMode")
    ecc = device.ask("nvmlDeviceGetEccMode")
    whole_uuid = device.ask("nvmlDeviceGetUUID")
    return {
        "gpu_index": device.ask("nvmlDeviceGetIndex"),
        "gpu_uuid": str(pynvml.nvmlDeviceGetUUID(device.handle)),
        "gpu_power_limit_w": device.watts("nvmlDeviceGetEnforcedPowerLimit"),
        "gpu_power_default_w": device.watts("nvmlDeviceGetPowerManagementDefaultLimit"),
        "gpu_clock_max_mhz": device.clock("nvmlDeviceGetMaxClockInfo", "SM"),
        "gpu_memory_clock_max_mhz": device.clock("nvmlDeviceGetMaxClockInfo", "MEM"),
        # Graphics and SM have one clock for applications, which NVML tells by the name of the first.
        "gpu_clock_applications_mhz": device.clock("nvmlDeviceGetApplicationsClock", "GRAPHICS"),
        "gpu_ecc": None if ecc is None else _STATES[ecc[0]],
        "gpu_persistence": _named(_STATES, device.ask("nvmlDeviceGetPersistenceMode")),
        "gpu_compute_mode": device.compute_mode(),
        "gpu_mig": f"a part of {whole_uuid}" if device.is_part else None if mig is None else _STATES[mig[0]],
        # What GPU and machine have in common; the link in use slows down while the GPU rests.
        "gpu_pcie": _pcie(device, "Max"),
    }


def _named(names: tuple[str, ...], number: int | None) -> str | None:
    """Return the name of a state; None for one that is unknown."""
    return names[number] if number is not None and number < len(names) else None


def _pcie(device: Device, which: str) -> str | None:
    """Return generation and width of the link: "4.0 x16"."""
    generation = device.ask(f"nvmlDeviceGet{which}PcieLinkGeneration")
    width = device.ask(f"nvmlDeviceGet{which}PcieLinkWidth")
    return None if generation is None or width is None else f"{generation}.0 x{width}"
