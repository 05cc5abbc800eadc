"""Ask another interpreter for the versions and devices of its framework, or why that cannot be used."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

import bakeoff
from bakeoff.environments.builds import PROCESSOR
from bakeoff.spec.probe import ProbeAnswer

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import IO

BOOTSTRAP = Path(bakeoff.__file__).parent / "bootstrap.py"

PROBE_LIMIT_S = 120.0
"""Importing the slowest framework takes 6 s from a warm disk, and a minute from a cold network file system."""


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
