"""`bakeoff report --readme`: the parts of the user's own README that are kept as the records are."""

from __future__ import annotations

import stat
import time
from typing import TYPE_CHECKING, NamedTuple

import typer

from bakeoff.spec.bounded import read_bounded
from bakeoff.spec.errors import BakeoffError, DamagedError, UnknownNameError, UsageError
from bakeoff.spec.text import plain
from bakeoff.store.files import COMPARISON_FILE, END_FILE, RECORD_FILE, STUDY_FILE

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from bakeoff.report.page import Page
    from bakeoff.report.readme import MarkedPart

WATCH_S = 2.0
"""Between two looks at the records: a round takes longer, and a look costs next to nothing."""

_ANYBODY = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH

_SEEN = (STUDY_FILE, COMPARISON_FILE, END_FILE, RECORD_FILE)
"""Files by whose coming and changing a report changes."""


class Readme(NamedTuple):
    """A README with the records that its parts are about."""

    file: Path
    results: Path
    force: bool

    def update(self) -> tuple[list[Path], bool]:
        """Write the parts anew, and a chart for each beside the file.

        Return the folders that they depend on, and whether the file was written.
        Files whose bytes would be the same are left alone. Raises UsageError for markers that do not pair, and for a
        name that nothing was run by.
        """
        from bakeoff.report.forms.markdown import to_block
        from bakeoff.report.readme import rewritten

        file, text, parts = self.parts()
        folders = {part.name: self._folders(part.name) for part in parts}
        pages = {name: _page(found[-1]) for name, found in folders.items()}
        charts = {name: _chart(name) for name, page in pages.items() if any(one.picture for one in page.sections)}
        blocks = [to_block(pages[part.name], charts.get(part.name, "")) for part in parts]
        new = rewritten(text, parts, blocks).encode()
        drawn = {file.parent / chart: self._drawn(pages[name], file.parent / chart) for name, chart in charts.items()}
        # That took a second or more: what somebody saved meanwhile is begun from, and not overwritten.
        if self.parts()[1] != text:
            return self.update()
        mode = _writable(file, new)
        for path, picture in drawn.items():
            _write(path, picture)
        is_new = _write(file, new, mode)
        return [folder for found in folders.values() for folder in found], is_new

    def look(self, folders: list[Path]) -> list[tuple[str, int | None]]:
        """Return what changes when the file does, what was begun, or what there is in these folders."""
        begun = [path for name in (STUDY_FILE, COMPARISON_FILE) for path in self.results.glob(f"*/{name}")]
        within = [path for folder in folders for name in _SEEN for path in folder.rglob(name)]
        return [(str(path), _changed_ns(path)) for path in sorted({self.file, *begun, *within})]

    def parts(self) -> tuple[Path, str, list[MarkedPart]]:
        """Return the file itself, where links lead to it, its text, and its parts; raise UsageError."""
        from bakeoff.report.readme import parts_of

        try:
            file = self.file.resolve(strict=True)
            text = read_bounded(file).decode()
        except (OSError, RuntimeError) as error:  # RuntimeError: links that lead to each other, in Python 3.11
            why = getattr(error, "strerror", None) or error
            msg = f"--readme {self.file}: {why}; name a Markdown file that is there"
            raise UsageError(msg) from error
        except UnicodeDecodeError as error:
            msg = f"--readme {self.file} is not UTF-8 (byte {error.start}): save it as UTF-8"
            raise UsageError(msg) from error
        except DamagedError as error:
            msg = f"--readme {self.file}: {error}; name a Markdown file"
            raise UsageError(msg) from error
        return file, text, parts_of(text, str(self.file))

    def _folders(self, name: str) -> list[Path]:
        """Return, last, what a part is about: a workload's newest comparison with an answer, or what has this id.

        Before it are newer ones that have no answer yet; where none has one, the newest is the last.
        """
        from bakeoff.judge.comparison import judge_comparison
        from bakeoff.store.absurd import told_if_absurd
        from bakeoff.store.everywhere import of_workload, raced
        from bakeoff.store.results import find

        newest = of_workload(self.results, name)
        if not newest:
            try:
                return [find(self.results, name)]
            except UnknownNameError as error:
                kind = "raced workload or comparison"
                raise UnknownNameError(kind, name, raced(self.results)) from error
        for place, folder in enumerate(newest):
            with told_if_absurd():
                if judge_comparison(folder).is_answered:
                    return newest[: place + 1]
        return newest[::-1]

    def _drawn(self, page: Page, path: Path) -> bytes:
        """Return a page's chart; raise UsageError where what is there is not bakeoff's."""
        from bakeoff.report.forms.marks import check_overwritable
        from bakeoff.report.forms.pictures import to_picture

        check_overwritable(path, force=self.force)
        return to_picture([page], path)


