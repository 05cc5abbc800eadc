"""Every measured figure of README.md and docs/ is in the file that its text cites; claims.py has the convention."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from tests import claims

ROOT = Path(__file__).parents[1]

GENERATED = {"cli.md", "published.md", "results.md"}
"""Written from the code, the studies' files and kept records by `make docs`; tests of their own hold them."""

# docs/decisions are not among them: each is the record of a day.
PAGES = [ROOT / "README.md", *sorted(path for path in (ROOT / "docs").glob("*.md") if path.name not in GENERATED)]

RECORDS = "docs/records/mlp-mnist-07d5"

HELD_OTHERWISE = {"docs/attacks.md", "docs/reading.md"}
"""A record itself, which cites another beside it; an example that is held word by word."""


def allowed() -> list[dict[str, str]]:
    """Return what is listed as having no record, each with its reason."""
    listed: list[dict[str, str]] = tomllib.loads(Path(__file__).with_name("figures_without_a_record.toml").read_text())[
        "allowed"
    ]
    return listed


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_figure_is_in_the_file_that_it_cites(page: Path) -> None:
    """A measured figure cites its file and is in it, as rounded; what has no file is listed with its reason."""
    assert claims.problems(ROOT, page, allowed()) == []


def test_what_is_listed_is_there() -> None:
    """Every figure that is listed as having no record stands in its page, so that the list grows no moss."""
    for one in allowed():
        text = re.sub(r"\s+", " ", (ROOT / one["page"]).read_text(encoding="utf-8"))
        assert one.get("text", one.get("section", "")) in text, one
        assert one["reason"]


def test_nothing_measured_is_spared_as_a_whole() -> None:
    """Where a whole page or section is listed, no block of it cites a record, whose figures nobody would look up."""
    whole = [one for one in allowed() if "text" not in one and one["page"] not in HELD_OTHERWISE]
    for one in whole:
        for block in claims.blocks(ROOT / one["page"]):
            is_spared = one.get("section", block.heading) == block.heading
            assert not (is_spared and block.cited(ROOT)), (one, block.text)


def page_of(folder: Path, text: str) -> Path:
    """Write a page that cites a file of results with one row, in a project of its own."""
    results = folder / "benchmarks" / "results"
    results.mkdir(parents=True)
    (results / "x.md").write_text(
        "| torch | 0.9788 [0.9641, 0.9913] | 43.8% | 1180 | 7.1e-06 |\n| jax | 1.4360 [1.4250, 1.4460] |\n"
    )
    page = folder / "docs" / "page.md"
    page.parent.mkdir()
    page.write_text(text)
    return page


TRUE = (
    "Half of it took 0.98 [0.96, 0.99] as long, 44 % of 1,180, off by 7e-6 "
    "([results](../benchmarks/results/x.md)); 3 rounds."
)


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("0.98", "0.97", "0.97 is not in x.md"),
        ("44 %", "45 %", "45 % is not in x.md"),
        ("1,180", "1,190", "1,190 is not in x.md"),
        ("7e-6", "8e-6", "8e-6 is not in x.md"),
        ("[0.96, 0.99]", "[0.96, 1.45]", "0.98 [0.96, 1.45] is not in x.md"),
        ("[0.96, 0.99]", "(0.96 to 1.45)", "0.98 [0.96, 1.45] is not in x.md"),
        ("0.98 [0.96, 0.99] as long", "0.98 times as long (0.96 to 1.45)", "0.98 [0.96, 1.45] is not in x.md"),
        ("0.98 [0.96, 0.99]", "0.98x torch (95 % CI 0.96 to 1.45)", "0.98 [0.96, 1.45] is not in x.md"),
        ("([results](../benchmarks/results/x.md))", "", "44 % cites no file"),
        ("([results](../benchmarks/results/x.md))", "", "7e-6 cites no file"),
        (TRUE, "It was 1.7x torch.", "1.7 x cites no file"),
        (TRUE, "It reads 30 GB/s.", "30 GB/s cites no file"),
    ],
)
def test_a_planted_figure_is_found(tmp_path: Path, old: str, new: str, found: str) -> None:
    """One changed figure, an interval of two rows, or a citation that is gone, is found."""
    page = page_of(tmp_path, TRUE.replace(old, new))
    assert any(problem.endswith(found) for problem in claims.problems(tmp_path, page, []))


@pytest.mark.parametrize("interval", ["[0.96, 0.99]", "(0.96 to 0.99)"])
def test_a_true_figure_passes(tmp_path: Path, interval: str) -> None:
    """Figures as rounded from the cited file pass, and so do small counts."""
    page = page_of(tmp_path, TRUE.replace("[0.96, 0.99]", interval))
    assert claims.problems(tmp_path, page, []) == []


def test_a_table_cites_beside_itself(tmp_path: Path) -> None:
    """A table is held to the file that the paragraph before it cites."""
    head = "As measured ([results](../benchmarks/results/x.md)):\n\n| what | ratio |\n|---|---|\n"
    assert claims.problems(tmp_path, page_of(tmp_path, f"{head}| torch | 0.98 |\n"), []) == []
    other = tmp_path / "other"
    (found,) = claims.problems(other, page_of(other, f"{head}| torch | 0.88 |\n"), [])
    assert found.endswith("0.88 is not in x.md")


def test_a_comment_in_code_is_read(tmp_path: Path) -> None:
    """What stands behind a command is a claim, too; the command itself is none."""
    page = page_of(tmp_path, "Like this:\n\n```\nbakeoff run --budget 44s  # takes 44 % of it\n```\n")
    (found,) = claims.problems(tmp_path, page, [])
    assert found.endswith("44 % cites no file")


def test_the_example_is_what_its_records_say() -> None:
    """docs/reading.md shows what `bakeoff report` says of the shipped records: `make docs` writes it again."""
    command = [sys.executable, "-m", "bakeoff", "report", RECORDS, "--markdown"]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    page = (ROOT / "docs" / "reading.md").read_text(encoding="utf-8")
    shown = page.partition("<!-- the report: by `make docs` -->")[2].partition("<!-- its end -->")[0]
    assert shown.strip() == f"#{told}".strip()
    assert (ROOT / RECORDS / "report.md").read_text(encoding="utf-8").strip() == told.strip()


def test_the_readme_shows_the_race_that_is_explained() -> None:
    """README.md has the chart of the same records above its first command."""
    above = (ROOT / "README.md").read_text(encoding="utf-8").partition("```")[0]
    assert f"({RECORDS}/chart.svg)" in above
