"""A soak: comparisons whose parents and workers are killed at random, until so many trials have finished.

    python benchmarks/soak.py [--trials 500] [--seed 1] [--output benchmarks/results/soak]

Two parents at a time share one results directory, each with a comparison of the scripted framework. In many
lives of a parent a worker, and in most the parent itself, is killed by SIGKILL after a random time; then the next life
resumes. After each life: every trial that had finished is still there, byte for byte, every record can be read, no
process is left, and a parent that was not killed has ended well. Then one comparison meets a full disk (as root, who
may mount one), and one a wall clock that jumps by hours at every reading.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
from results import write

from bakeoff.spec.errors import StoreError
from bakeoff.store.files import read_comparison
from bakeoff.store.results import is_done_again, read_records

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LANES = 2
CONTENDERS = ("fake:process_noise=0.2", "fake:process_noise=0.2")
ROUNDS = 12
"""So noisy that no pair is settled before: a comparison is of about 30 trials."""

SHORT = 5
"""Rounds of the comparison on a full disk."""

LONGEST_LIFE_S = 3.0
PARENT_KILLED, WORKER_KILLED = 0.7, 0.4
"""The share of lives that end by killing the parent, and of those in which a worker is killed."""

DEADLINE_S = 60.0
"""What is waited for takes a second or two."""

DRIVER = """
import json, sys
from bakeoff.race.conductor import run
from bakeoff.spec.request import Request
run(Request(**json.loads(sys.argv[1])), probe_s=0.001)
"""

JUMPING = """
import datetime, os, random, time
jumps = random.Random(os.getpid())
now, whole = time.time, datetime.datetime
class Jumping(whole):
    @classmethod
    def now(cls, tz=None):
        return whole.fromtimestamp(time.time(), tz)
time.time = lambda: now() + jumps.uniform(-36000, 36000)
time.time_ns = lambda: int(time.time() * 1e9)
datetime.datetime = Jumping
with open(os.environ["JUMPED"], "a") as file:
    file.write("x")
"""


def asked(results: Path, seed: int, **others: Any) -> dict[str, Any]:
    """Give the fields of a comparison's request."""
    fields = {"workload": "mlp-mnist", "size": "reduced", "data": "synthetic", "contenders": CONTENDERS}
    return fields | {"results": str(results), "seed": seed, "aim": "until-sure", "max_rounds": ROUNDS} | others


@contextmanager
def parent(cwd: Path, request: dict[str, Any], **variables: str) -> Iterator[subprocess.Popen[str]]:
    """Start a parent in a directory of its own, which its workers inherit and are found by."""
    command = [sys.executable, "-c", DRIVER, json.dumps(request)]
    home = os.environ | {"BAKEOFF_HOME": str(cwd / "home")}
    with (
        (cwd / "parent.log").open("w") as log,
        subprocess.Popen(
            command, cwd=cwd, stdout=log, stderr=log, text=True, start_new_session=True, env=home | variables
        ) as process,
    ):
        try:
            yield process
        finally:
            process.kill()


