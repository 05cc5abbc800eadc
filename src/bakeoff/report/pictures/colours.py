"""Colours that are seen on light and on dark paper: each keeps its hue, and is as dark or light as contrast needs."""

from __future__ import annotations

import re

PAPER = ("#ffffff", "#15181c")
"""What a page is on, light and dark; a picture in a file is on the first."""
INK = "#1f2328"
"""Of text on white: 15.8 : 1."""
GREY = "#808080"
"""For what belongs to no framework: 3.9 : 1 on light paper, 4.5 : 1 on dark."""
LEAST_CONTRAST = 3.1
"""Between a mark and its paper: WCAG 2.2, criterion 1.4.11, asks for 3 : 1; the rest is for rounding."""
_STEPS = 100
"""Shares of black or white that are tried, from none to all."""
_BOTH = re.compile(r"light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)")


def contrast(first: str, second: str) -> float:
    """Return the contrast of two colours, from 1 to 21, as WCAG 2.2 defines it."""
    darker, lighter = sorted((_luminance(first), _luminance(second)))
    return (lighter + 0.05) / (darker + 0.05)


def seen(colour: str) -> str:
    """Return a colour of a mark for both kinds of paper, in CSS: darkened for light, lightened for dark."""
    return f"light-dark({_readable(colour, PAPER[0])}, {_readable(colour, PAPER[1])})"


def pale(colour: str, share: float) -> str:
    """Return a mark's inside: this share of its colour, the rest paper, so that no line shows through."""
    both = _BOTH.fullmatch(seen(colour))
    assert both is not None
    light, dark = (mixed(one, paper, 1 - share) for one, paper in zip(both.groups(), PAPER, strict=True))
    return f"light-dark({light}, {dark})"


def on_light(text: str) -> str:
    """Return what is drawn on light paper: the first colour of each pair."""
    return _BOTH.sub(r"\1", text)


def mixed(first: str, second: str, share: float) -> str:
    """Return a colour between two, with this share of the second."""
    pairs = zip(_parts(first), _parts(second), strict=True)
    return "#" + "".join(f"{round(one + share * (other - one)):02x}" for one, other in pairs)


def _readable(colour: str, paper: str) -> str:
    """Return the colour with the least black or white in it that stands out from the paper."""
    end = "#000000" if _luminance(paper) > _luminance(GREY) else "#ffffff"
    tried = (mixed(colour, end, step / _STEPS) for step in range(_STEPS + 1))
    return next(one for one in tried if contrast(one, paper) >= LEAST_CONTRAST)


def _parts(colour: str) -> list[int]:
    """Return red, green and blue, from 0 to 255."""
    return [int(colour[start : start + 2], 16) for start in (1, 3, 5)]


def _luminance(colour: str) -> float:
    """Return the relative luminance, as WCAG 2.2 defines it."""
    linear = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in _shares(colour))  # noqa: PLR2004 (sRGB)
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def _shares(colour: str) -> list[float]:
    """Return red, green and blue, from 0 to 1."""
    return [part / 255 for part in _parts(colour)]
