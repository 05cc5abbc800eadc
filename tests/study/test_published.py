"""Published figures as data: what the files hold, held against what the documents say of themselves."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from pathlib import Path
from statistics import median

import pytest

from bakeoff.judge.claim_quantity import percent_of
from bakeoff.judge.reproduced_epochs import figure_of
from bakeoff.judge.reproduction import machine_of, steps_s
from bakeoff.spec.errors import UnknownNameError, UsageError
from bakeoff.spec.published import PublishedStudy, step_s
from bakeoff.stats.boundaries import LOOKS
from bakeoff.study.published import SHIPPED, load, names

COUNTS = {  # rows of the document's table or figure, comparisons, single numbers (repeats and starred runs counted)
    "algoperf-2025": (2, 5, 10),
    "apx-cnn": (3, 1, 3),
    "dai2022-figure1": (5, 15, 6),
    "dai2022-figure2": (6, 3, 0),
    "dai2022-figure3": (2, 7, 0),
    "dai2022-figure4": (6, 7, 0),
    "dai2022-table2": (2, 7, 14),
    "dai2022-table3": (2, 8, 0),
    "dai2022-table4": (5, 2, 8),
    "dai2022-table6": (3, 7, 0),
    "dai2022-table7": (6, 5, 28),
    "deepspeech-2022": (2, 1, 2),
    "dl-stack-2025": (3, 3, 9),
    "dlperf-2020": (6, 4, 8),
    "jax-vs-pytorch-1": (2, 4, 0),
    "jax-vs-pytorch-2": (4, 4, 0),
    "jax-vs-pytorch-3": (2, 4, 0),
    "jax-vs-pytorch-4": (4, 4, 0),
    "jittor-inference": (2, 1, 2),
    "keras-2023": (4, 2, 8),
    "keras-mps-2026": (4, 2, 16),
    "lambda-h100": (2, 2, 2),
    "lambda-h200": (2, 2, 2),
    "m1-inference": (2, 2, 12),
    "m1-revive": (2, 2, 5),
    "m1-transfer": (2, 2, 12),
    "nvidia-examples": (6, 4, 18),
    "opacus-pr497": (6, 1, 6),
    "pytorch-jax-resnet50": (2, 1, 2),
    "pytorch-per-sample-grads": (2, 1, 2),
    "rosetta-2018": (2, 2, 4),
    "shootout-table1": (3, 1, 8),
    "shootout-table2": (4, 1, 8),
    "shootout-table3": (3, 1, 8),
    "shootout-table4": (3, 1, 6),
    "ttj-2021": (4, 2, 17),
    "vgg16-2080ti": (2, 2, 4),
}

OWN = """
id = "own"
title = "A study of one's own"
unit = "s"
method = "by a stopwatch"
compile_time = "excluded"
minutes = 1
document = { name = "a page", citation = "A page, 2026", number = "table 1" }
machines = [{ name = "M", hardware = "a machine" }]
rows = [
  { name = "a", contender = "fake", on_cpu = "fake" },
  { name = "b", contender = "fake:step_ms=2", missing = "it needs a GPU" },
]

[[comparisons]]
name = "mlp"
workload = "mlp-mnist"
scenario = "train"
batch_size = 32
steps = 100
scaled = { rounds = 3 }
figures = [{ row = "a", values = [1.0] }, { row = "b", values = [2.0, 2.5] }]

[[claims]]
text = "a is twice as fast as b"
first = "a"
second = "b"
comparisons = ["mlp"]
kind = "mean"
percent = 100
"""


def figures(name: str, machine: str = "") -> dict[tuple[str, str], float]:
    """Give the median of each figure of a study by comparison and row, on one of its machines."""
    study = load(name)
    return {
        (declared.name, figure.row): median(figure.values)
        for declared in study.comparisons
        for figure in declared.figures
        if figure.machine == machine
    }


def test_every_file_is_listed_and_complete() -> None:
    """Each shipped file is a study under its own name, with as many rows and numbers as its document's table."""
    assert set(names()) == set(COUNTS)
    for name, counts in COUNTS.items():
        study = load(name)
        numbers = [len(one.values) + len(one.disturbed) for two in study.comparisons for one in two.figures]
        assert study.id == name
        assert (len(study.rows), len(study.comparisons), sum(numbers)) == counts
        assert study.document.citation
        assert all(machine.hardware for machine in study.machines)


