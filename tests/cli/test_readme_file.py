"""`bakeoff report --readme`: the user's own README, on records that were made on real machines."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest

from bakeoff.cli import readme
from bakeoff.cli.readme import Readme, follow
from bakeoff.store.files import read_record, write_record

if TYPE_CHECKING:
    from tests.cli.conftest import Cli

RECORDS = Path(__file__).parents[2] / "docs" / "records"
TEXT = "# Mine\r\n\r\n<!-- bakeoff:mlp-mnist -->\r\nold\r\n<!-- /bakeoff -->\r\nno end"


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """Write a README."""
    path = tmp_path / "README.md"
    path.write_bytes(TEXT.encode())
    path.chmod(0o600)
    return path


def test_a_readme_is_written_once_and_then_stays_as_it_is(cli: Cli, mine: Path) -> None:
    """The newest comparison's answer, tables, chart, machine, versions and date; then no byte and no file changes."""
    call = ["report", "--readme", "README.md", "--results", str(RECORDS)]
    said = cli(*call)
    assert (said.code, said.out, said.err) == (0, "", "readme  README.md\n")
    written = mine.read_bytes().decode()
    head, _, rest = written.partition("<!-- bakeoff:mlp-mnist -->\r\n")
    inside, _, tail = rest.partition("<!-- /bakeoff -->\r\n")
    assert (head, tail) == ("# Mine\r\n\r\n", "no end")
    assert inside.startswith("**jax is fastest: 1.63x")
    assert "](bakeoff-mlp-mnist.svg)\r\n" in inside
    assert "| contender |" in inside
    assert "Intel(R) Xeon(R) Processor" in inside
    assert "Measured on 2026-11-22 with bakeoff 0.1.0; torch 2.13.0+cpu" in inside
    assert not re.search(r"^#", inside, re.MULTILINE)
    assert "\n" not in inside.replace("\r\n", "")
    chart = mine.parent / "bakeoff-mlp-mnist.svg"
    assert b"<svg" in chart.read_bytes()
    assert mine.stat().st_mode & 0o777 == 0o600
    before = [(path.read_bytes(), path.stat().st_mtime_ns, path.stat().st_ino) for path in (mine, chart)]
    assert cli(*call).err == "readme  README.md (as it was)\n"
    assert before == [(path.read_bytes(), path.stat().st_mtime_ns, path.stat().st_ino) for path in (mine, chart)]


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have charts be no matter of a test: each takes a second to draw."""
    monkeypatch.setattr(Readme, "_drawn", lambda *_: b"")


@pytest.mark.usefixtures("undrawn")
def test_a_link_stays_a_link_and_names_of_people_and_folders_stay_here(
    cli: Cli, mine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file that a link leads to is written; a key in a variable of the environment is taken out of what is said."""
    target = mine.rename(mine.parent / "real.md")
    mine.symlink_to("real.md")
    monkeypatch.setenv("SOME_API_TOKEN", "2.13.0+cpu")
    assert cli("report", "--readme", "README.md", "--results", str(RECORDS)).code == 0
    assert mine.is_symlink()
    assert "torch \\<value\\>" in target.read_text()
    assert "2.13.0+cpu" not in target.read_text()
    assert str(RECORDS) not in target.read_text()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--watch"], "--watch keeps a README as the records are: name it by --readme FILE"),
        (["--readme", "README.md", "--json"], "leave out --json"),
        (["--readme", "README.md", "07d5"], "leave out 07d5"),
        (["--readme", "none.md"], "--readme none.md: No such file or directory; name a Markdown file that is there"),
        (["--readme", "."], "is no regular file; name a Markdown file"),
        (["--readme", "latin.md"], "--readme latin.md is not UTF-8 (byte 3)"),
        (
            ["--readme", "other.md"],
            "unknown raced workload or comparison 'vgg'. Valid: mlp-mnist, mlp-mnist-07d5, mlp-mnist-683b",
        ),
        (["--readme", "README.md", "--results", "nowhere"], "no comparison in nowhere"),
    ],
)
def test_what_cannot_be_written_is_told_and_leaves_all_as_it_was(
    cli: Cli, mine: Path, arguments: list[str], told: str
) -> None:
    """Options that do not go together, files that are none and names of nothing are errors of use."""
    (mine.parent / "latin.md").write_bytes("caf\u00e9".encode("latin-1"))
    (mine.parent / "other.md").write_text("<!-- bakeoff:vgg -->\n<!-- /bakeoff -->\n")
    said = cli("report", *["--results", str(RECORDS)], *arguments)
    assert said.code == 2
    assert told in said.err
    assert mine.read_bytes() == TEXT.encode()
    assert sorted(path.name for path in mine.parent.iterdir()) == ["README.md", "latin.md", "other.md"]


