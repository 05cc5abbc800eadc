"""Which GPU this process sees, held against the one that the comparison is on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bakeoff.measure.cuda import visible_uuids
from bakeoff.measure.gpus import VISIBLE, same_device, uuid_in
from bakeoff.spec.errors import UnavailableError

if TYPE_CHECKING:
    from bakeoff.spec.trial import TrialSpec


def device_settings(trial: TrialSpec) -> dict[str, str | None]:
    """Return the UUID of the GPU that steps run on, as CUDA tells it; None where it does not, nothing on processors.

    Raises UnavailableError where it is another GPU than the parent reads clocks, memory and energy of.
    """
    if not trial.contender.on_cuda:
        return {}
    seen = visible_uuids()
    wanted = uuid_in(trial.gpu)
    if not seen or not wanted:
        return {"gpu_uuid": seen[0] if seen else None}
    if not same_device(seen[0], wanted):
        msg = (
            f"its process runs on the GPU {seen[0]}, and the comparison is on {wanted}: something in its environment "
            f"sets {VISIBLE} anew"
        )
        raise UnavailableError(msg)
    return {"gpu_uuid": wanted}
