"""What `bakeoff env create jittor` does beyond pip, with a scripted Jittor: it goes on without oneDNN, and says so."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING, Any

import pytest

from bakeoff.environments.declared import frameworks

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FOLDER = frameworks()["jittor"].path
WORKS = ["Jittor 1.3.11.0, oneDNN none"]
UNREACHABLE = ["URLError: Name or service not known", "0.00B [00:00, ?B/s]"]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[dict[str, str]]]:
    """Return a function that runs install.py with a scripted Jittor, and returns the variables of each import."""

    def load(name: str) -> Any:
        spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    script, home = load("install"), load("home")
    monkeypatch.setattr(home, "KEPT", tmp_path)
    monkeypatch.setattr(script, "_load_home", lambda: home)
    monkeypatch.setattr(script, "_check_tools", lambda: None)

    def run(answer: Callable[[dict[str, str], bool], list[str]], debian: str | None) -> list[dict[str, str]]:
        asked: list[dict[str, str]] = []

        def unpack(folder: Path) -> str:
            if debian is None:
                (folder / "lib").mkdir(parents=True)
                (folder / "lib" / home.LINKED).touch()
            return debian or ""

        def imported(_: Any, variables: dict[str, str]) -> list[str]:
            asked.append(variables)
            return answer(variables, home.has_onednn())

        monkeypatch.setattr(script, "_unpack_debians", unpack)
        monkeypatch.setattr(script, "_run", imported)
        script.main()
        return asked

    return run


def test_debians_onednn_stands_in_for_jittors_own(install: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """Where Jittor's site cannot be reached, it is tried again with Debian's packages, and the reason is told."""
    asked = install(lambda _, has_onednn: WORKS if has_onednn else UNREACHABLE, debian=None)
    assert [one["use_mkl"] for one in asked] == ["1", "1"]
    said = capsys.readouterr().out
    assert "URLError" in said
    assert said.splitlines()[-1] == WORKS[-1]


@pytest.mark.parametrize("debian", ["there is no apt-get or no dpkg", None])
def test_without_any_onednn_jittor_goes_without(
    install: Any, debian: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where there is no oneDNN, or Jittor cannot be compiled with it, it is compiled without; nothing of it stays."""
    asked = install(lambda variables, _: UNREACHABLE if variables["use_mkl"] == "1" else WORKS, debian=debian)
    assert asked[-1] == {"use_mkl": "0"}
    assert "without it, convolutions are many times slower" in capsys.readouterr().out
    assert not list(tmp_path.rglob("libmkldnn.so"))


def test_a_jittor_that_wants_to_be_started_again_is(install: Any) -> None:
    """It ends itself where it has compiled what it had begun with; after that it works."""
    answers = iter([["jit_utils updated, please rerun your command."], WORKS])
    assert len(install(lambda *_: next(answers), debian=None)) == 2


def test_a_jittor_that_cannot_be_compiled_fails_the_environment(install: Any) -> None:
    """The last thing that is said is Jittor's own error."""
    with pytest.raises(SystemExit, match="cannot compile"):
        install(lambda *_: ["RuntimeError: cannot compile"], debian="there is no apt-get or no dpkg")
