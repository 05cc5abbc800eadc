"""Files that are not bakeoff's, streams that are lost, and users' files that end the process: one clear answer."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from bakeoff.cli import FAILED, MISUSED
from bakeoff.data.reading import existing
from bakeoff.environments.installed import home
from bakeoff.spec.errors import UsageError

if TYPE_CHECKING:
    from tests.cli.conftest import Cli

RECORD = "mlp-mnist-07d5"


@pytest.fixture
def recorded(cli: Cli, root: Path, tmp_path: Path) -> Cli:
    """Return the command line in a folder with a comparison's records."""
    shutil.copytree(root / "docs" / "records" / RECORD, tmp_path / "results" / RECORD)
    return cli


@pytest.mark.parametrize("name", ["mine.html", "mine.svg", "mine.png"])
def test_a_file_that_bakeoff_did_not_write_stays(recorded: Cli, tmp_path: Path, name: str) -> None:
    """Another's file is replaced by --force alone; a new one, and one that bakeoff wrote, are written."""
    option = "--html" if name.endswith("html") else "--chart"
    path = tmp_path / name
    path.write_text("<p>my own work of a week</p>")
    said = recorded("report", option, name)
    assert (said.code, path.read_text()) == (MISUSED, "<p>my own work of a week</p>")
    assert "was not written by bakeoff: name another file, or replace it by --force" in said.err
    assert recorded("report", option, name, "--force").code == 0
    assert recorded("report", option, name).code == 0


@pytest.mark.parametrize("form", [("report", "--html"), ("report", "--chart"), ("export", "--csv")])
def test_a_link_that_leads_nowhere_is_somebodys(recorded: Cli, tmp_path: Path, form: tuple[str, str]) -> None:
    """It is replaced by --force alone, as a file is, and nothing is written to where it leads."""
    link = tmp_path / ("chart.png" if form[1] == "--chart" else "file.html")
    link.symlink_to(tmp_path / "nowhere")
    said = recorded(*form, link.name)
    assert (said.code, link.is_symlink(), "replace it by --force" in said.err) == (MISUSED, True, True), said.err
    assert recorded(*form, link.name, "--force").code == 0
    assert (link.is_symlink(), (tmp_path / "nowhere").exists()) == (False, False)


def test_a_folder_is_no_file_to_write(recorded: Cli, tmp_path: Path) -> None:
    """What is no regular file is not replaced, by --force neither."""
    (tmp_path / "page.html").mkdir()
    said = recorded("report", "--html", "page.html", "--force")
    assert (said.code, "page.html is no regular file" in said.err) == (MISUSED, True)


@pytest.mark.parametrize(
    "text",
    ["raise SystemExit(0)", "import os\nos._exit(0)", "class Odd(BaseException):\n    __str__ = None\nraise Odd"],
)
def test_a_file_that_ends_the_process_is_told(cli: Cli, tmp_path: Path, text: str) -> None:
    """sys.exit(0) or os._exit(0) in a user's file is an error with its line, and no "not slower"."""
    (tmp_path / "mine.py").write_text(text)
    said = cli("run", "mine.py", "fake", "--fail-if-slower", "5%")
    assert said.code == MISUSED
    assert f"mine.py:{1 + text.count(chr(10))}: importing it failed:" in said.err


def printing(root: Path, *functions: str) -> tuple[str, dict[str, int]]:
    """Give a workload's file whose functions print, and the line in which each does."""
    lines, places = (root / "examples" / "my_model.py").read_text().splitlines(), {}
    for function in functions:
        at = max(place for place, one in enumerate(lines) if f" {function}(" in one and "def " in one)
        lines.insert(at + 1, f"{'':{len(lines[at]) - len(lines[at].lstrip()) + 4}}print('printed in', '{function}')")
        places[function] = at + 2
    return "\n".join([*lines, "print('printed at the top')"]), places


def test_what_a_file_prints_is_not_among_the_answer(cli: Cli, root: Path, tmp_path: Path) -> None:
    """--json stands alone on stdout, whatever a user's file prints; stderr has each line of it, not each time."""
    (tmp_path / "mine.py").write_text(printing(root, "build", "__init__")[0])
    said = cli("run", "mine.py", "fake", "--dry-run", "--json")
    assert json.loads(said.out)
    printed = ("printed in build", "printed in __init__", "printed at the top")
    assert all(1 <= said.err.count(line) <= 3 for line in printed), said.err


