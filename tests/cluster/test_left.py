"""What is left of a study, whose task an element is now, and what a limit is from: without Slurm."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest
from tests.cluster.test_script import planned
from tests.cluster.test_status import BEGAN, COST, ended, study  # noqa: F401 - a fixture

from bakeoff.cluster import asked, controller, costs, plans, states, status
from bakeoff.cluster.asked import Answer
from bakeoff.cluster.collect import gather, reason_of
from bakeoff.cluster.controller import Task
from bakeoff.cluster.profile import read as profile_of
from bakeoff.cluster.states import ElementState
from bakeoff.cluster.submitting import hand_over
from bakeoff.spec.errors import StoreError
from bakeoff.store import studies
from bakeoff.store.locks import locked


def row(state: status.Kind, seconds: float = 0.0, comparison: str = "") -> status.ElementStatus:
    """Return the row of an element."""
    words = dict.fromkeys(("title", "task", "node", "reason", "log", "log_end"), "")
    return status.ElementStatus(element=0, state=state, seconds=seconds, comparison=comparison, attempts=1, **words)


@pytest.mark.parametrize(("at_once", "left_s"), [(None, 40.0), (2, 80.0), (9, 40.0)])
def test_a_throttle_makes_the_end_later(at_once: int | None, left_s: float) -> None:
    """Six that wait and four that run, half done, of 20 s each in the median, which one long element does not move."""
    done = [row("done", seconds) for seconds in (10.0, 20.0, 90.0)]
    rows = [*done, *[row("running")] * 4, *[row("waiting")] * 6]
    assert status.left_s(rows, at_once) == left_s


def test_an_element_belongs_to_the_array_that_it_was_handed_over_in_last(
    study: Path,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The second array begins at element 2, whose task is its first one."""
    arrays = [(0, "7", [0, 1, 2]), (2, "8", [0])]
    made = [
        plans.Submission(job=job, at=BEGAN.isoformat(), offset=offset, tasks=tasks) for offset, job, tasks in arrays
    ]
    plans.note_submissions(study, made)
    monkeypatch.setattr(controller, "queue", lambda jobs: {"8_0": Task(state="PENDING")})
    found = status.status_of(study, plans.read(study)).rows
    assert [one.task for one in found] == ["7_0", "7_1", "8_0"]


