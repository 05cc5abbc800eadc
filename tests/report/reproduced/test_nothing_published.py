"""A document without figures, figures that stand alone, and what bakeoff has nothing for."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec
import pytest
from tests.report.reproduced.conftest import study
from tests.report.reproduced.test_reproduced import section_of
from tests.report.reproduced.test_several_devices import with_overhead
from tests.report.shown import data_of, html, markdown, printed

from bakeoff.judge.study import StudyOutcome
from bakeoff.report.pages import page_of
from bakeoff.report.pages.published_tables import called_for
from bakeoff.report.pictures import WIDE
from bakeoff.spec.comparison import Procedure
from bakeoff.spec.metric import Metric
from bakeoff.study.published import load
from bakeoff.workloads.load import load as load_workload

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bakeoff.report.page import Table

ONE = {"JAX": "jax", "PyTorch": "torch"}
SEVERAL = {
    f"{row}, {count} device{'s' if count > 1 else ''}": f"{label}:devices={count}"
    for count in (1, 2)
    for row, label in ONE.items()
}


def use_case(number: int) -> StudyOutcome:
    """Make the outcome of a use case scaled down on a processor: 1.11 times as long for jax."""
    rows = ONE if number in (1, 3) else SEVERAL
    return study(f"jax-vs-pytorch-{number}", rows, {}, scaled=True, device="cpu")


def test_a_document_without_figures_says_so_and_is_answered() -> None:
    """The answer says that nothing was published, and who is faster in which benchmark; no ranking is told."""
    page = page_of(use_case(1))
    assert page.headline == (
        "The README of JAX-vs-PyTorch-on-GPU publishes no figures. "
        "Here: PyTorch is faster than JAX in mnist, cifar10, nlp and gnn."
    )
    (first, *_) = page.sections
    assert first.words[0].startswith("Meant there for NVIDIA GTX 2080 Ti; NVIDIA GTX 3080; NVIDIA A5000; NVIDIA A100;")
    assert "no figures are published" in first.words[0]
    assert not any("Published on" in words or "the published ran" in words for words in first.words)
    assert data_of(use_case(1))["pairs"] == []


def test_each_benchmark_has_a_line() -> None:
    """A line is a benchmark with its workload as it ran, a step of each framework, their ratio and its verdict."""
    (table,) = section_of(use_case(1), "A step here by benchmark").tables
    assert [line.cells[0] for line in table.lines] == [
        "mnist (mnist-cnn, batch 256)",
        "cifar10 (cnn-cifar10, batch 32)",
        "nlp (text-transformer, batch 8)",
        "gnn (gcn-cora, batch 1)",
    ]
    assert table.lines[1].cells[1:] == [
        "0.120 s (0.116 to 0.124)",
        "0.108 s (0.105 to 0.111)",
        "1.11 (1.07 to 1.16)",
        "slower",
    ]
    assert "A step here by benchmark" in printed(use_case(1), 120)
    assert "cifar10 (cnn-cifar10, batch 32)" in markdown(use_case(1))
    assert 'aria-label="The README of JAX-vs-PyTorch-on-GPU publishes no figures' in html(use_case(1))


def test_devices_are_compared_with_as_many() -> None:
    """On several devices each number of them has a table, and no pair is of two numbers."""
    page = page_of(use_case(4))
    titles = [section.title for section in page.sections if section.title.startswith("A step here by benchmark")]
    assert titles == ["A step here by benchmark, on 1 device", "A step here by benchmark, on 2 devices"]
    assert page.headline.endswith("Here, on 2 devices: PyTorch is faster than JAX in mnist, cifar10, nlp and gnn.")
    (picture,) = (section.picture for section in page.sections if section.picture)
    drawn = re.findall(r"devices=(\d) / \w+:devices=(\d)", str(picture.draw(WIDE).to_dict()))
    assert {("1", "1"), ("2", "2")} == set(drawn)


def test_what_was_not_measured_is_a_hole() -> None:
    """A benchmark without its rounds is told as such in the answer and in the table."""
    whole = use_case(1)
    points = [msgspec.structs.replace(one, outcome=None, reason="not begun") for one in whole.points]
    page = page_of(msgspec.structs.replace(whole, points=points))
    assert "JAX and PyTorch are not measured in mnist, cifar10, nlp and gnn" in page.headline
    (table,) = section_of(msgspec.structs.replace(whole, points=points), "A step here by benchmark").tables
    assert table.lines[0].cells[1:] == ["not measured", "not measured", "", ""]


def test_a_figure_alone_stands_beside_ours() -> None:
    """Where there is one row, there is no ranking, and its step stands beside ours all the same."""
    made = study("lambda-h100", {"PyTorch, fp32": "torch", "PyTorch, fp16": "torch:precision=float16"},
                 {"torch:precision=float16": "it needs CUDA"}, scaled=True, device="cpu")  # fmt: skip
    page = page_of(made)
    assert page.headline.startswith(
        "There is no pair of figures in the throughputs on one H100 of Lambda's benchmark: "
    )
    (table,) = next(section.tables for section in page.sections if section.tables)
    assert table.lines[0].cells[:2] == ["ResNet-50, fp32", "1895"]
    assert "Not in the scaled variant: ResNet-50, fp16" in section_of(made, "Holes").words
    assert not any("fp16 (ResNet-50, fp32)" in words for words in section_of(made, "Holes").words)


def test_what_bakeoff_has_nothing_for_is_told_with_its_figures() -> None:
    """The document's other rows stand in a table with every figure as printed, and why they are not measured."""
    made = study("keras-2023", {"PyTorch eager": "torch", "Keras 3 TF": "tensorflow"}, {}, scaled=True, device="cpu")
    (table,) = section_of(made, "What bakeoff has nothing for").tables
    cells = {line.cells[0]: line.cells[1:] for line in table.lines}
    assert cells["Mistral generate, batch 32"][0].endswith("; Keras 3 torch: 10932.59 ms a step")
    assert cells["SegmentAnything fit, batch 1"][1] == "bakeoff has no such workload"


