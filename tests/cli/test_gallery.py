"""`bakeoff gallery`: pages of records that were made on real machines, made again, kept, and taken away."""

from __future__ import annotations

import json
import os
import re
import shutil
import tarfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import msgspec
import pytest
from tests.cli.conftest import Cli, Said

from bakeoff.cli import FAILED
from bakeoff.report.forms import drawings
from bakeoff.report.gallery import site
from bakeoff.spec.request import Request
from bakeoff.spec.study import Point, Study
from bakeoff.store import studies
from bakeoff.store.files import read_record
from bakeoff.store.studies import PointState

RECORDS = Path(__file__).parents[2] / "docs" / "records"
DRAWN = '<svg class="marks" width="340" height="90" viewBox="0 0 340 90"></svg>'
HOME = "/home/ann/frameworks"


@pytest.fixture(autouse=True)
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have pictures drawn at once: what they show is tested elsewhere, and takes seconds."""
    monkeypatch.setattr(drawings, "_rendered", lambda _: DRAWN)


def copied(folder: Path) -> None:
    """Copy a comparison with two of its rounds alone, which are judged quickly; without certificates nobody ranks."""
    left = shutil.ignore_patterns("certify*", "late*", "program*", "ref*", "r0[3-9]*", "report*", "chart*")
    shutil.copytree(RECORDS / "mlp-mnist-07d5", folder, ignore=left)


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Return a results directory with a comparison, and a study of another one."""
    folder = tmp_path / "results"
    copied(folder / "mlp-mnist-07d5")
    study = folder / "sweep-4f2a"
    copied(study / "mlp-mnist-4f2b")
    request = Request(workload="mlp-mnist", contenders=("torch", "jax"))
    points = [Point(title=f"batch {size}", coordinates={"batch size": size}, request=request) for size in ("32", "64")]
    stored = studies.new(Study(name="sweep", title="mlp-mnist over batch size", points=points))
    states = [PointState(comparison="mlp-mnist-4f2b"), PointState()]
    stored = msgspec.structs.replace(stored, id="sweep-4f2a", created_at="2026-12-01T00:00:00+00:00", states=states)
    studies.write(study, stored)
    return folder


