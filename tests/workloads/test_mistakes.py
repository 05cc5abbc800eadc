"""What users write by habit from one framework is told in the vocabulary's words, with the line and what to do."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from test_interpreter import CONV, MAP, TOKENS, VECTOR, checked, write

from bakeoff.spec.errors import ModelFileError
from bakeoff.spec.vocabulary import FUNCTIONS, LAYERS, LOSSES, VOCABULARY
from bakeoff.workloads.interpreter import check_model
from bakeoff.workloads.load import load
from bakeoff.workloads.mistakes import _SIGNATURE
from bakeoff.workloads.synonyms_arguments import RENAMED, SAID_BY, of_argument

TABLE = "self.table = nn.Embedding(11, 5)"
BITS = 'input_shape=(6,), targets={"t": ArraySpec(shape=(5,), dtype="int32", low=0, high=1)}'
WIDE = "self.head = nn.Linear(6, 5)"

HABITS = {
    "an argument of another library": (
        VECTOR,
        "self.norm = nn.LayerNorm(6, eps=1e-6)",
        "return x",
        15,
        "it is nn.LayerNorm(features, epsilon=1e-5, bias=True); eps is epsilon here",
    ),
    "layers above each other": (
        TOKENS,
        f"{TABLE}; self.lstm = nn.LSTM(5, 5, num_layers=2)",
        "return self.lstm(self.table(x))[0][:, 0]",
        15,
        "biases=1); of layers above each other each is an attribute, and takes the sequence of the one below",
    ),
    "a function's argument of another library": (
        VECTOR,
        WIDE,
        "return nn.gelu(self.head(x), approximate='tanh')",
        18,
        "nn.gelu got an unexpected keyword argument 'approximate'; it is nn.gelu(x); nn.gelu_tanh(x) is",
    ),
    "an argument of a layer that is called": (
        TOKENS,
        f"{TABLE}; self.lstm = nn.LSTM(5, 5)",
        "x = self.table(x); return self.lstm(x, hx=None)[0][:, 0]",
        18,
        "hx is state here",
    ),
    "an argument inside of a cell": (
        TOKENS,
        f"{TABLE}; self.lstm = nn.LSTM(5, 5, activation='relu')",
        "return self.lstm(self.table(x))[0][:, 0]",
        15,
        "it is tanh, and sigmoid in the gates",
    ),
    "an argument too many": (
        VECTOR,
        WIDE,
        "return nn.relu(self.head(x), 1)",
        18,
        "nn.relu got more arguments than it takes by position; it is nn.relu(x)",
    ),
    "an entry of no config": (
        VECTOR,
        "self.head = nn.Linear(6, size.config['w'])",
        "return x",
        15,
        "config={'w': ...}",
    ),
    "an argument that is missing": (VECTOR, "self.head = nn.Linear(6)", "return x", 15, "it is nn.Linear(in_features,"),
    "a layer made in forward": (VECTOR, WIDE, "return nn.Linear(6, 5)(x)", 18, "nn.Linear is a layer: make it once"),
    "a parameter made in forward": (VECTOR, WIDE, "return self.head(x) + nn.Parameter((5,))", 18, "in __init__"),
    "an axis by None": (VECTOR, WIDE, "return self.head(x[:, None])[:, 0]", 18, "nn.reshape(x, shape) adds an axis"),
    "an index by an array": (VECTOR, WIDE, "return self.head(x)[nn.arange(4)]", 18, "nn.take(x, indices, axis)"),
    "an index with dots": (VECTOR, WIDE, "return self.head(x)[..., 0]", 18, "say a slice for each axis"),
    "a change in place": (VECTOR, WIDE, "x[:, 0] = 0.0; return self.head(x)", 18, "is changed in place"),
    "a number of Python's": (VECTOR, WIDE, "return self.head(x) * float(nn.mean(x))", 18, "a number of Python's"),
    "a function of NumPy's": (VECTOR, WIDE, "import numpy; return numpy.tanh(self.head(x))", 18, "nn.constant(array)"),
    "NumPy puts together": (VECTOR, WIDE, "import numpy; return numpy.concatenate([x, x])", 18, "NumPy's concatenate"),
    "NumPy takes an array": (VECTOR, WIDE, "import numpy; return numpy.asarray(x)", 18, "an array of NumPy's"),
    "an array of NumPy's": (
        VECTOR,
        WIDE,
        "import numpy; return self.head(x) * numpy.ones(5)",
        18,
        "is combined with NumPy's own (5,); it goes with arrays of the model and with numbers. NumPy's own arrays go",
    ),
    "NumPy's array for an array": (
        VECTOR,
        WIDE,
        "import numpy; return nn.concat([self.head(x), numpy.ones((4, 900))], 1)",
        18,
        "nn.concat takes an array of the model; this is NumPy's own (4, 900). NumPy's own arrays go into a model by",
    ),
    "several that stand for one": (
        TOKENS,
        f"{TABLE}; self.lstm = nn.LSTM(5, 5)",
        "x = self.table(x); return (x + self.lstm(x))[:, 0]",
        18,
        "sequence, state = self.lstm(x)",
    ),
    "a module that cannot be imported": (VECTOR, WIDE, "import nothing_of_this_name", 18, "by the names of nn"),
    "a table that is too small": (
        TOKENS,
        "self.table = nn.Embedding(10, 5)",
        "return self.table(x)[:, 0]",
        18,
        "nn.Embedding(10, 5) takes integers from 0 to 9; an array (4, 7) has them up to 10",
    ),
    "more positions than there are": (
        TOKENS,
        f"{TABLE}; self.places = nn.Embedding(6, 5)",
        "return (self.table(x) + self.places(nn.arange(7)))[:, 0]",
        18,
        "nn.Embedding(6, 5) takes integers from 0 to 5",
    ),
    "a class that is too large": (TOKENS, TABLE, "return nn.mean(nn.one_hot(x, 9), 1)", 18, "nn.one_hot(x, 9) takes"),
    "an index beyond a table": (TOKENS, TABLE, "return nn.take(self.table(x), nn.arange(8), 1)", 18, "from 0 to 6"),
    "a formula whose lengths disagree": (
        TOKENS,
        TABLE,
        "return nn.einsum('btf,ft->bf', self.table(x), self.table(x)[0])",
        18,
        "nn.einsum('btf,ft->bf'): axis 'f' has 7 elements in an array (7, 5), and 5 in an array before it",
    ),
    "a map's axes taken apart": (
        MAP,
        CONV,
        "n, c, h, w = self.conv(x).shape; return nn.global_avg_pool2d(x)",
        18,
        "an axis of a feature map (4, 16, 16, 16) is asked for by its place",
    ),
    "a map's axis by its place": (MAP, CONV, "return nn.resize(x, (x.shape[2] * 2, 32), 'nearest')", 18, "x.shape[0]"),
    "a layer's weight": (TOKENS, TABLE, "return self.table.weight[:4]", 18, "embedding.attend(x)"),
    "another argument of a layer that is called": (
        TOKENS,
        f"{TABLE}; self.lstm = nn.LSTM(5, 5)",
        "x, _ = self.lstm(self.table(x), length=x); return x[:, 0]",
        18,
        "a layer nn.LSTM got an unexpected keyword argument 'length'; it is called as lstm(x, state=None",
    ),
    "an array too many": (VECTOR, WIDE, "return self.head(x, x)", 18, "by position; it is called as layer(x)"),
    "a state that is missing": (
        VECTOR,
        "self.cell = nn.LSTMCell(6, 5)",
        "return self.cell(x)[0]",
        18,
        "a layer nn.LSTMCell missing 1 required positional argument: 'state'; it is called as cell(x, (h, c))",
    ),
    "several that are indexed as one": (
        TOKENS,
        f"{TABLE}; self.lstm = nn.LSTM(5, 5)",
        "return self.lstm(self.table(x))[:, -1]",
        18,
        "is taken apart first: sequence, state = self.lstm(x)",
    ),
    "a list of layers that is called": (
        VECTOR,
        "self.layers = nn.ModuleList([nn.Linear(6, 5)])",
        "return self.layers(x)",
        18,
        "Its layers are called one by one: for layer in self.layers: x = layer(x)",
    ),
    "a sum in place": (VECTOR, WIDE, "x += 1.0; return self.head(x)", 18, "an array (4, 6) is changed in place by +=:"),
    "a difference in place": (VECTOR, WIDE, "x -= x; return self.head(x)", 18, "x = x - y makes another in all"),
    "a product in place": (VECTOR, WIDE, "y = x; y *= 2.0; return self.head(x * y)", 18, "under each of its names"),
    "a quotient in place": (VECTOR, WIDE, "x /= 2.0; return self.head(x)", 18, "x = x / y makes another in all"),
    "a power in place": (VECTOR, WIDE, "x **= 2; return self.head(x)", 18, "x = x ** y makes another in all"),
    "a division by zero": (VECTOR, WIDE, "return self.head(x) / 0.0", 18, "(4, 5) is divided by 0.0, which leaves"),
    "a quotient by an array of NumPy's": (
        VECTOR,
        WIDE,
        "import numpy; return self.head(x) / numpy.ones(5)",
        18,
        "NumPy's own arrays go into a model by nn.constant(array)",
    ),
    "a number of NumPy's": (
        VECTOR,
        "import numpy; self.head = nn.Linear(6, numpy.int64(5))",
        "return self.head(x)",
        15,
        "int(5) makes one of NumPy's a number of Python's",
    ),
    "labels for the model": (VECTOR, WIDE, "return self.head(x)", 17, "labels reach the loss"),
    "nothing returned": (VECTOR, WIDE, "self.head(x)", 17, "this one returned None"),
}


@pytest.mark.parametrize("name", HABITS)
def test_a_habit_is_told_with_its_line_and_what_to_do(name: str, tmp_path: Path) -> None:
    """Each is refused before any framework starts."""
    sample, layers, forward, line, told = HABITS[name]
    path = write(tmp_path, sample, layers, forward)
    if name == "labels for the model":
        path.write_text(path.read_text().replace("def forward(self, x)", "def forward(self, x, y)"))
    with pytest.raises(ModelFileError) as refused:
        checked(path)
    assert str(refused.value).startswith(f"{path}:{line}: in {'build' if line == 15 else 'forward'}: ")
    assert told in str(refused.value)


def test_what_all_frameworks_have_alike_of_a_shape(tmp_path: Path) -> None:
    """The samples of a map, its number of axes, and every axis of an array."""
    forward = (
        "x = self.conv(x); y = nn.tokens(x); return nn.reshape(y, (x.shape[0], y.shape[1] * y.shape[2] * (x.ndim - 3)))"
    )
    checked(write(tmp_path, MAP, CONV, forward))


def test_fewer_logits_than_labels_are_told(tmp_path: Path) -> None:
    """Frameworks make NaN, zero or an error of a label beyond the logits."""
    path = write(tmp_path, MAP, "self.head = nn.Linear(3, 4)", "return self.head(nn.global_avg_pool2d(x))")
    with pytest.raises(
        ModelFileError, match=r"in loss: nn.cross_entropy of logits \(4, 4\) takes integers from 0 to 3"
    ):
        checked(path)


def test_a_label_that_is_ignored_may_be_beyond_the_logits(tmp_path: Path) -> None:
    """As 255 is in many segmentations."""
    loss = "return nn.cross_entropy(outputs, targets, ignore=4)"
    checked(write(tmp_path, MAP, "self.head = nn.Linear(3, 4)", "return self.head(nn.global_avg_pool2d(x))", loss))


@pytest.mark.parametrize(("low", "high", "ignore"), [(0, 9, 0), (-100, 9, -100), (-100, 5, 0), (0, 9, -100)])
def test_labels_beside_the_ignored_one_are_classes(low: int, high: int, ignore: int, tmp_path: Path) -> None:
    """What is ignored excuses no other label that the logits have no class for."""
    sample = f"input_shape=(6,), targets={{'y': ArraySpec(dtype='int32', low={low}, high={high})}}"
    loss = f"return nn.cross_entropy(outputs, targets, ignore={ignore})"
    path = write(tmp_path, sample, WIDE, "return self.head(x)", loss)
    with pytest.raises(ModelFileError, match=r"nn.cross_entropy of logits \(4, 5\) takes integers from 0 to 4"):
        checked(path)


@pytest.mark.parametrize(("low", "high", "ignore"), [(-100, 5, -100), (0, 256, 255), (0, 5, 0)])
def test_labels_that_are_ignored_may_lie_anywhere(low: int, high: int, ignore: int, tmp_path: Path) -> None:
    """Below the classes, beyond them or among them, by the conventions of libraries."""
    sample = f"input_shape=(6,), targets={{'y': ArraySpec(dtype='int32', low={low}, high={high})}}"
    loss = f"return nn.cross_entropy(outputs, targets, ignore={ignore})"
    checked(write(tmp_path, sample, WIDE, "return self.head(x)", loss))


def test_a_part_of_the_positions_may_be_in_range(tmp_path: Path) -> None:
    """What a slice leaves of nn.arange(n) is not taken for all of it."""
    forward = "return self.table(nn.arange(12)[:7] + x * 0)[:, 0]"
    checked(write(tmp_path, TOKENS, TABLE, forward))


def test_a_name_that_is_no_input_is_told(tmp_path: Path) -> None:
    """With the names that there are."""
    sample = 'inputs={"a": ArraySpec(shape=(6,)), "b": ArraySpec(shape=(6,))}, classes=5'
    path = write(tmp_path, sample, WIDE, 'return self.head(x["c"])')
    with pytest.raises(ModelFileError, match="no array 'c' here; it declares a, b"):
        checked(path)


def test_a_forward_with_too_few_arguments_is_told(tmp_path: Path) -> None:
    """No line of the file is running then."""
    path = write(tmp_path, VECTOR, "self.forward = lambda: 0", "return x")
    with pytest.raises(ModelFileError, match=r"mine\.py:17: in forward: it takes \(\), and a model is called with its"):
        checked(path)


REAL = 'input_shape=(6,), targets={"y": ArraySpec(shape=())}'


def test_a_loss_in_which_each_sample_meets_all_others_is_told(tmp_path: Path) -> None:
    """As (batch, 1) less (batch,): no library says it, and all of them compute the same of it."""
    head = "self.head = nn.Linear(6, 1)"
    loss = "off = outputs - targets; return nn.mean(off * off)"
    with pytest.raises(
        ModelFileError, match=r"in loss: \(4, 1\) with \(4,\) makes \(4, 4\): .* nn\.reshape\(x, \(4,\)\)"
    ):
        checked(write(tmp_path, REAL, head, "return self.head(x)", loss))
    for meant in (
        "outputs[:, 0] - targets",
        "outputs - nn.reshape(targets, (1, 4))",
        "nn.reshape(outputs, (4,)) - targets",
    ):
        checked(write(tmp_path, REAL, head, "return self.head(x)", loss.replace("outputs - targets", meant)))
    places = "places = nn.reshape(nn.arange(4), (4, 1)) - nn.arange(4)"  # of a model, where all pairs are meant
    checked(write(tmp_path, REAL, head, f"{places}; return self.head(x)", loss.replace("outputs", "outputs[:, 0]")))


def test_a_batch_norm_of_one_value_is_told(tmp_path: Path) -> None:
    """Some framework refuses it, and in others nothing of the input is left; inference has running statistics."""
    path = write(tmp_path, VECTOR, f"{WIDE}; self.norm = nn.BatchNorm(6)", "return self.head(self.norm(x))")
    checked(path)
    path.write_text(path.read_text().replace("batch_size=4", "batch_size=1"))
    with pytest.raises(
        ModelFileError, match=r"mine\.py:18: in forward: nn\.BatchNorm of an array \(1, 6\): in training"
    ):
        checked(path)
    loaded = load(path)
    check_model(loaded, loaded.size("full"), "infer")


@pytest.mark.parametrize(
    ("made", "told"),
    [
        ("nn.Linear(6, 5, bias='no')", "bias='no': it must be True or False"),
        ("nn.Linear(6, 5, None)", "bias=None: it must be True or False"),
        ("nn.Parameter(())", "shape=(): it must be a tuple of whole numbers, (1,) for a single number; its"),
        ("nn.Parameter(2.6)", "shape=2.6: it must be a tuple of whole numbers, (1,) for a single number"),
        ("nn.LayerNorm(6, '1e-5')", "epsilon='1e-5': it must be a number above 0"),
        ("nn.LayerNorm(6, bias=0)", "bias=0: it must be True or False"),
        ("nn.Dropout('0.5')", "rate='0.5': it must be a number, at least 0 and below 1"),
        ("nn.Dropout(True)", "rate=True: it must be a number, at least 0 and below 1"),
        ("nn.BatchNorm(6, momentum='0.1')", "momentum='0.1': it is the weight of the new value"),
        ("nn.LSTM(6, 5, bidirectional=1)", "bidirectional=1: it must be True or False"),
        ("nn.Dropout(__import__('numpy').float32(0.5))", "float(0.5) makes one of NumPy's a number of Python's"),
        ("nn.in_training()", "in_training"),
    ],
)
def test_an_argument_of_another_type_is_told_with_what_it_must_be(tmp_path: Path, made: str, told: str) -> None:
    """None is taken for what it is not."""
    path = write(tmp_path, VECTOR, f"{WIDE}; self.other = {made}", "return self.head(x)")
    with pytest.raises(ModelFileError, match=rf"mine\.py:15: .*{re.escape(told)}"):
        checked(path)


def test_numpys_types_and_numbers_are_taken_in_a_declaration(tmp_path: Path) -> None:
    """numpy.int32 is the int32 that is meant, and a rate of NumPy's a number."""
    path = write(tmp_path, VECTOR, WIDE, "return self.head(x)")
    text = path.read_text().replace('dtype="int32"', "dtype=__import__('numpy').int32")
    path.write_text(text.replace("learning_rate=0.1", "learning_rate=__import__('numpy').float32(0.1)"))
    checked(path)
    assert isinstance(load(path).workload.optimizer.learning_rate, float)


