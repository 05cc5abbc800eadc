"""Workloads are what they are called: shipped and public networks against independent implementations, in float64.

Reference and contenders of a comparison build the same file, so no certificate sees an error in it. Here the same
weights and batch go through the file and through `independent/`, at full widths and depths on small images. One process
of PyTorch's interpreter computes everything, in 40 s of processor time. What it sees of planted errors, tests/mutants
shows.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from contract_run import PUBLIC
from independent.messages import Answer, Request
from independent_process import IndependentProcess

import bakeoff
from bakeoff.workloads import plan
from bakeoff.workloads.load import load, names

HERE = Path(__file__).parent
INDEPENDENT = HERE / "independent"
SHIPPED = Path(bakeoff.__file__).parent / "workloads"
SMALL = {name: loaded for name in names() if (loaded := load(name)).path.parent == SHIPPED}
"""Shipped workloads, in whose small networks errors are planted."""
WORKLOADS = SMALL | PUBLIC
SIZES = [(name, size) for name, loaded in WORKLOADS.items() for size in loaded.workload.sizes if size != "reduced"]


@pytest.fixture(scope="module")
def child(tmp_path_factory: pytest.TempPathFactory) -> Iterator[IndependentProcess]:
    """Share one process among the tests of this file."""
    child = IndependentProcess(tmp_path_factory.mktemp("independent"))
    yield child
    child.end()


def missing(name: str, size: str | None = None) -> str:
    """Return what is to be added for a workload, or for one of its sizes, that has no independent implementation."""
    path = INDEPENDENT / WORKLOADS[name].path.name
    lacking = f"an entry {size!r} of SIZES in {path}" if size else f"{path}, as {INDEPENDENT}/__init__.py describes it"
    return (
        f"the workload {name} is held against nothing: add {lacking}: the same network from elsewhere (torchvision, "
        "Hugging Face, timm, or torch.nn from the paper), with the optimiser and sizes of the document it comes from"
    )


def answer_about(child: IndependentProcess, name: str, size: str) -> Answer:
    """Return how a shipped size compares; fail with what is to be added where it has no independent implementation."""
    loaded = WORKLOADS[name]
    if not (INDEPENDENT / loaded.path.name).exists():
        pytest.fail(missing(name), pytrace=False)
    answer = child.ask(Request(workload=name, path=str(loaded.path), size=size))
    if answer.is_missing:
        pytest.fail(missing(name, size), pytrace=False)
    return answer


def expected_count(name: str, size: str) -> int:
    """Return how many arrays are to be compared: outputs in evaluation, and what one training step computes."""
    loaded = WORKLOADS[name]
    if loaded.loss is None:
        return 1
    build, declared = loaded.build, loaded.size(size)
    has_second = declared.config.get("auxiliary") or name == "bert-base"  # a second output, in training alone
    outputs_and_loss = (4 if has_second else 3) + len(declared.collected)
    return outputs_and_loss + len(plan.parameters(build, declared)) + len(plan.state(build, declared))


@pytest.mark.parametrize(("name", "size"), SIZES)
def test_a_workload_computes_what_it_is_called(child: IndependentProcess, name: str, size: str) -> None:
    """Outputs, loss, every gradient and running statistic are those of the independent implementation."""
    answer = answer_about(child, name, size)
    assert not answer.computed
    assert answer.compared == expected_count(name, size)


@pytest.mark.parametrize("name", WORKLOADS)
def test_a_workload_declares_what_its_document_says(child: IndependentProcess, name: str) -> None:
    """Optimiser, and batch, inputs, classes and parameters of every size, are those written down beside the tests."""
    assert not answer_about(child, name, "small").declared


def test_a_workload_without_an_implementation_fails(
    child: IndependentProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A new workload, or a new size of one, fails with a message that says what to add and where."""
    with pytest.raises(pytest.fail.Exception, match=r"'larger' of SIZES in .*/mlp_mnist.py"):
        answer_about(child, "mlp-mnist", "larger")
    monkeypatch.setitem(globals(), "INDEPENDENT", tmp_path)
    with pytest.raises(pytest.fail.Exception, match=f"mlp-mnist is held against nothing: add {tmp_path}/mlp_mnist.py"):
        answer_about(child, "mlp-mnist", "full")


@pytest.mark.parametrize("name", SMALL)
def test_the_small_network_is_the_workloads(child: IndependentProcess, name: str) -> None:
    """The small network, in which errors are planted, is the workload's: what is found is what was planted."""
    answer = answer_about(child, name, "small")
    assert answer.compared
    assert not answer.computed + answer.declared
