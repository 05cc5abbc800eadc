"""The documentation's site: it builds without a network, and every link in it leads somewhere."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [path for path in (*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")) if "records" not in path.parts]


def build(project: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """Build the site of a project into a folder, with a proxy that nobody answers in place of a network."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    nowhere = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9")
    environment = os.environ | nowhere | {"NO_MKDOCS_2_WARNING": "1"}
    return subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site once."""
    folder = tmp_path_factory.mktemp("site") / "built"
    told = build(ROOT, folder)
    assert told.returncode == 0, told.stderr
    assert "excluded from the built site" not in told.stderr, told.stderr
    return folder


class Parsed(HTMLParser):
    """What a built page links to, loads, and can be led to."""

    def __init__(self, path: Path) -> None:
        """Read a page."""
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what an element names."""
        named = {name: value or "" for name, value in attrs}
        self.anchors |= {named[name] for name in ("id", "name") if name in named}
        if tag == "a" and "href" in named:
            self.links.append(named["href"])
        elif tag in {"link", "script", "img"}:
            is_meta = named.get("rel") in {"canonical", "next", "prev"}
            self.loaded += [named[name] for name in ("href", "src") if name in named and not is_meta]


def test_every_link_of_the_site_leads_somewhere(site: Path) -> None:
    """Every relative link, picture, script and style of every built page is there, and so is the anchor it names."""
    pages = {path: Parsed(path) for path in site.rglob("*.html") if "records" not in path.parts}
    broken = []
    for page, parsed in pages.items():
        for link in (*parsed.links, *parsed.loaded):
            parts = urlsplit(link)
            if parts.scheme or page.name == "404.html":
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            is_there = target.is_file() and (target not in pages or parts.fragment in {"", *pages[target].anchors})
            broken += [] if is_there else [f"{page.relative_to(site)}: {link}"]
    assert len(pages) > 30
    assert not broken


def test_the_site_loads_nothing_from_elsewhere(site: Path) -> None:
    """No page and no style of the site fetches a font, a script or a picture from another host."""
    loaded = [link for path in site.rglob("*.html") for link in Parsed(path).loaded if urlsplit(link).netloc]
    styles = [
        path.name for path in site.rglob("*.css") if re.search(r"(url\(|@import )['\"]?(https?:)?//", path.read_text())
    ]
    assert not loaded + styles


def test_a_broken_link_fails_the_build(tmp_path: Path) -> None:
    """A link to a page that is not there, an anchor that is not, and a page outside of the navigation are errors."""
    (tmp_path / "docs").mkdir()
    shutil.copy(ROOT / "docs" / "site_hooks.py", tmp_path / "docs")
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:")[0]
    (tmp_path / "mkdocs.yml").write_text(f"{settings}\nnav: [index.md]\n")
    (tmp_path / "README.md").write_text("# Start\n\n[one](docs/none.md), [two](#nowhere), [here](#start)\n")
    (tmp_path / "docs" / "lost.md").write_text("# Lost\n")
    told = build(tmp_path, tmp_path / "built")
    assert told.returncode != 0
    assert "docs/none.md" in told.stderr
    assert "#nowhere" in told.stderr
    assert "lost.md" in told.stderr
    assert "#start" not in told.stderr


def test_links_elsewhere_are_well_formed() -> None:
    """A link to another host is an https address of a host with a dot, without a space or a full stop at its end."""
    found = [
        (path.name, link)
        for path in PAGES
        for link in re.findall(r"\]\(([a-z]+:[^)]*)\)|<(https?:[^>]*)>", path.read_text(encoding="utf-8"))
    ]
    links = [(name, first or second) for name, (first, second) in found]
    assert links
    form = r"https://[\w-]+(\.[\w-]+)+(/[^\s\"]*[^\s\".,])?/?"
    assert not [one for one in links if not re.fullmatch(form, one[1])]
