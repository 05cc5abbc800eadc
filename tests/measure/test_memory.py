from __future__ import annotations

import json
import os
import platform
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bakeoff.measure import meminfo, memory
from bakeoff.spec.errors import UnsupportedError

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells by /proc")

GROWTH = """
import json, numpy as np
from bakeoff.measure.memory import peak_resident_bytes, resident_bytes
before = resident_bytes(), peak_resident_bytes()
block = np.ones(100 << 20, np.uint8)
during = resident_bytes()
del block
print(json.dumps([*before, during, resident_bytes(), peak_resident_bytes()]))
"""

LEFT_OUT = """
import json, numpy as np
from bakeoff.measure.memory import ResidentPeak
peak = ResidentPeak()
readings = [peak.read_bytes()]
for mebibytes, is_own in ((50, False), (100, True), (10, False)):
    if is_own:
        with peak.left_out():
            np.ones(mebibytes << 20, np.uint8)
    else:
        np.ones(mebibytes << 20, np.uint8)
    readings.append(peak.read_bytes())
print(json.dumps(readings))
"""

STEPS = """
import json, resource, sys, numpy as np
from threading import Thread
from bakeoff.measure.memory import PREPARE, settle_malloc
state, mebibytes, threads = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
if state in PREPARE:
    PREPARE[state]()
    settle_malloc()
faults = []
for _ in range(6):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    buffers = []
    make = lambda: buffers.extend(np.ones(mebibytes << 20, np.uint8) for _ in range(5))
    if threads:
        (one := Thread(target=make)).start()
        one.join()
    else:
        make()
    del buffers[:]
    faults.append(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
print(json.dumps(faults))
"""


def told(script: str, *arguments: str) -> list[Any]:
    """Run a script in a fresh process, whose page faults are of small pages, and read its answer."""
    command = [sys.executable, "-c", script, *arguments]
    environment = os.environ | {"NUMPY_MADVISE_HUGEPAGE": "0"}
    answer: list[Any] = json.loads(subprocess.run(command, capture_output=True, check=True, env=environment).stdout)
    return answer


@on_linux
def test_a_peak_leaves_out_what_bakeoff_takes_itself() -> None:
    """50 MiB before count and stay, 100 MiB of bakeoff's own do not, and 10 MiB behind are no new peak."""
    before, *later = told(LEFT_OUT)
    for reading in later:
        assert 45 << 20 <= reading - before <= 60 << 20


def test_a_peak_is_the_highest_of_all_times_between_which_something_is_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Also where the highest was before the first of them, and the system's own reading has begun anew twice since."""
    seen = iter([500, 200, 300])
    monkeypatch.setattr(memory, "peak_resident_bytes", lambda: next(seen))
    monkeypatch.setattr(memory, "_reset_peak", lambda: None)
    peak = memory.ResidentPeak()
    for _ in range(2):
        with peak.left_out():
            pass
    assert peak.read_bytes() == 500


@on_linux
def test_the_peak_is_of_the_whole_life() -> None:
    """A block of 100 MiB raises the resident size while it lives, and the peak for ever."""
    resident, peak, during, after, last_peak = told(GROWTH)
    size = 100 << 20
    assert resident <= peak
    assert during >= resident + 0.95 * size
    assert after <= during - 0.95 * size
    assert last_peak >= peak + 0.9 * size


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the thresholds are glibc's")
def test_a_settled_allocator_keeps_what_steps_free() -> None:
    """After settling, buffers that each step allocates and frees cost no page faults from the second step on."""
    assert max(told(STEPS, "settled", "2")[1:]) < 100
    assert max(told(STEPS, "as it is", "2")[1:]) > 1000


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the thresholds are glibc's")
@pytest.mark.parametrize("threads", [(), ("threads",)])
def test_an_allocator_that_keeps_has_no_largest_block(
    monkeypatch: pytest.MonkeyPatch, threads: tuple[str, ...]
) -> None:
    """A settled one gives blocks of 32 MiB and more back all the same; with malloc=keep they cost no page faults.

    Frameworks allocate on threads of their own, too, whose heaps would end at 64 MiB: there is one heap for all.
    """
    monkeypatch.delenv(memory.TUNABLES, raising=False)
    assert min(told(STEPS, "settled", "70", *threads)[1:]) > 1000
    monkeypatch.setenv(memory.TUNABLES, memory.KEEPING)
    assert max(told(STEPS, "keep", "70", *threads)[1:]) < 100


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the thresholds are glibc's")
def test_a_fresh_allocator_stays_fresh() -> None:
    """Whatever large block is freed after it, buffers of every step are fetched from the kernel again."""
    assert min(told(STEPS, "fresh", "2")[1:]) > 1000


@pytest.mark.parametrize("state", ["fresh", "keep"])
def test_without_glibc_there_is_no_other_malloc(monkeypatch: pytest.MonkeyPatch, state: str) -> None:
    """Where nothing can be set, a state that was asked for is refused, never ignored; what is in force is unknown."""
    monkeypatch.setattr(memory.ctypes, "CDLL", lambda _: object())
    with pytest.raises(UnsupportedError, match=f"malloc={state} needs glibc"):
        memory.PREPARE[state]()
    assert memory.malloc_state() is None


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="tunables of glibc")
def test_a_malloc_that_keeps_nothing_is_refused_where_it_was_to_keep() -> None:
    """As where a wrapper around the interpreter empties the environment that a trial begins with."""
    with pytest.raises(UnsupportedError, match="malloc=keep needs glibc"):
        memory.hold_kept_malloc()


