"""Find a workload by its name or its file, and check it before anything is started.

The shipped workloads are the files of this folder, those of installed packages are entry points of the group
`bakeoff.workloads`, and a path that ends in .py is a user's own. All are loaded by path, in the parent and in every
worker: a workload is one file, which may import the standard library, NumPy, bakeoff and modules of the user's own.
"""

from __future__ import annotations

import hashlib
import importlib.util
import inspect
import re
import sys
import traceback
from collections.abc import Callable
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

import msgspec

from bakeoff.spec.batch import OWN
from bakeoff.spec.bounded import at_home, behind_links, read_bounded
from bakeoff.spec.errors import DamagedError, ModelFileError, UnknownNameError, UsageError
from bakeoff.spec.scenario import SCENARIOS
from bakeoff.spec.workload import Size, Workload
from bakeoff.workloads.check import check_fields, check_names
from bakeoff.workloads.draws import check_draws
from bakeoff.workloads.imported import imported
from bakeoff.workloads.losses import ARGUMENTS, WITH_INPUTS, takes_inputs
from bakeoff.workloads.mistakes import contained, fields_told, import_told, text_of
from bakeoff.workloads.printed import forget

if TYPE_CHECKING:
    from collections.abc import Sequence

ENTRY_POINTS = "bakeoff.workloads"

EXPECTED = """A workload's file has:

    WORKLOAD = Workload(name=..., summary=..., source=..., sizes={"full": Size(...)}, optimizer=..., ...)

    def build(nn, size):              # returns the model, an instance of a class derived from nn.Module
    def loss(nn, outputs, targets):   # returns a scalar; (nn, outputs, targets, inputs) where it sees the inputs.
                                      # Not needed with scenarios=("infer",)
    def data(size, samples, seed):    # may be left out: returns NumPy arrays by the names of inputs and targets
    def metric(size, parameters):     # only where a size declares one: returns a number, given NumPy arrays by name"""


class LoadedWorkload(msgspec.Struct, frozen=True, kw_only=True):
    """A workload with its functions and its file."""

    workload: Workload
    build: Callable[[Any, Size], Any]
    loss: Callable[..., Any] | None
    data: Callable[..., Any] | None = None
    """Its own data; None where the file has none."""
    metric: Callable[[Size, Any], Any] | None = None
    """Its own metric of parameters by name; None where no size declares one."""
    path: Path
    sha256: str
    """SHA-256 of the file's bytes, of the files that its functions are imported from, and of modules of the user's own
    that it imports: records of different texts are not compared."""

    def size(self, name: str) -> Size:
        """Return the size of this name; raise UnknownNameError, which lists the valid ones."""
        if name not in self.workload.sizes:
            kind = f"size of {self.workload.name}"
            raise UnknownNameError(kind, name, self.workload.sizes)
        return self.workload.sizes[name]


def names() -> list[str]:
    """Return the names of all workloads that have one: the shipped workloads and those of installed packages."""
    return sorted({*_shipped(), *entry_points(group=ENTRY_POINTS).names})


