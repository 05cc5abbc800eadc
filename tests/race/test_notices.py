"""What is told before anything is run: options that change nothing, loops in Python, shapes to be compiled."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest
from tests.report.conftest import comparison, outcome, plan

from bakeoff.cli.telling import notes
from bakeoff.race.model_calls import with_own_layers
from bakeoff.race.notices import LONG_LOOP, foreseen_shapes, notices
from bakeoff.race.progress import Prepared
from bakeoff.report.pages.comparison import cautions
from bakeoff.spec.framework import BestSetting
from bakeoff.spec.trial import Inputs
from bakeoff.workloads.calls import calls_of
from bakeoff.workloads.load import load

if TYPE_CHECKING:
    from bakeoff.spec.scenario import Scenario

LOOP = """
from bakeoff.spec.batch import ArraySpec
from bakeoff.spec.optimizer import SGD
from bakeoff.spec.workload import Size, Workload

SIZE = Size(batch_size=2, inputs={{"x": ArraySpec(shape=({steps}, 3))}}, classes=2)
WORKLOAD = Workload(name="loop", summary="", source="", sizes={{"full": SIZE}}, optimizer=SGD(learning_rate=0.1))


def build(nn, size):
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.cell = nn.LSTMCell(3, 4)
            self.head = nn.Linear(4, 2)

        def forward(self, x):
            state = (x[:, 0, :1] * nn.to_float(nn.arange(4)), x[:, 0, :1] * nn.to_float(nn.arange(4)))
            {loop}
            return self.head(state[0])

    return Model()


def loss(nn, outputs, targets):
    return nn.cross_entropy(outputs, targets)
