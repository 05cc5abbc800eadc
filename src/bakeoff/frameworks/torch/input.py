"""Where a step's batch comes from, as PyTorch's users write it: copied each step, or from a DataLoader."""

from __future__ import annotations

import multiprocessing
from itertools import cycle
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch.utils.data import DataLoader, TensorDataset

from bakeoff.frameworks.feeds import BatchFeed, cut

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

    from numpy.typing import NDArray

    from bakeoff.frameworks.engine import Feed, Samples, Step

_FEATURE_MAP_AXES = 4  # batch, height, width, channels


class _Feed(BatchFeed):
    """What both ways have in common: samples in host memory as their users hold them, and the way to the device."""

    def __init__(self, step: Step, samples: Samples) -> None:
        """Lay the samples out as the step takes them: channels first, in its precision."""
        size = samples.batch_size
        x, y = step.prepare(samples.x[:size], samples.y[:size])
        self._device = x.device
        self._is_map = samples.x.ndim == _FEATURE_MAP_AXES
        channels_last = self._is_map and not x.is_contiguous() and x.is_contiguous(memory_format=torch.channels_last)
        self._format = torch.channels_last if channels_last else torch.preserve_format
        given = np.ascontiguousarray(samples.x.transpose(0, 3, 1, 2)) if self._is_map else samples.x
        self._x = given.astype(x.cpu().numpy().dtype, copy=False)
        self._y = samples.y.astype(y.cpu().numpy().dtype)
        self._size = size
        super().__init__()

    def _moved(self, x: Any, y: Any, *, pinned: bool = False) -> tuple[Any, Any]:
        """Put a batch on the device; from pinned memory the copy goes on while the next operations are started."""
        x = x.to(self._device, non_blocking=pinned, memory_format=self._format)
        return x, y.to(self._device, non_blocking=pinned)

    def read(self, batch: tuple[Any, Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Give a batch in canonical layout."""
        x, y = (tensor.cpu().numpy() for tensor in batch)
        return (x.transpose(0, 2, 3, 1) if self._is_map else x), y


class _Copied(_Feed):
    """torch.from_numpy(...).to(device) each step; on a processor the tensor takes over the array's memory."""

    def _endless(self) -> Generator[tuple[Any, Any]]:
        """Copy batch after batch in their fixed order."""
        for x, y in cycle(cut(self._x, self._y, self._size)):
            yield self._moved(torch.from_numpy(x), torch.from_numpy(y))

    def settings(self) -> dict[str, str | int | float | bool | None]:
        """Tell the call, and whether it copies."""
        batch = torch.from_numpy(self._x[:1])
        moved = batch.to(self._device, memory_format=self._format)
        return {"input_call": "torch.from_numpy(x).to(device)", "input_copies": moved.data_ptr() != batch.data_ptr()}


class _Loaded(_Feed):
    """A DataLoader that shuffles, with worker processes, and with pinned memory where the device is CUDA's."""

    def __init__(self, step: Step, samples: Samples, workers: int) -> None:
        """Make the loader; its processes start with the first batch, and stay for all epochs."""
        super().__init__(step, samples)
        self._pinned = self._device.type == "cuda"
        self._loader: Any = DataLoader(
            TensorDataset(torch.from_numpy(self._x), torch.from_numpy(self._y)),
            batch_size=samples.batch_size,
            shuffle=True,
            generator=torch.Generator().manual_seed(samples.seed),
            num_workers=workers,
            persistent_workers=workers > 0,
            pin_memory=self._pinned,
            drop_last=True,
        )

    def _endless(self) -> Generator[tuple[Any, Any]]:
        """Give epoch after epoch, each shuffled anew."""
        while True:
            for x, y in self._loader:
                yield self._moved(x, y, pinned=self._pinned)

    def settings(self) -> dict[str, str | int | float | bool | None]:
        """Tell how the loader is set."""
        return {
            "input_call": "torch.utils.data.DataLoader",
            "loader_workers": self._loader.num_workers,
            "loader_pinned": self._loader.pin_memory,
        }

    def processes(self) -> list[int]:
        """Give the loader's processes: this one starts no others."""
        return [child.pid for child in multiprocessing.active_children() if child.pid is not None]

    def close(self) -> None:
        """End the loader's processes, as PyTorch does when nothing refers to the loader any more."""
        super().close()
        self._loader._iterator = None  # noqa: SLF001 - persistent workers have no public end


def feed(step: Step, samples: Samples, options: Mapping[str, str]) -> Feed:
    """Give the way of input that the option names."""
    if options["input"] == "pipeline":
        return _Loaded(step, samples, int(options["loader_workers"]))
    return _Copied(step, samples)
