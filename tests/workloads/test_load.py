from __future__ import annotations

import hashlib
import os
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path
from typing import Any

import pytest

from bakeoff.spec.bounded import MOST_BYTES
from bakeoff.spec.errors import ModelFileError, UnknownNameError, UsageError
from bakeoff.spec.metric import Metric
from bakeoff.spec.vocabulary import VOCABULARY
from bakeoff.workloads import load as loading
from bakeoff.workloads.interpreter import check_model
from bakeoff.workloads.load import load, names

GOOD = """
from bakeoff.spec.batch import ArraySpec
from bakeoff.spec.optimizer import SGD
from bakeoff.spec.schedule import (
    Cosine,
    CosineRestarts,
    Cyclic,
    Exponential,
    OneCycle,
    Polynomial,
    StepDecay,
    WarmupStableDecay,
)
from bakeoff.spec.workload import Size, Workload

WORKLOAD = Workload(
    name="mine",
    summary="one layer",
    source="a test",
    sizes={"full": Size(batch_size=4, input_shape=(5,), classes=3)},
    optimizer=SGD(learning_rate=0.1),
)


def build(nn, size):
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = nn.Linear(5, size.classes)

        def forward(self, x):
            return nn.relu(self.first(x))

    return Model()


def loss(nn, outputs, targets):
    return nn.cross_entropy(outputs, targets)
"""


@pytest.fixture
def file(tmp_path: Path) -> Any:
    """Write a workload's file, changed in one place."""

    def write(old: str = "", new: str = "") -> Path:
        assert old in GOOD
        path = tmp_path / "my_model.py"
        path.write_text(GOOD.replace(old, new))
        return path

    return write


def fault(path: Path) -> str:
    """Give the message with which a file is refused."""
    with pytest.raises(ModelFileError) as error:
        load(path)
    return str(error.value)


def line(path: Path, text: str) -> str:
    """Give FILE:LINE of the line with this text."""
    numbers = [number for number, row in enumerate(path.read_text().splitlines(), 1) if text in row]
    return f"{path}:{numbers[0]}:"


def test_a_users_file_is_loaded(file: Any) -> None:
    """A path that ends in .py is the user's own workload, with the hash of its bytes."""
    path = file()
    loaded = load(str(path))
    assert loaded.workload.name == "mine"
    assert loaded.path == path
    assert loaded.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert loaded.loss is not None


