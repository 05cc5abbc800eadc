"""Every measured figure of README.md and docs/ is in the file that its text cites; claims.py has the convention."""

from __future__ import annotations

import random
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from tests import claims, claims_audit

ROOT = Path(__file__).parents[1]

GENERATED = {"cli.md", "published.md", "results.md"}
"""Written from the code, the studies' files and kept records by `make docs`; tests of their own hold them."""

DOCS = [path for folder in ("docs", "docs/decisions") for path in sorted((ROOT / folder).glob("*.md"))]
PAGES = [ROOT / "README.md", *(path for path in DOCS if path.name not in GENERATED)]

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


RESULTS = """# What was measured

3 rounds each: 240 certificates, none refused.

| contender | ratio | share | faults | error | step (ms) |
| --- | --- | --- | --- | --- | --- |
| torch | 0.9788 [0.9641, 0.9913] | 43.8% | 1180 | 7.1e-06 | 5.1e+03 |
| jax | 1.4360 [1.4250, 1.4460] | 12.1% | 445 | 3.3e-06 | 27.2 |
| tensorflow | 1.1510 [1.1020, 1.2010] | 77.0% | 8 | 2.2e-06 | 35.9 |
| jittor | 5.0360 [4.4650, 5.2780] | 61.2% | 610 | 9.4e-06 | 16.6 |
"""


def page_of(folder: Path, text: str) -> Path:
    """Write a page that may cite a file of results with one table, in a project of its own."""
    results = folder / "benchmarks" / "results"
    results.mkdir(parents=True)
    (results / "x.md").write_text(RESULTS)
    page = folder / "docs" / "page.md"
    page.parent.mkdir()
    page.write_text(text)
    return page


def found_in(folder: Path, text: str) -> list[str]:
    """Return what is found amiss in a page, without where."""
    return [one.rpartition(": ")[2] for one in claims.problems(folder, page_of(folder, text), [])]


TRUE = (
    "In PyTorch half of it took 0.98 [0.96, 0.99] as long, 44 % of 1,180, off by 7e-6 "
    "([results](../benchmarks/results/x.md)); 3 rounds."
)


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("0.98", "0.97", "0.97 is not in x.md"),
        ("44 %", "45 %", "45 % is not in x.md"),
        ("1,180", "1,190", "1,190 is not in x.md"),
        ("7e-6", "8e-6", "8e-6 is not in x.md"),
        ("44 %", "12 %", "12 % is not in x.md"),
        ("1,180", "610", "610 is not in x.md"),
        ("44 %", "44 ms", "44 ms is not in x.md"),
        ("[0.96, 0.99]", "[0.96, 1.45]", "0.98 [0.96, 1.45] is not in x.md"),
        ("[0.96, 0.99]", "[0.99, 0.96]", "0.98 [0.99, 0.96] is not in x.md"),
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
    """A changed figure, one of another row or unit, an interval of two rows, or a citation that is gone, is found."""
    assert found in found_in(tmp_path, TRUE.replace(old, new))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("JAX took 445 faults", []),
        ("JAX took 1,180 faults", ["1,180 faults is not in x.md"]),
        ("A first step of PyTorch took 5.1 s", []),
        ("A first step of PyTorch took 5,100 ms", []),
        ("A first step of PyTorch took 5,100 s", ["5,100 s is not in x.md"]),
        ("A step of JAX took 27 s", ["27 s is not in x.md"]),
        ("Of 240 certificates none was refused", []),
        ("No share was larger than the largest, 77 %", []),
        ("No share was larger than the largest, 61 %", ["61 % is not in x.md"]),
        ("Their ratios were 0.98 to 5.04", []),
        ("Their ratios were 0.98 to 1.44", ["1.44 is not in x.md"]),
    ],
)
def test_a_figure_is_in_the_row_that_its_sentence_names(tmp_path: Path, text: str, found: list[str]) -> None:
    """A figure is in the row or sentence of its names, in its unit, or ends a column where it is said to."""
    assert found_in(tmp_path, f"{text} ([results](../benchmarks/results/x.md)).") == found


@pytest.mark.parametrize(
    ("rows", "found"),
    [
        ("jax", []),
        ("jax: share", []),
        ("torch; jax: share", []),
        ("jax, 445: share", []),
        ("jax: ratio", ["12 % is not in x.md"]),
        ("torch", ["12 % is not in x.md"]),
        ("jax, 446: share", ["12 % is not in x.md"]),
        ("ja: share", ["12 % is not in x.md"]),
    ],
)
def test_a_title_names_the_rows_that_hold_a_figure(tmp_path: Path, rows: str, found: list[str]) -> None:
    """Where a link's title names rows and columns, they have the figure, whatever the sentence says."""
    assert found_in(tmp_path, f'It was 12 % ([results](../benchmarks/results/x.md\n"{rows}")).') == found


def test_a_sentence_leans_on_the_next_citation(tmp_path: Path) -> None:
    """A sentence that cites nothing is held to the file that the next one cites, by its own names."""
    text = "JAX took {} faults. PyTorch took 1,180 ([results](../benchmarks/results/x.md))."
    assert found_in(tmp_path, text.format(445)) == []
    assert found_in(tmp_path / "other", text.format("1,180")) == ["1,180 faults is not in x.md"]


@pytest.mark.parametrize("interval", ["[0.96, 0.99]", "(0.96 to 0.99)"])
def test_a_true_figure_passes(tmp_path: Path, interval: str) -> None:
    """Figures as rounded from the cited file pass, and so do small counts."""
    assert found_in(tmp_path, TRUE.replace("[0.96, 0.99]", interval)) == []


def test_a_table_cites_beside_itself(tmp_path: Path) -> None:
    """A table is held to the file that the paragraph before it cites: row by row, and column by column."""
    head = "As measured ([results](../benchmarks/results/x.md)):\n\n| what | ratio | share of it |\n|---|---|---|\n"
    assert found_in(tmp_path, f"{head}| torch | 0.98 | 44 % |\n| jax | 1.44 | 12 % |\n") == []
    assert found_in(tmp_path / "rows", f"{head}| torch | 0.98 | 12 % |\n") == ["12 % is not in x.md"]
    assert found_in(tmp_path / "columns", f"{head}| jax | 1.44 | 445 |\n") == ["445 is not in x.md"]


def test_few_changed_digits_are_overlooked() -> None:
    """Of figures with another last digit, or another first one, at most one in ten passes as true."""
    draw = random.Random(20)  # noqa: S311 - of figures, not of keys
    for which in (claims_audit.LAST, claims_audit.FIRST):
        drawn = draw.sample(list(claims_audit.planted(ROOT, PAGES, allowed(), which)), 200)
        overlooked = [f"{one.page.name}: {one.figure} as {one.instead}" for one in drawn if one.is_overlooked]
        assert len(overlooked) <= len(drawn) / 10, overlooked


def test_a_comment_in_code_is_read(tmp_path: Path) -> None:
    """What stands behind a command is a claim, too; the command itself is none."""
    text = "Like this:\n\n```\nbakeoff run --budget 44s  # takes 44 % of it\n```\n"
    assert found_in(tmp_path, text) == ["44 % cites no file"]


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
