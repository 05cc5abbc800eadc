"""Records that a stranger has made: whatever stands in them, a report shows it, and obeys nothing in it."""

from __future__ import annotations

import hashlib
import json
import random
import re
import shutil
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.drawn import first, is_all, sources
from tests.report.shown import html, json_text, markdown, printed

from bakeoff.judge.certificate import certificate_of
from bakeoff.judge.comparison import judge_comparison
from bakeoff.report.forms.pictures import to_picture
from bakeoff.report.pages import page_of
from bakeoff.spec.errors import BakeoffError
from bakeoff.store.absurd import told_if_absurd
from bakeoff.store.evidence import EVIDENCE_FILE
from bakeoff.store.files import read_comparison
from bakeoff.store.results import read_records

LONG = "x" * 20_000

TEXTS = (
    *("\x1b[31m red", "\x1b]0;title\x07", "\x9b31m", "\x90q\x9c", "\x07\x08", "\x00", "\uffff\ufffe", "\u202eright"),
    *("</script><script>alert(1)</script>", "<img src=x onerror=alert(1)>", "javascript:alert(1)", "\u2066\u2028"),
    *("red;background-image:url(https://stranger.example/)", "url(https://stranger.example/)", "](https://s.example)"),
    *("`````", "| a | b |", "../../../etc/passwd", "", LONG, "{{ 7 * 7 }}", "datum.contender", "&#x1b;[31m"),
)
ALONE = 5
"""How many texts a run tries by themselves, drawn by the sources; all are tried together, and the long one alone."""
NUMBERS = (0, -1, 1, 2**62, -(2**62), 1e308, 1e-308, 0.5, None, True)
ANYTHING = ([], {}, "text", *NUMBERS, *TEXTS)

STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufffe\uffff]")
"""What a terminal, a page or a renderer could obey; only a tab and the end of a line are left out."""


def check_harmless(outcome: Any, tmp_path: Path, *, drawn: bool = False, paged: bool = True) -> None:
    """Hold every form of an outcome against what a stranger could want of it; a page's drawings take a second."""
    page = html(outcome) if paged else ""
    texts = [printed(outcome), markdown(outcome), json_text(outcome), page]
    if drawn:
        texts.append(to_picture([page_of(outcome)], tmp_path / "chart.svg").decode())
        ET.fromstring(texts[-1])  # noqa: S314 - drawn here
        assert to_picture([page_of(outcome)], tmp_path / "chart.png").startswith(b"\x89PNG")
    for text in texts:
        assert not (found := STEERING.search(text)), (found, text[max(0, found.start() - 80) : found.end() + 80])
    for text in (page, *texts[4:]):
        markup = re.sub(r">[^<]*<", "><", text)
        assert "<script" not in markup.lower()
        assert "<img" not in markup.lower()
        for style in re.findall(r'(?:style|fill|stroke|href)="([^"]*)"', markup):
            assert not re.search(r"url\(\s*['\"]?(?!#)|javascript:|https?:", style), style


@pytest.fixture
def folder(root: Path, tmp_path: Path) -> Path:
    """Return a copy of a comparison, of which little is left, so that it is read quickly."""
    copy = tmp_path / "mlp-mnist-07d5"
    shutil.copytree(root / "docs" / "records" / "mlp-mnist-07d5", copy)
    return copy


ALL = " ".join(text for text in TEXTS if len(text) < 100)

TRIED = [text for text in TEXTS if is_all() or text in {LONG, *first(TEXTS, ALONE, sources())}]


@pytest.mark.parametrize(
    ("text", "drawn"),
    [(ALL, False), *(pytest.param(text, text in (ALL, LONG), marks=pytest.mark.slow) for text in (ALL, *TRIED))],
)
@pytest.mark.by_turns
def test_a_strangers_text_is_shown_and_not_obeyed(folder: Path, tmp_path: Path, text: str, *, drawn: bool) -> None:
    """Labels, names, reasons, versions, colours and the command may be anything, in every form."""
    comparison = json.loads((folder / "comparison.json").read_bytes())
    for plan in comparison["contenders"]:
        label = plan["contender"]["label"]
        plan["contender"]["label"] = f"{label}{text}"
        plan |= {"colour": text, "title": text, "interpreter": text, "framework_path": text}
    comparison["workload"] |= {"name": text, "summary": text, "source": text}
    comparison |= {"command": f"bakeoff run {text}", "bakeoff": text, "created_at": text, "excluded": {text: text}}
    comparison["machine"] |= {"processor": text, "gpu": text}
    comparison["data"]["source"] = text
    (folder / "comparison.json").write_text(json.dumps(comparison))
    for path in folder.glob("*/record.json"):
        record = json.loads(path.read_bytes())["record"]
        record["trial"]["contender"]["label"] += text
        record["versions"] |= {text: text}
        record["machine"] |= {"processor": text}
        record["settings"] |= {text: text}
        record["inherited"] = {text: text}
        if path.parent.name.startswith("memory"):
            record |= {"outcome": "failed", "reason": text, "detail": text}
        seal(path, record)
    check_harmless(judge_comparison(folder), tmp_path, drawn=drawn)


