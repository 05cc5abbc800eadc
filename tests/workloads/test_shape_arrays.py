"""The functions of arrays over shapes: what each gives, and which mistake is told in which words."""

from __future__ import annotations

import ast
from inspect import signature
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from bakeoff.spec.batch import ArraySpec
from bakeoff.spec.vocabulary import FUNCTIONS
from bakeoff.workloads import plan
from bakeoff.workloads.interpreter import vocabulary
from bakeoff.workloads.shape_arrays import ArrayFunctions
from bakeoff.workloads.shape_functions import Counter
from bakeoff.workloads.shapes import LayoutError, Shape, of_batch

if TYPE_CHECKING:
    from collections.abc import Callable

nn = vocabulary(Counter(), trains=True)
x = Shape((4, 6), trained=True)
"""Real numbers that depend on a parameter."""
plain = Shape((4, 6))
cube = Shape((4, 6, 3))
ids = Shape((4, 6), integer=True)
row = Shape((6,), integer=True)
wide = Shape((4, 6), integer=True)
wide.high = 9
mask = Shape((4, 6), boolean=True)
image = Shape((4, 8, 8, 3), kind="map")
flat = Shape((4, 192), kind="flat", unfolded=(8, 8, 3))

GIVEN: dict[str, tuple[Callable[[], Shape], tuple[int, ...], str, bool]] = {
    "exp": (lambda: nn.exp(x), (4, 6), "real numbers", True),
    "less": (lambda: nn.less(x, 0.0), (4, 6), "booleans", False),
    "less of a number first": (lambda: nn.less(0, row), (6,), "booleans", False),
    "equal of integers": (lambda: nn.equal(ids, row), (4, 6), "booleans", False),
    "masks together": (lambda: nn.logical_or(mask, nn.logical_not(mask)), (4, 6), "booleans", False),
    "where": (lambda: nn.where(mask, plain, x), (4, 6), "real numbers", True),
    "where of a number": (lambda: nn.where(mask, 0, ids), (4, 6), "integers", False),
    "where that broadcasts": (lambda: nn.where(mask, Shape((6,)), 1.0), (4, 6), "real numbers", False),
    "to_float": (lambda: nn.to_float(mask) * x, (4, 6), "real numbers", True),
    "numbers first": (lambda: 2.0 - (3 + 0.5 * x) * (1.0 / x), (4, 6), "real numbers", True),
    "a number of NumPy's second": (lambda: (x - np.float64(1.5)) / np.sqrt(4.0), (4, 6), "real numbers", True),
    "arithmetic of integers": (lambda: -(ids * 2 + row - 1), (4, 6), "integers", False),
    "maximum": (lambda: nn.maximum(0.5, x), (4, 6), "real numbers", True),
    "arange": (lambda: nn.arange(7), (7,), "integers", False),
    "one_hot": (lambda: nn.one_hot(ids, 9), (4, 6, 9), "real numbers", False),
    "take": (lambda: nn.take(x, row, 1), (4, 6), "real numbers", True),
    "take of rows": (lambda: nn.take(Shape((9, 2)), ids), (4, 6, 2), "real numbers", False),
    "take within": (lambda: nn.take(cube, nn.arange(2), axis=-2), (4, 2, 3), "real numbers", False),
    "take_along_axis": (lambda: nn.take_along_axis(x, ids[:, :2], -1), (4, 2), "real numbers", True),
    "segment_sum": (lambda: nn.segment_sum(cube, ids[:, 0], 9), (9, 6, 3), "real numbers", False),
    "segment_max": (lambda: nn.segment_max(x, ids[:, 0], 9), (9, 6), "real numbers", True),
    "argmax": (lambda: nn.argmax(x, -2), (6,), "integers", False),
    "values of top_k": (lambda: nn.top_k(x, 2)[0], (4, 2), "real numbers", True),
    "places of top_k": (lambda: nn.top_k(cube, 3)[1], (4, 6, 3), "integers", False),
    "einsum": (lambda: nn.einsum("ab,abc->ca", x, cube), (3, 4), "real numbers", True),
    "einsum of three": (lambda: nn.einsum("ab,abc,bd->dc", plain, cube, Shape((6, 2))), (2, 3), "real numbers", False),
    "einsum to a number": (lambda: nn.einsum("ab,ab->", x, x), (), "real numbers", True),
    "stack": (lambda: nn.stack([plain, x], -1), (4, 6, 2), "real numbers", True),
    "stack of integers": (lambda: nn.stack((ids, ids), 0), (2, 4, 6), "integers", False),
    "split": (lambda: nn.split(cube, (1, 5), 1)[1], (4, 5, 3), "real numbers", False),
    "max": (lambda: nn.max(cube, (0, -1)), (6,), "real numbers", False),
    "cumsum": (lambda: nn.cumsum(ids, 1), (4, 6), "integers", False),
    "flip and roll": (lambda: nn.flip(nn.roll(x, -9, 0), 1), (4, 6), "real numbers", True),
    "pad": (lambda: nn.pad(x, ((0, 1), (2, 3)), -1.0), (5, 11), "real numbers", True),
    "joined integers": (lambda: nn.concat([ids, nn.reshape(nn.sum(ids, 1), (4, 1))], 1), (4, 7), "integers", False),
    "a bag": (lambda: nn.EmbeddingBag(9, 5, "mean")(ids), (4, 5), "real numbers", True),
    "noise": (lambda: nn.RandomNormal()(x), (4, 6), "real numbers", False),
    "a constant of booleans": (lambda: nn.constant(np.ones((2, 3)) > 0), (2, 3), "booleans", False),
    "a constant of integers": (lambda: nn.constant(np.arange(3)) + 1, (3,), "integers", False),
}


