"""Studies on a real Slurm: arrays, failures, time limits, cancelling, requeue, a node that goes down, GPUs."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.cluster.conftest import LIMIT_S, SLOW_S
from tests.cluster.test_words import documented, keys
from tests.drawn import is_all

from bakeoff.cli import FAILED, MISUSED

if TYPE_CHECKING:
    from tests.cluster.conftest import Cluster

pytestmark = pytest.mark.slow

ELEMENTS = int(os.environ.get("BAKEOFF_SLURM_ELEMENTS", "4"))
"""BAKEOFF_SLURM_ELEMENTS=1000 BAKEOFF_SLURM_ARRAY=1001 is the long form of what the tests do."""

GPUS = {"sees GPU 0", "sees GPU 1"}
WORK = ("run", "mlp-mnist", "fake", "--size", "reduced", "--data", "synthetic", "--rounds", "2")


def comparisons(folder: Path) -> list[Path]:
    """Return the folders of all comparisons of a study."""
    return [path.parent for path in folder.glob("*/comparison.json")]


def attempts(folder: Path) -> int:
    """Return how often the first element was begun."""
    state: dict[str, Any] = json.loads((folder / "slurm/elements/00000/state.json").read_text())
    return len(state["attempts"])


def held(cluster: Cluster, *words: str) -> tuple[Path, str]:
    """Submit one comparison and wait until it is in the middle; return the study's folder and the job."""
    Path("hold").touch()
    folder = cluster.submit(*words, *WORK)
    cluster.until(Path("held").exists)
    Path("held").unlink()
    (submitted,) = json.loads((folder / "slurm/submitted.json").read_text())
    return folder, f"{submitted['job']}_0"


@pytest.mark.timeout(240.0 if ELEMENTS < 20 else SLOW_S)
def test_every_element_of_an_array_is_collected_once(cluster: Cluster) -> None:
    """Every comparison of a study is run once, over several arrays where a site's are short, and none is lost."""
    sizes = [str(8 + number) for number in range(ELEMENTS)]
    folder = cluster.submit("--at-once", "2", *WORK, "--batch-size", ",".join(sizes))
    cluster.until_idle(LIMIT_S if ELEMENTS < 20 else SLOW_S)
    said = cluster.cli("slurm", "collect", str(folder), "--json")
    assert said.code == 0
    told = json.loads(said.out)
    assert told["counts"]["done"] == ELEMENTS
    assert (told["left_s"], told["unheard"]) == (0.0, "")
    made = [json.loads((path / "comparison.json").read_text())["batch_size"] for path in comparisons(folder)]
    assert Counter(made) == Counter(map(int, sizes))
    study = json.loads((folder / "study.json").read_text())
    assert sorted(one["comparison"] for one in study["states"]) == sorted(path.name for path in comparisons(folder))
    assert not any(one["reason"] for one in study["states"])
    assert cluster.cli("slurm", "submit", str(folder)).code == MISUSED


def test_a_failure_is_an_outcome_with_the_end_of_its_log(cluster: Cluster) -> None:
    """A contender that fails, and a process that is killed, are told with the reason and the end of the log."""
    folder = cluster.submit(*WORK, "--option", "fault=raise,kill")
    cluster.until_idle()
    said = cluster.cli("slurm", "collect", str(folder), "--json")
    assert said.code == FAILED
    failed, killed = json.loads(said.out)["elements"]
    assert [failed["state"], killed["state"]] == ["failed", "failed"]
    assert "it has no answer; fake: " in failed["reason"]
    assert "certify-fake" in failed["log_end"]
    assert killed["reason"] == "its job was ended in the middle of the comparison"
    assert "records in " in killed["log_end"]
    points = json.loads((folder / "study.json").read_text())["states"]
    assert all("its log ends: " in point["reason"] for point in points)
    assert "its job was ended in the middle" in cluster.cli("slurm", "status", str(folder)).out