def seal(path: Path, record: Any) -> None:
    """Write a record with its right SHA-256."""
    content = json.dumps(record)
    path.write_text(f'{{"sha256":"{hashlib.sha256(content.encode()).hexdigest()}","record":{content}}}')


def places(part: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every place within JSON as what holds it and its key."""
    if isinstance(part, dict | list):
        for key in part if isinstance(part, dict) else range(min(3, len(part))):
            yield part, key
            yield from places(part[key])


# A learning rate of 1e308 overflows, which is no error.
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    ("seed", "count"),
    [(1, 20), pytest.param(2, 100 if is_all() else 40, marks=[pytest.mark.slow, pytest.mark.timeout(600)])],
)
@pytest.mark.by_turns
def test_no_sealed_record_ends_in_a_traceback(folder: Path, tmp_path: Path, seed: int, count: int) -> None:
    """Anything may stand at any place of a sealed record: the report says it, leaves it out, or is one clear error."""
    draw = random.Random(seed)  # noqa: S311 - of places, not of keys
    paths = sorted([folder / "comparison.json", *folder.glob("*/record.json")])
    for number in range(count):
        path = folder / "comparison.json" if draw.random() < 0.3 else draw.choice(paths)
        before = path.read_bytes()
        whole = json.loads(before)
        record = whole.get("record", whole)
        holder, key = draw.choice(list(places(record)))
        like = holder[key]
        same = TEXTS if isinstance(like, str) else NUMBERS if isinstance(like, int | float) else ANYTHING
        holder[key] = draw.choice(same if draw.random() < 0.8 else ANYTHING)
        if record is whole:
            path.write_text(json.dumps(whole))
        else:
            seal(path, record)
        try:
            with told_if_absurd():
                check_harmless(judge_comparison(folder), tmp_path, paged=number % 10 == 0)
        except BakeoffError:
            pass
        except Exception as error:
            raise AssertionError(path.parent.name, key, repr(holder[key])[:80]) from error
        path.write_bytes(before)


@pytest.mark.parametrize("steps", [-1, 2**62, 10**9])
def test_a_reference_that_asks_for_any_number_of_steps_certifies_nothing(folder: Path, steps: int) -> None:
    """Nothing is allocated by a number in a record: losses that are not there are missing."""
    path = folder / "reference" / "record.json"
    record = json.loads(path.read_bytes())["record"]
    record["trial"]["certify_steps"] = steps
    seal(path, record)
    outcome = judge_comparison(folder)
    assert {one.status for one in outcome.contenders} == {"uncertified"}
    assert all("no evidence: losses of 6 steps against 6, and 7 are needed" in one.reason for one in outcome.contenders)


FORMS = {
    "a number": lambda array: array.reshape(-1)[0],
    "more axes": lambda array: array[None, ..., None],
    "no elements": lambda array: array[:0],
    "no numbers of its type": lambda array: array != 0,
}
"""What a stranger may put in the place of an array of evidence."""


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "name", ["output/0", "gradient/head.weight", "update/head.weight", "position/head.weight", "optimizer/0/far"]
)
def test_evidence_of_another_form_is_none(folder: Path, name: str, form: str) -> None:
    """Sealed arrays of other axes, lengths or types than bakeoff writes end no reader: the certificate fails."""
    trial = folder / "reference"
    with np.load(trial / EVIDENCE_FILE, allow_pickle=False) as found:
        arrays = dict(found)
    np.savez(trial / EVIDENCE_FILE, **arrays | {name: FORMS[form](arrays[name])})
    record = json.loads((trial / "record.json").read_bytes())["record"]
    record["evidence"]["arrays_sha256"] = hashlib.sha256((trial / EVIDENCE_FILE).read_bytes()).hexdigest()
    seal(trial / "record.json", record)
    comparison, known = read_comparison(folder), read_records(folder)
    assert not known.damaged
    (plan,) = (one for one in comparison.contenders if one.contender.framework == "torch")
    certificate = certificate_of(comparison, known.records, folder, plan)
    assert not certificate.passed
    # Positions are of the updates that they say where to look for.
    assert name.replace("position/", "update/") in certificate.reason
