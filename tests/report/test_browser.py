"""Pages as a real browser shows them: one start of Chromium for all pages, four widths, the dark theme at two."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.drawn import first, is_all, is_named, sources
from tests.report.browser import tools
from tests.report.conftest import COLOURS, plan, verdict
from tests.report.explained.conftest import explained
from tests.report.reproduced.conftest import figure
from tests.report.search.conftest import host
from tests.report.shown import html
from tests.report.study.conftest import batches

from bakeoff.judge.outcome import Outcome

__all__ = ["batches", "explained", "figure", "host"]

WIDTHS = (360, 400, 800, 1280)
LOOKS = [(width, theme) for width in WIDTHS for theme in ("light", "dark") if theme == "light" or width in (400, 1280)]
"""Colours know no width: the dark ones are looked at once in either layout of a page, which change at 42em."""
WIDE = (max(WIDTHS), "light")
"""At this one every page is looked at; of the others the sources draw one for each, and `make test-all` has all."""
COMPARISONS = ("decided", "undecided", "bare", "one", "long")
OTHERS = ("batches", "figure", "host", "explained")
SMALLEST_PX = 11.0
TEXT, MARK = 4.5, 3.0
"""What WCAG 2.2 asks for: criteria 1.4.3 and 1.4.11."""
AT_ONCE_PX = 800
"""What a window of 1280 pixels shows without moving."""

FAULTY = """<!doctype html><html lang="en"><title>Faults</title><body style="background: #fff"><h1>One</h1><h1>Two</h1>
<p style="color: #bbb; font-size: 9px">faint and small</p><div style="width: 3000px">wide</div>
<p id="a"></p><p id="a"></p>
<figure><svg width="50" height="20" viewBox="0 0 50 20"><g class="mark-symbol"><path d="M0,0h9v9z" fill="#eee"/></g>
<text x="40" y="9">lost</text></svg></figure><img src="none.png"></body></html>"""
"""A page that has every fault once, so that the eyes themselves are tried."""

pytestmark = pytest.mark.slow

_SEEN: list[dict[str, Any]] = []


@pytest.fixture
def one(decided: Outcome) -> Outcome:
    """A single contender."""
    (alone,) = [contender for contender in decided.contenders if contender.label == "jax"]
    return msgspec.structs.replace(decided, contenders=[alone], verdicts=[])


@pytest.fixture
def long(decided: Outcome) -> Outcome:
    """Labels that are longer than a telephone is wide."""
    tail = ":mode=compiled,precision=bfloat16,threads=2,input=per-step"
    names = {name: f"{name}@/opt/environments/{name}-nightly/bin/python{tail}" for name in COLOURS}
    contenders = [
        msgspec.structs.replace(
            contender, label=names[contender.label], plan=msgspec.structs.replace(plan(contender.label))
        )
        for contender in decided.contenders
    ]
    first, second, third = (names[name] for name in ("tensorflow", "jax", "torch"))
    verdicts = [
        verdict(second, first, "slower", 1.12, 1.07, 1.19),
        verdict(third, first, "slower", 2.16, 2.06, 2.27),
        verdict(third, second, "undecided", 1.03, 0.98, 1.09),
    ]
    return msgspec.structs.replace(decided, contenders=contenders, verdicts=verdicts)


def looks_at(name: str) -> list[tuple[int, str]]:
    """Return the looks at a page that are a part of this run."""
    drawn = first((f"{width} {theme}" for width, theme in LOOKS if (width, theme) != WIDE), 1, f"{sources()} {name}")
    return [WIDE, *(look for look in LOOKS if f"{look[0]} {look[1]}" in drawn)]


@pytest.fixture
def seen(request: pytest.FixtureRequest, tmp_path: Path) -> list[dict[str, Any]]:
    """Return what the browser saw: a row for each page, width and theme; the first test that asks has it look."""
    if not _SEEN:
        try:
            browser, node, modules = tools.chromium(), tools.node(), tools.modules()
        except tools.MissingError as error:
            pytest.skip(str(error))
        made = {name: html(request.getfixturevalue(name)) for name in (*COMPARISONS, *OTHERS)}
        made["several"] = html(*(request.getfixturevalue(name) for name in ("one", "host")))
        made["faulty"] = FAULTY
        paths = {name: tmp_path / f"{name}.html" for name in made}
        for name, path in paths.items():
            path.write_text(made[name], encoding="utf-8")
        whole = is_all() or is_named(request.config)
        pages = {name: {"path": path, "looks": LOOKS if whole else looks_at(name)} for name, path in paths.items()}
        job = {"pages": pages, "profile": tmp_path / "profile", "shots": None}
        (tmp_path / "job.json").write_text(json.dumps(job, default=str))
        command = [node, str(tools.HERE / "look.mjs"), browser, str(modules), str(tmp_path / "job.json")]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=200)
        assert done.returncode == 0, done.stderr
        _SEEN.extend(json.loads(done.stdout))
    return _SEEN


def shown(seen: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows of bakeoff's own pages."""
    found = [row for row in seen if row["name"] != "faulty"]
    assert {row["name"] for row in found} == {*COMPARISONS, *OTHERS, "several"}
    assert len(found) in {len(each) * (len(COMPARISONS) + len(OTHERS) + 1) for each in (LOOKS, looks_at("one"))}
    return found