def content(folder: Path) -> dict[str, bytes]:
    """Return every file of a folder by its path."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def rows(folder: Path) -> list[dict[str, object]]:
    """Return the cards of a gallery, as its script reads them."""
    known = json.loads((folder / "data.js").read_text().partition("window.GALLERY = ")[2].rstrip(";\n"))
    found = [dict(zip(known["fields"], row, strict=True)) for row in known["rows"]]
    for card in found:
        for name in known["listed"]:
            value = card[name]
            card[name] = [known["words"][one] for one in value] if isinstance(value, list) else known["words"][value]
    return found


def page(folder: Path, name: str) -> Path:
    """Return the folder of the only page whose name begins so."""
    (found,) = (path for path in (folder / "pages").glob(f"{name}*"))
    return found


def check(said: Said, *words: str) -> None:
    """Hold that a command did what it should, and said these words."""
    assert said.code == 0, said
    for word in words:
        assert word in said.out + said.err, said


def test_every_page_leads_to_its_records_and_every_link_somewhere(cli: Cli, results: Path, tmp_path: Path) -> None:
    """A comparison, a study and its parts have a page each; all links of all pages, and all cards, lead to files."""
    shutil.rmtree(results / "mlp-mnist-07d5")
    shutil.copytree(RECORDS / "mlp-mnist-07d5", results / "mlp-mnist-07d5")
    check(cli("gallery", str(results), "-o", "site"), "3 pages, 3 made")
    folder = tmp_path / "site"
    cards = {str(card["title"]): card for card in rows(folder)}
    assert rows(folder)[0]["kind"] == "study"
    study = cards["mlp-mnist over batch size"]
    assert study["comparisons"] == 2
    parts = [card for card in rows(folder) if card["study"] == study["slug"]]
    assert [str(card["slug"]).rpartition("-")[0] for card in parts] == ["mlp-mnist-4f2b"]
    assert {"torch", "jax", "tensorflow"} == set(parts[0]["frameworks"])
    assert (parts[0]["workloads"], parts[0]["scenarios"]) == (["mlp-mnist"], ["train"])
    for path in folder.glob("pages/*/index.html"):
        text = path.read_text()
        links = [link for link in re.findall(r'href="([^"]*)"', text) if not link.startswith("#")]
        assert any(link.endswith("records.tar.gz") for link in links)
        assert "../../index.html" in links
        for link in links:
            assert (path.parent / unquote(link.partition("#")[0])).is_file(), (path, link)
    told = (page(folder, "sweep-4f2a") / "index.html").read_text()
    assert f'href="../{parts[0]["slug"]}/index.html"' in told
    assert all(
        (folder / "pages" / str(card["slug"]) / "card.svg").is_file() for card in cards.values() if card["picture"]
    )


def test_the_same_records_give_the_same_bytes(cli: Cli, results: Path, tmp_path: Path) -> None:
    """A second call writes nothing, and records that were copied elsewhere, at another time, give the same site."""
    check(cli("gallery", str(results), "-o", "site"))
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "site").rglob("*")}
    check(cli("gallery", str(results), "-o", "site"), "3 pages, 0 made, 3 as they were")
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "site").rglob("*")} == before
    results.rename(tmp_path / "elsewhere")
    for path in (tmp_path / "elsewhere").rglob("*"):
        os.utime(path, (1, 1))
    check(cli("gallery", str(tmp_path / "elsewhere"), "-o", "other/site"), "3 made")
    assert content(tmp_path / "other" / "site") == content(tmp_path / "site")


def test_what_changed_is_made_again_and_what_is_gone_is_removed(cli: Cli, results: Path, tmp_path: Path) -> None:
    """One more record makes one page anew; a comparison that is gone takes its page along, and nobody's own file."""
    check(cli("gallery", str(results), "-o", "site"))
    folder = tmp_path / "site"
    (results / "mlp-mnist-07d5" / "r02-jax" / "record.json").unlink()
    check(cli("gallery", str(results), "-o", "site"), "3 pages, 1 made, 2 as they were")
    mine = page(folder, "mlp-mnist-07d5") / "notes.txt"
    mine.write_text("mine")
    shutil.rmtree(results / "mlp-mnist-07d5")
    check(cli("gallery", str(results), "-o", "site"), "2 pages, 0 made, 2 as they were, 1 removed")
    assert [path.name for path in mine.parent.iterdir()] == ["notes.txt"]
    changed = page(folder, "mlp-mnist-4f2b") / "index.html"
    changed.write_text(changed.read_text() + "<!-- mine -->")
    shutil.rmtree(results / "sweep-4f2a")
    copied(results / "mlp-mnist-683b")
    check(cli("gallery", str(results), "-o", "site"), "was changed, so it stays", "1 page, 1 made, 2 removed")
    assert changed.exists()
    assert not list((folder / "pages").glob("sweep-*"))


def test_nothing_of_somebody_elses_is_overwritten(cli: Cli, results: Path, tmp_path: Path) -> None:
    """A list or a page that bakeoff did not write ends the command before anything is written; --force replaces it."""
    own = tmp_path / "site" / "index.html"
    own.parent.mkdir()
    own.write_text("<p>our own site</p>")
    said = cli("gallery", str(results), "-o", "site")
    assert (said.code, said.out, content(own.parent)) == (2, "", {"index.html": b"<p>our own site</p>"})
    assert "was not written by bakeoff" in said.err
    check(cli("gallery", str(results), "-o", "site", "--force"), "3 made")
    for name in ("card.svg", "records.tar.gz", "entry.json"):
        mine = page(own.parent, "mlp-mnist-07d5") / name
        mine.write_text("mine")
        assert cli("gallery", str(results), "-o", "site").code == 2
        assert mine.read_text() == "mine"
        mine.unlink()
    check(cli("gallery", str(results), "-o", "site"), "1 made")


def test_what_cannot_be_read_is_said_and_left_out(cli: Cli, results: Path, tmp_path: Path) -> None:
    """A foreign folder and a damaged comparison are named, and the rest is there; what was made earlier stays."""
    (results / "holidays").mkdir()
    shutil.copytree(results / "mlp-mnist-07d5", results / "broken-0000")
    (results / "broken-0000" / "comparison.json").write_text("{")
    said = cli("gallery", str(results), "-o", "site")
    check(said, "left out: ", "holidays holds nothing of bakeoff's", "broken-0000", "3 pages, 3 made")
    before = content(page(tmp_path / "site", "mlp-mnist-07d5"))
    (results / "mlp-mnist-07d5" / "comparison.json").write_text("{")
    check(cli("gallery", str(results), "-o", "site"), "left out: ", "3 pages, 0 made")
    assert content(page(tmp_path / "site", "mlp-mnist-07d5")) == before
    assert len(rows(tmp_path / "site")) == 3


