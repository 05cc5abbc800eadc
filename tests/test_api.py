"""The Python interface gives what the command line gives."""

from __future__ import annotations

import html
import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import msgspec
import numpy as np
import pytest
from tests.race.inline import InlineWorker
from tests.report.conftest import TORCH, outcome

import bakeoff
from bakeoff import api
from bakeoff.api import Result, watching
from bakeoff.api.frames import flat, is_objects
from bakeoff.judge.energy import Energy
from bakeoff.race import conductor, counterfactual, explaining
from bakeoff.race.progress import Event, RoundEnded
from bakeoff.race.stages import explain as stage
from bakeoff.report.pages import page_of
from bakeoff.spec.errors import UnknownNameError, UsageError
from bakeoff.study.run import run_study

SMALL = {"size": "reduced", "data": "synthetic", "self_test": False}

FRAME = (
    *("comparison", "workload", "scenario", "batch_size", "contender", "status", "step_s", "low_s", "high_s"),
    *("samples_per_s", "first_step_s", "compile_s", "peak_bytes", "accuracy", "rounds"),
)
"""Columns that scripts read."""


@pytest.fixture(scope="module", autouse=True)
def _in_this_process() -> Iterator[None]:
    """Run scripted workers in this process: how processes start is tested elsewhere."""
    with pytest.MonkeyPatch.context() as patch:
        for function in (conductor.run, conductor.search_batches, run_study, explaining.race, explaining.complete):
            patch.setitem(function.__kwdefaults__, "launch", InlineWorker)
            if "probe_s" in function.__kwdefaults__:
                patch.setitem(function.__kwdefaults__, "probe_s", 0.001)
        yield


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Result:
    """Race the scripted framework once."""
    results = str(tmp_path_factory.mktemp("results"))
    events: list[Event] = []
    raced = bakeoff.compare(
        "mlp-mnist", ["fake", "fake:step_ms=2"], size="reduced", results=results, observer=events.append
    )
    assert [event for event in events if isinstance(event, RoundEnded)]
    return raced


def test_compare_gives_verdicts_records_and_a_frame(result: Result) -> None:
    """A result has the verdict, every record by its trial, and one row for each contender."""
    (verdict,) = result.verdicts
    assert (verdict.first, verdict.second, verdict.verdict) == ("fake", "fake:step_ms=2", "faster")
    assert {"certify-fake", "late-fake", "r01-fake"} <= set(result.records)
    frame = result.to_frame()
    assert list(frame["contender"]) == ["fake", "fake:step_ms=2"]
    assert frame["step_s"].iloc[1] == pytest.approx(2e-3, rel=0.1)
    assert set(frame.columns) >= {
        *FRAME,
        "cores_used",
        "major_faults",
        "fenced_p50_s",
        "device_peak_bytes",
        "macs_share",
    }
    assert (frame["low_s"] <= frame["step_s"]).all()
    assert repr(result) == f"<Result {result.id}: {result.headline}>"
    assert result.headline == page_of(result.outcome).headline
    assert str(result).strip().startswith(result.headline)


def test_every_field_of_the_json_object_is_in_a_frame(result: Result) -> None:
    """Contenders' fields and those of the whole are columns of one frame, and each list of objects is another."""
    data = result.data
    lists = [name for name, value in data.items() if is_objects(value)]
    assert {"contenders", "verdicts", "ledger"} <= set(lists)
    shared = flat({name: value for name, value in data.items() if name not in lists})
    frame = result.to_frame()
    for name, value in shared.items():
        assert name in frame.columns
        assert all(one == value or (one != one and value is None) for one in frame[name])  # noqa: PLR0124 - missing
    renamed = {"label": "contender"}
    for row, told in zip(frame.to_dict("records"), data["contenders"], strict=True):
        for name, value in flat(told).items():
            found = row[renamed.get(name, name)]
            assert found == value or (value is None and (found is None or found != found))  # noqa: PLR0124 - missing
    for name in lists[1:]:
        table = result.to_frame(name)
        assert len(table) == len(data[name])
        assert set(table.columns) >= set().union(*map(flat, data[name]))
    with pytest.raises(UnknownNameError, match=r"Valid: contenders, ledger, .*verdicts"):
        result.to_frame("pairs")


