"""From a function's arguments to a request: what has the wrong type or form is a UsageError before anything starts."""

from __future__ import annotations

import os
from math import isfinite
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, get_args, get_origin

import msgspec

from bakeoff.spec.errors import UsageError
from bakeoff.spec.request import Request
from bakeoff.study.sweep import BATCH_SIZE, Axis

if TYPE_CHECKING:
    from collections.abc import Iterable

_NOT_ASKED = {"workload", "contenders", "command", "rules", "inject", "noted", "traced", "trace_rounds"}
"""Fields of a request that are no options: arguments of their own, and what bakeoff itself notes."""

OPTIONS = tuple(name for name in Request.__struct_fields__ if name not in _NOT_ASKED)
"""What every function takes by its name."""

_KINDS = {field.name: field.type for field in msgspec.structs.fields(Request)} | {"aim": str}
"""By option; which aims there are, checking the request says."""

_SWEPT = ("batch_size", "device", "threads")
"""May have a list in a sweep."""

_MOST = 2**63
"""Records hold smaller whole numbers only."""

_WORDS: dict[Any, str] = {int: "a whole number", float: "a number", bool: "True or False", str: "a text"}


def request_of(function: str, workload: object, contenders: object, options: dict[str, Any]) -> Request:
    """Return a request; raise UsageError for an option that there is not, and for a value that it cannot have."""
    check_names(function, options)
    if not isinstance(workload, str | os.PathLike):
        msg = f"workload is {workload!r}; give a name, or the path of a file"
        raise UsageError(msg)
    values = {name: _checked(function, name, value) for name, value in options.items()}
    return Request(workload=os.fspath(workload), contenders=_contenders(contenders), **values)


def check_names(function: str, options: Iterable[str]) -> None:
    """Raise UsageError for an option that there is not."""
    unknown = sorted(set(options) - set(OPTIONS))
    if unknown:
        msg = f"{function}() has no option {', '.join(unknown)}; valid: {', '.join(sorted(OPTIONS))}"
        raise UsageError(msg)


def checked_bytes(value: object) -> int | None:
    """Return a limit of memory; raise UsageError for what is none."""
    limit: int | None = _converted("memory_bytes", value, int | None, "4 * 10**9")
    return limit


def parted(options: dict[str, Any]) -> tuple[list[Axis], dict[str, Any]]:
    """Return options as axes, which are given as lists, and the others; raise UsageError for lists that cannot be."""
    of_contenders = _options("sweep", options.get("options", {}), lists=True)
    of_contenders |= {name: options[name] for name in ("device", "threads") if options.get(name) is not None}
    asked = {"batch_size": options.get("batch_size")} | of_contenders
    lists = {name: value for name, value in asked.items() if isinstance(value, list)}
    axes = [
        Axis(name=BATCH_SIZE if name == "batch_size" else name, values=_values(name, lists[name])) for name in lists
    ]
    single = {
        name: f"{_checked('sweep', name, value) if name in _SWEPT else value}"
        for name, value in of_contenders.items()
        if name not in lists
    }
    left = {*("options", "device", "threads"), *(name for name in ("batch_size",) if name in lists)}
    return axes, {name: value for name, value in options.items() if name not in left} | {"options": single}


def _values(name: str, values: list[Any]) -> tuple[str, ...]:
    """Return the values of an axis as texts; raise UsageError where there is none, one is wrong, or one is twice."""
    if not values:
        msg = f"{name} is [], which lacks a value: give some, such as [8, 16]"
        raise UsageError(msg)
    texts = [f"{_one(name, value)}" for value in values]
    twice = next((text for text in texts if texts.count(text) > 1), None)
    if twice is not None:
        msg = f"{name} is {values!r}, which has the value {twice} twice"
        raise UsageError(msg)
    return tuple(texts)


