"""The lines of a workload's file that run in a framework are those that run over shapes."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from bakeoff.spec.scenario import Scenario
from bakeoff.workloads import likewise
from bakeoff.workloads.executed import Expected, Lines, executed, expected, lines_sha256, unlike
from bakeoff.workloads.load import LoadedWorkload, load

FILE = """
from bakeoff.spec.batch import ArraySpec
from bakeoff.spec.optimizer import SGD
from bakeoff.spec.workload import Size, Workload

SIZE = Size(batch_size=2, inputs={"x": ArraySpec(shape=(3,))}, classes=2)
WORKLOAD = Workload(name="asks", summary="", source="", sizes={"full": SIZE}, optimizer=SGD(learning_rate=0.1))
KIND = []
KEPT = {}


def build(nn, size):
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.head, self.kept = nn.Linear(3, 2), None

        def forward(self, x):
            if KIND == ["more"]:
                x = x * 1.0
            if KIND != ["less"]:
                x = x + 0.0
            if size.batch_size not in KEPT:
                KEPT[size.batch_size] = 1
            if self.kept is None:
                self.kept = 1 / size.batch_size
            if not nn.in_training(self):
                return self.head(x * 1.0)
            return self.head(x)

    return Model()


def loss(nn, outputs, targets):
    return nn.cross_entropy(outputs, targets)
