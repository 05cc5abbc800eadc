from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from bakeoff.cli import completing
from bakeoff.environments import declared
from bakeoff.spec.options import OPTIONS, WORKER_OPTIONS
from bakeoff.workloads import load

if TYPE_CHECKING:
    from tests.cli.conftest import Cli


def test_workloads_as_json(cli: Cli) -> None:
    """Each workload gives name, parameters, sizes, scenarios and source."""
    entries = {entry["name"]: entry for entry in json.loads(cli("list", "workloads", "--json").out)}
    assert set(entries) == set(load.names())
    mlp = entries["mlp-mnist"]
    assert mlp["parameters"] == mlp["sizes"]["full"]["parameters"] == 407_050
    assert mlp["scenarios"] == ["train", "infer"]
    assert all(entry["source"] and entry["sizes"] for entry in entries.values())


def test_frameworks_as_json(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each listed framework is either available with its interpreter, or has a reason."""
    entries = json.loads(cli("list", "frameworks", "--json").out)
    assert entries
    for entry in entries:
        assert entry["available"] is (entry["interpreter"] is not None) is (entry["reason"] == "")
    assert "fake" not in {entry["name"] for entry in entries}

    fake = declared.framework("fake")
    here = declared.Framework(info=fake.info.__class__(**{**_fields(fake), "listed": True}), path=fake.path)
    monkeypatch.setattr("bakeoff.cli.entries.frameworks", lambda: {"fake": here})
    monkeypatch.setattr("bakeoff.environments.interpreters.frameworks", lambda: {"fake": here})
    (entry,) = json.loads(cli("list", "frameworks", "--json").out)
    assert entry["interpreter"] == sys.executable


def test_the_tier_best_is_listed(cli: Cli) -> None:
    """Each framework tells what its tier best sets, with the reason and the document, and for people in a line."""
    entries = {entry["name"]: entry for entry in json.loads(cli("list", "frameworks", "--json").out)}
    assert any(entry["best"] for entry in entries.values())
    assert all(one["reason"] and one["source"] for entry in entries.values() for one in entry["best"])
    for name, entry in entries.items():
        said = cli("list", "frameworks", name).out
        assert ("tier=best" in said) is bool(entry["best"])


def _fields(framework: declared.Framework) -> dict[str, object]:
    """Give a declaration's fields."""
    return {name: getattr(framework.info, name) for name in framework.info.__struct_fields__}


def test_options_as_json(cli: Cli) -> None:
    """Each option tells its meaning, and what each framework makes of it."""
    entries = {entry["name"]: entry for entry in json.loads(cli("list", "options", "--json").out)}
    assert set(entries) == set(OPTIONS | WORKER_OPTIONS)
    assert entries["malloc"]["frameworks"].keys() == entries["threads"]["frameworks"].keys()
    assert all(entry["meaning"] for entry in entries.values())
    assert entries["threads"]["frameworks"]


def test_everything_fits_a_screen(cli: Cli) -> None:
    """Without a word the names of all four fit 24 lines of 80 columns; --json has one object.

    Studies of others are there as a number.
    """
    said = cli("list")
    assert said.code == 0
    lines = said.out.splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80
    headings = [line.split()[0] for line in lines if not line.startswith(" ")]
    assert headings == ["workloads", "frameworks", "options", "studies", "race"]
    everything = json.loads(cli("list", "--json").out)
    assert set(everything) == {"workloads", "frameworks", "options", "studies"}
    others = [entry for entry in everything["studies"] if entry["source"] == "others"]
    assert f"and {len(others)} of results that others published" in said.out
    named = [entry for entries in everything.values() for entry in entries if entry not in others]
    assert all(entry["name"] in said.out for entry in named)


def test_studies_of_others_stand_apart(cli: Cli) -> None:
    """Below a heading of their own stand those whose figures are no document's, each kind by its names."""
    documents, others = cli("list", "studies").out.split("\n\n")
    assert documents.startswith("the documents, table by table:\napx-cnn ")
    assert others.startswith("published by others, to see whether you land there:\nalgoperf-2025 ")
    assert "jax-vs-pytorch-4 " in documents
    assert "opacus-pr497 " in others


def test_a_table_that_another_study_measures_is_found_by_its_name(cli: Cli) -> None:
    """Table 5 of Dai et al. is listed, completed and told as what measures it: nothing has to be run twice."""
    assert re.search(r"^dai2022-table5 +measured by dai2022-figure2$", cli("list", "studies").out, re.MULTILINE)
    said = cli("list", "studies", "dai2022-table5").out
    assert said == cli("list", "studies", "dai2022-figure2").out
    assert "bakeoff reproduce dai2022-table5" in said
    assert completing.studies("dai2022-table5") == ["dai2022-table5"]


@pytest.mark.parametrize("what", ["workloads", "frameworks", "options", "studies"])
def test_each_kind_has_its_names_and_each_name_its_details(cli: Cli, what: str) -> None:
    """A kind is a line or two for each name, within 80 columns; a name has its details, and its own JSON object."""
    entries = json.loads(cli("list", what, "--json").out)
    short = cli("list", what).out
    assert all(re.search(rf"^{re.escape(entry['name'])} ", short, re.MULTILINE) for entry in entries)
    for entry in entries:
        said = cli("list", what, entry["name"])
        assert (said.code, said.out.count("default: default")) == (0, 0)
        assert max(map(len, said.out.splitlines())) <= 80 or "/" in said.out  # a path is not broken
        assert json.loads(cli("list", what, entry["name"], "--json").out) == entry


def test_a_file_of_ones_own_is_told_by_its_path(cli: Cli, root: Path, tmp_path: Path) -> None:
    """As a workload by its name, and what is wrong with it is an error."""
    path = str(root / "examples" / "my_model.py")
    told = cli("list", "workloads", path)
    assert told.code == 0
    assert "optimiser" in told.out
    assert "reduced" in told.out
    absent = cli("list", "workloads", str(tmp_path / "absent.py"))
    assert absent.code == 2
    assert "absent.py" in absent.err


def test_a_framework_tells_its_options(cli: Cli) -> None:
    """`list options torch` tells every option that it has, its own too, as it is written behind a contender."""
    said = cli("list", "options", "torch").out
    assert "torch:mode=eager, compiled; default: eager" in said
    assert "torch:loader_workers=" in said
    names = [entry["name"] for entry in json.loads(cli("list", "options", "torch", "--json").out)]
    assert all(f"torch:{name}=" in said for name in names)


@pytest.mark.parametrize(
    ("what", "valid"),
    [("workloads", "mlp-mnist"), ("frameworks", "torch"), ("options", "precision"), ("studies", "shootout-table1")],
)
def test_a_wrong_name_ends_with_the_valid_ones(cli: Cli, what: str, valid: str) -> None:
    """Exit code 2, the names that there are, and never the tests' stand-in."""
    said = cli("list", what, "no-such")
    assert (said.code, said.out) == (2, "")
    assert valid in said.err
    assert "fake" not in said.err


def test_the_stand_in_of_the_tests_is_told_when_it_is_named(cli: Cli) -> None:
    """`fake` stands in no list, and its details are there for who names it."""
    assert "fake" not in cli("list").out
    assert cli("list", "frameworks", "fake").out.startswith("Fake (scripted)")
    assert "fake:step_ms=" in cli("list", "options", "fake").out


def test_a_broken_workload_is_listed_with_its_problem(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A workload whose file cannot be used does not hide the others."""
    (tmp_path / "odd.py").write_text("WORKLOAD = 1\n")
    monkeypatch.setattr(load, "_shipped", lambda: {"odd": tmp_path / "odd.py"})
    (entry,) = json.loads(cli("list", "workloads", "--json").out)
    assert entry["name"] == "odd"
    assert "odd.py" in entry["problem"]
    assert "cannot be used" in cli("list", "workloads").out
