"""Where a step's batch comes from, as PyTorch's users write it: copied each step, or from a DataLoader."""

from __future__ import annotations

import multiprocessing
from itertools import cycle
from typing import TYPE_CHECKING, Any

import torch
from torch.utils.data import DataLoader, TensorDataset

from bakeoff.frameworks.feeds import BatchFeed, first_arrays
from bakeoff.frameworks.torch.engine import FEATURE_MAP_AXES, channels_first, channels_last

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Mapping

    from numpy.typing import NDArray

    from bakeoff.frameworks.engine import Feed, Samples, Step
    from bakeoff.frameworks.steps import DeviceBatch


class _Feed(BatchFeed):
    """What both ways have in common: samples in host memory as their users hold them, and the way to the device."""

    def __init__(self, step: Step, samples: Samples) -> None:
        """Lay the samples out as the step takes them: channels first, in its precision."""
        prepared = first_arrays(step, samples)
        self._device = prepared[0].device
        self._formats = [_format_of(tensor) for tensor in prepared]
        pairs = zip(samples.arrays.arrays.values(), prepared, strict=True)
        arrays = [channels_first(array).astype(tensor.cpu().numpy().dtype, copy=False) for array, tensor in pairs]
        super().__init__(samples, arrays)

    def _moved(self, tensors: Iterable[Any], *, pinned: bool = False) -> DeviceBatch:
        """Put a batch on the device; from pinned memory the copy goes on while the next operations are started."""
        pairs = zip(tensors, self._formats, strict=True)
        return self._names.paired(
            [tensor.to(self._device, non_blocking=pinned, memory_format=layout) for tensor, layout in pairs]
        )

    def _canonical(self, array: Any) -> NDArray[Any]:
        """Return a tensor as a canonical array."""
        return channels_last(array.cpu().numpy())


def _format_of(tensor: Any) -> Any:
    """Return the memory format that a step has given to a tensor."""
    is_map = tensor.ndim == FEATURE_MAP_AXES and not tensor.is_contiguous()
    is_last = is_map and tensor.is_contiguous(memory_format=torch.channels_last)
    return torch.channels_last if is_last else torch.preserve_format


class _Copied(_Feed):
    """torch.from_numpy(...).to(device) each step; on a processor the tensor takes over the array's memory."""

    def _endless(self) -> Generator[DeviceBatch]:
        """Copy batch after batch in their fixed order."""
        for arrays in cycle(self._cut()):
            yield self._moved(map(torch.from_numpy, arrays))

    def settings(self) -> dict[str, str | int | float | bool | None]:
        """Return the call, and whether it copies."""
        first = torch.from_numpy(self._arrays[0][:1])
        moved = first.to(self._device, memory_format=self._formats[0])
        return {"input_call": "torch.from_numpy(x).to(device)", "input_copies": moved.data_ptr() != first.data_ptr()}


class _Loaded(_Feed):
    """A DataLoader that shuffles, with worker processes, and with pinned memory where the device is CUDA's."""

    def __init__(self, step: Step, samples: Samples, workers: int) -> None:
        """Make the loader; its processes start with the first batch, and stay for all epochs."""
        super().__init__(step, samples)
        self._pinned = self._device.type == "cuda"
        self._loader: Any = DataLoader(
            TensorDataset(*map(torch.from_numpy, self._arrays)),
            batch_size=self._size,
            shuffle=True,
            generator=torch.Generator().manual_seed(self._seed),
            num_workers=workers,
            persistent_workers=workers > 0,
            pin_memory=self._pinned,
            drop_last=True,
        )

    def _endless(self) -> Generator[DeviceBatch]:
        """Yield epoch after epoch, each shuffled anew."""
        while True:
            for tensors in self._loader:
                yield self._moved(tensors, pinned=self._pinned)

    def settings(self) -> dict[str, str | int | float | bool | None]:
        """Return how the loader is set."""
        return {
            "input_call": "torch.utils.data.DataLoader",
            "loader_workers": self._loader.num_workers,
            "loader_pinned": self._loader.pin_memory,
        }

    def processes(self) -> list[int]:
        """Return the loader's processes: this one starts no others."""
        return [child.pid for child in multiprocessing.active_children() if child.pid is not None]

    def close(self) -> None:
        """End the loader's processes, as PyTorch does when nothing refers to the loader any more."""
        super().close()
        self._loader._iterator = None  # noqa: SLF001 - persistent workers have no public end


def feed(step: Step, samples: Samples, options: Mapping[str, str]) -> Feed:
    """Return the way of input that the option names."""
    if options["input"] == "pipeline":
        return _Loaded(step, samples, int(options["loader_workers"]))
    return _Copied(step, samples)
