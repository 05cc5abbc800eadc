"""PyTorch's switches behind the common options: memory format, optimiser kernels, cuDNN, oneDNN, Inductor's passes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from bakeoff.frameworks.torch import attention, graphs, recurrent
from bakeoff.frameworks.torch.replicas import Replicas
from bakeoff.spec.errors import UnsupportedError
from bakeoff.spec.options import DEFAULT

if TYPE_CHECKING:
    from collections.abc import Mapping

_FORMATS = {"nchw": torch.contiguous_format, "nhwc": torch.channels_last}

_KERNELS: dict[str, dict[str, bool]] = {DEFAULT: {}, "foreach": {"foreach": True}, "fused": {"fused": True}}

_WITHOUT_PASSES = {
    "pattern_matcher": False,
    "use_pre_grad_passes": False,
    "use_joint_graph_passes": False,
    "use_post_grad_passes": False,
}
"""Inductor's options (torch/_inductor/config.py) that rewrite the traced graph; it goes on to fuse and to generate."""


class Switches:
    """What a contender's options set in this process."""

    def __init__(self, options: Mapping[str, str], replicas: Replicas | None = None) -> None:
        """Set what is global; raise UnsupportedError where this PyTorch has no such switch."""
        self.options = options
        self.replicas = Replicas() if replicas is None else replicas
        self._format = _FORMATS[options["layout"]]
        self.kernel = options["optimizer_kernel"]
        self.per_sample = options.get("per_sample", "")
        self._rewrites = options["graph_optimization"] == "on"
        self._compile_mode = options.get("compile_mode", DEFAULT)
        _set_convolutions(options["conv_algorithm"])
        _set_onednn(options["onednn"])
        _set_attention(options["attention"])
        recurrent.choose(options["lstm"], options["lengths"])
        graphs.choose(options["aggregate"], options["device"])

    def placed(self, values: Any) -> Any:
        """Return a network or a feature map in the memory format of the layout; its axes keep their order."""
        return values.to(memory_format=self._format)

    def compiled(self, function: Any) -> Any:
        """Return the function as torch.compile makes it; it takes a mode or options, never both."""
        if self._compile_mode != DEFAULT:
            return torch.compile(function, mode=self._compile_mode)
        return torch.compile(function) if self._rewrites else torch.compile(function, options=_WITHOUT_PASSES)

    def settings(self, network: Any, device: str, mode: str) -> dict[str, str | int | float | bool | None]:
        """Read back what is in force; None where there is nothing that it could be in force for."""
        return {
            "layout": _layout(network),
            "conv_algorithm": _convolutions() if device == "cuda" else None,
            "graph_optimization": ("on" if self._rewrites else "off") if mode == "compiled" else None,
            "onednn": _onednn() if device == "cpu" else None,
            "attention": _attention(device, mode),
            **recurrent.settings(network),
            **graphs.in_force.settings(),
            "compile_mode": self._compile_mode if mode == "compiled" else None,
            **({"cuda_graphs": _cuda_graphs()} if device == "cuda" and mode == "compiled" else {}),
        }


def kernel_arguments(kernel: str, native: Any) -> dict[str, bool]:
    """Return the arguments that choose an optimiser's kernel; raise UnsupportedError where it has no such kernel."""
    if kernel == "fused" and native is torch.optim.RMSprop:
        msg = "torch.optim.RMSprop has no fused kernel; choose optimizer_kernel=foreach or default"
        raise UnsupportedError(msg)
    return _KERNELS[kernel]


def kernel_of(optimizer: Any) -> str:
    """Return the kernel that an optimiser was asked for, read back, or the one that PyTorch takes by itself.

    That is foreach where the device has it, as CUDA, and else a loop over the parameters: "default".
    """
    defaults = optimizer.defaults
    if defaults.get("fused"):
        return "fused"
    takes_foreach = defaults["foreach"] is None and _takes_foreach(optimizer)
    return "foreach" if defaults["foreach"] or takes_foreach else DEFAULT


