"""Run in a framework's own interpreter: take the branches for CUDA beside stand-ins for a GPU, and tell what they did.

PYTHON cuda_child.py FRAMEWORK
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import bakeoff.frameworks
from bakeoff.frameworks import xla
from bakeoff.spec.errors import UnsupportedError
from bakeoff.spec.group import Group
from bakeoff.trial.framework import import_engine

TWO = Group(rank=0, world=2, ports=(1, 2))
OLD, NEW = (7, 5), (8, 0)
ALGORITHMS = ("heuristic", "profiling", "fixed")
OPTIONS = {
    "mode": "compiled",
    "layout": "nhwc",
    "optimizer_kernel": "default",
    "graph_optimization": "on",
    "onednn": "default",
    "attention": "default",
    "lstm": "cell",
    "lengths": "default",
    "aggregate": "segment",
    "device": "cuda",
}


def torch() -> dict[str, Any]:
    """Take PyTorch's."""
    import torch

    from bakeoff.frameworks.torch import precision, switches, tf32, tracing

    def on(capability: tuple[int, int], name: str) -> Any:
        told = {"get_device_capability": lambda: capability, "get_device_name": lambda: "a GPU"}
        with mock.patch.multiple(torch.cuda, **told):
            precision.Precision(name, "cuda")
            return torch.get_float32_matmul_precision() != "highest", torch.backends.cudnn.allow_tf32

    def chosen(algorithm: str) -> Any:
        switches.Switches(OPTIONS | {"conv_algorithm": algorithm})
        return switches._convolutions()

    def words() -> list[str]:
        from bakeoff.frameworks.torch import engine

        with mock.patch.object(torch.version, "cuda", "13.0"):
            return [engine.Engine().why_not("cuda"), engine.Engine().built_for().cuda]

    def kernels(device: str) -> list[str]:
        """Return the kernel that is read back where a device has foreach, for each way to ask."""
        weights = [torch.nn.Parameter(torch.zeros(2))]
        native = "torch.optim.optimizer._get_foreach_kernels_supported_devices"
        with mock.patch(native, return_value=[device]):
            asked = ({}, {"foreach": True}, {"foreach": False}, {"fused": True})
            return [switches.kernel_of(torch.optim.Adam(weights, **way)) for way in asked]

    def compiled(mode: str) -> Any:
        made = switches.Switches(OPTIONS | {"conv_algorithm": "default", "compile_mode": mode})
        with mock.patch.object(torch, "compile") as call:
            made.compiled(torch.mm)
        return call.call_args.kwargs

    def graphs() -> Any:
        with mock.patch.object(torch.cuda, "current_device", return_value=0):
            return switches._cuda_graphs()

    def untold() -> list[str]:
        """Return why a trace has no layers: on CUDA and on a processor, with recorded kernels and without."""
        ways = [
            (device, mode, graphs)
            for device in ("cuda", "cpu")
            for mode in ("compiled", "eager")
            for graphs in (True, None)
        ]
        steps = [
            SimpleNamespace(
                _device=SimpleNamespace(type=device), _mode=mode, settings=lambda told=graphs: {"cuda_graphs": told}
            )
            for device, mode, graphs in ways
        ]
        return [tracing.untold(step) for step in steps]

    def measured() -> Any:
        taken = torch.from_numpy
        with mock.patch.object(torch, "from_numpy", lambda array: taken(array).bfloat16().float()):
            return tf32.measured("cpu")

    return told(on, chosen) | {
        "words": words(),
        "kernels": {"with foreach": kernels("cpu"), "without": kernels("cuda")},
        "compiled": {mode: compiled(mode) for mode in ("default", "reduce-overhead", "max-autotune")},
        "modes": sorted(torch._inductor.list_mode_options()),
        "graphs": graphs(),
        "untold": untold(),
        "measured": measured(),
        "joined": joined(),
        "attended": attended(),
        "patience": torchs_patience(),
    }


def attended() -> list[str]:
    """Return what becomes of an attention that PyTorch says to have no kernel for, on a processor and on CUDA."""
    import torch

    from bakeoff.frameworks.torch import attention

    said = []
    one = torch.zeros(1, 2, 1, 2)
    for words in ("No available kernel. Aborting execution.", "Invalid backend", "something else"):
        with mock.patch.object(attention.F, "scaled_dot_product_attention", side_effect=RuntimeError(words)):
            try:
                attention.attention(one, one, one)
            except (UnsupportedError, RuntimeError) as error:
                said.append(type(error).__name__)
    return said


