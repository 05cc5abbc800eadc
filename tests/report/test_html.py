from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from tests.report.shown import html

from bakeoff.report.forms import files, forms, save
from bakeoff.report.pages import page_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from bakeoff.judge.outcome import Outcome

LARGEST_BYTES = 2_000_000
VOID = {"meta", "link", "br", "wbr", "img", "hr"}


class Page(HTMLParser):
    """What a page is made of; refuses elements that are not closed in order."""

    def __init__(self, text: str) -> None:
        """Read the page."""
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element."""
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element without content."""
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        """Close the element that was opened last."""
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        """Note text."""
        self.text.append(data)

    def found(self, name: str) -> list[dict[str, str | None]]:
        """Give the attributes of all elements of a name."""
        return [attributes for tag, attributes in self.tags if tag == name]


def test_nothing_from_elsewhere(each: Callable[[], list[Outcome]]) -> None:
    """A page fetches nothing: no script, no address but of the records, no import in its style."""
    for outcome in each():
        text = html(outcome)
        page = Page(text)
        assert page.found("script") == page.found("link") == page.found("img") == page.found("iframe") == []
        assert {link["href"] for link in page.found("a")} <= {"results/mlp-mnist-4f2a/", "#page-1-warnings"}
        assert not any("src" in attributes or "xlink:href" in attributes for _, attributes in page.tags)
        assert not re.search(r"@import|url\(\s*['\"]?(?!#)", text)
        assert len(text.encode()) < LARGEST_BYTES


def test_charts_have_texts_and_tables(undecided: Outcome) -> None:
    """Each of the four pictures has a caption and a text that states its finding; the figures are folded below it."""
    text = html(undecided)
    page = Page(text)
    texts = [str(found["aria-label"]) for found in page.found("div") if found.get("role") == "img"]
    assert len(texts) == len(page.found("figure")) == len(page.found("figcaption")) == 4
    assert "torch is slower than both" in texts[0]
    assert "tensorflow 0.98 ms (0.96 to 1.01)" in texts[1]
    assert "torch 320 MB (220 MB after its import)" in texts[2]
    assert "ahead until about step 1,400" in texts[3]
    assert len(re.findall(r"</table></div>\s*</details>\s*</figure>", text)) == 3


def test_the_ratios_stand_directly_under_the_table(decided: Outcome) -> None:
    """The answer is the heading, then come why to believe it, the table of verdicts, and the chart of ratios."""
    page = html(decided)
    answer = page_of(decided).headline
    order = [f">{answer}</h1>", page_of(decided).trust, "<table", "Ratio by pair</h2>", "<li>", "Step time</h2>"]
    order += ["Memory</h2>", "Time against steps</h2>", "Why to believe it</h2>", "Reproduce</h2>"]
    places = [page.index(part) for part in order]
    assert places == sorted(places)
    assert page.count("<h1") == 1


def test_warnings_stand_behind_the_figures(noisy: Outcome) -> None:
    """The head of a page says how many warnings there are, and leads to them behind the figures."""
    page = html(noisy)
    (link,) = re.findall(r'<a href="#(page-1-warnings)">(\d+) warnings</a>', page)
    assert page.index(f'id="{link[0]}"') > page.index("Time against steps</h2>")
    warnings = page[page.index('<div class="warnings">') :]
    assert warnings[: warnings.index("</div>")].count("<li>") == int(link[1])


def test_tables_can_be_heard(each: Callable[[], list[Outcome]]) -> None:
    """Every table has a caption and a region of its own name that keys reach, and every line a header."""
    text = html(*each())
    page = Page(text)
    regions = [found for found in page.found("div") if found.get("role") == "region"]
    names = [found["aria-label"] for found in regions]
    assert len(set(names)) == len(names) == len(page.found("table")) == len(page.found("caption")) > 80
    assert all(found["tabindex"] == "0" for found in regions)
    lines = re.findall(r"<tr[^>]*>(.*?)</tr>", text[text.index("<body>") :], flags=re.DOTALL)
    assert all("<th" in line for line in lines)
    assert len(page.found("main")) == 1


def test_each_picture_has_two_layouts_and_no_id_twice(lit: Outcome, same: Outcome) -> None:
    """A page holds every picture for wide and for narrow screens, and no id stands in it twice."""
    text = html(lit, same)
    assert text.count("<svg") == 2 * text.count("<figure>") == 18
    ids = re.findall(r'\bid="([^"]+)"', text)
    assert len(set(ids)) == len(ids) > 8
    used = set(re.findall(r'(?:url\(#|aria-labelledby="|href="#)([^")]+)', text))
    assert used <= set(ids)


def test_labels_are_text(mixed: Outcome) -> None:
    """Markup in labels and reasons is shown as it was written, in tables and in drawings."""
    page = Page(html(mixed))
    assert page.found("b") == page.found("i") == []
    assert "torch@<b>[red]|*x*" in page.text


def test_folds_hold_all_that_is_known(noisy: Outcome) -> None:
    """Settings, timing, certificate, compilation and memory, noise and environment are there, folded."""
    text = html(noisy)
    page = Page(text)
    folds = text[text.index("Why to believe it</h2>") :].count("<details>")
    assert folds == 8
    assert len(page.found("details")) == folds + text.count(": the figures</summary>")
    for words in (
        "matmul_precision",
        "407,050 parameters with the same names",
        "page faults a step",
        "4 of 4",
        "AMD EPYC",
    ):
        assert words in text


def test_differences_are_marked(undecided: Outcome) -> None:
    """A setting that differs between contenders is marked; one that agrees is not."""
    one = msgspec.structs.replace(undecided.contenders[0], settings={"mode": "graph", "threads": 1})
    text = html(msgspec.structs.replace(undecided, contenders=[one, *undecided.contenders[1:]]))
    assert re.search(r'<tr class="marked"><th class="word" scope="row">threads<', text)
    assert re.search(r'<tr><th class="word" scope="row">mode<', text)


def test_failed_checks_are_marked(mixed: Outcome) -> None:
    """A check that did not pass is marked, with what was found and what is allowed."""
    text = html(mixed)
    cells = (
        r'<tr class="marked"><th class="word" scope="row">jax:<wbr>mode=<wbr>eager</th><td class="word">gradients</td>'
    )
    assert re.search(cells, text)


def test_several_comparisons_are_one_page(undecided: Outcome, same: Outcome) -> None:
    """Several comparisons are articles of one page, each with its answer as a heading under the page's own."""
    page = html(undecided, same)
    assert page.count("<h1") == 1
    assert f">{page_of(same).headline}</h2>" in page
    assert re.findall(r'<article aria-labelledby="([^"]+)">', page) == ["page-1", "page-2"]
    assert [link["href"] for link in Page(page).found("a")][:2] == ["#page-1", "#page-2"]


def test_saved_beside_the_records(undecided: Outcome, tmp_path: Path) -> None:
    """All forms are written into the comparison's folder, whole, and the page's link to the records is relative."""
    outcome = msgspec.structs.replace(undecided, path=str(tmp_path))
    page = page_of(outcome)
    paths = save(page)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["chart.png", "chart.svg", "report.html", "report.md"]
    assert [link["href"] for link in Page(paths["report"].read_text(encoding="utf-8")).found("a")] == ["./"]
    assert set(files(page)) == {"records", "report", "chart"}
    assert {form.name for form in forms()} == set(paths)
