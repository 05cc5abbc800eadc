"""A workload's own metric of parameters: the same code of NumPy for those that any framework has trained."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from bakeoff.spec.errors import ModelFileError
from bakeoff.workloads import plan
from bakeoff.workloads.mistakes import told

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from bakeoff.spec.workload import Size
    from bakeoff.workloads.load import LoadedWorkload


def measured(loaded: LoadedWorkload, size: Size, parameters: Mapping[str, NDArray[Any]]) -> float | None:
    """Return the metric of parameters by canonical name; None where the size declares none, or it is not finite.

    The function gets copies in float64, whatever the framework computes in. Raises ModelFileError where it fails.
    """
    if size.metric is None or loaded.metric is None:
        return None
    import numpy as np

    copies = {name: np.array(value, np.float64) for name, value in parameters.items()}
    with told(loaded.metric.__code__.co_filename, "metric"):
        value = float(loaded.metric(size, copies))
    return value if math.isfinite(value) else None


def check_metric(loaded: LoadedWorkload, size: Size, seed: int) -> None:
    """Raise ModelFileError where a declared metric is no finite number of the weights that training begins with."""
    if size.metric is None or loaded.metric is None:
        return
    if measured(loaded, size, plan.weights(loaded.build, size, seed)) is None:
        place = f"{loaded.metric.__code__.co_filename}:{loaded.metric.__code__.co_firstlineno}"
        msg = f"{place}: metric returned no finite number of the first weights; it must return one number"
        raise ModelFileError(msg)
