"""Real worker processes, and all that can happen to them: told with its cause, and nothing is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import psutil
import pytest
from tests.race.conftest import SELF_KILLED

from bakeoff.judge.outcome import ContenderOutcome, Outcome
from bakeoff.measure import memory
from bakeoff.race import conductor
from bakeoff.race.progress import Event, TrialEnded
from bakeoff.race.stages import certify, rounds
from bakeoff.race.workers import guard
from bakeoff.race.workers.process import ProcessWorker
from bakeoff.race.workers.worker import WorkerLostError
from bakeoff.spec.errors import StoreError
from bakeoff.spec.protocol import Ready
from bakeoff.spec.record import Record
from bakeoff.spec.request import Request
from bakeoff.spec.trial import KINDS
from bakeoff.spec.verdict import Certificate
from bakeoff.store.results import read_records

pytestmark = pytest.mark.slow

LIMIT_S = 8.0
"""Of a trial: far above what a worker's start takes, also on a busy machine, and short to wait for once."""


RunningIn = Callable[[Path], list[str]]


class Checked(NamedTuple):
    """What certifying a number of faulty contenders left."""

    folder: Path
    certificates: dict[str, Certificate]
    records: dict[str, Record]
    seconds: dict[str, float]


def verified(folder: Path, *contenders: str) -> Checked:
    """Compute the certificates of contenders in real processes that run in this folder."""
    events: list[Event] = []
    request = Request(
        workload="mlp-mnist",
        contenders=contenders,
        size="reduced",
        data="synthetic",
        results="results",
        trial_limit_s=LIMIT_S,
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        certificates = conductor.verify(request, events.append)
        (comparison,) = (folder / "results").glob("mlp-mnist-*")
        records = read_records(comparison).records.values()
    return Checked(
        folder=folder,
        certificates={one.contender: one for one in certificates},
        records={r.trial.contender.label: r for r in records if r.trial.purpose == "certify"},
        seconds={event.label: event.seconds for event in events if isinstance(event, TrialEnded)},
    )


FAULTS = {
    "fake:fault=exit,fault_at=build": ("crashed", "ended by itself with exit code 7"),
    "fake:fault=segfault,fault_at=certify": ("crashed", "crashed by SIGSEGV"),
    "fake:fault=kill,fault_at=import": ("killed", SELF_KILLED),
    "fake:fault=hang,fault_at=certify": ("timeout", f"no answer within the time limit of {LIMIT_S:g} s"),
    "fake:fault=raise,fault_at=certify": ("failed", "RuntimeError: a scripted failure"),
}
HARMLESS = ["fake", "fake:fault=print", "fake:fault=children,fault_at=build"]


@pytest.fixture(scope="module")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> Checked:
    """Certify one contender with each fault, and three that only misbehave."""
    return verified(tmp_path_factory.mktemp("faulty"), *FAULTS, *HARMLESS)


@pytest.mark.parametrize("label", FAULTS)
def test_how_a_worker_ends_is_recorded(faulty: Checked, label: str) -> None:
    """A worker that exits, crashes, is killed or hangs leaves a record with its outcome and reason."""
    record = faulty.records[label]
    assert (record.outcome, record.reason) == FAULTS[label]
    assert not faulty.certificates[label].passed
    assert faulty.certificates[label].reason == record.reason


@pytest.mark.parametrize("label", HARMLESS)
def test_the_others_are_not_disturbed(faulty: Checked, label: str) -> None:
    """Contenders beside faulty ones, those that print like a worker answers, and those with children, pass."""
    assert faulty.records[label].outcome == "done"
    assert faulty.certificates[label].passed


def test_the_last_words_of_a_worker_are_kept(faulty: Checked) -> None:
    """What a dying process wrote on stderr is in its record."""
    assert faulty.records["fake:fault=exit,fault_at=build"].detail == "a scripted exit\n"


def test_what_is_printed_goes_to_a_log(faulty: Checked) -> None:
    """Lines on stdout that look like answers are no answers; they are kept beside the record."""
    (log,) = faulty.folder.glob("results/*/certify-fake-fault=print/stdout.log")
    lines = log.read_text().splitlines()
    assert set(lines) == {'{"type":"done"}'}
    assert len(lines) % 100 == 0


def test_a_hang_takes_its_time_limit_and_no_more(faulty: Checked) -> None:
    """A worker that does not answer is ended at the limit, and the comparison goes on at once."""
    assert LIMIT_S <= faulty.seconds["fake:fault=hang,fault_at=certify"] < 3 * LIMIT_S


def test_no_process_is_left(faulty: Checked, running_in: RunningIn) -> None:
    """Workers are gone, and so are the children that they left, also one in a session of its own."""
    assert running_in(faulty.folder) == []


class Raced(NamedTuple):
    """What a race in real processes left."""

    outcome: Outcome
    left: list[str]

    @property
    def by_label(self) -> dict[str, ContenderOutcome]:
        """Give the contenders by their labels."""
        return {one.label: one for one in self.outcome.contenders}

    def timed(self, label: str) -> list[Record]:
        """Give the records of a contender's timed trials."""
        records = read_records(Path(self.outcome.path)).records.values()
        return [r for r in records if r.trial.purpose == "time" and r.trial.contender.label == label]


QUICK, SLOW = "fake:step_ms=50", "fake:step_ms=70"
KILLED, EXITED = "fake:step_ms=50,fault=kill,fault_at=block", "fake:step_ms=50,fault=exit,fault_at=block"


@pytest.fixture(scope="module")
def raced(tmp_path_factory: pytest.TempPathFactory, running_in: RunningIn) -> Iterator[Raced]:
    """Race two healthy contenders and two that die in their first block; in a path that wants quoting."""
    folder = tmp_path_factory.mktemp('it\'s a "folder"\n with größe')
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        request = Request(
            workload="mlp-mnist",
            contenders=(QUICK, SLOW, KILLED, EXITED),
            size="reduced",
            data="synthetic",
            results="re sults\n'$(x)'",
        )
        outcome = conductor.run(request, probe_s=0.001)
        yield Raced(outcome, running_in(folder))


def test_the_healthy_reach_their_verdict(raced: Raced) -> None:
    """Resident workers whose neighbours die go on in the same round, and are settled as without them."""
    assert [(v.first, v.second, v.verdict, v.rounds) for v in raced.outcome.verdicts] == [(QUICK, SLOW, "faster", 5)]
    assert raced.outcome.resident
    assert raced.outcome.rounds == 5
    assert raced.left == []


@pytest.mark.parametrize(
    ("label", "outcome", "reason"),
    [
        (KILLED, "killed", SELF_KILLED),
        (EXITED, "crashed", "ended by itself with exit code 7"),
    ],
)
def test_who_dies_twice_in_its_block_is_given_up(raced: Raced, label: str, outcome: str, reason: str) -> None:
    """A worker that dies while it is timed is tried once more, and has no rank after that."""
    assert [record.outcome for record in raced.timed(label)] == [outcome] * 2
    assert (raced.by_label[label].status, raced.by_label[label].reason) == ("failed", reason)


@pytest.mark.by_turns
def test_a_trial_tells_how_long_its_parts_took(raced: Raced) -> None:
    """A finished record has start, import, build and first step, its memory trial a baseline and a peak."""
    for record in raced.timed(QUICK):
        for ns in (record.start_ns, record.import_ns):
            assert ns is not None
            assert 0 < ns < 60e9
        assert record.first_step_ns == pytest.approx(55e6)
        assert record.clock == "virtual"
    memory = raced.by_label[QUICK].memory
    assert memory is not None
    assert memory.baseline_bytes is not None
    assert memory.peak_bytes is not None
    assert 10e6 < memory.baseline_bytes <= memory.peak_bytes < 1e9


@pytest.fixture(scope="module")
def interpreters(tmp_path_factory: pytest.TempPathFactory) -> Checked:
    """Certify contenders whose interpreters cannot be workers, beside one that can."""
    folder = tmp_path_factory.mktemp("interpreters")
    scripts = {
        "bare": f'#!/bin/sh\nexec "{sys.executable}" -I -S "$@"\n',
        "quiet": "#!/bin/sh\nexit 0\n",
        "rude": "#!/bin/sh\necho 'I am no snake' >&2\nkill -9 $$\n",
        "text": "not a program\n",
        "lost": "#!/no/such/shell\n",
        "babbling": "#!/bin/sh\nprintf '\\nno answer\\n' > /dev/fd/$5\nsleep 60\n",
    }
    for name, text in scripts.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    return verified(folder, "fake", *(f"fake@{folder}/{name}" for name in scripts))


UNUSABLE = {
    "bare": "It needs numpy and msgspec beside the framework: ",
    "quiet": "did not run as Python (exit code 0); name one: FRAMEWORK@/path/to/python",
    "text": "cannot start ",
    "lost": "cannot start ",
}


@pytest.mark.parametrize("name", UNUSABLE)
def test_an_interpreter_that_cannot_be_a_worker_is_told(interpreters: Checked, name: str) -> None:
    """What is no Python, or lacks what a worker needs, is unavailable, with the path and the remedy."""
    record = interpreters.records[f"fake@{interpreters.folder}/{name}"]
    assert record.outcome == "unavailable"
    assert UNUSABLE[name] in record.reason
    assert interpreters.certificates["fake"].passed


def test_who_is_killed_before_its_first_word_was_killed(interpreters: Checked) -> None:
    """SIGKILL says nothing about the interpreter, whenever it comes: the trial can be done again."""
    record = interpreters.records[f"fake@{interpreters.folder}/rude"]
    assert (record.outcome, record.detail) == ("killed", "I am no snake\n")


def test_what_is_no_answer_is_told(interpreters: Checked) -> None:
    """A workload that writes to the descriptors that it inherits loses its trial, and nobody else's."""
    record = interpreters.records[f"fake@{interpreters.folder}/babbling"]
    assert record.outcome == "crashed"
    assert "what came through its pipe is no answer" in record.reason


def test_the_remedy_names_the_interpreter(interpreters: Checked) -> None:
    """The message of an interpreter without msgspec is the command that installs it."""
    reason = interpreters.records[f"fake@{interpreters.folder}/bare"].reason
    assert reason.endswith("-m pip install numpy msgspec")
    assert sys.executable in reason


def test_no_descriptor_leaks(tmp_path: Path) -> None:
    """Workers that were ended, and those that could not be started, leave no file open in the parent."""
    no_trial: Any = SimpleNamespace(variables={})
    before = psutil.Process().num_fds()
    with pytest.raises(WorkerLostError, match="ended by itself with exit code 1") as lost:
        ProcessWorker(tmp_path, no_trial, sys.executable).ready(60.0)
    assert "trial.json" in lost.value.detail
    with pytest.raises(WorkerLostError, match="cannot start /no/such/python: No such file"):
        ProcessWorker(tmp_path, no_trial, "/no/such/python")
    with pytest.raises(StoreError, match=r"cannot start a trial in .*gone: No such file"):
        ProcessWorker(tmp_path / "gone", no_trial, sys.executable)
    assert psutil.Process().num_fds() == before


@pytest.mark.skipif(sys.platform != "linux", reason="a tunable of glibc, read from /proc")
@pytest.mark.parametrize("theirs", ["", "glibc.malloc.arena_max=4"])
@pytest.mark.by_turns
def test_the_float64_stage_has_a_malloc_for_large_arrays_and_no_other_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, theirs: str
) -> None:
    """Where the user has set tunables, all have those alone, and float64 may be raced beside its own certificate."""
    began: dict[str, str] = {}

    class Told(ProcessWorker):
        def ready(self, limit_s: float) -> Ready:
            answer = super().ready(limit_s)  # before its first word the kernel may have no environment to show
            # glibc ends each tunable by a zero, where the kernel shows it.
            variables = Path(f"/proc/{self.pid}/environ").read_text().replace("\0", ":")
            began[self._folder.name.split("-")[0]] = variables.partition(f"{memory.TUNABLES}=")[2]
            return answer

    monkeypatch.delenv(memory.TUNABLES, raising=False)
    if theirs:
        monkeypatch.setenv(memory.TUNABLES, theirs)
    monkeypatch.chdir(tmp_path)
    contenders = ("fake:clock=real,precision=float64",)
    request = Request(
        workload="mlp-mnist", contenders=contenders, size="reduced", data="synthetic", max_rounds=1, results="results"
    )
    conductor.run(request, launch=Told, stages=(certify.wanted, rounds.wanted))
    assert {purpose for purpose, kind in KINDS.items() if kind.large_arrays} == {"reference", "program"}
    assert began["reference"].startswith(theirs or memory.LARGE_ARRAYS)
    assert (memory.LARGE_ARRAYS in began["reference"]) != bool(theirs)
    assert all(began[purpose].startswith(theirs) for purpose in ("certify", "r01"))
    assert not any(memory.LARGE_ARRAYS in began[purpose] for purpose in ("certify", "r01"))
    (comparison,) = (tmp_path / "results").glob("mlp-mnist-*")
    kept = read_records(comparison).records.values()
    assert {one.inherited.get(memory.TUNABLES, "") for one in kept} == {theirs}


