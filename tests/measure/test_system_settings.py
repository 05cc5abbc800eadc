from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from bakeoff.measure import meminfo, system_settings

Files = Callable[[dict[str, str]], None]


@pytest.fixture
def system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Files:
    """Give a function that writes the system's files; no other is there."""
    for module in (system_settings, meminfo):
        monkeypatch.setattr(module, "Path", lambda path: tmp_path / str(path).lstrip("/"))

    def write(files: dict[str, str]) -> None:
        for name, text in files.items():
            path = tmp_path / name.lstrip("/")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    return write


SERVER = {
    "/sys/kernel/mm/transparent_hugepage/enabled": "[always] madvise never\n",
    "/sys/devices/system/node/node0/meminfo": "",
    "/sys/devices/system/node/node1/meminfo": "",
    "/proc/sys/kernel/numa_balancing": "1\n",
    "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "schedutil\n",
    "/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor": "schedutil\n",
    "/sys/devices/system/cpu/intel_pstate/no_turbo": "0\n",
    "/sys/devices/system/cpu/smt/active": "1\n",
    "/proc/sys/kernel/randomize_va_space": "2\n",
    "/proc/self/personality": "00000000\n",
    "/proc/cpuinfo": "processor: 0\ncpu MHz\t\t: 2000.4\nprocessor: 1\ncpu MHz\t\t: 3000.0\n",
    "/proc/meminfo": "SwapTotal: 2000 kB\nSwapFree: 1500 kB\n",
}


def test_a_server_tells_its_settings(system: Files) -> None:
    """Huge pages, NUMA, governor, turbo, sibling threads and address layout are read from the kernel's files."""
    system(SERVER)
    assert system_settings.settings() == {
        "huge_pages": "always",
        "numa_nodes": 2,
        "numa_balancing": "on",
        "governor": "schedutil",
        "turbo": "on",
        "sibling_threads": "on",
        "address_layout": "random",
    }
    assert system_settings.weather() == {"clock_mhz": 2500, "swap_bytes": 2_048_000, "swap_used_bytes": 512_000}


def test_what_is_not_told_is_unknown(system: Files) -> None:
    """Without the kernel's files, as on other systems, everything is None and never zero."""
    system({})
    assert set((system_settings.settings() | system_settings.weather()).values()) == {None}


@pytest.mark.parametrize(
    ("files", "key", "value"),
    [
        ({"/proc/sys/kernel/randomize_va_space": "0"}, "address_layout", "fixed"),
        ({"/proc/self/personality": "00040000"}, "address_layout", "fixed"),
        ({"/proc/self/personality": "odd"}, "address_layout", "random"),
        ({"/sys/devices/system/cpu/intel_pstate/no_turbo": "1"}, "turbo", "off"),
        ({"/sys/devices/system/cpu/intel_pstate/no_turbo": "odd"}, "turbo", None),
        ({"/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor": "ondemand"}, "governor", "ondemand, schedutil"),
        ({"/sys/kernel/mm/transparent_hugepage/enabled": "of another form"}, "huge_pages", None),
    ],
)
def test_each_setting_has_its_words(system: Files, files: dict[str, str], key: str, value: str | None) -> None:
    """A process's own fixed layout counts as the system's; processors that differ are all named; other forms: None."""
    system(SERVER | files)
    assert system_settings.settings()[key] == value


def test_a_clock_of_another_form_is_unknown(system: Files) -> None:
    """What /proc/cpuinfo says of the clock is taken only where it is a number."""
    system({"/proc/cpuinfo": "cpu MHz : fast\n"})
    assert system_settings.weather()["clock_mhz"] is None