def test_a_single_input_by_its_name_is_told(tmp_path: Path) -> None:
    """It comes as the array itself."""
    with pytest.raises(ModelFileError, match="a single input or target, is the array itself and has no name"):
        checked(write(tmp_path, VECTOR, WIDE, "return self.head(x['x'])"))


@pytest.mark.parametrize(
    ("made", "counts"),
    [
        ("self.count = 0", "self.count += 1"),
        ("self.count = None", "self.count = (self.count or 0) + 1"),
        ("pass", "self.count = getattr(self, 'count', 0) + 1"),
        ("self.count = [0]", "self.count[0] += 1"),
        ("pass", "type(self).count = getattr(type(self), 'count', 0) + 1"),
        ("import numpy; self.count = numpy.float32(0)", "self.count = self.count + 1"),
    ],
)
def test_a_number_that_each_forward_pass_changes_is_told(tmp_path: Path, made: str, counts: str) -> None:
    """A compiled step would count once, however it is written."""
    path = write(tmp_path, VECTOR, f"{WIDE}; {made}", f"{counts}; return self.head(x)")
    with pytest.raises(ModelFileError, match=r"mine\.py:17: in forward: the model\.count is .* after one step and .*"):
        checked(path)


@pytest.mark.parametrize(
    ("made", "keeps"),
    [
        ("self.batch = 0", "self.batch = x.shape[0]"),
        ("self.place = 0", "self.place = 0; self.place += 1; self.place += 1"),
        ("self.odd = float('nan')", "self.odd = float('nan')"),
        ("pass", "total = 0.0; total += x; x = total"),
    ],
)
def test_a_number_that_a_model_keeps_may_be_set_in_forward(tmp_path: Path, made: str, keeps: str) -> None:
    """One that is the same behind each step, as a length, changes nothing; a sum may begin with a number."""
    checked(write(tmp_path, VECTOR, f"{WIDE}; {made}", f"{keeps}; return self.head(x)"))


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("SGD(learning_rate=0.1)", "SGD(lr=0.1)", "mine.py:7: .*'lr'. SGD has learning_rate, momentum,"),
        ("batch_size=4", "batchsize=4", "mine.py:6: .*'batchsize'. Size has batch_size, input_shape,"),
        ('dtype="int32"', 'dtype="int64"', "'int64' .*dtype; valid: float32, int32, bool"),
        ('dtype="int32"', "dtype=int", "'int' .*dtype; valid: float32, int32, bool"),
        ('source="s"', 'source="s", scenarios=("trains",)', "'trains' .*; valid: train, infer, per-sample-gradients"),
        ("SGD(learning_rate=0.1)", '"sgd"', "optimizer: expected .* there are; valid: SGD, Adam, AdamW, RMSprop"),
        (
            "SGD(learning_rate=0.1)",
            "SGD(learning_rate=0.1, schedule=lambda step: 0.1)",
            "optimizer.schedule: expected one of those that there are; valid: Constant, Linear, .*WarmupStableDecay",
        ),
    ],
)
def test_a_declaration_is_told_what_it_has(old: str, new: str, told: str, tmp_path: Path) -> None:
    """A field's name or word that is not there comes with those that are."""
    path = write(tmp_path, TOKENS, TABLE, "return self.table(x)[:, 0]")
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(ModelFileError, match=told):
        checked(path)


