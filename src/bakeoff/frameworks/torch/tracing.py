"""Where a step's time goes in PyTorch: its profiler, with scopes by hooks on modules.

In mode compiled there are no hooks, which Dynamo would trace: Inductor says which nodes of the model, and so which
layers, its kernels come from.
"""

# ruff: noqa: SLF001 - the step is this folder's own

from __future__ import annotations

import hashlib
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import torch

from bakeoff.frameworks import scopes
from bakeoff.frameworks.torch import traced
from bakeoff.frameworks.torch.kernels import Sources
from bakeoff.frameworks.tracing import LAYER, LOSS, OPTIMIZER, WHOLE, Trace
from bakeoff.spec.vocabulary import LAYERS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from bakeoff.spec.explained import Level

    Work = Callable[[Callable[[], AbstractContextManager[Any]]], None]

FILE = "trace.json.gz"
"""What Perfetto and Chrome's tracing open."""

BETWEEN = (
    "Host dispatch has everything between operators: Python, PyTorch's own code, and the profiler's part of both, so "
    "that it is an upper bound."
)
ONE_THREAD = (
    "An operator's own threads are not in PyTorch's profile: it has how long an operator took, and not how long its "
    "threads worked."
)
CUDA_GRAPHS = "CUDA graphs start all kernels of compiled code at once, and its operators are not in the profile then"
ON_CUDA = "On CUDA kernels have the layer of the operator that started them, by CUPTI's correlation; not run by us."


_SCOPE: Callable[[str], AbstractContextManager[Any]] = getattr(
    torch._C._profiler, "_RecordFunctionFast", torch.profiler.record_function
)
"""What Inductor opens around its own kernels: under the profiler 0.5 us a scope, where the public record_function took
10 us (PyTorch 2.13 on an Intel Xeon). It has no public name, so that the other one stands in where it is missing."""


class Scopes:
    """Opens PyTorch's scopes while a profile is taken, and does nothing otherwise."""

    active = False

    def __call__(self, name: str) -> AbstractContextManager[Any]:
        """Return a scope of this name; none while something is compiled."""
        if not self.active or torch.compiler.is_compiling():
            return nullcontext()
        return _SCOPE(name)


