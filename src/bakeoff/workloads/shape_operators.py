"""What Python's operators do with arrays elsewhere, and a compiled program, or some framework, cannot.

Each is refused with how the vocabulary says it, whatever stands on the other side.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from bakeoff.workloads.synonyms import NUMPY

if TYPE_CHECKING:
    from collections.abc import Callable

_NO_VALUES = "a compiled program does not have while it is made"
_TOLD = 100
"""Characters of a value in a message, which is to be read at a glance."""

_WHOLE = "of integers, none below 0; of real numbers there is nothing like it"


class LayoutError(TypeError):
    """An operation that has no one meaning in all frameworks, or none at all; the text says what to do instead."""


def _written(operator: str, name: str, more: str = "") -> Callable[..., NoReturn]:
    """Return the method of an operator that is refused, with how it is written in the vocabulary."""

    def refuse(*_: object) -> NoReturn:
        msg = f"{operator} is {name} in the vocabulary{more}"
        raise LayoutError(msg)

    return refuse


def _without(operator: str, instead: str) -> Callable[..., NoReturn]:
    """Return the method of an operator that is refused, and that the vocabulary has nothing for."""

    def refuse(*_: object) -> NoReturn:
        msg = f"{operator} is not in the vocabulary: {instead}"
        raise LayoutError(msg)

    return refuse


def _in_place(operator: str) -> Callable[..., NoReturn]:
    """Return the method of an operator that changes an array in its place, or makes another: by framework."""

    def refuse(changed: object, _: object) -> NoReturn:
        msg = (
            f"{changed!r} is changed in place by {operator}=: in some frameworks that changes the array under each of "
            f"its names, in others it makes another one. x = x {operator} y makes another in all"
        )
        raise LayoutError(msg)

    return refuse


def foreign(value: object) -> str:
    """Return what stands where an array of the model belongs, of NumPy's own the shape and not all its numbers."""
    shape = getattr(value, "shape", ()) if type(value).__module__ == "numpy" else ()
    if shape:
        return f"NumPy's own {shape}"
    text = repr(value)
    return text if len(text) <= _TOLD else f"{text[:_TOLD]}..."


class RefusedOperators:
    """The operators and functions of Python's that no array of a model takes."""

    def __eq__(self, other: object) -> NoReturn:
        """Refuse to be compared by an operator, which is Python's own question for some frameworks' arrays."""
        msg = (
            f"{self!r} is compared with {other!r} by an operator; arrays are compared by nn.less(a, b), "
            "nn.less_equal(a, b) and nn.equal(a, b), which nn.logical_not turns round"
        )
        raise LayoutError(msg)

    __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __eq__
    __hash__ = object.__hash__

    __array_ufunc__ = None
    """NumPy's numbers leave an operation to this class."""

    __iadd__, __isub__, __imul__ = _in_place("+"), _in_place("-"), _in_place("*")
    __itruediv__, __ipow__ = _in_place("/"), _in_place("**")
    __matmul__ = __rmatmul__ = _written("a @ b", "nn.matmul(a, b)")  # its products could not be counted
    __floordiv__ = __rfloordiv__ = _written("a // b", "nn.floor_divide(x, number)", f", {_WHOLE}")
    __mod__ = __rmod__ = _written("a % b", "x - nn.floor_divide(x, number) * number", f", {_WHOLE}")
    __divmod__ = __rdivmod__ = _written(
        "divmod(x, number)", "nn.floor_divide(x, number), and x less number times that,", f" {_WHOLE}"
    )
    __and__ = __rand__ = _written("a & b", "nn.logical_and(a, b)")
    __or__ = __ror__ = _written("a | b", "nn.logical_or(a, b)")
    __xor__ = __rxor__ = _written("a ^ b", "nn.logical_not(nn.equal(a, b))", ", of booleans")
    __invert__ = _written("~a", "nn.logical_not(a)")
    __abs__ = _written("abs(x)", "nn.abs(x)")
    __pos__ = _written("+x", "x")
    __rpow__ = _written("number ** x", "nn.exp(x * logarithm), with math.log(number) as logarithm,")
    __lshift__ = __rlshift__ = _written("a << number", "x * 2**number")
    __rshift__ = __rrshift__ = _written("a >> number", "nn.floor_divide(x, 2**number)", f", {_WHOLE}")
    __len__ = _written("len(x)", "x.shape[0]", ", a number of Python's")
    __contains__ = _written("a in x", "nn.max(nn.to_float(nn.equal(x, a)))", ", 1.0 where it is")
    __round__ = __floor__ = __ceil__ = __trunc__ = _without(
        "rounding", "of integers, none below 0, divided by a number there is nn.floor_divide(x, number)"
    )
    __delitem__ = _without("del x[...]", "a slice keeps the rest, x[1:], and nn.concat joins two")

    def __array_function__(self, function: Any, *_: Any) -> NoReturn:
        """Refuse NumPy's functions."""
        msg = f"NumPy's {function.__name__} computes on {self!r}; {NUMPY}"
        raise LayoutError(msg)

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        """Refuse to become an array of NumPy's."""
        msg = f"{self!r} is made an array of NumPy's; {NUMPY}"
        raise LayoutError(msg)

    def __setitem__(self, index: Any, value: Any) -> NoReturn:
        """Refuse to be changed in place, which arrays of some frameworks cannot be."""
        msg = f"{self!r} is changed in place, which not every framework can; nn.where and nn.concat give new arrays"
        raise LayoutError(msg)

    def __float__(self) -> NoReturn:
        """Refuse to be a number of Python's: a compiled program has no values while it is made."""
        msg = (
            f"{self!r} is made a number of Python's, which {_NO_VALUES}; compute with the array itself, by + - * / ** "
            "and the functions of nn, or with what size.config says"
        )
        raise LayoutError(msg)

    __int__ = __index__ = __complex__ = __float__

    def __format__(self, how: str) -> str:
        """Return it as in a message; raise LayoutError where its values are to be written."""
        if not how:
            return repr(self)
        msg = f"{self!r} is written as {how!r}, which takes its values, and these {_NO_VALUES}; its shape is x.shape"
        raise LayoutError(msg)

    def __iter__(self) -> NoReturn:
        """Refuse to be taken apart: traced arrays of some frameworks cannot be."""
        msg = f"{self!r} is taken apart by a loop; take what is wanted by index: x[:, 0]"
        raise LayoutError(msg)

    def __bool__(self) -> NoReturn:
        """Refuse to be asked: a compiled program has no values while it is made."""
        msg = (
            f"whether {self!r} is true hangs on its values, which {_NO_VALUES}; nn.where(condition, a, b) chooses by "
            "element, and nn.logical_and, nn.logical_or and nn.logical_not stand for and, or and not"
        )
        raise LayoutError(msg)
