"""The Python interface gives what the command line gives."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import bakeoff
from bakeoff.api import Result
from bakeoff.race.progress import Event, RoundEnded
from bakeoff.spec.errors import UsageError

FRAME = (
    *("comparison", "workload", "scenario", "batch_size", "contender", "status", "step_s", "low_s", "high_s"),
    *("samples_per_s", "first_step_s", "compile_s", "peak_bytes", "accuracy", "rounds"),
)
"""Columns that scripts read."""


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
    assert repr(result) == f"<Result {result.id}: fake / fake:step_ms=2 {verdict.ratio:.3g} faster>"
    assert "fake:step_ms=2 is slower than fake" in str(result)


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
    assert list(frame["step_s"].isna()) == [True] * 4  # one round gives no interval
    assert [result.outcome.comparison.batch_size for result in study.results] == [8, 8, 16, 16]
    assert "batch size  step_ms" in str(study)
    assert repr(study) == f"<Study {study.id}: 4 of 4 points>"
    assert study.path.parent == tmp_path
    assert len(bakeoff.load(tmp_path)) == 4


def test_a_sweep_s_lists_are_checked(tmp_path: Path) -> None:
    """An empty list, a value twice, and an option that there is not, are errors."""
    for wrong, error in (
        ({"batch_size": 8}, r"varies nothing: give a list of values"),
        ({"batch_size": []}, "lacks a value"),
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
    with pytest.raises(UsageError, match="give a list"):
        bakeoff.compare("mlp-mnist", "fake", results=str(tmp_path))


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
    with pytest.raises(AttributeError, match="no attribute 'contest'"):
        _ = bakeoff.contest
