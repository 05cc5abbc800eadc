"""Records that are not as they were written, and disks that are full: told, set aside, done again, never guessed at."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from tests.race.inline import InlineWorker

from bakeoff.judge.comparison import judge_comparison
from bakeoff.judge.outcome import Outcome
from bakeoff.race import conductor
from bakeoff.race.explaining import complete
from bakeoff.race.progress import ContenderActivity, Event, Prepared, RoundStarted, TrialStarted
from bakeoff.race.workers.process import ProcessWorker
from bakeoff.report.pages.comparison import cautions
from bakeoff.spec.errors import StoreError, UsageError
from bakeoff.store.results import read_records

pytestmark = pytest.mark.slow

RACERS = ("fake:step_ms=50", "fake:step_ms=60")


def truncated(path: Path) -> str:
    """Cut a record in its middle."""
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    return "is truncated or not a record"


def emptied(path: Path) -> str:
    """Leave nothing of a record."""
    path.write_bytes(b"")
    return "is truncated or not a record"


def garbled(path: Path) -> str:
    """Put something else in a record's place, not even text."""
    path.write_bytes(bytes(range(256)))
    return "is truncated or not a record"


def edited(path: Path) -> str:
    """Change one digit of one number."""
    sealed = json.loads(path.read_bytes())
    record = json.dumps(sealed["record"], separators=(",", ":"))
    assert '"seed":0' in record
    path.write_text(path.read_text().replace('"seed":0', '"seed":1', 1))
    return "was changed after it was written"


def renamed(path: Path) -> str:
    """Have a record say that it is another trial's, beyond the folder."""
    record = json.loads(path.read_bytes())["record"]
    record["trial"]["name"] = "../../elsewhere"
    seal(path, record)
    return "is the record of another trial: '../../elsewhere'"


def reversioned(path: Path) -> str:
    """Put a record in its place that another version of bakeoff has written and sealed."""
    seal(path, json.loads(path.read_bytes())["record"] | {"version": 99})
    return "was made by another version of bakeoff: it has version 99, and this one reads 1"


def foreign(path: Path) -> str:
    """Put a sealed object in its place that has none of a record's fields."""
    seal(path, {"version": 1})
    return "was made by another version of bakeoff: Object missing required field `trial`"


def seal(path: Path, record: dict[str, Any]) -> None:
    """Write a record with its right SHA-256."""
    content = json.dumps(record)
    path.write_text(f'{{"sha256":"{hashlib.sha256(content.encode()).hexdigest()}","record":{content}}}')


@pytest.mark.parametrize("damage", [truncated, emptied, garbled, edited, renamed])
@pytest.mark.by_turns
def test_a_damaged_round_is_set_aside_and_made_up_for(race: Any, damage: Callable[[Path], str]) -> None:
    """A timed record that is not as it was written is named and not used; resuming runs another round in its stead."""
    outcome = race(*RACERS)
    trial = Path(outcome.path) / "r02-fake-step_ms=60"
    reason = damage(trial / "record.json")
    bytes_then = (trial / "record.json").read_bytes()
    judged = judge_comparison(Path(outcome.path))
    (told,) = judged.damaged
    assert str(trial / "record.json") in told
    assert reason in told
    assert (trial / "record.json").read_bytes() == bytes_then
    assert [(v.verdict, v.rounds) for v in judged.verdicts] == [("undecided", 4)]
    resumed = race(*RACERS, resume=True)
    assert (trial / "record.damaged.json").read_bytes() == bytes_then
    assert [(v.verdict, v.rounds) for v in resumed.verdicts] == [("faster", 5)]
    assert (resumed.path, resumed.rounds) == (outcome.path, 6)
    assert "r02-fake-step_ms=60/record.damaged.json" in " ".join(resumed.damaged)


@pytest.mark.parametrize("gone", ["r02-fake-step_ms=60", "r03-fake-step_ms=60"])
def test_a_trial_that_is_gone_is_made_up_for_within_the_rounds_that_were_asked_for(race: Any, gone: str) -> None:
    """Going on until so many rounds are done takes another one for that in which a trial is gone, and but once."""
    folder = Path(race(*RACERS, max_rounds=3).path)
    shutil.rmtree(folder / gone)
    for _ in range(2):
        resumed = race(*RACERS, max_rounds=3, resume=True)
        assert [(one.rounds, one.stopped) for one in resumed.verdicts] == [(3, "rounds")]
        assert (resumed.path, resumed.rounds, resumed.ended) == (str(folder), 4, "rounds")
    assert not (folder / gone).exists()


