from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import msgspec
import pytest

from bakeoff.environments import create, installed
from bakeoff.environments.declared import Framework, framework, frameworks
from bakeoff.environments.interpreters import resolve
from bakeoff.environments.plan import REQUIREMENTS, EnvironmentPlan, parse_version, pinned, planned
from bakeoff.spec.contender import parse_contender
from bakeoff.spec.errors import UnavailableError, UnknownNameError, UsageError
from bakeoff.spec.framework import FrameworkInfo

pytestmark = pytest.mark.slow

NOWHERE = "./there-is-no-such-wheel.whl\n"


@pytest.fixture
def needless(home: Path) -> Framework:
    """Give a framework that needs nothing, and no environment yet."""
    assert not home.exists()
    return framework("fake")


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a new virtual environment: Python makes one in some seconds."""
    folder = tmp_path_factory.mktemp("empty") / "environment"
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    return folder


@pytest.fixture
def scripted(needless: Framework, empty: Path, monkeypatch: pytest.MonkeyPatch) -> Framework:
    """Give the same, where a new virtual environment is a copy of an empty one."""
    run = create._run

    def copied(command: list[str], *others: Any, **named: Any) -> None:
        if command[1:3] == ["-m", "venv"]:
            shutil.copytree(empty, command[3], symlinks=True, dirs_exist_ok=True)
        else:
            run(command, *others, **named)

    monkeypatch.setattr(create, "_run", copied)
    return needless


@pytest.mark.by_turns
def test_an_environment_is_made_once(needless: Framework, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first call makes it and tells each phase, the second finds it, and other requirements make it again."""
    lines: list[str] = []
    environment = create.make_planned(planned(needless), lines.append)
    assert environment.python.exists()
    assert [line.split()[1] for line in lines] == ["making", "installing", "done"]
    before = environment.python.lstat().st_ctime_ns

    lines.clear()
    assert create.make_planned(planned(needless), lines.append) == environment
    assert len(lines) == 1
    assert "already there" in lines[0]
    assert environment.python.lstat().st_ctime_ns == before

    monkeypatch.setattr("bakeoff.environments.plan.NEEDED", ())  # which takes pip some seconds to fetch
    other = tmp_path / "other.txt"
    other.write_text("# other pins\n")
    assert create.make_planned(planned(needless, requirements=other), lines.append).info != environment.info


def test_a_half_made_environment_is_not_used_and_made_again(scripted: Framework) -> None:
    """What a killed bakeoff leaves has no completed marker: it is no environment, and the next creation replaces it."""
    folder = installed.home() / "fake"
    folder.mkdir(parents=True)
    marker = installed.Marker(framework="fake", requirements_sha256="", complete=False)
    (folder / installed.MARKER).write_bytes(msgspec.json.encode(marker))
    (folder / "rest").touch()
    assert installed.find("fake") is None
    create.make_planned(planned(scripted), lambda _: None)
    assert installed.find("fake") is not None
    assert not (folder / "rest").exists()


def test_a_failure_shows_pips_words_and_leaves_nothing(scripted: Framework, tmp_path: Path) -> None:
    """When pip fails, its last lines are in the error and the folder is gone."""
    requirements = tmp_path / "requirements.txt"
    requirements.write_text(NOWHERE)
    with pytest.raises(create.CreationError, match="there-is-no-such-wheel"):
        create.make_planned(planned(scripted, requirements=requirements), lambda _: None)
    assert not (installed.home() / "fake").exists()


def test_a_full_disk_is_told_in_plain_words(scripted: Framework, monkeypatch: pytest.MonkeyPatch) -> None:
    """No space left, whether bakeoff or pip meets it, is told as a full disk."""
    script = "print('OSError: [Errno 28] No space left on device'); raise SystemExit(1)"
    with pytest.raises(create.CreationError, match="the disk is full"):
        create._run([sys.executable, "-c", script], "fake", lambda _: None, create.Phases())

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "mkdir", full)
    with pytest.raises(create.CreationError, match="the disk is full"):
        create.make_planned(planned(scripted), lambda _: None)