def joined() -> dict[str, Any]:
    """Return what becomes of a BatchNorm on several devices: its arrays, and what it says of a processor."""
    import torch

    from bakeoff.frameworks.torch import nn, replicas

    alone, all_of_them = torch.nn.Sequential(nn.BatchNorm(3)), torch.nn.Sequential(nn.BatchNorm(3))
    replicas.join(all_of_them)
    layer = all_of_them[0]
    sequence = torch.arange(30.0).reshape(2, 5, 3).sin()
    found: dict[str, Any] = {
        "is joined": isinstance(layer, torch.nn.SyncBatchNorm),
        "arrays": [sorted({**nn.parameters(all_of_them), **nn.state(all_of_them)})],
        "computes the same alone": bool((alone(sequence) == all_of_them(sequence)).all()),
    }
    found["arrays"].append(sorted({**nn.parameters(alone), **nn.state(alone)}))
    with mock.patch.object(torch.distributed, "is_initialized", return_value=True):
        try:
            layer(sequence)
        except ValueError as error:
            found["in a group"] = str(error)
        found["evaluated in a group"] = list(all_of_them.eval()(sequence).shape)
    return found


def torchs_patience() -> float:
    """Return for how long a collective waits, in seconds."""
    import torch

    from bakeoff.frameworks.torch import replicas

    with mock.patch.object(torch.distributed, "init_process_group", autospec=True) as met:
        replicas.Replicas(TWO, {"device": "cpu"})
    return float(met.call_args.kwargs["timeout"].total_seconds())


def jax() -> dict[str, Any]:
    """Take JAX's."""
    from bakeoff.frameworks.jax import precision, switches, tf32

    def on(capability: tuple[int, int], name: str) -> Any:
        made = precision.Precision(name)
        made.check(SimpleNamespace(compute_capability="{}.{}".format(*capability), device_kind="a GPU"))
        settings = made.settings("cuda")
        return settings["tf32_matmul"], settings["tf32_convolution"]

    def chosen(algorithm: str) -> Any:
        return switches.Switches(OPTIONS | {"conv_algorithm": algorithm}).settings("cuda", "compiled")["conv_algorithm"]

    def words() -> list[str]:
        from bakeoff.frameworks.jax import devices

        full = RuntimeError(
            "Unable to initialize backend 'cuda': INTERNAL: no supported devices found for platform CUDA"
        )
        without = devices.in_words("cuda", full)
        with mock.patch.object(devices, "_plugin", return_value="jax-cuda13-plugin"):
            return [devices.in_words("cuda", full), devices.built_for_cuda(), without]

    def patience() -> float:
        import jax

        from bakeoff.frameworks.jax import replicas

        with mock.patch.object(jax.distributed, "initialize", autospec=True) as met:
            replicas._join(TWO, on_cpu=True)
        return float(met.call_args.kwargs["heartbeat_timeout_seconds"])

    def reduced(function: Any) -> Any:
        return lambda *operands: function(*(one.astype("bfloat16") for one in operands)).astype("float32")

    own = switches.Switches(OPTIONS | {"conv_algorithm": "default"}).settings("cuda", "compiled")
    known = {name: own[name] for name in ("conv_algorithm", "command_buffers")}
    return told(on, chosen) | {
        "words": words(),
        "flags": flags(switches),
        "own": known | xlas_own(),
        "measured": tf32.measured(reduced),
        "patience": patience(),
        "attended": cudnns(),
        "attended by": attended_by(),
    }


