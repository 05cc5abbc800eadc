"""What a benchmark and a use case stand for in a study's file, so that it is written once, in spec/use_cases.py."""

from __future__ import annotations

from typing import Any

from bakeoff.spec.use_cases import benchmark_of, use_case_of
from bakeoff.workloads.load import load


def filled(raw: dict[str, Any]) -> dict[str, Any]:
    """Return a study's file with a workload, scenario and batch in place of each benchmark and use case.

    Raises UnknownNameError for a benchmark or a number that there is not.
    """
    declared = raw.get("comparisons")
    if not isinstance(declared, list):
        return raw
    return raw | {"comparisons": [_meant(one) if _names_both(one) else one for one in declared]}


def _names_both(declared: Any) -> bool:
    """Return whether a comparison is declared by a benchmark and a use case."""
    return isinstance(declared, dict) and {"benchmark", "use_case"} <= declared.keys()


def _meant(declared: dict[str, Any]) -> dict[str, Any]:
    """Return one comparison as it is meant; what else it says stays."""
    name = str(declared["benchmark"])
    number, work = use_case_of(str(declared["use_case"])), benchmark_of(name)
    workload = number.workload_of(work)
    given = {key: value for key, value in declared.items() if key not in ("benchmark", "use_case")}
    batch_size = int(number.batch_size_of(work) or load(workload).size("full").batch_size)
    return {"name": name, "workload": workload, "scenario": number.scenario, "batch_size": batch_size} | given
