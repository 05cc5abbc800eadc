"""Mistakes in a model are told with the user's line before any framework starts; what all frameworks can do passes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bakeoff.spec.batch import ArraySpec
from bakeoff.spec.errors import ModelFileError
from bakeoff.spec.workload import Size
from bakeoff.workloads.interpreter import check_model, forward
from bakeoff.workloads.load import load, names
from bakeoff.workloads.shape_functions import Counter

FILE = """from bakeoff.spec.optimizer import SGD
from bakeoff.spec.batch import ArraySpec
from bakeoff.spec.workload import Size, Workload

WORKLOAD = Workload(
    name="mine", summary="s", source="s", sizes={{"full": Size(batch_size=4, {sample})}},
    optimizer=SGD(learning_rate=0.1),
)


def build(nn, size):
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            {layers}

        def forward(self, x):
            {forward}

    return Model()


def loss(nn, outputs, targets):
    {loss}
"""

MAP = "input_shape=(16, 16, 3), classes=5"
VECTOR = "input_shape=(6,), classes=5"
TOKENS = 'inputs={"ids": ArraySpec(shape=(7,), dtype="int32", high=11)}, classes=5'

CONV = "self.conv = nn.Conv2d(3, 16, 3, padding=1)"
HEAD = "self.head = nn.Linear(16, 5)"
HEADS = "x = nn.reshape(self.table(x), (4, 7, 1, 5))"
POOLED = "self.head(nn.global_avg_pool2d(x))"


def write(
    folder: Path, sample: str, layers: str, forward: str, loss: str = "return nn.cross_entropy(outputs, targets)"
) -> Path:
    """Write a user's workload, whose lines are separated by semicolons, and return its path."""
    path = folder / "mine.py"
    path.write_text(FILE.format(sample=sample, layers=layers, forward=forward, loss=loss))
    return path


def checked(path: Path) -> None:
    """Check a workload's model in training."""
    loaded = load(path)
    check_model(loaded, loaded.size("full"), "train")