def test_tokens_give_a_ratio_and_no_time() -> None:
    """Of tokens a second nothing is told as a time of a step there; the ratio of two rows is."""
    rows = {"PyTorch, FP32": "torch", "TensorFlow, FP32": "tensorflow"}
    made = study("nvidia-examples", rows, {}, scaled=True, device="cpu")
    title = "GNMT (gnmt), train: batch 128 there (V100 16 GB), batch 8, reduced size here"
    (table,) = section_of(made, title).tables
    cells = {line.cells[0]: line.cells for line in table.lines}
    assert cells["TensorFlow, FP32"][1:3] == ["14106 tokens/s", ""]
    pair = next(
        one
        for one in data_of(made)["pairs"]
        if one["machine"] == "V100 16 GB" and one["first"] == "TensorFlow, FP32" and one["second"] == "PyTorch, FP32"
        and one["comparison"] == "GNMT"
    )  # fmt: skip
    assert round(pair["published_ratio"], 3) == round(21860 / 14106, 3)
    assert "two implementations there" in pair["reason"]


def test_every_figure_of_memory_has_a_line_of_its_own() -> None:
    """What is after the import, at the peak and on the GPU stand apart; what no record holds says so."""
    rows = {"TensorFlow": "tensorflow:mode=compiled", "PyTorch": "torch:mode=compiled", "JAX": "jax:input=per-step"}
    made = study("apx-cnn", rows, {}, scaled=True, device="cpu")
    (table,) = section_of(made, "Memory").tables
    cells = {line.cells[0]: line.cells[1:] for line in table.lines}
    assert len(cells) == 12
    assert cells["cnn-apx, JAX: initial RAM"] == ["4.42 GB", "220 MB", "process after its import"]
    assert cells["cnn-apx, JAX: max RAM"] == ["3.29 GB", "420 MB", "process at its peak"]
    assert cells["cnn-apx, JAX: initial VRAM"] == ["9.25 GB", "", "not kept"]
    assert cells["cnn-apx, JAX: max VRAM"] == ["17.45 GB", "unknown", "GPU at its peak"]
    known = {(one["row"], one["name"]): one for one in data_of(made)["memory"]}
    assert known["PyTorch", "max RAM"]["held_bytes"] == 420_000_000
    assert known["PyTorch", "initial VRAM"]["held_bytes"] is None