class Tracer:
    """PyTorch's profiler in this process."""

    level: Level = "layers"
    reason = ""
    counts = True

    def __init__(self) -> None:
        """Start without a model."""
        self._scope = Scopes()
        self._layers: dict[str, str] = {}
        self._sources: Sources | None = None
        self._before: dict[str, int] = {}
        """What Dynamo had counted before the model came."""
        self._vocabulary: Any = None
        self._native: Any = None

    def scoped(self, build: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        """Return a workload's `build` with functions that open scopes; its modules get theirs in `attach`."""

        def build_with(nn: Any, size: Any) -> Any:
            self._native = nn
            self._vocabulary = scopes.vocabulary(nn, scopes.functions(nn, self._scope))
            network = build(self._vocabulary, size)
            self._layers = dict(_classes(nn, network))
            return network

        return build_with

    def attach(self, step: Any) -> None:
        """Put scopes around layers, the loss, the backward pass and the update."""
        if step._device.type == "mps":
            self.level, self.reason = "none", "PyTorch's profiler does not see what runs on MPS"
        around = LAYER + LOSS
        if step._mode == "compiled":
            around = traced.FORWARD
            self._compiled()
        elif self._vocabulary is not None:
            for path, module in step._network.named_modules():
                _open_at_calls(module, scopes.layer(path), self._scope)
        if (update := getattr(step, "_update", None)) is not None:
            step._loss_of = scopes.within(self._scope, around, step._loss_of)
            update.backward = scopes.within(self._scope, traced.BACKWARD, update.backward)
            update.step = scopes.within(self._scope, OPTIMIZER, update.step)

    def trace(self, step: Any, work: Work, folder: Path) -> Trace:
        """Run the work under torch.profiler."""
        activity = torch.profiler.ProfilerActivity
        on_cuda = step._device.type == "cuda"
        activities = [activity.CPU, activity.CUDA] if on_cuda else [activity.CPU]
        self._scope.active = True
        try:
            with torch.profiler.profile(activities=activities) as profile:
                work(lambda: _SCOPE(traced.MARK))
        finally:
            self._scope.active = False
        profile.export_chrome_trace(str(folder / FILE))
        seen = _seen(profile)
        notes = [BETWEEN, ON_CUDA] if on_cuda else [BETWEEN, ONE_THREAD]
        facts: dict[str, float | int | str] = {"program_sha256": _sha256(traced.program(seen))}
        if why := untold(step):
            self.level, self.reason = "kinds", why
        if self._sources is not None:
            notes += self._sources.notes()
            facts |= self._sources.facts() | {name: count - self._before[name] for name, count in dynamo().items()}
        events = traced.read(seen, self._layers, self._sources)
        stages = [] if self._sources is None else self._sources.stages()
        return Trace(steps=traced.steps(seen), events=events, notes=notes, facts=facts, stages=stages, files=[FILE])

    def _compiled(self) -> None:
        """Have Inductor note where its kernels come from, and leave the vocabulary as it is."""
        if self._vocabulary is not None:
            vars(self._vocabulary).update(vars(scopes.vocabulary(self._native, {})))
        self._sources, self._before = Sources(self._layers), dynamo()
        if why := self._sources.switch_on():
            self.level, self.reason = "kinds", why


def untold(step: Any) -> str:
    """Return why a trace of a step has no layers though its program has; empty where it has them."""
    is_compiled = step._device.type == "cuda" and step._mode == "compiled"
    return CUDA_GRAPHS if is_compiled and step.settings().get("cuda_graphs") else ""


def dynamo() -> dict[str, int]:
    """Return into how many graphs Dynamo has cut what it compiled, and how often it broke off, where it says that."""
    try:
        from torch._dynamo.utils import counters  # it is no public name
    except ImportError:
        return {}
    return {"graphs": counters["stats"]["unique_graphs"], "graph_breaks": sum(counters["graph_break"].values())}


def _classes(nn: Any, network: Any) -> Iterator[tuple[str, str]]:
    """Go through the layers of a model by path, with the vocabulary's class of each; lists of layers are none."""
    known = {kind: name for name in reversed(LAYERS) if isinstance(kind := getattr(nn, name, None), type)}
    for path, module in network.named_modules():
        name = next((known[kind] for kind in type(module).__mro__ if kind in known), "")
        if name and name != "ModuleList":
            yield path or WHOLE, name


def _open_at_calls(module: Any, name: str, scope: Scopes) -> None:
    """Have a module open its scope at each call, and at its method `attend` where it has one."""
    opened: list[Any] = []

    def before(*_: Any) -> None:
        if scope.active:
            opened.append(scope(name))
            opened[-1].__enter__()

    def after(*_: Any) -> None:
        if opened:
            opened.pop().__exit__(None, None, None)

    module.register_forward_pre_hook(before)
    module.register_forward_hook(after)
    if hasattr(module, "attend"):
        module.attend = scopes.within(scope, name, module.attend)


def _seen(profile: Any) -> list[traced.Seen]:
    """Return the events of a profile, in ns from its start."""
    results = profile.profiler.kineto_results
    start_ns = results.trace_start_ns()
    return [_event(one, start_ns) for one in results.events()]


def _event(one: Any, start_ns: int) -> traced.Seen:
    """Return one of Kineto's events."""
    on_device = one.device_type() != torch.autograd.DeviceType.CPU
    return traced.Seen(
        thread=f"stream {one.device_resource_id()}" if on_device else str(one.start_thread_id()),
        start_ns=float(one.start_ns() - start_ns),
        end_ns=float(one.end_ns() - start_ns),
        name=one.name(),
        sequence=one.sequence_nr(),
        is_node=one.scope() == _BACKWARD_FUNCTION,
        identity=one.correlation_id(),
        started_by=one.linked_correlation_id(),
        on_device=on_device,
        is_scope=on_device and one.is_user_annotation(),
    )


_BACKWARD_FUNCTION = 1
"""at::RecordScope::BACKWARD_FUNCTION (aten/src/ATen/record_function.h)."""


def _sha256(names: list[str]) -> str:
    """Return the hash of a program as a list of names."""
    return hashlib.sha256("\n".join(names).encode()).hexdigest()