def test_a_contenders_rounds_are_those_of_the_race() -> None:
    """Those of the trials of energy have their own column: a figure within an object takes the place of no field."""
    measured = Energy(joules_per_sample=0.1, interval=None, rounds=5, source="package-0")
    one = msgspec.structs.replace(TORCH, rounds=12, energy=measured)
    (row,) = Result(outcome([one], [])).to_frame().to_dict("records")
    assert (row["rounds"], row["energy.rounds"], row["joules_per_sample"]) == (12, 5, 0.1)


def test_a_result_is_drawn_and_shown_in_a_notebook(result: Result) -> None:
    """`plot` gives altair's chart; a notebook shows the answer, tables with heads of rows, and no script."""
    assert result.plot().to_dict()["vconcat"]
    shown = result._repr_html_()
    assert shown.count("<table>") == shown.count("</table>") >= 1
    assert html.escape(result.headline) in shown
    assert '<th scope="row">fake:step_ms=2</th>' in shown
    assert "<script" not in shown
    ET.fromstring(shown)  # noqa: S314 - our own


def test_progress_is_quiet_in_a_pipe_and_shown_when_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is printed where nobody looks; True prints on stderr, beside an observer; a notebook gets lines."""
    asked = {"size": "reduced", "data": "synthetic", "results": str(tmp_path), "self_test": False, "max_rounds": 1}
    events: list[Event] = []
    bakeoff.compare("mlp-mnist", ["fake"], **asked)
    assert capsys.readouterr() == ("", "")
    bakeoff.compare("mlp-mnist", ["fake"], progress=True, observer=events.append, **asked)
    out, err = capsys.readouterr()
    assert (out, bool(events)) == ("", True)
    assert "mlp-mnist, train, batch 16" in err
    monkeypatch.setattr(watching, "_is_notebook", lambda: True)
    bakeoff.compare("mlp-mnist", ["fake"], observer=events.append, **asked)
    bakeoff.compare("mlp-mnist", ["fake"], progress=False, **asked)
    assert capsys.readouterr() == ("", "")
    bakeoff.compare("mlp-mnist", ["fake"], **asked)
    assert "mlp-mnist, train, batch 16" in capsys.readouterr().out


@pytest.mark.slow
def test_sweep_races_every_value_of_a_list(tmp_path: Path) -> None:
    """Options that are lists give a study: a result for each value, a frame with its coordinates, the report's text."""
    study = bakeoff.sweep(
        "mlp-mnist",
        ["fake"],
        size="reduced",
        batch_size=[8, 16],
        options={"step_ms": ["1", "2"]},
        max_rounds=1,
        self_test=False,
        results=str(tmp_path),
    )
    frame = study.to_frame()
    assert list(zip(frame["batch size"], frame["step_ms"], strict=True)) == [
        ("8", "1"), ("8", "2"), ("16", "1"), ("16", "2")
    ]  # fmt: skip
    assert list(frame["low_s"].isna()) == [True] * 4  # one round gives no interval
    assert (frame["step_s"] > 0).all()
    assert [result.outcome.comparison.batch_size for result in study.results] == [8, 8, 16, 16]
    assert "batch size  step_ms" in str(study)
    assert repr(study) == f"<Study {study.id}: 4 of 4 points; {study.headline}>"
    assert len(study.to_frame("ledger")) > 4
    assert "<table>" in study._repr_html_()
    assert study.path.parent == tmp_path
    assert len(bakeoff.load(tmp_path)) == 4


