"""Each column of an exported table holds what its name says: no two values of these rows are the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from tests.explaining.test_causes import block, record
from tests.report.conftest import JAX, TORCH, outcome, verdict

from bakeoff.report.export.blocks import BLOCKS, BlockRow
from bakeoff.report.export.verdicts import VERDICTS, decided_pairs
from bakeoff.spec.record import Signals

if TYPE_CHECKING:
    from bakeoff.judge.outcome import Outcome


def test_every_column_of_a_verdict_is_its_own_field() -> None:
    """A lower end is none of another interval, and what the second has is not the first's."""
    known = msgspec.structs.replace(
        verdict("torch", "jax", "slower", 2.0, 1.9, 2.1, level=0.95, rounds=9, decided_rounds=7, decided_low=1.8),
        decided_high=2.2,
        under_margin=True,
        stopped="rounds",
        ratio_of_means=2.05,
        ratio_unflagged=2.01,
        blocks=40,
        flagged_blocks=3,
    )
    (row,) = VERDICTS.rows(decided_pairs(outcome([TORCH, JAX], [known])))
    fields = set(known.__struct_fields__) & set(row)
    assert len(fields) == 18
    assert {name: row[name] for name in fields} == {name: getattr(known, name) for name in fields}
    assert (row["first_step_s"], row["second_step_s"]) == (TORCH.median_step_s, JAX.median_step_s)
    assert row["first_versions"] == "numpy 2.4.6, torch 2.13.0"
    assert row["second_versions"] == "jax 2.13.0, numpy 2.4.6"
    assert (row["scenario"], row["size"], row["batch_size"]) == ("train", "full", 32)


def test_every_column_of_a_block_is_its_own_field() -> None:
    """Times, counts and shares each stand in their own column; infinity is not known."""
    signals = Signals(
        wall_ns=11,
        cpu_ns=12,
        foreign_share=0.13,
        steal_share=float("inf"),
        pressure_us=15,
        involuntary_switches=16,
        minor_faults=17,
        major_faults=18,
    )
    one = block(turn=1, first_step=2, lead_steps=3, lead_ns=4, restore_ns=5, asked_ns=8, elapsed_ns=6, compilations=7)
    one = msgspec.structs.replace(one, repeats=0, signals=signals)
    (row,) = BLOCKS.rows([BlockRow(outcome([TORCH], []), TORCH, record("torch", one), one, False)])  # noqa: FBT003
    for part in (one, signals):
        for name in set(part.__struct_fields__) & set(row) - {"steal_share"}:
            assert row[name] == getattr(part, name), name
    assert (row["steal_share"], row["counts"], row["steps"]) == (None, False, 10)
    assert row["disturbed"]
    calm = msgspec.structs.replace(one, signals=msgspec.structs.replace(signals, foreign_share=0.0, steal_share=0.0))
    (row,) = BLOCKS.rows([BlockRow(outcome([TORCH], []), TORCH, record("torch", calm), calm, True)])  # noqa: FBT003
    assert (row["disturbed"], row["counts"]) == (False, True)


def test_a_contender_on_several_devices_is_a_pair_with_itself_on_one(on_two: Outcome) -> None:
    """What the efficiency rests on is a row, too."""
    rows = VERDICTS.rows(decided_pairs(on_two))
    assert [(row["first"], row["second"], row["ratio"]) for row in rows] == [("torch", "torch:devices=2", 0.82)]