@pytest.mark.parametrize("name", names())
def test_what_is_asked_of_times_can_be_decided_where_it_is_scaled_down(name: str) -> None:
    """Rows that are held against each other by time have as many rounds as a verdict needs: 4 never came to one."""
    study = load(name)
    of_time = [claim for claim in study.claims if claim.of in ("speed", "run") and not claim.unmeasured]
    held = {comparison for claim in of_time for comparison in claim.comparisons}
    asked = [one for one in study.comparisons if one.scaled and (one.figures or one.name in held)]
    assert all(one.scaled.rounds >= LOOKS[0] for one in asked if one.scaled)


def test_the_documents_own_differences_follow_from_its_figures() -> None:
    """Table 2 of Dai et al. gives the speeds and their difference in percent: one follows from the other."""
    study = load("dai2022-table2")
    known = figures("dai2022-table2")
    claims = [claim for claim in study.claims if claim.where == "table 2"]
    assert len(claims) == len(study.comparisons)
    for claim in claims:
        (comparison,) = claim.comparisons
        ratio = known[comparison, claim.first] / known[comparison, claim.second]
        assert percent_of(claim, math.log(ratio)) == pytest.approx(claim.percent, abs=0.005)


def test_what_the_document_says_of_epochs_follows_from_its_figures() -> None:
    """Table 4 of Dai et al. gives epochs, its text the share of time that one setting saves: both are the same."""
    study = load("dai2022-table4")
    for claim in (one for one in study.claims if one.percent):
        (declared,) = (one for one in study.comparisons if one.name in claim.comparisons)
        found = [figure_of(declared, row, claim.epoch or 1) for row in (claim.first, claim.second)]
        first, second = (figure.values[0] for figure in found if figure)
        assert percent_of(claim, math.log(second / first)) == pytest.approx(claim.percent, abs=0.006)


def test_epochs_have_the_steps_of_the_second_tables_speed() -> None:
    """An epoch's steps are those of the data set that table 4's time at table 2's speed amounts to, within a step."""
    speeds = figures("dai2022-table2")
    for declared in load("dai2022-table4").comparisons:
        figure = figure_of(declared, "PT-profiling", 2)
        assert figure
        there = figure.values[0] * speeds[declared.name, "PyTorch"]
        assert declared.run_steps() == pytest.approx(there, abs=1.5)


def test_communication_overheads_follow_from_the_speeds() -> None:
    """Table 7 of Dai et al. gives speeds and overheads, which follow from them but for PyTorch's VGG16, as noted."""
    printed = {("vgg16", "PyTorch, 2 GPUs"): 4.391, ("vgg16", "PyTorch, 4 GPUs"): 7.196}
    study, found = load("dai2022-table7"), 0
    for declared in study.comparisons:
        steps = {one.row: steps_s(study, declared, one)[0] for one in declared.figures}
        for figure in declared.figures:
            if figure.overhead_percent is not None:
                single = steps[f"{figure.row.partition(',')[0]}, 1 GPU"]
                expected = printed.get((declared.name, figure.row), figure.overhead_percent)
                assert 100 * (1 - single / steps[figure.row]) == pytest.approx(expected, abs=0.013)
                found += 1
    assert found == 18


def test_a_percent_that_is_not_printed_follows_from_the_printed_speeds() -> None:
    """Of CNNs on one V100 the least lead is that of InceptionV3, and the claim says that it is computed."""
    known = figures("dai2022-table7")
    (claim,) = (one for one in load("dai2022-table7").claims if "in CNNs on one GPU" in one.text)
    leads = {name: known[name, claim.first] / known[name, claim.second] for name in claim.comparisons}
    assert min(leads, key=leads.__getitem__) == "inceptionv3"
    assert claim.percent == pytest.approx(100.0 * (leads["inceptionv3"] - 1.0), abs=0.005)
    assert "the percent are not printed there" in claim.text


