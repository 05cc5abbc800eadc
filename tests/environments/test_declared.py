from __future__ import annotations

import sys
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path

import pytest

from bakeoff.environments import declared
from bakeoff.spec.errors import UnavailableError, UnknownNameError
from bakeoff.spec.options import inherited

DECLARATION = """
name = "{name}"
title = "Other"
module = "other"
distributions = ["other"]

[options]
mode = {{ default = "eager", values = ["eager"] }}
"""


def write(folder: Path, text: str) -> Path:
    """Make a framework's folder."""
    folder.mkdir(parents=True)
    (folder / "framework.toml").write_text(text)
    return folder


def test_shipped_frameworks_are_found_by_location() -> None:
    """Every folder with a framework.toml is a framework, usable, and found without importing bakeoff.frameworks."""
    folders = {
        path.parent.name for path in (Path(declared.__file__).parents[1] / "frameworks").glob("*/framework.toml")
    }
    found = declared.frameworks()
    assert folders <= set(found)
    assert {"fake"} <= folders
    assert not [framework.problem for framework in found.values() if framework.problem]


@pytest.mark.parametrize("name", ["JAX_DEFAULT_PRNG_IMPL", "JAX_DEBUG_INFS", "JAX_OPTIMIZATION_LEVEL"])
def test_what_changes_a_step_of_jax_is_watched(name: str) -> None:
    """By such a variable a certificate's trial and a round that is added in another shell would be two programs."""
    assert inherited(declared.framework("jax").info.watched, {name: "1"}) == {name: "1"}


def test_nothing_is_watched_that_some_trials_of_a_contender_set() -> None:
    """Where a user sets it, too, its trials would seem to have been run in two environments, and none could go on."""
    for framework in declared.frameworks().values():
        cache = framework.info.cache
        always = {one.name for one in framework.info.variables if not one.when}
        some = {one.name: "" for one in (cache.variables if cache else ()) if one.name not in always}
        assert inherited(framework.info.watched, some) == {}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("name = ", "Invalid value"),
        ('name = "odd"\ntitle = "Odd"', "missing required field"),
        (DECLARATION.format(name="odd") + "\n[surprise]\n", "unknown field"),
        (DECLARATION.format(name="even"), "even"),
    ],
    ids=["not-toml", "fields-missing", "field-unknown", "other-name"],
)
def test_a_broken_declaration_is_listed_with_its_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, expected: str
) -> None:
    """A framework.toml that cannot be used is not dropped: the problem names the file, and asking for it raises it."""
    folder = write(tmp_path / "odd", text)
    monkeypatch.setattr(declared, "_shipped", lambda: tmp_path)
    assert expected in declared.frameworks()["odd"].problem
    assert str(folder) in declared.frameworks()["odd"].problem
    with pytest.raises(UnavailableError, match=r"framework\.toml"):
        declared.framework("odd")


def test_an_entry_point_adds_a_framework_without_importing_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another distribution's package is found by its entry point, and its code does not run in the parent."""
    folder = write(tmp_path / "their_framework", DECLARATION.format(name="other"))
    (folder / "__init__.py").write_text("raise RuntimeError('imported in the parent')")
    monkeypatch.syspath_prepend(tmp_path)
    point = EntryPoint("other", "their_framework", declared.ENTRY_POINTS)
    monkeypatch.setattr(declared, "entry_points", lambda group: EntryPoints([point]).select(group=group))
    assert declared.framework("other").path == folder
    assert "their_framework" not in sys.modules


def test_an_entry_point_to_nothing_is_listed_with_its_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    """An entry point whose package is not there is told, not dropped."""
    point = EntryPoint("gone", "no_such_package_anywhere", declared.ENTRY_POINTS)
    monkeypatch.setattr(declared, "entry_points", lambda group: EntryPoints([point]).select(group=group))
    assert "no_such_package_anywhere" in declared.frameworks()["gone"].problem


def test_an_unknown_framework_names_the_valid_ones() -> None:
    """A framework that nothing declares is an error that lists those that are, but for the tests' stand-in."""
    with pytest.raises(UnknownNameError, match=r"'torhc'.*did you mean 'torch'.*jax, .*torch") as error:
        declared.framework("torhc")
    assert "fake" not in str(error.value)