def cudnns() -> list[bool]:
    """Lower attention of each kind of mask for CUDA; return whether the program, forward and backward, has cuDNN's.

    Behind it whether an attention that drops weights is refused.
    """
    import jax
    import jax.numpy as jnp
    from jax._src.cudnn import fused_attention_stablehlo as fused

    from bakeoff.frameworks.jax import attention, nn, phase
    from bakeoff.spec.errors import UnsupportedError

    queries = jnp.ones((2, 16, 4, 8), jnp.bfloat16)
    masks = (None, jnp.ones((2, 1, 1, 16), bool), jnp.ones((1, 1, 16, 16), bool))
    told = {"check_cudnn_version": lambda: 91900, "check_compute_capability": lambda _: True}
    attention.choose("cudnn")
    found = []
    with mock.patch.multiple(fused, **told, is_cuda_compute_capability_equal=lambda _: False):
        for mask in masks:

            def loss(q: Any, mask: Any = mask) -> Any:
                return attention.attention(q, q, q, mask=mask).astype(jnp.float32).sum()

            lowered = jax.jit(jax.grad(loss)).trace(queries).lower(lowering_platforms=("cuda",))
            text = lowered.as_text()
            found.append(text.count(attention.CUDNNS_CALL) == 2)
    try:
        with phase.training(jax.random.key(0)):
            attention.attention(queries, queries, queries, dropout=nn.Dropout(0.1))
    except UnsupportedError as error:
        found.append("no dropout on its weights" in str(error))
    whole = jnp.broadcast_to(masks[1], (2, 1, 16, 16))
    given = [attention._for_each_pair(one, 16, 16) for one in (masks[1], masks[1].astype(jnp.float32))]
    return [*found, *(bool((one == whole).all()) for one in given), attention._for_each_pair(None, 16, 16) is None]


def attended_by() -> list[str | None]:
    """Return what is read back of no attention, and of programs of XLA's without cuDNN's call and with it."""
    import jax
    import jax.numpy as jnp

    from bakeoff.frameworks.jax import attention

    attention.choose("math")
    attention.forget()
    found = [attention.taken()]
    queries = jnp.ones((1, 2, 1, 2))
    attention.attention(queries, queries, queries)
    for text in ("fusion", f"custom-call {attention.CUDNNS_CALL}Softmax"):
        modules = [SimpleNamespace(to_string=lambda text=text: text)]
        executables = [SimpleNamespace(hlo_modules=lambda modules=modules: modules)]
        client = SimpleNamespace(live_executables=lambda executables=executables: executables)
        with mock.patch.object(jax, "devices", return_value=[SimpleNamespace(client=client, platform="gpu")]):
            found.append(attention.taken())
    return found


def xlas_own() -> dict[str, Any]:
    """Read what XLA takes by itself: each object holds the next, and must not be gone before it is read."""
    from jaxlib import _jax

    options = _jax.CompileOptions()
    building = options.executable_build_options
    lines = [line.partition(": ") for line in repr(building.debug_options).splitlines()]
    said = {flag: [value for name, _, value in lines if name == flag] for flag in (xla.AUTOTUNE, xla.DETERMINISTIC)}
    under_profiler = any((name, value) == (xla.WHILE_PROFILED, "true") for name, _, value in lines)
    recorded = any(name == xla.COMMAND_BUFFERS for name, _, _ in lines)
    return {"xla": said, "recorded": recorded, "recorded under its profiler": under_profiler}


def flags(switches: Any) -> dict[str, Any]:
    """Compile with the flags of every choice of algorithms, and with one that XLA does not have."""
    import jax.numpy as jnp

    def compiled(algorithm: str, **more: Any) -> str:
        made = switches.Switches(OPTIONS | {"conv_algorithm": algorithm})
        made._flags |= more
        try:
            return str(made.executed(lambda x: x + 1)(jnp.ones(())))
        except Exception as error:  # noqa: BLE001 - whatever it is, it is the answer
            return str(error)

    return {algorithm: compiled(algorithm) for algorithm in ALGORITHMS} | {
        "unknown": compiled("heuristic", xla_gpu_nonsense=1)
    }