def test_a_relation_of_times_is_a_ratio_and_no_time() -> None:
    """Figures as times of one of them keep their ratio; the tutorial's percent follows from its milliseconds."""
    relations = load("opacus-pr497")
    (declared,) = relations.comparisons
    hooks, functorch = (steps_s(relations, declared, one)[0] for one in declared.figures[:2])
    assert functorch / hooks == 1.5
    tutorial = load("pytorch-per-sample-grads")
    loop, vmap = (steps_s(tutorial, tutorial.comparisons[0], one)[0] for one in tutorial.comparisons[0].figures)
    assert loop == pytest.approx(0.08886)
    assert percent_of(tutorial.claims[0], math.log(loop / vmap)) == pytest.approx(928, abs=0.5)


def test_tables_of_one_document_agree() -> None:
    """Figure 1 at batch 64 has the numbers of table 2; without a switch the notes on M1 repeat their first table."""
    table, figure = figures("dai2022-table2"), figures("dai2022-figure1")
    rows = {"TF-profiling": "TensorFlow", "PT-ori": "PyTorch"}
    at_64 = {(name.removesuffix(", batch 64"), rows[row]): value for (name, row), value in figure.items()}
    assert at_64.items() <= table.items()
    for machine in ("M1", "M1 Ultra", "Xeon Gold and RTX 3090"):
        inference, transfer = figures("m1-inference", machine), figures("m1-transfer", machine)
        for model in ("mlp", "resnet50"):
            assert inference[model, "GPU"] == transfer[model, "no switch"] <= transfer[model, "switch"]


def test_only_gpus_that_published_figures_put_below_an_a100_are_taken_for_one() -> None:
    """A P100 is slower than a V100 in Dai et al., and that slower than an A100 at NVIDIA; of others nothing says so."""
    taken = {machine.name for name in names() for machine in load(name).machines if machine.within_a100}
    assert taken == {"P100", "V100", "V100 16 GB", "A100", "A100 40 GB", "A100 80 GB"}
    p100, v100 = figures("dai2022-table2"), figures("dai2022-table7")
    both = [(name, row) for name, row in p100 if (name, f"{row}, 1 GPU") in v100]
    assert len(both) == 10
    assert all(p100[name, row] < v100[name, f"{row}, 1 GPU"] for name, row in both)
    slow = figures("nvidia-examples", "V100 16 GB")
    fast = figures("nvidia-examples", "A100 40 GB") | figures("nvidia-examples", "A100 80 GB")
    same = [(slow[key], fast[key]) for key in slow if key in fast]
    for framework in ("PyTorch", "TensorFlow"):
        fp32, tf32 = f"{framework}, FP32", f"{framework}, TF32"
        same += [(slow["GNMT", fp32], fast["GNMT", tf32])]
        same += [(slow["ResNet-50, batch 128", fp32], fast["ResNet-50, batch 256", tf32])]
    assert len(same) == 8
    assert all(there < a100 for there, a100 in same)


def test_claims_are_about_what_is_there() -> None:
    """The summaries of figure 1 cover the batch sizes that the document names, for the networks that it names."""
    study = load("dai2022-figure1")
    sizes = sorted({declared.batch_size for declared in study.comparisons})
    assert sizes == [8, 16, 32, 64, 128]
    for claim in study.claims:
        assert claim.unmeasured or len(claim.comparisons) in (1, 5, 10, 15)
    largest = next(claim for claim in study.claims if claim.kind == "at-least")
    assert largest.comparisons == ("vgg16, batch 128",)


@pytest.mark.parametrize(
    ("name", "comparison", "row", "expected_s"),
    [
        ("shootout-table1", "mlp-mnist", "tensorflow", 36 / 37_500),  # 20 epochs of 1,875 steps
        ("shootout-table3", "resnet50-cifar10", "jittor", 229 / 7_815),  # 5 epochs of 1,563 steps, the last one short
        ("shootout-table4", "resnet50-cifar10", "pytorch", 54.5 / 1_000),
        ("dai2022-table7", "resnet50", "TensorFlow, 4 GPUs", 4 * 64 / 1440.03),
        ("dai2022-table4", "deepspeech2", "PT-ori", 2149.15 / 1_427),
        ("apx-cnn", "cnn-apx", "PyTorch", 82.86 / 500),
        ("dai2022-table2", "resnet50", "TensorFlow", 64 / 216.14),
        ("m1-inference", "resnet50", "CPU", 206 / 50),
    ],
)
def test_a_published_figure_becomes_the_time_of_one_step(
    name: str, comparison: str, row: str, expected_s: float
) -> None:
    """Seconds of a run, epochs and images a second are all told as seconds of one published step."""
    study = load(name)
    declared = next(one for one in study.comparisons if one.name == comparison)
    figure = next(one for one in declared.figures if one.row == row)
    assert machine_of(study, figure) == study.machines[0].name
    assert median(steps_s(study, declared, figure)) == pytest.approx(expected_s, rel=1e-12)