def test_every_name_has_a_signature_to_tell() -> None:
    """A call that does not fit is told with what would."""
    without = [name for name, text in (LAYERS | FUNCTIONS | LOSSES).items() if not _SIGNATURE.match(text)]
    assert without == ["Module"]


OPERATORS = {
    "x % 2": "a % b is x - nn.floor_divide(x, number) * number in the vocabulary, of integers, none below 0",
    "2 % x": "a % b is x - nn.floor_divide",
    "x % x": "a % b is x - nn.floor_divide",
    "divmod(x, 2)": "divmod(x, number) is nn.floor_divide(x, number)",
    "x // 2": "a // b is nn.floor_divide(x, number)",
    "2 ** x": "nn.exp(x * logarithm)",
    "x @ x": "a @ b is nn.matmul(a, b)",
    "x & x": "a & b is nn.logical_and(a, b)",
    "x | x": "a | b is nn.logical_or(a, b)",
    "x ^ x": "a ^ b is nn.logical_not(nn.equal(a, b))",
    "~x": "~a is nn.logical_not(a)",
    "x << 1": "a << number is x * 2**number",
    "x >> 1": "a >> number is nn.floor_divide(x, 2**number)",
    "x < 1": "arrays are compared by nn.less(a, b)",
    "1 == x": "nn.equal(a, b), which nn.logical_not turns round",
    "x != x": "nn.equal(a, b), which nn.logical_not turns round",
    "+x": "+x is x",
    "abs(x)": "abs(x) is nn.abs(x)",
    "round(x)": "rounding is not in the vocabulary",
    "1.0 in x": "a in x is nn.max(nn.to_float(nn.equal(x, a)))",
    "x if x else x": "nn.where(condition, a, b) chooses by element",
    "x and x": "nn.logical_and, nn.logical_or and nn.logical_not stand for and, or and not",
    "len(x)": "len(x) is x.shape[0]",
    "float(x)": "compute with the array itself",
    "range(x)": "a number of Python's",
    "complex(x)": "a number of Python's",
    "f'{x:.2f}'": "is written as '.2f', which takes its values",
    "[one for one in x]": "is taken apart by a loop",
    "max(x)": "is taken apart by a loop",
    "reversed(x)": "len(x) is x.shape[0]",
    "x.__setitem__(0, 1)": "is changed in place",
}


