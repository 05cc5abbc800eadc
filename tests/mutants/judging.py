"""What is asked about a mutant, and the project's own check that answers.

case/NAME, dropout/RATE, dropout in a scan, attention dropout/RATE, input/WAY/MODEL, optimizer/NAME   the contract of
                    vocabulary, input and optimisers
WORKLOAD/SCENARIO   the certificate at reduced size
steady/WORKLOAD     the contract of snapshots
independent/NAME    the independent implementation of a workload
timer               the timer's self-test, in processes of its own
timer of long steps, timer of inference   the same of steps as long as a block of the self-test
race, race/SCENARIO a race in which the fault is in timed trials alone: what ties them to the certificate
race of statistics  the same of a model that has running statistics
race of inference   a race whose outputs are right: the timer's self-test, and how fast this machine can be at most
group               the certificate on two devices
group of statistics the same where BatchNorm takes all devices' samples
group of samples    the same with per-sample gradients and noise
unit/PATH           the tests of a file, on copied sources

Every check is the one that the project itself calls; nothing is judged here.
"""

from __future__ import annotations

import functools
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import contract_checks
import filelock
import msgspec
import numpy as np
import pytest
import several_devices
from certified import certificate_of
from contract_cases.dropout import IN_SCAN
from contract_cases.optimizers import OPTIMIZERS
from contract_run import DECLARED, KNOWN, REFERENCE, Computed, Session, computed_by, program
from independent.messages import Request as Comparison
from independent_process import IndependentProcess
from planting import found_in
from tests.drawn import VARIABLE

from bakeoff.certify.certificate import in_words
from bakeoff.certify.optimizer import check_optimizer
from bakeoff.certify.tolerances import OPTIMIZER
from bakeoff.environments import declared
from bakeoff.race import conductor
from bakeoff.race.stages import selftest
from bakeoff.spec.request import Request
from bakeoff.spec.scenario import Scenario
from bakeoff.spec.verdict import Certificate

ROOT = Path(__file__).parents[2]

ATTEMPTS = 5
"""How often a timer is tested that could not be judged: on a busy machine a self-test may have no answer."""

LONG = 512
"""Samples in a batch of mlp-mnist of which a step takes tens of milliseconds on one thread, as long as a block of the
self-test: a wait that is one step late leaves a large part of it."""


class Finding(NamedTuple):
    """What one check says."""

    check: str
    passed: bool
    amount: str = ""
    """How large the error is against what is allowed, or what was found."""


def contender(framework: str) -> Computed:
    """Return what a framework computes on one thread: several wait for each other by spinning, and gain nothing."""
    return computed_by(f"{framework}:threads=1")


def certified(framework: str, workload: str, scenario: Scenario, folder: Path | None) -> Certificate:
    """Return the certificate of a framework's folder, against the reference of the folder without a fault."""
    in_float64 = program(framework)
    return certificate_of(
        contender(framework).exhibit(framework, workload, scenario, folder=folder),
        workload,
        scenario,
        program=in_float64.exhibit(framework, workload, scenario, folder=folder) if in_float64 else None,
    )


@functools.cache
def findings(framework: str, question: str, copy: Path | None) -> list[Finding]:
    """Return what every check of a question says; `copy` has the fault, None is the project as it is."""
    kind, _, rest = question.partition("/")
    answer = _ANSWERS.get(kind)
    with filelock.FileLock(Session.folder / "timer.lock"):
        # While a timer is tested, the other workers of the run begin nothing that keeps the machine busy.
        if answer is not None and kind.startswith("timer"):
            return list(answer(framework, rest, copy))
    if answer is None:
        return _of_certificate(framework, kind, rest, copy)
    return list(answer(framework, rest, copy))


def arrays(framework: str, question: str, copy: Path | None) -> dict[str, Any]:
    """Return the arrays that a question is answered from."""
    if question.partition("/")[0] in _ANSWERS:
        return contender(framework).of(question, folder=copy)
    workload, _, scenario = question.partition("/")
    return dict(contender(framework).exhibit(framework, workload, scenario, folder=copy).arrays)  # type: ignore[arg-type]


