"""What other libraries have a name for is told in the vocabulary's own, which has to be there, and to be true."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from test_interpreter import MAP, VECTOR, checked, write

from bakeoff.spec.errors import ModelFileError
from bakeoff.spec.vocabulary import VOCABULARY
from bakeoff.workloads.interpreter import vocabulary
from bakeoff.workloads.mistakes import not_there
from bakeoff.workloads.shape_functions import Counter
from bakeoff.workloads.shapes import LayoutError, Shape
from bakeoff.workloads.synonyms import LACKED, SAID_BY, folded


def test_what_is_said_is_in_the_vocabulary() -> None:
    """Each name that an advice uses is there, and none is given for a name that is there itself."""
    assert not (SAID_BY.keys() | LACKED.keys()) & VOCABULARY.keys()
    for name, said in (SAID_BY | LACKED).items():
        assert set(re.findall(r"nn\.(\w+)", said)) <= VOCABULARY.keys(), name


def test_a_name_has_one_advice() -> None:
    """Spellings of one name say the same, and none is both there and not there."""
    said = {folded(name): said for name, said in SAID_BY.items()}
    assert {name: text for name, text in SAID_BY.items() if said[folded(name)] != text} == {}
    assert not said.keys() & {folded(name) for name in LACKED}


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("relu6", ": it is nn.clip(x, 0, 6)"),
        ("ReLU6", ": it is nn.clip(x, 0, 6)"),
        ("erf", ", and nothing in it does that"),
        ("item", ", and nothing in it does that; a compiled program has no values while it is made"),
        ("topk", ": it is values, indices = nn.top_k(x, k)"),
        ("ReLU", "; did you mean nn.relu?"),
        ("MaxPool2d", "; did you mean nn.max_pool2d?"),
        ("layernorm", "; did you mean nn.LayerNorm?"),
        ("sofmax", "; did you mean nn.softmax?"),
        ("xyzzy", ""),
    ],
)
def test_a_name_of_another_library_is_answered(name: str, told: str) -> None:
    """By what it is here, by the same name in another style, or by one that is spelt nearly so."""
    assert not_there(name) == f"nn.{name} is not in the vocabulary{told}"


USUAL = """
ReLU6 Hardtanh Mish Upsample PixelShuffle CrossEntropyLoss BCEWithLogitsLoss MSELoss L1Loss CTCLoss masked_fill
normalize scaled_dot_product_attention greater ge randn DropPath ZeroPad2d AvgPool1d register_buffer index_add unbind
SmoothL1Loss
HuberLoss KLDivLoss NLLLoss BCELoss Identity Sequential PReLU permute view transpose contiguous unsqueeze squeeze expand
chunk bmm mm lt le eq ne gt logsumexp log1p clamp detach no_grad cat zeros ones full tril triu cdist repeat tile scatter
repeat_interleave gather topk argsort sort cumprod MultiheadAttention TransformerEncoderLayer InstanceNorm2d BatchNorm1d
BatchNorm2d RNN RNNCell Dropout2d Dense MaxPooling2D LayerNormalization BatchNormalization Add Concatenate F functional
GlobalAveragePooling2D hinge float size numel remainder var std any all eye linspace bce_loss mse_loss nll_loss l1_loss
"""

MISLEADING = """
atan asin acos sinh cosh asinh acosh atanh cross long median selu logsigmoid LogSigmoid adaptive_max_pool2d segment_mean
ConvTranspose1d ConvTranspose3d isinf sinc real logit expit fmax exp2 log2 log10 hstack clamp_max constant_pad
avg_pool1d adaptive_avg_pool1d MaxUnpool2d Dropout1d logical_xor put_along_axis GlobalMaxPool1D Conv3DTranspose isin
custom_gradient
"""


@pytest.mark.parametrize("name", [*USUAL.split(), *MISLEADING.split()])
def test_a_usual_name_is_answered_by_what_it_is(name: str) -> None:
    """Not by another function that happens to be spelt nearly so."""
    assert re.match(rf"nn\.{name} is not in the vocabulary(: it is |, and nothing in it does that)", not_there(name))


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("mean", "; nn.mean is a function"),
        ("relu_", "; nn.relu is a function"),
        ("T", "; T is nn.permute_dims(x, axes)"),
        ("masked_fill_", "; masked_fill_ is nn.where(mask, value, x)"),
        ("item", "; a compiled program has no values while it is made"),
        ("strides", ""),
    ],
)
def test_an_attribute_of_arrays_elsewhere_is_answered(name: str, told: str) -> None:
    """By the function that it is here."""
    with pytest.raises(LayoutError) as refused:
        getattr(Shape((2, 3)), name)
    assert str(refused.value).endswith(f"slices and + - * / **{told}")


@pytest.mark.parametrize(
    ("forward", "told"),
    [
        (
            "return self.head(x) if self.training else x",
            "training is not in the vocabulary: it is nn.in_training(self)",
        ),
        (
            "self.register_buffer('m', x); return x",
            "register_buffer is not in the vocabulary: it is self.name = nn.const",
        ),
        ("return self.haed(x)", "no attribute 'haed'"),
    ],
)
def test_what_modules_have_elsewhere_is_answered(forward: str, told: str, tmp_path: Path) -> None:
    """With the line; an attribute that is misspelt is Python's to tell."""
    path = write(tmp_path, VECTOR, "self.head = nn.Linear(6, 5)", forward)
    with pytest.raises(ModelFileError, match=rf"mine\.py:18: in forward: .*{re.escape(told)}"):
        checked(path)