def test_what_is_missing_as_a_whole_is_named_once() -> None:
    """A benchmark of which every row is missing is told by its name; rows with commas are set apart by semicolons."""
    made = use_case(2)
    first, *rest = made.points
    nothing = [msgspec.structs.replace(one, outcome=None, reason="its turn has not come") for one in rest]
    found = section_of(msgspec.structs.replace(made, points=[first, *nothing]), "Holes").words
    assert found == ["Not measured: every row of cifar10, every row of nlp and every row of gnn: its turn has not come"]
    gone = {label: "no such device" for label in SEVERAL.values() if label.endswith("2")}
    found = section_of(study("jax-vs-pytorch-2", SEVERAL, gone, scaled=True, device="cpu"), "Holes").words
    assert found == ["Not measured: JAX, 2 devices; PyTorch, 2 devices: no such device"]


def test_too_few_rounds_are_no_answer() -> None:
    """Before the first look the answer says that there is no verdict, as the table does, and not that it is open."""
    made = use_case(1)
    points = [
        msgspec.structs.replace(
            one,
            outcome=one.outcome
            and msgspec.structs.replace(
                one.outcome,
                verdicts=[msgspec.structs.replace(each, rounds=2, fewest=5) for each in one.outcome.verdicts],
            ),
        )
        for one in made.points
    ]
    page = page_of(msgspec.structs.replace(made, points=points))
    assert page.headline.endswith(
        "Here: JAX and PyTorch have too few rounds for a verdict in mnist, cifar10, nlp and gnn."
    )


def test_one_published_pair_is_told_in_a_sentence() -> None:
    """Where the document has a single pair the answer is about that pair, and counts nothing."""
    made = study("deepspeech-2022", {"PyTorch": "torch", "JAX": "jax:lstm=cell"}, {}, scaled=True, device="cpu")
    assert page_of(made).headline.startswith(
        "The published pair in the timings of deepspeech_timing_diffs has the same order here. Whether "
    )


def test_a_document_without_overheads_has_no_column_for_them() -> None:
    """Of use cases on several devices ours stand alone; nothing stands empty beside them."""
    made = use_case(2)
    points = [with_overhead(one, None) for one in made.points]
    (table,) = section_of(msgspec.structs.replace(made, points=points), "Communication overhead").tables
    assert table.heads == ["overhead on several devices", "here, %", "95 % CI", "samples/s here"]
    assert [line.cells[0] for line in table.lines][:1] == ["mnist, PyTorch, 2 devices"]
    assert {len(line.cells) for line in table.lines} == {4}


METRICS = (Metric(name="next-state error"), 0.01234), (Metric(name="reward a step", less_is_better=False), -5.123)
"""Of both stages of rl-venv-ppo, with what they are in the tests."""


