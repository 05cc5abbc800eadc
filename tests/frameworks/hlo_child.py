"""Run in JAX's interpreter: a small residual network's step, plain and traced, as JSON.

Of the plain and the scoped program it tells whether they are the same, of the latter where each instruction that runs
comes from; of a trace its steps and events; and what is made of an event whose work ends after it.
"""

from __future__ import annotations

import json
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

import bakeoff.frameworks.jax as folder
from bakeoff.frameworks import hlo
from bakeoff.frameworks.engine import Model
from bakeoff.frameworks.jax.engine import Engine
from bakeoff.frameworks.jax.tracing import Tracer
from bakeoff.frameworks.jax.xplanes import STEP, Profile, Seen
from bakeoff.frameworks.origins import Origin
from bakeoff.spec.batch import labelled
from bakeoff.workloads import plan
from bakeoff.workloads.load import load

STEPS = 4


def main() -> None:
    """Print what was found."""
    declared = tomllib.loads(Path(folder.__file__).with_name("framework.toml").read_text("utf-8"))
    options = {name: one["default"] for name, one in declared["options"].items()} | {"threads": "1"}
    engine, tracer = Engine(), Tracer()
    engine.configure(options)
    loaded = load("resnet50-cifar10")
    reduced = loaded.size("reduced")
    size = msgspec.structs.replace(reduced, config=reduced.config | {"width": 8, "stages": (1,)})
    model = Model(
        build=loaded.build,
        loss=loaded.loss,
        size=size,
        optimizer=loaded.workload.optimizer,
        weights=plan.weights(loaded.build, size, 0),
        state=plan.state_values(loaded.build, size, 0),
    )
    plain = engine.build(model, "train", options)
    scoped = engine.build(msgspec.structs.replace(model, build=tracer.scoped(loaded.build)), "train", options)
    tracer.attach(scoped)
    random = np.random.default_rng(0)
    images = random.normal(size=(size.batch_size, *size.input_shape))
    batch = scoped.prepare(labelled(images, np.zeros(size.batch_size, np.int32)))
    told = {"traced": _traced(tracer, scoped, batch), "asynchronous": _asynchronous(), "layers": tracer.layers}
    told["copied"] = _copied()
    told["on_a_gpu"] = _on_a_gpu()
    texts = [_compiled(plain, batch), tracer._texts["jit__next"]]
    told["named"] = [text.count("L.blocks.0.middle.conv") for text in texts]
    lines = [hlo.without_metadata(text).splitlines() for text in texts]
    told["lines"] = list(map(len, lines))
    told["different"] = [pair for pair in zip(*lines, strict=False) if pair[0] != pair[1]]
    module = hlo.parsed(texts[1])
    running = [one for name in module.running() for one in module.computations[name].values()]
    told["products"] = [one.name for one in running if _is_product(module, one)]
    told["origins"] = {name: one._asdict() for name, one in tracer._known["jit__next"].items()}
    sys.stdout.write(json.dumps(told))


def _is_product(module: hlo.Module, one: hlo.Instruction) -> bool:
    """Return whether an instruction is a convolution or a product of matrices, or holds one."""
    return any(each.operation in ("convolution", "dot") for each in (one, *module.within(one)))


def _compiled(step: Any, batch: Any) -> str:
    """Return the text of the program that a step runs."""
    function, arguments = step.call(batch)
    return function.lower(*arguments).compile().as_text()


def _traced(tracer: Tracer, step: Any, batch: Any) -> dict[str, Any]:
    """Return what a trace of some steps says."""

    def work(mark: Any) -> None:
        for _ in range(STEPS):
            with mark():
                step.run(batch)
                step.wait()

    step.run(batch)
    with tempfile.TemporaryDirectory() as place:
        trace = tracer.trace(step, work, Path(place))
        are_there = all((Path(place) / name).is_file() for name in trace.files)
    return {**msgspec.to_builtins(trace), "level": tracer.level, "are_there": are_there}


def _asynchronous() -> list[Any]:
    """Return the event of a convolution that was started in 66 ns and done after 976."""
    started = {"hlo_op": "convolution", "hlo_module": "jit__next", "_p": 7}
    profile = Profile(
        [
            Seen("python", STEP, 0, 1000, {}),
            Seen("pool", "convolution", 10, 76, started),
            Seen("pool", "end: convolution", 976, 977, {"_c": 7}),
            Seen("pool", "end: convolution", 500, 501, {"_c": 6}),
        ]
    )
    events, _ = profile.events({"jit__next": {"convolution": Origin("convolution")}})
    return list(events)


def _copied() -> list[Any]:
    """Return kind and launch of what is traced of a batch that is put on a processor: its copy, and the call."""
    profile = Profile(
        [
            Seen("python", STEP, 0, 1000, {}),
            Seen("python", "shard_args", 10, 40, {}),
            Seen("python", "DevicePutWithSharding", 20, 30, {}),
            Seen("pool", "H2D Dispatch", 25, 900, {}),
        ]
    )
    return [[one.name, one.kind, one.launches] for one in profile.events({})[0]]


def _on_a_gpu() -> list[Any]:
    """Return kind and launch of what a GPU's plane has of instructions: a kernel, one of a recorded buffer, a copy."""
    stats = {name: {"hlo_op": name, "hlo_module": "jit__next"} for name in ("convolution", "call", "while")}
    profile = Profile(
        [
            Seen("host", "cuLaunchKernel", 10, 12, stats["convolution"]),
            Seen("stream", "sm80_xmma_fprop", 20, 80, stats["convolution"], is_gpu=True),
            Seen("stream", "loop_add_fusion", 80, 90, stats["call"], is_gpu=True),
            Seen("stream", "MemcpyD2H", 90, 95, stats["while"], is_gpu=True),
        ]
    )
    runs = Origin("host dispatch", launches=False)
    known = {"jit__next": {"convolution": Origin("convolution"), "call": runs, "while": runs}}
    return [[one.name, one.kind, one.launches] for one in profile.events(known)[0]]


if __name__ == "__main__":
    main()
