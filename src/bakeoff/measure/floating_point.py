"""What this process's threads do with denormal numbers: a bit of the processor that a new thread has from its parent.

It is therefore set before a framework is imported, in the one thread that then makes all others: pools of OpenMP and
of the frameworks themselves. A framework's own threads may set it again.
"""

from __future__ import annotations

import ctypes
import platform
import sys

from bakeoff.spec.errors import UnsupportedError

_ENVIRONMENT_WORDS = 8
"""32-bit words that hold glibc's fenv_t: 32 bytes on x86-64, 8 on AArch64 (bits/fenv.h)."""

_REGISTERS = {
    # MXCSR is the last word: bit 15 flushes results, bit 6 reads denormal operands as zero (Intel SDM, 10.2.3).
    "x86_64": (7, 0x8040),
    # FPCR is the first word: bit 24 does both (Arm Architecture Reference Manual, FPCR.FZ).
    "aarch64": (0, 1 << 24),
}
"""By Python's name of the processor: which word of fenv_t it is, and which bits."""


def handle_denormals(*, flush: bool) -> None:
    """Have this thread, and all that it starts from now on, flush denormal numbers to zero or keep them.

    Raises UnsupportedError on systems and processors where it is not known how.
    """
    register = _REGISTERS.get(platform.machine())
    if sys.platform != "linux" or register is None:
        msg = f"denormals: bakeoff cannot set it on {platform.system()} with a processor {platform.machine()}"
        raise UnsupportedError(msg)
    word, bits = register
    library = ctypes.CDLL("libm.so.6")
    environment = (ctypes.c_uint32 * _ENVIRONMENT_WORDS)()
    library.fegetenv(environment)
    environment[word] = environment[word] | bits if flush else environment[word] & ~bits
    library.fesetenv(environment)
