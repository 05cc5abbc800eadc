"""A gallery's files: the page of each undertaking, with its ways to others and to its records, and the list of all."""

from __future__ import annotations

import hashlib
import os
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple
from urllib.parse import quote

import msgspec

import bakeoff
from bakeoff.judge.explanation import Explanation
from bakeoff.judge.study import StudyOutcome
from bakeoff.report.forms.html import environment, rendered
from bakeoff.report.forms.marks import HTML, SOURCE
from bakeoff.report.gallery import made
from bakeoff.report.gallery.card import Undertaken, card_of
from bakeoff.report.gallery.picture import small
from bakeoff.report.gallery.records import ARCHIVE_FILE, digest, folders, packed
from bakeoff.report.pages import page_of
from bakeoff.report.pictures.colours import PAPER
from bakeoff.report.redacted import Redaction
from bakeoff.report.units import listed
from bakeoff.spec.text import count, plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bakeoff.acceptance.redacted import Redactor
    from bakeoff.report.gallery.card import Card
    from bakeoff.report.gallery.found import PageSource
    from bakeoff.report.page import Page

VERSION = 1
"""Of the pages and of data.js: pages of another one are made anew."""

Records = Literal["copy", "link", "none"]
"""How a page leads to its records: to an archive beside it, to where they lie, or not at all."""

SELECTS = (
    ("kind", "Kind"),
    ("workloads", "Workload"),
    ("scenarios", "Scenario"),
    ("frameworks", "Framework"),
    ("versions", "Version"),
    ("devices", "Device"),
    ("verdicts", "Verdict"),
)
"""What a list can be filtered by: the field of a card, and its label."""

_SHARED = ("kind", "title", *(name for name, _ in SELECTS if name != "kind"), "study", "picture")
"""Fields whose words many cards have in common: data.js has each word once."""


class Site(NamedTuple):
    """A gallery, and how it is made."""

    folder: Path
    title: str
    records: Records
    using: Redactor | None
    """What takes names, folders and keys out; None: nothing does."""

    def made_of(self, one: PageSource, parts: Sequence[PageSource]) -> str:
        """Return a hash of all that the page of an undertaking depends on; `parts` are a study's comparisons."""
        ways = [self.title, self.records, self._records(one), self.using is not None]
        about = [one.kind, one.study, one.is_explained, [part.slug for part in parts]]
        records = digest(one, has_logs=self._has_archive(one) and self.using is None)
        depends = [VERSION, bakeoff.__version__, *ways, *about, records]
        return hashlib.sha256(msgspec.json.encode(depends)).hexdigest()

    def make(self, one: PageSource, parts: Sequence[PageSource], outcome: Undertaken, made_of: str) -> Card:
        """Write the page of an undertaking with all that belongs to it, and return its card."""
        redaction = Redaction(self.using, outcome, folders(one)) if self.using else None
        said = _leading(outcome, redaction.of(outcome) if redaction else outcome, parts)
        page = page_of(said)
        card = card_of(page, said, one.slug, one.study)
        contents = {made.PAGE_FILE: self._page(one, page).encode()}
        if picture := small(page, said):
            contents[made.CARD_FILE] = picture.svg
            card = msgspec.structs.replace(card, picture=picture.title, width=picture.width, height=picture.height)
        if self._has_archive(one):
            contents[ARCHIVE_FILE] = packed(one, redaction)
        return made.write(self.folder, made.GalleryEntry(made_of=made_of, card=card, files={}), contents).card

    def _has_archive(self, one: PageSource) -> bool:
        """Return whether records are packed beside a page; an explanation leads to those of its comparison."""
        return self.records == "copy" and one.kind != "explanation"

    def write_list(self, cards: Iterable[Card]) -> None:
        """Write the list of these cards, the newest first, with its style and its script."""
        newest = sorted(cards, key=lambda card: card.slug)
        newest.sort(key=lambda card: card.created_at, reverse=True)
        templates = resources.files("bakeoff.report") / "templates"
        paper = f":root {{ --paper: light-dark({', '.join(PAPER)}); }}\n"
        styles = "".join((templates / name).read_text() for name in ("page.css", "gallery.css"))
        about = [*_counted(newest), *([f"the newest of {newest[0].created_at[:10]}"] if newest[0].created_at else [])]
        told = f"{', '.join(about)}. Made by bakeoff {bakeoff.__version__}."
        template = environment().get_template("gallery.html.j2")
        text = template.render(title=self.title, about=told, selects=SELECTS, mark=HTML)
        # The list last: whoever opens it meanwhile finds what it needs.
        for name, content in (
            ("gallery.css", (SOURCE + paper + styles).encode()),
            ("gallery.js", (templates / "gallery.js").read_bytes()),
            ("data.js", data(newest)),
            ("index.html", text.encode()),
        ):
            made.write_if_new(self.folder / name, content)

    def _page(self, one: PageSource, page: Page) -> str:
        """Return the report of an undertaking, as it stands in the gallery."""
        records = self._records(one)
        named = self.using.text(one.folder.name) if self.using else one.folder.name
        said = plain(named) if self.records == "link" else ARCHIVE_FILE
        note = ", without names of people, machines and folders" if self.records == "copy" and self.using else ""
        return rendered(
            "gallery_page.html.j2",
            [page],
            link=quote,
            records=records,
            said=f"{said}{note}",
            gallery=self.title,
            ways=_ways(one),
        )

    def _records(self, one: PageSource) -> str:
        """Return the address of the records, from their page; empty where they are left out."""
        if self.records == "none":
            return ""
        if self.records == "copy":
            return f"../{one.slug.removesuffix('-why')}/{ARCHIVE_FILE}" if one.kind == "explanation" else ARCHIVE_FILE
        here = self.folder.resolve() / made.PAGES / one.slug
        return quote(os.fsencode(Path(os.path.relpath(one.folder.resolve(), here)).as_posix())) + "/"