@pytest.mark.parametrize("expression", OPERATORS)
def test_an_operator_of_pythons_is_told_with_its_line(expression: str, tmp_path: Path) -> None:
    """What arrays of one framework or another have, and a compiled program or another framework has not."""
    path = write(tmp_path, VECTOR, WIDE, f"x = {expression}; return self.head(x)")
    with pytest.raises(ModelFileError) as refused:
        checked(path)
    assert str(refused.value).startswith(f"{path}:18: in forward: ")
    assert OPERATORS[expression] in str(refused.value)


UNMADE = ("nn.Parameter((6,)) * 2", "len(nn.Parameter((6,)))", "nn.constant(numpy.ones(6)) + 1.0")


@pytest.mark.parametrize("made", UNMADE)
def test_an_array_that_is_computed_with_in_build_is_told(made: str, tmp_path: Path) -> None:
    """It is one in forward alone."""
    path = write(tmp_path, VECTOR, f"import numpy; self.made = {made}", "return x")
    with pytest.raises(ModelFileError, match=r"mine\.py:15: in build: .* is an array in forward alone: make it in"):
        checked(path)


def test_several_inputs_that_stand_for_one_are_told(tmp_path: Path) -> None:
    """Each has a name."""
    sample = 'inputs={"a": ArraySpec(shape=(6,)), "b": ArraySpec(shape=(6,))}, classes=5'
    path = write(tmp_path, sample, WIDE, "return self.head(x + 2)")
    with pytest.raises(ModelFileError, match=r"mine\.py:18: in forward: .*each is taken by its name: x\['name'\]"):
        checked(path)