def running_in(cwd: Path) -> list[psutil.Process]:
    """Find the processes whose working directory this is."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.cwd() == str(cwd) and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
    return found


def until(is_so: Callable[[], Any], what: str) -> Any:
    """Wait until something is so, and give it."""
    deadline = time.monotonic() + DEADLINE_S
    while not (found := is_so()):
        assert time.monotonic() < deadline, f"still not so after {DEADLINE_S:g} s: {what}"
        time.sleep(0.02)
    return found


def comparison_of(results: Path, seed: int) -> Path | None:
    """Find the comparison with this seed, if its file was written already."""
    for folder in results.glob("mlp-mnist-*"):
        with suppress(StoreError):
            if read_comparison(folder).procedure.seed == seed:
                return folder
    return None


def finished(folder: Path | None) -> dict[Path, bytes]:
    """Return every record that stays when the comparison goes on: not those of trials that are then done again."""
    if folder is None:
        return {}
    again = {name for name, record in read_records(folder).records.items() if is_done_again(record)}
    return {path: path.read_bytes() for path in folder.glob("*/record.json") if path.parent.name not in again}


def check(folder: Path | None, before: dict[Path, bytes]) -> dict[Path, bytes]:
    """Hold a comparison to what had finished in it; give what has finished now."""
    now = finished(folder)
    lost = [str(path) for path, content in before.items() if now.get(path) != content]
    assert not lost, f"finished trials were lost: {lost}"
    if folder is not None:
        found = read_records(folder)
        assert not found.damaged, found.damaged
        assert {path.parent.name for path in now} <= found.records.keys()
    return now


class Lane:
    """One parent after another, on a results directory that it shares."""

    def __init__(self, folder: Path, results: Path, number: int, seed: int) -> None:
        """Take a working directory of its own."""
        self._cwd = folder / f"lane-{number}"
        self._cwd.mkdir()
        self._results = results
        self._seed = 1000 * (number + 1)
        self._random = random.Random(f"{seed}/{number}")  # noqa: S311 - moments
        self._before: dict[Path, bytes] = {}
        self.counts: Counter[str] = Counter()

    def run(self, trials: int) -> None:
        """Live until so many trials have finished."""
        while self.counts["trials that finished"] < trials:
            self._live()

    def _live(self) -> None:
        """Let one parent live until it is killed or ends; check what it leaves."""
        folder = comparison_of(self._results, self._seed)
        with parent(self._cwd, asked(self._results, self._seed, resume=folder is not None)) as process:
            self._wait(process)
            if self._is_drawn(WORKER_KILLED):
                self._kill_a_worker(process)
            self._wait(process)
            if self._is_drawn(PARENT_KILLED) and process.poll() is None:
                process.kill()
                self.counts["parents killed"] += 1
            code = process.wait(timeout=DEADLINE_S)
        said = (self._cwd / "parent.log").read_text()
        assert code in (0, -signal.SIGKILL), f"a parent ended with {code}: {said}"
        until(lambda: not running_in(self._cwd), "no process is left")
        now = check(comparison_of(self._results, self._seed), self._before)
        self.counts["trials that finished"] += len(now) - len(self._before)
        self.counts["lives of parents"] += 1
        self._before = now
        if code == 0:
            self.counts["comparisons"] += 1
            self._seed, self._before = self._seed + 1, {}

    def _wait(self, process: subprocess.Popen[str]) -> None:
        """Wait a random time, or until the parent has ended."""
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=self._random.uniform(0.0, LONGEST_LIFE_S / 2))

    def _is_drawn(self, share: float) -> bool:
        """Draw whether something is killed; in the first life all is."""
        return self._random.random() < share or not self.counts["lives of parents"]

    def _kill_a_worker(self, conductor: subprocess.Popen[str]) -> None:
        """Kill the first worker that is there before its parent ends."""
        while conductor.poll() is None:
            for process in running_in(self._cwd):
                with suppress(psutil.Error):
                    if any("bootstrap.py" in word for word in process.cmdline()):
                        process.kill()
                        self.counts["workers killed"] += 1
                        return
            time.sleep(0.02)


def kill_at_random(folder: Path, trials: int, seed: int) -> Counter[str]:
    """Soak until so many trials have finished; give what was counted."""
    results = folder / "results"
    results.mkdir()
    lanes = [Lane(folder, results, number, seed) for number in range(LANES)]
    with ThreadPoolExecutor(LANES) as pool:
        for lane in [pool.submit(lane.run, -(-trials // LANES)) for lane in lanes]:
            lane.result()
    return sum((lane.counts for lane in lanes), Counter())


def fill_the_disk(folder: Path) -> Counter[str] | None:
    """Run a comparison on a disk that becomes full, and resume it when there is room; None where none can be made."""
    disk, cwd = folder / "disk", folder / "cwd"
    disk.mkdir()
    cwd.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", str(disk)]
    mounted = subprocess.run(command, check=False, capture_output=True)
    if mounted.returncode:
        return None
    try:
        results = disk / "results"
        with parent(cwd, asked(results, 1, max_rounds=SHORT)) as process:
            until(lambda: len(finished(comparison_of(results, 1))) > 4, "trials have finished")
            with suppress(OSError), (disk / "ballast").open("wb", buffering=0) as ballast:
                while True:
                    ballast.write(bytes(4096))
            code = process.wait(timeout=DEADLINE_S)
        assert code not in (0, -signal.SIGKILL), "a full disk was not noticed"
        assert "No space left" in (cwd / "parent.log").read_text(), (cwd / "parent.log").read_text()
        until(lambda: not running_in(cwd), "no process is left")
        before = check(comparison_of(results, 1), {})
        (disk / "ballast").unlink()
        with parent(cwd, asked(results, 1, max_rounds=SHORT, resume=True)) as process:
            assert process.wait(timeout=DEADLINE_S) == 0, (cwd / "parent.log").read_text()
        now = check(comparison_of(results, 1), before)
        return Counter({"trials before the disk was full": len(before), "after it had room": len(now) - len(before)})
    finally:
        command = ["umount", str(disk)]
        subprocess.run(command, check=True)


def jump(folder: Path) -> Counter[str]:
    """Run a comparison whose processes see another wall clock at each reading; no limit and no duration may notice."""
    cwd, results = folder / "jumping", folder / "jumping-results"
    cwd.mkdir()
    (cwd / "sitecustomize.py").write_text(JUMPING)
    jumped = cwd / "jumped"
    request = asked(results, 1, max_rounds=3, budget_s=DEADLINE_S, trial_limit_s=DEADLINE_S)
    began = time.monotonic()
    with parent(cwd, request, PYTHONPATH=str(cwd), JUMPED=str(jumped)) as process:
        assert process.wait(timeout=DEADLINE_S) == 0, (cwd / "parent.log").read_text()
    most_ns = (time.monotonic() - began) * 1e9
    found = comparison_of(results, 1)
    assert found is not None
    records = read_records(found).records.values()
    assert {record.outcome for record in records} == {"done"}
    assert max(record.trial.round_number for record in records) == request["max_rounds"]
    for record in records:
        for duration_ns in (record.start_ns, record.import_ns, record.build_ns):
            assert duration_ns is None or 0 <= duration_ns < most_ns
        assert all(0 < block.signals.wall_ns < most_ns for block in record.blocks)
    # The parent read the jumping clock, and every worker; a self-test may have been taken over from an earlier trial.
    processes = jumped.stat().st_size
    started = sum(record.trial.purpose != "selftest" for record in records)
    assert processes > started, f"{processes} processes for {started} trials"
    return Counter({"trials under a jumping clock": len(records)})


def soak(folder: Path, trials: int, seed: int) -> list[dict[str, Any]]:
    """Do all of it; give the rows of the table."""
    began = time.monotonic()
    counts: dict[str, int] = dict(kill_at_random(folder, trials, seed))
    counts["seconds"] = round(time.monotonic() - began)
    full = fill_the_disk(folder)
    counts |= full or {}
    counts |= jump(folder)
    counts |= {"finished trials lost": 0, "records damaged": 0, "processes left": 0}
    rows = [{"what": what, "count": count} for what, count in counts.items()]
    return rows if full else [*rows, {"what": "full disk", "count": "not here: it takes root to mount one"}]


def main() -> None:
    """Soak, print the table and write it; the first harm ends it with an error."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = soak(Path(folder).resolve(), options.trials, options.seed)
    write(rows, __doc__ or "", options.output)


if __name__ == "__main__":
    main()
