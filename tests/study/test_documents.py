"""Every figure of the documents stands in a study, and every study can be prepared."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from bakeoff.environments.declared import framework, frameworks
from bakeoff.environments.options import resolve_options
from bakeoff.race.per_sample import check_separable
from bakeoff.spec.contender import parse_contender
from bakeoff.spec.errors import UsageError
from bakeoff.spec.published import RELATIVE, Declared, PublishedStudy, step_s
from bakeoff.spec.use_cases import BENCHMARKS, USE_CASES
from bakeoff.study.published import load, names
from bakeoff.study.reproduction import stand_in
from bakeoff.workloads.interpreter import check_model
from bakeoff.workloads.load import load as load_workload

if TYPE_CHECKING:
    from bakeoff.spec.scenario import Scenario

PRINTED: dict[str, Any] = tomllib.loads(Path(__file__).with_name("document_figures.toml").read_text(encoding="utf-8"))
OF_OTHERS = [name for name in names() if load(name).source == "others"]

DOCUMENTS = {
    "Dai et al. 2022",
    "the CNN article",
    "the README of JAX-vs-PyTorch-on-GPU",
    "the notes on M1 chips",
    "the notes on TensorFlow, PyTorch and Jittor",
}

HOLES = ("jittor", "per_sample=expanded-weights", "sync=parameter-server")
"""What contenders that stand for a row and are refused have in them: on a GPU Jittor, which bakeoff has for processors;
PyTorch's ExpandedWeights; and parameters that a server hands out."""


def every(study: PublishedStudy) -> list[tuple[Declared, Any]]:
    """Return each figure with its comparison."""
    return [(declared, figure) for declared in study.comparisons for figure in declared.figures]


@pytest.mark.parametrize("name", PRINTED)
def test_every_figure_of_the_documents_stands_in_a_study(name: str) -> None:
    """Times, repeats, memory, accuracy and overheads are those of the document's table, none more and none less."""
    study, printed = load(name), PRINTED[name]
    there = {(one.name, figure.row, figure.machine, figure.epoch): list(figure.values) for one, figure in every(study)}
    wanted = {
        (one, row, machine, *(epoch or [None])): values for one, row, machine, values, *epoch in printed["figures"]
    }
    assert there == wanted
    disturbed = [[one.name, figure.row, list(figure.disturbed)] for one, figure in every(study) if figure.disturbed]
    assert disturbed == printed.get("disturbed", [])
    memory = [[one.name, figure.row, *held] for one, figure in every(study) for held in figure.memory_gb.items()]
    assert memory == printed.get("memory_gb", [])
    for field in ("accuracy", "overhead_percent"):
        told = [
            [one.name, figure.row, getattr(figure, field)]
            for one, figure in every(study)
            if getattr(figure, field) is not None
        ]
        assert told == printed.get(field, []), field


@pytest.mark.parametrize("name", ["dai2022-figure1", "dai2022-figure2", "dai2022-figure3"])
def test_what_a_figure_states_in_words_is_a_claim(name: str) -> None:
    """The percents that the document's text gives of its bars stand in the study's statements."""
    assert set(PRINTED[name]["percent"]) <= {claim.percent for claim in load(name).claims}


def test_every_study_is_of_a_document_or_of_others() -> None:
    """What a document printed is held figure by figure; each study of others names where its figures are from."""
    assert len(names()) >= 22
    assert not set(PRINTED) & set(OF_OTHERS)
    assert {load(name).document.name for name in names() if name not in OF_OTHERS} == DOCUMENTS
    for name in OF_OTHERS:
        study = load(name)
        assert study.document.citation
        assert study.not_stated or study.notes
        assert every(study)
        assert all(one.reason for one in study.absent)


@pytest.mark.parametrize("name", ["deepspeech-2022", "lambda-h100", "lambda-h200", "pytorch-jax-resnet50", "ttj-2021"])
def test_a_file_that_its_repository_changed_is_cited_by_its_commit(name: str) -> None:
    """These files had other figures at other times: their repositories tell when they had those of the study."""
    assert re.search(r" at commit [0-9a-f]{12}\b", load(name).document.citation)


def test_a_document_that_ran_on_a_gpu_without_its_name_ran_on_a_gpu() -> None:
    """Of such a document the model alone is open: its rows are held against a GPU's, and against no processor's."""
    unnamed = {
        name: {row.device for row in load(name).rows}
        for name in names()
        if any(machine.hardware.startswith("a GPU") for machine in load(name).machines)
    }
    assert unnamed.keys() == {"pytorch-jax-resnet50", "pytorch-per-sample-grads", "shootout-table1"}
    assert all(devices == {"gpu"} for devices in unnamed.values())


