"""Inductor's notes of where its kernels come from; none of these names is public, as PyTorch 2.13 has them."""

from __future__ import annotations

from typing import Any

from torch._inductor import config, debug
from torch._inductor.virtualized import V

_NOTES = "_inductor_triton_kernel_to_post_grad_node_info"
"""Of each graph that is compiled, kernel -> names of nodes: for C++, too, whatever it is called."""
_CALLED = "dump_inductor_provenance_info"
"""Called once behind each graph's code, while V.graph is that graph."""


def watch(noted: Any) -> str:
    """Have each compiled graph handed to `noted`; return why not, where this PyTorch lacks what it takes."""
    lacking = [name for name in (_NOTES, _CALLED) if not hasattr(debug, name)]
    lacking += [name for name in ("enable_kernel_profile",) if not hasattr(config.cpp, name)]
    lacking += [name for name in ("provenance_tracking_level",) if not hasattr(config.trace, name)]
    if lacking:
        return f"this PyTorch's compiler does not say where its kernels come from: it has no {', '.join(lacking)}"
    config.cpp.enable_kernel_profile = True  # a kernel is an event
    config.profiler_mark_wrapper_call = True  # and so is the run of a graph
    config.trace.provenance_tracking_level = 2  # "basic": the notes, without the stacks of Python's calls
    config.force_disable_caches = True  # a graph out of a cache has no notes
    _listen(noted)
    return ""


def _listen(noted: Any) -> None:
    """Hand on the notes where Inductor writes them down for its own logs."""
    native = getattr(debug, _CALLED)
    before: dict[str, Any] = {}

    def listening() -> Any:
        calls = getattr(debug, _NOTES)
        new = {name: list(nodes) for name, nodes in calls.items() if before.get(name) != nodes}
        before.clear()
        before.update({name: list(nodes) for name, nodes in calls.items()})
        graph = V.graph
        region = f"graph_{graph.graph_id}_inductor_wrapper_call"
        noted(region, new, list(graph.orig_gm.graph.nodes), is_backward=bool(graph.is_backward))
        return native()

    setattr(debug, _CALLED, listening)
