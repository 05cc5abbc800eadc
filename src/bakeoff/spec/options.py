"""The options of a contender: the same names and meanings in every framework.

A framework states in its framework.toml which of them it has, with which values, and its defaults.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

MOST_DIGITS = 18
"""Of a whole number: more do not fit into 64 bits, and Python itself refuses to read thousands."""

DEFAULT = "default"
"""The value of an option that leaves the choice to the framework; records hold what it chose."""


RESIDENT = "resident"
"""The value of `input` with which batches are on the device already; a framework without the option has it so."""

FRAMEWORK = "framework"
"""The value of `denormals` that leaves the processor as the framework has it."""


class Option(msgspec.Struct, frozen=True, kw_only=True):
    """One option: its meaning and, unless they are counts, its values."""

    name: str
    meaning: str
    values: tuple[str, ...] = ()
    """Empty: a whole number from 1 on."""


OPTIONS: dict[str, Option] = {
    option.name: option
    for option in (
        Option(
            name="mode",
            values=("eager", "graph", "compiled"),
            meaning="how a step is executed: operation by operation, as a traced graph, or compiled",
        ),
        Option(
            name="precision",
            values=("float32", "tf32", "bfloat16", "float16", "float64"),
            meaning="the arithmetic of the step, with parameters in float32; float32 is really float32, TF32 off; "
            "float16 scales the loss; float64 is for references",
        ),
        Option(name="device", values=("cpu", "cuda", "mps"), meaning="where the step runs"),
        Option(
            name="device_memory",
            values=("grow", "pool"),
            meaning="how memory of a GPU is taken: as it is asked for, or a large share at the start, as some "
            "frameworks do by themselves",
        ),
        Option(name="threads", meaning="processor threads within one operation, on several devices of each of them"),
        Option(
            name="devices",
            meaning="on how many devices a step is computed, each with a replica of the model and samples of its own: "
            "GPUs, or shares of the processor's cores",
        ),
        Option(
            name="sync",
            values=("ddp", "sharding", "distributed", "mirrored", "multi-worker", "parameter-server", "mpi", "ring"),
            meaning="how several devices agree on a step: the framework's own engine for data parallelism",
        ),
        Option(
            name="batch_statistics",
            values=("local", "global"),
            meaning="on several devices, of which samples BatchNorm and means over counts take their statistics: of "
            "each device's own, or of all devices'",
        ),
        Option(
            name="layout",
            values=("nchw", "nhwc"),
            meaning="the order in which feature maps lie in memory: channels before height and width, or last",
        ),
        Option(
            name="optimizer_kernel",
            values=(DEFAULT, "foreach", "fused"),
            meaning="how the optimiser updates: many parameters in one call each, or everything in one kernel",
        ),
        Option(
            name="conv_algorithm",
            values=(DEFAULT, "heuristic", "profiling", "fixed"),
            meaning="how algorithms of convolutions are chosen on CUDA: by heuristics, by trying them, or only "
            "deterministic ones",
        ),
        Option(
            name="attention",
            values=(DEFAULT, "math", "flash", "efficient", "cudnn"),
            meaning="what computes attention: products and a softmax as its formula has them, or one kernel that keeps "
            "no scores: FlashAttention, the memory-efficient one of xFormers, or cuDNN's",
        ),
        Option(
            name="graph_optimization",
            values=("on", "off"),
            meaning="whether a traced graph is rewritten before it runs",
        ),
        Option(
            name="onednn",
            values=(DEFAULT, "on", "off"),
            meaning="whether operations on a processor may be those of oneDNN (formerly MKL-DNN)",
        ),
        Option(
            name="lstm",
            values=(DEFAULT, "cell", "block", "fused"),
            meaning="what computes an LSTM: a cell of elementary operations at each time step; one operation for a "
            "whole step; or one kernel for the whole sequence",
        ),
        Option(
            name="lengths",
            values=(DEFAULT, "packed", "masked"),
            meaning="what recurrent layers do with samples that are shorter than their batch: they are given packed "
            "sequences without padding; or compute padding, too, and leave it out by masks",
        ),
        Option(
            name="per_sample",
            values=(DEFAULT, "vmap", "loop", "jacobian", "hooks", "closed-form"),
            meaning="how the scenario per-sample-gradients gets each sample's gradient: the gradient of one sample, "
            "vectorised over the batch; one sample after another; the Jacobian of all samples' losses; hooks in the "
            "backward pass of the whole batch; or formulas of each layer",
        ),
        Option(
            name="aggregate",
            values=("segment", "sparse"),
            meaning="what computes a product with a sparse matrix, as a graph's: rows gathered along its elements and "
            "added up by segments; or the framework's own sparse matrix",
        ),
        Option(
            name="input",
            values=(RESIDENT, "per-step", "pipeline"),
            meaning="where a step's batch comes from: from the device already; copied from NumPy within the step; or "
            "from the framework's own loader, which shuffles and prefetches, within the step",
        ),
        Option(
            name="denormals",
            values=(FRAMEWORK, "keep", "flush"),
            meaning="numbers too near to zero for a full fraction, which many processors compute with far more slowly: "
            "as the framework has them by itself, kept, or flushed to zero",
        ),
    )
}

WORKER_OPTIONS: dict[str, Option] = {
    option.name: option
    for option in (
        Option(
            name="malloc",
            values=("settled", "fresh", "keep"),
            meaning="memory that steps free: blocks of up to 32 MiB are kept, as where a large one was once freed; "
            "those of 128 KiB or more are given back at once; or all is kept",
        ),
        Option(
            name="tier",
            values=("matched", "native", "best"),
            meaning="which form races: the workload's model as all others run it, the model that the framework's "
            "users take ready-made, or the workload's with the framework's documented fastest settings",
        ),
    )
}
"""Options that bakeoff's worker provides, so that every framework has them; the first value is the default."""