def test_an_interrupt_leaves_nothing(scripted: Framework) -> None:
    """Ctrl-C while pip works removes what is there so far."""

    def interrupt(line: str) -> None:
        if "installing" in line:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        create.make_planned(planned(scripted), interrupt)
    assert not (installed.home() / "fake").exists()


def several(scripted: Framework, folder: Path, script: str) -> list[EnvironmentPlan]:
    """Plan two environments for which a script is run behind pip."""
    (folder / REQUIREMENTS).touch()
    (folder / create.INSTALL).write_text(script)
    declared = Framework(info=scripted.info, path=folder)
    return [planned(declared, name=name, requirements=folder / REQUIREMENTS) for name in ("one", "two")]


@pytest.fixture
def nothing_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out what takes pip some seconds to fetch."""
    monkeypatch.setattr("bakeoff.environments.plan.NEEDED", ())


@pytest.mark.usefixtures("nothing_needed")
def test_several_are_made_at_once(scripted: Framework, tmp_path: Path) -> None:
    """Both are worked on at one time, one that is asked for twice is made once, and with one at a time they follow."""
    both, lines = threading.Barrier(2, timeout=60), list[str]()

    def meet(line: str) -> None:
        lines.append(line)
        if "installing" in line:
            both.wait()

    plans = several(scripted, tmp_path, "")
    create.make_all([*plans, plans[0]], meet, at_once=2)
    assert [environment.path.name for environment in installed.installed()] == ["one", "two"]
    assert sum("making" in line for line in lines) == 2

    for name in ("one", "two"):
        create.remove_environment(name)
    lines.clear()
    create.make_all(plans, lines.append, at_once=1)
    assert [line.split(":")[0] for line in lines if "making" in line or "done" in line] == ["one", "one", "two", "two"]


@pytest.mark.usefixtures("nothing_needed")
def test_one_that_fails_does_not_keep_others_from_being_made(scripted: Framework, tmp_path: Path) -> None:
    """The other is there in the end; the error names each that failed, with its own words."""
    failing = "import sys; sys.exit('no compiler' if 'two' in sys.prefix else 0)"
    plans = several(scripted, tmp_path, failing)
    with pytest.raises(create.CreationError, match=r"^two: .*\n.*no compiler"):
        create.make_all(plans, lambda _: None, at_once=2)
    assert [environment.path.name for environment in installed.installed()] == ["one"]

    create.remove_environment("one")
    plans = several(scripted, tmp_path, "raise SystemExit('no compiler')")
    with pytest.raises(create.CreationError) as failed:
        create.make_all(plans, lambda _: None, at_once=2)
    assert str(failed.value).count("no compiler") == 2
    assert installed.installed() == []


@pytest.mark.usefixtures("nothing_needed")
def test_an_interrupt_of_this_process_alone_ends_all(scripted: Framework, tmp_path: Path) -> None:
    """What runs is ended, what waits is not begun, nothing unfinished is left: also where pip got no Ctrl-C itself."""
    plans = several(scripted, tmp_path, "import time; print('asleep', flush=True); time.sleep(600)")
    lines: list[str] = []

    def interrupt(line: str) -> None:
        lines.append(line)
        if line == "one: asleep":
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        create.make_all(plans, interrupt, at_once=1)
    assert not any(line.startswith("two") for line in lines)
    assert not any((installed.home() / name).exists() for name in ("one", "two"))


@pytest.mark.usefixtures("nothing_needed")
def test_an_interrupt_ends_waiting_for_another_process(scripted: Framework, tmp_path: Path) -> None:
    """An environment that another process works on is waited for, until Ctrl-C."""
    plans = several(scripted, tmp_path, "")
    installed.home().mkdir(parents=True)

    def interrupt(line: str) -> None:
        if "another bakeoff" in line:
            os.kill(os.getpid(), signal.SIGINT)

    with create._lock(installed.home() / "one", lambda _: None), pytest.raises(KeyboardInterrupt):
        create.make_all(plans, interrupt, at_once=2)


def test_two_creators_do_not_disturb_each_other(scripted: Framework) -> None:
    """The second waits for the first, says so, and finds the environment there."""
    lines: list[str] = []
    waiting = threading.Event()
    second = threading.Thread(target=create.make_planned, args=(planned(scripted), lines.append))

    def first(line: str) -> None:
        if "making" in line:
            second.start()
            waiting.wait(0.3)

    create.make_planned(planned(scripted), first)
    second.join()
    assert "waiting" in lines[0]
    assert "already there" in lines[-1]


def test_what_bakeoff_did_not_make_is_never_touched(scripted: Framework) -> None:
    """A folder without bakeoff's marker is neither removed nor overwritten, and no name leads out of the home."""
    folder = installed.home() / "fake"
    folder.mkdir(parents=True)
    (folder / "thesis.tex").touch()
    with pytest.raises(UsageError, match="not made by bakeoff"):
        create.remove_environment("fake")
    with pytest.raises(UsageError, match="in the way"):
        create.make_planned(planned(scripted), lambda _: None)
    for name in ("..", "../fake", "", "a/b"):
        with pytest.raises(UsageError, match="no name"):
            create.remove_environment(name)
    assert (folder / "thesis.tex").exists()