def _one(name: str, value: Any) -> str | int | float:
    """Return one value of a list; a number may be written as a text there, as on the command line."""
    if not isinstance(value, str | int | float) or isinstance(value, bool) or value == "":
        msg = f"{name} has the value {value!r}; valid: texts and numbers"
        raise UsageError(msg)
    if name in _SWEPT and not isinstance(value, str):
        return str(_checked("sweep", name, value))
    if name == "batch_size" and not (isinstance(value, str) and value.isascii() and value.isdigit()):
        msg = f"batch_size has the value {value!r}; valid: a whole number"
        raise UsageError(msg)
    return value


def _contenders(contenders: Any) -> tuple[str, ...]:
    """Return contenders; raise UsageError for anything but a list of texts."""
    if isinstance(contenders, str):
        msg = f"contenders is the text {contenders!r}; give a list: [{contenders!r}]"
        raise UsageError(msg)
    try:
        named = tuple(contenders)
    except TypeError:
        msg = f"contenders is {contenders!r}; give a list of names, or leave it out for all that are here"
        raise UsageError(msg) from None
    wrong = next((one for one in named if not isinstance(one, str)), None)
    if wrong is not None:
        msg = f"contenders has {wrong!r} in it; give names, each a text"
        raise UsageError(msg)
    return named


def _checked(function: str, name: str, value: Any) -> Any:
    """Return an option's value as a request has it; raise UsageError for one that it cannot have."""
    if name == "options":
        return _options(function, value)
    if name in _SWEPT and isinstance(value, list | tuple):
        raise UsageError(_several(function, name, value))
    if name == "results" and isinstance(value, os.PathLike):
        value = os.fspath(value)
    example = {"budget_s": "120", "batch_size": "32", "threads": "4"}.get(name, "")
    return _converted(name, value, _KINDS[name], example)


def _options(function: str, value: Any, *, lists: bool = False) -> dict[str, Any]:
    """Return options of contenders, each value as a text, or as a list where lists may be; raise UsageError if not."""
    if not (isinstance(value, dict) and all(isinstance(name, str) for name in value)):
        msg = f'options is {value!r}; valid: a dict of values by the option\'s name, such as {{"precision": "float32"}}'
        raise UsageError(msg)
    for name, one in value.items():
        if isinstance(one, list | tuple) and not (lists and isinstance(one, list)):
            raise UsageError(_several(function, f"options[{name!r}]", one))
        if not isinstance(one, str | int | float | list):
            msg = f"options[{name!r}] is {one!r}; valid: a text or a number"
            raise UsageError(msg)
    return {name: one if isinstance(one, list) else f"{one}" for name, one in value.items()}


def _several(function: str, name: str, value: Any) -> str:
    """Return what to do with several values where there can be one."""
    if function == "sweep":
        return f"{name} is {value!r}; several values are a list, such as {list(value)!r}"
    return f"{name} is {value!r}; {function}() takes one value: call sweep() to race several"


def _converted(name: str, value: Any, kind: Any, example: str) -> Any:
    """Return a value in the type that it has in records; raise UsageError where it has none."""
    kinds = get_args(kind) if get_origin(kind) is UnionType else (kind,)
    if isinstance(value, float):  # numpy's are, too
        value = int(value) if int in kinds and value.is_integer() else float(value)
    elif int in kinds or float in kinds:
        # A whole number of another library, such as numpy's.
        value = value.__index__() if hasattr(value, "__index__") and not isinstance(value, bool) else value
    is_odd = isinstance(value, float) and not isfinite(value)
    try:
        if not is_odd and not (isinstance(value, int) and abs(value) >= _MOST):
            return msgspec.convert(value, kind, strict=True)
    except msgspec.ValidationError:
        pass
    seconds = " of seconds" if name.endswith("_s") else ""
    words = [_WORDS.get(one, "a list of texts") + seconds for one in kinds if one is not NoneType]
    such = f", such as {example}" if example else ""
    msg = f"{name} is {value!r}; valid: {' or '.join(words)}{such}{', or None' if NoneType in kinds else ''}"
    raise UsageError(msg)
