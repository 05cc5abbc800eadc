"""Formulas by which a layer's per-sample gradients follow from its inputs and the loss's slopes at its outputs.

For a layer that was called once on a batch, with inputs x_i and slopes d_i of sample i at places t (positions, pixels):

    Linear     weight: sum_t d_it x_it^T; of one place only, its square is |d_i|^2 |x_i|^2, and it is never made
    Conv2d     weight: the same of unfolded windows of the map
    Embedding  row e: the sum of d_it where the index is e; its square is the sum of d_it . d_is over all places t and s
               of the same index, so that the table is never made for each sample
    bias       sum_t d_it

Goodfellow 2015 (arXiv 1510.01799) has it for Linear, Rochette et al. 2019 (arXiv 1912.06015) for convolutions; that the
clipped sum follows without each sample's gradient is Bu et al. 2023 (arXiv 2210.00038).
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import jittor as jt

from bakeoff.frameworks.jittor import functions, nn
from bakeoff.spec.errors import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class LayerGradients(NamedTuple):
    """What one layer adds."""

    squares: Any
    """(batch,), of each sample's gradient of all parameters of this layer."""
    sums: Callable[[Any], dict[int, Any]]
    """From factors (batch,) to the sums of gradients times factors, by the identity of the parameters."""


class ForwardPass:
    """What the layers were given, and what they gave, in one forward pass."""

    def __init__(self) -> None:
        """Start without any."""
        self._calls: dict[int, tuple[Any, Any, Any]] = {}

    def add(self, layer: Any, given: Any, output: Any) -> None:
        """Note a call; raise UnsupportedError for the second one of a layer, whose gradients add up before the norm."""
        if id(layer) in self._calls:
            msg = (
                f"per_sample=closed-form: a {type(layer).__name__} is called twice in one step. Choose per_sample=loop"
            )
            raise UnsupportedError(msg)
        self._calls[id(layer)] = layer, given, output

    def outputs(self) -> list[Any]:
        """Return what the layers gave."""
        return [output for _, _, output in self._calls.values()]

    def parts(self, slopes: list[Any]) -> list[LayerGradients]:
        """Return what each layer adds, from the slopes of the sum of the samples' losses at its outputs."""
        calls = zip(self._calls.values(), slopes, strict=True)
        return [_FORMULAS[type(layer)](layer, given, slope) for (layer, given, _), slope in calls]


class Layers:
    """The layers of a network with parameters, which tell what they see while that is asked for."""

    def __init__(self, network: Any) -> None:
        """Hook into them."""
        self._seen: ForwardPass | None = None
        for layer in _with_parameters(network).values():
            layer.register_forward_hook(self._note)

    def _note(self, layer: Any, given: Any, output: Any) -> None:
        """Note a call."""
        if self._seen is not None:
            self._seen.add(layer, given[0], output)

    @contextmanager
    def seen(self) -> Iterator[ForwardPass]:
        """Note the calls inside."""
        self._seen = found = ForwardPass()
        try:
            yield found
        finally:
            self._seen = None


def why_not(network: Any) -> str:
    """Return why there are no formulas for a network, with the layer's name; empty where there are."""
    for path, layer in _with_parameters(network).items():
        if type(layer) not in _FORMULAS:
            known = ", ".join(kind.__name__ for kind in _FORMULAS)
            return f"there is no formula for {path or 'the model'} ({type(layer).__name__}), but for {known}"
        if getattr(layer, "groups", 1) != 1:
            return f"there is no formula for {path}, a {type(layer).__name__} of groups"
    return ""


def _with_parameters(network: Any) -> dict[str, Any]:
    """Return the layers that hold arrays themselves, by their paths."""
    found: dict[int, tuple[str, Any]] = {}
    for path, layer in network.named_modules():
        if any(isinstance(value, jt.Var) for value in vars(layer).values()):
            found.setdefault(id(layer), (path, layer))
    return dict(found.values())


def _squares(array: Any) -> Any:
    """Return the sum of squares of each sample's part of (batch, ...), added in float64 as `optimizers.squares` is."""
    return jt.sum(jt.reshape(array * array, (array.shape[0], -1)).float64(), 1).float32()


def _weighted(factors: Any, array: Any) -> Any:
    """Return (batch, ...) with each sample's part times its factor."""
    return array * jt.reshape(factors, (-1, *[1] * (array.ndim - 1)))


def _linear(layer: Any, x: Any, slope: Any) -> LayerGradients:
    """Return what a Linear adds."""
    if x.ndim > 2:  # noqa: PLR2004 - batch and features alone
        x, slope = (jt.reshape(one, (one.shape[0], -1, one.shape[-1])) for one in (x, slope))
        return _of_places(layer, x, slope, tuple(layer.weight.shape))
    squares = _squares(slope) * (_squares(x) if layer.bias is None else _squares(x) + 1.0)

    def sums(factors: Any) -> dict[int, Any]:
        weighted = _weighted(factors, slope)
        found = {id(layer.weight): jt.matmul(jt.transpose(weighted, 1, 0), x)}
        return found if layer.bias is None else found | {id(layer.bias): jt.sum(weighted, 0)}

    return LayerGradients(squares, sums)


def _conv2d(layer: Any, x: Any, slope: Any) -> LayerGradients:
    """Return what a convolution adds: a Linear at each place, of the window there."""
    windows = jt.nn.unfold(x, layer.kernel_size, layer.dilation, layer.padding, layer.stride)
    slope = jt.reshape(slope, (*slope.shape[:2], -1))
    return _of_places(layer, jt.transpose(windows, 0, 2, 1), jt.transpose(slope, 0, 2, 1), tuple(layer.weight.shape))


def _of_places(layer: Any, x: Any, slope: Any, shape: tuple[int, ...]) -> LayerGradients:
    """Return what a product of (batch, places, inputs) adds, with each sample's gradient, (batch, outputs, inputs)."""
    weight = jt.matmul(jt.transpose(slope, 0, 2, 1), x)
    bias = None if layer.bias is None else jt.sum(slope, 1)

    def sums(factors: Any) -> dict[int, Any]:
        found = {id(layer.weight): jt.reshape(jt.sum(_weighted(factors, weight), 0), shape)}
        return found if bias is None else found | {id(layer.bias): jt.sum(_weighted(factors, bias), 0)}

    return LayerGradients(_squares(weight) if bias is None else _squares(weight) + _squares(bias), sums)


def _embedding(layer: Any, ids: Any, slope: Any) -> LayerGradients:
    """Return what an Embedding adds."""
    count, features = layer.weight.shape
    flat = jt.reshape(ids, (ids.shape[0], -1))
    slope = jt.reshape(slope, (ids.shape[0], -1, features))
    places = flat.shape[1]
    same = jt.float32(jt.reshape(flat, (-1, places, 1)) == jt.reshape(flat, (-1, 1, places)))
    products = jt.matmul(slope, jt.transpose(slope, 0, 2, 1))

    def sums(factors: Any) -> dict[int, Any]:
        rows = jt.reshape(_weighted(factors, slope), (-1, features))
        return {id(layer.weight): functions.segment_sum(rows, jt.reshape(flat, (-1,)), count)}

    return LayerGradients(jt.sum(jt.reshape(products * same, (products.shape[0], -1)), 1), sums)


_FORMULAS: dict[type[Any], Callable[[Any, Any, Any], LayerGradients]] = {
    nn.Linear: _linear,
    nn.Conv2d: _conv2d,
    nn.Embedding: _embedding,
}
"""By class."""
