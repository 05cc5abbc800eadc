"""The resident memory of this process, and the state of its allocator."""

from __future__ import annotations

import ctypes
import resource
import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bakeoff.measure.meminfo import status_bytes
from bakeoff.spec.errors import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

SETTLING_BYTES = 31 << 20
"""A block just below 32 MiB, the upper limit of glibc's dynamic mmap threshold (mallopt(3), M_MMAP_THRESHOLD)."""

PAGE_BYTES = 4096

FRESH_BYTES = 128 << 10
"""The value of both of glibc's thresholds when a process starts: mallopt(3)."""

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
"""Parameters of mallopt, from <malloc.h>."""

TUNABLES = "GLIBC_TUNABLES"

LARGE_ARRAYS = "glibc.malloc.hugetlb=1:glibc.malloc.mmap_threshold=67108864:glibc.malloc.trim_threshold=134217728"
"""For glibc's malloc, from 2.35 on (its manual, "Memory Allocation Tunables"): huge pages, by madvise, and the memory
of a freed array is kept for the next one; else it goes back to the kernel from 32 MiB on, as in float64 the gradient of
a recurrent weight does at every step. That of 64 MiB or more still goes back, and what is free beyond twice that at the
end of the heap: a larger bound takes more memory, since what is freed lies between what is not."""

KEEPING = "glibc.malloc.mmap_max=0:glibc.malloc.trim_threshold=9223372036854775807:glibc.malloc.arena_max=1"
"""Of the same: no block is mapped by itself, and nothing is given back. One heap for all threads: those of others end
at 64 MiB (HEAP_MAX_SIZE), and what does not fit is mapped all the same, as what XLA's threads need for a step was."""

LARGE_BYTES = 128 << 20
"""Beyond what is free in its heap, malloc takes a block of this size from there only where it maps none by itself: it
is above what settling can reach, and above the threshold of LARGE_ARRAYS."""

RESET_PEAK = "5"
"""Written to /proc/self/clear_refs, it resets the peak resident size: proc(5)."""


def settle_malloc() -> None:
    """Allocate, touch and free a large block, as every program that has loaded a data set did.

    That raises glibc's dynamic thresholds to their limit. Without it, some frameworks return the buffers of each step
    to the kernel and get them back by hundreds of page faults, and others do not (docs/timing.md).
    """
    block = np.empty(SETTLING_BYTES, np.uint8)
    # One write a page, so that the kernel really gives the memory.
    block[::PAGE_BYTES] = 1
    del block


def freshen_malloc() -> None:
    """Fix glibc's thresholds at the values of a fresh process, whatever is freed later.

    They have to be fixed because bakeoff's own arrays, such as the weights before the framework takes them, would raise
    them. Raise UnsupportedError where malloc is not glibc's.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError):
        mallopt = None
    if mallopt is None or not all(mallopt(name, FRESH_BYTES) for name in (M_TRIM_THRESHOLD, M_MMAP_THRESHOLD)):
        msg = "malloc=fresh needs glibc's malloc, which this system does not have"
        raise UnsupportedError(msg)


def hold_kept_malloc() -> None:
    """Raise UnsupportedError unless malloc keeps whatever is freed, as `to_keep` has it begin.

    It cannot be set later: a thread that was there before, as NumPy's, has brought heaps of their own for all others.
    """
    if malloc_state() != "keep":
        msg = "malloc=keep needs glibc's malloc, from version 2.33 on, which this process does not have"
        raise UnsupportedError(msg)


PREPARE = {"settled": settle_malloc, "fresh": freshen_malloc, "keep": hold_kept_malloc}
"""What brings malloc into each state of the option `malloc`, or holds that it is there, before a framework's import."""