def test_the_other_unit_needs_no_steps() -> None:
    """Steps a second are the inverse of a step's time, whatever the batch."""
    declared = load("dai2022-table2").comparisons[0]
    assert step_s(4.0, "steps/s", declared) == 0.25


def test_repeats_beside_another_task_are_kept_apart() -> None:
    """The starred runs of the notes' table 3 are told and do not enter its ratios."""
    (declared,) = load("shootout-table3").comparisons
    starred = {one.row: one.disturbed for one in declared.figures if one.disturbed}
    assert starred == {"tensorflow": (206.0,), "pytorch": (182.0,)}


def test_a_study_of_ones_own(tmp_path: Path) -> None:
    """A user's file in the same form is a study by its path; a name that is neither is told with those there are."""
    path = tmp_path / "own.toml"
    path.write_text(OWN)
    study = load(str(path))
    assert isinstance(study, PublishedStudy)
    assert study.comparisons[0].run_steps() == 100
    with pytest.raises(UnknownNameError, match="unknown study 'dai2022-tabl2'; did you mean 'dai2022-table2'"):
        load("dai2022-tabl2")
    with pytest.raises(UsageError, match=r"none\.toml cannot be used as a study: .*No such file"):
        load(str(tmp_path / "none.toml"))


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("minutes = 1", "minutes = 1\nhours = 2", "unknown field `hours`"),
        ('unit = "s"', 'unit = "ms"', "Invalid enum value 'ms'"),
        ("steps = 100\n", "", "mlp has figures in s and needs steps, or epochs and samples"),
        ("steps = 100\n", "steps = 0\n", "Expected `int` >= 1"),
        ('{ row = "a", values = [1.0] }', '{ row = "c", values = [1.0] }', "mlp, c: this row is not there"),
        ('{ row = "a", values = [1.0] }', '{ row = "b", values = [1.0] }', "figure of 'b' is there twice"),
        ("values = [1.0]", "values = []", "Expected `array` of length >= 1"),
        ("values = [1.0]", "values = [-1.0]", "Expected `float` > 0.0"),
        ("values = [1.0]", 'values = [1.0], machine = "N"', "mlp, a: machine 'N' is not there"),
        (', missing = "it needs a GPU"', "", "row 'b' wants either on_cpu or missing"),
        ("values = [1.0]", "values = [1.0], epoch = 1", "mlp, a: epoch 1 wants epochs_apart = true"),
        ("steps = 100\n", "steps = 100\nepochs_apart = true\n", "needs figures in s, epochs = 1 and samples"),
        ("steps = 100\n", 'steps = 100\ncontenders = { c = "fake" }\n', "contenders names 'c', which is no row"),
        ('kind = "mean"', 'kind = "less-time"', "less-time and an epoch go together"),
        ('first = "a"', 'first = "z"', "names 'z', which is not there"),
        ('comparisons = ["mlp"]', 'comparisons = ["cnn"]', "names 'cnn', which is not there"),
        ('contender = "fake",', 'contender = ":",', "is not of the form framework"),
        ("steps = 100\n", 'steps = 100\nrows = ["c"]\n', "rows names 'c', which is no row"),
        ("steps = 100\n", 'steps = 100\nrows = ["b"]\n', "mlp, a: this row does not race there"),
        ("minutes = 1", 'minutes = 1\nmemory = { RAM = "not kept" }', "memory names 'RAM', which no figure has"),
        ("minutes = 1", 'minutes = 1\nsource = "hearsay"', "Invalid enum value 'hearsay'"),
        (
            "minutes = 1",
            'minutes = 1\nticks = { number = "table 1", columns = [{ name = "X", value = "x", rows = { A = "c" } }] }',
            "ticks names 'c', which is no row",
        ),
        (
            "minutes = 1",
            'minutes = 1\nticks = { number = "", columns = [{ name = "X", value = "x", rows = { A = "a" } }] }',
            "Expected `str` of length >= 1",
        ),
        ("steps = 100\n", 'steps = 100\nticks = [{ setting = "lstm", can = ["X"] }]\n', "ticks names 'X'"),
        ('kind = "mean"', 'of = "ticks"', "is of ticks, and wants comparisons that have some"),
        ("document = ", "document ", "Expected '='"),
        ('id = "own"', 'id = "../own"', "id '../own' is to be a folder's name of letters, digits, dots"),
        ('machines = [{ name = "M", hardware = "a machine" }]', "machines = []", "machines has none"),
    ],
)
def test_a_file_that_does_not_fit_together_is_refused(tmp_path: Path, before: str, after: str, told: str) -> None:
    """What is misspelt, missing, twice or impossible is an error that says where."""
    assert before in OWN
    path = tmp_path / "own.toml"
    path.write_text(OWN.replace(before, after, 1))
    with pytest.raises(UsageError) as raised:
        load(str(path))
    assert str(raised.value).startswith(f"{path} cannot be used as a study: ")
    assert told in str(raised.value)