def test_records_that_cannot_be_are_told(cli: Cli, mine: Path) -> None:
    """What a stranger has sealed is an error with its reason, and the README stays."""
    shutil.copytree(RECORDS / "mlp-mnist-07d5", mine.parent / "theirs" / "mlp-mnist-07d5")
    (trial, *_) = sorted((mine.parent / "theirs" / "mlp-mnist-07d5").glob("r01-*"))
    record = read_record(trial)
    blocks = [msgspec.structs.replace(block, steps_ns=[]) for block in record.blocks]
    write_record(trial, msgspec.structs.replace(record, blocks=blocks))
    said = cli("report", "--readme", "README.md", "--results", "theirs")
    assert said.code == 1
    assert "they are sealed, and yet not what bakeoff writes (ZeroDivisionError" in said.err
    assert mine.read_bytes() == TEXT.encode()


def test_a_chart_of_somebody_elses_stays(cli: Cli, mine: Path) -> None:
    """A picture of the chart's name that bakeoff did not draw is an error that says so, and the README stays."""
    chart = mine.parent / "bakeoff-mlp-mnist.svg"
    chart.write_text("<svg/>")
    said = cli("report", "--readme", "README.md", "--results", str(RECORDS))
    assert said.code == 2
    assert "bakeoff-mlp-mnist.svg is there and was not written by bakeoff" in said.err
    assert (chart.read_text(), mine.read_bytes()) == ("<svg/>", TEXT.encode())