def test_a_sweep_s_lists_are_checked(tmp_path: Path) -> None:
    """An empty list, a value twice, and an option that there is not, are errors."""
    for wrong, error in (
        ({"batch_size": 8}, r"varies nothing: give a list of values"),
        ({"batch_size": []}, r"batch_size is \[\], which lacks a value: give some, such as \[8, 16\]$"),
        ({"batch_size": (8, 16)}, r"several values are a list, such as \[8, 16\]"),
        ({"batch_size": [8, 16.5]}, "batch_size is 16.5; valid: a whole number"),
        ({"batch_size": ["8", "x"]}, "batch_size has the value 'x'; valid: a whole number"),
        ({"threads": "x", "batch_size": [8, 16]}, "threads is 'x'"),
        ({"options": 3}, "options is 3; valid: a dict"),
        ({"options": {"step_ms": [1, None]}}, "step_ms has the value None"),
        ({"threads": [1, 1]}, "has the value 1 twice"),
        ({"batches": [8, 16]}, r"sweep\(\) has no option batches"),
    ):
        with pytest.raises(UsageError, match=error):
            bakeoff.sweep("mlp-mnist", ["fake"], results=str(tmp_path), **wrong)


def test_load_reads_what_was_run(result: Result) -> None:
    """`load` gives every comparison of a results directory, judged again from its records."""
    (loaded,) = bakeoff.load(result.path.parent)
    assert loaded.id == result.id
    assert loaded.verdicts == result.verdicts
    (same,) = bakeoff.load(result.path)
    assert same.id == result.id


def test_load_raises_for_a_folder_that_is_not_there(tmp_path: Path) -> None:
    """A wrong path is an error that names it, not an empty list; an empty folder has no comparison."""
    with pytest.raises(UsageError, match=r"there is no folder .*nowhere"):
        bakeoff.load(tmp_path / "nowhere")
    assert bakeoff.load(tmp_path) == []


def test_the_largest_batch_is_searched(tmp_path: Path) -> None:
    """`bakeoff.max_batch` gives what was found; what only a race has is refused."""
    asked = {"size": "reduced", "data": "synthetic", "results": str(tmp_path)}
    (found,) = bakeoff.max_batch("mlp-mnist", ["fake:sample_kib=1,capacity_kib=45"], **asked).found
    assert (found.state, found.largest) == ("found", 45)
    with pytest.raises(UsageError, match="leave out margin, max_rounds"):
        bakeoff.max_batch("mlp-mnist", ["fake"], margin=0.1, max_rounds=3, **asked)


