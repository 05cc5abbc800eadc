"""docs/results.md, its pages and README.md's sentence are what the kept records of studies say."""

from __future__ import annotations

import json
import re
import shutil
import tarfile
from pathlib import Path

import msgspec
import pytest
from tests.conftest import script
from tests.study.test_reproduce import published, ran

from bakeoff.store import studies
from bakeoff.study.published import load
from bakeoff.study.run import OUT_OF_TIME

ROOT = Path(__file__).parents[1]


def test_the_pages_are_what_the_records_say() -> None:
    """Every committed page is written by `make results` from the committed records, and there is no other."""
    writing = script("write_results", "docs")
    written = writing.pages(writing.kept(), (ROOT / writing.README).read_text("utf-8"))
    for path, content in written.items():
        assert path == writing.README or " --results " not in content, f"{path} tells where results lay"
        assert (ROOT / path).read_text("utf-8") == content, f"{path} is not what its records say: make results"
    there = {path.relative_to(ROOT) for path in (ROOT / writing.PAGES).glob("*.md")}
    assert there == {path for path in written if path.parent == writing.PAGES}


def test_every_note_of_a_study_is_on_its_page() -> None:
    """What a shipped study notes stands on its page, also where its records were kept before it was noted."""
    for path in (ROOT / "docs" / "results").glob("*.md"):
        told = path.read_text("utf-8").replace("\\", "")
        assert [note for note in load(path.stem).notes if note not in told] == [], path.name


def test_limits_say_which_workloads_were_raced() -> None:
    """The races of text and speech that limits.md names are in the kept records."""
    raced: set[str] = set()
    for records in (ROOT / "docs" / "records" / "studies").glob("*.tar.xz"):
        with tarfile.open(records) as archive:
            asked = [archive.extractfile(one) for one in archive if one.name.endswith("/comparison.json")]
            raced |= {json.load(one)["workload"]["name"] for one in asked if one is not None}
    limits = " ".join((ROOT / "docs" / "limits.md").read_text("utf-8").split())
    found = re.search(r"Races of (.*?) are recorded", limits)
    assert found is not None
    said = set(re.findall(r"`(.*?)`", found[1]))
    assert said
    assert said <= raced


@pytest.mark.slow
def test_a_study_is_kept_and_every_figure_leads_to_its_records(tmp_path: Path) -> None:
    """A finished study gets a page, a line and README.md's sentence; what was not measured is said; others stay out."""
    writing = script("write_results", "docs")
    name = published().id
    outcome = ran(published(), tmp_path / "results")
    (said,) = writing.keep(tmp_path / "results", tmp_path)
    assert f"{name}: " in said
    assert "kB of" in said
    found = writing.kept(tmp_path)
    written = writing.pages(found, (ROOT / "README.md").read_text("utf-8"))
    page = written[writing.PAGES / f"{name}.md"]
    comparison = Path(outcome.outcomes[0].path).name
    assert f"{comparison}/r01-fake to r0" in page
    assert found[name].sha256 in page
    assert "jittor and tensorflow: not measured; jittor not measured" in page
    assert "| same order |" in written[writing.OVERVIEW]
    assert f"[{name}](results/{name}.md)" in written[writing.OVERVIEW]
    readme = " ".join(written[writing.README].split())
    assert "1 study repeats what 1 document published, on our machine, scaled down and without a GPU: of 3 " in readme
    assert "have the same order here and 2 were not measured" in readme
    # A study of some contenders is not the document's, and one that cannot be read hides no other.
    later = ran(published(), tmp_path / "results")
    stored = studies.read(Path(later.path))
    (point,) = stored.study.points
    some = msgspec.structs.replace(point, rows=dict(list(point.rows.items())[:1]))
    asked = msgspec.structs.replace(stored.study, points=[some])
    studies.write(Path(later.path), msgspec.structs.replace(stored, study=asked))
    damaged = tmp_path / "results" / "a-study-0000"
    damaged.mkdir()
    (damaged / "study.json").write_text("{")
    said = writing.keep(tmp_path / "results", tmp_path)
    assert [word in " ".join(said) for word in ("a-study-0000: not kept", "not all of its", "kB of")] == [True] * 3
    shutil.rmtree(damaged)
    shutil.rmtree(later.path)
    # A study whose time was over is not finished.
    folder = Path(outcome.path)
    stored = studies.read(folder)
    late = [msgspec.structs.replace(one, reason=OUT_OF_TIME) for one in stored.states]
    studies.write(folder, msgspec.structs.replace(stored, states=late))
    (said,) = writing.keep(tmp_path / "results", tmp_path)
    assert "not kept" in said
    studies.write(folder, stored)
    unfinished = tmp_path / "unfinished"
    (tmp_path / "results").rename(unfinished)
    for end in unfinished.glob("*/*/r05-*/record.json"):
        end.unlink()
    (said,) = writing.keep(unfinished, tmp_path)
    assert "not kept" in said