@pytest.mark.usefixtures("undrawn")
def test_watching_writes_what_arrives_until_it_is_ended(
    mine: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is not there yet is waited for, a newer race counts once it has an answer, and an error is said once."""
    results = tmp_path / "results"
    newer = results / "mlp-mnist-683b"

    def begin() -> None:
        newer.mkdir()
        shutil.copy(RECORDS / newer.name / "comparison.json", newer)

    def spoil() -> None:
        mine.write_text(mine.read_text().replace("<!-- /bakeoff -->", ""))

    def end() -> None:
        raise KeyboardInterrupt

    happens = {
        "nothing is there": lambda: shutil.copytree(RECORDS / "mlp-mnist-07d5", results / "mlp-mnist-07d5"),
        "first": lambda: None,
        "still": begin,
        "begun": lambda: shutil.copytree(RECORDS / newer.name, newer, dirs_exist_ok=True),
        "second": spoil,
        "spoilt": lambda: mine.write_text(f"{mine.read_text()} "),
        "spoilt again": lambda: mine.write_bytes(TEXT.encode()),
        "mended": end,
    }
    texts: dict[str, str] = {}

    def sleep(_s: float) -> None:
        name = list(happens)[len(texts)]
        texts[name] = mine.read_bytes().decode()
        happens[name]()

    with pytest.raises(KeyboardInterrupt):
        follow(Readme(mine, results, force=False), sleep)
    assert texts["nothing is there"] == TEXT
    assert "jax is fastest" in texts["first"]
    assert "torch:denormals=flush" not in texts["first"]
    assert texts["first"] == texts["still"] == texts["begun"]
    assert "torch:denormals=flush" in texts["second"]
    assert "<!-- /bakeoff -->" not in texts["spoilt again"]
    assert texts["mended"] == texts["second"]
    said = capsys.readouterr().err.splitlines()
    assert [line.partition(": ")[0] for line in said] == [
        "not written",
        *[f"readme  {mine}"] * 2,
        "not written",
        f"readme  {mine}",
    ]


def test_ctrl_c_ends_watching_with_0(cli: Cli, mine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The interrupt is how watching ends, so that it is no failure; SIGTERM has its own code."""
    from bakeoff.cli import TERMINATED, TerminatedError

    for interrupt, code in ((KeyboardInterrupt(), 0), (TerminatedError(), TERMINATED)):

        def interrupted(*_: object, interrupt: BaseException = interrupt) -> None:
            raise interrupt

        monkeypatch.setattr(readme, "follow", interrupted)
        assert cli("report", "--readme", str(mine), "--watch").code == code


def test_what_is_saved_while_it_is_computed_is_kept(cli: Cli, mine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody who edits the file in the second that a chart takes loses no line; the part is written all the same."""
    drawn = []

    def draw(*_: object) -> bytes:
        drawn.append(1)
        if len(drawn) == 1:
            mine.write_bytes(TEXT.replace("# Mine", "# Mine, edited").encode())
        return b"<svg/>"

    monkeypatch.setattr(Readme, "_drawn", draw)
    assert cli("report", "--readme", "README.md", "--results", str(RECORDS)).code == 0
    text = mine.read_bytes().decode()
    assert text.startswith("# Mine, edited\r\n")
    assert "jax is fastest" in text


@pytest.mark.usefixtures("undrawn")
def test_a_file_that_nobody_may_write_to_stays(cli: Cli, mine: Path) -> None:
    """Even root's processes, and those that may write to the folder, leave it; where nothing changes it is fine."""
    call = ("report", "--readme", "README.md", "--results", str(RECORDS))
    mine.chmod(0o444)
    said = cli(*call)
    assert said.code == 2
    assert f"--readme {mine} is read-only: allow writing (chmod u+w), or name another file" in said.err
    assert mine.read_bytes() == TEXT.encode()
    assert [path.name for path in mine.parent.iterdir()] == ["README.md"]
    mine.chmod(0o644)
    assert cli(*call).code == 0
    mine.chmod(0o444)
    assert cli(*call).err == "readme  README.md (as it was)\n"
    assert mine.stat().st_mode & 0o777 == 0o444


def test_links_that_lead_nowhere_are_told(cli: Cli, tmp_path: Path) -> None:
    """Two that lead to each other, and one to a file that is not there."""
    (tmp_path / "README.md").symlink_to("other.md")
    said = cli("report", "--readme", "README.md", "--results", str(RECORDS))
    assert (said.code, "README.md: No such file or directory; name a Markdown file" in said.err) == (2, True)
    (tmp_path / "other.md").symlink_to("README.md")
    said = cli("report", "--readme", "README.md", "--results", str(RECORDS))
    assert (said.code, "Traceback" in said.err, "; name a Markdown file that is there" in said.err) == (2, False, True)


@pytest.mark.usefixtures("undrawn")
def test_watching_survives_what_vanishes_and_writes_nothing_twice(
    mine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A folder that is removed while it is looked into is said once; without a change no byte and no time changes."""
    results = tmp_path / "results"
    shutil.copytree(RECORDS, results)
    look, update, stamps, computed = Readme.look, Readme.update, [], []

    def vanishing(self: Readme, folders: list[Path]) -> object:
        if len(stamps) in {2, 3}:
            raise FileNotFoundError(2, "No such file or directory", "r01-torch")
        return look(self, folders)

    def sleep(_s: float) -> None:
        stamps.append((mine.stat().st_mtime_ns, mine.stat().st_ino))
        if len(stamps) == 4:
            (results / "mlp-mnist-683b" / "comparison.json").touch()
        if len(stamps) == 6:
            raise KeyboardInterrupt

    monkeypatch.setattr(Readme, "look", vanishing)
    monkeypatch.setattr(Readme, "update", lambda self: computed.append(len(stamps)) or update(self))
    with pytest.raises(KeyboardInterrupt):
        follow(Readme(mine, results, force=False), sleep)
    assert len(set(stamps)) == 1
    # At the beginning, for what it has written itself, and for the folder's change: never without any.
    assert computed == [0, 1, 4]
    said = capsys.readouterr().err.splitlines()
    assert [line.partition(": ")[0] for line in said] == [f"readme  {mine}", "not written"]


def test_a_pipe_is_no_readme(cli: Cli, tmp_path: Path) -> None:
    """A pipe without a writer is not waited for."""
    os.mkfifo(tmp_path / "README.md")
    said = cli("report", "--readme", "README.md")
    assert said.code == 2
    assert "README.md is no regular file; name a Markdown file" in said.err


def test_watching_obeys_nothing_in_a_name(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """What a terminal would obey is written out in what could not be written."""

    def end(_s: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        follow(Readme(tmp_path / "odd\x1b[31m.md", tmp_path, force=False), end)
    said = capsys.readouterr().err
    assert "not written: " in said
    assert "odd\\x1b[31m.md" in said
    assert "\x1b" not in said
