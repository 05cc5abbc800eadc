from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

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
    monkeypatch.setattr(declared, "frameworks", lambda: {"fake": here})
    monkeypatch.setattr("bakeoff.environments.interpreters.frameworks", lambda: {"fake": here})
    (entry,) = json.loads(cli("list", "frameworks", "--json").out)
    assert entry["interpreter"] == sys.executable


def test_the_tier_best_is_listed(cli: Cli) -> None:
    """Each framework tells what its tier best sets, with the reason and the document, and for people in a line."""
    entries = {entry["name"]: entry for entry in json.loads(cli("list", "frameworks", "--json").out)}
    assert any(entry["best"] for entry in entries.values())
    assert all(one["reason"] and one["source"] for entry in entries.values() for one in entry["best"])
    said = cli("list", "frameworks").out
    assert all("tier=best: " in said for entry in entries.values() if entry["best"] and entry["available"])


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


def test_everything_for_people(cli: Cli) -> None:
    """Without a word all four are listed, each under its heading; with --json they are one object."""
    said = cli("list")
    assert said.code == 0
    assert [line for line in said.out.splitlines() if not line.startswith(" ")] == [
        "workloads:",
        "frameworks:",
        "options:",
        "studies:",
    ]
    assert set(json.loads(cli("list", "--json").out)) == {"workloads", "frameworks", "options", "studies"}


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
