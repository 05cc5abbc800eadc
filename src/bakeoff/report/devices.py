"""What contenders held of accelerators: of the whole process from outside, and by the framework's own allocator."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bakeoff.report.units import UNKNOWN, size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bakeoff.judge.outcome import ContenderOutcome


def device_cells(contenders: Sequence[ContenderOutcome]) -> list[list[str]]:
    """Give label, process, live peak, reserve and policy of those that ran on an accelerator."""
    found = []
    for one in contenders:
        memory = one.memory
        if memory is None or one.plan.contender.options.get("device", "cpu") == "cpu":
            continue
        process = size(memory.device_process_bytes)
        process += f" ({memory.device_reason})" if memory.device_process_bytes is None and memory.device_reason else ""
        counts = [size(memory.device_peak_bytes), size(memory.device_reserved_bytes)]
        found.append([one.label, process, *counts, memory.device_preallocation or UNKNOWN])
    return found


def device_line(contenders: Sequence[ContenderOutcome]) -> str:
    """Tell it in a sentence; empty where nobody ran on an accelerator."""
    told = [
        f"{label} {process} (live at most {live}, reserved {reserved}; taken beforehand: {policy})"
        for label, process, live, reserved, policy in device_cells(contenders)
    ]
    return f"Held of the device by the whole process: {', '.join(told)}." if told else ""
