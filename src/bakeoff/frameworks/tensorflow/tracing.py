"""Where a step's time goes in TensorFlow: its profiler, with scopes in the names of a graph's nodes.

What ran is known from run metadata: TensorFlow hands out the graphs that Grappler has made only if it was asked before
a function's first call.
"""

# ruff: noqa: SLF001 - the step is this folder's own

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import keras
import tensorflow as tf
from tensorflow.python.eager import context  # run metadata of functions has no public name

from bakeoff.frameworks import hlo, planes, scopes, xla
from bakeoff.frameworks.collecting import Collecting
from bakeoff.frameworks.origins import NOTE, origins
from bakeoff.frameworks.tensorflow import border, devices, eager, grappler, nodes
from bakeoff.frameworks.tracing import ALL_PASSES, LAYER, LOSS, OPTIMIZER, WHOLE, Trace
from bakeoff.spec.options import DEFAULT
from bakeoff.spec.vocabulary import LAYERS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from bakeoff.frameworks.origins import Origin
    from bakeoff.frameworks.tracing import Event
    from bakeoff.spec.explained import GraphStage, Level

    Work = Callable[[Callable[[], AbstractContextManager[Any]]], None]

EAGER = "in mode=eager TensorFlow's gradients have no names that tell their layers; mode=graph has them"

TWO_PROGRAMS = (
    "with mode=compiled a step that collects is two programs of XLA, whose instructions have the same names in a "
    "profile; mode=graph has its layers"
)
TWO_FUNCTIONS = (
    "The step is two functions, one that collects and one that updates: what is counted of its graph is of the second."
)

NODES = (
    "A node that Grappler has fused is in the layer whose weight it takes, one without a scope in that of its inputs."
)

_LIST = "ModuleList"
"""Of the vocabulary, the class that is no layer: nothing calls it."""
_METHODS = ("__call__", "attend")
"""Of layers, by which models call them."""

_HOST = "/host:CPU"
_READ = ("tf_op", "hlo_op", "_p", "_c")
_NO_WORK = ("ThreadpoolListener", "MemoryAllocation", "MemoryDeallocation")
"""How the names of events begin that are no time of anything."""


