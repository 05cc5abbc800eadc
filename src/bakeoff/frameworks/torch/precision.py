"""What the option `precision` is in PyTorch: automatic mixed precision as its users write it, or TF32 allowed.

bfloat16 and float16 are torch.autocast around the forward pass and the loss: parameters, their gradients and the
optimiser stay in float32, and autocast's own lists say which operations are computed in what. float16 adds a
GradScaler.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from bakeoff.frameworks.torch import functions
from bakeoff.frameworks.torch.accumulation import accumulation
from bakeoff.spec.errors import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Callable

_DTYPES = {
    "float32": torch.float32,
    "tf32": torch.float32,
    "bfloat16": torch.bfloat16,
    "float16": torch.float16,
    "float64": torch.float64,
}

_MIXED = (torch.bfloat16, torch.float16)

TF32_CAPABILITY = (8, 0)
"""NVIDIA's Ampere, the first with TF32 (CUDA C++ Programming Guide, "Compute Capabilities")."""


class Precision:
    """The precision of this process."""

    def __init__(self, name: str, device: str) -> None:
        """Set PyTorch's switches; raise UnsupportedError where the device cannot compute in this precision."""
        if name not in _DTYPES:
            msg = f"PyTorch has no precision={name}; it has {', '.join(_DTYPES)}"
            raise UnsupportedError(msg)
        if reason := _why_not(name, device):
            raise UnsupportedError(reason)
        self.compute = _DTYPES[name]
        """Of products."""
        self._device = device
        self._mixed = self.compute in _MIXED
        self.dtype = torch.float32 if self._mixed else self.compute
        """Of parameters, batches and the optimiser."""
        functions.settle(device, self.dtype)
        # PyTorch lets cuDNN's convolutions use TF32 unless that is switched off: float32 is float32 here.
        torch.set_float32_matmul_precision("high" if name == "tf32" else "highest")
        torch.backends.cudnn.allow_tf32 = name == "tf32"

    def around(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that computes in this precision, for forward pass and loss."""
        if not self._mixed:
            return function

        def mixed(*args: Any) -> Any:
            with torch.autocast(self._device, self.compute):
                return function(*args)

        return mixed

    def update(self, optimizer: Any, clip: Callable[[], None] | None = None) -> Update:
        """Return the way from a loss to the next parameters: with loss scaling where gradients are in float16."""
        return ScaledUpdate(optimizer, clip, self._device) if self.compute == torch.float16 else Update(optimizer, clip)

    def settings(self) -> dict[str, str | int | float | bool | None]:
        """Read back in which precision a product is computed, and what TF32 is allowed for."""
        one = torch.ones((1, 1), dtype=self.dtype, device=self._device)
        computed = str(self.around(torch.mm)(one, one).dtype).removeprefix("torch.")
        tf32_matmul = torch.get_float32_matmul_precision() != "highest"
        tf32_convolution = torch.backends.cudnn.allow_tf32
        is_tf32 = self._device == "cuda" and tf32_matmul and tf32_convolution and computed == "float32"
        return {
            "precision": "tf32" if is_tf32 else computed,
            "parameters_dtype": str(self.dtype).removeprefix("torch."),
            "tf32_matmul": tf32_matmul,
            "tf32_convolution": tf32_convolution,
            "accumulation": accumulation(self.compute, self._device),
        }


class Update:
    """Backward pass and optimiser."""

    def __init__(self, optimizer: Any, clip: Callable[[], None] | None) -> None:
        """Take PyTorch's methods as they are: a step calls nothing else, but for what clips."""
        self._optimizer, self._clip = optimizer, clip
        self.backward: Callable[[Any], None] = torch.Tensor.backward
        self.step: Callable[[], None] = optimizer.step if clip is None else self._clipped

    def _clipped(self) -> None:
        """Clip the gradients and update."""
        assert self._clip is not None
        self._clip()
        self._optimizer.step()

    def differentiate(self, loss: Callable[[], Any]) -> None:
        """Leave a loss's gradients in the parameters, and no others."""
        self._optimizer.zero_grad()
        self.backward(loss())

    def scaling(self) -> str | None:
        """Return how the loss is scaled; None where it is not."""
        return None

    def scale_state(self) -> dict[str, Any]:
        """Return what steps change of the loss scaling: nothing where there is none."""
        return {}

    def put_scale_back(self, state: dict[str, Any]) -> None:
        """Put back what `scale_state` has returned."""


class ScaledUpdate(Update):
    """The same by PyTorch's GradScaler, which skips an update whose gradients overflow and then halves its scale."""

    def __init__(self, optimizer: Any, clip: Callable[[], None] | None, device: str) -> None:
        """Start at PyTorch's own scale."""
        super().__init__(optimizer, clip)
        self._scaler = torch.amp.GradScaler(device)
        self.backward, self.step = self._backward, self._step

    def _backward(self, loss: Any) -> None:
        """Compute gradients of the scaled loss."""
        self._scaler.scale(loss).backward()

    def _step(self) -> None:
        """Update the parameters, and the scale; what is clipped is unscaled before."""
        if self._clip is not None:
            self._scaler.unscale_(self._optimizer)
            self._clip()
        self._scaler.step(self._optimizer)
        self._scaler.update()

    def differentiate(self, loss: Callable[[], Any]) -> None:
        """Leave the gradients of the loss itself; where they overflow the scale is halved, as the first steps do it."""
        while True:
            super().differentiate(loss)
            groups = self._optimizer.param_groups
            gradients = [p.grad for group in groups for p in group["params"] if p.grad is not None]
            scale = self._scaler.get_scale()
            if scale <= 1 or all(bool(gradient.isfinite().all()) for gradient in gradients):
                break
            self._scaler.update(scale / 2)
        for gradient in gradients:
            gradient.div_(scale)

    def scaling(self) -> str | None:
        """Return how the loss is scaled."""
        grows = f"times {self._scaler.get_growth_factor():g} after {self._scaler.get_growth_interval()} steps"
        return f"dynamic: {grows}, times {self._scaler.get_backoff_factor():g} at an overflow"

    def scale_state(self) -> dict[str, Any]:
        """Return the scale, and for how many steps it has not overflowed."""
        return dict(self._scaler.state_dict())

    def put_scale_back(self, state: dict[str, Any]) -> None:
        """Fill the scaler's own tensors."""
        self._scaler.load_state_dict(state)


def _why_not(name: str, device: str) -> str:
    """Return why a device cannot compute in this precision; nothing where it can."""
    if (device, name) == ("mps", "float64"):
        return "MPS has no float64; choose precision=float32 or device=cpu"
    if name == "tf32" and device != "cuda":
        return f"precision=tf32 is a mode of NVIDIA's tensor cores, and the device is {device}"
    if name == "tf32" and (found := torch.cuda.get_device_capability()) < TF32_CAPABILITY:
        major, minor = found
        gpu = torch.cuda.get_device_name()
        return f"precision=tf32 needs CUDA compute capability 8.0, and {gpu} has {major}.{minor}"
    return ""
