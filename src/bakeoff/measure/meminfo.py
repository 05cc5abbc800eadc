"""Memory as Linux reports it in /proc: proc_meminfo(5), proc_pid_status(5), proc_vmstat(5)."""

from __future__ import annotations

from pathlib import Path


def meminfo_bytes(key: str) -> int | None:
    """Return the value of one line about the machine, in bytes; None where there is no such line."""
    return _line_bytes("/proc/meminfo", key)


def status_bytes(key: str) -> int | None:
    """Return the value of one line about this process, in bytes; None where there is no such line."""
    return _line_bytes("/proc/self/status", key)


def oom_kills() -> int | None:
    """Return how many processes the kernel has killed for want of memory, of the machine's or of a control group's.

    It counts before it kills. None where it does not count, as before Linux 4.13.
    """
    try:
        lines = Path("/proc/vmstat").read_text().splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) for line in lines if line.startswith("oom_kill ")), None)


def _line_bytes(path: str, key: str) -> int | None:
    """Return the value of a line such as "VmRSS:  1234 kB", in bytes; None where there is no such line."""
    try:
        for line in Path(path).read_text().splitlines():
            name, _, value = line.partition(":")
            if name == key:
                return int(value.removesuffix("kB")) * 1024
    except (OSError, ValueError):
        return None
    return None