def test_a_link_in_a_results_directory_is_not_followed(cli: Cli, results: Path, tmp_path: Path) -> None:
    """What lies behind it may be nobody's to publish: it is named and left out, unless the user names it."""
    copied(tmp_path / "private" / "mlp-mnist-5ec7")
    (results / "mlp-mnist-5ec7").symlink_to(tmp_path / "private" / "mlp-mnist-5ec7")
    said = cli("gallery", str(results), "-o", "site")
    check(said, "left out: ", "mlp-mnist-5ec7 is a link, and links are not followed", "3 pages, 3 made")
    assert not list((tmp_path / "site" / "pages").glob("mlp-mnist-5ec7*"))
    check(cli("gallery", str(results / "mlp-mnist-5ec7"), "-o", "named"), "1 made")


@pytest.mark.parametrize("of", ["all pages", "a page"])
def test_a_link_in_a_gallery_is_not_followed(cli: Cli, results: Path, tmp_path: Path, of: str) -> None:
    """Pages are written into the gallery's own folder, and to nowhere that a link in it leads."""
    check(cli("gallery", str(results), "-o", "site"), "made")
    place = tmp_path / "site" / "pages" if of == "all pages" else next((tmp_path / "site" / "pages").iterdir())
    shutil.rmtree(place)
    (tmp_path / "elsewhere").mkdir()
    place.symlink_to(tmp_path / "elsewhere")
    link = place.name
    said = cli("gallery", str(results), "-o", "site", "--force")
    assert (said.code, f"{link} is a link, and links are not followed" in said.err) == (2, True), said.err
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_comparisons_of_a_study_without_a_page_stand_for_themselves(cli: Cli, results: Path, tmp_path: Path) -> None:
    """A study that cannot be read hides none of its comparisons from the list, and no page leads to one of its own."""
    (results / "sweep-4f2a" / "study.json").write_text("{")
    check(cli("gallery", str(results), "-o", "site"), "left out: ", "study.json", "2 pages, 2 made")
    assert [card["study"] for card in rows(tmp_path / "site")] == ["", ""]
    assert "Its study" not in (page(tmp_path / "site", "mlp-mnist-4f2b") / "index.html").read_text()
    check(cli("gallery", str(results), "-o", "site"), "2 pages, 0 made, 2 as they were")


def test_where_no_page_can_be_made_no_list_is_written(cli: Cli, results: Path, tmp_path: Path) -> None:
    """A single comparison that is damaged is an error with its reason, not a list of nothing."""
    (results / "mlp-mnist-07d5" / "comparison.json").write_text("{")
    said = cli("gallery", str(results / "mlp-mnist-07d5"), "-o", "site")
    assert said.code == FAILED
    assert "left out: " in said.err
    assert "no page could be made" in said.err
    assert not (tmp_path / "site").exists()


def planted(results: Path) -> None:
    """Have a comparison know folders of somebody's."""
    path = results / "mlp-mnist-07d5" / "comparison.json"
    known = json.loads(path.read_text())
    for plan in known["contenders"]:
        plan["interpreter"] = f"{HOME}/bin/python"
    known["command"] = f"bakeoff run {HOME}/model.py"
    path.write_text(json.dumps(known))


def test_nothing_private_leaves_the_machine_unless_it_is_asked_for(cli: Cli, results: Path, tmp_path: Path) -> None:
    """Folders are in no file of a gallery, in no archive either; with --no-redact the records are there as they are."""
    planted(results)
    check(cli("gallery", str(results / "mlp-mnist-07d5"), "-o", "site"))
    for name, said in content(tmp_path / "site").items():
        assert b"/home/ann" not in said, name
        assert str(tmp_path).encode() not in said, name
    unpacked = tmp_path / "unpacked"
    with tarfile.open(page(tmp_path / "site", "mlp-mnist") / "records.tar.gz") as archive:
        names = archive.getnames()
        archive.extractall(unpacked, filter="data")
    assert b"/home/ann" not in b"".join(content(unpacked).values())
    assert {Path(name).suffix for name in names} == {".json"}
    record = read_record(unpacked / "r01-torch")  # whose seal is right
    assert record.blocks == read_record(results / "mlp-mnist-07d5" / "r01-torch").blocks
    check(cli("gallery", str(results / "mlp-mnist-07d5"), "-o", "open", "--no-redact"))
    with tarfile.open(page(tmp_path / "open", "mlp-mnist") / "records.tar.gz") as archive:
        archive.extractall(tmp_path / "whole", filter="data")
    said = content(results / "mlp-mnist-07d5")
    assert content(tmp_path / "whole") == {
        name: one for name, one in said.items() if Path(name).suffix in (".json", ".npz", ".log")
    }


