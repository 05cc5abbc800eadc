"""All studies one after another, in this process and in virtual time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NoReturn

import msgspec
import pytest
from tests.race.inline import InlineWorker
from tests.study.conftest import NO_PROBE_S
from tests.study.test_reproduce import published

from bakeoff.race.progress import Event, PointStarted, StudyEvent, StudyObserver, StudyStarted, silent
from bakeoff.spec.errors import StoreError
from bakeoff.spec.published import PublishedStudy
from bakeoff.spec.study import Study
from bakeoff.study.every import STATE_FILE, Every, EveryRun, in_order
from bakeoff.study.published import load, names
from bakeoff.study.reproduction import declare
from bakeoff.study.run import OUT_OF_TIME

pytestmark = pytest.mark.slow


def study(
    name: str, document: str, minutes: float = 1.0, contenders: tuple[str, str] = ("fake", "fake:step_ms=2")
) -> PublishedStudy:
    """Give a small study of a document with two rows."""
    given = published()
    rows = tuple(
        msgspec.structs.replace(row, contender=text, on_cpu=text)
        for row, text in zip(given.rows[:2], contenders, strict=True)
    )
    (declared,) = given.comparisons
    smaller = msgspec.structs.replace(declared, figures=declared.figures[:2])
    return msgspec.structs.replace(
        given,
        id=name,
        document=msgspec.structs.replace(given.document, name=document),
        minutes=minutes,
        rows=rows,
        comparisons=(smaller,),
    )


def quick(published_study: PublishedStudy) -> Study:
    """Give a study as it is run here, without what takes time and is not of interest."""
    declared = declare(published_study, device="cpu")
    points = [
        msgspec.structs.replace(point, request=msgspec.structs.replace(point.request, self_test=False))
        for point in declared.points
    ]
    return msgspec.structs.replace(declared, points=points)


def ran(
    wanted: list[PublishedStudy],
    results: Path,
    *,
    observe: StudyObserver = silent,
    resume: bool = False,
    budget_s: float | None = None,
) -> Every:
    """Run studies."""
    running = EveryRun(wanted, quick, results=results, resume=resume, budget_s=budget_s)
    try:
        return running.run(lambda _number, _study: observe, launch=InlineWorker, probe_s=NO_PROBE_S)
    except KeyboardInterrupt:
        return running.every


def test_every_document_has_its_turn_before_one_has_a_second() -> None:
    """The order goes round over the documents, and of each the shortest study comes first."""
    wanted = [
        study("a-long", "a", 9),
        study("a-short", "a", 2),
        study("a-middle", "a", 5),
        study("b-long", "b", 8),
        study("b-short", "b", 3),
        study("c", "c", 60),
    ]
    assert [one.id for one in in_order(wanted)] == ["a-short", "b-short", "c", "a-middle", "b-long", "a-long"]


def test_every_shipped_study_is_among_all() -> None:
    """No study is lost on the way, and as many come first as there are documents."""
    shipped = [load(name) for name in names()]
    found = in_order(shipped)
    assert sorted(one.id for one in found) == names()
    documents = {one.document.name for one in shipped}
    assert {one.document.name for one in found[: len(documents)]} == documents


def test_one_that_fails_ends_no_other(tmp_path: Path) -> None:
    """Studies without a certificate, without memory, or of what is not here, tell their reasons; the rest is run."""
    wanted = [
        study("wrong", "a", 1, ("fake:wrong=loss", "fake:wrong=loss,step_ms=2")),
        study("good", "b", 2),
        study("absent", "c", 3, ("not-here", "not-here")),
        study("too-large", "d", 4),
    ]
    (declared,) = wanted[3].comparisons
    scaled = msgspec.structs.replace(declared.scaled, batch_size=100_000_000)
    wanted[3] = msgspec.structs.replace(wanted[3], comparisons=(msgspec.structs.replace(declared, scaled=scaled),))
    every = ran(wanted, tmp_path)
    told = {one.name: one for one in every.studies}
    assert {name: one.ended for name, one in told.items()} == {
        "wrong": "failed",
        "good": "done",
        "absent": "not here",
        "too-large": "failed",
    }
    assert "no framework 'not-here'" in told["absent"].reason
    assert told["too-large"].reason
    assert "nobody was ranked" in told["wrong"].reason
    assert (told["good"].done, told["good"].comparisons) == (1, 1)
    assert Path(told["good"].path, "study.json").is_file()
    assert json.loads((tmp_path / STATE_FILE).read_text()) == json.loads(msgspec.json.encode(every))


def test_a_study_that_cannot_be_written_ends_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error of the disk in one study is its outcome."""
    from bakeoff.study import run

    real = run.new_folder

    def full(results: Path, stem: str) -> Path:
        if stem == "first":
            msg = "cannot make it: No space left on device"
            raise StoreError(msg)
        return real(results, stem)

    monkeypatch.setattr(run, "new_folder", full)
    every = ran([study("first", "a", 1), study("second", "b", 2)], tmp_path)
    assert [(one.ended, one.reason[:14]) for one in every.studies] == [("failed", "cannot make it"), ("done", "")]