def test_accounting_is_asked_for_what_the_queue_has_forgotten_alone(
    study: Path,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Not for a failure that an element has told itself; and what the queue says now counts before an older end."""
    questions: list[list[str]] = []

    def accounted(jobs: list[str]) -> dict[str, Task]:
        questions.append(list(jobs))
        return {"7_1": Task(state="FAILED"), "7_2": Task(state="TIMEOUT")}

    monkeypatch.setattr(controller, "accounted", accounted)
    monkeypatch.setattr(controller, "queue", lambda jobs: {"7_2": Task(state="RUNNING")})

    def tasks_of(folder: Path, jobs: list[str]) -> Answer:
        return Answer(at=BEGAN.isoformat(), jobs=jobs, tasks=controller.queue(jobs))

    monkeypatch.setattr(asked, "tasks_of", tasks_of)
    assert [one.state for one in status.status_of(study, plans.read(study)).rows] == ["done", "failed", "running"]
    assert questions == []
    monkeypatch.setattr(controller, "queue", lambda jobs: {"7_1": Task(state="RUNNING")})
    assert [one.state for one in status.status_of(study, plans.read(study)).rows] == ["done", "running", "failed"]
    assert questions == [["7"]]


def test_an_elements_time_is_that_of_all_of_its_attempts(tmp_path: Path) -> None:
    """A requeue adds to it; and the end of a log is its last lines."""
    attempts = [*ended("7_0", 60.0).attempts, *ended("7_0", 30.0).attempts]
    assert ElementState(attempts=attempts).seconds == 90.0
    (tmp_path / "log").write_text("\n".join(map(str, range(50))))
    assert states.end_of(tmp_path / "log").splitlines() == [str(line) for line in range(30, 50)]


def test_no_link_in_the_place_of_a_log_is_followed(tmp_path: Path) -> None:
    """A study's folder may be a stranger's, and what lies elsewhere on this machine is not shown."""
    (tmp_path / "secret").write_text("mine alone")
    log = tmp_path / "study/slurm/logs/7_0.log"
    log.parent.mkdir(parents=True)
    log.symlink_to(tmp_path / "secret")
    assert states.log_of(tmp_path / "study", "7_0") is None
    assert states.end_of(log) == ""


@pytest.mark.parametrize("content", [b'["job.s', b"[1]", b"[]", b"\xff", None])
def test_a_damaged_list_of_scripts_is_told(tmp_path: Path, content: bytes | None) -> None:
    """Whatever stands there, or a pipe that would be waited for: nothing is handed to Slurm."""
    folder, plan = plans.begin(tmp_path, planned(profile_of(None)))
    listed = folder / "slurm/scripts.json"
    if content is None:
        os.mkfifo(listed)
    else:
        listed.write_bytes(content)
    with pytest.raises(StoreError, match=r"scripts\.json"):
        hand_over(folder, plan)


def test_unknown_work_in_an_array_keeps_its_hour() -> None:
    """One element that was never measured is enough: the limit is for all of them."""
    known, *_ = planned(profile_of(None)).elements
    unknown = msgspec.structs.replace(known, workload="somebody-elses")
    assert costs.limit_of([known, unknown], [COST]).seconds == costs.UNKNOWN_S


def test_costs_are_those_of_the_latest_comparisons(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of ten the eight that were begun last are read."""
    monkeypatch.setattr(costs, "every_comparison", lambda places: [Path(str(day)) for day in range(10)])
    monkeypatch.setattr(costs, "read_comparison", lambda folder: SimpleNamespace(created_at=f"2026-11-0{folder}"))
    monkeypatch.setattr(costs, "_cost", lambda folder, comparison: str(folder))
    assert costs.measured(Path("results")) == [str(day) for day in range(9, 1, -1)]


def test_a_collected_point_has_its_elements_title_and_its_own_reason(study: Path) -> None:  # noqa: F811
    """As its node looked it up it may be called otherwise; what has no comparison yet says so, and what has one not."""
    plan = plans.read(study)
    looked_up = msgspec.structs.replace(plans.named(plan.elements[0]), title="another")
    states.write(study, 0, ended("7_0", 60.0, ended="done", comparison="mlp-mnist-aaaa", point=looked_up))
    gather(study, plan, [row("done")] * 3)
    assert studies.read(study).study.points[0].title == "batch size 8"
    assert reason_of(row("waiting")) == "waiting: no comparison yet"
    assert reason_of(row("running", comparison="mlp-mnist-aaaa")) == ""


def test_a_collected_study_holds_what_the_nodes_have_looked_up(study: Path) -> None:  # noqa: F811
    """Of an element that has begun the request of its node, and of another one what its plan knows."""
    plan = plans.read(study)
    point = plans.named(plan.elements[0])
    asked_for = msgspec.structs.replace(point, request=msgspec.structs.replace(point.request, batch_size=8))
    states.write(study, 0, ended("7_0", 60.0, ended="done", comparison="mlp-mnist-aaaa", point=asked_for))
    gather(study, plan, [row("done")] * 3)
    known = studies.read(study).study.points
    assert [one.request.batch_size for one in known] == [8, None, None]


def test_a_study_that_is_in_use_is_not_collected(study: Path) -> None:  # noqa: F811
    """What another process writes at that time is not lost."""
    before = studies.read(study)
    with locked(study, "study"), pytest.raises(StoreError, match="in use by another bakeoff"):
        gather(study, plans.read(study), [row("done")] * 3)
    assert studies.read(study) == before


@pytest.mark.parametrize("state", ["cancelled", "not submitted", "running", "waiting"])
def test_what_has_not_failed_says_what_it_is(state: status.Kind) -> None:
    """Whatever Slurm's reason for that is: an element without a comparison is called what it is."""
    one = msgspec.structs.replace(row(state), reason="Slurm says so")
    assert reason_of(one) == f"{state}: no comparison yet"


def test_a_failure_ends_with_the_last_words_of_its_log() -> None:
    """Three lines, without their indentation; of a log that says nothing the reason stands alone."""
    failed = msgspec.structs.replace(row("failed"), reason="it died")
    assert reason_of(failed) == "it died"
    log_end = "one\ntwo\n  three\n  four  \nfive\n"
    assert reason_of(msgspec.structs.replace(failed, log_end=log_end)) == "it died; its log ends: three / four / five"