def test_no_file_names_this_machine() -> None:
    """The shipped files cite documents, not the places where they were read."""
    for path in SHIPPED.glob("*.toml"):
        assert not [word for word in ("/work", "/tmp", "shared/") if word in path.read_text()]  # noqa: S108


def test_the_page_of_published_figures_is_current(root: Path) -> None:
    """docs/published.md is what the shipped files say; `make docs` writes it again."""
    script = "import sys; sys.path.insert(0, 'docs'); import write_published; sys.stdout.write(write_published.page())"
    told = subprocess.run([sys.executable, "-c", script], cwd=root, capture_output=True, text=True, check=True)
    assert told.stdout == (root / "docs" / "published.md").read_text(encoding="utf-8"), "run `make docs`"


@pytest.mark.parametrize(
    ("text", "instead", "found"),
    [
        ('second = "b"', 'second = "c"', "names 'c', which is not there"),
        ('kind = "mean"\npercent = 100', 'kind = "grows"', "grows is with the batch, and wants comparisons of several"),
        ('kind = "mean"', 'kind = "mean"\nthen = ["a"]', "then goes with more"),
        ('kind = "mean"\npercent = 100', 'kind = "within"', "within wants percent, or taken_percent"),
        ('kind = "mean"', 'kind = "mean"\nof = "overhead"', "of overhead it is most or at-least"),
        ('first = "a"\nsecond = "b"\ncomparisons = ["mlp"]', "", "wants comparisons and rows, or unmeasured"),
        ('kind = "mean"', 'kind = "each"', "each goes with shares of a step or a graph"),
        ('kind = "mean"', 'kind = "each"\nof = "compute"', "compute is no share that the study's parts name"),
        ('kind = "mean"', 'kind = "mean"\nof = "compute"', "of shares it is most, each, about or least"),
        ('kind = "mean"', 'kind = "about"\nof = "compute"', "about wants percent, and in taken_percent how far off"),
        ('kind = "mean"', 'kind = "least"\nof = "compute"', "least is of one row, in the first of several"),
        ("minutes = 1", 'minutes = 1\ndifference = ["a"]', "difference names two rows"),
        ("minutes = 1", 'minutes = 1\ndrawing = { panels = [{ title = "(a)", rows = ["z"] }] }', "names 'z'"),
    ],
)
def test_a_claim_that_does_not_fit_is_refused(tmp_path: Path, text: str, instead: str, found: str) -> None:
    """A claim or a shape that names what is not there, or that nothing could decide, is an error that says so."""
    path = tmp_path / "own.toml"
    path.write_text(OWN.replace(text, instead), encoding="utf-8")
    with pytest.raises(UsageError, match=found):
        load(str(path))


@pytest.mark.parametrize("text", ["id = " + "9" * 5000, "id = " + "[" * 100_000, None])
def test_what_cannot_be_read_as_a_study_is_told(tmp_path: Path, text: str | None) -> None:
    """Numbers that Python refuses to read, endless nesting, and a pipe without a writer."""
    path = tmp_path / "mine.toml"
    if text is None:
        os.mkfifo(path)
    else:
        path.write_text(text)
    with pytest.raises(UsageError, match=r"mine\.toml cannot be used as a study: "):
        load(str(path))
