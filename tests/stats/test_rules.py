"""A comparison keeps the procedure that it was begun with: old records keep their verdicts, new ones name theirs."""

from __future__ import annotations

import hashlib
from pathlib import Path

import msgspec
import pytest

from bakeoff.judge.comparison import assess, judge_comparison
from bakeoff.spec.comparison import FIRST_RULES, RULES, Procedure, goal_of
from bakeoff.spec.request import Request
from bakeoff.store.files import read_comparison
from bakeoff.store.results import read_records
from bakeoff.store.resuming import continued

FIELDS = (
    *("first", "second", "verdict", "ratio", "low", "high", "rounds", "under_margin", "more_rounds", "stopped", "wide"),
    *("ratio_of_means", "ratio_unflagged", "blocks", "flagged_blocks", "flagged_rounds"),
)
"""Of a verdict before there were rules."""

KEPT = "31bb41ac0b01bcc00fd1305f0f2e521cd9db9bdde6f13b428deba14226e7b250"
"""Of these fields of the verdicts of that comparison, as the version before the present procedure gave them."""


@pytest.fixture
def record(root: Path) -> Path:
    """Give the comparison in tests/records, which is older than the present procedure."""
    return root / "tests" / "records" / "mlp-mnist-fada"


def test_an_old_comparison_keeps_its_verdicts_to_the_byte(record: Path) -> None:
    """What it said when it was made is what it says now, interval for interval."""
    outcome = judge_comparison(record)
    told = [{name: getattr(verdict, name) for name in FIELDS} for verdict in outcome.verdicts]
    assert outcome.comparison.procedure.rules == FIRST_RULES
    assert outcome.comparison.procedure.aim == "verdict"  # the file is older than the aim, and has none
    assert hashlib.sha256(msgspec.json.encode(told)).hexdigest() == KEPT
    assert {(verdict.fewest, verdict.level) for verdict in outcome.verdicts} == {(3, None)}


def test_the_present_rules_would_say_something_else(record: Path) -> None:
    """The dispatch is by the number in the file: the same records by the present rules have other intervals."""
    comparison = read_comparison(record)
    procedure = msgspec.structs.replace(comparison.procedure, rules=RULES)
    now = msgspec.structs.replace(comparison, procedure=procedure)
    outcome = assess(now, read_records(record), record)
    assert {(verdict.fewest, verdict.level) for verdict in outcome.verdicts} == {(5, 0.95)}
    assert [verdict.low for verdict in outcome.verdicts] != [
        verdict.low for verdict in judge_comparison(record).verdicts
    ]


def test_new_comparisons_say_their_rules() -> None:
    """A request is for the present rules, and a file without the number is of the first."""
    assert Request(workload="mlp-mnist").procedure().rules == RULES
    assert Request(workload="mlp-mnist").aim == "size"
    assert msgspec.json.decode(b'{"aim": "how-much"}', type=Procedure).rules == FIRST_RULES


def test_an_old_comparison_goes_on_by_its_own_rules(record: Path) -> None:
    """Resumed, it keeps rules and vocabulary: the present default is what was called how-much."""
    before = read_comparison(record)
    wanted = msgspec.structs.replace(before, procedure=Request(workload="mlp-mnist").procedure())
    after = continued(before, wanted).procedure
    assert (after.rules, after.aim) == (FIRST_RULES, "how-much")


def test_every_name_of_an_aim_has_its_meaning() -> None:
    """Old names are read as what they were."""
    assert [goal_of(aim) for aim in ("verdict", "how-much", "until-sure", "size", "direction")] == [
        "direction",
        "size",
        "until-sure",
        "size",
        "direction",
    ]