@pytest.mark.parametrize("number", [2, 3])
def test_a_trial_that_is_gone_is_told(race: Any, number: int) -> None:
    """A report of rounds that are done names one that a contender has no record of; of whole ones it says nothing."""
    whole = race(*RACERS, max_rounds=3)
    assert whole.gone == {}
    folder = Path(whole.path)
    shutil.rmtree(folder / f"r0{number}-fake-step_ms=60")
    outcome = judge_comparison(folder)
    assert (outcome.ended, outcome.gone) == ("rounds", {"fake:step_ms=60": [number]})
    assert f"fake:step_ms=60 has no record of round {number}, " in " ".join(cautions(outcome))


def test_who_ran_no_more_is_not_made_up_for(race: Any) -> None:
    """A contender that was given up lacks in later rounds, and nothing is gone: no round is added for it."""
    racers = (*RACERS, "fake:step_ms=70,fault=raise,fault_at=block")
    outcome = race(*racers, max_rounds=4)
    assert len(list(Path(outcome.path).glob("r0*-fake-step_ms=70*"))) == 2
    assert outcome.gone == {}
    assert race(*racers, max_rounds=4, resume=True).rounds == 4


def test_a_sealed_record_that_cannot_be_is_told_before_anything_rests_on_it(race: Any) -> None:
    """Going on with what a stranger has sealed, or explaining it, ends with a message, and touches nothing."""
    folder = Path(race(*RACERS, max_rounds=1).path)
    path = folder / "r01-fake-step_ms=60" / "record.json"
    record = json.loads(path.read_bytes())["record"]
    for block in record["blocks"]:
        block["steps_ns"] = []
    seal(path, record)
    before = {one: one.read_bytes() for one in folder.rglob("*.json")}
    said = r"they are sealed, and yet not what bakeoff writes \(ZeroDivisionError"
    with pytest.raises(StoreError, match=said):
        race(*RACERS, max_rounds=2, resume=True)
    with pytest.raises(StoreError, match=said):
        complete(folder, launch=InlineWorker)
    assert {one: one.read_bytes() for one in folder.rglob("*.json")} == before


@pytest.mark.parametrize("remake", [reversioned, foreign])
def test_another_version_is_no_damage(race: Any, remake: Callable[[Path], str]) -> None:
    """A whole record of another version is not used, and named so; going on is refused, and nothing is touched."""
    outcome = race(*RACERS)
    folder = Path(outcome.path)
    reason = remake(folder / "r02-fake-step_ms=60" / "record.json")
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    (told,) = judge_comparison(folder).damaged
    assert reason in told
    with pytest.raises(StoreError, match=r"cannot go on with .* another version of bakeoff.* without --resume"):
        race(*RACERS, resume=True)
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def lost(path: Path, outcome: str) -> None:
    """Put a record in a trial's place that says that its process was lost."""
    record = json.loads(path.read_bytes())["record"] | {"outcome": outcome, "reason": "lost", "evidence": None}
    seal(path, record)


@pytest.mark.parametrize(
    ("name", "outcome"),
    [
        ("certify-fake-step_ms=60", "killed"),
        ("certify-fake-step_ms=60", "timeout"),
        ("reference", "crashed"),
        ("reference", "unavailable"),
        ("late-fake-step_ms=60", "killed"),
        ("late-fake-step_ms=60", "crashed"),
    ],
)
@pytest.mark.by_turns
def test_what_came_to_nothing_is_done_again(race: Any, name: str, outcome: str) -> None:
    """A process that was lost outside of the rounds is no lasting verdict: going on does its trial again."""
    folder = Path(race(*RACERS, max_rounds=1).path)
    lost(folder / name / "record.json", outcome)
    before = (folder / name / "record.json").read_bytes()
    told = cautions(judge_comparison(folder))
    assert f"Came to nothing: {name} ({outcome}). The same command with --resume does it again." in told
    events: list[Event] = []
    resumed = race(*RACERS, resume=True, observe=events.append)
    assert [one.again for one in events if isinstance(one, Prepared)] == [(name,)]
    assert [verdict.verdict for verdict in resumed.verdicts] == ["faster"]
    assert (folder / name / "record.earlier.json").read_bytes() == before
    assert not any("came to nothing" in one.lower() for one in cautions(resumed))


