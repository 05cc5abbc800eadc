"""Contenders on several devices: a group of processes is one trial, with one record, one fate and one certificate."""

from __future__ import annotations

import gzip
import math
import os
import signal
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.race.conftest import NO_PROBE_S, SELF_KILLED
from tests.race.inline import InlineWorker

from bakeoff.judge import comparison
from bakeoff.judge.outcome import Outcome
from bakeoff.measure.cores import ranges, usable
from bakeoff.measure.machine import usable_cores
from bakeoff.race import conductor
from bakeoff.race.prepare import checked
from bakeoff.race.stages import certify, explain, rounds
from bakeoff.race.workers.group import GroupWorker, why_apart
from bakeoff.race.workers.process import ProcessWorker
from bakeoff.race.workers.worker import WorkerLostError
from bakeoff.spec import protocol
from bakeoff.spec.errors import ModelFileError, UsageError
from bakeoff.spec.group import replica_folder
from bakeoff.spec.record import ReplicaReport
from bakeoff.stats.boundaries import LOOKS
from bakeoff.stats.progress import STOPPING
from bakeoff.stats.sequential import decide
from bakeoff.store.results import read_records

if TYPE_CHECKING:
    from tests.race.conftest import Race

    from bakeoff.spec.record import Record
    from bakeoff.spec.verdict import Verdict
    from bakeoff.stats.pairs import Pair

STEPS = "noise=0.002,process_noise=0.002"
COSTS = 0.25
"""How much longer a scripted step takes on two devices."""


def records_of(outcome: Outcome, purpose: str) -> list[Record]:
    """Give the records of a purpose."""
    found = read_records(Path(outcome.path)).records.values()
    return [record for record in found if record.trial.purpose == purpose]


def test_copies_that_differ_within_a_process_are_named(request_of: Any) -> None:
    """One process with all devices is held to the same: a parameter whose copies differ fails its trial."""
    request = request_of("fake:wrong=replica,devices=2,sync=mirrored")
    (certificate,) = conductor.verify(request, launch=InlineWorker)
    assert not certificate.passed
    assert "the copies of the first layer on its devices differ after the same steps" in certificate.reason


@pytest.mark.parametrize("sync", ["ddp", "mirrored"])
def test_efficiency_and_overhead_are_ratios_of_paired_rounds(race: Race, sync: str) -> None:
    """What the script says agreeing costs is found, of one process for each device and of one for all of them."""
    outcome = race(f"fake:{STEPS},step_ms_by_device={COSTS},sync={sync}", devices=(2,), max_rounds=6)
    (scaling,) = outcome.scalings
    assert (scaling.devices, scaling.single) == (2, outcome.contenders[0].label)
    assert scaling.efficiency is not None
    assert scaling.overhead is not None
    assert scaling.efficiency.low <= 1 / (1 + COSTS) <= scaling.efficiency.high
    assert math.isclose(scaling.overhead.estimate, 1 - scaling.efficiency.estimate)
    assert outcome.verdicts == [], "different numbers of devices are no verdict on contenders"
    single, both = outcome.contenders
    assert single.samples_per_s
    assert both.samples_per_s
    assert math.isclose(both.samples_per_s / single.samples_per_s, 2 * scaling.efficiency.estimate, rel_tol=0.02)


def test_strong_scaling_shares_the_batch_out(race: Race) -> None:
    """With a batch that is shared out, efficiency is the speed-up over the number of devices, and no overhead told."""
    outcome = race(f"fake:{STEPS}", devices=(2,), scaling="strong", max_rounds=6)
    (scaling,) = outcome.scalings
    assert scaling.efficiency is not None
    assert scaling.efficiency.low <= 0.5 <= scaling.efficiency.high, "the script takes as long for half of the samples"
    assert scaling.overhead is None
    batch_sizes = {record.trial.batch_size for record in records_of(outcome, "time")}
    assert len(batch_sizes) == 1, "the global batch is the same on one device and on two"


def test_contenders_meet_those_with_as_many_devices(race: Race) -> None:
    """Verdicts are on contenders with as many devices, and the headline answers for each number of them."""
    outcome = race(f"fake:{STEPS}", f"fake:{STEPS},step_ms=2", devices=(2,), max_rounds=5)
    devices = {one.label: one.plan.devices for one in outcome.contenders}
    assert len(outcome.verdicts) == 2
    assert all(devices[verdict.first] == devices[verdict.second] for verdict in outcome.verdicts)
    assert len(outcome.scalings) == 2


