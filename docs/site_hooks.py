"""What mkdocs calls when it builds the site: pages and files that stand outside of docs/ become part of it.

A link that works in the repository works in the site. A page keeps its path (below repository/ if it is not in docs/),
and README.md is the site's start. What is linked and no page is copied: a source file as text, of a folder of records
its report, of a folder of pages the first one, of any other folder the list of its files.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mkdocs.structure.files import File, InclusionLevel

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
OUTSIDE = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "benchmarks/results/*.md")
"""The pages that are not in docs/."""
LISTS = ("decisions/", "records/explained/", "results/", "repository/benchmarks/results/")
"""Entries of the navigation that stand for all pages of a folder."""
SHOWN = frozenset((".html", ".svg", ".png", ".json", ".txt", ".xz", ".gz"))
"""What a browser shows by itself, or keeps; anything else is served as text."""

_CODE = re.compile(r"^```.*?^```$|`[^`\n]*`", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(?<=\]\()([^)\s#]+)([^)\s]*)(?=\)|\s+\")")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put every page of a folder into the navigation where the folder is named."""
    config.nav = _expanded(config.nav)
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that stand outside of docs/."""
    for page in _outside():
        files.append(File.generated(config, _uri(page), abs_src_path=str(page)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Lead each relative link to where its target is in the site, and copy what is no page."""
    here = Path(str(page.file.abs_src_path))

    def led(hit: re.Match[str]) -> str:
        if re.match(r"[a-z]+:", hit[1]):
            return hit[0]
        uri = _target((here.parent / hit[1]).resolve(), config, files)
        return hit[0] if uri is None else posixpath.relpath(uri, posixpath.dirname(page.file.src_uri) or ".") + hit[2]

    kept = [code[0] for code in _CODE.finditer(markdown)]
    # Code holds no links; it is put back as it was.
    parts = [_LINK.sub(led, part) for part in _CODE.split(markdown)]
    return parts[0] + "".join(code + part for code, part in zip(kept, parts[1:], strict=True))


def _outside() -> list[Path]:
    """Return the pages that stand outside of docs/."""
    return [path for pattern in OUTSIDE for path in sorted(ROOT.glob(pattern))]


def _uri(path: Path) -> str:
    """Return where a file of the repository is in the site."""
    inside = path.relative_to(ROOT).as_posix()
    if inside == "README.md":
        return "index.md"
    return inside.removeprefix("docs/") if inside.startswith("docs/") else f"repository/{inside}"


def _target(path: Path, config: MkDocsConfig, files: Files) -> str | None:
    """Return where a link's target is in the site, which then has it; None where there is nothing."""
    if path.is_dir():
        path, listed = _of_folder(path)
        if listed:
            return _added(f"{_uri(path)}/files.txt", config, files, content=listed)
    if not path.is_file() or not path.is_relative_to(ROOT):
        return None
    uri = _uri(path)
    if files.get_file_from_path(uri) is not None and path.suffix == ".md":
        return uri
    return _added(uri if path.suffix in SHOWN else f"{uri}.txt", config, files, abs_src_path=str(path))


def _of_folder(folder: Path) -> tuple[Path, str]:
    """Return the file that shows a folder, or the folder and the list of its files."""
    for pattern in ("report.html", "*.md"):
        if found := sorted(folder.glob(pattern)):
            return found[0], ""
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.suffix in {".py", ".toml"})
    return folder, "\n".join(names) + "\n"


def _added(uri: str, config: MkDocsConfig, files: Files, **source: str) -> str:
    """Add a file to the site unless it is there, and return where."""
    there = files.get_file_from_path(uri)
    if there is None:
        files.append(File.generated(config, uri, **source))
    else:
        there.inclusion = InclusionLevel.INCLUDED
    return uri


def _expanded(nav: Any) -> Any:
    """Return the navigation with the pages of each folder that it names, without those that have none."""
    if isinstance(nav, list):
        known = [_expanded(entry) for entry in nav]
        return [entry for entry in known if not isinstance(entry, dict) or any(pages != [] for pages in entry.values())]
    if isinstance(nav, dict):
        return {title: _expanded(entry) for title, entry in nav.items()}
    if nav not in LISTS:
        return nav
    folder = ROOT / nav.removeprefix("repository/") if nav.startswith("repository/") else ROOT / "docs" / nav
    return [{path.stem: _uri(path)} for path in sorted(folder.glob("*.md"))]
