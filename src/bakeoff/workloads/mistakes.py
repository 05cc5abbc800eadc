"""What went wrong in a function of a user's file, in the user's words: the line, the name, and what it takes."""

from __future__ import annotations

import ast
import builtins
import linecache
import os
import re
import sys
import time
import traceback
from contextlib import contextmanager, suppress
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NoReturn

from bakeoff.spec.errors import ModelFileError
from bakeoff.spec.vocabulary import LAYERS, VOCABULARY
from bakeoff.workloads.left import LEFT
from bakeoff.workloads.printed import for_its_author, in_function
from bakeoff.workloads.shapes import LayoutError
from bakeoff.workloads.synonyms import NUMPY, of_module, said_by
from bakeoff.workloads.synonyms_arguments import of_argument

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_BOUND = re.compile(r"^[\w.]+\(\) (?=got |takes |missing )")
"""How Python begins to tell that a call does not fit a function, by the name that it has in bakeoff."""

_TOO_MANY = re.compile(r"takes .*positional arguments? but .*given")
"""How Python tells that there are too many arguments, by numbers that count `self`, which users do not write."""

_CALL = re.compile(r"^(\w+)\.__call__\(\) (?=got |takes |missing )")
"""The same of a layer that is called."""

_CALLED_AS = re.compile(r"called as (?:.*? = )?(\w+\(.*?\))(?= with|, as|:)")
"""How a meaning says that a layer is called, where it takes more than an array."""

_LACKED = re.compile(r"unexpected keyword argument '(\w+)'")
"""How Python tells that a function has no such argument."""

_SIGNATURE = re.compile(r"^\w+\(.*?\)(?=[.:]| *$)")
"""What a meaning in the vocabulary begins with."""

_UNMADE = re.compile(r"'(Parameter|constant)'")
"""How Python tells that an operator, or len and the like, does not take what is an array in forward alone."""


@contextmanager
def told(path: str, function: str) -> Iterator[None]:
    """Run a function of the user's file within it; raise ModelFileError, with the line, where that fails or ends."""
    try:
        with in_function(path, function), contained():
            yield
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # SystemExit and GeneratorExit, too: a file's functions must not end bakeoff
        raise ModelFileError(where(path, function, error)) from error


@contextmanager
def contained() -> Iterator[None]:
    """Have what is run of a user's file neither end this process nor leave it in another folder.

    What was asked for by relative paths, such as where results are kept, is where it was asked for. What is left
    running is noted, what is printed goes to standard error, and a lower limit of recursion is the file's alone, as is
    what it puts in the place of Python's own.
    """
    deepest = sys.getrecursionlimit()
    try:
        folder = os.getcwd()  # noqa: PTH109 - a text, as it is given back
    except OSError:
        folder = ""  # It is gone, as somebody may have removed it.
    try:
        with _pythons_own(), LEFT.noted(), _no_sudden_end(), for_its_author():
            yield
    finally:
        sys.setrecursionlimit(max(deepest, sys.getrecursionlimit()))
        with suppress(OSError):
            if folder and os.getcwd() != folder:  # noqa: PTH109
                os.chdir(folder)


@contextmanager
def _pythons_own() -> Iterator[None]:
    """Have functions of Python's that a file replaces or takes away there again, and how Python finds modules."""
    before = [(vars(module), dict(vars(module))) for module in (builtins, os, time)]
    interpreter, finders, modules = sys.executable, list(sys.meta_path), dict(sys.modules)
    try:
        yield
    finally:
        for names, own in before:
            names.update(own)
        sys.executable = interpreter
        sys.meta_path.extend(one for one in finders if one not in sys.meta_path)
        for name, module in modules.items():
            sys.modules.setdefault(name, module)


@contextmanager
def _no_sudden_end() -> Iterator[None]:
    """Have os._exit() raise SystemExit meanwhile: the exit code 0 of a file must not look like bakeoff's own.

    Not in a process that is forked meanwhile, as those of multiprocessing are: it has to end there.
    """
    ending, own = os._exit, os.getpid()

    def refused(status: int) -> NoReturn:
        if os.getpid() != own:
            ending(status)
        msg = f"os._exit({status})"
        raise SystemExit(msg)

    os._exit = refused
    try:
        yield
    finally:
        os._exit = ending


def where(path: str, function: str, error: BaseException) -> str:
    """Return what went wrong in a function of the user's file, and in which line."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == path]
    place = f"{path}:{lines[-1]}" if lines else path
    return f"{place}: in {function}: {_text(path, frames, error)}"


def text_of(error: BaseException) -> str:
    """Return an error's text; the class of the error may be the user's own, too."""
    try:
        return str(error)
    except Exception as another:  # noqa: BLE001 - whatever a user's own __str__ raises
        return f"(its text raises {type(another).__name__})"


def not_there(name: str) -> str:
    """Return that the vocabulary has no such name, and which one was probably meant."""
    return f"nn.{name} is not in the vocabulary{said_by(name)}"


def _text(path: str, frames: Sequence[traceback.FrameSummary], error: BaseException) -> str:
    """Return the text of an error, with what to do where Python's own does not say it."""
    if isinstance(error, LayoutError):
        return str(error)
    if isinstance(error, AttributeError) and (of_name := _of_name(error.obj, str(error.name))):
        return of_name
    is_users = bool(frames) and frames[-1].filename == path
    if isinstance(error, TypeError) and (of_call := _of_call(frames[-1] if is_users else None, text_of(error))):
        return of_call
    told = f"{type(error).__name__}: {text_of(error)}"
    if isinstance(error, ImportError):
        told += ". A model computes by the names of nn; its file may import the standard library, NumPy, bakeoff and "
        told += "modules of your own"
    if isinstance(error, KeyError) and is_users and ".config[" in (frames[-1].line or ""):
        told += f". Every size declares it in its own config: Size(..., config={{{error}: ...}})"
    if isinstance(error, AttributeError) and type(error.obj).__name__ in LAYERS:
        told += ". In a model a layer is called, and its weights are the framework's own; a product with the rows of an"
        return told + " nn.Embedding is embedding.attend(x), an array that is trained by itself nn.Parameter(shape)"
    if isinstance(error, TypeError) and "__array_ufunc__" in text_of(error):
        return f"a function of NumPy's computes on an array of the model; {NUMPY}"
    return told + _of_operand(error)


