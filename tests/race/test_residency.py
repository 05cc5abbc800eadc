"""Who is resident with whom on a GPU, end to end: the scripted framework in real processes, on pretended GPUs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.report.shown import data_of, markdown

from bakeoff.judge.ledger import ledger
from bakeoff.judge.outcome import Outcome
from bakeoff.race.workers.process import ProcessWorker
from bakeoff.store.results import read_records

if TYPE_CHECKING:
    from tests.gpu.pretended import PretendedGpus

pytestmark = pytest.mark.slow

GIB = 1 << 20
"""In KiB, as the script's options count."""

LEAD_S = 1.0


@pytest.fixture
def raced(race: Any) -> Any:
    """Give a function that races scripts of these options on the GPU, in real processes, for one round."""

    def run(*options: str) -> Outcome:
        contenders = [f"fake:step_ms={1 + place},{one}".rstrip(",") for place, one in enumerate(options)]
        outcome: Outcome = race(*contenders, launch=ProcessWorker, device="cuda", max_rounds=1)
        return outcome

    return run


def records_of(outcome: Outcome, purpose: str) -> list[Any]:
    """Return the records of trials of one kind, in the order of their labels."""
    found = read_records(Path(outcome.path)).records.values()
    return sorted((one for one in found if one.trial.purpose == purpose), key=lambda one: one.trial.contender.label)


def test_workers_that_fit_are_resident_together(pretended_gpus: PretendedGpus, raced: Any) -> None:
    """Three of 6 GiB and a context each, on 26: the certificate's trials have measured it before the first round."""
    pretended_gpus.set(0, memory_total_bytes=26 << 30)
    outcome = raced(*[f"gpu_kib={6 * GIB}"] * 3)
    assert (outcome.resident, outcome.apart) == (True, "")
    assert {one.outcome for one in records_of(outcome, "time")} == {"done"}
    for one in records_of(outcome, "certify"):
        assert one.memory.device_process_bytes == (6 * GIB + 307_200) << 10
        assert one.memory.device_reserved_bytes == 6 * GIB << 10


def test_workers_that_do_not_fit_run_one_after_another(pretended_gpus: PretendedGpus, raced: Any) -> None:
    """Each has the GPU for itself, with a lead-in that its clock rises in, and the report says why."""
    pretended_gpus.set(0, memory_total_bytes=20 << 30)
    outcome = raced(*[f"gpu_kib={6 * GIB}"] * 3)
    assert not outcome.resident
    assert outcome.apart.startswith("together they hold about 20.3 GB of the GPU, more than 80 % of the 21.5 GB")
    assert {one.outcome for one in records_of(outcome, "time")} == {"done"}
    for record in records_of(outcome, "time"):
        first, *others = record.blocks
        assert first.lead_ns >= LEAD_S * 1e9
        assert max(one.lead_ns for one in others) < LEAD_S * 1e9
    assert f"one after another: {outcome.apart}" in markdown(outcome)
    assert data_of(outcome)["comparison"]["apart"] == outcome.apart


def test_pools_run_one_after_another(pretended_gpus: PretendedGpus, raced: Any) -> None:
    """Three that take 75 % each are decided all the same, and none has run out of memory."""
    assert pretended_gpus.uuid()
    outcome = raced(*["device_memory=pool"] * 2, "")
    assert outcome.apart.startswith("device_memory=pool: fake:step_ms=1,device_memory=pool, fake:step_ms=2,")
    assert {one.outcome for one in records_of(outcome, "time")} == {"done"}
    certified = [one.memory.device_preallocation for one in records_of(outcome, "certify")]
    assert certified == ["0.75 of the GPU; allocator scripted"] * 2 + ["none; allocator scripted"]
    assert {one.kind for one in ledger(outcome.contenders) if one.key == "device_memory"} == {"asked"}