def test_a_log_that_changed_is_packed_again_where_logs_are_packed(cli: Cli, results: Path, tmp_path: Path) -> None:
    """With --no-redact a worker's log belongs to what a page is made of; where no log is packed, the page stays."""
    one = results / "mlp-mnist-07d5"
    for folder, more, anew in (("site", (), 0), ("open", ("--no-redact",), 1)):
        check(cli("gallery", str(one), "-o", folder, *more), "1 page, 1 made")
        with (one / "r01-torch" / "stderr.log").open("a") as log:
            log.write(f"one more line for {folder}\n")
        check(cli("gallery", str(one), "-o", folder, *more), f"1 page, {anew} made")
    with tarfile.open(page(tmp_path / "open", "mlp-mnist") / "records.tar.gz") as archive:
        packed = archive.extractfile("r01-torch/stderr.log")
        assert packed is not None
        assert packed.read().endswith(b"one more line for open\n")


def test_folders_that_are_called_alike_without_names_stay_apart(
    cli: Cli, results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two folders of records that differ in who they are named for are both in the archive, and called so in it."""
    monkeypatch.setenv("USER", "zoe")
    monkeypatch.setenv("LOGNAME", "zara")
    one = results / "mlp-mnist-07d5"
    for name in ("notes-zara", "notes-zoe"):
        (one / name).mkdir()
        (one / name / "said.json").write_text(json.dumps({"name": name}))
    check(cli("gallery", str(one), "-o", "site"), "1 page, 1 made")
    with tarfile.open(page(tmp_path / "site", "mlp-mnist") / "records.tar.gz") as archive:
        archive.extractall(tmp_path / "unpacked", filter="data")
    found = {path.parent.name: path.read_text() for path in (tmp_path / "unpacked").glob("notes*/said.json")}
    assert {name: json.loads(said)["name"] for name, said in found.items()} == {
        "notes-user": "notes-user",
        "notes-user (2)": "notes-user (2)",
    }


def test_records_are_copied_or_linked_or_left_out(cli: Cli, results: Path, tmp_path: Path) -> None:
    """--records link leads to the folder itself, --records none to nothing; neither keeps an archive."""
    one = str(results / "mlp-mnist-07d5")
    check(cli("gallery", one, "-o", "site"))
    check(cli("gallery", one, "-o", "site", "--records", "link"), "1 made")
    path = page(tmp_path / "site", "mlp-mnist") / "index.html"
    (link,) = (link for link in re.findall(r'href="([^"]*)"', path.read_text()) if link.endswith("mlp-mnist-07d5/"))
    assert (path.parent / link).resolve() == results / "mlp-mnist-07d5"
    check(cli("gallery", one, "-o", "site", "--records", "none"), "1 made")
    assert "raw records" not in path.read_text()
    assert not list((tmp_path / "site").rglob("*.tar.gz"))


def test_what_a_page_is_called_and_shows_of_its_folder_has_no_names(
    cli: Cli, results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder that is named for somebody names no page; a link, which has to lead there, is told of at the start."""
    monkeypatch.setenv("USER", "zoe")
    folder = (results / "mlp-mnist-07d5").rename(results / "zoe-07d5")
    said = cli("gallery", str(folder), "-o", "site")
    check(said, "1 page, 1 made")
    assert "stands in its page as it is" not in said.err
    for name, known in content(tmp_path / "site").items():
        assert "zoe" not in name
        assert name.endswith(".gz") or b"zoe" not in known, name
    check(cli("gallery", str(folder), "-o", "linked", "--records", "link"), "stands in its page as it is")
    text = (page(tmp_path / "linked", "user-07d5") / "index.html").read_text()
    assert ">user-07d5<" in text
    said = cli("gallery", str(folder), "-o", "open", "--records", "link", "--no-redact")
    assert "stands in its page as it is" not in said.err
    assert ">zoe-07d5<" in (page(tmp_path / "open", "zoe-07d5") / "index.html").read_text()


def test_a_folder_that_is_removed_meanwhile_ends_nothing(
    cli: Cli, results: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A race that still runs removes its caches while a gallery reads; the page is made of what is there."""
    (results / "mlp-mnist-07d5" / "r02-jax" / "cache").mkdir()
    listed = Path.iterdir

    def vanishing(path: Path) -> Iterator[Path]:
        if path.name == "cache":
            raise FileNotFoundError(path)
        return iter(listed(path))

    monkeypatch.setattr(Path, "iterdir", vanishing)
    check(cli("gallery", str(results / "mlp-mnist-07d5"), "-o", "site"), "1 page, 1 made")


def test_an_interrupted_gallery_is_whole_and_goes_on(
    cli: Cli, results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C leaves a list of the pages that are made; the next call makes the others alone."""
    make, count = site.Site.make, 0

    def interrupted(*arguments: object) -> object:
        nonlocal count
        count += 1
        if count == 3:
            raise KeyboardInterrupt
        return make(*arguments)  # type: ignore[arg-type]

    with monkeypatch.context() as patched:
        patched.setattr(site.Site, "make", interrupted)
        assert cli("gallery", str(results), "-o", "site").code == 130
    assert len(rows(tmp_path / "site")) == 2
    check(cli("gallery", str(results), "-o", "site"), "3 pages, 1 made, 2 as they were")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("results", "-o", "site", "--records", "burn"), "unknown way to records 'burn'"),
        (("nowhere", "-o", "site"), "nowhere is no folder"),
        (("empty", "-o", "site"), "no comparison in empty"),
        (("results", "-o", "file"), "a file is there"),
    ],
)
def test_what_cannot_be_is_one_clear_error(cli: Cli, results: Path, arguments: tuple[str, ...], words: str) -> None:
    """A wrong way to records, places without records, a file as the folder: exit code 2, and nothing is written."""
    (results.parent / "empty").mkdir()
    (results.parent / "file").write_text("mine")
    said = cli("gallery", *arguments)
    assert said.code == 2
    assert words in said.err
    assert not (results.parent / "site").exists()