def data(cards: Sequence[Card]) -> bytes:
    """Return data.js: a row for each card, and each word that many have in common once."""
    words: dict[str, int] = {}

    def told(name: str, value: object) -> object:
        if name not in _SHARED:
            return value
        if isinstance(value, list):
            return [words.setdefault(one, len(words)) for one in value]
        return words.setdefault(str(value), len(words))

    rows = []
    for card in cards:
        fields = msgspec.structs.asdict(card)
        fields |= {"verdicts": list(card.verdicts), "counts": list(card.verdicts.values())}
        fields["ratio"] = None if card.ratio is None else float(f"{card.ratio:.4g}")
        rows.append([told(name, value) for name, value in fields.items()])
    names = [*msgspec.structs.asdict(cards[0]), "counts"] if cards else []
    content = {"version": VERSION, "fields": names, "listed": _SHARED, "words": list(words), "rows": rows}
    return SOURCE.encode() + b"window.GALLERY = " + msgspec.json.encode(content).replace(b"<", rb"\u003c") + b";\n"


def _leading(outcome: Undertaken, said: Undertaken, parts: Sequence[PageSource]) -> Undertaken:
    """Return what is said of an outcome with, in place of folders, what leads from its page to others."""
    if isinstance(said, Explanation):
        return msgspec.structs.replace(
            said, outcome=msgspec.structs.replace(said.outcome, path=said.outcome.comparison.id)
        )
    if not isinstance(said, StudyOutcome) or not isinstance(outcome, StudyOutcome):
        return said
    pages = {part.folder.name: f"../{part.slug}/{made.PAGE_FILE}" for part in parts}
    points = [
        point
        if point.outcome is None or before.outcome is None
        else msgspec.structs.replace(
            point,
            outcome=msgspec.structs.replace(point.outcome, path=pages.get(Path(before.outcome.path).name, "")),
        )
        for before, point in zip(outcome.points, said.points, strict=True)
    ]
    return msgspec.structs.replace(said, points=points)


def _ways(one: PageSource) -> list[tuple[str, str]]:
    """Return where a page leads besides the list, each with its address."""
    ways = []
    if one.study:
        ways.append(("Its study", f"../{one.study}/{made.PAGE_FILE}"))
    if one.kind == "study":
        ways.append(("Its comparisons in the list", f"../../index.html#study={quote(one.slug, safe='')}"))
    if one.kind == "explanation":
        ways.append(("The comparison", f"../{one.slug.removesuffix('-why')}/{made.PAGE_FILE}"))
    elif one.is_explained:
        ways.append(("Why one is slower", f"../{one.why.slug}/{made.PAGE_FILE}"))
    return ways


def _counted(cards: Sequence[Card]) -> list[str]:
    """Return how many there are of each kind, in words."""
    kinds = [card.kind for card in cards]
    said = {kind: kinds.count(kind) for kind in dict.fromkeys(kinds)}
    return [listed([f"{number:,} {_plural(kind)}" if number > 1 else count(1, kind) for kind, number in said.items()])]


def _plural(kind: str) -> str:
    """Return the word for several of a kind."""
    return {"study": "studies", "search": "searches"}.get(kind, f"{kind}s")