def test_a_relative_path_becomes_absolute(file: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker may run elsewhere, so the path that is kept is absolute."""
    path = file()
    monkeypatch.chdir(path.parent)
    assert load("my_model.py").path == path


@pytest.mark.parametrize(
    ("old", "new"),
    [("import Size, Workload", "import Size, Tolerance, Workload"), ("classes=3", "classes=3, tolerance=None")],
)
def test_a_tolerance_is_refused_with_its_reason(file: Any, old: str, new: str) -> None:
    """Files from before tolerances were measured say where theirs stands, and what to do."""
    message = fault(file(old, new))
    assert "measured, not declared: take the tolerance out" in message
    assert "my_model.py:" in message


def test_two_files_of_the_same_name_are_two_workloads(file: Any, tmp_path: Path) -> None:
    """Files of the same name in different folders do not stand in for each other."""
    other = tmp_path / "other" / "my_model.py"
    other.parent.mkdir()
    other.write_text(GOOD.replace('"mine"', '"other"'))
    assert (load(file()).workload.name, load(other).workload.name) == ("mine", "other")


def test_unknown_name_is_told_with_the_nearest() -> None:
    """A misspelt name is answered with what was probably meant, and with all names."""
    with pytest.raises(UnknownNameError, match=r"mlp-mnits.*did you mean 'mlp-mnist'.*cnn-apx"):
        load("mlp-mnits")


def test_another_packages_workload_is_found(file: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package's entry point gives its workload a name, and the file is loaded by path, as workers do."""
    path = file()
    monkeypatch.syspath_prepend(path.parent)
    points = EntryPoints([EntryPoint("theirs", "my_model", loading.ENTRY_POINTS)])
    monkeypatch.setattr(loading, "entry_points", points.select)
    assert "theirs" in names()
    assert load("theirs").path == path


def test_another_packages_broken_entry_point_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name whose package is not there is refused with the module that is missing."""
    points = EntryPoints([EntryPoint("theirs", "no_such_package.model", loading.ENTRY_POINTS)])
    monkeypatch.setattr(loading, "entry_points", points.select)
    with pytest.raises(ModelFileError, match=r"theirs.*no_such_package"):
        load("theirs")


def test_missing_file(tmp_path: Path) -> None:
    """A file that is not there is told by its path."""
    assert "nowhere.py: cannot be read: No such file" in fault(tmp_path / "nowhere.py")


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    """A folder whose name ends in .py is refused as unreadable."""
    (tmp_path / "folder.py").mkdir()
    assert "cannot be read" in fault(tmp_path / "folder.py")


def test_syntax_error(file: Any) -> None:
    """A syntax error is told with file, line and text."""
    path = file("def build(nn, size):", "def build(nn, size:")
    message = fault(path)
    assert message.startswith(line(path, "def build"))
    assert "syntax error" in message
    assert "def build(nn, size:" in message


def test_not_python_text(tmp_path: Path) -> None:
    """A file that is not text is refused, not crashed on."""
    (tmp_path / "binary.py").write_bytes(b"\x00\xff\xfe")
    assert "binary.py" in fault(tmp_path / "binary.py")


def test_exception_while_importing(file: Any) -> None:
    """What the user's file raises is told with its type, its text and the line in the file."""
    path = file("WORKLOAD = Workload(", "limit = {}['batch']\nWORKLOAD = Workload(")
    message = fault(path)
    assert message.startswith(line(path, "limit = "))
    assert "KeyError: 'batch'" in message


def test_import_of_a_neighbour_is_explained(file: Any) -> None:
    """A file that imports what is not in every environment is told what it may import."""
    message = fault(file("WORKLOAD = Workload(", "import my_helpers\nWORKLOAD = Workload("))
    assert "my_helpers" in message
    assert "written once for all frameworks, by the names of nn (docs/own-model.md)" in message
    assert "NumPy and bakeoff, and modules of your own where PYTHONPATH has their folder" in message


def test_import_of_a_name_that_bakeoff_lacks_is_explained(file: Any) -> None:
    """An optimiser that is not there is told with those that are."""
    wanted = "from bakeoff.spec.optimizer import Adagrad\nWORKLOAD = Workload("
    assert fault(file("WORKLOAD = Workload(", wanted)).endswith(". It has SGD, Adam, AdamW, RMSprop")
    of_functions = "from bakeoff.spec.text import Adagrad\nWORKLOAD = Workload("
    assert ". A model is written once for all frameworks, by the names of nn" in fault(
        file("WORKLOAD = Workload(", of_functions)
    )


DECLARED = "classes=3, metric=Metric(name='error')"
METRIC = "from bakeoff.spec.metric import Metric\n\n\ndef metric(size, parameters):\n    return 1.0\n\n\nWORKLOAD ="


def test_a_declared_metric_is_loaded(file: Any) -> None:
    """The function is there where a size declares a metric, and what is called so elsewhere is the user's own."""
    path = file("WORKLOAD =", METRIC)
    assert load(path).metric is None
    path.write_text(path.read_text().replace("classes=3", DECLARED))
    loaded = load(path)
    assert loaded.metric is not None
    assert loaded.size("full").metric == Metric(name="error")


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("def metric(", "def other(", "metric is missing, which sizes['full'] declares"),
        ("def metric(size, parameters)", "def metric(parameters)", "it cannot be called as metric(size, parameters)"),
        ("name='error'", "name=' '", "sizes['full'].metric.name is ' '; it must say what the number is"),
        ("name='error'", "name=3", "metric.name"),
    ],
)
def test_a_metric_that_cannot_be_is_told(file: Any, old: str, new: str, told: str) -> None:
    """A declared metric without its function, of other arguments, or without a name is refused."""
    path = file("WORKLOAD =", METRIC)
    path.write_text(path.read_text().replace("classes=3", DECLARED).replace(old, new))
    assert told in fault(path)


def test_what_only_infers_has_no_targets(file: Any) -> None:
    """Neither classes nor targets are declared, and none is drawn; a loss that wants them is told what there is."""
    path = file("classes=3", "")
    path.write_text(path.read_text().replace("size.classes", "3"))
    loaded = load(path)
    with pytest.raises(ModelFileError) as refused:
        check_model(loaded, loaded.size("full"), "train")
    assert "nothing, since the size declares neither classes nor targets" in str(refused.value)
    path.write_text(path.read_text().replace('source="a test"', 'source="a test", scenarios=("infer",)'))
    assert not load(path).size("full").sample.targets


