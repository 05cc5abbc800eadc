"""A gallery as a real browser shows and works it: 200 made comparisons, one start of Chromium."""

from __future__ import annotations

import functools
import http
import http.server
import json
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.conftest import script
from tests.report.browser import tools

from bakeoff.judge.outcome import Outcome
from bakeoff.report.gallery.card import Card, card_of
from bakeoff.report.gallery.found import PageSource, found_in
from bakeoff.report.gallery.picture import MOST_PAIRS, small
from bakeoff.report.gallery.site import Site, data
from bakeoff.report.pages import page_of

NUMBER = 200
WIDTHS, THEMES = (360, 1280), ("light", "dark")
POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'"
"""The strictest that a server may set for the list."""
WILD = '<img src=x onerror="window.hacked=1"><b>bold</b>'

_SEEN: dict[str, Any] = {}


def made(folder: Path, outcome: Outcome) -> tuple[list[Card], str]:
    """Write a gallery of made cards with real pictures; return the cards, newest first, and a study's slug."""
    page = page_of(outcome)
    picture = small(page, outcome)
    assert picture is not None
    cards = script("gallery").cards(NUMBER)
    wild = msgspec.structs.replace(cards[0], headline=WILD, title=WILD, created_at="2027-01-01T00:00")
    site = Site(folder, "Gallery", "none", None)
    real = site.make(PageSource("comparison", folder, wild.slug, study="a-study"), [], outcome, "")
    assert real.headline == page.headline
    cards = [wild, *cards[1:]]
    for card in cards[1:]:
        here = folder / "pages" / card.slug
        here.mkdir(parents=True)
        (here / "card.svg").write_bytes(picture.svg)
        (here / "index.html").write_text(
            f'<!doctype html><nav><a href="../../index.html">Gallery</a></nav><h1>{card.slug}</h1>'
        )
    site.write_list(cards)
    return cards, next(card.slug for card in cards if card.kind == "study")


class _Handler(http.server.SimpleHTTPRequestHandler):
    """Serves files under a strict policy, and says nothing."""

    def do_GET(self) -> None:
        """Give a file; an icon, which a browser asks every server for, is nothing."""
        if self.path == "/favicon.ico":
            self.send_response(http.HTTPStatus.NO_CONTENT)
            self.end_headers()
        else:
            super().do_GET()

    def end_headers(self) -> None:
        """Add the policy."""
        self.send_header("Content-Security-Policy", POLICY)
        super().end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder on this machine alone, and give its address."""
    handler = functools.partial(_Handler, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def seen(decided: Outcome, tmp_path: Path) -> dict[str, Any]:
    """Return what the browser saw; the first test that asks has it look."""
    if not _SEEN:
        try:
            browser, node, modules = tools.chromium(), tools.node(), tools.modules()
        except tools.MissingError as error:
            pytest.skip(str(error))
        cards, study = made(tmp_path / "site", decided)
        index = tmp_path / "site" / "index.html"
        job = {
            "file": index.as_uri(),
            "study": study,
            "page": f"pages/{cards[0].slug}/index.html",
            "widths": WIDTHS,
            "themes": THEMES,
        }
        with served(tmp_path / "site") as address:
            job |= {"http": f"{address}/index.html", "profile": tmp_path / "profile", "shots": None}
            (tmp_path / "job.json").write_text(json.dumps(job, default=str))
            command = [node, str(tools.HERE / "gallery.mjs"), browser, str(modules), str(tmp_path / "job.json")]
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=200)
        assert done.returncode == 0, done.stderr
        _SEEN.update(json.loads(done.stdout), made=cards, file=job["file"], of=study)
    return _SEEN


def top(cards: list[Card]) -> list[Card]:
    """Return the cards that no study stands for."""
    return [card for card in cards if not card.study]


def shown(number: int) -> str:
    """Return how the list begins to say how many it shows."""
    return f"{number} shown" if number == NUMBER else f"{number} of {NUMBER} shown"


pytestmark = pytest.mark.slow


def test_the_list_begins_with_the_newest(seen: dict[str, Any]) -> None:
    """The newest come first, a page of 48 at a time, and studies stand for their comparisons."""
    newest = sorted(top(seen["made"]), key=lambda card: card.created_at, reverse=True)
    assert seen["first"]["count"].startswith(shown(len(newest)))
    assert seen["first"]["cards"] == 48
    assert seen["first"]["heads"][:2] == [WILD, newest[1].headline]
    assert seen["first"]["place"].startswith("Page 1 of ")
    assert "parts of studies" in seen["first"]["within"]


def test_text_is_never_markup(seen: dict[str, Any]) -> None:
    """A stranger's headline is shown letter by letter, and runs nothing."""
    assert (seen["first"]["markup"], seen["first"]["hacked"]) == (0, None)


def test_a_search_stands_in_the_address(seen: dict[str, Any]) -> None:
    """A slash leads to the search; what is typed is found in all cards, and again where the address is opened."""
    found = [card for card in seen["made"] if "vgg16" in f"{card.title} {card.slug}" and "fastest" in card.headline]
    assert seen["slash"] == "q"
    assert seen["searched"]["hash"] == "#q=vgg16+fastest"
    assert seen["searched"]["count"].startswith(shown(len(found)))
    assert seen["again"] == {**seen["searched"], "focus": seen["again"]["focus"]}


