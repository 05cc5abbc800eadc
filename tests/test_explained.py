"""What is kept in docs/records/explained belongs together: pages, data, pictures, records, and what leads to them."""

from __future__ import annotations

import json
import math
import tarfile
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import script

from bakeoff.judge.explained import explain
from bakeoff.report.forms.json import to_json
from bakeoff.report.forms.markdown import escaped
from bakeoff.report.pages import page_of
from bakeoff.spec.verdict import Certificate

ROOT = Path(__file__).parents[1]
KEPT = ROOT / "docs" / "records" / "explained"
ENDINGS = (".json", ".md", ".svg", ".tar.gz")
NAMES = sorted(path.stem for path in KEPT.glob("*.json"))

WORDS = {
    "profiles": {"files", "notes"},
    "gaps": set(),
    "causes": {"said"},
    "unjudged": {"reason"},
    "suspects": {"comparison", "reason"},
}
"""Of each part of the data, what is places and sentences: the first were redacted, the second may be said better."""


def data_of(name: str) -> dict[str, Any]:
    """Give the data of a kept explanation."""
    return json.loads((KEPT / f"{name}.json").read_bytes())


def judged(data: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """Give what is computed of an explanation's data."""
    return {
        part: [{key: value for key, value in one.items() if key not in words} for one in data[part]]
        for part, words in WORDS.items()
    }


def differences(first: Any, second: Any, where: str = "") -> list[str]:
    """Give the places in which two objects of JSON differ by more than the rounding of sums."""
    if isinstance(first, dict) and isinstance(second, dict) and first.keys() == second.keys():
        return [one for key in first for one in differences(first[key], second[key], f"{where}/{key}")]
    if isinstance(first, list) and isinstance(second, list) and len(first) == len(second):
        pairs = enumerate(zip(first, second, strict=True))
        return [one for place, pair in pairs for one in differences(*pair, f"{where}/{place}")]
    if isinstance(first, float) and isinstance(second, float):
        same = math.isclose(first, second, rel_tol=1e-6, abs_tol=1e-12)
    else:
        same = first == second
    return [] if same else [f"{where}: {first!r} and {second!r}"]


def test_every_explanation_has_all_of_its_files() -> None:
    """Each has a page, data, a picture and its records, and nothing else lies there."""
    assert NAMES
    assert {path.name for path in KEPT.iterdir()} == {f"{name}{ending}" for name in NAMES for ending in ENDINGS}


@pytest.mark.parametrize("name", NAMES)
def test_a_page_is_of_the_same_explanation_as_its_data(name: str) -> None:
    """It has the answer of the data, names the comparison by its id, and leads to data, picture and records."""
    data, page = data_of(name), (KEPT / f"{name}.md").read_text("utf-8")
    assert page.startswith(f"## {escaped(data['headline'])}\n")
    assert f"\nbakeoff explain {data['comparison']['id']}\n" in page
    assert name.startswith(data["comparison"]["workload"])
    assert [ending for ending in ENDINGS if ending != ".md" and f"]({name}{ending})" not in page] == []
    picture = (KEPT / f"{name}.svg").read_text("utf-8")
    assert picture.startswith("<svg")
    assert data["comparison"]["workload"] in picture
    assert any(gap["first"] in picture and gap["second"] in picture for gap in data["gaps"])


@pytest.mark.parametrize("name", NAMES)
def test_the_archive_holds_the_comparison_that_the_page_names(name: str) -> None:
    """It opens, has plain files alone, and with the race those in which suspects were checked."""
    with tarfile.open(KEPT / f"{name}.tar.gz") as archive:
        assert all(one.isreg() for one in archive)
        names = archive.getnames()
        read = {file: json.load(archive.extractfile(file)) for file in ("comparison.json", "checks/checks.json")}  # type: ignore[arg-type]
    assert read["comparison.json"]["id"] == data_of(name)["comparison"]["id"]
    races = [link["comparison"] for link in read["checks/checks.json"]["links"] if link["comparison"]]
    assert races
    assert [race for race in races if f"checks/{race}/comparison.json" not in names] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_the_data_is_what_the_records_say(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every number of profiles, gaps, causes and suspects is computed again from the records in the archive.

    That the work was the same is taken from the page: the certificates' arrays are not kept.
    """

    def passed(_comparison: Any, _records: Any, _folder: Any, plan: Any) -> Certificate:
        return Certificate(contender=plan.contender.label, reference="", passed=True, checks=())

    monkeypatch.setattr("bakeoff.judge.comparison.certificate_of", passed)
    assert "\nSame work: verified." in (KEPT / f"{name}.md").read_text("utf-8")
    with tarfile.open(KEPT / f"{name}.tar.gz") as archive:
        archive.extractall(tmp_path, filter="data")
    again = json.loads(to_json([page_of(explain(tmp_path))]))
    assert differences(judged(again), judged(data_of(name))) == []


def test_both_pages_say_what_is_kept() -> None:
    """README.md and docs/explaining.md are as docs/keep_explained.py writes them, and lead to every explanation."""
    writing = script("keep_explained", "docs")
    for path, content in writing.pages(writing.kept()).items():
        assert (ROOT / path).read_text("utf-8") == content, f"{path} is not what the kept explanations say: make docs"
    readme, listed = ((ROOT / path).read_text("utf-8") for path in (writing.README, writing.LIST))
    for name in NAMES:
        assert f"](docs/records/explained/{name}.md)" in readme
        assert f"](records/explained/{name}.md)" in listed


def test_one_more_explanation_needs_no_edit() -> None:
    """README.md shows the first that a race has confirmed, with its picture, and both pages name all of them."""
    writing = script("keep_explained", "docs")
    first = {"headline": "b spends 2 of its 3 ms on a_b.", "comparison": {"workload": "a-model", "size": "full"}}
    second = first | {"headline": "b spends 2 of its 3 ms on a_b; with x=y the gap falls: confirmed."}
    smaller, other = (
        {"comparison": one} for one in ({"workload": "a-model", "size": "tiny"}, {"workload": "b", "size": "full"})
    )
    made = {"a-model-1": first, "a-model-2": second, "a-model-3": first | smaller, "b-1": first | other}
    written = writing.pages({**made, **writing.kept()})
    readme, listed = (" ".join(written[path].split()) for path in (writing.README, writing.LIST))
    said = '"b spends 2 of its 3 ms on a\\_b; with x=y the gap falls: confirmed" ([all of it]('
    assert f"Of `a-model`, checked in a second race: {said}" in readme
    assert "](docs/records/explained/a-model-2.svg)](docs/records/explained/a-model-2.md)" in readme
    assert "of [`a-model` at full size](docs/records/explained/a-model-1.md)" in readme
    assert "[`a-model` at tiny size](docs/records/explained/a-model-3.md)" in readme
    assert "[`b`](docs/records/explained/b-1.md)" in readme
    assert readme.count("![") == 2
    assert "- [`a-model`](records/explained/a-model-1.md), full size: b spends 2 of its 3 ms on a\\_b." in listed