def both_stages(metrics: Sequence[tuple[Metric | None, float | None]], totals_s: Sequence[float] = ()) -> Table:
    """Make the table of whole runs of the notes on M1 chips, whose stages end with these metrics.

    They take as long as given, of which the first step is a millisecond.
    """
    made = study("m1-revive", {"GPU": "tensorflow", "CPU": "torch"}, {}, scaled=True, device="cpu")
    points = []
    for one, steps, (metric, value) in zip(made.points, (20, 10), metrics, strict=True):
        assert one.outcome
        comparison = msgspec.structs.replace(one.outcome.comparison, procedure=Procedure(steps=steps))
        contenders = []
        for each in one.outcome.contenders:
            assert each.whole
            runs = [msgspec.structs.replace(run, metric=value) for run in each.whole.runs]
            first = runs[0]
            timed = [msgspec.structs.replace(first, total_s=took, without_first_s=took - 1e-3) for took in totals_s]
            whole = msgspec.structs.replace(each.whole, metric=metric, runs=timed or runs)
            contenders.append(msgspec.structs.replace(each, whole=whole))
        outcome = msgspec.structs.replace(one.outcome, comparison=comparison, contenders=contenders)
        points.append(msgspec.structs.replace(one, outcome=outcome))
    (table,) = section_of(msgspec.structs.replace(made, points=points), "Whole runs").tables
    return table


def test_each_stage_tells_what_it_has_learnt() -> None:
    """Behind the last loss stands each stage's own metric by its name, since the two are of different kinds."""
    table = both_stages(METRICS)
    cells = {line.cells[0]: line.cells[1:] for line in table.lines}
    assert table.heads[-2:] == ["last loss", "metric after it"]
    assert cells["environment, CPU (M1)"][-2:] == ["0.123", "next-state error 0.0123"]
    assert cells["policy, CPU"][-2:] == ["0.123", "reward a step -5.12"]


def test_a_stage_without_a_figure_has_its_seconds_all_the_same() -> None:
    """The notes on M1 chips time both stages of their program together: the second has its whole run here, too."""
    table = both_stages([(None, None)] * 2)
    cells = {line.cells[0]: line.cells[1:] for line in table.lines}
    assert cells["environment, CPU (M1)"][:2] == ["65 s / 500", "20"]
    assert cells["policy, CPU"][:2] == ["no number / 100", "10"]
    assert cells["policy, CPU"][2].endswith(" s")
    assert (table.heads[-1], cells["policy, CPU"][-1]) == ("last loss", "0.123")


def test_whole_runs_are_told_in_the_unit_of_the_shortest() -> None:
    """Median with the first step and without, and the range with it, all in one unit."""
    table = both_stages([(None, None)] * 2, (0.052, 0.041, 0.049))
    cells = {line.cells[0]: line.cells[1:] for line in table.lines}
    assert table.heads[3:6] == ["with first step", "without", "range with it"]
    assert cells["policy, CPU"][2:5] == ["49.0 ms", "48.0 ms", "41.0 to 52.0"]


def test_environment_steps_a_second_stand_in_the_studys_own_tables() -> None:
    """Of each stage and row as many as its samples have; a study whose samples have nothing has no such table."""
    made, workload = study("m1-revive", {"CPU": "torch"}, {}, scaled=True, device="cpu"), load_workload("rl-venv-ppo")
    points = []
    for one in made.points:
        assert one.outcome
        comparison = msgspec.structs.replace(one.outcome.comparison, workload=workload.workload)
        points.append(msgspec.structs.replace(one, outcome=msgspec.structs.replace(one.outcome, comparison=comparison)))
    rolled, title = msgspec.structs.replace(made, points=points), "What a second has"
    (section,) = (one for one in called_for(rolled, load("m1-revive")) if one.title == title)
    (table,) = section.tables
    assert [line.cells[:2] for line in table.lines] == [
        ["environment, CPU", "environment steps"], ["policy, CPU", "environment steps"],
    ]  # fmt: skip
    samples_per_s = 8e3 / 27.0
    rates = [float(line.cells[2].replace(",", "")) for line in table.lines]
    assert rates == pytest.approx([10 * samples_per_s, 100 * samples_per_s], rel=0.03)
    assert all(" to " in line.cells[3] for line in table.lines)
    assert title not in [one.title for one in called_for(made, load("m1-revive"))]