"""

IN_PYTHON = "for place in range(x.shape[1]):\n                state = self.cell(x[:, place], state)"
SCANNED = "state, _ = nn.scan(lambda s, one: (self.cell(one, s), one), state, x)"


def said(workload: str, size: str = "reduced", **asked: str) -> list[str]:
    """Return the notices on a workload whose only contender was asked for these options."""
    loaded = load(workload)
    mine = msgspec.structs.replace(plan("torch"), asked=asked)
    return notices(loaded, loaded.size(size), "train", [mine])


@pytest.mark.parametrize(
    ("workload", "option", "value", "lacks"),
    [
        ("mlp-mnist", "lstm", "block", "no LSTM"),
        ("imdb-lstm", "lengths", "packed", "no recurrent layer with lengths"),
        ("mlp-mnist", "attention", "math", "no nn.attention"),
        ("imdb-lstm", "conv_algorithm", "profiling", "no convolution"),
        ("imdb-lstm", "aggregate", "sparse", "no nn.sparse_matmul"),
    ],
)
def test_an_option_that_changes_nothing_is_told(workload: str, option: str, value: str, lacks: str) -> None:
    """An option of a kind of layer that the model lacks is named with what it lacks."""
    assert said(workload, **{option: value}) == [f"{option}={value} changes nothing: {workload} has {lacks}."]


@pytest.mark.parametrize(
    ("workload", "asked"),
    [
        ("imdb-lstm", {"lstm": "block"}),
        ("deepspeech2", {"lengths": "masked"}),
        ("text-transformer", {"attention": "math"}),
        ("cnn-cifar10", {"conv_algorithm": "profiling"}),
        ("gcn-cora", {"aggregate": "sparse"}),
        ("mlp-mnist", {"attention": "default", "precision": "bfloat16"}),
    ],
)
def test_an_option_that_means_something_is_not(workload: str, asked: dict[str, str]) -> None:
    """A model that has the layer, and an option that leaves the choice to the framework, are told nothing."""
    assert said(workload, **asked) == []


def test_options_of_other_scenarios_and_of_several_devices_are_told() -> None:
    """A form of per-sample gradients is told in another scenario, a way to agree where nobody has several devices."""
    assert said("mlp-mnist", per_sample="loop") == ["per_sample=loop changes nothing: the scenario is train."]
    assert said("mlp-mnist", sync="ddp") == ["sync=ddp changes nothing: every contender has one device."]
    loaded = load("mnist-cnn")
    both = msgspec.structs.replace(plan("torch"), asked={"per_sample": "loop"})
    assert notices(loaded, loaded.size("reduced"), "per-sample-gradients", [both]) == []
    options = both.contender.options | {"devices": "2"}
    group = msgspec.structs.replace(
        both, contender=msgspec.structs.replace(both.contender, options=options), asked={"sync": "ddp"}
    )
    assert notices(loaded, loaded.size("reduced"), "train", [plan("torch"), group]) == []


def test_contenders_with_statistics_of_other_samples_are_told() -> None:
    """Where one takes those of all devices' samples and another of each device's own, they compute other steps."""
    loaded = load("mlp-mnist")

    def told(*options: dict[str, str]) -> list[str]:
        one = plan("jax")
        plans = [
            msgspec.structs.replace(
                one, contender=msgspec.structs.replace(one.contender, label=f"jax {at}", options={**own})
            )
            for at, own in enumerate(options)
        ]
        return notices(loaded, loaded.size("reduced"), "train", plans)

    both = {"devices": "2", "batch_statistics": "global"}
    (said_of_them,) = told({"devices": "2"}, both)
    assert said_of_them.startswith("batch_statistics is global in jax 1, and local in the others on several devices:")
    assert told(both, both, {"devices": "1"}) == told({"devices": "2"}, {"devices": "2"}) == []


def test_what_a_tier_sets_is_nobodys_mistake() -> None:
    """The tier `best` sets options for whatever model."""
    loaded = load("mlp-mnist")
    best = BestSetting(option="conv_algorithm", value="profiling", reason="", source="")
    mine = msgspec.structs.replace(plan("torch"), asked={"conv_algorithm": "profiling"}, best=(best,))
    assert notices(loaded, loaded.size("reduced"), "train", [mine]) == []


@pytest.mark.parametrize(("steps", "loop", "told"), [
    (LONG_LOOP, IN_PYTHON, True), (LONG_LOOP - 1, IN_PYTHON, False), (LONG_LOOP, SCANNED, False),
])  # fmt: skip
def test_a_long_loop_in_python_is_told(tmp_path: Path, steps: int, loop: str, told: bool) -> None:  # noqa: FBT001
    """A hundred calls of one layer by a loop in Python are warned of; by nn.scan they are not."""
    file = tmp_path / "loop.py"
    file.write_text(LOOP.format(steps=steps, loop=loop))
    found = said(str(file), size="full")
    assert bool(found) is told
    if told:
        assert f"calls one LSTMCell {steps} times in a loop of Python" in found[0]


@pytest.mark.parametrize(
    ("workload", "size", "gigabytes"),
    [
        ("tacotron2", "full", 55.2),  # 870 steps of two cells, their attention's query and its energies
        ("deepspeech2", "full", 143),  # five layers of 1024 units in both directions, 850 places
        ("tacotron2", "reduced", 0),
        ("imdb-lstm", "full", 0),
        ("gpt2", "reduced", 0),
    ],
)
def test_what_long_loops_keep_is_told_of_who_keeps_it(
    workload: str, size: str, gigabytes: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A step adds as much to a gradient as its weight is large; who keeps all of it is named beforehand."""
    monkeypatch.delenv("MLX_BFS_MAX_WIDTH", raising=False)
    loaded = load(workload)
    sized = loaded.size(size)
    found = calls_of(loaded.build, sized, trains=True).loop_bytes / 1e9
    assert found == pytest.approx(gigabytes, rel=0.02, abs=0.5)
    jittor, mlx, torch = plan("jittor"), plan("mlx"), plan("torch")
    said_of_it = [one for one in notices(loaded, sized, "train", [torch, jittor, mlx]) if "of a loop adds" in one]
    who = [one.partition(" what")[0] for one in said_of_it]
    assert who == (["jittor keeps", "mlx may keep"] if gigabytes else [])
    assert all(f"some {found:.0f} GB" in one for one in said_of_it)
    assert not any("of a loop adds" in one for one in notices(loaded, sized, "train", [torch]))
    if "infer" in loaded.workload.scenarios:
        assert not any("of a loop adds" in one for one in notices(loaded, sized, "infer", [jittor]))
    monkeypatch.setenv("MLX_BFS_MAX_WIDTH", "1000")
    assert not any("of a loop adds" in one for one in notices(loaded, sized, "train", [mlx]))