@pytest.mark.parametrize("name", ["WORKLOAD =", "def build", "def loss"])
def test_missing_part(file: Any, name: str) -> None:
    """What a file lacks is named, with what is expected."""
    message = fault(file(name, name.replace("WORKLOAD", "OTHER").replace("def ", "def other_")))
    assert f"{name.removeprefix('def ').removesuffix(' =')} is missing" in message
    assert "def build(nn, size)" in message


def test_wrong_signature(file: Any) -> None:
    """A function that cannot be called as bakeoff calls it is refused, with the call."""
    path = file("def loss(nn, outputs, targets)", "def loss(outputs, targets)")
    message = fault(path)
    assert message.startswith(line(path, "def loss"))
    assert "loss(nn, outputs, targets)" in message


def test_build_is_no_function(file: Any) -> None:
    """A class or number under the name of a function is refused."""
    assert "stands where a function" in fault(file("def loss(", "loss = 3\ndef other("))


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('"full":', '"small":', "sizes has no 'full'; it has small"),
        ("batch_size=4", "batch_size=0", "sizes['full'].batch_size is 0"),
        ("batch_size=4", "batch_size='4'", "batch_size"),
        ("batch_size=4", "batch_size=10**9 * 4", "sizes['full'].batch_size is 4000000000; it must be below 2147483648"),
        ("input_shape=(5,)", "input_shape=()", "sizes['full'].input_shape is ()"),
        ("input_shape=(5,)", "input_shape=(5, 0)", "sizes['full'].input_shape is (5, 0)"),
        ("classes=3", "classes=-1", "sizes['full'].classes is -1; it must be at least 1, or left out"),
        ("classes=3", "inputs={'a': ArraySpec()}, classes=3", "inputs and input_shape are both given; declare either"),
        ("classes=3", "classes=3, targets={'a': ArraySpec()}", "targets and classes are both given; declare either"),
        ("classes=3", "targets={'x': ArraySpec()}", "'x' is an input and a target"),
        ("classes=3", "targets={'a b': ArraySpec()}", "targets['a b'] is no name for an array"),
        ("classes=3", "targets={'a_test': ArraySpec()}", "it must be a Python name that does not end in _test"),
        ("classes=3", "targets={'a': ArraySpec(shape=(2, 0))}", "targets['a'] has shape (2, 0)"),
        ("classes=3", "targets={'a': ArraySpec(dtype='int32')}", "has integers from 0 and has no high; say a high"),
        ("classes=3", "targets={'a': ArraySpec(dtype='text')}", "Invalid enum value 'text'"),
        ("classes=3", "classes=3, parameters=0", "sizes['full'].parameters is 0"),
        ('source="a test"', 'source="a test", scenarios=()', "scenarios is ()"),
        ('source="a test"', 'source="a test", scenarios=("fly",)', "fly"),
        ('source="a test"', 'source="a test", data=()', "data is empty"),
        ('source="a test"', 'source="a test", learning_steps=-1', "learning_steps is -1"),
        ("SGD(learning_rate=0.1)", "None", "include train, and optimizer is None"),
        ("SGD(learning_rate=0.1)", "SGD(learning_rate=-0.1)", "optimizer.learning_rate is -0.1"),
        ("SGD(learning_rate=0.1)", "SGD(learning_rate=0.1, momentum=1.5)", "optimizer.momentum is 1.5"),
        ("SGD(learning_rate=0.1)", "SGD(learning_rate=0.1, nesterov=True)", "Nesterov's step needs a momentum"),
        ("SGD(learning_rate=0.1)", "SGD(learning_rate=0.1, clip_norm=0.0)", "optimizer.clip_norm is 0.0"),
        (
            "SGD(learning_rate=0.1)",
            'SGD(learning_rate=0.1, rates=(("*.bias", 0.0),))',
            "optimizer.rates has 0.0 for '*.bias'; it must be above 0 and finite",
        ),
        (
            "SGD(learning_rate=0.1)",
            'SGD(learning_rate=0.1, rates={"*.bias": 0.1})',
            "optimizer.rates",
        ),
        (
            "SGD(learning_rate=0.1)",
            'SGD(learning_rate=0.1, frozen=("*.bias",)), scenarios=("train", "per-sample-gradients")',
            "take per-sample-gradients out, or frozen",
        ),
        (
            "SGD(learning_rate=0.1)",
            'SGD(learning_rate=0.1, no_decay=("*.bias",))',
            "weight_decay is 0; take no_decay out",
        ),
        (
            "SGD(learning_rate=0.1)",
            "SGD(learning_rate=0.1, schedule=Cosine(steps=10, warmup_steps=10))",
            "optimizer.schedule.steps is 10; it must be above warmup_steps, which is 10",
        ),
        (
            "SGD(learning_rate=0.1)",
            "SGD(learning_rate=0.1, schedule=Cosine(steps=10, warmup_steps=-1, final=-0.5))",
            "optimizer.schedule.warmup_steps is -1",
        ),
        (
            "SGD(learning_rate=0.1)",
            "SGD(learning_rate=0.1, schedule=Polynomial(steps=10, power=0.0))",
            "optimizer.schedule.power is 0.0; it must be above 0",
        ),
        (
            "SGD(learning_rate=0.1)",
            "SGD(learning_rate=0.1, schedule=StepDecay(boundaries=(5, 5)))",
            "boundaries is (5, 5); it must hold rising steps behind the warm-up of 0",
        ),
        (
            "SGD(learning_rate=0.1)",
            "SGD(learning_rate=0.1, schedule=Exponential(every=0, factor=0.0))",
            "optimizer.schedule.every is 0; it must be at least 1",
        ),
        (
            "SGD(learning_rate=0.1)",
            "SGD(learning_rate=0.1, schedule=Exponential(every=2, factor=1.5))",
            "factor is 1.5; it must be above 0 and below 1",
        ),
        (
            "SGD(learning_rate=0.1)",
            "SGD(learning_rate=0.1, schedule=Exponential(every=2.5, factor=0.5))",
            "WORKLOAD: optimizer.schedule.every: expected int, got float",
        ),
        (
            "SGD(learning_rate=0.1)",
            "SGD(learning_rate=0.1, schedule=CosineRestarts(every=1, growth=0))",
            "optimizer.schedule.every is 1; it must be at least 2",
        ),
        (
            "SGD(learning_rate=0.1)",
            "SGD(learning_rate=0.1, schedule=CosineRestarts(every=5, growth=0))",
            "growth is 0; it must be at least 1",
        ),
        (
            "SGD(learning_rate=0.1)",
            "SGD(learning_rate=0.1, schedule=Cyclic(up_steps=2, down_steps=0, low=0.1))",
            "down_steps is 0; it must be at least 1",
        ),
        (
            "SGD(learning_rate=0.1)",
            "SGD(learning_rate=0.1, schedule=CosineRestarts(every=2**31))",
            "optimizer.schedule.every is 2147483648; steps are below 2147483648",
        ),
        (
            "SGD(learning_rate=0.1)",
            "SGD(learning_rate=0.1, schedule=Cyclic(up_steps=2, down_steps=2, low=1.0))",
            "low is 1.0; it must be at least 0 and below 1",
        ),
        (
            "SGD(learning_rate=0.1)",
            "SGD(learning_rate=0.1, schedule=OneCycle(steps=10, rise_steps=10))",
            "rise_steps is 10; it must be below steps, which is 10",
        ),
        (
            "SGD(learning_rate=0.1)",
            "SGD(learning_rate=0.1, schedule=OneCycle(steps=10, rise_steps=3, first=-1.0))",
            "first is -1.0; it must be at least 0",
        ),
        (
            "SGD(learning_rate=0.1)",
            "SGD(learning_rate=0.1, schedule=WarmupStableDecay(steps=10, decay_steps=9, warmup_steps=2))",
            "decay_steps is 9; it must be at most 8, the steps behind the warm-up",
        ),
        (
            "SGD(learning_rate=0.1)",
            "SGD(learning_rate=0.1, schedule=Exponential)",
            "a class stands where one of its values belongs; call it",
        ),
        ('name="mine"', 'name="My Model"', "name is 'My Model'"),
        ('"one layer"', r'"one \ud800 layer"', r"one of its texts holds '\ud800', which is half a character"),
        ("WORKLOAD = Workload(", "WORKLOAD = dict(", "it must be a bakeoff.spec.workload.Workload"),
    ],
)
def test_inconsistent_fields(file: Any, old: str, new: str, told: str) -> None:
    """A field that cannot be is told by its name and value."""
    message = fault(file(old, new))
    assert told in message
    assert "my_model.py" in message


