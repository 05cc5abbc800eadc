"""The table of verdicts."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from bakeoff.report.export.columns import SHARED, Column, ExportTable, fact, versions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bakeoff.judge.outcome import ContenderOutcome, Outcome
    from bakeoff.spec.verdict import Verdict

VERDICTS = ExportTable(
    "verdicts",
    "one pair of ranked contenders of a comparison",
    (
        *SHARED,
        Column("first", "text", "verdict.first", "label"),
        Column("second", "text", "verdict.second", "label"),
        Column("first_versions", "text", "first_versions", "of its packages, by name: `numpy 2.4.6`"),
        Column("second_versions", "text", "second_versions", "of its packages"),
        Column("first_step_s", "number", "first.median_step_s", "step time of `first`, in seconds: median over rounds"),
        Column("second_step_s", "number", "second.median_step_s", "that of `second`"),
        Column("margin", "number", "outcome.comparison.procedure.margin", "within which step times count as equal"),
        Column("verdict", "text", "verdict.verdict", "about `first`: `faster`, `slower`, `equal` or `undecided`"),
        Column("ratio", "number", "verdict.ratio", "step time of `first` divided by that of `second`"),
        Column("low", "number", "verdict.low", "lower end of the ratio's interval"),
        Column("high", "number", "verdict.high", "upper end"),
        Column(
            "level",
            "number",
            "verdict.level",
            "coverage of the interval, 0 to 1; missing in records of the first rules",
        ),
        Column("rounds", "integer", "verdict.rounds", "in which both ran"),
        Column(
            "decided_rounds", "integer", "verdict.decided_rounds", "after which it was decided; missing if it is not"
        ),
        Column("decided_low", "number", "verdict.decided_low", "lower end of the interval that the verdict rests on"),
        Column("decided_high", "number", "verdict.decided_high", "upper end"),
        Column("under_margin", "boolean", "verdict.under_margin", "decided, and its interval reaches into the margin"),
        Column("wide", "boolean", "verdict.wide", "decided, and its interval is wider than was asked for"),
        Column("stopped", "text", "verdict.stopped", "why an open pair gets no more rounds; empty where nothing is"),
        Column("ratio_of_means", "number", "verdict.ratio_of_means", "the ratio of mean step times"),
        Column(
            "ratio_unflagged", "number", "verdict.ratio_unflagged", "without disturbed turns; missing if none or all"
        ),
        Column("blocks", "integer", "verdict.blocks", "timed blocks of both in these rounds"),
        Column("flagged_blocks", "integer", "verdict.flagged_blocks", "of these, disturbed by other processes"),
        Column("calm", "boolean", "outcome.calm", "whether others left the comparison alone; missing if not known"),
    ),
)


class Decided(NamedTuple):
    """A verdict, and where it stands."""

    outcome: Outcome
    first: ContenderOutcome
    second: ContenderOutcome
    verdict: Verdict

    @property
    def processor(self) -> str | None:
        """The machine's processor."""
        return fact(self.outcome, "processor")

    @property
    def gpu(self) -> str | None:
        """The machine's GPU."""
        return fact(self.outcome, "gpu")

    @property
    def first_versions(self) -> str:
        """Of the first one's packages."""
        return versions(self.first)

    @property
    def second_versions(self) -> str:
        """Of the second one's packages."""
        return versions(self.second)


def decided_pairs(outcome: Outcome) -> Iterator[Decided]:
    """Yield every pair that has a verdict, whatever it is: of contenders, then of one on one device and on several."""
    contenders = {one.label: one for one in outcome.contenders}
    for verdict in outcome.pairs:
        yield Decided(outcome, contenders[verdict.first], contenders[verdict.second], verdict)