def test_what_is_frozen_and_what_is_shared_by_few_is_no_loop(tmp_path: Path) -> None:
    """Nothing is added to a gradient that is not computed, and three towers of one layer are no loop."""
    file = tmp_path / "loop.py"
    file.write_text(LOOP.format(steps=50, loop=SCANNED))
    loaded = load(str(file))
    size = loaded.size("full")
    cell = (3 + 4) * 16 * 4  # bytes of its matrices
    assert calls_of(loaded.build, size, trains=True).loop_bytes == 50 * cell
    frozen = frozenset(f"cell.{name}" for name in ("input_weight", "recurrent_weight", "bias"))
    assert calls_of(loaded.build, size, trains=True, frozen=frozen).loop_bytes == 0
    file.write_text(LOOP.format(steps=3, loop=IN_PYTHON))
    assert calls_of(load(str(file)).build, load(str(file)).size("full"), trains=True).loop_bytes == 0


def test_shapes_to_be_compiled_are_told_before_the_first_trial() -> None:
    """The live screen says how many shapes batches have, and that each is compiled; one shape is not worth a word."""
    told = comparison(["torch"], data=Inputs(source="synthetic", batches=0, sha256="", padding="buckets:5"))
    assert "up to 5 shapes" in foreseen_shapes(told)[0]
    drawn = Inputs(source="synthetic", batches=3, sha256="", padding="longest", entries={"x": [4, 7, 4]})
    told = comparison(["torch"], data=drawn, notices=["lstm=block changes nothing: mlp-mnist has no LSTM."])
    lines = notes(Prepared(told, "results", 0, calm=None))
    assert lines[0].startswith("lstm=block changes nothing")
    assert "makes 2 shapes of batches" in lines[1]
    assert foreseen_shapes(comparison(["torch"])) == []
    alike = msgspec.structs.replace(drawn, padding="buckets:2", entries={"x": [8, 8, 8]})
    assert foreseen_shapes(comparison(["torch"], data=alike)) == []


def test_the_report_repeats_what_was_told() -> None:
    """What an option did not change stands among the warnings of the report."""
    said_before = "lstm=block changes nothing: mlp-mnist has no LSTM."
    told = outcome([], [], comparison=comparison(["torch"], notices=[said_before]))
    assert said_before in cautions(told)


@pytest.mark.parametrize(
    ("workload", "size", "scenario", "own"),
    [
        ("deepspeech2", "full", "train", ("LSTM",)),
        ("deepspeech2", "full", "infer", ()),  # there is no gradient
        ("deepspeech2", "reduced", "train", ()),
        ("imdb-lstm", "full", "per-sample-gradients", ()),
        ("resnet50", "full", "train", ()),
    ],
)
def test_the_reference_computes_wide_recurrent_layers_by_itself(
    workload: str, size: str, scenario: Scenario, own: tuple[str, ...]
) -> None:
    """In training; then a contender's program in float64 is another one than the reference, and is run, too."""
    loaded = load(workload)
    program = plan("torch")
    reference = with_own_layers(program, loaded, loaded.size(size), scenario)
    assert reference.own_layers == own
    assert program.runs_as(reference) == (not own)


def test_a_reference_on_a_gpu_has_no_layers_of_its_own() -> None:
    """There cuDNN has a kernel in float64."""
    loaded, reference = load("deepspeech2"), plan("torch")
    contender = msgspec.structs.replace(reference.contender, options=reference.contender.options | {"device": "cuda"})
    reference = msgspec.structs.replace(reference, contender=contender)
    assert with_own_layers(reference, loaded, loaded.size("full"), "train").own_layers == ()


def test_a_module_of_ones_own_may_be_called_as_a_layer_is(tmp_path: Path) -> None:
    """Only layers of the vocabulary are looked at, not a user's class of the same name."""
    text = LOOP.format(steps=3, loop=SCANNED).replace("class Model(nn.Module)", "class LSTM(nn.Module)")
    path = tmp_path / "mine.py"
    path.write_text(text.replace("return Model()", "return LSTM()"))
    loaded = load(str(path))
    assert with_own_layers(plan("torch"), loaded, loaded.size("full"), "train").own_layers == ()