def _softplus(x: Any) -> Any:
    return np.logaddexp(x, 0.0)


def _top_k(x: Any, k: int) -> Any:
    return np.sort(x)[..., ::-1][..., :k], np.argsort(x)[..., ::-1][..., :k]


def _segment_sum(x: Any, segments: Any, count: int) -> Any:
    return np.stack([x[segments == place].sum(0) for place in range(count)])


NN = SimpleNamespace(
    **{name: getattr(np, name) for name in ("exp", "log", "sqrt", "abs", "sin", "cos", "tanh", "maximum", "minimum")},
    **{
        name: getattr(np, name)
        for name in ("less", "less_equal", "equal", "logical_not", "where", "clip", "sum", "max")
    },
    **{name: getattr(np, name) for name in ("reshape", "mean", "roll", "einsum", "matmul", "cumsum", "argmax")},
    relu=lambda x: np.maximum(x, 0.0),
    sigmoid=lambda x: 1.0 / (1.0 + np.exp(-x)),
    softplus=_softplus,
    elu=lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0.0))),
    to_float=lambda x: np.asarray(x, np.float64),
    floor_divide=lambda x, number: x // number,
    segment_sum=_segment_sum,
    permute_dims=np.transpose,
    tokens=lambda x: x.reshape(len(x), -1, x.shape[-1]),
    from_tokens=lambda x, size: x.reshape(len(x), *size, x.shape[-1]),
)
"""What the vocabulary's functions compute, in NumPy's, for the names that advice uses."""

X = np.array([[-1.7, -0.4, 0.3, 2.1], [0.9, -2.2, 0.6, 7.5]])
POSITIVE = np.abs(X) + 0.1
INSIDE = np.tanh(X) * 0.9
OTHER = X[::-1] * 0.7 + 0.1