@pytest.mark.skipif(sys.platform != "linux", reason="tunables of glibc")
@pytest.mark.parametrize("theirs", ["", "glibc.malloc.tcache_count=0"])
def test_a_contender_that_is_to_keep_memory_keeps_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, theirs: str
) -> None:
    """Malloc reads its tunables before anything else of a process runs; its program in float64 is the reference's."""
    monkeypatch.setenv(memory.TUNABLES, theirs)
    monkeypatch.chdir(tmp_path)
    contenders = ("fake:clock=real,malloc=keep", "fake:clock=real")
    request = Request(
        workload="mlp-mnist", contenders=contenders, size="reduced", data="synthetic", max_rounds=1, results="results"
    )
    conductor.run(request, stages=(certify.wanted, rounds.wanted))
    (comparison,) = (tmp_path / "results").glob("mlp-mnist-*")
    kept = {name: record for name, record in read_records(comparison).records.items() if record.outcome == "done"}
    states = {name: record.settings["malloc"] for name, record in kept.items() if name.startswith("r01-")}
    assert sorted(states.values()) == ["keep", "settled"]
    assert {name for name, state in states.items() if state == "keep"} == {"r01-fake-clock=real-malloc=keep"}
    assert not any(name.startswith("program-") for name in kept)
    # What the user has set counts for all alike, so that nobody is marked for it.
    assert {record.inherited.get(memory.TUNABLES, "") for record in kept.values()} == {theirs}


def test_a_marked_process_is_found_in_any_session(tmp_path: Path) -> None:
    """The guard ends what carries the mark, whatever its session, and nothing else."""
    command = [sys.executable, "-c", "import time; time.sleep(60)"]
    mark = "test_processes-1-"
    marks = [f"{mark}xxx", "test_processes-11-", ""]
    processes = [
        subprocess.Popen(command, cwd=tmp_path, start_new_session=True, env=os.environ | {guard.VARIABLE: one})
        for one in marks
    ]
    try:
        guard.end_marked(mark)
        assert processes[0].wait(timeout=10) == -signal.SIGKILL
        assert [process.poll() for process in processes[1:]] == [None, None]
    finally:
        for process in processes:
            process.kill()
            process.wait()