def tensorflow() -> dict[str, Any]:
    """Take TensorFlow's; its variable is set as the worker sets it before the import."""
    import os

    import numpy as np
    import tensorflow as tf

    from bakeoff.frameworks.tensorflow import devices, precision, switches, tf32

    def on(capability: tuple[int, int], name: str) -> Any:
        details = {"compute_capability": capability, "device_name": "a GPU"}
        with (
            mock.patch.object(tf.config, "get_visible_devices", return_value=["GPU:0"]),
            mock.patch.object(tf.config.experimental, "get_device_details", return_value=details),
        ):
            settings = precision.Precision(name).settings("cuda")
        return settings["tf32_matmul"], settings["tf32_convolution"]

    def labelled() -> dict[str, Any]:
        trained = stepped(tf)  # first of all: it sets what TensorFlow's runtime starts with
        labels = np.arange(3, dtype=np.int32)
        types = [devices.placed(labels, tf.float32).dtype.name]
        with (
            mock.patch.object(tf.config, "list_logical_devices", return_value=["GPU:0"]),
            mock.patch.object(tf.raw_ops, "SyncDevice") as synchronized,
            mock.patch.object(tf, "device", wraps=tf.device) as scopes,
        ):
            types += [devices.placed(labels, tf.float32).dtype.name]
            wait = devices.gpu_waiting()
            wait()
            wait()
            calls = synchronized.call_count
        here = devices.lies_on_gpu((tf.constant(0.0), tf.constant(0)))
        return {
            **trained,
            "labels": types,
            "waits": calls,
            "scopes": {str(call.args[0]) for call in scopes.call_args_list},
            "here": here,
        }

    def chosen(algorithm: str) -> Any:
        os.environ[switches.AUTOTUNE] = {"heuristic": "0"}.get(algorithm, "1")
        switches.switch(OPTIONS | {"conv_algorithm": algorithm})
        return switches.settings("cuda", "graph")["conv_algorithm"]

    def words() -> list[str]:
        from bakeoff.frameworks.tensorflow import engine

        build = {"cuda_version": "12.5.1", "cuda_compute_capabilities": ["sm_60", "compute_90"]}
        with (
            mock.patch.object(tf.test, "is_built_with_cuda", return_value=True),
            mock.patch.object(tf.sysconfig, "get_build_info", return_value=build),
        ):
            built = engine.Engine().built_for()
            return [engine.Engine().why_not("cuda"), built.cuda, *built.kernels]

    def reduced(function: Any) -> Any:
        return lambda *operands: tf.cast(function(*(tf.cast(one, tf.bfloat16) for one in operands)), tf.float32)

    def patience() -> dict[str, Any]:
        """Return how long a collective waits, and whether replicas are asked for signs of life: by itself, and here."""
        from tensorflow.python.distribute.collective_all_reduce_strategy import CollectiveAllReduceExtended

        from bakeoff.frameworks.tensorflow import replicas

        asked = [CollectiveAllReduceExtended._enable_check_health]
        with mock.patch.object(tf.distribute, "MultiWorkerMirroredStrategy") as met, mock.patch.dict(os.environ):
            replicas._multi_worker(TWO, on_cpu=True)
        asked.append(CollectiveAllReduceExtended._enable_check_health)
        return {"asked": asked, "waits_s": met.call_args.kwargs["communication_options"].timeout_seconds}

    placed = labelled()
    found = told(on, chosen) | {"words": words(), "placed": placed | {"scopes": sorted(placed["scopes"])}}
    # TensorFlow ends the process over a flag that XLA lacks.
    program = tf.function(lambda x: x + 1, autograph=False, jit_compile=True)
    found |= {"measured": tf32.measured(reduced), "patience": patience()}
    return found | {"flags": {"all": str(float(program(tf.constant(1.0))))}, "said": os.environ["XLA_FLAGS"]}


def stepped(tf: Any) -> dict[str, Any]:
    """Train a step beside a stand-in for a GPU, whose operations TensorFlow places on the processor."""
    import numpy as np
    import tensorflow_child

    from bakeoff.frameworks.tensorflow import engine
    from bakeoff.spec.batch import labelled

    made = engine.Engine()
    made.configure(tensorflow_child.OPTIONS)
    batch = labelled(np.ones((2, 4, 4, 3), np.float32), np.arange(2, dtype=np.int32))
    losses = []
    for gpus in ([], ["GPU:0"]):
        with mock.patch.object(tf.config, "list_logical_devices", return_value=gpus):
            step = made.build(tensorflow_child.model(), "train", tensorflow_child.OPTIONS)
            prepared = step.prepare(batch)
            step.run(prepared)
            step.wait()
            losses.append(step.result())
    return {"losses": losses, "step": prepared[1].dtype.name, "on_gpu": step.settings()["batch_on_gpu"]}


def told(on: Any, chosen: Any) -> dict[str, Any]:
    """Ask for every branch: TF32 on an old GPU and on a new one, float32 after it, each choice of algorithms."""
    try:
        refused = f"not refused: {on(OLD, 'tf32')}"
    except UnsupportedError as error:
        refused = str(error)
    return {
        "refused": refused,
        "tf32": on(NEW, "tf32"),
        "float32": on(NEW, "float32"),
        "algorithms": [chosen(algorithm) for algorithm in ALGORITHMS],
    }


if __name__ == "__main__":
    import_engine(Path(bakeoff.frameworks.__file__).parent / sys.argv[1])
    print(json.dumps(globals()[sys.argv[1]]()))  # noqa: T201 - its answer