COMPUTED: dict[str, tuple[Any, Callable[[Any], Any]]] = {
    "relu6": (X, lambda x: np.minimum(np.maximum(x, 0), 6)),
    "hardtanh": (X, lambda x: np.clip(x, -1, 1)),
    "mish": (X, lambda x: x * np.tanh(np.log(1 + np.exp(x)))),
    "expit": (X, lambda x: 1 / (1 + np.exp(-x))),
    "logit": (np.abs(INSIDE), lambda x: np.log(x) - np.log1p(-x)),
    "selu": (X, lambda x: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(x))),
    "log_sigmoid": (X, lambda x: np.log(1 / (1 + np.exp(-x)))),
    "softsign": (X, lambda x: x / (1 + np.abs(x))),
    "tanhshrink": (X, lambda x: x - np.tanh(x)),
    "softshrink": (X, lambda x: np.where(x > 0.5, x - 0.5, np.where(x < -0.5, x + 0.5, 0))),
    "hardshrink": (X, lambda x: np.where((x > 0.5) | (x < -0.5), x, 0)),
    "relu_squared": (X, lambda x: np.where(x > 0, x * x, 0)),
    "square": (X, np.square),
    "log1p": (POSITIVE, np.log1p),
    "log2": (POSITIVE, np.log2),
    "log10": (POSITIVE, np.log10),
    "exp2": (X, np.exp2),
    "expm1": (X, np.expm1),
    "tan": (X, np.tan),
    "sinh": (X, np.sinh),
    "cosh": (X, np.cosh),
    "asinh": (X, np.arcsinh),
    "acosh": (POSITIVE + 1, np.arccosh),
    "atanh": (INSIDE, np.arctanh),
    "sign": (X, np.sign),
    "reciprocal": (X, np.reciprocal),
    "neg": (X, np.negative),
    "hypot": (X, lambda x: np.hypot(x, OTHER)),
    "logaddexp": (X, lambda x: np.logaddexp(x, OTHER)),
    "gt": (X, lambda x: x > OTHER),
    "ge": (X, lambda x: x >= OTHER),
    "ne": (X, lambda x: x != OTHER),
    "any": (X > 2, lambda x: x.any(-1)),
    "all": (X > -2, lambda x: x.all(-1)),
    "amin": (X, lambda x: x.min(-1)),
    "norm": (X, lambda x: np.linalg.norm(x, axis=-1)),
    "prod": (POSITIVE, lambda x: x.prod(-1)),
    "cumprod": (POSITIVE, lambda x: x.cumprod(-1)),
    "cosine_similarity": (
        X,
        lambda x: (x * OTHER).sum(-1) / np.linalg.norm(x, axis=-1) / np.linalg.norm(OTHER, axis=-1),
    ),
    "remainder": (np.arange(9), lambda x: x % 4),
    "cross": (X[:, :3], lambda x: np.cross(x, OTHER[:, :3])),
    "outer": (X[0], lambda x: np.outer(x, OTHER[0])),
    "inner": (X, lambda x: np.inner(x, OTHER)),
    "mv": (X, lambda x: x @ OTHER[0]),
    "segment_mean": (X, lambda x: np.stack([x[1], x[0] * 0, x[0]])),
}


@pytest.mark.parametrize("name", COMPUTED)
def test_an_expression_that_is_advised_computes_what_was_asked(name: str) -> None:
    """In numbers, and on arrays of a model it is taken as it stands."""
    x, expected = COMPUTED[name]
    expression = SAID_BY[name].split(", of")[0].split(", where")[0]
    second = OTHER[..., :3] if name == "cross" else OTHER[0] if name in {"outer", "mv"} else OTHER
    numbers = {"x": x, "a": x, "b": second, "axis": -1, "number": 4, "math": math, "count": 3}
    numbers["segments"] = np.array([2, 0])
    found = _evaluated(expression, nn=NN, **numbers)
    np.testing.assert_allclose(found, expected(x), rtol=1e-12, atol=1e-12)
    of_shapes = {key: _shape(value) if isinstance(value, np.ndarray) else value for key, value in numbers.items()}
    shape = _evaluated(expression, nn=vocabulary(Counter(), trains=True), **of_shapes)
    assert (shape.dims, shape.boolean) == (found.shape, found.dtype == np.bool_)


def _evaluated(expression: str, **names: Any) -> Any:
    """Return the value of an expression that is advised."""
    return eval(expression, names)  # noqa: S307 - a text of bakeoff's own


def _shape(array: Any) -> Shape:
    """Return an array of the model like one of NumPy's."""
    return Shape(array.shape, integer=array.dtype.kind == "i", boolean=array.dtype.kind == "b")