@pytest.mark.parametrize("name", GIVEN)
def test_shape_and_kind_of_values(name: str) -> None:
    """Each function gives its shape, its kind of values, and whether it depends on a parameter."""
    call, shape, values, trained = GIVEN[name]
    found = call()
    assert (found.shape, found.values, found.trained) == (shape, values, trained)


def test_maps_stay_maps() -> None:
    """Functions of every element keep the layout of a map, and of a flattened one."""
    for given in (image, flat):
        chosen = nn.where(nn.less(given, 0.5), nn.clip(given, 0.0, 6.0), nn.maximum(given, -1.0))
        assert (chosen.kind, chosen.unfolded, chosen.shape) == (given.kind, given.unfolded, given.shape)


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "a mask times a number": (lambda: mask * x, "of booleans is combined with an array (4, 6) of real numbers"),
    "a mask times a Python number": (lambda: 2.0 * mask, "nn.to_float(x) makes them 0.0 and 1.0"),
    "integers times real numbers": (lambda: ids * x, "of integers is combined with"),
    "integers times half": (lambda: ids * 0.5, "nn.to_float(x) makes them real numbers"),
    "integers over integers": (lambda: ids / 2, "is divided"),
    "a comparison by an operator": (lambda: x < 1.0, "nn.less(a, b), nn.less_equal(a, b) and nn.equal(a, b)"),
    "an unequal comparison": (lambda: x != 1.0, "nn.equal(a, b)"),
    "a comparison of two kinds": (lambda: nn.less(ids, x), "nn.less of an array (4, 6) of integers"),
    "an order of booleans": (lambda: nn.less(mask, mask), "nn.less of booleans, an array (4, 6) and an array (4, 6)"),
    "a comparison of numbers": (lambda: nn.equal(1, 2), "nn.equal takes arrays; these are 1 and 2"),
    "a condition of numbers": (lambda: nn.where(x, x, x), "nn.where takes booleans, as nn.less(a, b)"),
    "a choice of two kinds": (lambda: nn.where(mask, ids, x), "nn.to_float(x) makes integers and booleans"),
    "a choice of two numbers": (lambda: nn.where(mask, 1.0, 0.0), "nn.to_float(condition)"),
    "a mask of integers": (lambda: nn.logical_and(mask, ids), "nn.logical_and takes booleans"),
    "exp of integers": (lambda: nn.exp(ids), "nn.exp takes real numbers; this is an array (4, 6) of integers"),
    "relu of a mask": (lambda: nn.relu(mask), "nn.relu takes real numbers"),
    "mean of integers": (lambda: nn.mean(ids), "nn.mean takes real numbers"),
    "sum of a mask": (lambda: nn.sum(mask, 1), "nn.sum takes real numbers"),
    "real numbers as indices": (lambda: nn.take(x, x), "nn.take takes integers, as an input of dtype int32"),
    "one_hot of real numbers": (lambda: nn.one_hot(x, 3), "nn.one_hot takes integers"),
    "no classes": (lambda: nn.one_hot(ids, 0), "n=0: it must be a whole number, at least 1"),
    "an index beyond": (lambda: x[:, 6], "index 6 is beyond an axis of 6 of an array (4, 6)"),
    "an index before": (lambda: x[-5], "index -5 is beyond an axis of 4 of an array (4, 6)"),
    "a slice that begins before": (lambda: x[:, -7:], "is beyond an axis of 6 of an array (4, 6)"),
    "an axis beyond": (lambda: nn.take(x, row, 2), "nn.take: axis 2 of an array (4, 6): it has axes from 0 to 1"),
    "indices of another length": (lambda: nn.take_along_axis(cube, ids, 2), "in the length of axis 2 alone"),
    "segments of another length": (lambda: nn.segment_sum(x, row, 3), "one segment for each row"),
    "largest of segments of integers": (lambda: nn.segment_max(ids, row[:4], 3), "nn.segment_max takes real numbers"),
    "largest segments beyond all": (
        lambda: nn.segment_max(x, nn.arange(4), 3),
        "nn.segment_max into 3 rows takes integers from 0 to 2",
    ),
    "the largest of a map": (lambda: nn.argmax(image, 1), "is given to nn.argmax"),
    "the largest along no axis": (lambda: nn.argmax(x, 2), "nn.argmax: axis 2 of an array (4, 6): it has axes from 0"),
    "the largest along all axes": (lambda: nn.argmax(x, None), "nn.argmax: axis None of an array (4, 6)"),
    "the largest of integers": (lambda: nn.argmax(ids, 1), "nn.argmax takes real numbers"),
    "the largest few of a map": (lambda: nn.top_k(image, 2), "is given to nn.top_k"),
    "more than there are": (lambda: nn.top_k(x, 7), "k=7 is more than the 6 numbers of its last axis"),
    "the largest none": (lambda: nn.top_k(x, 0), "k=0: it must be a whole number, at least 1"),
    "the largest few of a number": (lambda: nn.top_k(nn.sum(x), 1), "nn.top_k: axis -1 of an array ()"),
    "places beyond a table": (
        lambda: nn.take(Shape((5, 2)), nn.argmax(x, 1)),
        "takes integers from 0 to 4; an array (4,) has them up to 5",
    ),
    "a formula without an arrow": (lambda: nn.einsum("ab,bc", x, x), "nn.einsum('ab,bc'): a formula has a letter for"),
    "a formula with dots": (lambda: nn.einsum("...b,b->...", x, row), "without spaces or dots: 'bhqd,bhkd->bhqk'"),
    "a formula with spaces": (lambda: nn.einsum("ab, bc -> ac", x, x), "without spaces or dots"),
    "a formula of one array": (lambda: nn.einsum("ab->ba", x), "of two arrays or more"),
    "a formula that is no text": (lambda: nn.einsum(x, x), "nn.einsum(an array (4, 6)): a formula has a letter"),
    "a letter twice": (lambda: nn.einsum("aa,ab->b", x, x), "a letter stands twice in 'aa'"),
    "a letter twice in the result": (lambda: nn.einsum("ab,ab->aa", x, x), "a letter stands twice in 'aa'"),
    "a letter of no array": (lambda: nn.einsum("ab,ab->ac", x, x), "the result has an axis 'c', which no array has"),
    "an array too few": (lambda: nn.einsum("ab,bc->ac", x), "is of 2 arrays, and is given 1"),
    "seven arrays": (lambda: nn.einsum("a,a,a,a,a,a,a->a", *[x] * 7), "it takes up to 6"),
    "a letter too few": (
        lambda: nn.einsum("ab,ab->a", x, cube),
        "'ab' has 2 letters, and stands for an array (4, 6, 3)",
    ),
    "lengths that disagree": (
        lambda: nn.einsum("ab,ac->bc", x, Shape((5, 6))),
        "axis 'a' has 5 elements in an array (5, 6), and 4 in an array before it",
    ),
    "a formula of a map": (lambda: nn.einsum("bhwc,cd->bhwd", image, x), "is given to nn.einsum"),
    "a formula of integers": (lambda: nn.einsum("ab,ab->a", ids, ids), "nn.einsum takes real numbers"),
    "parts that are not all": (lambda: nn.split(x, (2, 3), 1), "it takes the lengths of all parts"),
    "a number of parts": (lambda: nn.split(x, 2, 1), "it takes the lengths of all parts"),
    "arrays of other shapes": (lambda: nn.stack([x, cube], 0), "they must be of one shape"),
    "nothing": (lambda: nn.stack([], 0), "nn.stack has nothing to join"),
    "arrays of other kinds": (lambda: nn.concat([x, ids], 0), "nn.concat of an array (4, 6) of real numbers"),
    "bounds the wrong way round": (lambda: nn.clip(x, 1.0, 0.0), "the first one the smaller"),
    "a slope of 2": (lambda: nn.leaky_relu(x, 2.0), "a slope above 0 and below 1; this is 2.0"),
    "widths for one axis": (lambda: nn.pad(x, ((1, 1),)), "(before, after) for each axis"),
    "a number of NumPy's first": (lambda: np.sqrt(4.0) * x, "NumPy's number 2.0 stands before an array (4, 6)"),
    "taken from a number of NumPy's": (lambda: np.float32(1.5) - x, "NumPy's number 1.5 stands before"),
    "added to a number of NumPy's": (lambda: np.int64(2) + ids, "NumPy's number 2 stands before"),
    "a number of NumPy's over it": (lambda: np.float64(1.5) / x, "NumPy's number 1.5 stands before"),
    "padding by infinity": (lambda: nn.pad(x, ((1, 1), (0, 0)), float("inf")), "a finite number; this is inf"),
    "half a place": (lambda: nn.roll(x, 0.5, 0), "a whole number of places; this is 0.5"),
    "indices into a map": (lambda: nn.take(image, row), "is given to nn.take"),
    "a map turned round": (lambda: nn.flip(image, 1), "is given to nn.flip"),
    "noise for a map": (lambda: nn.RandomNormal()(image), "it is nn.from_tokens(noise(nn.tokens(x)), nn.map_size(x))"),
    "a bag of one": (lambda: nn.EmbeddingBag(9, 5, "sum")(row), "takes integers (batch, n)"),
    "half a length": (lambda: nn.reshape(x, (4, 12 / 2)), "nn.reshape to (4, 6.0): lengths are whole numbers"),
    "a length that is an array": (lambda: nn.broadcast_to(x, (nn.sum(ids), 6)), "lengths are whole numbers, as a // b"),
    "a length that is left open": (
        lambda: nn.broadcast_to(nn.arange(1), (-1,)),
        "nn.broadcast_to of an array (1,) to (-1,)",
    ),
    "a joint along no axis": (lambda: nn.concat([x, x], 2), "nn.concat: axis 2 of an array (4, 6): it has axes from 0"),
    "an order of other axes": (
        lambda: nn.permute_dims(cube, (0, 1, 3)),
        "nn.permute_dims: axis 3 of an array (4, 6, 3)",
    ),
    "a mean over no axes": (lambda: nn.mean(x, ()), "each is named once, and None stands for all"),
    "a sum over an axis twice": (
        lambda: nn.sum(x, (1, -1)),
        "nn.sum over axes (1, -1) of an array (4, 6): each is named",
    ),
    "axes in a list": (lambda: nn.mean(x, [0, 1]), "nn.mean: axis [0, 1] of an array (4, 6)"),
    "half an axis": (lambda: nn.max(x, 0.5), "nn.max: axis 0.5 of an array (4, 6)"),
    "segments beyond all": (lambda: nn.segment_sum(x, nn.arange(4), 3), "into 3 rows takes integers from 0 to 2"),
    "elements beyond all": (
        lambda: nn.take_along_axis(x, wide, 1),
        "takes integers from 0 to 5; an array (4, 6) has them up",
    ),
    "labels beyond the logits": (
        lambda: nn.ctc(cube, wide, row[:4], row[:4]),
        "nn.ctc of logits (4, 6, 3) takes integers from 0 to 2",
    ),
    "positions below 0": (
        lambda: nn.Embedding(6, 5)(nn.arange(6) - 1),
        "nn.Embedding(6, 5) takes integers from 0 to 5; an array (6,) has them from -1 on, by its low",
    ),
    "classes below 0": (lambda: nn.one_hot(2 - nn.arange(4), 3), "nn.one_hot(x, 3) takes integers from 0 to 2"),
    "a division of what is below 0": (
        lambda: nn.floor_divide(nn.arange(6) - 3, 2),
        "nn.floor_divide takes integers from 0 on; an array (6,) has them from -3 on",
    ),
    "a length without a tuple": (lambda: nn.reshape(x, 24), "nn.reshape takes its lengths in a tuple; this is 24"),
    "an axis without a tuple": (
        lambda: nn.permute_dims(row, 0),
        "nn.permute_dims takes its axes in a tuple; this is 0",
    ),
    "positions that are moved": (
        lambda: nn.Embedding(6, 5)(nn.arange(6) + 1),
        "nn.Embedding(6, 5) takes integers from 0",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_one_meaning_is_refused(name: str) -> None:
    """What frameworks understand differently, or not at all, is refused in words that say what to do."""
    call, told = REFUSED[name]
    with pytest.raises((LayoutError, ValueError)) as refused:
        call()
    assert told in str(refused.value)


RANGES: dict[str, tuple[Callable[[], Shape], tuple[int, int | None]]] = {
    "moved up": (lambda: 3 + nn.arange(6), (3, 9)),
    "moved down": (lambda: nn.arange(6) - 1, (-1, 5)),
    "moved down and up": (lambda: nn.arange(6) - 1 + 1, (0, 6)),
    "times": (lambda: 2 * nn.arange(6), (0, 11)),
    "times below zero": (lambda: (nn.arange(6) + 1) * -2, (-12, -1)),
    "divided": (lambda: nn.floor_divide(nn.arange(6) + 3, 2), (1, 5)),
    "turned over": (lambda: 5 - nn.arange(6), (0, 6)),
    "below zero": (lambda: -nn.arange(6), (-5, 1)),
    "with others": (lambda: nn.arange(6) + row, (0, None)),
    "an input": (lambda: of_batch(ArraySpec(shape=(3,), dtype="int32", low=2, high=9), 4), (2, 9)),
    "an input with padding": (
        lambda: of_batch(ArraySpec(shape=(3,), dtype="int32", low=2, high=9, length="count"), 4),
        (0, 9),
    ),
}


@pytest.mark.parametrize("name", RANGES)
def test_the_range_of_integers_goes_with_them(name: str) -> None:
    """What a table needs to hold is known behind sums with numbers, too, and not made up where it is not."""
    call, ends = RANGES[name]
    found = call()
    assert ((found.low, found.high), found.values) == (ends, "integers")


def test_a_constant_is_made_once() -> None:
    """In forward and in loss a constant would be made at every step: it is refused, and arange is named."""
    counter = Counter()
    late = vocabulary(counter, trains=True)
    late.constant(np.zeros(3))
    counter.is_built = True
    with pytest.raises(LayoutError, match=r"self\.table = nn\.constant\(array\) in __init__.*nn\.arange\(n\)"):
        late.constant(np.zeros(3))


@pytest.mark.parametrize(
    ("array", "told"),
    [
        ([1, 2], "takes a NumPy array"),
        (np.array(["a"]), "an array of <U1"),
        (np.array([2**40]), "int32 cannot hold them"),
    ],
)
def test_a_constant_of_anything_else(array: Any, told: str) -> None:
    """Lists, text, and integers that are too large are refused."""
    with pytest.raises((TypeError, ValueError), match=told):
        nn.constant(array)


def test_an_unknown_mode_of_a_bag() -> None:
    """The modes are named."""
    with pytest.raises(ValueError, match="mode='max': it must be one of sum, mean"):
        nn.EmbeddingBag(9, 5, "max")


@pytest.mark.parametrize("name", ["items", "train", "name", "parameters"])
def test_an_attribute_that_a_framework_has_already(name: str) -> None:
    """A layer under the name of a method of some framework's modules is refused before any framework starts."""
    module = plan.Module()
    with pytest.raises(TypeError, match=f"self.{name}: some framework's modules have something of that name"):
        setattr(module, name, nn.Linear(2, 2))


def test_signatures_are_those_of_the_vocabulary() -> None:
    """Each function takes over shapes what its line in the vocabulary says, in order and by the same names."""
    said = {
        name: text.partition(": ")[0].rstrip(".") for name, text in FUNCTIONS.items() if hasattr(ArrayFunctions, name)
    }
    assert len(said) > 30
    for name, text in said.items():
        definition = ast.parse(f"def {text}: pass").body[0]
        assert isinstance(definition, ast.FunctionDef)
        takes = [one for one in signature(getattr(nn, name)).parameters if one != "function"]
        assert takes == [argument.arg for argument in definition.args.args], name


MOVES: dict[str, Callable[[Shape], Shape]] = {
    "reshape": lambda x: nn.reshape(x, (12,)),
    "broadcast_to": lambda x: nn.broadcast_to(nn.reshape(x, (1, 4, 3)), (2, 4, 3)),
    "permute_dims": lambda x: nn.permute_dims(x, (1, 0)),
    "concat": lambda x: nn.concat([x, x], 0),
    "stack": lambda x: nn.stack([x, x], 0),
    "split": lambda x: nn.split(x, (1, 2), 1)[1],
    "flip": lambda x: nn.flip(x, 1),
    "roll": lambda x: nn.roll(x, 1, 1),
    "take": lambda x: nn.take(x, _integers((5,), 0, 4)),
    "take_along_axis": lambda x: nn.take_along_axis(x, _integers((4, 2), 0, 3), 1),
    "index": lambda x: x[:, 1],
}


def _integers(shape: tuple[int, ...], low: int, high: int) -> Shape:
    """Return an array of a batch, of integers in a range."""
    return of_batch(ArraySpec(shape=shape[1:], dtype="int32", low=low, high=high), shape[0])


@pytest.mark.parametrize("name", MOVES)
def test_integers_keep_their_range_wherever_they_are_moved(name: str) -> None:
    """So that one beyond what it indexes is told behind a reshape, too."""
    found = MOVES[name](_integers((4, 3), 2, 60))
    assert (found.low, found.high) == (2, 60)
    with pytest.raises(LayoutError, match="takes integers from 0 to 49"):
        nn.one_hot(found, 50)
    nn.one_hot(found, 60)


def test_integers_that_a_condition_chooses_have_no_known_range() -> None:
    """It may leave out those that are beyond what they index, which is how integers are clamped."""
    x = _integers((4, 3), 0, 60)
    for chosen in (nn.where(nn.less(x, 50), x, 1), nn.where(nn.equal(x, 0), 0, x - 1)):
        assert chosen.high is None
        assert nn.one_hot(chosen, 50).dims == (4, 3, 50)


def test_a_part_of_counted_places_has_no_known_range() -> None:
    """Of nn.arange(10) the first five are below 5, whatever shape they were given before."""
    places = nn.reshape(nn.arange(10), (1, 10))
    assert nn.one_hot(places[:, :5], 5).dims == (1, 5, 5)
    assert nn.one_hot(nn.reshape(nn.arange(10) + 1, (10, 1))[:4], 5).dims == (4, 1, 5)


def test_ranges_of_several_arrays_are_those_of_all() -> None:
    """Where one of them has none, the result has none."""
    low, high = _integers((4, 3), -2, 5), _integers((4, 3), 1, 9)
    joined = nn.concat([low, high], 1)
    assert (joined.low, joined.high) == (-2, 9)
    assert nn.concat([low, Shape((4, 3), integer=True)], 1).high is None


def test_masks_of_counted_places_are_known() -> None:
    """So that one of which a row allows nothing is told, as a constant's is."""
    rows, columns = nn.reshape(nn.arange(4), (4, 1)), nn.reshape(nn.arange(4), (1, 4))
    assert np.array_equal(nn.less(columns, rows).known, np.tri(4, k=-1, dtype=bool))
    assert np.array_equal(nn.less_equal(columns, rows + 1).known, np.tri(4, k=1, dtype=bool))
    assert np.array_equal(nn.less((nn.arange(4) * -1)[1:3] + 5, 4).known, [False, True])
    assert nn.less(columns, _integers((4, 1), 0, 4)).known is None
    assert nn.less(nn.arange(2**12), nn.reshape(nn.arange(2**12), (2**12, 1))).known is None


def test_a_strict_causal_mask_is_told() -> None:
    """Its first place sees nothing, of which each framework makes something else."""
    rows, columns = nn.reshape(nn.arange(6), (6, 1)), nn.reshape(nn.arange(6), (1, 6))
    q = Shape((4, 6, 2, 3), trained=True)
    nn.attention(q, q, q, mask=nn.reshape(nn.less_equal(columns, rows), (1, 1, 6, 6)))
    with pytest.raises(LayoutError, match="nothing"):
        nn.attention(q, q, q, mask=nn.reshape(nn.less(columns, rows), (1, 1, 6, 6)))