def test_an_argument_is_renamed_to_one_that_there_is_and_never_shadows_one() -> None:
    """What is offered for an argument of another library is one of something here that has no such argument itself."""
    taken = {
        name: set(re.findall(r"\w+", found[0]))
        for name, text in VOCABULARY.items()
        if (found := _SIGNATURE.match(text))
    }
    for theirs, ours in RENAMED.items():
        assert any(ours in names for names in taken.values()) or ours == "state", (theirs, ours)
        assert not any({theirs, ours} <= names for names in taken.values()), (theirs, ours)
    for theirs, said in SAID_BY.items():
        assert not any(theirs in taken[name] for name in said if name and said[name]), theirs
        assert said.keys() <= {"", *VOCABULARY}, theirs
    assert of_argument("cross_entropy", "ignore_index", ["logits", "ignore"]) == "; ignore_index is ignore here"
    assert of_argument("attention", "use_bias", ["q", "bias"]) == ""
    assert of_argument("relu", "something", ["x"]) == ""


def test_a_weight_of_positives_is_what_its_advice_computes(tmp_path: Path) -> None:
    """What is said for PyTorch's pos_weight is its loss: of each element -p t log s(x) - (1 - t) log(1 - s(x))."""
    advice = SAID_BY["pos_weight"]["binary_cross_entropy"].partition("it is ")[2]
    logits, targets, p = np.array([-1.5, 0.2, 2.0]), np.array([1, 0, 1]), 3.0
    log_s, log_rest = -np.log1p(np.exp(-logits)), -np.log1p(np.exp(logits))
    nn = SimpleNamespace(
        mean=np.mean, to_float=np.float64, binary_cross_entropy=lambda x, t, reduction: -t * log_s - (1 - t) * log_rest
    )
    said = eval(advice, {"nn": nn, "logits": logits, "targets": targets, "p": p})  # noqa: S307 - an expression of ours
    assert said == pytest.approx(np.mean(-p * targets * log_s - (1 - targets) * log_rest))
    loss = "return " + advice.replace("logits", "outputs").replace("(p -", "(3.0 -")
    checked(write(tmp_path, BITS, "self.head = nn.Linear(6, 5)", "return self.head(x)", loss))


def test_what_is_said_for_a_padding_index_is_a_mask_of_an_embeddings_rows(tmp_path: Path) -> None:
    """As it is written, with the sizes of the model."""
    mask = SAID_BY["padding_idx"]["Embedding"].removeprefix("times ").removesuffix(" a row counts nowhere")
    mask = mask.replace("ids", "x").replace("padding", "0").replace("batch, length", "x.shape[0], x.shape[1]")
    checked(write(tmp_path, TOKENS, TABLE, f"return nn.sum(self.table(x) * {mask}, 1)"))
