"""What lies in folders of results: every comparison, study, search and acceptance, each with a name of its own."""

from __future__ import annotations

import hashlib
import os
import re
from typing import TYPE_CHECKING, Literal, NamedTuple

import msgspec

from bakeoff.spec.bounded import read_bounded
from bakeoff.spec.errors import StoreError, UsageError
from bakeoff.spec.text import plain
from bakeoff.spec.trial import KINDS
from bakeoff.store.acceptances import ACCEPTANCE_FILE
from bakeoff.store.files import COMPARISON_FILE, STUDY_FILE
from bakeoff.store.folders import holding
from bakeoff.store.reading import decoded
from bakeoff.store.searches import SEARCH_FILE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

Kind = Literal["comparison", "study", "reproduction", "search", "acceptance", "explanation"]

FILES: dict[str, Kind] = {
    STUDY_FILE: "study",
    ACCEPTANCE_FILE: "acceptance",
    SEARCH_FILE: "search",
    COMPARISON_FILE: "comparison",
}
"""By which file a folder is known as what."""

_EXPLAINED = KINDS["explain"].folder.partition("{")[0]
"""How the folders of traced trials begin."""

_UNSAFE = re.compile(r"[^A-Za-z0-9._=+-]+")
"""What a folder's name may hold and an address should not."""

LONGEST_NAME = 80
"""Characters of a folder's name that are kept: file systems allow 255 bytes, and a digest stands behind it."""


class PageSource(NamedTuple):
    """What a page is made of: something that was undertaken, and where it lies."""

    kind: Kind
    folder: Path
    slug: str
    """The name of its page: the same for the same undertaking wherever its folder lies."""
    study: str = ""
    """The slug of the study that it is a part of."""
    is_explained: bool = False
    """Whether traces of it say why one contender is slower, so that it has a second page."""

    @property
    def why(self) -> PageSource:
        """Return its explanation, which lies in the same folder."""
        return self._replace(kind="explanation", slug=f"{self.slug}-why", study=self.study)


class _Plan(msgspec.Struct, frozen=True):
    """What search.json has in common with the others, one level deeper."""

    created_at: str = ""


class _Begun(msgspec.Struct, frozen=True):
    """When something was begun."""

    created_at: str = ""
    plan: _Plan = _Plan()


def found_in(
    places: Iterable[Path], without: Path, named: Callable[[str], str] = str
) -> tuple[list[PageSource], list[str]]:
    """Return what lies in these places, each thing once, and a sentence for each folder that is passed over, with why.

    A place is a results directory, or the folder of one comparison, study, search or acceptance; `without` is passed
    over, and so are links in a results directory. `named` says how the name of a folder may stand in that of its page.
    Raises UsageError for a place that is no folder.
    """
    found: dict[str, PageSource] = {}
    lost = []
    for place in places:
        if not place.is_dir():
            msg = f"{plain(str(place))} is no folder: name folders of results, such as results"
            raise UsageError(msg)
        folders = [place] if _kind(place) else sorted(one for one in place.iterdir() if one.is_dir())
        for folder in folders:
            if folder.name.startswith(".") or folder.resolve() == without.resolve():
                continue
            if folder != place and folder.is_symlink():  # It may lead to what is nobody's to publish.
                lost.append(f"{plain(str(folder))} is a link, and links are not followed: name the folder itself")
                continue
            try:
                kind = _kind(folder)
            except OSError as error:  # Such as somebody else's folder, or lost+found of a disk.
                lost.append(f"{plain(str(folder))} cannot be read: {error.strerror or error}")
                continue
            if kind is None:
                lost.append(f"{plain(str(folder))} holds nothing of bakeoff's")
                continue
            for one in _with_parts(kind, folder, named):
                found.setdefault(one.slug, one)
    return list(found.values()), lost


def clean(name: str) -> str:
    """Return a folder's name as it may stand in an address."""
    return _UNSAFE.sub("-", name)[:LONGEST_NAME].strip("-.") or "unnamed"


def _kind(folder: Path) -> Kind | None:
    """Return what lies in a folder; None where that is nothing of bakeoff's."""
    return next((kind for name, kind in FILES.items() if (folder / name).is_file()), None)


def _with_parts(kind: Kind, folder: Path, named: Callable[[str], str]) -> list[PageSource]:
    """Return what lies in a folder, its explanation, and a study's comparisons."""
    whole = PageSource(kind, folder, _slug(folder, kind, named))
    if kind == "comparison":
        return _with_why(whole)
    if kind != "study":
        return [whole]
    parts = [path.parent for path in holding(folder, COMPARISON_FILE)]
    inner = [PageSource("comparison", part, _slug(part, "comparison", named), study=whole.slug) for part in parts]
    return [whole, *(one for part in inner for one in _with_why(part))]


def _with_why(one: PageSource) -> list[PageSource]:
    """Return a comparison, and its explanation where it was explained."""
    if not any(one.folder.glob(f"{_EXPLAINED}*/")):
        return [one]
    explained = one._replace(is_explained=True)
    return [explained, explained.why]


def _slug(folder: Path, kind: Kind, named: Callable[[str], str]) -> str:
    """Return a folder's name with six digits that tell it from others of that name; "" for the date of a damaged one.

    A folder's name ends in four random digits, which two of ten thousand comparisons may well have in common.
    """
    file = next(name for name, known in FILES.items() if known == kind)
    try:
        begun = decoded(read_bounded(folder / file), _Begun)
        created_at = begun.created_at or begun.plan.created_at
    except (OSError, ValueError, StoreError):
        created_at = ""
    name = os.path.basename(os.path.abspath(folder))  # noqa: PTH100, PTH119 - of a folder that is called "."
    return f"{clean(named(name))}-{hashlib.sha256(f'{name} {created_at}'.encode(errors='replace')).hexdigest()[:6]}"