@pytest.mark.parametrize("theirs", ["glibc.malloc.tcache_count=0", ""])
def test_tunables_of_the_user_stay_beside_those_that_keep(theirs: str) -> None:
    """Both are heeded, and of one that both set bakeoff's, which the user has asked for by name."""
    (begun,) = memory.to_keep({memory.TUNABLES: theirs} if theirs else {}).values()
    assert begun == (f"{theirs}:{memory.KEEPING}" if theirs else memory.KEEPING)
    assert memory.of_the_user(begun) == theirs
    assert memory.of_the_user(memory.LARGE_ARRAYS) == ""


STATE = """
import ctypes, json, sys
from bakeoff.measure.memory import PREPARE, malloc_state
if sys.argv[1] in PREPARE:
    PREPARE[sys.argv[1]]()
libc = ctypes.CDLL(None)
libc.malloc.restype, libc.free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
# What a step has freed lies side by side, and is together larger than what is asked with.
freed = [libc.malloc(24 << 20) for _ in range(8)]
above = libc.malloc(100_000)
for one in freed:
    libc.free(one)
print(json.dumps([malloc_state()]))
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the thresholds are glibc's")
@pytest.mark.parametrize(
    ("given", "tunables", "state"),
    [
        ("settled", "", "settled"),
        ("fresh", "", "fresh"),
        ("keep", memory.KEEPING, "keep"),
        ("settled", memory.LARGE_ARRAYS, "settled"),
        # Each of them alone fixes the other thresholds where they begin, so that what is freed goes back.
        ("settled", "glibc.malloc.mmap_max=0", "settled"),
        ("settled", "glibc.malloc.mmap_threshold=268435456", "settled"),
        ("settled", "glibc.malloc.top_pad=268435456", "settled"),
        ("settled", "glibc.malloc.mmap_threshold=1073741824:glibc.malloc.trim_threshold=1073741824", "keep"),
    ],
)
def test_the_state_of_malloc_is_read_back(
    monkeypatch: pytest.MonkeyPatch, given: str, tunables: str, state: str
) -> None:
    """It is told by what malloc does with blocks, not by what was asked for."""
    monkeypatch.setenv(memory.TUNABLES, tunables)
    assert told(STATE, given) == [state]


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the variables are glibc's")
def test_a_program_of_ones_own_keeps_by_three_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that docs/options.md names bring about what malloc=keep does."""
    page = (Path(__file__).parents[2] / "docs/options.md").read_text()
    named = dict(re.findall(r"(MALLOC_\w+)=(-?\d+)", page))
    assert len(named) == 3
    monkeypatch.delenv(memory.TUNABLES, raising=False)
    for name, value in named.items():
        monkeypatch.setenv(name, value)
    assert told(STATE, "as it is") == ["keep"]
    assert max(told(STEPS, "as it is", "70", "threads")[1:]) < 100


SETTLED = """
import json
from bakeoff.measure.memory import resident_bytes, settle_malloc
before = resident_bytes()
settle_malloc()
print(json.dumps([before, resident_bytes()]))
"""


@on_linux
def test_settling_takes_no_memory() -> None:
    """The block is freed at once; in a process that has freed one before, the heap may keep it."""
    before, after = told(SETTLED)
    assert after < before + memory.SETTLING_BYTES / 2


@pytest.mark.parametrize("text", [None, "", "VmRSS:\n", "VmRSS: much kB\nVmHWM: more kB\n"])
def test_what_the_system_does_not_tell_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str | None
) -> None:
    """Without /proc, or with another form of it, sizes are unknown and never zero."""
    if text is not None:
        (tmp_path / "status").write_text(text)
    monkeypatch.setattr(meminfo, "Path", lambda path: tmp_path / Path(path).name)
    monkeypatch.setattr(memory.sys, "platform", "other")
    assert (memory.resident_bytes(), memory.peak_resident_bytes()) == (None, None)


def test_kibibytes_become_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """/proc/self/status counts in kibibytes."""
    (tmp_path / "status").write_text("Name:\tpython\nVmHWM:\t    2000 kB\nVmRSS:\t    1000 kB\n")
    monkeypatch.setattr(meminfo, "Path", lambda path: tmp_path / Path(path).name)
    assert (memory.resident_bytes(), memory.peak_resident_bytes()) == (1_024_000, 2_048_000)


@pytest.mark.parametrize(
    ("text", "counted"), [("nr_free_pages 12\noom_kill 3\n", 3), ("nr_free_pages 12\n", None), (None, None)]
)
def test_what_the_kernel_kills_for_want_of_memory_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str | None, counted: int | None
) -> None:
    """Since the machine's start; unknown where the kernel does not count."""
    if text is not None:
        (tmp_path / "vmstat").write_text(text)
    monkeypatch.setattr(meminfo, "Path", lambda path: tmp_path / Path(path).name)
    assert meminfo.oom_kills() == counted