def _of_certificate(framework: str, workload: str, scenario: Any, copy: Path | None) -> list[Finding]:
    """Return what the certificate's checks say, of both stages."""
    return [
        Finding(in_words(check), check.passed, _amount(check.error, check.allowed) or check.detail)
        for check in certified(framework, workload, scenario, copy).checks
    ]


def _of_case(framework: str, name: str, copy: Path | None) -> Iterator[Finding]:
    """Yield what the contract of the vocabulary says of a case."""
    found = contender(framework).of(f"case/{name}", folder=copy)
    case = contract_checks.CASES[name]
    yield _held("outputs", contract_checks.outputs(name, found))
    if case.deterministic:
        yield _held("loss and gradients", contract_checks.loss_and_gradients(name, found))
    if case.batch_statistics:
        yield _held("running statistics", contract_checks.running_statistics(name, found))


def _of_dropout(framework: str, rate: str, copy: Path | None) -> Iterator[Finding]:
    """Yield what the contract says of dropout."""
    found = contender(framework).of(f"dropout/{rate}", folder=copy)
    yield from _each(contract_checks.dropped(float(rate), found))
    yield from _each(contract_checks.evaluated(float(rate), found))


def _of_dropout_in_a_scan(framework: str, _: str, copy: Path | None) -> Iterator[Finding]:
    """Yield what the contract says of dropout in the steps of a loop."""
    found = contender(framework).of("dropout in a scan", folder=copy)
    yield from _each(contract_checks.dropped(IN_SCAN, found))
    yield from _each(contract_checks.evaluated(IN_SCAN, found))


def _of_attention_dropout(framework: str, rate: str, copy: Path | None) -> Iterator[Finding]:
    """Yield what the contract says of dropout on attention's weights."""
    found = contender(framework).of(f"attention dropout/{rate}", folder=copy)
    yield from _each(contract_checks.weights_dropped(float(rate), found))


def _of_normal(framework: str, _: str, copy: Path | None) -> Iterator[Finding]:
    """Yield what the contract says of RandomNormal."""
    yield from _each(contract_checks.normal_draws(contender(framework).of("normal", folder=copy)))


def _of_stochastic(framework: str, rate: str, copy: Path | None) -> Iterator[Finding]:
    """Yield what the contract says of stochastic depth."""
    found = contender(framework).of(f"stochastic/{rate}", folder=copy)
    yield from _each(contract_checks.dropped_by_sample(float(rate), found))


def _of_input(framework: str, way: str, copy: Path | None) -> Iterator[Finding]:
    """Yield what the contract says of a way of input."""
    found = contender(framework).of(f"input/{way}", folder=copy)
    held = contract_checks.in_order if way.startswith("per-step") else contract_checks.shuffled
    yield from _each(held(found))


def _of_optimizer(framework: str, name: str, copy: Path | None) -> Iterator[Finding]:
    """Yield what the contract of the optimisers says."""
    found = contender(framework).of(f"optimizer/{name}", folder=copy)
    check = check_optimizer(found, OPTIMIZERS[name], precision="float32", allowed=OPTIMIZER)
    yield Finding(check.name, check.passed, _amount(check.error, check.allowed))


def _of_steady(framework: str, workload: str, copy: Path | None) -> Iterator[Finding]:
    """Yield what the contract says of steps that are done again from a snapshot."""
    yield from _each(contract_checks.repeats(contender(framework).steady(workload, folder=copy)))


def _of_independent(framework: str, workload: str, copy: Path | None) -> Iterator[Finding]:
    """Yield in what a workload's file differs from the independent implementation."""
    path = copy or KNOWN[workload].path
    answer = independent().ask(Comparison(workload=workload, path=str(path), size="small"))
    largest = "an array has no counterpart" if answer.largest is None else f"{answer.largest:.1e}"
    yield Finding("computed", not answer.computed, largest)
    yield Finding("declared", not answer.declared, "; ".join(answer.declared))


@functools.cache
def independent() -> IndependentProcess:
    """Return the process that holds workloads against their independent implementations."""
    folder = Session.folder / f"independent-{os.getpid()}"
    folder.mkdir()
    process = IndependentProcess(folder)
    Session.at_end.append(process.end)
    return process


def _of_timer(framework: str, _: str, copy: Path | None) -> Iterator[Finding]:
    """Yield what the checks of the timer's self-test say."""
    return _told(_request(framework, copy, "timer"), copy)