WATCHED = (
    "LD_PRELOAD",
    "GLIBC_TUNABLES",
    "MALLOC_ARENA_MAX",
    "MALLOC_MMAP_MAX_",
    "MALLOC_MMAP_THRESHOLD_",
    "MALLOC_TRIM_THRESHOLD_",
    "MALLOC_TOP_PAD_",
    "PYTHONMALLOC",
)
"""Variables of the user's environment that matter to every framework; framework.toml names those of a single one. A
name may end in "*"."""

LIBRARIES = "LD_LIBRARY_PATH"
"""Where libraries are looked for before those that a wheel brings along: it matters where CUDA's are there."""

WATCHED_ON = {
    "cuda": (
        LIBRARIES,
        "CUDA_VISIBLE_DEVICES",
        "CUDA_DEVICE_ORDER",
        "CUDA_LAUNCH_BLOCKING",
        "CUDA_MODULE_LOADING",
        "CUDA_DEVICE_MAX_CONNECTIONS",
        "CUDA_CACHE_*",
        "CUDA_MPS_*",
        "CUDNN_*",
        "CUBLAS_WORKSPACE_CONFIG",
        "NCCL_*",
        "NVIDIA_TF32_OVERRIDE",
    ),
}
"""By device, variables that matter to every framework on it (CUDA C++ Programming Guide, "CUDA Environment Variables";
the guides of MPS, cuDNN, cuBLAS and NCCL)."""


def inherited(watched: Iterable[str], environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that are watched and set, in the order of their names."""
    patterns = tuple(watched)
    return {
        name: environment[name]
        for name in sorted(environment)
        if any(fnmatchcase(name, pattern) for pattern in patterns)
        and (name != LIBRARIES or has_cuda_libraries(environment[name]))
    }


def has_cuda_libraries(folders: str) -> bool:
    """Return whether one of the folders of LD_LIBRARY_PATH holds a library of CUDA, which is taken before a wheel's."""
    return any(
        any(Path(folder).glob(f"lib{name}*.so*")) for folder in folders.split(":") if folder for name in CUDA_LIBRARIES
    )


CUDA_LIBRARIES = ("cudart", "cudnn", "cublas", "cufft", "cusolver", "cusparse", "curand", "nccl", "nvrtc", "nvJitLink")
"""Those that frameworks load and that decide what runs; NVML and the driver's own library are the machine's alone."""
