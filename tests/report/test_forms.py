"""What one form says, every form says; and a form is one file."""

from __future__ import annotations

import re
import resource
import sys
from html import unescape
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from tests.report.explained.conftest import explained
from tests.report.reproduced.conftest import article, figure
from tests.report.search.conftest import device, host
from tests.report.shown import data_of, html, markdown, printed
from tests.report.study.conftest import batches, modes

from bakeoff.judge.outcome import Outcome
from bakeoff.report import forms
from bakeoff.report.forms import drawings
from bakeoff.report.forms.drawings import ADDRESS_SPACE_BYTES
from bakeoff.report.pages import page_of
from bakeoff.report.pages.comparison import SUBJECTS
from bakeoff.spec.errors import NoPictureError
from bakeoff.spec.record import Memory

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from bakeoff.judge.study import StudyOutcome

__all__ = ["article", "batches", "device", "explained", "figure", "host", "modes"]

WIDE = 100_000
"""Columns, so that a terminal breaks nothing."""


def on_gpu(outcome: Outcome) -> Outcome:
    """Return the outcome as if all contenders had run on a GPU that tells its memory."""
    held = Memory(peak_bytes=10**9, baseline_bytes=10**8, device_peak_bytes=2 * 10**9, device_process_bytes=3 * 10**9)
    contenders = []
    for one in outcome.contenders:
        asked = msgspec.structs.replace(one.plan.contender, options=one.plan.contender.options | {"device": "cuda"})
        plan = msgspec.structs.replace(one.plan, contender=asked)
        contenders.append(msgspec.structs.replace(one, plan=plan, memory=held))
    return msgspec.structs.replace(outcome, contenders=contenders)


def with_epochs(outcome: Outcome) -> Outcome:
    """Return the outcome as if two epochs had been asked for."""
    procedure = msgspec.structs.replace(outcome.comparison.procedure, epochs=2, steps=47)
    return msgspec.structs.replace(outcome, comparison=msgspec.structs.replace(outcome.comparison, procedure=procedure))


def inferred(outcome: Outcome) -> Outcome:
    """Return the outcome as if it were one of inference."""
    return msgspec.structs.replace(outcome, comparison=msgspec.structs.replace(outcome.comparison, scenario="infer"))


@pytest.fixture
def everything(each: Callable[[], list[Outcome]], request: pytest.FixtureRequest) -> list[Any]:
    """Return outcomes of every undertaking, with all that a page can have."""
    comparisons = each()
    changed = [change(comparisons[1]) for change in (on_gpu, with_epochs, inferred)]
    others = ("batches", "modes", "figure", "article", "host", "device", "explained")
    return [*comparisons, *changed, *(request.getfixturevalue(name) for name in others)]


def plain(text: str) -> str:
    """Return text without escapes and white space, to be searched."""
    return "".join(text.replace("\\", "").split())


@pytest.mark.by_turns
def test_what_one_form_says_every_form_says(everything: list[Any]) -> None:
    """Every sentence, and every cell of a table that is open, stands on the terminal, in Markdown and on the page."""
    for outcome in everything:
        page = page_of(outcome)
        texts = [
            plain(printed(outcome, WIDE)),
            plain(markdown(outcome)),
            plain(unescape(re.sub(r"</?[a-z][^<>]*>", "", html(outcome)))),
        ]
        said = [page.headline, page.trust, *(word for section in page.sections for word in section.words)]
        tables = [table for section in page.sections if section.kind == "open" for table in section.tables]
        said += [cell for table in tables for line in table.lines for cell in line.cells]
        missing = [
            (sentence, place) for sentence in said for place, text in enumerate(texts) if plain(sentence) not in text
        ]
        assert not missing


def test_programs_have_the_data_of_every_subject(each: Callable[[], list[Outcome]]) -> None:
    """Each subject's keys are in the object, and no two subjects have the same one."""
    for outcome in each():
        data = page_of(outcome).data
        keys = [name for subject in SUBJECTS for name in subject.data(outcome)]
        assert len(keys) == len(set(keys))
        assert set(keys) <= set(data)
        for contender, told in zip(outcome.contenders, data["contenders"], strict=True):
            fields = [name for subject in SUBJECTS for name in subject.fields(contender)]
            assert len(fields) == len(set(fields))
            assert set(fields) == set(told)


