from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import threading
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import psutil
import pytest
from tests.race.inline import InlineWorker

from bakeoff.cli import doctor
from bakeoff.environments import declared, interpreters, probe
from bakeoff.measure import neighbours, noise
from bakeoff.race import conductor
from bakeoff.report.machine_advice import Advice
from bakeoff.spec.probe import ProbeAnswer

if TYPE_CHECKING:
    from tests.cli.conftest import Cli

    from bakeoff.judge.outcome import Outcome
    from bakeoff.race.progress import Observer
    from bakeoff.spec.request import Request

pytestmark = pytest.mark.slow

quick_race = partial(conductor.run, launch=InlineWorker, probe_s=0.001)
"""In this process and in virtual time."""


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Watch the noise for a moment only: its figures are not what these tests are about."""
    watch = noise.probe
    monkeypatch.setattr(noise, "probe", lambda _=0.0: watch(0.05))


def test_doctor_tells_machine_noise_and_frameworks(cli: Cli) -> None:
    """Without any framework, the machine and its noise are told, and how to get each framework."""
    said = cli("doctor")
    assert said.code == 0
    words = [line.split()[0] for line in said.out.splitlines() if not line.startswith(" ")]
    assert words[:8] == ["bakeoff", "processor", "memory", "system", "gpu", "energy", "clock", "kernel"]
    assert "huge pages" in said.out
    assert "other processes " in said.out
    lines = [line.strip() for line in said.out.splitlines()]
    mended = [line.split()[-1] for line in lines if re.fullmatch(r"bakeoff env create \w+", line)]
    assert mended
    for name in mended:
        reason = f"{name} not installed here; name an interpreter, {name}@/path/to/python, or make one: bakeoff env"
        assert reason in " ".join(said.out.split())


def test_doctor_starts_each_framework(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """An available framework is imported in its interpreter, and its devices are told."""
    monkeypatch.setattr(interpreters, "available", lambda: ({"fake": sys.executable}, {"other": "not here"}))
    said = cli("doctor").out
    assert "devices: cpu" in said
    assert sys.executable in said
    assert "other       not available: not here" in said


def test_doctor_tells_why_an_import_fails(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """A framework that is installed but cannot be imported is told with its reason."""
    monkeypatch.setattr(interpreters, "available", lambda: ({"fake": sys.executable}, {}))

    def fail(interpreter: str, folder: Path, *, device: str) -> ProbeAnswer:
        assert device == "cpu"
        assert (interpreter, folder) == (sys.executable, declared.framework("fake").path)
        return ProbeAnswer(error="OSError: libnothing.so: cannot open")

    monkeypatch.setattr("bakeoff.environments.probe.probe", fail)
    assert "cannot be used: OSError: libnothing.so" in cli("doctor").out


def test_doctor_tells_where_python_keeps_nothing_compiled(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Such a framework's start takes seconds more in every process: the command that ends it can be pasted."""
    monkeypatch.setattr(interpreters, "available", lambda: ({"fake": sys.executable}, {}))
    for compiled in (True, False):
        answer = ProbeAnswer(devices=["cpu"], compiled=compiled)
        monkeypatch.setattr("bakeoff.environments.probe.probe", lambda *_, answer=answer, **__: answer)
        assert ("unset PYTHONDONTWRITEBYTECODE\n" in cli("doctor").out) is not compiled