@pytest.mark.by_turns
def test_an_interrupt_keeps_what_is_finished_and_resume_goes_on(tmp_path: Path) -> None:
    """After Ctrl-C in the second study the first is done, the others are left; --resume runs those alone."""

    def interrupt(event: StudyEvent | Event) -> None:
        if isinstance(event, StudyStarted) and event.study.name == "b":
            raise KeyboardInterrupt

    wanted = [study("a", "a", 1), study("b", "b", 2), study("c", "c", 3)]
    every = ran(wanted, tmp_path, observe=interrupt)
    assert [one.ended for one in every.studies] == ["done", "left", "left"]
    assert every.studies[1].reason == "interrupted"
    assert json.loads((tmp_path / STATE_FILE).read_text())["studies"][0]["ended"] == "done"
    started: list[PointStarted] = []

    def note(event: StudyEvent | Event) -> None:
        if isinstance(event, PointStarted):
            started.append(event)

    on = ran(wanted, tmp_path, resume=True, observe=note)
    assert [one.ended for one in on.studies] == ["done", "done", "done"]
    assert len(started) == 2
    assert len(list(tmp_path.glob("*/study.json"))) == 3


def test_a_study_without_time_has_as_many_comparisons_as_it_would_have_here(tmp_path: Path) -> None:
    """What the scaled variant leaves out is not counted as left."""
    given = study("a", "a")
    (declared,) = given.comparisons
    full_alone = msgspec.structs.replace(declared, name="at full size alone", scaled=None)
    both = msgspec.structs.replace(given, comparisons=(declared, full_alone))
    (state,) = ran([both], tmp_path, budget_s=1e-9).studies
    assert (state.ended, state.done, state.comparisons) == ("left", 0, 1)


@pytest.mark.parametrize("error", [StoreError("study.json is damaged"), PermissionError(13, "Permission denied")])
def test_what_cannot_be_read_at_an_interrupt_hides_nothing_that_is_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    """Where the folder of the study that Ctrl-C ended cannot be read, that is told in words beside those finished."""

    def unreadable(_folder: Path) -> NoReturn:
        raise error

    def interrupt(event: StudyEvent | Event) -> None:
        if isinstance(event, StudyStarted) and event.study.name == "b":
            monkeypatch.setattr("bakeoff.study.every.judge_study", unreadable)
            raise KeyboardInterrupt

    every = ran([study("a", "a", 1), study("b", "b", 2)], tmp_path, observe=interrupt)
    assert [one.ended for one in every.studies] == ["done", "left"]
    assert every.studies[1].reason == f"interrupted; what is finished of it cannot be read: {error}"
    assert json.loads((tmp_path / STATE_FILE).read_text()) == json.loads(msgspec.json.encode(every))


@pytest.mark.by_turns
def test_a_budget_is_shared_by_documents_that_had_nothing(tmp_path: Path) -> None:
    """Each document's first study gets its share, later ones what is left; without time none begins, and it says so."""
    shares: dict[str, float | None] = {}

    def note(event: StudyEvent | Event) -> None:
        if isinstance(event, StudyStarted):
            shares[event.study.name] = event.study.budget_s

    ran([study("a", "a", 1), study("a2", "a", 2), study("b", "b", 3)], tmp_path / "long", observe=note, budget_s=1000.0)
    assert list(shares) == ["a", "b", "a2"]
    assert shares["a"] == pytest.approx(500, abs=50)
    assert (shares["b"] or 0) > 900
    assert (shares["a2"] or 0) > 900
    # What is finished already, or cannot be here, takes no share.
    wanted = [study("a", "a", 1), study("x", "x", 2, ("nobody", "nowhere")), study("b", "b", 3), study("c", "c", 4)]
    ran(wanted[:1], tmp_path / "some")
    ran(wanted, tmp_path / "some", observe=note, resume=True, budget_s=1000.0)
    assert shares["b"] == pytest.approx(500, abs=50)
    assert (shares["c"] or 0) > 900
    late = ran([study("a", "a", 1), study("b", "b", 3)], tmp_path / "short", budget_s=1e-9)
    assert [(one.ended, one.reason) for one in late.studies] == [("left", OUT_OF_TIME)] * 2
    assert [one.ended for one in ran([study("a", "a", 1)], tmp_path / "short", resume=True).studies] == ["done"]