@pytest.mark.parametrize("function", ["forward", "loss"])
def test_a_step_that_prints_is_refused(cli: Cli, root: Path, tmp_path: Path, function: str) -> None:
    """A step is not timed with its printing: its author sees what it prints, once, and the line that does."""
    text, places = printing(root, function)
    (tmp_path / "mine.py").write_text(text)
    said = cli("run", "mine.py", "fake", "--dry-run")
    assert said.code == MISUSED
    assert f"mine.py:{places[function]}: in {function}: it prints." in said.err
    assert said.err.count(f"printed in {function}") == 1


def test_a_file_may_write_bytes_and_ask_for_an_encoding(cli: Cli, root: Path, tmp_path: Path) -> None:
    """Standard output has in a user's file what it has elsewhere."""
    text = (root / "examples" / "my_model.py").read_text()
    own = 'import sys\nsys.stdout.reconfigure(errors="replace")\nsys.stdout.buffer.write(b"bytes of mine\\n")\n'
    (tmp_path / "mine.py").write_text(
        text.replace("from __future__ import annotations\n", f"from __future__ import annotations\n{own}", 1)
    )
    said = cli("run", "mine.py", "fake", "--dry-run")
    assert said.code == 0, said.err


def test_a_step_that_prints_a_part_of_a_line_is_refused(cli: Cli, root: Path, tmp_path: Path) -> None:
    """As a bar of progress does: no line ends, and it is the file that is named."""
    (tmp_path / "mine.py").write_text(printing(root, "forward")[0].replace("'forward')", "'forward', end='')"))
    said = cli("run", "mine.py", "fake", "--dry-run")
    assert said.code == MISUSED
    assert "mine.py: in forward: it prints." in said.err
    assert said.err.count("printed in forward") == 1


@pytest.mark.parametrize(
    "text",
    [
        "raise SystemExit(0)",
        "os._exit(0)",
        "raise BaseException('odd')",
        "raise GeneratorExit",
        "raise type('Odd', (BaseException,), {'__str__': None})",
        "raise type('Odd', (TypeError,), {'__str__': None})",
    ],
)
@pytest.mark.parametrize("function", ["build", "__init__", "forward", "loss"])
def test_a_function_of_a_file_that_ends_the_process_is_told(
    cli: Cli, root: Path, tmp_path: Path, function: str, text: str
) -> None:
    """sys.exit(0) or os._exit(0) in a user's function is an error with its line, and no "not slower"."""
    lines = (root / "examples" / "my_model.py").read_text().splitlines()
    at = max(place for place, one in enumerate(lines) if f" {function}(" in one and "def " in one)
    indent = len(lines[at]) - len(lines[at].lstrip()) + 4
    lines[at + 1 : at + 1] = [f"{'':{indent}}{one}" for one in ("import os", text)]
    (tmp_path / "mine.py").write_text("\n".join(lines))
    said = cli("run", "mine.py", "fake", "--fail-if-slower", "5%")
    assert said.code == MISUSED
    kind = next((one for one in ("Odd", "BaseException", "GeneratorExit") if one in text), "SystemExit")
    where = "build" if function == "__init__" else function
    assert f"mine.py:{at + 3}: in {where}: {kind}: " in said.err


def test_ctrl_c_in_a_file_is_ctrl_c(cli: Cli, tmp_path: Path) -> None:
    """KeyboardInterrupt in a user's file ends with 130, as Ctrl-C does there."""
    (tmp_path / "mine.py").write_text("raise KeyboardInterrupt")
    said = cli("run", "mine.py", "fake")
    assert (said.code, said.err) == (130, "interrupted; nothing was started yet: the same command begins again\n")


@pytest.mark.parametrize("batch", ["4096000", "1" + "0" * 17])
def test_sizes_are_checked_against_memory(cli: Cli, tmp_path: Path, batch: str) -> None:
    """Batches that no memory holds are refused before anything is allocated, and nothing is left."""
    said = cli("run", "cnn-apx", "fake", "--batch-size", batch)
    assert said.code == MISUSED
    assert "GB are available; name a smaller --batch-size" in said.err
    assert not list(tmp_path.glob("results/*"))


@pytest.mark.parametrize("option", ["--batch-size", "--threads", "--memory", "--budget", "--seed"])
def test_numbers_of_thousands_of_digits_are_told(cli: Cli, option: str) -> None:
    """A number that Python itself refuses to read is wrong input."""
    said = cli("run", "mlp-mnist", "fake", "--max-batch", option, "9" * 5000)
    assert said.code == MISUSED
    assert "Traceback" not in said.err


