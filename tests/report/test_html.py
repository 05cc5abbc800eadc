from __future__ import annotations

import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest
from tests.report.shown import html

from bakeoff.report.forms import files, forms, save
from bakeoff.report.pages import page_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from bakeoff.judge.outcome import Outcome

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
LARGEST_BYTES = 2_000_000
VOID = {"meta", "link", "br", "img", "hr"}


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
        assert [link["href"] for link in page.found("a")] == ["results/mlp-mnist-4f2a/"]
        assert not any("src" in attributes or "xlink:href" in attributes for _, attributes in page.tags)
        assert not re.search(r"@import|url\(\s*['\"]?(?!#)", text)
        assert len(text.encode()) < LARGEST_BYTES


def test_charts_have_texts_and_tables(undecided: Outcome) -> None:
    """Each of the three pictures has a text that states its finding, and a table."""
    page = Page(html(undecided))
    texts = [found["aria-label"] for found in page.found("div") if found.get("role") == "img"]
    assert len(texts) == len(page.found("figure")) == 3
    assert "tensorflow 0.98 ms (0.96 to 1.01)" in str(texts[0])
    assert "ahead until about step 1,400" in str(texts[1])
    assert "tensorflow is 2.2x as fast as torch" in str(texts[2])
    assert len(re.findall(r"</table></div>\s*</figure>", html(undecided))) == 3


def test_labels_are_text(mixed: Outcome) -> None:
    """Markup in labels and reasons is shown as it was written, in tables and in drawings."""
    page = Page(html(mixed))
    assert page.found("b") == page.found("i") == []
    assert "torch@<b>[red]|*x*" in page.text


def test_folds_hold_all_that_is_known(noisy: Outcome) -> None:
    """Settings, timing, certificate, compilation and memory, noise and environment are there, folded."""
    text = html(noisy)
    page = Page(text)
    assert len(page.found("details")) == 7
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
    assert re.search(r'<tr class="marked"><td class="word">threads<', text)
    assert re.search(r'<tr><td class="word">mode<', text)


def test_failed_checks_are_marked(mixed: Outcome) -> None:
    """A check that did not pass is marked, with what was found and what is allowed."""
    text = html(mixed)
    assert re.search(r'<tr class="marked"><td class="word">jax:mode=eager</td><td class="word">gradients</td>', text)


def test_several_comparisons_are_one_page(undecided: Outcome, same: Outcome) -> None:
    """Several comparisons are sections of one page."""
    assert len(Page(html(undecided, same)).found("section")) == 2


def test_saved_beside_the_records(undecided: Outcome, tmp_path: Path) -> None:
    """All forms are written into the comparison's folder, whole, and the page's link to the records is relative."""
    outcome = msgspec.structs.replace(undecided, path=str(tmp_path))
    page = page_of(outcome)
    paths = save(page)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["chart.png", "chart.svg", "report.html", "report.md"]
    assert [link["href"] for link in Page(paths["report"].read_text(encoding="utf-8")).found("a")] == ["./"]
    assert set(files(page)) == {"records", "report", "chart"}
    assert {form.name for form in forms()} == set(paths)


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed here")
def test_a_browser_shows_it(mixed: Outcome, tmp_path: Path) -> None:
    """A real browser, without any network, shows the page, its drawings, and labels as text."""
    path = tmp_path / "report.html"
    path.write_text(html(mixed), encoding="utf-8")
    options = "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking"
    more = f"--disable-component-update --disable-sync --user-data-dir={tmp_path / 'profile'} --dump-dom"
    command = [str(CHROMIUM), *options.split(), *more.split(), path.as_uri()]
    shown = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
    assert shown.count("<svg") == 3
    assert "torch@&lt;b&gt;[red]|*x*" in shown
    assert "<b>" not in shown