def test_remove_takes_away_what_was_made(scripted: Framework) -> None:
    """A removed environment is gone, and removing it again is an error that lists those that there are."""
    create.make_planned(planned(scripted), lambda _: None)
    assert [environment.path.name for environment in installed.installed()] == ["fake"]
    create.remove_environment("fake")
    assert list(installed.home().iterdir()) == []
    with pytest.raises(UnknownNameError, match="'fake'"):
        create.remove_environment("fake")


@pytest.mark.by_turns
def test_an_environment_of_a_users_own_pins_can_race(scripted: Framework, tmp_path: Path) -> None:
    """framework@name takes the environment of that name, if it was made for this framework.

    What a worker needs is installed, too: a project's own requirements name torch, and neither msgspec nor NumPy.
    """
    requirements = tmp_path / "old.txt"
    requirements.write_text("# what a project pins\nnumpy<2.4\n")
    plan = planned(scripted, name="old", requirements=requirements)
    assert plan.lines() == ["numpy<2.4", "msgspec"]
    environment = create.make_planned(plan, lambda _: None)
    assert resolve(parse_contender("fake@old"), scripted) == str(environment.python)
    imported = "import msgspec, numpy; assert numpy.__version__ < '2.4'"
    subprocess.run([environment.python, "-c", imported], check=True)

    info = FrameworkInfo(name="other", title="Other", module="no_such_module", distributions=(), options={})
    other = Framework(info=info, path=tmp_path)
    with pytest.raises(UsageError, match="was made for fake"):
        resolve(parse_contender("other@old"), other)
    with pytest.raises(UnavailableError, match="not installed here"):
        resolve(parse_contender("other"), other)


@pytest.mark.parametrize(
    ("line", "news"),
    [
        ("Downloading torch-2.13.0-cp311-none-linux_x86_64.whl (812.3 MB)\n", "downloading torch-2.13.0"),
        ("  Downloading jaxlib-0.10.2.whl (101.9 MB)\n", "downloading jaxlib"),
        ("Downloading six-1.16.0.whl (11 kB)\n", None),
        ("Installing collected packages: numpy, msgspec\n", "unpacking 2 packages"),
        ("Collecting numpy\n", None),
        ("\n", None),
    ],
)
def test_of_pips_output_only_what_takes_long_is_told(line: str, news: str | None) -> None:
    """A waiting user sees large downloads and the last phase, and nothing else."""
    told = create._pip_news(line)
    assert told is None if news is None else told is not None and told.startswith(news)


def test_another_version_has_an_environment_of_its_own(scripted: Framework) -> None:
    """framework@version is made beside the usual one, is raced by that name, and keeps what it pins."""
    environment = create.make_planned(planned(scripted, version="1.2.3"), lambda _: None)
    assert environment.path.name == "fake@1.2.3"
    assert (environment.path / REQUIREMENTS).is_file()
    assert resolve(parse_contender("fake@1.2.3"), scripted) == str(environment.python)
    lines: list[str] = []
    create.make_planned(planned(scripted, version="1.2.3"), lines.append)
    assert "already there" in lines[0]
    with pytest.raises(UnknownNameError, match=r"unknown environment '1\.2\.4'.*fake@1\.2\.3"):
        resolve(parse_contender("fake@1.2.4"), scripted)