def test_folders_of_one_name_have_pages_of_their_own(cli: Cli, results: Path, tmp_path: Path) -> None:
    """Two comparisons of one name in two places have two pages; the same one in two places has one."""
    other = tmp_path / "other"
    shutil.copytree(results / "mlp-mnist-07d5", other / "mlp-mnist-07d5")
    check(cli("gallery", str(results / "mlp-mnist-07d5"), str(other), "-o", "site"), "1 page, 1 made")
    path = other / "mlp-mnist-07d5" / "comparison.json"
    path.write_text(path.read_text().replace('"created_at": "2026-', '"created_at": "2025-'))
    check(cli("gallery", str(results / "mlp-mnist-07d5"), str(other), "-o", "site"), "2 pages, 1 made")


def test_dangerous_words_are_text(cli: Cli, results: Path, tmp_path: Path) -> None:
    """A stranger's names are no markup on a page, in a picture or in the data, and steer no address."""
    path = results / "mlp-mnist-07d5" / "comparison.json"
    known = json.loads(path.read_text())
    wild = '</script><script>alert(1)</script>"\u202e'
    known["workload"]["name"] = wild
    known["machine"]["processor"] = wild
    known["created_at"] = wild
    path.write_text(json.dumps(known))
    renamed = results / 'x"><script>&?#%2e..'
    path.parent.rename(renamed)
    check(cli("gallery", str(renamed), "-o", "site"))
    for name, said in content(tmp_path / "site").items():
        if not name.endswith((".gz", "gallery.js")):
            text = (
                said.decode().replace('<script src="data.js" defer>', "").replace('<script src="gallery.js" defer>', "")
            )
            assert "<script" not in text, name
            assert "\u202e" not in text, name
    (card,) = rows(tmp_path / "site")
    assert re.fullmatch(r"[\w.=+-]+", str(card["slug"]))
    assert card["created_at"] == ""
