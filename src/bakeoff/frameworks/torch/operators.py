"""What PyTorch's profiler calls operations, and the kind that each is of; without PyTorch, so that it can be tested."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bakeoff.spec.explained import NodeClass, OperationKind

WHOLE: tuple[OperationKind, ...] = ("convolution", "matrix product", "recurrent", "attention", "normalisation")
"""Kinds whose operators are of one kind with all that they call: a convolution's own copies are a part of it."""

_KINDS: tuple[tuple[OperationKind, tuple[str, ...]], ...] = (
    ("convolution", (r".*(?<!un)conv(olution|\dd|_\w*\dd|_tbc).*",)),
    ("attention", (r".*(scaled_dot_product|attention).*",)),
    ("recurrent", (r"(\w+_)?(lstm|gru|rnn)(_\w+)?",)),
    (
        "matrix product",
        (r"(addmm|mm|bmm|baddbmm|addbmm|addmv|mv|matmul|linear|dot|einsum|mkl_linear|mkldnn_linear)\w*",),
    ),
    ("normalisation", (r".*(batch|layer|group|instance|rms)_norm.*",)),
    ("communication", (r"(all_?reduce|all_?gather|reduce_scatter|all_?to_?all)\w*", r"broadcast_")),
    (
        "data movement",
        (
            r"copy|to|to_copy|contiguous|clone|cat|stack|detach|alias|lift_fresh|result_type|resolve_\w+|reorder_to|to_\w+",
            r"empty\w*|new_\w+|zeros\w*|ones\w*|full\w*|fill|zero|scalar_tensor|arange|one_hot|resize",
            r"as_strided|(unsafe_)?view\w*|reshape\w*|flatten|unflatten|(un)?squeeze|expand\w*|broadcast_to|repeat\w*",
            r"transpose|t|permute|select\w*|slice\w*|narrow|split\w*|chunk|unbind|roll|flip|im2col|col2im",
            r"pad|constant_pad_nd|reflection_pad\dd|replication_pad\dd|index|index_\w+|gather|scatter\w*|take\w*",
            r"embedding|embedding_dense",
        ),
    ),
    (
        "reduction",
        (
            r"sum|mean|max|min|amax|amin|argmax|argmin|topk|logsumexp|var|std|var_mean|std_mean|norm|linalg_vector_norm|prod",
            r"\w*pool\w*|all|any|cumsum|nll_loss\w*|embedding_bag\w*|foreach_norm|segment_reduce|item|local_scalar_dense",
        ),
    ),
)
"""By the first that matches an operator's name without its namespace; all others work element by element."""

_AFFIX = r"_?(?:{})(_backward\d?|_forward)?(_out)?_?"
"""What may stand around a name: an internal form, a gradient, a given result, an operation in place."""
_PATTERNS = [(kind, re.compile(_AFFIX.format("|".join(parts)))) for kind, parts in _KINDS]

_EXPENSIVE: tuple[OperationKind, ...] = ("convolution", "matrix product", "recurrent", "attention")
_NO_OP = re.compile(
    r"_?((unsafe_)?view\w*|reshape\w*|(un)?squeeze\w*|expand\w*|permute|transpose|t|alias|detach|getitem|full\w*"
    r"|scalar_tensor|select|slice|split\w*|unbind|lift_fresh\w*|iota|arange|empty\w*|as_strided|sym_size\w*)"
)
"""Nodes that name other entries of the same array, or a constant."""

_KERNELS: tuple[tuple[str, OperationKind], ...] = (
    ("nccl", "communication"),
    ("memset", "data movement"),
    ("flash|fmha|attention", "attention"),
    ("rnn|lstm", "recurrent"),
    ("conv|winograd|wgrad|dgrad|fprop", "convolution"),
    ("gemm|cutlass|gemv", "matrix product"),
    ("batch_?norm|layer_?norm|bn_", "normalisation"),
    ("reduce", "reduction"),
    ("elementwise|vectorized|multi_tensor", "element-wise"),
    ("copy|transpose|cat", "data movement"),
)
"""Kernels of cuDNN, cuBLAS, NCCL and PyTorch by what is in their names, for those that no operator has started."""

_GENERATED = re.compile(r"(?:graph_\d+_)?((?:cpp|triton)_\w+)$")
"""A kernel that torch.compile has generated; on a processor with the number of its graph in front."""

_WORK = re.compile(r"(gloo|nccl|mpi|ucc):\w")
"""A collective's own work by its backend. On a processor it is on a thread of the backend's, on which it waits for the
other replicas, too: `c10d::allreduce_` only starts it (torch/csrc/distributed/c10d/ProcessGroupGloo.cpp)."""

_NATIVE = re.compile(r"(?!autograd::|torch::autograd|c10::|cuda)\w+::\w")
"""An operator: its namespace and its name."""


def operation(name: str) -> str:
    """Return an operator's or a generated kernel's name without what stands before it; empty for anything else."""
    if generated := _GENERATED.match(name):
        return generated[1]
    return name.rpartition("::")[2].partition(".")[0] if _NATIVE.match(name) else ""


def is_generated(name: str) -> bool:
    """Return whether torch.compile has generated a kernel, by its name."""
    return _GENERATED.match(name) is not None


def is_work(name: str) -> bool:
    """Return whether an event is a collective's own work, from its start to its end."""
    return _WORK.match(name) is not None


def is_region(name: str) -> bool:
    """Return whether an event is the run of one compiled graph, as Inductor marks it."""
    return name.endswith("_inductor_wrapper_call")


def kind(name: str) -> OperationKind:
    """Return what an operator does, by its name without its namespace."""
    return next((found for found, pattern in _PATTERNS if pattern.fullmatch(name)), "element-wise")


def node_class(name: str) -> NodeClass:
    """Return what a node of a traced graph costs, by its operator's name; one without a name is an input."""
    if not name or _NO_OP.fullmatch(name):
        return "no op"
    return "expensive" if kind(name) in _EXPENSIVE else "cheap"


def kernel_kind(name: str) -> OperationKind | None:
    """Return the kind of what runs on a GPU by its own name; None where that says nothing."""
    if name.startswith("Memcpy"):
        return "data movement" if "DtoD" in name else "device copy"
    return next((found for words, found in _KERNELS if re.search(words, name.lower())), None)