def test_an_unknown_option_lists_the_valid_ones(tmp_path: Path) -> None:
    """A misspelt option is an error that lists those of a request; a single text is no list of contenders."""
    with pytest.raises(UsageError, match=r"no option round; valid: .*max_rounds"):
        bakeoff.compare("mlp-mnist", ["fake"], round=3, results=str(tmp_path))
    with pytest.raises(UsageError, match="valid: ") as told:
        bakeoff.compare("mlp-mnist", ["fake"], round=3, results=str(tmp_path))
    page = DOCUMENT.read_text()
    assert all(f"`{name}`" in page for name in str(told.value).partition("valid: ")[2].split(", "))
    with pytest.raises(UsageError, match="give a list"):
        bakeoff.compare("mlp-mnist", "fake", results=str(tmp_path))


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "part of a round": ({"max_rounds": 2.5}, "max_rounds is 2.5; valid: a whole number, or None"),
    "budget": ({"budget_s": "10s"}, "budget_s is '10s'; valid: a number of seconds, such as 120, or None"),
    "batch": ({"batch_size": "8"}, "batch_size is '8'; valid: a whole number, such as 32, or None"),
    "batches": ({"batch_size": [8, 16]}, r"batch_size is [8, 16]; compare() takes one value: call sweep()"),
    "values": ({"options": {"step_ms": ["1", "2"]}}, "options['step_ms'] is ['1', '2']; compare() takes one value"),
    "threads": ({"threads": "x"}, "threads is 'x'; valid: a whole number"),
    "seed": ({"seed": "a"}, "seed is 'a'; valid: a whole number"),
    "no seed": ({"seed": True}, "seed is True; valid: a whole number"),
    "huge": ({"max_rounds": 2**70, "aim": "until-sure"}, "valid: a whole number"),
    "endless": ({"trial_limit_s": float("inf")}, "trial_limit_s is inf; valid: a number of seconds"),
    "options": ({"options": 3}, "options is 3; valid: a dict of values"),
    "tiers": ({"tiers": "best"}, "tiers is 'best'; valid: a list of texts"),
    "aim": ({"aim": "speed"}, "unknown aim 'speed'"),
    "no aim": ({"aim": 3}, "aim is 3; valid: a text"),
    "resume": ({"resume": "yes"}, "resume is 'yes'; valid: True or False"),
    "number": ({"contenders": [3]}, "contenders has 3 in it; give names"),
    "nobody": ({"contenders": None}, "contenders is None; give a list"),
    "workload": ({"workload": 3}, "workload is 3; give a name"),
    "note": ({"rules": 1}, "has no option rules"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_value_is_told_before_anything_is_written(tmp_path: Path, case: str) -> None:
    """The name, the value and what is valid are told, and the results directory stays as it was."""
    wrong, told = WRONG[case]
    asked = {"workload": "mlp-mnist", "contenders": ["fake"], "size": "reduced", "results": str(tmp_path / "results")}
    with pytest.raises(UsageError, match=re.escape(told)):
        bakeoff.compare(**asked | wrong)
    assert not (tmp_path / "results").exists()


def test_other_libraries_numbers_and_paths_are_taken(tmp_path: Path) -> None:
    """What is a whole number or a path is one, whoever made it."""
    asked = {"max_rounds": np.int64(1), "budget_s": np.float64(60), "batch_size": 8.0, "seed": 1, **SMALL}
    known = bakeoff.compare("mlp-mnist", ["fake"], results=tmp_path, options={"step_ms": 2}, **asked)
    assert known.outcome.comparison.procedure.max_rounds == 1
    assert bakeoff.load(tmp_path)[0].outcome.comparison.batch_size == 8


@pytest.mark.parametrize("limit", ["1GiB", 20, 0, -1])
def test_a_limit_of_memory_that_cannot_be_is_told_in_python_s_words(tmp_path: Path, limit: Any) -> None:
    """A text, and a number that must have lost its unit, are refused before an attempt."""
    with pytest.raises(UsageError, match=r"memory_bytes is '1GiB'; valid|a memory limit of -?\d+ bytes") as told:
        bakeoff.max_batch("mlp-mnist", ["fake"], memory_bytes=limit, size="reduced", results=str(tmp_path))
    assert "--" not in str(told.value)
    assert not list(tmp_path.glob("*/*"))


def test_compare_can_be_called_whatever_was_imported_before(tmp_path: Path) -> None:
    """`bakeoff.compare` is the function after any import, also the second time."""
    call = "bakeoff.compare('no-such', ['fake'])"
    for before in ("import bakeoff", "import bakeoff; from bakeoff.race import conductor", "import bakeoff.api"):
        twice = f"for _ in range(2):\n  try: {call}\n  except bakeoff.spec.errors.UnknownNameError: print('asked')"
        code = f"{before}\n{twice}"
        told = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
        assert told.stdout == "asked\nasked\n"


def test_the_packages_names_are_those_it_promises() -> None:
    """`bakeoff.__all__` is what there is, and anything else is an AttributeError."""
    assert all(hasattr(bakeoff, name) for name in bakeoff.__all__)
    assert set(bakeoff.__all__) == {*api.__all__, "__version__"} <= set(dir(bakeoff))
    assert (Path(bakeoff.__file__).parent / "py.typed").exists()
    with pytest.raises(AttributeError, match="no attribute 'contest'"):
        _ = bakeoff.contest


DOCUMENT = Path(__file__).parents[1] / "docs" / "python.md"


def signature(function: Any) -> str:
    """Give a function's signature without its types."""
    known = inspect.signature(function)
    bare = [one.replace(annotation=inspect.Parameter.empty) for one in known.parameters.values() if one.name != "self"]
    plain = known.replace(parameters=bare, return_annotation=inspect.Signature.empty)
    return f"{function.__name__}{plain}"


def test_every_public_name_is_documented_with_its_signature() -> None:
    """docs/python.md has every name of `__all__`, and every member of what it returns, as they are."""
    page = DOCUMENT.read_text()
    for name in bakeoff.__all__:
        assert f"`bakeoff.{name}`" in page
        if inspect.isfunction(getattr(bakeoff, name)):
            assert f"`{signature(getattr(bakeoff, name))}`" in page
    for kind in (bakeoff.Result, bakeoff.StudyResult, bakeoff.ExplainedResult):
        section = page.partition(f"## `bakeoff.{kind.__name__}`")[2].partition("\n## ")[0]
        members = {name for name in dir(kind) if not name.startswith("_")} | {"outcome"}
        told = {name.partition("(")[0] for name in re.findall(r"^\| `([^`]+)` \|", section, re.MULTILINE)}
        assert told == members
        assert not hasattr(kind, "to_frame") or f"`{signature(kind.to_frame)}`" in section


@pytest.mark.slow
@pytest.mark.by_turns
def test_the_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Every example of docs/python.md runs as it stands there, one after another, with scripts for frameworks."""
    monkeypatch.chdir(tmp_path)
    request = api.request_of
    monkeypatch.setattr(api, "request_of", lambda *asked: request(*asked[:3], SMALL | asked[3]))
    examples = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(), re.DOTALL)
    assert len(examples) == len(re.findall(r"^## `", DOCUMENT.read_text(), re.MULTILINE)) + 2
    names: dict[str, Any] = {}
    for example in examples:
        stood_in = example.replace('"torch"', '"fake:sample_kib=1,capacity_kib=4000"').replace(
            '"jax"', '"fake:step_ms=2"'
        )
        exec(stood_in, names)  # noqa: S102 - our own page
    assert "did you mean 'mlp-mnist'?" in capsys.readouterr().out
    assert names["seen"]
    assert list(names["pairs"]["verdict"]) == ["faster"]


@pytest.mark.by_turns
def test_explain_says_why(result: Result, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a comparison that was run, and of a workload with contenders: gaps, suspects and the report's text."""
    for module in (stage, counterfactual):
        monkeypatch.setattr(module, "ROUNDS", 3)
    with pytest.raises(UsageError, match="leave out size"):
        bakeoff.explain(result.path, size="full")
    with pytest.raises(UsageError, match="is alone: name another one"):
        bakeoff.explain("mlp-mnist", ["fake"])
    with pytest.raises(UsageError, match="no folder of one"):
        bakeoff.explain("mlp-mnist", ["fake"], recorded=True)
    before = bakeoff.explain(result.path, recorded=True)
    assert (before.gaps, before.suspects) == ([], [])
    two = ["fake", "fake:planted_ms=0.5"]
    found = bakeoff.explain("mlp-mnist", two, max_rounds=3, results=result.path.parent / "why", **SMALL)
    (gap,) = found.gaps
    assert (gap.second, gap.by_kind[0].kind) == ("fake:planted_ms=0.5", "data movement")
    assert found.suspects[0].switch == "planted_ms=0"
    assert found.data["headline"] == found.headline
    assert repr(found) == f"<ExplainedResult {found.path.name}: {found.headline}>"
    assert " ".join(str(found).split()).startswith(found.headline)
    again = bakeoff.explain(found.path)
    assert again.headline == found.headline