class Tracer:
    """TensorFlow's profiler in this process."""

    level: Level = "layers"
    reason = ""
    counts = True

    def __init__(self) -> None:
        """Start without a model."""
        self._paths: dict[int, str] = {}
        self._layers: dict[str, str] = {}
        self._open: Callable[[str], Any] = tf.name_scope
        self._first: FirstCall | None = None
        self._collecting: FirstCall | None = None
        self._origins: dict[str, Origin] | None = None
        self._facts: dict[str, float | int | str] = {}
        self._stages: list[GraphStage] = []

    def scoped(self, build: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        """Return a workload's `build` with classes and functions that open scopes."""

        def build_with(nn: Any, size: Any) -> Any:
            natives = {name: found for name in LAYERS if isinstance(found := getattr(nn, name, None), type)}
            classes = {name: self._opening(found) for name, found in natives.items() if name != _LIST}
            network = build(scopes.vocabulary(nn, classes | scopes.functions(nn, self._scope)), size)
            self._note(network, "", {kind: name for name, kind in (natives | classes).items()})
            return network

        return build_with

    def _scope(self, name: str) -> AbstractContextManager[Any]:
        """Return a scope: of names in a graph, and of the profile itself where there is none."""
        scope: AbstractContextManager[Any] = self._open(name)
        return scope

    def attach(self, step: Any) -> None:
        """Put scopes around the loss and the update, and have the first call say what it runs."""
        collects = isinstance(step, Collecting)
        if not hasattr(step._run, "experimental_get_tracing_count"):
            self.level, self.reason = "kinds", EAGER
            self._open = tf.profiler.experimental.Trace
        elif collects and step._run._jit_compile:
            self.level, self.reason = "none", TWO_PROGRAMS
        else:
            self._first = FirstCall(step)
            self._collecting = FirstCall(step, "_collect") if collects else None
        if (optimizer := getattr(step, "_optimizer", None)) is not None:
            optimizer.apply = scopes.within(self._scope, OPTIMIZER, optimizer.apply)
            step._loss_of = scopes.within(self._scope, LAYER + LOSS, step._loss_of)

    def trace(self, step: Any, work: Work, folder: Path) -> Trace:
        """Run the work under tf.profiler."""
        tf.profiler.experimental.start(str(folder))
        try:
            work(lambda: tf.profiler.experimental.Trace(nodes.MARK))
        finally:
            tf.profiler.experimental.stop()
        files = sorted(folder.rglob("*.xplane.pb"))
        seen = [one for file in files for one in _seen(file)]
        return Trace(
            steps=nodes.steps(seen),
            events=self._read(step, seen),
            notes=self._notes(),
            facts=self._facts,
            stages=self._stages,
            files=[str(file.relative_to(folder)) for file in files],
        )

    def _notes(self) -> list[str]:
        """Return what a reader has to know."""
        rules = [NODES if self._origins is None else NOTE] if self.level == "layers" else []
        return [*rules, *([TWO_FUNCTIONS] if self._collecting is not None else []), *xla.notes(self._facts)]

    def graph(self) -> dict[str, nodes.Node]:
        """Return the nodes that Grappler has made of the step, of a step that collects those of both its functions."""
        graphs = [one.graph for one in (self._collecting, self._first) if one is not None]
        return {name: node for graph in graphs for name, node in graph.items()}

    def _read(self, step: Any, seen: list[nodes.Seen]) -> list[Event]:
        """Return the events in the words that all frameworks share."""
        if self._first is None:
            return eager.read(seen, self._layers)
        if not step._run._jit_compile:
            self._facts = self._first.facts()
            # With another setting it is not what has run, and several devices have a graph that is cut up afterwards.
            if self.counts and grappler.setting() == DEFAULT and step._replicas.count == 1:
                self._stages = self._stages or self._first.stages()
            return nodes.read(seen, self.graph(), self._layers)
        if self._origins is None:
            self._compiled(step._run, self._first.arguments)
        return nodes.read_compiled(seen, self._origins or {})

    def _compiled(self, function: Any, arguments: tuple[Any, ...]) -> None:
        """Note what XLA has made of the step; to be asked, it compiles it once more."""
        asked = function.experimental_get_compiler_ir(*arguments)
        text = asked(stage="optimized_hlo")
        module = hlo.parsed(text)
        before = hlo.parsed(asked(stage="hlo"))
        self._origins = origins(module, self._layers)
        self._stages = [hlo.stage(before), hlo.stage(module, ALL_PASSES)]
        self._facts = {
            "instructions_before": hlo.instructions(before),
            "instructions_after": hlo.instructions(module),
            "fusions": hlo.fusions(module),
            "program_sha256": _sha256(nodes.nameless(hlo.without_metadata(text.replace(module.name, "")))),
        }
        if devices.has_gpu():
            self._facts[xla.FACT] = xla.command_buffers()

    def _opening(self, native: Any) -> Any:
        """Return a class that is the framework's own, but opens a scope where its objects are called."""

        def opening(method: str) -> Callable[..., Any]:
            def called(this: Any, *args: Any, **kwargs: Any) -> Any:
                path = self._paths.get(id(this))
                if path is None:
                    return getattr(native, method)(this, *args, **kwargs)
                with self._scope(scopes.layer(path)):
                    return getattr(native, method)(this, *args, **kwargs)

            return called

        methods = {method: opening(method) for method in _METHODS if hasattr(native, method)}
        return type(native)(native.__name__, (native,), methods | {"__module__": native.__module__})

    def _note(self, module: Any, path: str, classes: dict[Any, str]) -> None:
        """Note the paths of a module and of all that is within it; one under two paths has the first."""
        if id(module) in self._paths:
            return
        found = classes.get(type(module), "Module")
        self._paths[id(module)] = path
        if found != _LIST:
            self._layers[path or WHOLE] = found
        if found in ("Module", _LIST):
            for name, child in border.children(module):
                if not isinstance(child, keras.Variable):
                    self._note(child, f"{path}.{name}".removeprefix("."), classes)


class FirstCall:
    """A function of a step, by default the one that is timed, with run metadata at its first call."""

    def __init__(self, step: Any, name: str = "_run") -> None:
        """Take the place of the step's function until it was called."""
        self._step, self._name, self._run = step, name, getattr(step, name)
        self._before = 0
        self.arguments: tuple[Any, ...] = ()
        self.graph: dict[str, nodes.Node] = {}
        setattr(step, name, self)

    def __getattr__(self, name: str) -> Any:
        """Return what the function itself has."""
        return getattr(self._run, name)

    def __call__(self, *args: Any) -> Any:
        """Call the function, and note the graphs that it has become."""
        setattr(self._step, self._name, self._run)
        self.arguments = args
        context.enable_run_metadata()
        try:
            found = self._run(*args)
            metadata = context.export_run_metadata()
        finally:
            context.disable_run_metadata()
        graphs = [(dict(_nodes(one.post_optimization_graph)), one) for one in metadata.function_graphs]
        if graphs:  # the step's own is the largest: metadata has those of assignments before, too
            self.graph, whole = max(graphs, key=lambda one: len(one[0]))
            self._before = sum(1 for _ in _nodes(whole.pre_optimization_graph))
        return found

    def facts(self) -> dict[str, float | int | str]:
        """Return what Grappler has done."""
        program = nodes.program(self.graph)
        return {
            "instructions_before": self._before,
            "instructions_after": len(self.graph),
            "fusions": sum(nodes.is_fused(operation) for operation in program),
            "program_sha256": _sha256(program),
        }

    def stages(self) -> list[GraphStage]:
        """Return what each of Grappler's passes makes of the step's graph."""
        return grappler.stages(self._run.get_concrete_function(*self.arguments))


def _nodes(graph: Any) -> Iterator[tuple[str, nodes.Node]]:
    """Go through the nodes of a graph and of its functions, by name."""
    for holder in (graph.node, *(function.node_def for function in graph.library.function)):
        for one in holder:
            inputs = tuple(name.removeprefix("^").partition(":")[0] for name in one.input)
            yield one.name, nodes.Node(one.op, inputs)


def _seen(file: Path) -> Iterator[nodes.Seen]:
    """Go through the events of a trace, in ns from its first line."""
    from tensorflow.tsl.profiler.protobuf.xplane_pb2 import XSpace  # it is no public name

    found = [(plane, line) for plane in XSpace.FromString(file.read_bytes()).planes for line in _lines(plane)]
    first_ns = min((line.timestamp_ns for _, line in found), default=0)
    for plane, line in found:
        on_device = plane.name.startswith(planes.GPU)
        thread = f"{plane.name} {line.id} {line.name}"
        for event in line.events:
            name = plane.event_metadata[event.metadata_id].name
            if name.startswith(_NO_WORK):
                continue
            stats = _stats(plane, event)
            start_ns = (line.timestamp_ns - first_ns) + event.offset_ps / 1000
            yield nodes.Seen(
                thread=thread,
                start_ns=start_ns,
                end_ns=start_ns + event.duration_ps / 1000,
                name=nodes.called(name, str(stats.get("tf_op", ""))) if on_device else name,
                on_device=on_device,
                instruction=str(stats.get("hlo_op", "")),
                link=int(stats.get("_p", 0) or stats.get("_c", 0)),
            )


def _lines(plane: Any) -> Iterator[Any]:
    """Go through the lines of a plane on which something worked: the host's threads, and a GPU's streams."""
    on_device = plane.name.startswith(planes.GPU)
    if on_device or plane.name.startswith(_HOST):
        yield from (line for line in plane.lines if not on_device or line.name.startswith("Stream"))


def _stats(plane: Any, event: Any) -> dict[str, Any]:
    """Return what is noted of an event, of what is read here."""
    found = {}
    for stat in event.stats:
        name = plane.stat_metadata[stat.metadata_id].name
        if name in _READ:
            told = plane.stat_metadata[stat.ref_value].name if stat.WhichOneof("value") == "ref_value" else None
            found[name] = getattr(stat, stat.WhichOneof("value")) if told is None else told
    return found


def _sha256(lines: list[str]) -> str:
    """Return the hash of a program."""
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()
