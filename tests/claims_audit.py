"""Counts how many changed figures tests/test_claims.py overlooks, page by page: `python -m tests.claims_audit`.

Of every figure that is held to a citation one digit is changed: the last one, or the first one that is not zero.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tests import claims

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

LAST, FIRST = "last", "first"


@dataclass(frozen=True)
class Planted:
    """A statement of a page with one digit changed."""

    page: Path
    told: claims.Statement
    figure: str
    instead: str
    place: int

    @property
    def is_overlooked(self) -> bool:
        """Whether nothing is found amiss."""
        changed = self.told.text[: self.place] + self.instead + self.told.text[self.place + len(self.figure) :]
        return not replace(self.told, text=changed).missing()


def _others(figure: str, which: str) -> list[str]:
    """Return a figure with each other digit in the place of its last one, or of its first one that is not zero."""
    places = [hit.start() for hit in re.finditer(r"\d", figure.partition("e")[0])]
    at = places[-1] if which == LAST else next((place for place in places if figure[place] != "0"), places[-1])
    digits = "123456789" if at == places[0] and len(places) > 1 else "0123456789"
    return [figure[:at] + digit + figure[at + 1 :] for digit in digits if digit != figure[at]]


def planted(root: Path, pages: Iterable[Path], allowed: list[dict[str, str]], which: str) -> Iterator[Planted]:
    """Yield every figure of some pages that is held to a file, with each other digit in one place."""
    for page in pages:
        for block, cited in claims.beside(root, page):
            for told in claims.statements(root, claims.spared(block, allowed, root), cited) if cited else ():
                for place, figure in claims.placed(told.text):
                    others = [] if figure.counts else _others(figure.text, which)
                    yield from (Planted(page, told, figure.text, other, place) for other in others)


def _main() -> None:
    from tests.test_claims import PAGES, ROOT, allowed

    for which in (LAST, FIRST):
        every = list(planted(ROOT, PAGES, allowed(), which))
        overlooked = [one for one in every if one.is_overlooked]
        missed, total = Counter(one.page.name for one in overlooked), Counter(one.page.name for one in every)
        told = [
            f"{one.page.name}: {one.figure} as {one.instead} in {' '.join(one.told.text.split())[:90]}"
            for one in overlooked
        ]
        told += [f"{page}: {missed[page] / count:.1%} of {count} overlooked" for page, count in total.items()]
        told += [f"{which} digit: {len(overlooked) / len(every):.1%} of {len(every)} overlooked", ""]
        sys.stdout.write("\n".join(told))


if __name__ == "__main__":
    _main()