def test_what_pip_does_not_do_is_done_by_the_framework_s_folder(
    scripted: Framework, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """install.py runs in the new environment, its lines are told, and its failure leaves nothing."""
    (tmp_path / REQUIREMENTS).touch()
    script = tmp_path / create.INSTALL
    script.write_text("import sys; print('compiled 1 of 2'); print(sys.prefix)")
    folder = Framework(info=scripted.info, path=tmp_path)
    lines: list[str] = []
    environment = create.make_planned(planned(folder), lines.append)
    assert "fake: compiled 1 of 2" in lines
    assert f"fake: {environment.path}" in lines
    create.remove_environment("fake")
    script.write_text("raise SystemExit('no compiler')")
    with pytest.raises(create.CreationError, match="no compiler"):
        create.make_planned(planned(folder), lambda _: None)
    assert not (installed.home() / "fake").exists()


PINNED = """# The usual environment.
frame-cpu==2.0.0; sys_platform != "darwin"
frame==2.0.0; sys_platform == "darwin"
helper[all]==1.1  # what helps
numpy==2.4.6
msgspec==0.22.0
"""


def test_a_version_pins_the_framework_and_leaves_the_rest_to_pip() -> None:
    """Markers and extras stay; companions lose their pin, to fit the version; bakeoff's own keeps it."""
    info = FrameworkInfo(
        name="frame",
        title="Frame",
        module="frame",
        distributions=("frame",),
        versioned=("frame", "frame-cpu"),
        options={},
    )
    assert pinned(PINNED, info, "1.9.0").splitlines() == [
        'frame-cpu==1.9.0; sys_platform != "darwin"',
        'frame==1.9.0; sys_platform == "darwin"',
        "helper[all]",
        "numpy",
        "msgspec==0.22.0",
    ]


def test_a_framework_with_its_version() -> None:
    """FRAMEWORK@VERSION is read; what is no version is an error that names --name."""
    assert parse_version("frame") == ("frame", None)
    assert parse_version("frame@1.9.0rc1") == ("frame", "1.9.0rc1")
    for text in ("frame@", "frame@old", "frame@../x"):
        with pytest.raises(UsageError, match="FRAMEWORK@VERSION"):
            parse_version(text)


@pytest.mark.parametrize("name", [name for name, found in frameworks().items() if found.info.listed])
def test_every_framework_s_pins_can_be_versioned(name: str) -> None:
    """What a framework says to share its version is among what its environment pins."""
    found = frameworks()[name]
    text = (found.path / "requirements.txt").read_text()
    lines = pinned(text, found.info, "0.0.1").splitlines()
    for distribution in found.info.versioned or found.info.distributions[:1]:
        assert any(line.startswith(f"{distribution}==0.0.1") for line in lines)


def test_a_version_that_is_not_there_is_told_in_a_line(scripted: Framework) -> None:
    """Pip's list of every version becomes one line with the newest; where pip knows none, the line says so."""
    pip = "ERROR: Could not find a version that satisfies the requirement jax[cpu]==0.0.1 (from versions: {})"
    for known, told in (
        ("0.1, 0.2, 0.3, 0.4, 0.5, 0.6", "no jax 0.0.1; newest: 0.6, 0.5, 0.4, 0.3, 0.2"),
        ("none", "no jax 0.0.1 for this Python"),
    ):
        script = f"print({pip.format(known)!r}); raise SystemExit(1)"
        with pytest.raises(create.CreationError) as failed:
            create._run([sys.executable, "-c", script], "jax@0.0.1", lambda _: None, create.Phases())
        assert str(failed.value) == f"jax@0.0.1: {told}"


def test_requirements_that_are_no_text_are_refused(tmp_path: Path) -> None:
    """A picture in their place is wrong input, and told as that."""
    file = tmp_path / "out.png"
    file.write_bytes(b"\x89PNG")
    with pytest.raises(UsageError, match=r"fake cannot be made: .*out\.png holds no text"):
        planned(framework("fake"), name="mine", requirements=file)