def to_keep(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variable by which malloc begins to keep whatever is freed; the user's other tunables stay."""
    return {TUNABLES: ":".join(filter(None, (environment.get(TUNABLES), KEEPING)))}


def of_the_user(tunables: str) -> str:
    """Return what of a process's tunables the user has set; empty where all are bakeoff's."""
    return "" if tunables == LARGE_ARRAYS else tunables.removesuffix(KEEPING).removesuffix(":")


def for_large_arrays(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variable by which malloc begins fit for large arrays; nothing where the user has set tunables."""
    return {} if TUNABLES in environment else {TUNABLES: LARGE_ARRAYS}


def malloc_state() -> str | None:
    """Return the state that glibc's malloc is in now, as the option `malloc` has it; None with another malloc.

    One that keeps takes even a block of LARGE_BYTES from its heap, and leaves it there; a settled one takes a block of
    almost SETTLING_BYTES from there, which a fresh one takes from the kernel by mmap. Asking may settle it, so that
    this is called when everything is measured.
    """
    try:
        libc = ctypes.CDLL(None)
        libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
        libc.free.argtypes = [ctypes.c_void_p]
        libc.mallinfo2.restype = _Mallinfo
    except (AttributeError, OSError):
        return None
    large = _probed(libc, libc.mallinfo2().fordblks + LARGE_BYTES)
    if large.of_heap and large.is_kept:
        return "keep"
    of_heap = _probed(libc, SETTLING_BYTES - (1 << 20)).of_heap
    return None if of_heap is None else "settled" if of_heap else "fresh"


class _Probed(NamedTuple):
    """What malloc did with a block that was allocated, and freed untouched."""

    of_heap: bool | None
    """Whether it came from the heap, and not from the kernel; None where glibc is not asked."""
    is_kept: bool
    """Whether the heap was as large when it was freed as before that."""


def _probed(libc: ctypes.CDLL, size: int) -> _Probed:
    """Allocate and free a block."""
    before = libc.mallinfo2()
    block = libc.malloc(size)
    after = libc.mallinfo2()
    libc.free(block)
    is_kept = libc.mallinfo2().arena >= after.arena
    if after.hblks > before.hblks:
        return _Probed(of_heap=False, is_kept=is_kept)
    # Another malloc that is loaded in glibc's place (LD_PRELOAD) leaves glibc's counters where they are.
    return _Probed(of_heap=True if block and after.uordblks > before.uordblks else None, is_kept=is_kept)


class _Mallinfo(ctypes.Structure):
    """The struct mallinfo2 of mallinfo(3): hblks counts blocks taken by mmap, uordblks bytes in use in the heap."""

    _NAMES = "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost"
    _fields_ = tuple((name, ctypes.c_size_t) for name in _NAMES.split())


def resident_bytes() -> int | None:
    """Return the resident size of this process; None where the system does not report it."""
    return status_bytes("VmRSS")


def peak_resident_bytes() -> int | None:
    """Return the peak resident size since its last reset, or since the process started; None where it is unknown.

    On Linux it is read from /proc, because getrusage's ru_maxrss starts from the size of the process that forked this.
    """
    peak = status_bytes("VmHWM")
    if peak is None and sys.platform == "darwin":
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # In bytes on macOS: getrusage(2).
    return peak


class ResidentPeak:
    """The peak resident size of this process from now on, without what bakeoff itself takes on the way.

    Where the system cannot reset its own reading, it is that of the whole process.
    """

    def __init__(self) -> None:
        """Begin with the size now."""
        self._earlier_bytes = 0
        _reset_peak()

    @contextmanager
    def left_out(self) -> Iterator[None]:
        """Leave out what is held within this context alone."""
        self._earlier_bytes = self.read_bytes() or 0
        try:
            yield
        finally:
            _reset_peak()

    def read_bytes(self) -> int | None:
        """Return the peak; None where it is unknown."""
        peak_bytes = peak_resident_bytes()
        return None if peak_bytes is None else max(self._earlier_bytes, peak_bytes)


def _reset_peak() -> None:
    """Reset the peak resident size to the size now, where the system can (proc(5), /proc/pid/clear_refs)."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text(RESET_PEAK)