def test_an_environment_that_is_a_link_stays(cli: Cli, tmp_path: Path) -> None:
    """Removing a link is refused, and what it leads to is not touched; an empty name is none."""
    (home()).mkdir(parents=True)
    (tmp_path / "theirs").mkdir()
    (home() / "mine").symlink_to(tmp_path / "theirs")
    said = cli("env", "remove", "mine")
    assert (said.code, "is a link, which bakeoff did not make: it stays" in said.err) == (MISUSED, True)
    (tmp_path / "pins.txt").touch()
    said = cli("env", "create", "fake", "--name", "", "--requirements", "pins.txt")
    assert (said.code, "'' is no name for an environment" in said.err) == (MISUSED, True)
    assert cli("env", "remove", "x" * 300).code == MISUSED
    said = cli("env", "create", "fake", "--name", "\x1b[31m")
    assert (said.code, r"'\x1b[31m' is no name for an environment" in said.err) == (MISUSED, True)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("~nobody-of-this-name/m.py", "fake"), "~nobody-of-this-name/m.py: cannot be read: No such file"),
        (("~nobody-of-this-name/m", "fake"), "unknown workload '~nobody-of-this-name/m'"),
        (("mlp-mnist", "fake@~nobody-of-this-name/python"), "~nobody-of-this-name/python"),
    ],
)
def test_the_home_of_nobody_is_a_place_that_is_not_there(cli: Cli, words: tuple[str, ...], said: str) -> None:
    """Each place that takes a path of the user's says what is wrong with it."""
    found = cli("run", *words, "--dry-run")
    assert (found.code, said in found.err) == (MISUSED, True), found.err