def test_all_faults_are_told_at_once(file: Any) -> None:
    """A user need not run bakeoff once for each mistake."""
    message = fault(file("batch_size=4, input_shape=(5,), classes=3", "batch_size=0, input_shape=(), classes=-1"))
    assert len(message.splitlines()) == 3


def test_name_that_the_vocabulary_lacks(file: Any) -> None:
    """A use of nn.something that no framework has is told with line, what was probably meant, and all names."""
    path = file("nn.Linear(5, size.classes)", "nn.Linaer(5, size.classes)")
    message = fault(path)
    assert message.startswith(line(path, "nn.Linaer"))
    assert "did you mean nn.Linear?" in message
    assert all(name in message for name in VOCABULARY)


def test_a_name_whose_meaning_is_known_needs_no_list(file: Any) -> None:
    """What PyTorch calls otherwise is told in one line; the list of all names is for what had to be guessed."""
    path = file("nn.Linear(5, size.classes)", "nn.BatchNorm2d(5)")
    assert (
        fault(path)
        == line(path, "nn.BatchNorm2d") + " nn.BatchNorm2d is not in the vocabulary: it is nn.BatchNorm(features)"
    )


def test_names_are_checked_in_loss_and_under_any_parameter(file: Any) -> None:
    """The vocabulary may have another name in the user's functions, and every wrong use is told."""
    path = file(
        "def loss(nn, outputs, targets):\n    return nn.", "def loss(lib, outputs, targets):\n    return lib.x + lib."
    )
    assert fault(path).startswith(line(path, "lib.x"))


