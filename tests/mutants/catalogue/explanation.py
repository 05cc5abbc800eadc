"""Faults in how traces become shares, and shares the parts of a gap."""

from __future__ import annotations

from functools import partial

from catalogue.mutant import Mutant

in_sweep = partial(Mutant, "", "explanation", "trial/sweep.py")
in_rows = partial(Mutant, "", "explanation", "stats/rows.py")
in_gap = partial(Mutant, "", "explanation", "judge/gap.py")

OF_SWEEP = "unit/tests/trial/test_sweep.py"
OF_ROWS = "unit/tests/stats/test_rows.py"

MUTANTS = [
    in_sweep(
        "work that ends after its event is taken for idle",
        [("if event.done_ns is not None and event.done_ns > event.end_ns:", "if False:")],
        {OF_SWEEP: "test_work_that_ends_after_its_event_is_not_idle"},
    ),
    in_sweep(
        "an operator spends the time of those that it calls",
        [("[stack[-1]] for stack", "[stack[0]] for stack")],
        {OF_SWEEP: "test_an_instant_belongs_to_the_innermost_event_and_the_rest_is_idle"},
    ),
    in_sweep(
        "host dispatch counts beside operations",
        [("if event.kind != DISPATCH]", "]")],
        {OF_SWEEP: "test_threads_at_work_share_an_instant_and_dispatch_counts_only_alone"},
    ),
    in_sweep(
        "stalled steps count",
        [("cut = len(ordered) // 4", "cut = 0")],
        {OF_SWEEP: "test_a_stalled_step_is_left_out"},
    ),
    in_rows(
        "rows are not corrected for their number",
        [("held = level / max(1, count - rank)", "held = level")],
        {OF_ROWS: "test_a_against_a_names_nothing_in_nineteen_of_twenty_runs"},
    ),
    in_gap(
        "step times are taken to be known without error",
        [("(-statistics.fmean(before.shares), statistics.fmean(after.shares))", "(0.0, 0.0)")],
        {OF_ROWS: "test_a_against_a_names_nothing_in_nineteen_of_twenty_runs"},
    ),
    in_gap(
        "rows are parts of the faster contender's step on both sides",
        [("return statistics.fmean(part.shares) * side.step_s", "return statistics.fmean(part.shares) * 0.01")],
        {OF_ROWS: "test_what_differs_is_told_apart_and_rows_have_the_gap_as_their_sum"},
    ),
]