def test_bakeoffs_own_home_may_be_nobodys(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it keeps is then in a folder of that name."""
    monkeypatch.setenv("BAKEOFF_HOME", "~nobody-of-this-name/b")
    assert cli("env", "list").code == 0


def test_data_in_the_home_of_nobody_is_not_there() -> None:
    """Said as of any folder that is missing."""
    with pytest.raises(UsageError, match="digits:~nobody-of-this-name/d: there is no such folder or file"):
        existing("digits", "~nobody-of-this-name/d")


def test_a_working_directory_that_is_gone_is_told(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing can be written, the reason is the right one."""
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    said = cli("run", "mlp-mnist", "fake")
    monkeypatch.chdir(tmp_path)
    assert (said.code, said.err) == (FAILED, "bakeoff: the working directory is gone: No such file or directory\n")


def shell(tmp_path: Path, command: str) -> subprocess.CompletedProcess[bytes]:
    """Run bakeoff in a shell."""
    whole = f"{sys.executable} -m bakeoff {command}"
    return subprocess.run(["/bin/sh", "-c", whole], cwd=tmp_path, capture_output=True, check=False)


@pytest.mark.slow
def test_a_lost_stdout_ends_no_race(tmp_path: Path) -> None:
    """Closed, a race runs to its end; full, it does too, and says that its answer could not be written."""
    race = "run mlp-mnist fake --size reduced --data synthetic --rounds 1"
    for lost, message in ((">&-", b""), ("> /dev/full", b"bakeoff: cannot write to stdout: No space left on device\n")):
        said = shell(tmp_path, f"{race} --results {len(lost)} {lost}")
        assert (b"Traceback" in said.stderr, said.stderr[-len(message) :] if message else b"") == (False, message)
        assert list(tmp_path.glob(f"{len(lost)}/*/end.json"))


@pytest.mark.slow
def test_a_full_stdout_is_told(tmp_path: Path) -> None:
    """Where nothing is raced, a disk that is full is one message, and so is a stream that is closed none."""
    said = shell(tmp_path, "list workloads > /dev/full")
    assert (said.returncode, said.stderr) == (FAILED, b"bakeoff: cannot write to stdout: No space left on device\n")
    assert shell(tmp_path, "list workloads >&-").returncode == 0


MOVING = """
import os
from bakeoff.workloads import mlp_mnist
from bakeoff.workloads.mlp_mnist import WORKLOAD, loss

{top}

def build(nn, size):
    {inside}
    return mlp_mnist.build(nn, size)
"""


FEW = ["--size", "reduced", "--data", "synthetic", "--rounds", "1"]


@pytest.fixture
def going(tmp_path: Path) -> str:
    """Return a line by which a file goes to another folder."""
    (tmp_path / "elsewhere").mkdir()
    return f"os.chdir({str(tmp_path / 'elsewhere')!r})"


@pytest.mark.parametrize("several", [[], ["--batch-size", "8,16"]])
def test_a_file_that_goes_elsewhere_moves_no_results(
    cli: Cli, inline: None, tmp_path: Path, going: str, several: list[str]
) -> None:
    """Results lie where they were asked for, whatever folder a user's file goes to; its own relative path stays."""
    (tmp_path / "mine.py").write_text(MOVING.format(top=going, inside="pass"))
    said = cli("run", "mine.py", "fake", *FEW, *several, "--results", "kept")
    assert said.code == 0, said.err
    assert len(list(tmp_path.glob(f"kept/*/{'study' if several else 'comparison'}.json"))) == 1
    assert not list((tmp_path / "elsewhere").iterdir())


def test_a_function_that_goes_elsewhere_comes_back(cli: Cli, tmp_path: Path, going: str) -> None:
    """What is run over shapes leaves the command in the folder that it was called in."""
    (tmp_path / "mine.py").write_text(MOVING.format(top="", inside=going))
    assert cli("run", "mine.py", "fake", *FEW, "--dry-run").code == 0
    assert Path.cwd() == tmp_path


def test_a_file_whose_error_is_endless_is_told_in_short(cli: Cli, tmp_path: Path) -> None:
    """A message that repeats millions of characters is cut, and has its begin and its end."""
    (tmp_path / "mine.py").write_text("raise ValueError('x' * 10**7 + 'the end')")
    said = cli("run", "mine.py", "fake")
    assert said.code == MISUSED
    assert said.err.startswith(f"bakeoff: {tmp_path / 'mine.py'}:1: importing it failed: ValueError: xxx")
    assert said.err.endswith("xxxthe end\n")
    assert " characters left out) ... xxx" in said.err
    assert len(said.err) < 10_000


def test_a_lower_limit_of_recursion_is_the_files_own(cli: Cli, tmp_path: Path) -> None:
    """What a file sets for itself does not end the command in a traceback."""
    text = MOVING.format(
        top="import sys; sys.setrecursionlimit(len(__import__('inspect').stack()) + 40)", inside="pass"
    )
    (tmp_path / "mine.py").write_text(text)
    before = sys.getrecursionlimit()
    said = cli("run", "mine.py", "fake", *FEW, "--dry-run")
    assert (said.code, sys.getrecursionlimit()) == (0, before), said.err


def test_ctrl_c_behind_the_last_word_changes_nothing() -> None:
    """Python takes the command's own handler away before it takes its objects apart."""
    late = "class Late:\n    def __del__(self, kill=os.kill, own=os.getpid(), number=signal.SIGINT): kill(own, number)"
    text = f"import os, signal, sys\n{late}\nsys.late = Late()\nfrom bakeoff.cli import main\nsys.exit(main())"
    said = subprocess.run([sys.executable, "-c", text, "--version"], capture_output=True, check=False)
    assert (said.returncode, said.stderr) == (0, b"")
    assert said.stdout.startswith(b"bakeoff")


@pytest.mark.parametrize(
    "changed",
    [
        "import builtins; del builtins.__import__",
        "import sys; sys.executable = None",
        "import sys; sys.meta_path.clear()",
        "import sys; del sys.modules['re']",
        "import time; time.monotonic = lambda: 'now'",
    ],
)
@pytest.mark.parametrize("place", ["top", "inside"])
def test_what_a_file_puts_in_the_place_of_pythons_own_is_its_own(
    cli: Cli, tmp_path: Path, changed: str, place: str
) -> None:
    """The command goes on with Python's functions, finds its modules and starts its own interpreter."""
    (tmp_path / "mine.py").write_text(MOVING.format(**{"top": "", "inside": "pass"} | {place: changed}))
    before = __import__, sys.executable, list(sys.meta_path), sys.modules["re"], time.monotonic
    said = cli("run", "mine.py", "fake", *FEW, "--dry-run")
    assert said.code == 0, said.err
    assert before == (__import__, sys.executable, sys.meta_path, sys.modules["re"], time.monotonic)


@pytest.mark.parametrize("words", [{}, {"COMP_WORDS": "bakeoff run", "COMP_CWORD": "abc"}])
def test_a_completion_that_no_shell_asks_for_is_told(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, words: dict[str, str]
) -> None:
    """Variables that are missing or no numbers are wrong input."""
    monkeypatch.setenv("COLUMNS", "80")  # which completion sets
    for name, value in {"_BAKEOFF_COMPLETE": "complete_bash", **words}.items():
        monkeypatch.setenv(name, value)
    said = cli()
    assert said.code == MISUSED
    assert "_BAKEOFF_COMPLETE is for a shell's completion" in said.err
