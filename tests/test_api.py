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
    assert {"certify-fake", "memory-fake", "r01-fake"} <= set(result.records)
    frame = result.to_frame()
    assert list(frame["contender"]) == ["fake", "fake:step_ms=2"]
    assert frame["step_s"].iloc[1] == pytest.approx(2e-3, rel=0.1)
    assert repr(result) == f"<Result {result.id}: fake / fake:step_ms=2 {verdict.ratio:.3g} faster>"
    assert "fake:step_ms=2 is slower than fake" in str(result)


def test_load_reads_what_was_run(result: Result) -> None:
    """`load` gives every comparison of a results directory, judged again from its records."""
    (loaded,) = bakeoff.load(result.path.parent)
    assert loaded.id == result.id
    assert loaded.verdicts == result.verdicts


def test_an_unknown_option_lists_the_valid_ones(tmp_path: Path) -> None:
    """A misspelt option is an error that lists those of a request; a single text is no list of contenders."""
    with pytest.raises(UsageError, match=r"no option round; valid: .*max_rounds"):
        bakeoff.compare("mlp-mnist", ["fake"], round=3, results=str(tmp_path))
    with pytest.raises(UsageError, match="give a list"):
        bakeoff.compare("mlp-mnist", "fake", results=str(tmp_path))


def test_compare_can_be_called_whatever_was_imported_before(tmp_path: Path) -> None:
    """`bakeoff.compare` is the function after any import, also the second time."""
    call = "bakeoff.compare('no-such', ['fake'])"
    for before in ("import bakeoff", "import bakeoff; from bakeoff.race import request", "import bakeoff.api"):
        twice = f"for _ in range(2):\n  try: {call}\n  except bakeoff.spec.errors.UnknownNameError: print('asked')"
        code = f"{before}\n{twice}"
        told = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
        assert told.stdout == "asked\nasked\n"


def test_the_packages_names_are_those_it_promises() -> None:
    """`bakeoff.__all__` is what there is, and anything else is an AttributeError."""
    assert all(hasattr(bakeoff, name) for name in bakeoff.__all__)
    with pytest.raises(AttributeError, match="no attribute 'contest'"):
        _ = bakeoff.contest