def load(name_or_path: str | Path) -> LoadedWorkload:
    """Return a workload, loaded and checked; raise UnknownNameError or ModelFileError, which say what to do."""
    path = _find(name_or_path)
    try:
        text = read_bounded(behind_links(path))
        module = _execute(path, text)
    except (OSError, DamagedError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        msg = f"{path}: cannot be read: {why}. A workload's file was expected there"
        raise ModelFileError(msg) from error
    workload, build, loss = _parts(path, module)
    check_names(path, text, build=build, loss=loss)
    check_draws(build, loss)
    data = _own_data(path, module)
    metric = _own_metric(path, module, workload)
    if data is not None and OWN not in workload.data:
        workload = msgspec.structs.replace(workload, data=(OWN, *workload.data))
    return LoadedWorkload(
        workload=workload,
        build=build,
        loss=loss,
        data=data,
        metric=metric,
        path=path,
        sha256=_sha256(path, text, module, build, loss, data, metric),
    )


@cache
def _shipped() -> dict[str, Path]:
    """Return the files of this folder that define WORKLOAD, by the workload's name."""
    files = sorted(Path(__file__).parent.glob("*.py"))
    pattern = re.compile(r"^WORKLOAD\b", re.MULTILINE)
    return {file.stem.replace("_", "-"): file for file in files if pattern.search(file.read_text(encoding="utf-8"))}


def _find(name_or_path: str | Path) -> Path:
    """Return the path of a workload's file."""
    name = str(name_or_path)
    if name.endswith(".py"):
        return at_home(name).absolute()
    if name in (shipped := _shipped()):
        return shipped[name]
    if not (points := entry_points(group=ENTRY_POINTS, name=name)):
        if at_home(f"{name}.py").is_file():
            msg = f"unknown workload {name!r}; did you mean the file {name}.py?"
            raise UsageError(msg)
        kind, others = "workload", "the path of a file that ends in .py"
        raise UnknownNameError(kind, name, names(), others)
    module = next(iter(points)).value
    try:
        spec = importlib.util.find_spec(module)
    except ImportError as error:
        msg = f"workload {name!r} is declared by an installed package as {module}, which cannot be imported: {error}"
        raise ModelFileError(msg) from error
    if spec is None or spec.origin is None:
        msg = f"workload {name!r} is declared by an installed package as {module}, which has no file"
        raise ModelFileError(msg)
    return Path(spec.origin)


def _execute(path: Path, text: bytes) -> ModuleType:
    """Run a workload's file and return its module; raise ModelFileError with the line where it fails."""
    # Registered under its name while it lives: dataclasses and msgspec look up annotations in sys.modules.
    name = f"bakeoff_workload_{path.stem}"
    module = ModuleType(name)
    module.__file__ = str(path)
    sys.modules[name] = module
    forget()
    try:
        with contained():
            exec(compile(text, str(path), "exec"), vars(module))  # noqa: S102 - running the user's own file is the purpose
    except SyntaxError as error:
        msg = f"{path}:{error.lineno or 1}: syntax error: {error.msg}\n    {(error.text or '').strip()}"
        raise ModelFileError(msg) from error
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # sys.exit() in a file must not look like bakeoff's own end.
        frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
        line = frames[-1].lineno if frames else "?"
        msg = f"{path}:{line}: importing it failed: {type(error).__name__}: {text_of(error)}"
        if isinstance(error, ImportError | TypeError) and "olerance" in text_of(error):
            msg += ". How closely contenders agree is measured, not declared: take the tolerance out"
        elif isinstance(error, ImportError):
            msg += import_told(error)
        elif isinstance(error, TypeError) and frames:
            msg += fields_told(frames[-1], vars(module), error)
        raise ModelFileError(msg) from error
    return module


def _parts(path: Path, module: ModuleType) -> tuple[Workload, Any, Any]:
    """Return WORKLOAD, build and loss of a module, each checked; raise ModelFileError for what is missing or wrong."""
    for name in ("WORKLOAD", "build"):
        if not hasattr(module, name):
            msg = f"{path}: {name} is missing. {EXPECTED}"
            raise ModelFileError(msg)
    workload = check_fields(path, module.WORKLOAD)
    build, loss = module.build, getattr(module, "loss", None)
    for scenario in workload.scenarios:
        if loss is None and SCENARIOS[scenario].evidence & {"losses", "gradients"}:
            msg = f"{path}: loss is missing, and the scenarios include {scenario}. {EXPECTED}"
            raise ModelFileError(msg)
    _check_signature(path, build, ("nn", "size"))
    if loss is not None:
        _check_signature(path, loss, WITH_INPUTS if inspect.isfunction(loss) and takes_inputs(loss) else ARGUMENTS)
    return workload, build, loss


def _own_data(path: Path, module: ModuleType) -> Callable[..., Any] | None:
    """Return the function `data` of a module; None where it has none, or calls something else so."""
    data = getattr(module, "data", None)
    if not inspect.isfunction(data):
        return None
    _check_signature(path, data, ("size", "samples", "seed"))
    return data


def _own_metric(path: Path, module: ModuleType, workload: Workload) -> Callable[[Size, Any], Any] | None:
    """Return the function `metric` of a module; None where no size declares a metric, whatever is called so then."""
    declared = [name for name, size in workload.sizes.items() if size.metric is not None]
    if not declared:
        return None
    if not hasattr(module, "metric"):
        msg = f"{path}: metric is missing, which sizes[{declared[0]!r}] declares. {EXPECTED}"
        raise ModelFileError(msg)
    _check_signature(path, module.metric, ("size", "parameters"))
    found: Callable[[Size, Any], Any] = module.metric
    return found


def _sha256(path: Path, text: bytes, module: ModuleType, *functions: Any) -> str:
    """Return the hash of all texts that define a workload: one may use another's model, or functions of its file."""
    digest = hashlib.sha256(text)
    others = {function.__code__.co_filename for function in functions if function is not None} | imported(path, text)
    others -= {str(path)}
    if taken := {_file_of(value) for value in vars(module).values()} - {"", str(path), *others}:
        others |= taken & {str(file) for file in _shipped().values()}  # which reads every workload
    for other in sorted(others):
        digest.update(Path(other).read_bytes())
    return digest.hexdigest()


def _file_of(value: Any) -> str:
    """Return the file of a function or a module; empty for anything else."""
    # By type(), not isinstance(): an object of a user's own may answer to __class__ as it likes.
    if type(value) is FunctionType:
        return value.__code__.co_filename
    return str(getattr(value, "__file__", "")) if type(value) is ModuleType else ""


def _check_signature(path: Path, function: Any, arguments: Sequence[str]) -> None:
    """Raise ModelFileError for what is not a function of these arguments."""
    if not inspect.isfunction(function):
        msg = f"{path}: {function!r} stands where a function of ({', '.join(arguments)}) should. {EXPECTED}"
        raise ModelFileError(msg)
    try:
        inspect.signature(function).bind(*arguments)
    except TypeError as error:
        call = f"{function.__name__}({', '.join(arguments)})"
        msg = f"{path}:{function.__code__.co_firstlineno}: it cannot be called as {call}: {error}. {EXPECTED}"
        raise ModelFileError(msg) from error