def test_device_memory_stands_in_every_form(decided: Outcome) -> None:
    """What the process held of the device is a sentence on the terminal, in Markdown and on the page, and in JSON."""
    outcome = on_gpu(decided)
    sentence = "Held of the device by the whole process: tensorflow 3.0 GB (live at most 2.0 GB, reserved unknown"
    for text in (printed(outcome, WIDE), markdown(outcome), html(outcome)):
        assert sentence in text
    assert data_of(outcome)["contenders"][0]["memory"]["device_process_bytes"] == 3 * 10**9


def test_the_answer_is_the_first_line_of_every_form(everything: list[Any]) -> None:
    """Before all else a reader meets the headline, and right behind it why to believe it."""
    for outcome in everything:
        page = page_of(outcome)
        lines = [line for line in printed(outcome, 1000).splitlines() if line]
        assert lines[0] == page.headline
        assert not page.trust or lines[1] == page.trust
        assert plain(markdown(outcome)).startswith(plain(f"## {page.headline}{page.trust}"))


def test_what_is_timed_stands_on_the_page(decided: Outcome) -> None:
    """The timed region is said on the page and in the JSON; a terminal has no room for what is always the same."""
    region = data_of(decided)["timed_region"]
    assert region.startswith("One timed step:")
    assert region in html(decided)


def test_a_study_names_the_gpus_driver_and_cuda(batches: StudyOutcome) -> None:
    """The machine of a study is named as a comparison's is, with what a GPU's speed hangs on, too."""
    machine = {"gpu": "NVIDIA H100", "gpu_driver": "570.1", "gpu_driver_cuda": "12.8", "processor": "AMD EPYC"}
    points = []
    for point in batches.points:
        assert point.outcome is not None
        asked = msgspec.structs.replace(point.outcome.comparison, machine=machine)
        points.append(msgspec.structs.replace(point, outcome=msgspec.structs.replace(point.outcome, comparison=asked)))
    study = msgspec.structs.replace(batches, points=points)
    for text in (printed(study, WIDE), markdown(study), html(study)):
        assert "NVIDIA H100 (driver 570.1, CUDA 12.8), AMD EPYC" in text


def test_a_form_is_one_file(decided: Outcome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A module beside the other forms is found by its place, and what it writes stands beside the records."""
    (tmp_path / "counted.py").write_text(
        "from bakeoff.report.forms import Form\n"
        "FORM = Form('counted', 'report.count', lambda pages, folder: str(len(pages[0].sections)).encode())\n"
    )
    monkeypatch.setattr(forms, "__path__", [*forms.__path__, str(tmp_path)])
    page = page_of(msgspec.structs.replace(decided, path=str(tmp_path / "one")))
    (tmp_path / "one").mkdir()
    paths = forms.save(page)
    monkeypatch.delitem(sys.modules, "bakeoff.report.forms.counted")
    assert paths["counted"].read_bytes() == str(len(page.sections)).encode()


def test_too_little_address_space_costs_the_pictures_alone(
    host: StudyOutcome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Under `ulimit -v` the renderer would end the process: forms without pictures are written, and it is said why."""
    limits = (ADDRESS_SPACE_BYTES - 1, resource.RLIM_INFINITY)
    monkeypatch.setattr(resource, "getrlimit", lambda _: limits)
    page = page_of(msgspec.structs.replace(host, path=str(tmp_path)))
    with pytest.raises(NoPictureError, match="`ulimit -v` allows 71 GiB"):
        forms.save(page)
    assert {path.name for path in tmp_path.iterdir()} == {"report.md"}


class _Refused:
    """A thread where the system starts none."""

    def __init__(self, **_: object) -> None:
        """Be made."""

    def start(self) -> None:
        """Fail as Python does."""
        msg = "can't start new thread"
        raise RuntimeError(msg)


def test_where_no_thread_can_be_started_the_pictures_alone_are_missing(
    host: StudyOutcome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Under `ulimit -u` the renderer would end the process, too."""
    drawings._try_threads.cache_clear()
    monkeypatch.setattr(drawings, "Thread", _Refused)
    page = page_of(msgspec.structs.replace(host, path=str(tmp_path)))
    with pytest.raises(NoPictureError, match="`ulimit -u`"):
        forms.save(page)
    assert {path.name for path in tmp_path.iterdir()} == {"report.md"}