def test_the_machine_is_told_before_any_framework_answers(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Frameworks are imported at once, and each answer is printed as it comes: the slow one last."""
    both = {"other": sys.executable, "fake": sys.executable}
    known = declared.frameworks() | {"other": declared.framework("fake")}
    monkeypatch.setattr(interpreters, "available", lambda: (both, {}))
    monkeypatch.setattr(declared, "frameworks", lambda: known)
    both_run = threading.Barrier(2, timeout=10)
    answers = iter([0.3, 0.0])

    def answer(interpreter: str, folder: Path, *, device: str) -> ProbeAnswer:
        wait_s = next(answers)
        both_run.wait()
        time.sleep(wait_s)
        return ProbeAnswer(python=f"3.{wait_s}", versions={}, devices=["cpu"])

    monkeypatch.setattr("bakeoff.environments.probe.probe", answer)
    said = cli("doctor").out
    assert said.index("frameworks ") < said.index("load now") < said.index("importing")
    assert said.index("importing") < said.index("Python 3.0.0") < said.index("Python 3.0.3")


def test_an_interrupt_waits_for_no_probe(cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Ctrl-C ends the probes that still run and those that start just then, and no other child of the process."""
    sleeper = tmp_path / "python"
    sleeper.write_text("#!/bin/sh\nexec sleep 60\n")
    sleeper.chmod(0o755)
    bootstrap = f"#!{sys.executable}\nimport time; time.sleep(60)\n"
    (tmp_path / "slow").write_text(bootstrap)
    (tmp_path / "slow").chmod(0o755)
    other = subprocess.Popen([str(sleeper)])
    try:
        monkeypatch.setattr(interpreters, "available", lambda: ({"fake": str(tmp_path / "slow")}, {}))
        monkeypatch.setattr(doctor, "_watch", lambda *, told: (noise.probe(0.05), []))
        start = probe._start

        def interrupted(*command: Any) -> Any:
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
            time.sleep(0.5)
            return start(*command)

        monkeypatch.setattr(probe, "_start", interrupted)
        began_s = time.monotonic()
        assert cli("doctor").code == 130
        assert time.monotonic() - began_s < 30
        assert other.poll() is None
        assert not [child for child in psutil.Process().children() if str(tmp_path / "slow") in child.cmdline()]
    finally:
        other.kill()
        other.wait()


def test_the_object_of_the_doctor_is_documented(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every key of --json is documented in docs/json-doctor.md, and every documented key is there."""
    busy = neighbours.busiest({(1, "make"): 0.5})
    monkeypatch.setattr(interpreters, "available", lambda: ({"fake": sys.executable}, {"other": "not here"}))
    monkeypatch.setattr(doctor, "_watch", lambda *, told: (noise.probe(), busy))
    quota = Advice(about="processor quota", why="a quota", do="docker run")
    monkeypatch.setattr(doctor, "_settings_advice", lambda _: [quota])
    told = json.loads(cli("doctor", "--json").out)
    free = {"machine", "now", "gpus[]", "frameworks[].versions"}

    def keys(value: Any, path: str = "") -> set[str]:
        if isinstance(value, dict) and path not in free:
            below = {key: f"{path}.{key}" if path else key for key in value}
            return set(below.values()).union(*(keys(value[key], below[key]) for key in value))
        return set().union(*(keys(item, f"{path}[]") for item in value)) if isinstance(value, list) else set()

    page = (Path(__file__).parents[2] / "docs" / "json-doctor.md").read_text()
    assert keys(told) == set(re.findall(r"^\| `([\w.\[\]]+)` \|", page, re.MULTILINE))
    assert [(one["name"], one["usable"]) for one in told["frameworks"]] == [("fake", True), ("other", False)]
    assert cli("doctor", "--json", "--self-test").code == 2


@pytest.mark.usefixtures("inline")
@pytest.mark.by_turns
def test_self_test_tells_what_can_be_resolved(cli: Cli) -> None:
    """A contender's timer is tested, check by check, and it is raced against itself."""
    said = cli("doctor", "--self-test", "fake:noise=0.02,process_noise=0.01")
    assert said.code == 0
    assert "timer       fake:noise=0.02,process_noise=0.01: self-test passed" in said.out
    for check in ("doubling passed", "profiler passed", "fetching passed"):
        assert check in said.out
    assert re.search(r"this machine can show about \d(\.\d)? % in 20 rounds", said.out)


def test_self_test_fails_a_timer_that_is_wrong(cli: Cli) -> None:
    """A wait that does nothing ends the doctor with exit code 1, and the reason is told."""
    said = cli("doctor", "--self-test", "fake:fault=asynchronous")
    assert said.code == 1
    assert "self-test failed: profiler" in said.out
    assert "can show" not in said.out


@pytest.mark.usefixtures("inline")
@pytest.mark.by_turns
def test_a_winner_against_itself_is_distrusted(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a contender beats itself, nothing here is to be trusted, and the exit code says so."""
    race = quick_race

    def unfair(request: Request, observe: Observer) -> Outcome:
        outcome = race(request, observe)
        (pair,) = outcome.verdicts
        return msgspec.structs.replace(outcome, verdicts=[msgspec.structs.replace(pair, verdict="faster")])

    monkeypatch.setattr(conductor, "run", unfair)
    said = cli("doctor", "--self-test", "fake")
    assert said.code == 1
    assert "not to be trusted" in said.out


@pytest.mark.usefixtures("inline")
@pytest.mark.by_turns
def test_a_winner_by_chance_is_raced_again(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """One such race in twenty names a winner: the next one tells whether it was chance."""
    race = quick_race
    races: list[Outcome] = []

    def unfair_once(request: Request, observe: Observer) -> Outcome:
        outcome = race(request, observe)
        races.append(outcome)
        (pair,) = outcome.verdicts
        verdict = "faster" if len(races) == 1 else "equal"
        return msgspec.structs.replace(outcome, verdicts=[msgspec.structs.replace(pair, verdict=verdict)])

    monkeypatch.setattr(conductor, "run", unfair_once)
    said = cli("doctor", "--self-test", "fake")
    assert (said.code, len(races)) == (0, 2)
    assert "by chance" in said.out
    assert "not to be trusted" not in said.out


def test_contenders_are_for_the_self_test(cli: Cli) -> None:
    """Contenders without the self-test would be ignored, so they are refused."""
    said = cli("doctor", "fake")
    assert said.code == 2
    assert "bakeoff doctor --self-test" in said.err