"""
MORE, LESS = (FILE.splitlines().index(f"                x = x {what}") + 1 for what in ("* 1.0", "+ 0.0"))


@pytest.fixture
def loaded(tmp_path: Path) -> LoadedWorkload:
    """Give a workload that does more, or less, once a list in its file says so."""
    (tmp_path / "asks.py").write_text(FILE)
    return load(tmp_path / "asks.py")


def found(loaded: LoadedWorkload, kind: str, scenario: Any = "train") -> str:
    """Give what is said where its file does this in the second place."""
    asked = expected(loaded, loaded.size("full"), scenario)
    assert asked is not None
    loaded.build.__globals__["KIND"].append(kind)
    with executed(loaded.build.__code__.co_filename) as lines:
        likewise.runs_over_shapes(loaded, loaded.size("full"), scenario)
    return unlike(lines, asked)


@pytest.mark.parametrize("scenario", ["train", "infer"])
def test_the_same_lines_are_the_same_work(loaded: LoadedWorkload, scenario: str) -> None:
    """What a file keeps the first time, and does not make again, is no other work."""
    assert found(loaded, "neither", scenario) == ""


def test_a_line_more_and_a_line_less_are_told(loaded: LoadedWorkload) -> None:
    """Each by its number."""
    assert found(loaded, "more") == f"line {MORE} runs here and not where the comparison was fixed"


@pytest.mark.parametrize("scenario", ["train", "infer"])
def test_a_later_step_owes_no_line_of_evaluation_nor_one_that_fills_what_a_model_keeps(
    loaded: LoadedWorkload, scenario: Scenario
) -> None:
    """It may run them, and has to run none; a first step has to run all, and a line more or less is told in either."""
    asked = expected(loaded, loaded.size("full"), scenario)
    assert asked is not None
    with executed(loaded.build.__code__.co_filename) as lines:
        likewise.runs_over_shapes(loaded, loaded.size("full"), scenario, lines.clear)
    assert unlike(lines, asked, is_later=True) == ""
    assert unlike(lines, asked).endswith("does not run here, and did where the comparison was fixed")
    with executed(loaded.build.__code__.co_filename) as lines:
        likewise.runs_over_shapes(loaded, loaded.size("full"), scenario)
    assert unlike(lines, asked) == unlike(lines, asked, is_later=True) == ""
    for kind, line in (("more", MORE), ("less", LESS)):
        loaded.build.__globals__["KIND"][:] = [kind]
        with executed(loaded.build.__code__.co_filename) as lines:
            likewise.runs_over_shapes(loaded, loaded.size("full"), scenario, lines.clear)
        assert unlike(lines, asked, is_later=True).startswith(f"line {line} ")


def test_what_a_model_does_from_its_second_step_on_may_run(tmp_path: Path) -> None:
    """Such a line is the other branch of one that fills what the model keeps."""
    filled = "self.kept = 1 / size.batch_size\n"
    text = FILE.replace(filled, f"{filled}            else:\n                KEPT[2] = 2\n")
    (tmp_path / "asks.py").write_text(text)
    loaded = load(tmp_path / "asks.py")
    asked = expected(loaded, loaded.size("full"), "train")
    assert asked is not None
    with executed(loaded.build.__code__.co_filename) as lines:
        likewise.runs_over_shapes(loaded, loaded.size("full"), "train", lines.clear)
    assert unlike(lines, asked, is_later=True) == ""
    line = text.splitlines().index("                KEPT[2] = 2") + 1
    assert any(line in ran for ran in lines.values())


def test_a_line_less_is_told(loaded: LoadedWorkload) -> None:
    """Where the function that has it runs."""
    assert found(loaded, "less") == f"line {LESS} does not run here, and did where the comparison was fixed"


def test_what_is_compiled_or_called_by_another_name_is_passed_over() -> None:
    """Of a function that a compiler took over no line runs; one on a single line has none behind its first."""
    asked = Expected(may={("forward", 10): {11, 12, 13}}, must={("forward", 10): {11, 12}}, must_later={})
    assert unlike({}, asked) == ""
    with executed(__file__) as lines:
        sorted([2, 1], key=lambda one: -one)
    assert not any(lines.values())
    assert unlike(lines, asked) == ""
    assert unlike({("resumed_in_forward", 12): {12, 99}}, asked) == ""
    assert unlike({("forward", 10): {11, 12}}, asked) == ""
    assert unlike({("forward", 10): {11, 13}}, asked).startswith("line 12 does not")
    assert unlike({("forward", 10): {11, 12, 14}}, asked).startswith("line 14 runs here")


def test_a_function_that_a_compiler_splits_is_the_same_work() -> None:
    """It compiles all but a call, as of a logger, and the rest as a function of its own; a line more is told."""
    lines = {("forward", 10): {11, 12, 13}}
    asked = Expected(may=lines, must=lines, must_later=lines)
    rest: Lines = {("torch_dynamo_resume_in_forward_at_12", 12): set()}
    assert unlike({("forward", 10): {12}} | rest, asked) == ""
    assert unlike({("forward", 10): {12, 14}} | rest, asked).startswith("line 14 runs here")
    assert unlike({("forward", 10): {12}, ("resume_in_other_at_12", 12): set()}, asked).startswith("line 11 does not")
    assert unlike({("forward", 10): {12}, ("resume_in_forward_at_20", 20): set()}, asked).startswith("line 11 does not")


def test_what_cannot_be_run_over_shapes_is_not_held(loaded: LoadedWorkload) -> None:
    """Then nothing is expected, whatever its file raises: sys.exit() in its loss does not end bakeoff."""

    def fails(*_: object) -> None:
        raise SystemExit

    ends = msgspec.structs.replace(loaded, loss=fails)
    assert expected(ends, loaded.size("full"), "train") is None
    assert (
        lines_sha256(ends, loaded.size("full"), "train")
        == likewise.steps_sha256(ends, loaded.size("full"), "train")
        == ""
    )


def test_a_debugger_is_left_alone(loaded: LoadedWorkload) -> None:
    """Nothing is noted while one looks on, and it looks on behind it; else nobody does."""

    def debugger(*_: object) -> None:
        return None

    before = sys.gettrace()
    try:
        sys.settrace(debugger)
        with executed(loaded.build.__code__.co_filename) as lines:
            likewise.runs_over_shapes(loaded, loaded.size("full"), "train")
        assert (lines, sys.gettrace()) == ({}, debugger)
        sys.settrace(None)
        with executed(loaded.build.__code__.co_filename):
            pass
        assert sys.gettrace() is None
    finally:
        sys.settrace(before)