def _takes_foreach(optimizer: Any) -> bool:
    """Return whether PyTorch's optimisers choose foreach for these parameters; they have no public name to ask."""
    try:
        from torch.optim.optimizer import _default_to_fused_or_foreach
    except ImportError:
        return False
    parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    _, foreach = _default_to_fused_or_foreach(parameters, differentiable=False, use_fused=False)
    return bool(foreach)


def _cuda_graphs() -> bool | None:
    """Return whether compiled code was recorded as CUDA graphs; None where PyTorch does not tell. Not run by us."""
    try:
        from torch._inductor.cudagraph_trees import get_manager

        return get_manager(torch.cuda.current_device(), create_if_none_exists=False) is not None
    except (ImportError, TypeError):  # it is no public name
        return None


def _layout(network: Any) -> str | None:
    """Return how a network's feature maps lie, by a kernel in which both formats differ; None without one."""
    for tensor in network.parameters():
        if tensor.ndim == 4 and not tensor.is_contiguous():  # noqa: PLR2004 - out, channels, height, width
            return "nhwc"
    return "nchw" if any(_is_telling(tensor) for tensor in network.parameters()) else None


def _is_telling(tensor: Any) -> bool:
    """Return whether a kernel lies in one format only: of one channel, or of one pixel, it lies in both."""
    return bool(tensor.ndim == 4 and tensor.shape[1] > 1 and tensor[0, 0].numel() > 1)  # noqa: PLR2004 - as above


def _set_convolutions(algorithm: str) -> None:
    """Choose how cuDNN selects its algorithms: by its heuristics, by trying them, or the deterministic ones only."""
    if algorithm == DEFAULT:
        return
    torch.backends.cudnn.benchmark = algorithm == "profiling"
    torch.backends.cudnn.deterministic = algorithm == "fixed"


def _convolutions() -> str:
    """Read back how cuDNN selects."""
    if torch.backends.cudnn.deterministic:
        return "fixed"
    return "profiling" if torch.backends.cudnn.benchmark else "heuristic"


def _set_onednn(switch: str) -> None:
    """Switch oneDNN, which PyTorch takes by default wherever it was built with it."""
    if switch == "on" and not torch.backends.mkldnn.is_available():
        msg = f"onednn=on: PyTorch {torch.__version__} here is built without oneDNN"
        raise UnsupportedError(msg)
    if switch != DEFAULT:
        torch.backends.mkldnn.set_flags(switch == "on")


def _onednn() -> str:
    """Read back whether oneDNN is in force."""
    return "on" if torch.backends.mkldnn.is_available() and torch.backends.mkldnn.enabled else "off"


def _set_attention(kernel: str) -> None:
    """Allow one kernel of scaled_dot_product_attention only, as torch.nn.attention.sdpa_kernel does around a call."""
    if kernel == DEFAULT:
        return
    cuda = torch.backends.cuda
    cuda.enable_flash_sdp(kernel == "flash")
    cuda.enable_math_sdp(kernel == "math")
    cuda.enable_mem_efficient_sdp(kernel == "efficient")
    cuda.enable_cudnn_sdp(kernel == "cudnn")


def _attention(device: str, mode: str) -> str | None:
    """Read back which kernels scaled_dot_product_attention took; None where the model has none.

    Where PyTorch was not asked, as in compiled code, those that it may choose from: a processor has two.
    """
    if mode != "compiled" and (taken := attention.taken()) != "":
        return taken
    cuda = torch.backends.cuda
    enabled = {"flash": cuda.flash_sdp_enabled(), "math": cuda.math_sdp_enabled()}
    if device == "cuda":
        enabled |= {"efficient": cuda.mem_efficient_sdp_enabled(), "cudnn": cuda.cudnn_sdp_enabled()}
    return ", ".join(name for name, is_on in enabled.items() if is_on)
