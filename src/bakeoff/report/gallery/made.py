"""What a gallery's folder holds already: which pages bakeoff made there, and what it may replace or remove."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec

import bakeoff
from bakeoff.report.forms.marks import check_overwritable
from bakeoff.report.gallery.card import Card
from bakeoff.report.gallery.records import ARCHIVE_FILE
from bakeoff.spec.bounded import read_bounded
from bakeoff.spec.errors import StoreError, UsageError
from bakeoff.store.files import write_atomically
from bakeoff.store.reading import decoded

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

PAGES = "pages"
"""The folder of all pages, each in a folder of its own."""
PAGE_FILE, CARD_FILE, ENTRY_FILE = "index.html", "card.svg", "entry.json"
FILES = (PAGE_FILE, CARD_FILE, ARCHIVE_FILE)
"""All that a page's folder may hold beside its entry."""
TOP = ("index.html", "gallery.css", "gallery.js", "data.js")


class GalleryEntry(msgspec.Struct, frozen=True, kw_only=True):
    """The content of entry.json, which is written last: a page without it is made anew."""

    bakeoff: str = bakeoff.__version__
    made_of: str
    """A hash of all that the page depends on."""
    card: Card
    files: dict[str, str]
    """The SHA-256 of each file beside it."""


def entries(folder: Path) -> dict[str, GalleryEntry]:
    """Return what was made in a gallery's folder before, by the names of the pages."""
    found = {}
    for path in sorted((folder / PAGES).glob(f"*/{ENTRY_FILE}")):
        with suppress(OSError, ValueError, StoreError):
            entry = decoded(read_bounded(path), GalleryEntry)
            if entry.card.slug == path.parent.name and set(entry.files) <= set(FILES):
                found[path.parent.name] = entry
    return found


def check(folder: Path, slugs: Iterable[str], *, force: bool) -> None:
    """Raise UsageError where a page, or the list, would replace what bakeoff did not make."""
    if folder.exists() and not folder.is_dir():
        msg = f"-o {folder}: a file is there: name a folder to write the gallery to"
        raise UsageError(msg)
    for name in TOP:
        check_overwritable(folder / name, force=force)
    for slug in slugs:
        here = folder / PAGES / slug
        if led := next((one for one in (here.parent, here) if one.is_symlink()), None):
            msg = f"{led} is a link, and links are not followed: remove it"
            raise UsageError(msg)
        if here.exists():
            for name in (*FILES, ENTRY_FILE):
                check_overwritable(here / name, force=force)


def is_whole(folder: Path, entry: GalleryEntry) -> bool:
    """Return whether every file of a page is still there."""
    return all((folder / PAGES / entry.card.slug / name).is_file() for name in entry.files)


def write(folder: Path, entry: GalleryEntry, contents: Mapping[str, bytes]) -> GalleryEntry:
    """Write a page's files and, behind them, its entry; files that it has no more are removed. Return the entry."""
    here = folder / PAGES / entry.card.slug
    for name, content in contents.items():
        write_if_new(here / name, content)
    for name in set(FILES) - set(contents):
        (here / name).unlink(missing_ok=True)
    hashes = {name: hashlib.sha256(content).hexdigest() for name, content in sorted(contents.items())}
    entry = msgspec.structs.replace(entry, files=hashes)
    write_if_new(here / ENTRY_FILE, msgspec.json.encode(entry).replace(b"<", rb"\u003c"))
    return entry


def write_if_new(path: Path, content: bytes) -> None:
    """Write a file, unless it has these bytes already."""
    with suppress(OSError):
        if path.read_bytes() == content:
            return
    write_atomically(path, content)


def remove(folder: Path, entry: GalleryEntry) -> list[str]:
    """Remove a page; return a sentence for each file of it that stays, because somebody has changed it since."""
    here = folder / PAGES / entry.card.slug
    stays = []
    for name, sha256 in entry.files.items():
        path = here / name
        try:
            if hashlib.sha256(path.read_bytes()).hexdigest() == sha256:
                path.unlink()
            else:
                stays.append(f"{path} was changed, so it stays; its records are no longer among those that were named")
        except FileNotFoundError:
            continue
        except OSError as error:
            msg = f"cannot remove {path}: {error.strerror or error}"
            raise StoreError(msg) from error
    with suppress(OSError):  # A folder with something of somebody's own stays.
        (here / ENTRY_FILE).unlink(missing_ok=True)
        here.rmdir()
    return stays
