"""The process that serves the contract's tests: what one piece of work does to it, no other piece notices."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from child_process import Child
from contract_cases.messages import Job, Request

from bakeoff import data
from bakeoff.environments.declared import frameworks
from bakeoff.environments.options import resolve_options
from bakeoff.spec.contender import Contender
from bakeoff.spec.trial import TrialSpec
from bakeoff.workloads.load import load

FAKE = frameworks()["fake"]

Work = Callable[[str, str], Request]


@pytest.fixture
def child(tmp_path: Path) -> Iterator[Child]:
    """Return a process of the scripted framework, in this interpreter."""
    options = resolve_options(FAKE.info, Contender(framework="fake", label="fake"), {}, 1)
    child = Child(sys.executable, Job(folder=str(FAKE.path), variables={}, options=options), tmp_path, limit_s=20)
    yield child
    child.end()


@pytest.fixture
def work(tmp_path: Path) -> Work:
    """Return a function that asks for the evidence of a workload whose file ends with these lines."""
    loaded = load("mlp-mnist")
    size = loaded.size("reduced")
    data.prepare(None, loaded.workload, size, size.batch_size, 0, tmp_path)
    options = resolve_options(FAKE.info, Contender(framework="fake", label="fake"), {}, 1)

    def asked(name: str, lines: str) -> Request:
        path = tmp_path / f"{name}.py"
        path.write_text(f"{loaded.path.read_text()}\n\n{lines}\n")
        trial = TrialSpec(
            comparison="contract",
            name=name,
            purpose="certify",
            contender=Contender(framework="fake", label="fake", options=options),
            framework_path=str(FAKE.path),
            workload_path=str(path),
            workload_name="mlp-mnist",
            scenario="infer",
            size="reduced",
            batch_size=size.batch_size,
            seed=0,
            inputs_path=str(tmp_path),
        )
        return Request(name=name, path=str(tmp_path / f"{name}.npz"), trial=trial)

    return asked


def test_one_process_serves_many_requests(child: Child, work: Work) -> None:
    """Pieces of work follow one another in the same process, and one that raises does not end it."""
    assert not child.ask(work("whole", "")).fault
    assert "ZeroDivisionError" in child.ask(work("raises", "1 / 0")).fault
    assert not child.ask(work("again", "")).fault
    assert child.starts == 1


def test_a_death_fails_the_work_that_caused_it(child: Child, work: Work) -> None:
    """Work that ends its process is answered with how, and its last output; the next work has a fresh process."""
    lines = "import os, sys; sys.stderr.write('a last word'); sys.stderr.flush(); os.kill(os.getpid(), 9)"
    fault = child.ask(work("dies", lines))
    assert "dies: " in fault.fault
    assert "has ended with -9" in fault.fault
    assert "a last word" in fault.fault
    assert not child.ask(work("whole", "")).fault
    assert child.starts == 2


def test_a_crash_with_children_is_noticed(child: Child, work: Work) -> None:
    """A process whose own children keep its pipe open is found dead none the less."""
    lines = "import os, signal, time\nif os.fork() == 0:\n    time.sleep(60)\nos.kill(os.getpid(), signal.SIGSEGV)"
    assert "has ended with -11" in child.ask(work("crashes", lines)).fault


def test_what_hangs_is_ended(child: Child, work: Work) -> None:
    """Work beyond its limit fails with the limit, and the next work has a fresh process."""
    child._limit_s = 2
    assert "has not answered within 2 s" in child.ask(work("hangs", "import time; time.sleep(60)")).fault
    child._limit_s = 20
    assert not child.ask(work("whole", "")).fault
    assert child.starts == 2
