"""One file a form: each walks pages, whatever was undertaken. Forms are found by location.

A module here that holds a `Form` is a form: what it writes stands beside the records from then on.
"""

from __future__ import annotations

import pkgutil
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from bakeoff.spec.errors import NoPictureError
from bakeoff.store.files import write_atomically

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bakeoff.report.page import Page


class Form(NamedTuple):
    """A form in which pages are written beside their records."""

    name: str
    file: str
    write: Callable[[Sequence[Page], Path], bytes]
    """Return the content of a file in that folder, which says all pages."""
    is_announced: bool = False
    """A terminal says where the file is."""

    def named(self, page: Page) -> str:
        """Return the name of a page's file."""
        return f"{page.prefix}{self.file}"


def forms() -> list[Form]:
    """Return every form that is written beside the records."""
    modules = [import_module(f"{__name__}.{found.name}") for found in pkgutil.iter_modules(__path__)]
    return [form for module in modules for form in vars(module).values() if isinstance(form, Form)]


def save(page: Page) -> dict[str, Path]:
    """Write every form beside the records, and before it those of the comparisons within; return the paths by name.

    Where no picture can be drawn the forms without any are written all the same, and then NoPictureError is raised.
    """
    undrawn: NoPictureError | None = None
    for inner in page.inner:
        try:
            save(inner)
        except NoPictureError as error:
            undrawn = error
    folder = Path(page.path)
    contents = {}
    for form in forms():
        try:
            contents[form] = form.write([page], folder)
        except NoPictureError as error:
            undrawn = error
    for form, content in contents.items():
        write_atomically(folder / form.named(page), content)
    if undrawn is not None:
        raise undrawn
    return {form.name: folder / form.named(page) for form in contents}


def files(page: Page) -> dict[str, Path]:
    """Return the records and the announced forms that are beside them, by their names; nothing of a redacted page."""
    if not page.path:
        return {}
    folder = Path(page.path)
    known = {form.name: folder / form.named(page) for form in forms() if form.is_announced}
    return {"records": folder} | {name: path for name, path in known.items() if path.exists()}
