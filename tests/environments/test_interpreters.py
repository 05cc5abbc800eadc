from __future__ import annotations

import sys
from pathlib import Path

import msgspec
import pytest

from bakeoff.environments import installed, interpreters
from bakeoff.environments.declared import Framework, framework
from bakeoff.spec.contender import parse_contender
from bakeoff.spec.errors import UnavailableError, UnknownNameError, UsageError
from bakeoff.spec.framework import FrameworkInfo


def declared(module: str, *companions: str) -> Framework:
    """Declare a framework that needs these modules."""
    info = FrameworkInfo(
        name="other", title="Other", module=module, companions=companions, distributions=(), options={}
    )
    return Framework(info=info, path=Path())


def pretend_made(name: str, for_framework: str) -> Path:
    """Make a folder that looks like a whole environment."""
    python = installed.home() / name / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.symlink_to(sys.executable)
    marker = installed.Marker(framework=for_framework, requirements_sha256="", complete=True)
    (installed.home() / name / installed.MARKER).write_bytes(msgspec.json.encode(marker))
    return python


def test_the_current_interpreter_is_used_as_it_is(home: Path) -> None:
    """A framework that the current interpreter has runs there, even when an environment was made for it."""
    assert not home.exists()
    pretend_made("other", "other")
    assert interpreters.resolve(parse_contender("other"), declared("json")) == sys.executable


def test_a_made_environment_is_used_by_name(home: Path) -> None:
    """Without the framework here, the environment made for it is used; one made for another is not."""
    assert not home.exists()
    python = pretend_made("other", "other")
    assert interpreters.resolve(parse_contender("other"), declared("no_such_module")) == str(python)
    python.unlink()
    with pytest.raises(UnavailableError):
        interpreters.resolve(parse_contender("other"), declared("no_such_module"))


def test_a_framework_that_is_not_here_says_how_to_get_it(home: Path) -> None:
    """The reason names both remedies; one that lacks only a companion names that."""
    assert not home.exists()
    with pytest.raises(
        UnavailableError,
        match=r"not installed here; name .* other@/path/to/python, or make one: bakeoff env create other$",
    ):
        interpreters.resolve(parse_contender("other"), declared("no_such_module"))
    with pytest.raises(UnavailableError, match="installed here without no_such_module"):
        interpreters.resolve(parse_contender("other"), declared("json", "no_such_module"))


def test_a_folder_of_that_name_is_no_framework(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that merely carries a framework's name, on the path by chance, does not count as installed."""
    assert not home.exists()
    (tmp_path / "deep_thing").mkdir()
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(UnavailableError, match="not installed here"):
        interpreters.resolve(parse_contender("other"), declared("deep_thing"))


def test_an_explicit_interpreter_is_checked(tmp_path: Path) -> None:
    """framework@/path takes an interpreter or an environment's folder, and refuses what cannot be run."""
    fake = framework("fake")
    assert interpreters.resolve(parse_contender(f"fake@{sys.executable}"), fake) == sys.executable
    prefix = Path(sys.executable).parents[1]
    assert interpreters.resolve(parse_contender(f"fake@{prefix}"), fake) == str(prefix / "bin" / "python")
    with pytest.raises(UsageError, match="there is no interpreter"):
        interpreters.resolve(parse_contender(f"fake@{tmp_path}/python"), fake)
    (tmp_path / "python").touch(mode=0o644)
    with pytest.raises(UsageError, match="not a program"):
        interpreters.resolve(parse_contender(f"fake@{tmp_path}/python"), fake)


def test_an_unknown_environment_lists_those_that_there_are(home: Path) -> None:
    """framework@name without such an environment is an error that names the valid ones."""
    assert not home.exists()
    pretend_made("mine", "fake")
    with pytest.raises(UnknownNameError, match=r"environment 'your'.*mine"):
        interpreters.resolve(parse_contender("fake@your"), framework("fake"))


def test_available_names_a_reason_for_every_other(home: Path) -> None:
    """Every listed framework is either available or has a reason, and the scripted one is not listed."""
    assert not home.exists()
    here, reasons = interpreters.available()
    assert not set(here) & set(reasons)
    assert "fake" not in here.keys() | reasons.keys()
    assert all(reasons.values())


def test_versions_are_read_without_starting_the_interpreter(home: Path) -> None:
    """The versions in an environment come from its packages' metadata, however their names are spelt there."""
    assert not home.exists()
    python = pretend_made("other", "other")
    metadata = python.parents[1] / "lib" / "python3.11" / "site-packages" / "Deep_Thing-4.2.dist-info" / "METADATA"
    metadata.parent.mkdir(parents=True)
    metadata.write_text("Metadata-Version: 2.1\nName: Deep_Thing\nVersion: 4.2\n")
    (environment,) = installed.installed()
    assert environment.versions(("deep-thing", "not-there")) == {"deep-thing": "4.2"}