def _of_long_steps(framework: str, _: str, copy: Path | None) -> Iterator[Finding]:
    """Yield the same of steps of which a few make a block: one that is not waited for is a large part of it."""
    request = _request(framework, copy, "timer-of-long-steps")
    return _told(msgspec.structs.replace(request, size="full", batch_size=LONG), copy)


def _of_timed_inference(framework: str, _: str, copy: Path | None) -> Iterator[Finding]:
    """Yield the same of long steps of inference, each of few operations."""
    request = _request(framework, copy, "timer-of-inference")
    asked = {"workload": "mlp-1024", "scenario": "infer", "size": "full"}
    return _told(msgspec.structs.replace(request, **asked), copy)


def _told(request: Request, copy: Path | None) -> Iterator[Finding]:
    """Yield what the checks of the timer's self-test say, of as many tests as it takes to have an answer."""
    with pytest.MonkeyPatch.context() as patch:
        _plant(patch, copy)
        patch.setattr(selftest, "remember", lambda _: None)
        for _attempt in range(ATTEMPTS if copy else 1):
            (verdict,) = conductor.check_timers(request)
            if verdict.outcome != "untold":
                break
        else:
            if copy:
                pytest.skip(f"no self-test of {ATTEMPTS} had an answer: {verdict.reason}")
    yield from (Finding(check.name, check.outcome != "failed", check.detail) for check in verdict.checks)


def _of_race(framework: str, scenario: str, copy: Path | None) -> Iterator[Finding]:
    """Yield whether a race refuses the contender although its certificate passes."""
    return _raced(msgspec.structs.replace(_request(framework, copy, "race"), scenario=scenario or None), copy)


def _raced(request: Request, copy: Path | None) -> Iterator[Finding]:
    """Yield the certificate of a race's only contender, and whether its timed trials are tied to it."""
    with pytest.MonkeyPatch.context() as patch:
        _plant(patch, copy)
        (only,) = conductor.run(request).contenders
    assert only.certificate is not None, only.reason
    yield Finding("certificate", only.certificate.passed, only.certificate.reason)
    yield Finding("tie", only.status != "refused", only.reason)


def _of_running(framework: str, _: str, copy: Path | None) -> Iterator[Finding]:
    """Yield the same of a model that has running statistics."""
    asked = {"workload": "resnet50-cifar10", "size": "reduced"}
    return _raced(msgspec.structs.replace(_request(framework, copy, "race-of-statistics"), **asked), copy)


def _of_inference(framework: str, _: str, copy: Path | None) -> Iterator[Finding]:
    """Yield whether a race refuses a contender whose outputs are right, of a network large enough for the peaks."""
    asked = {"workload": "mlp-1024", "scenario": "infer", "size": "full", "self_test": True}
    request = msgspec.structs.replace(_request(framework, copy, "race-of-inference"), **asked)
    with pytest.MonkeyPatch.context() as patch:
        _plant(patch, copy)
        patch.setattr(selftest, "remember", lambda _: None)
        (only,) = conductor.run(request).contenders
    assert only.certificate is not None, only.reason
    yield Finding("certificate", only.certificate.passed, only.certificate.reason)
    yield Finding("trust", only.status != "refused", only.reason)


def _of_group(framework: str, _: str, copy: Path | None) -> Iterator[Finding]:
    """Yield the certificate's checks of a contender on two devices, or that its replicas do not agree."""
    request = msgspec.structs.replace(_request(framework, copy, "group"), contenders=(f"{framework}:devices=2",))
    with pytest.MonkeyPatch.context() as patch:
        _plant(patch, copy)
        (certificate,) = conductor.verify(request)
    yield from _of_replicas(certificate)


def _of_statistics(framework: str, _: str, copy: Path | None) -> Iterator[Finding]:
    """Yield the same where BatchNorm takes the statistics of all devices' samples."""
    sync = DECLARED[framework].info.options["sync"].default
    yield from _of_replicas(several_devices.certified(framework, sync, "global", copy))


def _of_samples(framework: str, _: str, copy: Path | None) -> Iterator[Finding]:
    """Yield the same with per-sample gradients and noise."""
    sync = DECLARED[framework].info.options["sync"].default
    yield from _of_replicas(several_devices.certified_per_sample(framework, sync, copy))