def test_the_four_use_cases_have_every_benchmark() -> None:
    """Each use case is a study of all benchmarks, with what `use-case` has for them."""
    for number, case in USE_CASES.items():
        study = load(f"jax-vs-pytorch-{number}")
        assert study.is_silent()
        assert [declared.name for declared in study.comparisons] == list(BENCHMARKS)
        assert {row.devices for row in study.rows} == ({1, 2} if case.several else {1})
        for declared in study.comparisons:
            work = BENCHMARKS[declared.name]
            own = load_workload(declared.workload).size("full").batch_size
            assert declared.workload == case.workload_of(work)
            assert declared.scenario == case.scenario
            assert declared.batch_size == int(case.batch_size_of(work) or own)
    assert load("jax-vs-pytorch-3").comparisons[3].batch_size == 64


@pytest.mark.parametrize(
    ("before", "told"),
    [('benchmark = "mnist"', "unknown benchmark 'cora'"), ('use_case = "1"', "unknown use case 'cora'")],
)
def test_a_benchmark_that_there_is_not_is_told(tmp_path: Path, root: Path, before: str, told: str) -> None:
    """A user's own study that names another benchmark or use case ends with those that there are."""
    shipped = root / "src" / "bakeoff" / "study" / "shipped" / "jax-vs-pytorch-1.toml"
    path = tmp_path / "own.toml"
    path.write_text(shipped.read_text().replace(before, f'{before.partition(" ")[0]} = "cora"', 1))
    with pytest.raises(UsageError, match=rf"own\.toml cannot be used as a study: {told}"):
        load(str(path))


@pytest.mark.parametrize("name", names())
@pytest.mark.parametrize("kind", ["cpu", "gpu"])
def test_every_study_can_be_prepared(name: str, kind: str) -> None:
    """Sizes, batches and contenders of each comparison are what frameworks and workloads have, here and on a GPU."""
    study = load(name)
    for declared in study.comparisons:
        smaller = declared.scaled if kind == "cpu" else None
        build(declared.workload, (smaller and smaller.size) or "full", declared.scenario)
        for row in study.rows_of(declared):
            text = declared.contenders.get(row.name) or stand_in(row, kind)
            is_hole = any(part in text for part in HOLES) or not stand_in(row, kind)
            if (kind == "gpu" or smaller) and not is_hole:
                device = "cuda" if kind == "gpu" else "cpu"
                assert resolved(text, device)["device"] in {device, parse_contender(text).options.get("device")}


@cache
def build(workload: str, size: str, scenario: Scenario) -> None:
    """Build a workload's model over shapes, once for all studies; raise UsageError for what it does not have."""
    loaded = load_workload(workload)
    check_separable(loaded, size, scenario)
    check_model(loaded, loaded.size(size), scenario)


def resolved(text: str, device: str) -> dict[str, str]:
    """Return a contender's options; raise UsageError for what its framework does not have."""
    contender = parse_contender(text)
    assert contender.framework in frameworks()
    return resolve_options(framework(contender.framework).info, contender, {"device": device}, 8)


def test_a_contender_that_no_framework_has_is_found() -> None:
    """The check before would see an option that there is not."""
    with pytest.raises(UsageError):
        resolved("torch:precision=tf64", "cuda")


@pytest.mark.parametrize("name", OF_OTHERS)
def test_a_study_of_others_says_what_is_different(name: str) -> None:
    """A comparison of which no time of a step follows, or whose work is another one, never ranks by its figures."""
    study = load(name)
    for declared in study.comparisons:
        rows = Counter(figure.row for figure in declared.figures)
        assert set(rows) == {row.name for row in study.rows_of(declared)}
        assert all(
            step_s(value, study.unit_of(declared), declared) > 0 for one in declared.figures for value in one.values
        )
    assert all(value > 0 for one in study.absent for value in one.figures.values())


def test_units_of_others_become_steps() -> None:
    """Seconds a step stay, sequences a second are samples a second, and tokens a second keep their ratio alone."""
    (first, *_) = load("algoperf-2025").comparisons
    assert step_s(0.259, "s a step", first) == 0.259
    bert = next(one for one in load("dlperf-2020").comparisons if one.name == "BERT-base, float32")
    assert step_s(119.60, "sequences/s", bert) == 32 / 119.60
    gnmt = next(one for one in load("nvidia-examples").comparisons if one.name == "GNMT")
    pytorch, tensorflow = (step_s(value, "tokens/s", gnmt) for value in (83214, 31110))
    assert tensorflow / pytorch == pytest.approx(83214 / 31110)
    assert {"tokens/s", "s in all"} <= RELATIVE
