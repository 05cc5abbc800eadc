from __future__ import annotations

import os
import pty
import select
import shutil
import signal
import time
from typing import TYPE_CHECKING

import pytest

from bakeoff.cli import FAILED, MISUSED, completing
from bakeoff.cli.completion import BEGIN, END
from bakeoff.workloads.load import names

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Cli

SHELLS = {"bash": ".bashrc", "zsh": ".zshrc", "fish": ".config/fish/completions/bakeoff.fish"}
ANSWERS_S = 30.0
"""A TAB starts a Python; on a loaded machine that may take seconds."""


@pytest.fixture
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a fresh HOME, in which no shell has been set up."""
    folder = tmp_path / "a home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    for name in ("XDG_CONFIG_HOME", "ZDOTDIR"):
        monkeypatch.delenv(name, raising=False)
    return folder


class Terminal:
    """A shell on a terminal of its own, typed into as a person does."""

    def __init__(self, shell: str, folder: Path, typed: Path) -> None:
        """Start the shell with a PATH on which there is a bakeoff."""
        self._said = ""
        environment = {
            "HOME": str(folder),
            "PATH": f"{typed}:/usr/bin:/bin",
            "TERM": "xterm",
            "LANG": "C.UTF-8",
        }
        self._pid, self._end = pty.fork()
        if self._pid == 0:
            os.chdir(folder)
            os.execvpe(shell, [shell, "-i"], environment)  # noqa: S606 - the shell is what is tested

    def type(self, keys: str, until: str) -> None:
        """Type, and wait for what the shell puts there; fail with all that it said."""
        os.write(self._end, keys.encode())
        deadline = time.monotonic() + ANSWERS_S
        before = len(self._said)
        while until not in self._said[before:]:
            assert time.monotonic() < deadline, f"no {until!r} behind {keys!r} in {self._said!r}"
            if select.select([self._end], [], [], 0.1)[0]:
                self._said += os.read(self._end, 65536).decode(errors="replace")

    def end(self) -> None:
        """End the shell."""
        os.kill(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)
        os.close(self._end)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.parametrize("shell", SHELLS)
def test_a_real_shell_completes(shell: str, cli: Cli, own_home: Path, typed: Path) -> None:
    """After `bakeoff completion install`, a new shell completes a workload, contenders with options, and options."""
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed here")
    assert cli("completion", "install", shell).code == 0
    terminal = Terminal(shell, own_home, typed)
    try:
        terminal.type("echo re''ady\n", until="ready")
        terminal.type("bakeoff run mlp-m\t", until="nist")
        terminal.type("te\t", until="nsorflow")
        terminal.type("torch:mode=com\t", until="piled")
        terminal.type("--fail-i\t", until="f-slower")
    finally:
        terminal.end()


@pytest.mark.parametrize("shell", SHELLS)
def test_what_was_installed_is_told_and_undone(
    shell: str, cli: Cli, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The shell is found by $SHELL, its own lines stay, a second time adds nothing, and `remove` puts all back."""
    monkeypatch.setenv("SHELL", f"/usr/bin/{shell}")
    starts = own_home / SHELLS[shell]
    if shell != "fish":
        starts.write_text("alias ll='ls -l'\n")
    first = cli("completion", "install")
    assert first.code == 0
    assert f"bakeoff completion remove {shell}" in first.out
    written = starts.read_text()
    assert str(starts) in first.out
    assert written.count(BEGIN) == written.count(END) == (0 if shell == "fish" else 1)
    assert cli("completion", "install").code == 0
    assert starts.read_text() == written
    assert "removed" in cli("completion", "remove").out
    assert not list(own_home.rglob("*bakeoff.fish")) + list(own_home.rglob("completion.*"))
    if shell != "fish":
        assert starts.read_text() == "alias ll='ls -l'\n"
    assert "nothing to remove" in cli("completion", "remove").out


def test_a_shell_without_completion_is_refused(cli: Cli, own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where $SHELL is none that has a script, the message names those that have one, and nothing is written."""
    monkeypatch.setenv("SHELL", "/bin/tcsh")
    said = cli("completion", "install")
    assert said.code == MISUSED
    assert "name one of bash, zsh, fish" in said.err
    assert not list(own_home.iterdir())


@pytest.mark.parametrize("shell", ["bash", "fish"])
def test_a_folder_that_cannot_be_written_is_told_with_what_to_do(
    cli: Cli, own_home: Path, monkeypatch: pytest.MonkeyPatch, shell: str
) -> None:
    """Where the configuration's folder is none, the message names the variable and the way without it."""
    monkeypatch.setenv("XDG_CONFIG_HOME", "/dev/null")
    said = cli("completion", "install", shell)
    assert said.code == FAILED
    assert "cannot write /dev/null/" in said.err
    assert "Not a directory; XDG_CONFIG_HOME and ZDOTDIR name the folders" in said.err
    assert not list(own_home.iterdir())


def test_words_become_what_there_is(home: Path) -> None:
    """Workloads, frameworks and their options, one after another, are offered; the tests' stand-in is not."""
    assert completing.workloads("") == names()
    assert completing.workloads("mlp-m") == ["mlp-mnist"]
    assert "fake" not in completing.contenders("")
    assert completing.contenders("tor") == ["torch"]
    assert completing.contenders("torch:mo") == ["torch:mode=eager", "torch:mode=compiled"]
    second = completing.contenders("torch:mode=compiled,")
    assert "torch:mode=compiled,layout=nhwc" in second
    assert not [each for each in second if each.count(",mode=") + each.count(":mode=") > 1]
    assert completing.contenders("torch@") == []
    assert completing.contenders("nobody:") == []
    assert completing.studies("dai")