def test_what_a_round_lost_is_counted(race: Any) -> None:
    """A process that was killed in a round is part of the evidence, and stays when the comparison goes on."""
    folder = Path(race(*RACERS, max_rounds=1).path)
    record = folder / "r01-fake-step_ms=60" / "record.json"
    lost(record, "killed")
    before = record.read_bytes()
    outcome = race(*RACERS, resume=True)
    assert record.read_bytes() == before
    (one,) = (one for one in outcome.contenders if one.lost_rounds)
    assert list(one.lost_rounds) == [1]
    assert one.lost_rounds[1].startswith("killed")


def test_going_on_starts_what_is_asked_for_now(race: Any) -> None:
    """Interpreters, paths and variables come from the request: a folder's own could be a stranger's, or have moved."""
    folder = Path(race(*RACERS, max_rounds=1).path)
    comparison = json.loads((folder / "comparison.json").read_bytes())
    for plan in [*comparison["contenders"], comparison["reference"]]:
        plan |= {
            "interpreter": "/strange/python",
            "framework_path": "/strange",
            "variables": {"LD_PRELOAD": "strange.so"},
        }
    comparison["workload_path"] = "/strange/workload.py"
    (folder / "comparison.json").write_text(json.dumps(comparison))
    for trial in ("certify-fake-step_ms=60", "reference"):
        lost(folder / trial / "record.json", "killed")
    outcome = race(*RACERS, resume=True)
    assert [verdict.verdict for verdict in outcome.verdicts] == ["faster"]
    said = [path.read_text() for path in [folder / "comparison.json", *folder.glob("*/trial.json")]]
    assert not any("strange" in text for text in said)


def test_another_reference_is_no_going_on(race: Any) -> None:
    """Evidence of one reference is not held against that of another."""
    folder = Path(race(*RACERS, max_rounds=1).path)
    comparison = json.loads((folder / "comparison.json").read_bytes())
    comparison["reference"]["contender"]["framework"] = "other"
    (folder / "comparison.json").write_text(json.dumps(comparison))
    with pytest.raises(StoreError, match=r"its reference was other:.*, and is fake:"):
        race(*RACERS, resume=True)


@pytest.mark.parametrize("name", ["certify-fake-step_ms=60", "reference", "late-fake-step_ms=60"])
def test_a_damaged_trial_outside_of_the_rounds_is_done_again(race: Any, memory: Path, name: str) -> None:
    """What the rounds rest on is measured again when the comparison goes on; the rounds themselves are not."""
    outcome = race(*RACERS)
    shutil.rmtree(memory)  # the reference would come from there
    trial = Path(outcome.path) / name
    edited(trial / "record.json")
    events: list[Event] = []
    resumed = race(*RACERS, resume=True, observe=events.append)
    assert [event.name for event in events if isinstance(event, TrialStarted)] == [name]
    assert [(v.verdict, v.rounds) for v in resumed.verdicts] == [("faster", 5)]
    assert (trial / "record.json").exists()
    assert (trial / "record.damaged.json").exists()


@pytest.mark.parametrize("keep", [0, 1000])
def test_damaged_evidence_is_no_certificate(race: Any, keep: int) -> None:
    """Arrays that are not those of the record set the record aside: no certificate, no rank; resuming computes both."""
    outcome = race(*RACERS)
    arrays = Path(outcome.path) / "certify-fake-step_ms=60" / "evidence.npz"
    arrays.write_bytes(arrays.read_bytes()[:keep])
    judged = judge_comparison(Path(outcome.path))
    assert [str(arrays) in told for told in judged.damaged] == [True]
    assert [(one.status, one.reason) for one in judged.contenders] == [
        ("ranked", ""),
        ("pending", "its evidence was not computed yet"),
    ]
    assert judged.verdicts == []
    assert [verdict.verdict for verdict in race(*RACERS, resume=True).verdicts] == ["faster"]


def test_missing_evidence_is_told(race: Any) -> None:
    """A record whose arrays were removed is set aside, too."""
    outcome = race(*RACERS)
    arrays = Path(outcome.path) / "certify-fake-step_ms=60" / "evidence.npz"
    arrays.unlink()
    assert "is missing, and its record is nothing without it" in judge_comparison(Path(outcome.path)).damaged[0]


