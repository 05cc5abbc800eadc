"""Workloads are what they are called: each shipped network against an independent implementation, in float64.

Reference and contenders of a comparison build the same file, so no certificate sees an error in it. Here the same
weights and batch go through the file and through `independent/`, at full widths and depths on small images. One process
of PyTorch's interpreter computes everything, in 40 s of processor time; a planted error takes less than one, so all are
planted every time.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from independent.messages import Answer, Request

import bakeoff
from bakeoff.environments.declared import frameworks
from bakeoff.environments.interpreters import resolve
from bakeoff.spec.contender import Contender
from bakeoff.workloads import plan
from bakeoff.workloads.load import load, names

HERE = Path(__file__).parent
INDEPENDENT = HERE / "independent"
SHIPPED = Path(bakeoff.__file__).parent / "workloads"
WORKLOADS = {name: loaded for name in names() if (loaded := load(name)).path.parent == SHIPPED}
SIZES = [(name, size) for name, loaded in WORKLOADS.items() for size in loaded.workload.sizes if size != "reduced"]

PLANTED: dict[str, tuple[str, list[tuple[str, str]]]] = {
    "ResNet without the ReLU after the addition": (
        "resnet50",
        [("return nn.relu(self.expand(", "return (self.expand(")],
    ),
    "ResNet whose input is not added": ("resnet50", [("(self.reduce(x))))) + kept)", "(self.reduce(x))))))")]),
    "ResNet without normalisation": ("resnet50", [("return self.norm(self.conv(x))", "return self.conv(x)")]),
    "ResNet without the stem's ReLU": ("resnet50", [("x = nn.relu(self.stem(x))", "x = self.stem(x)")]),
    "ResNet with a mean for the stem's maximum": (
        "resnet50",
        [("nn.max_pool2d(x, 3, stride=2, padding=1)", "nn.avg_pool2d(x, 3, stride=2, padding=1)")],
    ),
    "ResNet with v1's strides": (
        "resnet50",
        [
            ("ConvNorm(inputs, width, 1)", "ConvNorm(inputs, width, 1, stride)"),
            ("ConvNorm(width, width, 3, stride)", "ConvNorm(width, width, 3)"),
        ],
    ),
    "ResNet with ten times the learning rate": ("resnet50", [("learning_rate=0.025", "learning_rate=0.25")]),
    "ResNet without L2": ("resnet50", [("weight_decay=1e-4", "weight_decay=0.0")]),
    "ResNet with twice the loss": (
        "resnet50",
        [("return nn.cross_entropy(outputs, targets)", "return 2 * nn.cross_entropy(outputs, targets)")],
    ),
    "ResNet with the epsilon of Keras' BatchNorm": ("resnet50", [("epsilon=1e-5", "epsilon=1.001e-5")]),
    "VGG without dropout": ("vgg16", [("x = dropout(nn.relu(layer(x)))", "x = nn.relu(layer(x))")]),
    "VGG without ReLU": ("vgg16", [("x = nn.relu(convolution(x))", "x = convolution(x)")]),
    "VGG with means for maxima": ("vgg16", [("return nn.max_pool2d(x, 2)", "return nn.avg_pool2d(x, 2)")]),
    "VGG with half the rate of dropout": ("vgg16", [("_DROPPED = 0.5", "_DROPPED = 0.25")]),
    "Transformer whose input is not added to the attention": (
        "vit-b16",
        [("x = x + self.attention(", "x = self.attention(")],
    ),
    "Transformer whose input is not added to the dense part": (
        "vit-b16",
        [("return x + self.narrow(", "return self.narrow(")],
    ),
    "Transformer without the LayerNorm before the attention": (
        "vit-b16",
        [("self.attention(self.attention_norm(x))", "self.attention(x)")],
    ),
    "Transformer that reads the first patch for the class token": (
        "vit-b16",
        [("self.norm(x)[:, 0]", "self.norm(x)[:, 1]")],
    ),
    "Transformer without a class token": (
        "vit-b16",
        [("nn.broadcast_to(self.class_token,", "nn.broadcast_to(0 * self.class_token,")],
    ),
    "Transformer without positions": ("vit-b16", [("x], axis=1) + self.positions", "x], axis=1)")]),
    "Transformer with queries and values swapped": (
        "vit-b16",
        [
            (
                "nn.attention(mixed[:, :, 0], mixed[:, :, 1], mixed[:, :, 2])",
                "nn.attention(mixed[:, :, 2], mixed[:, :, 1], mixed[:, :, 0])",
            )
        ],
    ),
    "Transformer with ReLU for GELU": ("vit-b16", [("nn.gelu(", "nn.relu(")]),
    "Inception whose auxiliary head is left out in training": (
        "inceptionv3",
        [
            (
                "self.auxiliary is not None and nn.in_training(self)",
                "self.auxiliary is not None and not nn.in_training(self)",
            )
        ],
    ),
    "Inception whose auxiliary head counts less": (
        "inceptionv3",
        [("_AUXILIARY_WEIGHT = 0.4", "_AUXILIARY_WEIGHT = 0.3")],
    ),
    "Inception with a maximum for its means": (
        "inceptionv3",
        [("nn.avg_pool2d(x, 3, stride=1, padding=1)", "nn.max_pool2d(x, 3, stride=1, padding=1)")],
    ),
    "perceptron with sigmoid for ReLU": ("mlp-mnist", [("nn.relu(self.hidden(x))", "nn.sigmoid(self.hidden(x))")]),
    "perceptron for inference with sigmoid for ReLU": (
        "mlp-1024",
        [("x = nn.relu(layer(x))", "x = nn.sigmoid(layer(x))")],
    ),
    "CIFAR network without the ReLU before its last convolution": (
        "cnn-cifar10",
        [("self.head(nn.relu(self.wide(x)))", "self.head(self.wide(x))")],
    ),
    "CIFAR network with maxima for means": ("cnn-cifar10", [("return nn.avg_pool2d(", "return nn.max_pool2d(")]),
    "simple network without the dense layer's ReLU": (
        "cnn-apx",
        [("nn.relu(self.dense(nn.flatten(x)))", "self.dense(nn.flatten(x))")],
    ),
    "resnet50-cifar10 with Keras' epsilon": ("resnet50-cifar10", [("epsilon=1e-8", "epsilon=1e-7")]),
}
"""Each planted error: the workload, and what is replaced by what in its file. Few change parameters or MACs."""


class Child:
    """One process of PyTorch's interpreter, that answers one request after another."""

    def __init__(self, folder: Path) -> None:
        """Start it; PyTorch not being there fails here, with the remedy."""
        interpreter = resolve(Contender(framework="torch", label="torch"), frameworks()["torch"])
        sources = os.pathsep.join(map(str, (Path(bakeoff.__file__).parents[1], HERE)))
        self._errors = folder / "errors.log"
        # Several threads wait for each other by spinning: on a busy machine that takes a multiple of the work itself.
        environment = os.environ | {"PYTHONPATH": sources, "OMP_NUM_THREADS": "1"}
        with self._errors.open("wb") as errors:
            self._process = subprocess.Popen(
                [interpreter, "-m", "independent.child"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                env=environment,
            )
        self._answers: dict[Request, Answer] = {}

    def ask(self, request: Request) -> Answer:
        """Return the answer to a request, which is computed once; the end of the process is the test's failure."""
        if request not in self._answers:
            self._answers[request] = self._asked(request)
        answer = self._answers[request]
        if answer.fault:
            pytest.fail(answer.fault, pytrace=False)
        return answer

    def end(self) -> None:
        """End the process, which stops at the end of its requests."""
        self._process.communicate()

    def _asked(self, request: Request) -> Answer:
        """Send a request and read the answer."""
        try:
            self._process.stdin.write(msgspec.json.encode(request) + b"\n")
            self._process.stdin.flush()
            return msgspec.json.decode(self._process.stdout.readline(), type=Answer)
        except (BrokenPipeError, msgspec.DecodeError):
            self._process.kill()
            code = self._process.wait()
            return Answer(fault=f"the process ended with {code}:\n{self._errors.read_text(errors='replace')[-4000:]}")
        except BaseException:
            self._process.kill()  # a late answer would be taken for that of the next request
            raise


@pytest.fixture(scope="module")
def child(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Child]:
    """Share one process among the tests of this file."""
    child = Child(tmp_path_factory.mktemp("independent"))
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


def answer_about(child: Child, name: str, size: str) -> Answer:
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
    outputs_and_loss = 4 if declared.config.get("auxiliary") else 3
    return outputs_and_loss + len(plan.parameters(build, declared)) + len(plan.state(build, declared))


@pytest.mark.parametrize(("name", "size"), SIZES)
def test_a_workload_computes_what_it_is_called(child: Child, name: str, size: str) -> None:
    """Outputs, loss, every gradient and running statistic are those of the independent implementation."""
    answer = answer_about(child, name, size)
    assert not answer.computed
    assert answer.compared == expected_count(name, size)


@pytest.mark.parametrize(("name", "size"), SIZES)
def test_a_workload_declares_what_its_document_says(child: Child, name: str, size: str) -> None:
    """Optimiser, batch, input, classes and parameters are the document's, written down beside the tests."""
    assert not answer_about(child, name, size).declared


def test_a_workload_without_an_implementation_fails(
    child: Child, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A new workload, or a new size of one, fails with a message that says what to add and where."""
    with pytest.raises(pytest.fail.Exception, match=r"'larger' of SIZES in .*/mlp_mnist.py"):
        answer_about(child, "mlp-mnist", "larger")
    monkeypatch.setitem(globals(), "INDEPENDENT", tmp_path)
    with pytest.raises(pytest.fail.Exception, match=f"mlp-mnist is held against nothing: add {tmp_path}/mlp_mnist.py"):
        answer_about(child, "mlp-mnist", "full")


@pytest.mark.parametrize("name", WORKLOADS)
def test_the_small_network_is_the_workloads(child: Child, name: str) -> None:
    """Without a planted error the small network is the workload's: what the next test finds is what was planted."""
    answer = answer_about(child, name, "small")
    assert not answer.computed + answer.declared


@pytest.mark.parametrize("error", PLANTED)
def test_a_planted_error_is_found(child: Child, error: str, tmp_path: Path) -> None:
    """A workload's file with one error does not pass for the network that it is called."""
    name, changes = PLANTED[error]
    text = WORKLOADS[name].path.read_text()
    for old, new in changes:
        assert text.count(old) == 1, f"the error cannot be planted any more: {old!r} is not once in {name}"
        text = text.replace(old, new)
    path = tmp_path / WORKLOADS[name].path.name
    path.write_text(text)
    answer = child.ask(Request(workload=name, path=str(path), size="small"))
    assert answer.computed + answer.declared