def keep(readme: Readme, *, watch: bool) -> None:
    """Write a README's parts once, or, watching, whenever records arrive, until Ctrl-C."""
    from bakeoff.cli import TerminatedError

    if not watch:
        _, is_new = readme.update()
        typer.echo(f"readme  {readme.file}{'' if is_new else ' (as it was)'}", err=True)
        return
    readme.parts()  # What is wrong with the file itself ends it here; what is not there yet is waited for.
    typer.echo("watching the records; Ctrl-C ends it", err=True)
    try:
        follow(readme, time.sleep)
    except TerminatedError:
        raise
    except KeyboardInterrupt:
        typer.echo("ended", err=True)


def follow(readme: Readme, sleep: Callable[[float], object]) -> None:
    """Write a README's parts, and again whenever something has changed; what goes wrong is said once, and no end."""
    folders: list[Path] = []
    seen: list[tuple[str, int | None]] = []
    said = ""
    while True:
        try:
            # Seen before it is written: what changes meanwhile, the file itself too, is found by the next look.
            now = readme.look(folders)
            if now != seen:
                seen = now
                folders, is_new = readme.update()
                said = ""
                if is_new:
                    typer.echo(f"readme  {readme.file}", err=True)
        except (BakeoffError, OSError) as error:
            if str(error) != said:
                typer.echo(f"not written: {plain(str(error))}", err=True)
            said = str(error)
        sleep(WATCH_S)


def _page(folder: Path) -> Page:
    """Return what is said of a folder, without names of people, machines and folders."""
    from bakeoff.judge.comparison import judge_comparison
    from bakeoff.judge.study import judge_study
    from bakeoff.report.pages import page_of
    from bakeoff.report.redacted import redacted
    from bakeoff.store.absurd import told_if_absurd
    from bakeoff.store.results import is_study

    with told_if_absurd():
        page = page_of(redacted(judge_study(folder) if is_study(folder) else judge_comparison(folder)))
    return _with_one_picture(page)


def _with_one_picture(page: Page) -> Page:
    """Return a page with the picture that leads, or its first one, alone: a README has room for one."""
    import msgspec

    pictured = sorted((one for one in page.sections if one.picture), key=lambda one: not one.leads)
    left = [
        msgspec.structs.replace(one, picture=None) if any(one is other for other in pictured[1:]) else one
        for one in page.sections
    ]
    return msgspec.structs.replace(page, sections=left)


def _chart(name: str) -> str:
    """Return the name of a part's chart, which stands beside the file."""
    return f"bakeoff-{name}.svg"


def _writable(path: Path, content: bytes) -> int:
    """Return the permissions of a file that is to have these bytes; raise UsageError where nobody may write to it.

    A file is replaced, which its folder alone would allow.
    """
    mode = stat.S_IMODE(path.stat().st_mode)
    if not mode & _ANYBODY and path.read_bytes() != content:
        msg = f"--readme {path} is read-only: allow writing (chmod u+w), or name another file"
        raise UsageError(msg)
    return mode


def _write(path: Path, content: bytes, mode: int | None = None) -> bool:
    """Write a file unless it has these bytes, and give it permissions; return whether it was written."""
    from bakeoff.store.files import write_atomically

    if path.exists() and path.read_bytes() == content:
        return False
    write_atomically(path, content)
    if mode is not None:
        path.chmod(mode)
    return True


def _changed_ns(path: Path) -> int | None:
    """Return when a file was written last; None where it is gone."""
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return None