MISTAKES = {
    "an argument that no layer has": (MAP, "self.a = nn.Conv2d(3, 16, 3, use_bias=True)", "return x", 15, "'use_bias'"),
    "a parameter along an axis of a map": (
        MAP,
        f"{CONV}; {HEAD}; self.scale = nn.Parameter((16,))",
        f"x = self.conv(x) * self.scale; return {POOLED}",
        18,
        "a feature map (4, 16, 16, 16) is combined with an array (16,)",
    ),
    "an index into a map": (MAP, f"{CONV}; {HEAD}", "return self.head(self.conv(x)[:, 0, 0])", 18, "is indexed"),
    "a mean over axes of a map": (
        MAP,
        f"{CONV}; {HEAD}",
        "return self.head(nn.mean(self.conv(x), (1, 2)))",
        18,
        "mean",
    ),
    "a Linear over a map": (MAP, f"{CONV}; {HEAD}", "return self.head(self.conv(x))", 18, "nn.tokens(x)"),
    "a LayerNorm of a map": (
        MAP,
        f"{CONV}; {HEAD}; self.norm = nn.LayerNorm(16)",
        f"x = self.norm(self.conv(x)); return {POOLED}",
        18,
        "is given to nn.LayerNorm",
    ),
    "maps that are joined as arrays are": (
        MAP,
        f"{CONV}; {HEAD}",
        f"x = self.conv(x); x = nn.concat([x, x], 1); return {POOLED}",
        18,
        "height * width, channels). For maps there is nn.concat_channels(maps)",
    ),
    "heads before the length": (
        TOKENS,
        "self.table = nn.Embedding(11, 5)",
        f"{HEADS}; h = nn.permute_dims(x, (0, 2, 1, 3)); return nn.attention(h, x, x, causal=True)",
        18,
        "each array is (batch, length, heads, features)",
    ),
    "a flattened map into a Linear of a number": (
        MAP,
        f"{CONV}; self.head = nn.Linear(4096, 5)",
        "return self.head(nn.flatten(self.conv(x)))",
        18,
        "nn.Linear((16, 16, 16), ...)",
    ),
    "a flattened map into a Linear of another": (
        MAP,
        f"{CONV}; self.head = nn.Linear((8, 32, 16), 5)",
        "return self.head(nn.flatten(self.conv(x)))",
        18,
        "this is a flattened map (16, 16, 16)",
    ),
    "a part of a flattened map": (
        MAP,
        "self.head = nn.Linear(10, 5)",
        "return self.head(nn.flatten(x)[:, :10])",
        18,
        "nn.flatten(nn.tokens(x))",
    ),
    "an array that is no map into a convolution": (
        VECTOR,
        "self.up = nn.Linear(6, 192); self.conv = nn.Conv2d(3, 5, 3)",
        "return nn.global_avg_pool2d(self.conv(nn.reshape(self.up(x), (4, 8, 8, 3))))",
        18,
        "nn.Conv2d takes a feature map",
    ),
    "channels that do not fit": (
        MAP,
        "self.conv = nn.Conv2d(4, 5, 3)",
        "return self.conv(x)",
        18,
        "made for 4, given 3",
    ),
    "features that do not fit": (
        VECTOR,
        "self.head = nn.Linear(7, 5)",
        "return self.head(x)",
        18,
        "made for 7, given 6",
    ),
    "a window that is too large": (MAP, f"{CONV}", "return nn.max_pool2d(self.conv(x), 17)", 18, "larger than"),
    "shapes that do not fit": (VECTOR, "self.a = nn.Parameter((1, 5))", "return x + self.a", 18, "do not fit"),
    "a reshape that loses something": (
        VECTOR,
        "self.head = nn.Linear(5, 5)",
        "return self.head(nn.reshape(x, (4, 5)))",
        18,
        "different numbers",
    ),
    "a Linear of one axis": (
        VECTOR,
        "self.row = nn.Parameter((6,)); self.head = nn.Linear(6, 5)",
        "return x[:, :5] * self.head(self.row)",
        18,
        "nn.Linear takes features in the last of two axes or more; this is an array (6,): nn.reshape makes it a row",
    ),
    "a product of an embedding with one axis": (
        TOKENS,
        "self.table = nn.Embedding(11, 5); self.row = nn.Parameter((5,))",
        "return nn.to_float(x) * nn.mean(self.table.attend(self.row))",
        18,
        "nn.Embedding.attend takes features in the last of two axes or more",
    ),
    "numbers into an Embedding": (
        VECTOR,
        "self.table = nn.Embedding(11, 5)",
        "return nn.mean(self.table(x), 1)",
        18,
        "takes integers",
    ),
    "a method of one framework": (
        VECTOR,
        "self.head = nn.Linear(6, 5)",
        "return self.head(x.contiguous())",
        18,
        "'contiguous'",
    ),
    "a product without a name": (VECTOR, "self.a = nn.Parameter((6, 5))", "return x @ self.a", 18, "nn.matmul(a, b)"),
    "a division that is rounded": (VECTOR, "pass", "return x // 2", 18, "nn.floor_divide(x, number)"),
    "Python's absolute value": (VECTOR, "pass", "return abs(x)", 18, "abs(x) is nn.abs(x)"),
    "a power of a number": (VECTOR, "pass", "return 2.0 ** x", 18, "nn.exp(x * logarithm)"),
    "masks by an operator": (VECTOR, "pass", "return nn.less(x, 0) & nn.less(0, x)", 18, "nn.logical_and(a, b)"),
    "a mask turned over": (VECTOR, "pass", "return ~nn.less(x, 0)", 18, "nn.logical_not(a)"),
    "a slice that goes backward": (VECTOR, "pass", "return x[:, ::-1]", 18, "nn.flip(x, axis)"),
    "a question about values": (
        VECTOR,
        "self.head = nn.Linear(6, 5)",
        "return self.head(x if x else x)",
        18,
        "hangs on its values",
    ),
    "a comparison": (
        VECTOR,
        "self.head = nn.Linear(6, 5)",
        "return self.head(x if x == 0 else x)",
        18,
        "nn.less(a, b)",
    ),
    "an index beyond": (
        TOKENS,
        "self.table = nn.Embedding(11, 5)",
        "return self.table(x)[:, 7]",
        18,
        "index 7 is beyond",
    ),
    "heads that do not fit": (
        TOKENS,
        "self.table = nn.Embedding(11, 5)",
        "x = self.table(x); return nn.attention(x, x, x)[:, 0]",
        18,
        "(batch, length, heads, features)",
    ),
    "causal attention of other lengths": (
        TOKENS,
        "self.table = nn.Embedding(11, 5)",
        f"{HEADS}; return nn.attention(x[:, :3], x, x, causal=True)[:, 0, 0]",
        18,
        "causal of 3 queries and 7 keys",
    ),
    "heads that do not divide": (
        TOKENS,
        "self.table = nn.Embedding(11, 6)",
        "x = nn.reshape(self.table(x), (4, 7, 3, 2)); return nn.attention(x, x[:, :, :2], x[:, :, :2])[:, 0, 0]",
        18,
        "3 heads and k with 2",
    ),
    "a mask of numbers": (
        TOKENS,
        "self.table = nn.Embedding(11, 5)",
        f"{HEADS}; return nn.attention(x, x, x, mask=nn.reshape(x[:, :, 0, 0], (4, 1, 1, 7)))[:, 0, 0]",
        18,
        "a mask is boolean, True attends; so is an array that is declared with dtype",
    ),
    "a bias that does not broadcast": (
        TOKENS,
        "self.table = nn.Embedding(11, 5); self.bias = nn.Parameter((7, 7))",
        f"{HEADS}; return nn.attention(x, x, x, bias=self.bias)[:, 0, 0]",
        18,
        "(batch, heads, length of q, length of k) = (4, 1, 7, 7)",
    ),
    "a scale that is none": (
        TOKENS,
        "self.table = nn.Embedding(11, 5)",
        f"{HEADS}; return nn.attention(x, x, x, scale=True)[:, 0, 0]",
        18,
        "scale=True",
    ),
    "a causal that is no bool": (
        TOKENS,
        "self.table = nn.Embedding(11, 5)",
        f"{HEADS}; return nn.attention(x, x, x, None)[:, 0, 0]",
        18,
        "causal=None",
    ),
    "a product of an embedding with other features": (
        TOKENS,
        "self.table = nn.Embedding(11, 5)",
        "return self.table.attend(self.table(x)[:, :, :4])[:, 0]",
        18,
        "made for 5, given 4",
    ),
    "two outputs in evaluation": (
        VECTOR,
        "self.head = nn.Linear(6, 5)",
        "return self.head(x), x",
        17,
        "of several heads all in one, as by nn.concat(arrays, 1); this one returned (an array",
    ),
    "a name of the vocabulary that the model replaces": (
        VECTOR,
        "self.head = nn.Linear(6, 5); nn.relu = nn.silu",
        "return self.head(nn.relu(x))",
        15,
        "nn.relu is set: a model takes the names of nn as they are",
    ),
    "a name of the vocabulary that forward removes": (
        VECTOR,
        "self.head = nn.Linear(6, 5)",
        "del nn.relu; return self.head(x)",
        18,
        "nn.relu is deleted",
    ),
    "an output whose order is each framework's": (
        MAP,
        CONV,
        "return nn.flatten(self.conv(x))",
        17,
        "is what the model returns",
    ),
    "a forward that fails by itself": (
        VECTOR,
        "self.head = nn.Linear(6, 5)",
        "return self.tail(x)",
        18,
        "AttributeError",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_in_forward_is_told_with_its_line(name: str, tmp_path: Path) -> None:
    """Each is refused with the file, the line and what is wrong."""
    sample, layers, forward, line, told = MISTAKES[name]
    path = write(tmp_path, sample, layers, forward)
    with pytest.raises(ModelFileError) as refused:
        checked(path)
    assert str(refused.value).startswith(f"{path}:{line}: in {'build' if line == 15 else 'forward'}: ")
    assert told in str(refused.value)


@pytest.mark.parametrize(
    ("sample", "loss", "told"),
    [
        (
            "input_shape=(6,), classes=5",
            "return nn.mse(outputs, targets)",
            "mine.py:24: in loss: shapes (4, 5) and (4,)",
        ),
        ("input_shape=(6,), classes=5", "return outputs", "loss returned an array (4, 5)"),
        (
            "input_shape=(6,), targets={'y': ArraySpec()}",
            "return nn.mean(targets)",
            "loss returned one number, which hangs on no parameter",
        ),
        (
            "input_shape=(6,), targets={'y': ArraySpec()}",
            "return nn.cross_entropy(outputs, targets)",
            "whole labels of the shape before it",
        ),
        (
            "input_shape=(6,), classes=5",
            "return nn.cross_entropy(outputs, targets, reduction='all')",
            "reduction='all'; it must be one of 'mean', 'sum', 'none'",
        ),
        (
            "input_shape=(6,), classes=5",
            "return nn.cross_entropy(outputs, targets, label_smoothing=1)",
            "label_smoothing=1; it must be at least 0 and below 1",
        ),
        (
            "input_shape=(6,), classes=5",
            "return nn.cross_entropy(outputs, targets, 0.1, 2.0)",
            "ignore=2.0; it must be",
        ),
        (
            "input_shape=(6,), targets={'y': ArraySpec(shape=(5,))}",
            "return nn.mse(outputs, targets, weights=targets[:, :2])",
            "shapes (4, 5) and (4, 2) do not fit",
        ),
    ],
)
def test_a_mistake_in_the_loss_is_told_with_its_line(sample: str, loss: str, told: str, tmp_path: Path) -> None:
    """A loss takes what it is there for, and gives one number."""
    path = write(tmp_path, sample, "self.head = nn.Linear(6, 5)", "return self.head(x)", loss)
    with pytest.raises(ModelFileError) as refused:
        checked(path)
    assert told in str(refused.value)


RIGHT = {
    "maps and numbers": (
        MAP,
        f"{CONV}; {HEAD}",
        f"x = 2 * self.conv(x) ** 2 / 3 - 1; x = x + nn.relu(x); return {POOLED}",
    ),
    "a map flattened for its Linear": (
        MAP,
        f"{CONV}; self.head = nn.Linear((8, 8, 16), 5)",
        "return self.head(nn.relu(nn.flatten(nn.max_pool2d(self.conv(x), 2))))",
    ),
    "a map in one order": (
        MAP,
        f"{CONV}; self.head = nn.Linear(4096, 5)",
        "return self.head(nn.flatten(nn.tokens(self.conv(x))))",
    ),
    "a map of one place": (
        MAP,
        "self.conv = nn.Conv2d(3, 7, 16); self.head = nn.Linear(7, 5)",
        "return self.head(nn.flatten(self.conv(x)))",
    ),
    "a mean of everything": (MAP, f"{CONV}; {HEAD}", f"y = self.conv(x); x = y - nn.mean(y); return {POOLED}"),
    "a part of the batch": (
        MAP,
        f"{CONV}; {HEAD}",
        (
            "x = self.conv(x); x = nn.concat_channels([x[:4], x])[:]; "
            "return self.head(nn.tokens(nn.avg_pool2d(x, 2))[:, 0, :16])"
        ),
    ),
    "tokens": (
        TOKENS,
        "self.table = nn.Embedding(11, 8); self.head = nn.Linear(8, 5)",
        (
            "x = nn.reshape(self.table(x), (4, 7, 2, -1)); x = nn.reshape(nn.attention(x, x, x), (4, 7, 8)); "
            "return self.head(x[:, 0])"
        ),
    ),
}


def test_a_mask_may_be_an_input(tmp_path: Path) -> None:
    """A boolean input stays one in another shape, and goes with attention."""
    sample = (
        'inputs={"ids": ArraySpec(shape=(7,), dtype="int32", high=11), "seen": ArraySpec(shape=(7,), dtype="bool")}, '
        "classes=5"
    )
    forward = (
        "h = nn.reshape(self.table(x['ids']), (4, 7, 1, 5)); seen = nn.reshape(x['seen'][:], (4, 1, 1, 7)); "
        "return nn.attention(h, h, h, mask=nn.broadcast_to(seen, (4, 1, 7, 7)), causal=True)[:, 0, 0]"
    )
    checked(write(tmp_path, sample, "self.table = nn.Embedding(11, 5)", forward))


@pytest.mark.parametrize("name", RIGHT)
def test_what_all_frameworks_can_do_passes(name: str, tmp_path: Path) -> None:
    """A model of the vocabulary is never refused."""
    sample, layers, forward = RIGHT[name]
    checked(write(tmp_path, sample, layers, forward))


@pytest.mark.parametrize(("name", "size"), [(name, size) for name in names() for size in load(name).workload.sizes])
def test_every_shipped_model_passes(name: str, size: str) -> None:
    """At every size, in every scenario."""
    loaded = load(name)
    for scenario in loaded.workload.scenarios:
        check_model(loaded, loaded.size(size), scenario)


def test_named_inputs_are_a_mapping() -> None:
    """A model with several inputs is called with a mapping of names to arrays."""

    def build(nn: Any, size: Any) -> Any:
        del size

        class Model(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.table = nn.Embedding(11, 4)

            def forward(self, inputs: Any) -> Any:
                return nn.mean(self.table(inputs["ids"]), 1) * nn.reshape(inputs["weight"], (-1, 1))

        return Model()

    ids, weight = ArraySpec(shape=(7,), dtype="int32", high=11), ArraySpec()
    found = forward(build, Size(batch_size=2, inputs={"ids": ids, "weight": weight}, classes=4), Counter(), trains=True)
    assert found.shape == (2, 4)


def test_a_loss_that_asks_for_the_inputs_gets_them(tmp_path: Path) -> None:
    """A fourth argument of the loss is the batch's inputs, and its mistakes have their line, too."""
    path = write(
        tmp_path, VECTOR, "self.head = nn.Linear(6, 5)", "return self.head(x)", "return nn.mse(outputs, inputs)"
    )
    path.write_text(
        path.read_text().replace("def loss(nn, outputs, targets)", "def loss(nn, outputs, targets, inputs)")
    )
    with pytest.raises(ModelFileError, match=r"in loss: shapes \(4, 5\) and \(4, 6\)"):
        checked(path)
    path.write_text(path.read_text().replace("nn.mse(outputs, inputs)", "nn.mse(outputs, inputs[:, :5])"))
    checked(path)


def test_losses_reduce_and_weigh(tmp_path: Path) -> None:
    """Every reduction and weights of one number a sample are taken, and pixels have a label each."""
    sample = "input_shape=(4, 4, 3), targets={'y': ArraySpec(shape=(4, 4), dtype='int32', high=5)}"
    loss = "; ".join(  # noqa: FLY002 - a line each
        [
            "each = nn.cross_entropy(outputs, targets, 0.1, 3, 'none')",
            "more = nn.mse(outputs, outputs, nn.reshape(nn.mean(each, (1, 2)), (4, 1, 1, 1)), 'sum')",
            "return nn.mean(each) + more + nn.cross_entropy(outputs, targets, ignore=0)",
        ]
    )
    checked(write(tmp_path, sample, "self.conv = nn.Conv2d(3, 5, 1)", "return self.conv(x)", loss))


def test_a_pattern_that_names_no_parameter_is_told(tmp_path: Path) -> None:
    """A group without decay that would be empty is a mistake, with what the parameters are called."""
    path = write(tmp_path, VECTOR, "self.head = nn.Linear(6, 5)", "return self.head(x)")
    text = path.read_text()
    wanted = "optimizer=SGD(learning_rate=0.1, weight_decay=0.1, no_decay=("
    path.write_text(text.replace("optimizer=SGD(learning_rate=0.1", wanted + "'*.bias', '*.scale')"))
    with pytest.raises(
        ModelFileError, match=r"has '\*.scale', which is the name of no parameter.*head.weight, head.bias"
    ):
        checked(path)
    path.write_text(text.replace("optimizer=SGD(learning_rate=0.1", wanted + "'*.bias',)"))
    checked(path)


@pytest.mark.parametrize("wanted", ["frozen=('*.scale',)", "rates=(('*.bias', 0.1), ('*.scale', 0.5))"])
def test_a_group_that_would_be_empty_is_told(tmp_path: Path, wanted: str) -> None:
    """A pattern of frozen or of rates that names no parameter is a mistake, as one of no_decay is."""
    path = write(tmp_path, VECTOR, "self.head = nn.Linear(6, 5)", "return self.head(x)")
    path.write_text(path.read_text().replace("SGD(learning_rate=0.1", f"SGD(learning_rate=0.1, {wanted}"))
    with pytest.raises(ModelFileError, match=rf"optimizer.{wanted[:5]}.* has '\*.scale'.*head.weight, head.bias"):
        checked(path)


@pytest.mark.parametrize(
    ("wanted", "match"),
    [
        (
            "rates=(('*', 2.0), ('*.bias', 3.0))",
            r"rates has '\*.bias', which names none that an earlier pattern does not",
        ),
        ("frozen=('*.bias',), rates=(('*.bias', 3.0),)", r"rates has '\*.bias', which names frozen parameters alone"),
        (
            "frozen=('*.bias',), weight_decay=0.1, no_decay=('*.bias',)",
            r"no_decay has '\*.bias', which names frozen parameters alone",
        ),
    ],
)
def test_a_pattern_that_changes_nothing_is_told(tmp_path: Path, wanted: str, match: str) -> None:
    """The first pattern of rates counts, and what is frozen has no rate and no decay."""
    path = write(tmp_path, VECTOR, "self.head = nn.Linear(6, 5)", "return self.head(x)")
    path.write_text(path.read_text().replace("SGD(learning_rate=0.1", f"SGD(learning_rate=0.1, {wanted}"))
    with pytest.raises(ModelFileError, match=match):
        checked(path)


@pytest.mark.parametrize(
    ("frozen", "match"),
    [
        ("('*',)", r"optimizer.frozen names every parameter.*leave out those that are, of head.weight"),
        ("('head.*',)", r"mine.py:\d+: loss returned one number, which hangs on no parameter that is trained"),
    ],
)
def test_a_training_in_which_nothing_moves_is_told(tmp_path: Path, frozen: str, match: str) -> None:
    """Neither may all be frozen, nor all that the loss depends on."""
    more = "self.head = nn.Linear(6, 5); self.unused = nn.Linear(6, 5)"
    path = write(tmp_path, VECTOR, more, "return self.head(x)")
    path.write_text(path.read_text().replace("SGD(learning_rate=0.1", f"SGD(learning_rate=0.1, frozen={frozen}"))
    with pytest.raises(ModelFileError, match=match):
        checked(path)


def test_a_number_of_parameters_that_the_model_does_not_have_is_told(tmp_path: Path) -> None:
    """A declared number is held against the model's own before any framework starts."""
    path = write(tmp_path, VECTOR, "self.head = nn.Linear(6, 5)", "return self.head(x)")
    text = path.read_text()
    path.write_text(text.replace("Size(", "Size(parameters=36, "))
    with pytest.raises(ModelFileError, match=r"declares 36 parameters; the model has 35 in it"):
        checked(path)
    path.write_text(text.replace("Size(", "Size(parameters=35, "))
    checked(path)


@pytest.mark.parametrize("kept", ["y", "(y, y)"])
def test_a_model_keeps_no_array(tmp_path: Path, kept: str) -> None:
    """An array that forward sets as an attribute, as a state for the next batch, is told with its line."""
    forward = f"y = x + getattr(self, 'state', 0.0); self.state = {kept}; return self.head(y)"
    path = write(tmp_path, VECTOR, "self.head = nn.Linear(6, 5)", forward)
    with pytest.raises(ModelFileError, match=r":\d+: in forward: self.state is set to .*: a model keeps no array"):
        checked(path)
    checked(write(tmp_path, VECTOR, "self.head = nn.Linear(6, 5)", "self.calls = 1; return self.head(x)"))
