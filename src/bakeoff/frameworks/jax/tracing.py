"""JAX's profiler: XLA's operations as events, each with its place in the model, from the compiled program.

In mode=eager every operation is a program of its own, which carries no scopes: its kind is all that is known. Not run
on a GPU by us.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import jax

from bakeoff.frameworks import hlo, scopes, xla
from bakeoff.frameworks.jax import nn
from bakeoff.frameworks.jax.xplanes import RUN, STEP, Profile, read
from bakeoff.frameworks.origins import NOTE, Origin, origins
from bakeoff.frameworks.tracing import ALL_PASSES, LOSS, OPTIMIZER, WHOLE, Trace
from bakeoff.spec.vocabulary import LAYERS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from flax import nnx

    from bakeoff.frameworks.hlo import Fact
    from bakeoff.spec.explained import GraphStage, Level

    Work = Callable[[Callable[[], AbstractContextManager[Any]]], None]

_CALLED = ("__call__", "attend")
"""What a model calls of a layer."""

_EAGER = (
    "in mode=eager each operation is a program of its own, and XLA's profiler names it without the layer that called it"
)


class Tracer:
    """JAX's profiler in this process."""

    level: Level = "layers"
    reason = ""
    counts = True

    def __init__(self) -> None:
        """Begin with a model without layers."""
        self.layers: dict[str, str] = {}
        """The vocabulary's class of each layer, by its path."""
        self._texts: dict[str, str] = {}
        """The programs that ran, by their names; of several of one name the newest."""
        self._known: dict[str, dict[str, Origin]] = {}
        self._facts: dict[str, Fact] = {}
        self._stages: list[GraphStage] = []
        self._count = 0

    def scoped(self, build: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        """Return a workload's `build` that opens scopes: names of instructions, and nothing else in the program."""

        def built(vocabulary: Any, size: Any) -> Any:
            model = build(_scoped(vocabulary), size)
            self.layers = _named(model)
            return model

        return built

    def attach(self, step: Any) -> None:
        """Put the loss and the optimiser's update of a training step into scopes."""
        if hasattr(step, "rename"):
            step.rename(_loss, lambda update: scopes.within(jax.named_scope, OPTIMIZER, update))

    def trace(self, step: Any, work: Work, folder: Path) -> Trace:
        """Trace some steps and read what XLA's profiler saw."""
        options = jax.profiler.ProfileOptions()
        # Python's own calls are not XLA's work, and tracing them costs more than the work.
        options.python_tracer_level = 0
        self._count += 1
        own = folder / str(self._count)  # JAX names what it writes by the second, and would write over it
        with _watched(step) as batches:
            jax.profiler.start_trace(str(own), profiler_options=options)
            try:
                work(lambda: jax.profiler.TraceAnnotation(STEP))
            finally:
                jax.profiler.stop_trace()
        files = sorted(str(path.relative_to(folder)) for path in own.rglob("*") if path.is_file())
        profile = Profile(one for name in files if name.endswith(".xplane.pb") for one in read(folder / name))
        self._look_up(profile.programs() - self._known.keys())
        self._note_program(step, batches)
        events, missing = profile.events(self._known)
        notes = self._notes(missing, len(events))
        return Trace(
            steps=profile.steps(), events=events, notes=notes, facts=self._facts, stages=self._stages, files=files
        )

    def _notes(self, missing: int, events: int) -> list[str]:
        """Return what a reader has to know, with how many of the events name no known instruction."""
        notes = [NOTE] if self.level == "layers" else []
        if missing:
            notes.append(f"{missing} of {events} events name an instruction that no program has.")
        return [*notes, *xla.notes(self._facts)]

    def _look_up(self, names: set[str]) -> None:
        """Read the programs of these names, of those that this process has compiled."""
        found: dict[str, dict[str, Origin]] = {name: {} for name in names}
        for executable in jax.devices()[0].client.live_executables():
            for module in executable.hlo_modules():
                if module.name in found:
                    text = module.to_string()
                    self._texts.setdefault(module.name, text)
                    found[module.name] = origins(hlo.parsed(text), self.layers) | found[module.name]
        self._known |= found

    def _note_program(self, step: Any, batches: list[Any]) -> None:
        """Note facts about the step's program, once; there is none in mode=eager."""
        if self._facts or not batches:
            return
        function, arguments = step.call(batches[-1])
        if not hasattr(function, "lower"):
            self.level, self.reason = "kinds", _EAGER
            return
        before = hlo.parsed(function.lower(*arguments).as_text("hlo"))
        if before.name not in self._texts:
            return
        text = self._texts[before.name]
        module = hlo.parsed(text)
        self._stages = [hlo.stage(before), hlo.stage(module, ALL_PASSES)]
        self._facts = {
            "instructions_before": hlo.instructions(before),
            "instructions_after": hlo.instructions(module),
            "fusions": hlo.fusions(module),
            "program_sha256": hlo.sha256(text),
        }
        if jax.default_backend() != "cpu":
            self._facts[xla.FACT] = xla.command_buffers()


def _scoped(vocabulary: Any) -> Any:
    """Return the vocabulary with each function in a scope of its name."""
    return scopes.vocabulary(vocabulary, scopes.functions(vocabulary, jax.named_scope))


def _loss(loss: Any) -> Any:
    """Return a `partial` of a workload's loss, in a scope of its own and with those of the functions that it calls."""
    _, *others = loss.args
    return scopes.within(jax.named_scope, scopes.layer(LOSS), type(loss)(loss.func, _scoped(nn), *others))


def _named(model: nnx.Module) -> dict[str, str]:
    """Have each layer of a model open a scope of its path where it is called; return the vocabulary's class of each.

    A layer that stands under two paths has the first, as its parameters have.
    """
    classes = {kind: name for name in LAYERS if isinstance(kind := getattr(nn, name), type)}
    found: dict[str, str] = {}
    seen: set[int] = set()

    def walk(module: Any, path: tuple[str, ...]) -> None:
        name = next((classes[kind] for kind in type(module).__mro__ if kind in classes), None)
        if name is None or id(module) in seen:
            return
        seen.add(id(module))
        children = enumerate(module) if name == "ModuleList" else list(vars(module).items())
        if name != "ModuleList":
            found[".".join(path) or WHOLE] = name
            _open(module, scopes.layer(".".join(path)))
        for key, child in children if name in ("Module", "ModuleList") else ():
            walk(child, (*path, str(key)))

    walk(model, ())
    return found


def _open(module: nnx.Module, scope: str) -> None:
    """Make one layer open a scope: its class becomes one of its own, since flax takes no functions as attributes."""
    kind: Any = type(module)
    called = {name: getattr(kind, name) for name in _CALLED if hasattr(kind, name)}
    body = {name: scopes.within(jax.named_scope, scope, method) for name, method in called.items()}
    object.__setattr__(module, "__class__", type(kind)(kind.__name__, (kind,), body))


@contextmanager
def _watched(step: Any) -> Iterator[list[Any]]:
    """Mark what starts a step, and give the last batch that it took."""
    batches: list[Any] = []
    started = step.run

    def run(batch: Any) -> None:
        batches[:] = [batch]
        with jax.profiler.TraceAnnotation(RUN):
            started(batch)

    step.run = run
    try:
        yield batches
    finally:
        del step.run