def test_keys_alone_lead_everywhere(seen: dict[str, Any]) -> None:
    """Arrows go over the cards and back to the search, Home and End to the ends, Enter opens, and a page leads back."""
    cards = seen["searched"]["ratios"]
    assert seen["walked"][0] == cards[0]
    assert seen["walked"][1] == cards[1]
    columns = cards.index(seen["walked"][2]) - 1
    assert columns > 1
    assert seen["walked"][3] == cards[columns]
    assert seen["walked"][4:] == [cards[min(len(cards), 48) - 1], cards[0], "q"]
    assert seen["opened"] == seen["file"].replace("index.html", cards[0])
    assert cards[0] == f"pages/{seen['title']}/index.html"
    assert seen["back"] == seen["file"]


def test_filters_take_what_has_all_of_them(seen: dict[str, Any]) -> None:
    """Workload, framework, device and verdict together leave the cards that have all; dates are days."""
    asked = {
        ("workloads", "mlp-mnist"),
        ("frameworks", "torch"),
        ("devices", "cuda: NVIDIA L4"),
        ("verdicts", "undecided"),
    }
    found = [card for card in seen["made"] if all(value in getattr(card, name) for name, value in asked)]
    assert found
    assert seen["filtered"]["count"].startswith(shown(len(found)))
    march = sorted(
        (card for card in seen["made"] if card.created_at.startswith("2026-03")), key=lambda one: one.created_at
    )
    assert seen["dated"]["count"].startswith(shown(len(march)))
    assert seen["dated"]["ratios"][0] == f"pages/{march[0].slug}/index.html"
    largest = max(card.ratio or 0 for card in top(seen["made"]))
    (first,) = [card for card in seen["made"] if f"pages/{card.slug}/index.html" == seen["sorted"]["ratios"][0]]
    assert first.ratio == largest


def test_a_study_has_its_comparisons_around_it(seen: dict[str, Any]) -> None:
    """The list of a study has the study and its comparisons, and a way back to everything."""
    mine = [card for card in seen["made"] if seen["of"] in (card.slug, card.study)]
    assert seen["study"]["cards"] == len(mine) > 2
    assert "Show everything" in seen["study"]["within"]


def test_nothing_found_is_said_and_can_be_cleared(seen: dict[str, Any]) -> None:
    """An address that nothing has, with a page and a value that are not there, says so; Clear all shows everything."""
    assert (seen["nothing"]["cards"], seen["nothing"]["count"][:7]) == (0, "Nothing")
    assert seen["cleared"]["count"] == seen["first"]["count"]
    assert seen["cleared"]["hash"] == ""


def test_pages_are_turned_by_button_and_by_arrow(seen: dict[str, Any]) -> None:
    """The next page begins with its first card, which has the focus, and stands in the address."""
    for name, number in (("second", 2), ("third", 3)):
        assert seen[name]["hash"] == f"#page={number}"
        assert seen[name]["focus"] == seen[name]["ratios"][0]
    assert not set(seen["second"]["ratios"]) & set(seen["first"]["ratios"])


def test_nothing_is_fetched_and_nothing_fails(seen: dict[str, Any]) -> None:
    """From files nothing else is asked for, no error is in the console, and the strictest policy refuses nothing."""
    folder = seen["file"].removesuffix("index.html")
    assert [one for one in seen["asked"] if not one.startswith((folder, "about:", "data:"))] == []
    assert seen["errors"] == []
    assert seen["served"]["refused"] == []
    assert seen["served"]["cards"] == 48


def test_everybody_can_read_it(seen: dict[str, Any]) -> None:
    """axe-core finds nothing in the list or a page, in either theme at 360 and 1280 pixels; nothing moves sideways."""
    assert len(seen["looks"]) == 4 * len(WIDTHS) * len(THEMES)
    assert [look for look in seen["looks"] if look["violations"] or look["overflow"] > 0 or not look["drawn"]] == []


def test_data_has_each_word_once(decided: Outcome) -> None:
    """A card of 10,000 takes less than 400 bytes, and the same cards give the same bytes."""
    cards = script("gallery").cards(1000)
    assert data(cards) == data(script("gallery").cards(1000))
    assert len(data(cards)) < 400 * len(cards)
    card = card_of(page_of(decided), decided, "mlp-mnist-4f2a-000000", "")
    assert (card.verdicts, card.ratio, card.devices) == ({"decided": 3}, 2.16, ["cpu: AMD EPYC"])


def test_a_card_has_room_for_a_few_pairs(decided: Outcome) -> None:
    """Of many pairs those with the fastest contender are drawn, and text has ink for light and for dark paper."""
    names = ["torch", "jax", "tensorflow", *(f"torch ({number})" for number in range(2, 5))]
    base = decided.contenders[0]
    many = msgspec.structs.replace(
        decided,
        contenders=[
            msgspec.structs.replace(base, label=name, median_step_s=place + 1.0) for place, name in enumerate(names)
        ],
        verdicts=[
            msgspec.structs.replace(decided.verdicts[0], first=other, second=name)
            for place, name in enumerate(names)
            for other in names[place + 1 :]
        ],
    )
    picture = small(page_of(many), many)
    assert picture is not None
    text = picture.svg.decode()
    assert text.count(" / torch<") == MOST_PAIRS
    assert "light-dark(#ffffff, #15181c)" in text


def test_a_folder_that_may_not_be_read_ends_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody else's private folder between results is named and left out, and the rest is found."""
    for name in ("mine", "private"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "comparison.json").write_text("{}")
    is_file = Path.is_file

    def refusing(path: Path) -> bool:
        if path.parent.name == "private":
            raise PermissionError(13, "Permission denied")
        return is_file(path)

    monkeypatch.setattr(Path, "is_file", refusing)
    known, lost = found_in([tmp_path], tmp_path / "site")
    assert [one.folder.name for one in known] == ["mine"]
    assert lost == [f"{tmp_path / 'private'} cannot be read: Permission denied"]