def test_a_time_limit_and_a_lost_node_go_on_where_they_were(cluster: Cluster) -> None:
    """Before the limit the element is stopped and begun again, as where its node goes down; no trial is repeated."""
    folder, job = held(cluster)
    (comparison,) = comparisons(folder)
    first = (comparison / "r01-fake/record.json").stat().st_mtime_ns
    cluster.node.ask("scancel", "--signal=USR1", "--batch", job)
    cluster.begin_now(job)
    cluster.until(Path("held").exists)
    Path("held").unlink()
    cluster.node.ask("scontrol", "update", f"NodeName={cluster.node.host}", "State=DOWN", "Reason=test")
    cluster.until(lambda: "PENDING" in cluster.node.ask("squeue", "-h", "-o", "%T"))
    assert cluster.status(folder)["counts"]["waiting"] == 1
    cluster.begin_now(job)
    Path("hold").unlink()
    cluster.until_idle()
    (row,) = cluster.status(folder)["elements"]
    assert (row["state"], row["attempts"], row["comparison"]) == ("done", 3, comparison.name)
    assert (comparison / "r01-fake/record.json").stat().st_mtime_ns == first


def test_what_is_cancelled_goes_on_when_it_is_submitted_again(cluster: Cluster) -> None:
    """`cancel` ends what runs, `status` says so, and `submit` of the folder goes on with the same comparison."""
    folder, _ = held(cluster)
    assert cluster.status(folder)["counts"]["running"] == 1
    assert "cancelled" in cluster.cli("slurm", "cancel", str(folder)).out
    cluster.until_idle()
    assert cluster.status(folder)["counts"]["cancelled"] == 1
    Path("hold").unlink()
    assert cluster.cli("slurm", "submit", str(folder)).code == 0
    cluster.until_idle()
    (row,) = cluster.status(folder)["elements"]
    assert (row["state"], row["attempts"]) == ("done", 2)
    assert [path.name for path in comparisons(folder)] == [row["comparison"]]


def test_each_contender_alone_is_unpaired(cluster: Cluster) -> None:
    """The pipeline's scripts have its names, each job has a GPU of its own, and no record claims to be a pair."""
    seen = ("--gpus", "fake", "--cpus", "1", "--setup", 'echo "sees GPU $CUDA_VISIBLE_DEVICES"')
    work = ("--benchmark", "mnist", "--use-case", "1", "fake", "fake:step_ms=2", *WORK[3:-1], "3")
    Path("hold").touch()
    folder = cluster.submit("--split", "frameworks", *seen, *work)
    assert {path.name for path in Path("slurm_scripts").iterdir()} == {"fake_mnist_1.sh", "fake-step-ms-2_mnist_1.sh"}
    logs = folder / "slurm/logs"
    cluster.until(lambda: {line for log in logs.iterdir() for line in log.read_text().splitlines()} >= GPUS)
    Path("hold").unlink()
    cluster.until_idle()
    said = cluster.cli("slurm", "collect", str(folder), "--json")
    told = json.loads(said.out)
    assert keys(told) == documented()
    (pair,) = told["across"]
    assert (pair["first"], pair["second"], pair["verdict"]) == ("fake", "fake:step_ms=2", "faster")
    notices = [json.loads((path / "comparison.json").read_text())["notices"][0] for path in comparisons(folder)]
    assert all(one.startswith("unpaired: ") for one in notices)


@pytest.mark.skipif(not is_all(), reason="takes two minutes: BAKEOFF_TESTS=all runs it")
def test_the_limit_itself_begins_an_element_again(cluster: Cluster) -> None:
    """Slurm's own signal before the limit, without anybody's help, ends in a job that waits to go on."""
    folder, job = held(cluster, "--time", "3m")
    cluster.until(lambda: "PENDING" in cluster.node.ask("squeue", "-h", "-o", "%T"), 180.0)
    assert attempts(folder) == 1
    Path("hold").unlink()
    cluster.begin_now(job)
    cluster.until_idle()
    assert cluster.status(folder)["counts"]["done"] == 1
