"""A chart as a drawing: its title apart, which a page writes itself, and SVG that may stand beside others."""

from __future__ import annotations

import json
import re
import resource
from functools import cache, lru_cache
from importlib import import_module
from os import cpu_count
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, NamedTuple

from bakeoff.report.pictures import NARROW, WIDE, themed
from bakeoff.spec.errors import NoPictureError

if TYPE_CHECKING:
    from bakeoff.report.page import Picture
    from bakeoff.report.pictures import Chart

ADDRESS_SPACE_BYTES = 72 << 30
"""What drawing wants of address space, hardly any of it memory: V8, within vl-convert 1.9, reserves 64 GiB and ends the
process by a trap where it cannot; measured, 64 GiB in all were too few and 72 enough."""

MOST_POOLED = 16
"""Threads in V8's pool at most; else it has one for each core but one (V8, libplatform/default-platform.cc)."""

OTHER_THREADS = 4
"""Beside the pool: vl-convert has one of its own, and the rest is room. Where it finds none it ends the process."""

_SIZE = re.compile(r'<svg\b[^>]*?\bwidth="([\d.]+)" height="([\d.]+)"')
_ROLE = re.compile(r' (?:role|aria-roledescription|aria-label|aria-hidden)="[^"]*"')
"""What the renderer says of every mark: a drawing is one picture, whose text says what it shows."""
_ID = re.compile(r'\bid="([^"]+)"')


class Drawing(NamedTuple):
    """A chart as SVG, with what stands above it."""

    title: str
    meaning: list[str]
    """How to read it, in lines."""
    svg: str
    width: float
    height: float


class Layouts(NamedTuple):
    """A picture on a page: for wide and for narrow screens."""

    wide: Drawing
    narrow: Drawing


def renderer() -> Any:
    """Return vl-convert; raise NoPictureError where it would end the process."""
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit != resource.RLIM_INFINITY and limit < ADDRESS_SPACE_BYTES:
        needed = ADDRESS_SPACE_BYTES >> 30
        msg = (
            f"no picture is drawn: that reserves {needed} GiB of address space, and `ulimit -v` allows {limit >> 30} "
            "GiB; the records are whole: draw them without that limit, by bakeoff report, whose --markdown needs none"
        )
        raise NoPictureError(msg)
    _try_threads()
    return import_module("vl_convert")


@cache
def _try_threads() -> None:
    """Start as many threads as the renderer may, and end them; raise NoPictureError where the system refuses.

    Once is enough: what the renderer has started it keeps.
    """
    leave = Event()
    started: list[Thread] = []
    try:
        for _ in range(min(cpu_count() or 1, MOST_POOLED) + OTHER_THREADS):
            thread = Thread(target=leave.wait)
            thread.start()
            started.append(thread)
    except RuntimeError as error:
        msg = (
            "no picture is drawn: that starts threads, and the system allows no more of them (`ulimit -u`, a control "
            "group); the records are whole: draw them without that limit, by bakeoff report; --markdown needs none"
        )
        raise NoPictureError(msg) from error
    finally:
        leave.set()
        for thread in started:
            thread.join()


def layouts(picture: Picture, name: str) -> Layouts:
    """Return a picture for a page; `name` is no other picture's, and tells their ids apart."""
    wide, narrow = (laid_out(picture, width, name=f"{name}-{width}", is_on_page=True) for width in (WIDE, NARROW))
    return Layouts(wide, narrow)


def laid_out(picture: Picture, width: int, *, name: str, is_on_page: bool) -> Drawing:
    """Return a picture as SVG, laid out for so many pixels from left to right."""
    # altair holds each part against its schema when it is made, which takes as long as all else: the tests do it.
    with import_module("altair.utils.schemapi").debug_mode(False):  # noqa: FBT003 - altair's own
        return drawing(picture.draw(width), name=name, is_on_page=is_on_page)


def drawing(chart: Chart, *, name: str, is_on_page: bool) -> Drawing:
    """Return a chart as SVG: in the page's colours, light or dark, or in those for light paper."""
    spec = themed(chart, is_on_page=is_on_page)
    title = spec.pop("title", None) or {}
    meaning = title.get("subtitle", [])
    renderer()  # raises what there is to raise, also where the same was drawn before
    svg = _ROLE.sub("", _rendered(json.dumps(spec)))
    size = _SIZE.search(svg)
    assert size is not None
    width, height = (float(part) for part in size.groups())
    lines = [meaning] if isinstance(meaning, str) else meaning
    return Drawing(title.get("text", ""), lines, _apart(svg, name), width, height)


@lru_cache(maxsize=32)
def _rendered(spec: str) -> str:
    """Return a specification as SVG; PNG and SVG of the same pages draw the same."""
    svg: str = renderer().vegalite_to_svg(spec)
    return svg


def _apart(svg: str, name: str) -> str:
    """Return a drawing whose ids no other drawing has: a page holds many."""
    for identity in set(_ID.findall(svg)):
        svg = svg.replace(f'id="{identity}"', f'id="{name}-{identity}"').replace(
            f"#{identity})", f"#{name}-{identity})"
        )
    return svg