def test_pairs_that_are_never_formed_take_no_part_of_the_error(race: Race, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody asks for one contender on one device against another on two: the boundaries hold for the other pairs."""
    decided: list[set[frozenset[str]]] = []

    def seen(pairs: list[Pair], **rest: Any) -> list[Verdict]:
        decided.append({frozenset((one.first, one.second)) for one in pairs})
        return decide(pairs, **rest)

    monkeypatch.setattr(comparison, "decide", seen)
    outcome = race(f"fake:{STEPS}", f"fake:{STEPS},step_ms=2", devices=(2,), max_rounds=5)
    labels = [one.label for one in outcome.contenders]
    never = {frozenset((labels[0], labels[3])), frozenset((labels[1], labels[2]))}
    assert decided[-1] == {frozenset(both) for both in combinations(labels, 2)} - never


@pytest.mark.by_turns
def test_pairs_that_say_nothing_ask_for_no_rounds(race: Race) -> None:
    """Where every pair that is formed is settled it ends; whoever has none has the rounds that its step time needs."""
    assert race("fake", "fake:step_ms=2", devices=(2,)).rounds == LOOKS[0]
    lone = race("fake:devices=1", "fake:step_ms=2,devices=2")
    assert (lone.verdicts, lone.rounds, lone.ended) == ([], STOPPING.rounds_alone, "decided")


def test_a_group_leaves_one_record(race: Race) -> None:
    """The record holds what each replica computed, the time of the whole group, and the memory of all together."""
    outcome = race(f"fake:{STEPS}", devices=(2,), max_rounds=1)
    groups = [record for record in records_of(outcome, "time") if record.trial.group]
    (record,) = groups
    assert [one.rank for one in record.replicas] == [0, 1]
    assert len({one.parameters_sha256 for one in record.replicas}) == 1
    assert all(len(block.replicas_ns) == 2 for block in record.blocks)
    assert all(block.elapsed_ns >= max(block.replicas_ns) for block in record.blocks)
    assert record.memory is not None
    peaks = [one.memory.peak_bytes for one in record.replicas if one.memory and one.memory.peak_bytes]
    assert record.memory.peak_bytes == sum(peaks)


def test_whole_runs_on_several_devices_are_tied(race: Any) -> None:
    """They keep the first loss, of the batches of all devices (test_shards.py), by which the certificate holds them."""
    outcome = race(f"fake:{STEPS}", devices=(2,), max_rounds=1, steps=20)
    assert [one.status for one in outcome.contenders] == ["ranked"] * len(outcome.contenders)
    records = read_records(Path(outcome.path)).records.values()
    whole = [record for record in records if record.trial.purpose == "epochs"]
    assert {record.trial.joined for record in whole} == {1, 2}
    assert all(record.tie and record.tie.losses for record in whole)


def test_a_replica_that_disagrees_is_named(request_of: Any) -> None:
    """A replica whose parameters are not the first one's ends its group, and the certificate says which it was."""
    request = request_of("fake:wrong=replica,devices=2")
    (certificate,) = conductor.verify(request, launch=InlineWorker)
    assert not certificate.passed
    assert certificate.reason.startswith("replica 1: its parameters are not those of replica 0")


@pytest.mark.parametrize(
    ("contender", "asked", "said"),
    [
        ("fake:devices=3", {"scaling": "strong"}, "3 devices do not divide it"),
        ("fake", {"scaling": "strong"}, "every contender has one: add --devices 2"),
        ("fake:devices=2", {"scenario": "infer"}, "on several devices contenders train"),
        ("fake:devices=2,input=pipeline", {}, "batches are on them already"),
        ("fake:devices=2", {"epochs": 2}, "name --steps"),
        ("fake:devices=0", {}, "possible: a whole number from 1 on"),
        ("fake", {"devices": (0,)}, "possible: a whole number from 1 on"),
    ],
)
def test_what_several_devices_cannot_be_asked(
    request_of: Any, contender: str, asked: dict[str, Any], said: str
) -> None:
    """What cannot be on several devices is refused before anything starts, with what is valid."""
    with pytest.raises(UsageError, match=said):
        conductor.run(request_of(contender, **asked), launch=InlineWorker)


NORMALISED = """
from bakeoff.spec.optimizer import SGD
from bakeoff.spec.workload import Size, Workload

SIZE = Size(batch_size=2, input_shape=(4,), classes=3)
WORKLOAD = Workload(
    name="normed", summary="", source="", sizes={"full": SIZE, "reduced": SIZE}, optimizer=SGD(learning_rate=0.1)
)


def build(nn, size):
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.norm, self.last = nn.Linear(4, 8), nn.BatchNorm(8), nn.Linear(8, 3)

        def forward(self, x):
            return self.last(self.norm(self.first(x)))

    return Model()


def loss(nn, outputs, targets):
    return nn.cross_entropy(outputs, targets)
"""


def test_a_devices_part_of_a_batch_has_more_than_one_value_to_normalise(request_of: Any, tmp_path: Path) -> None:
    """Two samples are enough for BatchNorm, also over both devices, and not where each normalises its own one."""
    path = tmp_path / "normed.py"
    path.write_text(NORMALISED)
    asked = {"workload": str(path), "scaling": "strong"}
    with pytest.raises(ModelFileError, match=r"one value in the whole batch.* on each of several devices"):
        checked(request_of("fake:devices=2", **asked))
    checked(request_of("fake:devices=2,batch_statistics=global", **asked))
    checked(request_of("fake:devices=2", workload=str(path)))


def test_a_search_is_of_one_device(request_of: Any) -> None:
    """A search for the largest batch refuses contenders on several devices."""
    with pytest.raises(UsageError, match="leave devices out"):
        conductor.search_batches(request_of("fake:devices=2"), launch=InlineWorker)


def test_replicas_may_be_as_far_apart_as_is_declared() -> None:
    """Other parameters are a finding, unless their framework declares that roundings may differ, and by how much."""
    first = ReplicaReport(rank=0, parameters_sha256="a", checksums=[1.0, 0.5, 0.1])
    other = ReplicaReport(rank=1, parameters_sha256="b", checksums=[1.0, 0.5, 0.1 + 1e-7])
    assert why_apart(first, first, 0.0) == ""
    assert "differ by 1.0e-07 of the largest" in why_apart(first, other, 0.0)
    assert why_apart(first, other, 1e-6) == ""
    assert why_apart(first, other, 1e-8)


class Counting:
    """A worker that notes what it is asked, and takes a millisecond a step."""

    def __init__(self) -> None:
        """Note nothing yet."""
        self.asked: list[Any] = []

    def ask(self, command: protocol.Command, limit_s: float) -> protocol.Answer:
        """Note it; a step of this worker takes a millisecond."""
        del limit_s
        self.asked.append(command)
        steps = getattr(command, "steps", 0)
        return protocol.Warmed(steps_ns=[1_000_000] * steps)

    def ready(self, limit_s: float) -> protocol.Ready:
        """Be ready."""
        del limit_s
        return protocol.Ready(import_ns=1)

    def end(self) -> None:
        """Do nothing."""


def test_replicas_count_steps_and_ask_no_clock(tmp_path: Path) -> None:
    """What lasts for a time is turned into one number of steps for all replicas, by the first one's times."""
    workers = [Counting(), Counting()]
    group = GroupWorker(workers, tmp_path)
    warmed = group.ask(protocol.Warm(steps=20, seconds=0.3, limit=100), 1.0)
    assert isinstance(warmed, protocol.Warmed)
    assert len(warmed.steps_ns) == 100
    group.ask(protocol.Fence(lead=3, steps=10, seconds=0.05, limit=400), 1.0)
    assert workers[0].asked == workers[1].asked
    assert all(command.seconds == 0.0 for command in workers[0].asked)
    assert workers[0].asked[-1].steps == 50


# --- In processes of their own ------------------------------------------------------------------------------------

FALLEN = {
    "kill": ("killed", f"replica 1: {SELF_KILLED}"),
    "exit": ("crashed", "replica 1: ended by itself with exit code 7"),
    "hang": ("timeout", "replica 1 of 2: no answer within the time limit of 8 s"),
    "raise": ("failed", "replica 1: RuntimeError: a scripted failure"),
    "unsupported": ("unsupported", "replica 1: a scripted gap: this framework lacks what was asked"),
}


@pytest.mark.slow
@pytest.mark.by_turns
def test_one_lost_replica_ends_its_group(
    request_of: Any, running_in: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A replica that is killed, ends, hangs or fails ends the group with that reason; no process is left."""
    monkeypatch.chdir(tmp_path)
    labels = {fault: f"fake:devices=2,fault={fault},fault_rank=1,fault_at=certify" for fault in FALLEN}
    request = request_of(*labels.values(), "fake:devices=2", trial_limit_s=8.0)
    certificates = {one.contender: one for one in conductor.verify(request)}
    (comparison,) = (tmp_path / "results").glob("mlp-mnist-*")
    found = {
        record.trial.contender.label: record
        for record in read_records(comparison).records.values()
        if record.trial.purpose == "certify"
    }
    assert {fault: (found[one].outcome, found[one].reason) for fault, one in labels.items()} == FALLEN
    assert certificates["fake:devices=2"].passed
    assert not any(certificates[label].passed for label in labels.values())
    assert running_in(tmp_path) == []


@pytest.mark.slow
def test_a_replica_that_is_killed_from_outside_ends_the_group(request_of: Any, running_in: Any, tmp_path: Path) -> None:
    """Kill -9 of one replica while all run ends the others at once, and the reason names it."""
    killed: list[int] = []

    def launch(folder: Path, trial: Any, interpreter: str) -> ProcessWorker:
        worker = ProcessWorker(folder, trial, interpreter)
        if folder.name == replica_folder(1) and trial.purpose == "time":
            os.kill(worker.pid, signal.SIGKILL)
            killed.append(worker.pid)
        return worker

    outcome = conductor.run(request_of("fake:devices=2,clock=real", max_rounds=1), launch=launch)
    (record,) = records_of(outcome, "time")
    assert killed
    assert record.outcome == "killed"
    assert record.reason.startswith("replica 1: killed by SIGKILL")
    assert running_in(tmp_path) == []


class Dying(ProcessWorker):
    """A worker that is killed before it computes its evidence, where it is the second replica."""

    def send(self, command: protocol.Command) -> None:
        """Send a command, or kill the process that would get it."""
        if isinstance(command, protocol.Certify) and self._folder.name == replica_folder(1):
            os.kill(self.pid, signal.SIGKILL)
        super().send(command)


@pytest.mark.slow
@pytest.mark.skipif(len(usable()) < 2, reason="two replicas need two processors that this process may use")
@pytest.mark.by_turns
def test_replicas_have_processors_of_their_own(request_of: Any) -> None:
    """Sets are disjoint and together all that may be used, but for a rest; one device has as many as a replica has."""
    stages = (certify.wanted, rounds.wanted)
    request = request_of("fake:clock=real", devices=(2,), max_rounds=1)
    outcome = conductor.run(request, probe_s=NO_PROBE_S, stages=stages)
    (single,) = [record for record in records_of(outcome, "time") if record.trial.group is None]
    (group,) = [record for record in records_of(outcome, "time") if record.trial.group]
    first, second = group.trial.cores
    assert len(first) == len(second) == len(usable()) // 2
    assert not set(first) & set(second)
    assert {*first, *second} <= set(usable())
    assert group.settings["bound_to"] == f"{ranges(first)}; {ranges(second)}", "what each replica has read back"
    assert [one.cores for one in group.replicas] == [ranges(first), ranges(second)]
    assert (single.trial.cores, single.settings["bound_to"]) == ((first,), ranges(first))
    assert {record.machine["usable_cores"] for record in (single, group)} == {usable_cores()}, "the machine's own"


def test_nobody_is_bound_on_one_device(race: Race) -> None:
    """A race without several devices leaves processes to the system, and tells no processors."""
    (record,) = records_of(race("fake", max_rounds=1), "time")
    assert record.trial.cores == ()
    assert "bound_to" not in record.settings


def test_nobody_is_bound_where_threads_want_more_than_there_is(race: Race) -> None:
    """Replicas that take turns anyway are not squeezed onto processors that are fewer than their threads."""
    outcome = race("fake:threads=4096", devices=(2,), max_rounds=1)
    assert {record.trial.cores for record in records_of(outcome, "time")} == {()}


@pytest.mark.slow
@pytest.mark.by_turns
def test_pytorchs_replicas_end_with_one_of_them(request_of: Any, running_in: Any, tmp_path: Path) -> None:
    """Where a replica is killed, PyTorch's other one, which waits for it in a collective, ends with that reason."""
    (certificate,) = conductor.verify(request_of("torch:devices=2"), launch=Dying)
    assert certificate.reason.endswith(f"replica 1: {SELF_KILLED}")
    assert running_in(tmp_path) == []


@pytest.mark.by_turns
@pytest.mark.slow
def test_pytorchs_profiler_names_the_collectives_of_its_replicas(
    request_of: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Replicas of DistributedDataParallel are traced together, and a part of their step is in collectives."""
    monkeypatch.setattr(explain, "ROUNDS", 1)
    stages = (certify.wanted, rounds.wanted, explain.wanted)
    outcome = conductor.run(request_of("torch:devices=2", max_rounds=1), probe_s=NO_PROBE_S, stages=stages)
    (record,) = records_of(outcome, "explain")
    assert record.traced is not None, record.reason
    shares = record.traced.shares
    assert record.traced.level == "layers", record.traced.reason
    assert 0.0 < sum(share.share for share in shares if share.kind == "communication") < 1.0
    assert {share.phase for share in shares if share.layer} >= {"forward", "backward"}
    # The event that tests/frameworks/test_traced_torch.py invents is one of PyTorch's.
    (trace,) = Path(outcome.path).glob("explain*/trace/*.gz")
    assert b'"gloo:all_reduce"' in gzip.decompress(trace.read_bytes())


def test_a_group_of_one_lost_worker_is_lost(tmp_path: Path) -> None:
    """What a replica but the first is lost for is recorded by the parent, and not taken for recorded."""

    class Lost(Counting):
        def ask(self, command: protocol.Command, limit_s: float) -> protocol.Answer:
            del command, limit_s
            raise WorkerLostError("failed", "a reason")

    group = GroupWorker([Counting(), Lost()], tmp_path)
    with pytest.raises(WorkerLostError, match="replica 1: a reason") as caught:
        group.ask(protocol.Build(), 1.0)
    assert not caught.value.is_recorded
