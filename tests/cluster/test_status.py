"""How far a study is, by what is on disk and what Slurm says: without Slurm."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.cluster.test_script import planned

from bakeoff.cluster import asked, controller, costs, plans, states, status, submitting, unpaired
from bakeoff.cluster.collect import gather
from bakeoff.cluster.controller import SlurmError, Task
from bakeoff.cluster.profile import read as profile_of
from bakeoff.cluster.states import ElementState, JobRun
from bakeoff.spec.errors import UsageError
from bakeoff.spec.verdict import Interval
from bakeoff.store import studies

BEGAN = datetime(2026, 11, 23, tzinfo=UTC)
SAID = "7|0|RUNNING|None|gpu01\n7|1|PENDING|Resources|\n7|2|TIMEOUT|TimeLimit|gpu02\n8|N/A|PENDING|None\n"


def ended(task: str, seconds: float, **fields: object) -> ElementState:
    """Return the state of an element whose one attempt took so long."""
    end = BEGAN + timedelta(seconds=seconds)
    one = JobRun(task=task, node="gpu01", began_at=BEGAN.isoformat(), ended_at=end.isoformat())
    return ElementState(attempts=[one], **fields)


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """Return the folder of a study of three elements, submitted as array 7: done, failed, and not begun."""
    folder, made = plans.begin(tmp_path, planned(profile_of(None)))
    plans.note_submissions(folder, [plans.Submission(job="7", at=BEGAN.isoformat(), tasks=[0, 1, 2])])
    states.write(folder, 0, ended("7_0", 60.0, ended="done", comparison="mlp-mnist-aaaa"))
    states.write(folder, 1, ended("7_1", 5.0, ended="failed", reason="no contender can race"))
    (folder / "slurm/logs/7_1.log").write_text("one\nno contender can race\n")
    assert plans.read(folder) == made
    return folder


@pytest.fixture
def queue(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Return the questions that the controller was asked; it answers SAID."""
    questions: list[list[str]] = []

    def answer(jobs: list[str]) -> dict[str, Task]:
        questions.append(list(jobs))
        return controller.parsed(SAID)

    monkeypatch.setattr(controller, "queue", answer)
    monkeypatch.setattr(controller, "accounted", lambda jobs: {})
    return questions


def test_what_squeue_says_is_read() -> None:
    """One line a task; a line that is no task's is passed over."""
    found = controller.parsed(SAID)
    assert found["7_0"] == Task(state="RUNNING", node="gpu01")
    assert (found["7_1"].reason, found["7_2"].state, len(found)) == ("Resources", "TIMEOUT", 3)


def test_the_controller_is_asked_once_in_some_seconds(study: Path, queue: list[list[str]]) -> None:
    """Whoever asks again within 5 seconds gets the answer that is there; a study that is done asks nobody."""
    rows = [status.status_of(study, plans.read(study)).rows for _ in range(3)]
    assert queue == [["7"]]
    assert rows[0] == rows[2]
    for number in (1, 2):
        states.write(study, number, ElementState(ended="done"))
    assert status.status_of(study, plans.read(study)).asked_at == ""
    assert len(queue) == 1


@pytest.mark.usefixtures("queue")
def test_each_element_has_its_state_and_its_reason(study: Path) -> None:
    """What is on disk counts first; of what could not say it itself Slurm does."""
    found = status.status_of(study, plans.read(study))
    assert [row.state for row in found.rows] == ["done", "waiting", "failed"]
    assert found.rows[2].reason == "it reached its time limit (--time), and was not begun again (Slurm says TimeLimit)"
    assert (found.count("done"), found.left_s) == (1, None)


KINDS = [
    (ElementState(ended="done"), "7_0", Task(state="FAILED"), {}, "done"),
    (ElementState(ended="interrupted"), "7_0", Task(state="PENDING", reason="BeginTime"), {}, "waiting"),
    (ElementState(ended="failed"), "7_0", Task(state="RUNNING"), {}, "running"),
    (ElementState(ended="failed"), "7_0", Task(state="FAILED"), {}, "failed"),
    (ElementState(), "7_0", Task(state="CANCELLED"), {}, "cancelled"),
    (ElementState(), "7_0", None, {"is_cancelled": True}, "cancelled"),
    (ElementState(), "", None, {}, "not submitted"),
    (ElementState(), "7_0", None, {"is_deaf": True}, "waiting"),
    (ElementState(attempts=[JobRun(task="7_0", node="n", began_at="")]), "7_0", None, {"is_deaf": True}, "running"),
    (ElementState(), "7_0", None, {}, "failed"),
    (ElementState(), "7_0", Task(state="NODE_FAIL"), {}, "failed"),
]