def test_a_damaged_comparison_stands_in_nobodys_way(race: Any) -> None:
    """A folder whose comparison.json cannot be read is an error for who reads it, not for the others beside it."""
    outcome = race(*RACERS, max_rounds=1)
    broken = Path(outcome.path).parent / "mlp-mnist-0000"
    broken.mkdir()
    (broken / "comparison.json").write_text("{")
    with pytest.raises(StoreError, match=r"mlp-mnist-0000/comparison.json is damaged or of another version"):
        judge_comparison(broken)
    assert race(*RACERS, resume=True).path == outcome.path


def test_a_folder_that_is_no_comparison_is_told(tmp_path: Path) -> None:
    """Judging an empty folder names the file that is missing."""
    with pytest.raises(StoreError, match=r"cannot read .*comparison.json: No such file or directory"):
        judge_comparison(tmp_path)


def test_an_unwritable_results_directory_is_refused(race: Any, tmp_path: Path) -> None:
    """Where results cannot be written nothing is started: a file, a folder below a file, and a system's own folder."""
    (tmp_path / "taken").touch()
    for results in (tmp_path / "taken", tmp_path / "taken" / "below", Path("/proc/results")):
        with pytest.raises(UsageError, match=r"results directory .* cannot be written: .*; name another"):
            race(*RACERS, results=str(results))


def test_a_name_that_is_not_utf_8_is_refused(race: Any, request_of: Any, tmp_path: Path) -> None:
    """What no record could hold is refused before anything is written: a path, or a contender's interpreter."""
    odd = os.fsdecode(os.fsencode(str(tmp_path)) + b"/\xff\xfe")
    with pytest.raises(UsageError, match=r"is not UTF-8, and records are; use another name"):
        race(*RACERS, results=odd)
    Path(odd).symlink_to(sys.executable)
    with pytest.raises(UsageError, match=r"fake@.*is not UTF-8"):
        conductor.run(request_of(f"fake@{odd}"))
    assert not list(tmp_path.glob("results/*"))


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Mount a file system of three megabytes."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["/usr/bin/env", "mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("only root may mount a file system, and not everywhere")
    yield folder
    subprocess.run(["/usr/bin/env", "umount", "-l", str(folder)], check=True)


def fill(folder: Path) -> None:
    """Write until the disk is full, to the last byte."""
    with (folder / "filler").open("ab", buffering=0) as file, suppress(OSError):
        while file.write(b"x" * 4096) == 4096:
            pass


@pytest.mark.parametrize(
    ("moment", "launch"),
    [
        (Prepared, InlineWorker),
        (TrialStarted, InlineWorker),
        (ContenderActivity, InlineWorker),
        (RoundStarted, InlineWorker),
        (TrialStarted, ProcessWorker),
        (ContenderActivity, ProcessWorker),
    ],
)
def test_a_full_disk_ends_the_run_and_spoils_nothing(
    race: Any, small_disk: Path, moment: type[Event], launch: Any
) -> None:
    """When the disk fills up the run ends with one clear error; with room again, finished trials are gone on with."""
    finished: dict[Path, bytes] = {}

    def observe(event: Event) -> None:
        if isinstance(event, moment) and not (small_disk / "filler").exists():
            finished.update({path: path.read_bytes() for path in small_disk.glob("*/*/record.json")})
            fill(small_disk)

    asked = {"results": str(small_disk), "batch_size": 2, "launch": launch}
    with pytest.raises(StoreError, match=r"cannot .*: No space left on device"):
        race(*RACERS, observe=observe, **asked)
    (folder,) = small_disk.glob("mlp-mnist-*")
    assert len(finished) == (3 if moment is RoundStarted else 0)
    assert {path: path.read_bytes() for path in finished} == finished
    assert read_records(folder).damaged == []
    (small_disk / "filler").unlink()
    outcome: Outcome = race(*RACERS, resume=True, **asked)
    assert [(verdict.verdict, outcome.damaged) for verdict in outcome.verdicts] == [("faster", [])]
    assert {path: path.read_bytes() for path in finished} == finished


def test_a_disk_that_is_full_from_the_start_is_told(race: Any, small_disk: Path) -> None:
    """Where not even the batches fit, nothing is measured, and the folder is as it was."""
    fill(small_disk)
    with pytest.raises((StoreError, UsageError), match="No space left on device"):
        race(*RACERS, results=str(small_disk))
    assert [path.name for path in small_disk.iterdir()] == ["filler"]
