"""Ask another interpreter for the versions and devices of its framework, or why that cannot be used."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import threading
import time
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import psutil

import bakeoff
from bakeoff.environments.builds import PROCESSOR
from bakeoff.spec.probe import ProbeAnswer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import IO

BOOTSTRAP = Path(bakeoff.__file__).parent / "bootstrap.py"

PROBE_LIMIT_S = 120.0
"""Importing the slowest framework takes 6 s from a warm disk, and a minute from a cold network file system."""

ENDS_S = 0.05
"""Between two looks for probes that still run, after Ctrl-C."""

ANSWER_S = 0.5
"""The longest wait for an answer before it is looked whether Ctrl-C came."""

THREADS = "probe of a framework"
"""What threads that wait for probes are called."""


def probe_all(asked: Mapping[str, tuple[str, Path]], device: str) -> Iterator[tuple[str, ProbeAnswer]]:
    """Probe frameworks at once, each by its interpreter and its folder, and yield their answers as they come.

    Where the caller ends before the last answer, by Ctrl-C at any moment too, no probe is left.
    """
    with ThreadPoolExecutor(max(1, len(asked)), thread_name_prefix=THREADS) as pool:
        waiting: dict[Future[ProbeAnswer], str] = {}
        try:
            for name, (interpreter, folder) in asked.items():
                waiting[pool.submit(probe, interpreter, folder, device=device)] = name
            while waiting:
                # A signal that comes just before a wait without an end would be answered when that ends.
                for done in wait(waiting, ANSWER_S, FIRST_COMPLETED).done:
                    yield waiting.pop(done), done.result()
        except BaseException:
            # One thread may be of a probe whose name Ctrl-C kept from being noted, even by the pool, or of one that is
            # just being started and is found only a moment later.
            pool.shutdown(wait=False, cancel_futures=True)
            while any(thread.name.startswith(THREADS) for thread in threading.enumerate()):
                _end_probes()
                time.sleep(ENDS_S)
            raise


def _end_probes() -> None:
    """End the probes that still run; other children of this process stay."""
    for child in psutil.Process().children():
        try:
            if "probe" in child.cmdline() and any(word.endswith(BOOTSTRAP.name) for word in child.cmdline()):
                child.kill()
        except psutil.Error:
            continue  # It has ended meanwhile.


def probe(
    interpreter: str,
    folder: Path,
    limit_s: float = PROBE_LIMIT_S,
    *,
    device: str = PROCESSOR,
    variables: Mapping[str, str] | None = None,
) -> ProbeAnswer:
    """Import the framework of this folder in a fresh process and return its answer; a crash or a hang is an error too.

    The process is set up as a worker on `device`, and sees `variables` beside this process's own. Nothing that it
    started is left when this returns.
    """
    reading, writing = os.pipe()
    with tempfile.TemporaryFile() as output, os.fdopen(reading, "rb") as answers:
        try:
            process = _start(
                [interpreter, str(BOOTSTRAP), "probe", str(folder), str(writing), device], output, writing, variables
            )
        except OSError as error:
            return ProbeAnswer(error=f"{interpreter} cannot be started: {error.strerror}")
        finally:
            os.close(writing)
        with process:
            try:
                code = process.wait(limit_s)
            except subprocess.TimeoutExpired:
                return ProbeAnswer(error=f"no answer within {limit_s:.0f} s")
            finally:
                _end_group(process)
        # Every process that could write has ended with the group, so that reading ends, too.
        answer = answers.read()
        output.seek(0)
        return _read(answer, code, output.read().decode(errors="replace"))


def _start(
    command: list[str], output: IO[bytes], answer_fd: int, variables: Mapping[str, str] | None
) -> subprocess.Popen[bytes]:
    """Start the probe in a process group of its own, so that it can be ended with all its children."""
    return subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=output,
        env=os.environ | variables if variables else None,
        pass_fds=[answer_fd],
        start_new_session=True,
    )


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """End the probe and every process that it has started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def _read(answer: bytes, code: int, output: str) -> ProbeAnswer:
    """Return the probe's answer or, where it left none, its exit and the last line of its output as the error."""
    if answer:
        return msgspec.json.decode(answer, type=ProbeAnswer)
    lines = output.strip().splitlines()
    cause = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
    return ProbeAnswer(error=f"{lines[-1] if lines else 'no output'} ({cause})")