def _of_operand(error: BaseException) -> str:
    """Return what to do where an operator or a function of Python's got what is no array yet; else nothing."""
    if isinstance(error, TypeError) and (found := _UNMADE.search(text_of(error))):
        return f". nn.{found[1]} is an array in forward alone: make it in __init__, and compute with it in forward"
    if isinstance(error, TypeError) and "'ModuleList' object is not callable" in text_of(error):
        return ". Its layers are called one by one: for layer in self.layers: x = layer(x)"
    if isinstance(error, TypeError) and text_of(error).startswith("tuple indices must be"):
        return ". What a layer gives several of is taken apart first: sequence, state = self.lstm(x)"
    if isinstance(error, TypeError | AttributeError) and "'_NamedArrays'" in text_of(error):
        return ". Of several arrays each is taken by its name: x['name']"
    return ""


def _of_call(frame: traceback.FrameSummary | None, error: str) -> str:
    """Return what a function or a layer of the vocabulary takes that was called otherwise; nothing of other errors.

    `frame` is the user's where it is the one that raised.
    """
    error = _TOO_MANY.sub("got more arguments than it takes by position", error)
    found = _BOUND.match(error)
    name = _called(frame) if frame and found else ""
    if found and name in VOCABULARY and (signature := _SIGNATURE.match(VOCABULARY[name])):
        return f"nn.{name} {error[found.end() :]}; it is nn.{signature[0]}{_said(name, error, signature[0])}"
    found = _CALL.match(error)
    if not found or found[1] not in LAYERS:
        return ""
    called = _CALLED_AS.search(LAYERS[found[1]])
    how = called[1] if called else "layer(x)"
    return f"a layer nn.{found[1]} {error[found.end() :]}; it is called as {how}{_said(found[1], error, how)}"


def _said(name: str, error: str, signature: str) -> str:
    """Return how an argument is said that is not there; empty where something else is wrong, or nothing is known."""
    lacked = _LACKED.search(error)
    return of_argument(name, lacked[1], re.findall(r"\w+", signature)) if lacked else ""


def _of_name(value: Any, name: str) -> str:
    """Return what stands for a name that the vocabulary, or a module of the model, lacks; empty where nothing does."""
    if _is_vocabulary(value):
        return not_there(name)
    said = of_module(name) if hasattr(type(value), "forward") else ""
    return f"self.{name} is not in the vocabulary{said}" if said else ""


def _is_vocabulary(value: Any) -> bool:
    """Return whether a value is the vocabulary itself, by whatever name a function of the file has it."""
    return isinstance(value, SimpleNamespace) and hasattr(value, "ModuleList")


def fields_told(frame: traceback.FrameSummary, names: Mapping[str, Any], error: Exception) -> str:
    """Return which fields a declaration of a user's file could have, where it has one that is not there; else nothing.

    `names` are the file's own, by which the declaration's class is found.
    """
    called = _expression(frame)
    kind = names.get(called.id) if isinstance(called, ast.Name) else None
    fields: Sequence[str] = getattr(kind, "__struct_fields__", ())
    if not isinstance(error, TypeError) or "argument" not in text_of(error) or not fields:
        return ""
    return f". {getattr(kind, '__name__', '')} has {', '.join(fields)}"


def import_told(error: ImportError) -> str:
    """Return what a workload's file may import, and what stands for what it wanted."""
    wanted, module = error.name or "", sys.modules.get(error.name or "")
    if module is not None and wanted.startswith("bakeoff."):
        own = [name for name, value in vars(module).items() if getattr(value, "__module__", "") == wanted]
        if classes := [name for name in own if name[:1].isupper()]:
            return f". It has {', '.join(classes)}"
    return (
        ". A model is written once for all frameworks, by the names of nn (docs/own-model.md); its file may import the "
        "standard library, NumPy and bakeoff, and modules of your own where PYTHONPATH has their folder"
    )


def _called(frame: traceback.FrameSummary) -> str:
    """Return the name that the expression of a frame calls as `nn.name(...)`; empty where it calls something else."""
    called = _expression(frame)
    if not isinstance(called, ast.Attribute) or not isinstance(called.value, ast.Name):
        return ""
    file = ast.parse("".join(linecache.getlines(frame.filename)))
    imports = [node for node in ast.walk(file) if isinstance(node, ast.Import | ast.ImportFrom)]
    modules = {one.asname or one.name.partition(".")[0] for node in imports for one in node.names}
    return "" if called.value.id in {"self", *modules} else called.attr


def _expression(frame: traceback.FrameSummary) -> ast.expr | None:
    """Return what the expression calls that a frame is in; None where it calls nothing."""
    if frame.lineno is None or frame.colno is None or frame.end_lineno is None or frame.end_colno is None:
        return None
    lines = [linecache.getline(frame.filename, line).encode() for line in range(frame.lineno, frame.end_lineno + 1)]
    lines[-1] = lines[-1][: frame.end_colno]
    lines[0] = lines[0][frame.colno :]
    try:
        expression = ast.parse(b"(" + b"".join(lines) + b")", mode="eval").body
    except SyntaxError:
        return None
    return expression.func if isinstance(expression, ast.Call) else None