def _shuffled(x: Any, r: int) -> Any:
    """Return PyTorch's pixel_shuffle, channels last: channel c r^2 + r i + j goes to (i, j) of each r x r points."""
    n, height, width, channels = x.shape
    found = np.empty((n, height * r, width * r, channels // r**2))
    for i in range(r):
        for j in range(r):
            found[:, i::r, j::r] = x[..., i * r + j :: r**2]
    return found


def _advised(name: str, x: Any, numbers: dict[str, int]) -> Any:
    """Return what an advice computes that has its first part in a sentence of its own."""
    expression, y = re.split(r", where y is |, for a map", SAID_BY[name])[:2]
    return _evaluated(expression, nn=NN, y=_evaluated(y, nn=NN, x=x, **numbers), **numbers)


def test_pixels_are_shuffled_as_advised() -> None:
    """As PyTorch shuffles them, and back; TensorFlow's depth_to_space has the channels in another order."""
    x = np.arange(2 * 3 * 4 * 20.0).reshape(2, 3, 4, 20)
    numbers = {"n": 2, "h": 3, "w": 4, "c": 5, "r": 2}
    shuffled = _advised("pixel_shuffle", x, numbers)
    np.testing.assert_array_equal(shuffled, _shuffled(x, 2))
    np.testing.assert_array_equal(_advised("pixel_unshuffle", shuffled, numbers), x)
    blocks = _advised("depth_to_space", x, numbers)
    np.testing.assert_array_equal(blocks[1, 4:6, 2:4].reshape(-1), x[1, 2, 1])


def test_a_model_that_shuffles_pixels_as_advised_passes(tmp_path: Path) -> None:
    """By the advice's own words, in a file of a user's."""
    expression, y = re.split(r", where y is |, for a map", SAID_BY["pixel_shuffle"])[:2]
    forward = f"n, h, w, c, r = x.shape[0], 16, 16, 3, 2; x = self.conv(x); y = {y}; x = {expression}"
    forward += "; assert nn.map_size(x) == (32, 32); return self.head(nn.global_avg_pool2d(x))"
    layers = "self.conv = nn.Conv2d(3, 12, 3, padding=1); self.head = nn.Linear(3, 5)"
    checked(write(tmp_path, MAP, layers, forward))


COMPOSED = {
    "Dropout2d": ("self.drop = nn.Dropout(0.5)", "x = {}"),
    "adaptive_max_pool": ("self.rest = None", "height, width, rows, columns = 16, 16, 4, 2; x = {}"),
    "ZeroPad2d": ("self.rest = None", "top, bottom, left, right = 1, 2, 3, 4; x = {}"),
    "softmax2d": ("self.rest = None", "x = {}"),
}


@pytest.mark.parametrize("name", COMPOSED)
def test_what_is_advised_for_maps_passes(name: str, tmp_path: Path) -> None:
    """As it stands, in a file of a user's."""
    layers, forward = COMPOSED[name]
    forward = forward.format(re.split(r", with | where ", SAID_BY[name])[0])
    layers, forward = f"{layers}; self.head = nn.Linear(3, 5)", f"{forward}; return self.head(nn.global_avg_pool2d(x))"
    checked(write(tmp_path, MAP, layers, forward))


TAKEN: dict[str, tuple[str, dict[str, str], tuple[int, ...]]] = {
    "AvgPool1d": ("nn.mean(nn.reshape(x, (batch, windows, length // windows, features)), 2)", {}, (4, 3, 5)),
    "AdaptiveMaxPool1d": ("nn.max_pool1d(x, length // windows)", {}, (4, 3, 5)),
    "Dropout1d": ("x * nn.reshape(self.drop(nn.mean(x, 1) * 0.0 + 1.0), (batch, 1, features))", {}, (4, 6, 5)),
    "ZeroPad1d": ("nn.pad(x, ((0, 0), (before, after), (0, 0)))", {}, (4, 9, 5)),
    "cdist": (
        "nn.sqrt(nn.sum(d * d, -1))",
        {"d": "nn.reshape(a, (batch, n, 1, f)) - nn.reshape(b, (batch, 1, m, f))"},
        (4, 6, 6),
    ),
    "sequence_mask": ("nn.less(nn.reshape(nn.arange(n), (1, n)), nn.reshape(lengths, (batch, 1)))", {}, (4, 6)),
    "bincount": ("nn.sum(nn.one_hot(x, n), 0)", {"x": "lengths"}, (6,)),
    "masked_fill": ("nn.where(mask, value, x)", {}, (4, 6, 5)),
    "normalize": (
        "x / nn.maximum(n, 1e-12)",
        {"n": "nn.reshape(nn.sqrt(nn.sum(x * x, axis)), shape)"},
        (4, 6, 5),
    ),
    "var": ("nn.mean((x - m) * (x - m), axis)", {"m": "nn.reshape(nn.mean(x, axis), shape)"}, (4, 6)),
    "logsumexp": (
        "nn.max(x, axis) + nn.log(nn.sum(nn.exp(x - most), axis))",
        {"most": "nn.reshape(nn.max(x, axis), shape)"},
        (4, 6),
    ),
    "Bilinear": ("nn.einsum('bi,oij,bj->bo', a, self.weight, b)", {"a": "a[:, 0]", "b": "b[:, 0]"}, (4, 3)),
    "HuberLoss": (
        "nn.mean(nn.where(nn.less(d, 1.0), 0.5 * d * d, d - 0.5))",
        {"d": "nn.abs(outputs - targets)"},
        (),
    ),
    "GaussianNLLLoss": ("nn.mean(nn.log(v) + d * d / v) / 2", {"d": "outputs - targets"}, ()),
    "KLDivLoss": ("p * (nn.log(p) - nn.log(q))", {}, (4, 6, 5)),
    "TripletMarginLoss": (
        "nn.mean(nn.relu(near - far + margin))",
        {"near": "nn.sqrt(nn.sum(d * d, -1))", "far": "nn.sqrt(nn.sum(d * d, -1))"},
        (),
    ),
    "categorical_crossentropy": ("nn.cross_entropy(logits, targets)", {}, ()),
    "dice_loss": (
        "1.0 - 2.0 * nn.sum(p * targets) / (nn.sum(p) + nn.sum(targets))",
        {"p": "nn.sigmoid(logits)"},
        (),
    ),
}


@pytest.mark.parametrize("name", TAKEN)
def test_what_is_advised_for_sequences_and_losses_is_taken(name: str) -> None:
    """The expression stands in the advice, with what its names are, and gives the shape that is wanted."""
    expression, meanings, dims = TAKEN[name]
    alike = ("x", "a", "b", "d", "p", "q", "v", "outputs", "targets", "logits")
    values: dict[str, Any] = dict.fromkeys(alike, Shape((4, 6, 5)))
    values |= {"nn": vocabulary(Counter(), trains=True), "mask": Shape((6, 1), boolean=True), "value": 0.0}
    values |= {"batch": 4, "length": 6, "windows": 3, "features": 5, "n": 6, "m": 6, "f": 5, "axis": -1}
    values |= {"shape": (4, 6, 1), "before": 1, "after": 2, "margin": 1.0, "lengths": Shape((4,), integer=True)}
    values["self"] = SimpleNamespace(drop=lambda x: x, weight=Shape((3, 5, 5)))
    assert expression in SAID_BY[name]
    for key, meaning in meanings.items():
        assert name in {"bincount", "Bilinear"} or meaning in SAID_BY[name]
        values[key] = _evaluated(meaning, **values)
    assert _evaluated(expression, **values).dims == dims


def test_a_transposed_convolution_of_a_sequence_goes_by_a_map_of_one_row(tmp_path: Path) -> None:
    """As is advised for ConvTranspose1d: to a sequence of (n - 1) * stride + kernel places."""
    assert "nn.from_tokens(x, (1, length))" in SAID_BY["ConvTranspose1d"]
    layers = "self.up = nn.ConvTranspose2d(6, 5, (1, 4), (1, 2))"
    forward = "y = nn.tokens(self.up(nn.from_tokens(x, (1, 7)))); assert y.shape == (4, 16, 5); return nn.mean(y, 1)"
    checked(write(tmp_path, "input_shape=(7, 6), classes=5", layers, forward))
