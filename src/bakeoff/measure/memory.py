"""The memory of this process, and the state of its allocator."""

from __future__ import annotations

import ctypes
import resource
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np

from bakeoff.measure.meminfo import status_bytes
from bakeoff.spec.errors import UnsupportedError

SETTLING_BYTES = 31 << 20
"""One block just below 32 MiB, the upper limit of glibc's dynamic mmap threshold (mallopt(3), M_MMAP_THRESHOLD)."""

PAGE_BYTES = 4096

FRESH_BYTES = 128 << 10
"""Both of glibc's thresholds when a process starts: mallopt(3)."""

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
"""From <malloc.h>."""

RESET_PEAK = "5"
"""What resets the peak resident size: proc(5)."""


def settle_malloc() -> None:
    """Allocate, touch and free one large block, as any program that has loaded a data set did.

    It settles glibc's dynamic thresholds: without it, step buffers go back to the kernel and return by hundreds of page
    faults a step in some frameworks and not in others (docs/method.md).
    """
    block = np.empty(SETTLING_BYTES, np.uint8)
    block[::PAGE_BYTES] = 1
    del block


def freshen_malloc() -> None:
    """Hold glibc's thresholds where they are in a fresh process, whatever is freed; raise UnsupportedError elsewhere.

    Held, because bakeoff's own arrays, such as the weights before they are a framework's, would settle it half.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError):
        mallopt = None
    if mallopt is None or not all(mallopt(name, FRESH_BYTES) for name in (M_TRIM_THRESHOLD, M_MMAP_THRESHOLD)):
        msg = "malloc=fresh needs glibc's malloc, which this system does not have"
        raise UnsupportedError(msg)


def malloc_state() -> str | None:
    """Tell whether glibc's malloc is settled or fresh now; None with another malloc.

    A settled one takes a block of almost SETTLING_BYTES from its heap, a fresh one from the kernel by mmap. Asking may
    settle it, so it is asked when all is measured.
    """
    try:
        libc = ctypes.CDLL(None)
        libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
        libc.free.argtypes = [ctypes.c_void_p]
        libc.mallinfo2.restype = _Mallinfo
    except (AttributeError, OSError):
        return None
    before = libc.mallinfo2()
    block = libc.malloc(SETTLING_BYTES - (1 << 20))
    after = libc.mallinfo2()
    libc.free(block)
    if after.hblks > before.hblks:
        return "fresh"
    # A malloc that was loaded in glibc's place leaves glibc's counters where they are.
    return "settled" if block and after.uordblks > before.uordblks else None


class _Mallinfo(ctypes.Structure):
    """mallinfo(3): hblks counts the blocks taken by mmap, uordblks the bytes in use in the heap."""

    _NAMES = "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost"
    _fields_ = tuple((name, ctypes.c_size_t) for name in _NAMES.split())


def resident_bytes() -> int | None:
    """Give the resident size now; None where the system does not tell."""
    return status_bytes("VmRSS")


def peak_resident_bytes() -> int | None:
    """Give the highest resident size since `reset_peak`, or of this process's life.

    On Linux from /proc, because getrusage's ru_maxrss starts from the size of the process that forked this one.
    """
    peak = status_bytes("VmHWM")
    if peak is None and sys.platform == "darwin":
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # In bytes on macOS: getrusage(2).
    return peak


def reset_peak() -> None:
    """Have the peak start again from now, where the system can (proc(5), /proc/pid/clear_refs); else it stays."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text(RESET_PEAK)