def test_a_model_taken_from_another_file_is_part_of_the_text(tmp_path: Path) -> None:
    """A workload's hash covers the file that its functions are imported from."""
    path = tmp_path / "mine.py"
    path.write_text(Path(load("resnet50-cifar10").path).read_text())
    alone = load(path)
    assert Path(alone.build.__code__.co_filename) == load("resnet50").path
    both = hashlib.sha256(path.read_bytes() + load("resnet50").path.read_bytes())
    assert alone.sha256 == both.hexdigest()


def test_functions_taken_from_another_workload_are_part_of_the_text(tmp_path: Path) -> None:
    """Also those that a file's own model and loss call: an edit of them during a race would go unnoticed."""
    path = tmp_path / "mine.py"
    path.write_text(Path(load("gcn-arxiv").path).read_text())
    both = hashlib.sha256(path.read_bytes() + load("gcn-cora").path.read_bytes())
    assert load(path).sha256 == both.hexdigest()


def test_infer_only_needs_neither_loss_nor_optimizer(file: Any) -> None:
    """A workload for inference alone may leave out loss and optimiser."""
    path = file("    optimizer=SGD(learning_rate=0.1),\n", '    scenarios=("infer",),\n')
    path.write_text(path.read_text().split("def loss")[0])
    assert load(path).loss is None


def test_a_file_without_its_ending_is_told(file: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not with the names of all shipped workloads."""
    path = file()
    monkeypatch.chdir(path.parent)
    with pytest.raises(UsageError, match=rf"^unknown workload '{path.stem}'; did you mean the file {path.name}\?$"):
        load(path.stem)


def test_unknown_size_names_those_there_are(file: Any) -> None:
    """A file with one size refuses another by naming the one it has."""
    with pytest.raises(UnknownNameError, match=r"size of mine 'reduced'.*full"):
        load(file()).size("reduced")


def test_annotated_classes_in_a_users_file(file: Any) -> None:
    """Dataclasses and postponed annotations work in a user's file, as in any module."""
    path = file()
    extra = (
        "from __future__ import annotations\nfrom dataclasses import dataclass\n@dataclass\nclass C:\n    a: int = 1\n"
    )
    path.write_text(extra + GOOD)
    assert load(path).workload.name == "mine"


def test_what_has_no_end_is_no_file(tmp_path: Path) -> None:
    """A pipe without a writer is not waited for, a link to a device is not read, and neither is an endless file."""
    pipe = tmp_path / "pipe.py"
    os.mkfifo(pipe)
    endless = tmp_path / "endless.py"
    endless.symlink_to("/dev/zero")
    for path in (pipe, endless):
        assert f"{path}: cannot be read: " in fault(path)
        assert " is no regular file. A workload's file was expected there" in fault(path)
    large = tmp_path / "large.py"
    with large.open("wb") as file:
        file.truncate(MOST_BYTES + 1)
    assert "large.py is larger than 64 MiB" in fault(large)


def test_a_link_to_a_file_is_loaded(file: Any, tmp_path: Path) -> None:
    """A user may keep a workload elsewhere."""
    link = tmp_path / "link.py"
    link.symlink_to(file())
    assert load(link).workload.name == "mine"