@pytest.mark.parametrize(("state", "task", "heard", "more", "kind"), KINDS)
def test_a_state_follows_from_disk_and_queue(
    state: ElementState, task: str, heard: Task | None, more: dict[str, bool], kind: str
) -> None:
    """Each combination has one answer, and every failure a reason unless the element has given its own."""
    found, reason = status.kind_of(state, task, heard, **more)
    assert found == kind
    assert bool(reason) or kind != "failed" or state.ended == "failed"


def test_a_controller_that_does_not_answer_is_no_error(study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is on disk is told, and why the rest is not known."""

    def refuse(jobs: list[str]) -> dict[str, Task]:
        msg = "squeue: Unable to contact slurm controller"
        raise SlurmError(msg)

    monkeypatch.setattr(controller, "queue", refuse)
    found = status.status_of(study, plans.read(study))
    assert [row.state for row in found.rows] == ["done", "failed", "waiting"]
    assert "Unable to contact" in found.unheard


def test_the_end_is_foreseen_from_what_is_done(study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the median of what is done, half of it for what runs, and as many at once as now."""
    said = {"7_1": Task(state="RUNNING"), "7_2": Task(state="PENDING")}
    monkeypatch.setattr(controller, "queue", lambda jobs: said)
    assert status.status_of(study, plans.read(study)).left_s == pytest.approx(1.5 * 60.0)


@pytest.mark.usefixtures("queue")
def test_a_collected_study_has_every_failure(study: Path) -> None:
    """study.json names each comparison, and of a failure the reason with the end of its log; again and again."""
    for _ in range(2):
        gather(study, plans.read(study), status.status_of(study, plans.read(study)).rows)
    known = studies.read(study)
    assert known.states[0].comparison == "mlp-mnist-aaaa"
    assert [point.title for point in known.study.points] == ["batch size 8", "batch size 16", "batch size 32"]
    assert known.states[2].reason.startswith("it reached its time limit")


def test_a_script_that_was_submitted_by_hand_is_known_by_its_element(study: Path, queue: list[list[str]]) -> None:
    """An element's own note has its task, which Slurm is asked for as well."""
    states.write(study, 2, ElementState(attempts=[JobRun(task="9_2", node="gpu01", began_at=BEGAN.isoformat())]))
    plans.note_submissions(study, [])
    assert status.status_of(study, plans.read(study)).rows[2].task == "9_2"
    assert queue == [["7", "9"]]


def test_nothing_left_is_told(study: Path) -> None:
    """A study that is done is not submitted again."""
    for number in range(3):
        states.write(study, number, ElementState(ended="done"))
    with pytest.raises(UsageError, match=r"nothing of .* is left to submit"):
        submitting.hand_over(study, plans.read(study))


def test_a_folder_without_jobs_is_told(tmp_path: Path) -> None:
    """The message says which folder is meant."""
    with pytest.raises(UsageError, match="holds no jobs"):
        plans.read(tmp_path)


COST = costs.ComparisonCost("mlp-mnist-aaaa", 600.0, 2, "mlp-mnist", frozenset({"fake", "other"}))


def test_a_time_limit_is_from_what_was_measured() -> None:
    """Twice the share of as many contenders, and the start; unknown work has an hour, and says so."""
    elements = planned(profile_of(None)).elements
    assert costs.limit_of(elements, [COST]).seconds == 2 * 300.0 + 300.0
    assert "mlp-mnist-aaaa" in costs.limit_of(elements, [COST]).why
    assert costs.limit_of(elements, []).seconds == costs.UNKNOWN_S
    stranger = costs.ComparisonCost("x", 1.0, 1, "mlp-mnist", frozenset({"other"}))
    assert costs.limit_of(elements, [stranger]).seconds == costs.UNKNOWN_S


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (0.97, 1.03, "equal"),
        (1 / 1.05, 1.05, "equal"),
        (0.951, 1.01, "undecided"),
        (0.5, 0.9, "faster"),
        (1.1, 1.2, "slower"),
        (0.9, 1.2, "undecided"),
    ],
)
def test_an_unpaired_ratio_has_the_verdict_of_its_interval(low: float, high: float, verdict: str) -> None:
    """Equal within the margin, which is the same share either way round, else whether it leaves 1 out."""
    assert unpaired.verdict_of(Interval(estimate=1.0, low=low, high=high), 0.05) == verdict


def test_an_old_answer_is_not_taken_for_other_arrays(study: Path, queue: list[list[str]]) -> None:
    """A new submission is asked for at once."""
    asked.tasks_of(study, ["7"])
    asked.tasks_of(study, ["7", "8"])
    assert queue == [["7"], ["7", "8"]]