def _of_replicas(certificate: Certificate) -> Iterator[Finding]:
    """Yield a certificate's checks, or why it has none: replicas do not agree."""
    if not certificate.checks:
        yield Finding("replicas", certificate.passed, certificate.reason)
    yield from (Finding(in_words(check), check.passed, check.detail) for check in certificate.checks)


def _request(framework: str, copy: Path | None, kind: str) -> Request:
    """Return what a contender is asked to do in processes of its own."""
    folder = copy.parent if copy else Session.folder / f"honest-{kind}-{framework}-{os.getpid()}"
    folder.mkdir(exist_ok=True)
    return Request(
        workload="mlp-mnist",
        contenders=(f"{framework}:threads=1",),
        size="reduced",
        data="synthetic",
        results=str(folder / "results"),
        max_rounds=1,
        self_test=False,
    )


def _plant(patch: pytest.MonkeyPatch, copy: Path | None) -> None:
    """Have frameworks found where the copy is, and the reference beside it."""
    if not copy:
        return
    if not (beside := copy.parent / REFERENCE).exists():
        # Else the copy is its own reference, and a fault would stand on both sides.
        beside.symlink_to(declared.frameworks()[REFERENCE].path, target_is_directory=True)
    found_in(patch, copy.parent)


def _of_unit(framework: str, path: str, copy: Path | None) -> Iterator[Finding]:
    """Yield the tests of a file that fail on copied sources, or that one passes of each."""
    sources = copy.parent if copy else ROOT / "src"
    command = [sys.executable, "-m", "pytest", "-q", "-rf", "-p", "no:randomly", "-p", "no:cacheprovider", path]
    # In a folder of its own: pytest would take the usual one, and remove what earlier runs have left there.
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [*command, "--basetemp", f"{folder}/pytest"],
            cwd=ROOT,
            env=os.environ | {"PYTHONPATH": str(sources), VARIABLE: "all"},
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode in (0, 1), done.stdout[-2000:]
    names = re.findall(r"^FAILED \S+::(\w+)", done.stdout, re.MULTILINE)
    yield from (Finding(name, passed=False) for name in dict.fromkeys(names))
    assert names or not done.returncode, done.stdout[-2000:]


def _each(held: Iterator[contract_checks.Held]) -> Iterator[Finding]:
    """Yield each thing that is held as a finding."""
    return (Finding(one.what, one.passed, _amount(one.error, one.allowed)) for one in held)


def _held(what: str, held: Iterator[contract_checks.Held]) -> Finding:
    """Return the worst of what is held as one finding."""
    one = contract_checks.worst(held)
    return Finding(what, one.passed, _amount(one.error, one.allowed))


def _amount(error: float | None, allowed: float | None) -> str:
    """Return an error beside what is allowed."""
    if error is None or allowed is None:
        return ""
    if allowed == contract_checks.NONE:
        return f"{error:.0f}"
    return f"{error:.1e} / {allowed:.0e}" if np.isfinite(error) else f"without bound / {allowed:.0e}"


OWN_PROCESSES = (
    *("timer", "timer of long steps", "timer of inference"),
    *("race", "race/infer", "race of statistics", "race of inference"),
    *("group", "group of statistics", "group of samples"),
)
"""Questions that start processes of the worker's own, which take some ten times as long as others. Without a fault they
are asked by tests/contract/test_profilers.py and by every race."""

_ANSWERS: dict[str, Any] = {
    "case": _of_case,
    "dropout": _of_dropout,
    "dropout in a scan": _of_dropout_in_a_scan,
    "attention dropout": _of_attention_dropout,
    "normal": _of_normal,
    "stochastic": _of_stochastic,
    "input": _of_input,
    "optimizer": _of_optimizer,
    "steady": _of_steady,
    "independent": _of_independent,
    "timer": _of_timer,
    "timer of long steps": _of_long_steps,
    "timer of inference": _of_timed_inference,
    "race": _of_race,
    "race of statistics": _of_running,
    "race of inference": _of_inference,
    "group": _of_group,
    "group of statistics": _of_statistics,
    "group of samples": _of_samples,
    "unit": _of_unit,
}
