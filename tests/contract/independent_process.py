"""The process of PyTorch's interpreter that holds workloads against their independent implementations."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import msgspec
import pytest
from independent.messages import Answer, Request

import bakeoff
from bakeoff.environments.declared import frameworks
from bakeoff.environments.interpreters import resolve
from bakeoff.spec.contender import Contender

HERE = Path(__file__).parent


class IndependentProcess:
    """One process of PyTorch's interpreter, that answers one request after another."""

    def __init__(self, folder: Path) -> None:
        """Start it; PyTorch not being there fails here, with the remedy."""
        interpreter = resolve(Contender(framework="torch", label="torch"), frameworks()["torch"])
        sources = os.pathsep.join(map(str, (Path(bakeoff.__file__).parents[1], HERE)))
        self._errors = folder / "errors.log"
        # Several threads wait for each other by spinning: on a busy machine that takes a multiple of the work itself.
        environment = os.environ | {"PYTHONPATH": sources, "OMP_NUM_THREADS": "1"}
        with self._errors.open("wb") as errors:
            self._process = subprocess.Popen(
                [interpreter, "-m", "independent.child"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                env=environment,
            )
        self._answers: dict[Request, Answer] = {}

    def ask(self, request: Request) -> Answer:
        """Return the answer to a request, which is computed once; the end of the process is the test's failure."""
        if request not in self._answers:
            self._answers[request] = self._asked(request)
        answer = self._answers[request]
        if answer.fault:
            pytest.fail(answer.fault, pytrace=False)
        return answer

    def end(self) -> None:
        """End the process, which stops at the end of its requests."""
        self._process.communicate()

    def _asked(self, request: Request) -> Answer:
        """Send a request and read the answer."""
        try:
            self._process.stdin.write(msgspec.json.encode(request) + b"\n")
            self._process.stdin.flush()
            return msgspec.json.decode(self._process.stdout.readline(), type=Answer)
        except (BrokenPipeError, msgspec.DecodeError):
            self._process.kill()
            code = self._process.wait()
            return Answer(fault=f"the process ended with {code}:\n{self._errors.read_text(errors='replace')[-4000:]}")
        except BaseException:
            self._process.kill()  # a late answer would be taken for that of the next request
            raise