def where(row: dict[str, Any]) -> str:
    """Return which page, at which width, in which theme."""
    return f"{row['name']} at {row['width']} px, {row['theme']}"


def test_axe_finds_nothing(seen: list[dict[str, Any]]) -> None:
    """axe-core finds no violation in any page, at any width, nor in the dark theme, with everything unfolded."""
    assert not [(where(row), violation) for row in shown(seen) for violation in row["violations"]]


def test_nothing_is_fetched(seen: list[dict[str, Any]]) -> None:
    """A page is one file: the browser asks for nothing else."""
    assert {where(row): row["asked"] for row in shown(seen) if row["asked"]} == {}


def test_no_page_moves_sideways(seen: list[dict[str, Any]]) -> None:
    """Only tables move sideways, each in its own region: never the page."""
    assert {where(row): row["overflow"] for row in shown(seen) if row["overflow"] > 0} == {}


def test_text_is_large_enough(seen: list[dict[str, Any]]) -> None:
    """No text, in charts neither, is smaller than 11 pixels."""
    assert all(row["texts"] > 10 for row in shown(seen))
    assert {where(row): row["smallest"] for row in shown(seen) if row["smallest"]["px"] < SMALLEST_PX} == {}


def test_text_and_marks_stand_out(seen: list[dict[str, Any]]) -> None:
    """Text has 4.5 : 1 against what is behind it, and marks of charts 3 : 1, as they are drawn."""
    assert {where(row): row["faintest"] for row in shown(seen) if row["faintest"]["ratio"] < TEXT} == {}
    assert {
        where(row): row["faintestMark"] for row in shown(seen) if row["marks"] and row["faintestMark"]["ratio"] < MARK
    } == {}
    rows = shown(seen)
    pages = len({row["name"] for row in rows})
    assert sum(row["marks"] for row in rows) / len(rows) > 750 / (pages * len(LOOKS))


def test_charts_share_one_width_and_lose_nothing(seen: list[dict[str, Any]]) -> None:
    """All charts of a page have one left edge and one width, and no text of theirs is cut off."""
    for row in shown(seen):
        assert len(row["sides"]) == (1 if row["charts"] else 0), where(row)
        assert row["lost"] == [], where(row)


def test_a_page_has_one_heading_and_no_id_twice(seen: list[dict[str, Any]]) -> None:
    """The answer is the only heading of the first level, and whatever refers to an id means one element."""
    assert {(row["headings"], len(row["twice"])) for row in shown(seen)} == {(1, 0)}


def test_the_answer_and_its_chart_are_seen_at_once(seen: list[dict[str, Any]]) -> None:
    """A window of 1280 by 800 shows a comparison's answer and its whole first chart, and where other pages' begins."""
    wide = [row for row in shown(seen) if row["width"] == max(WIDTHS) and row["charts"]]
    assert {row["name"] for row in wide} >= {"decided", "undecided", "one", "long", "batches", "host"}
    for row in wide:
        assert row["answer"] < AT_ONCE_PX / 2, where(row)
        if row["name"] != "long":  # whose names alone fill the window
            assert row["chartEnd" if row["name"] in COMPARISONS else "chartTop"] < AT_ONCE_PX, where(row)


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without a browser, or without npm, the tests are skipped with words that say what to install."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(tools.MissingError, match="no Chromium is installed here; on Debian: apt install chromium"):
        tools.chromium()
    with pytest.raises(tools.MissingError, match="no Node with npm is installed here"):
        tools.modules()


def test_the_eyes_see_faults(seen: list[dict[str, Any]]) -> None:
    """A page with every fault fails every one of these checks."""
    faulty = next(row for row in seen if row["name"] == "faulty")
    ids = {violation.split(":")[0] for violation in faulty["violations"]}
    assert ids >= {"image-alt", "color-contrast", "region", "landmark-one-main"}
    assert len(faulty["asked"]) == 1
    assert faulty["overflow"] > 1000
    assert faulty["smallest"]["px"] < SMALLEST_PX
    assert faulty["faintest"]["ratio"] < TEXT
    assert faulty["faintestMark"]["ratio"] < MARK
    assert (faulty["headings"], faulty["twice"], faulty["lost"]) == (2, ["a"], ["lost"])
