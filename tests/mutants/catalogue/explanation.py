"""Faults in how traces become shares, and shares the parts of a gap."""

from __future__ import annotations

from functools import partial

from catalogue.mutant import Mutant

in_sweep = partial(Mutant, "", "explanation", "trial/sweep.py")
in_rows = partial(Mutant, "", "explanation", "stats/rows.py")
in_gap = partial(Mutant, "", "explanation", "judge/gap.py")

in_profile = partial(Mutant, "", "explanation", "judge/profile.py")
in_passes = partial(Mutant, "", "explanation", "frameworks/tensorflow/grappler.py")

OF_PARTS = "unit/tests/study/test_parts.py"
OF_PASSES = "unit/tests/frameworks/test_tensorflow.py"
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
        "a thread that waits has half of a layer's call back into the host",
        [("for event in tops if event.layer]", "for event in tops]")],
        {OF_SWEEP: "test_a_layer_in_host_code_has_the_instant_before_the_thread_that_waits_for_it"},
    ),
    in_sweep(
        "stalled steps count",
        [("cut = len(ordered) // 4", "cut = 0")],
        {OF_SWEEP: "test_a_stalled_step_is_left_out"},
    ),
    in_profile(
        "time in which the host alone was busy counts as computing",
        [('NO_COMPUTING = ("host dispatch", "idle",', 'NO_COMPUTING = ("idle",')],
        {OF_PARTS: "test_every_contender_is_traced_and_stands_beside_the_documents_figures"},
    ),
    in_passes(
        "a pass that is said to be off is on",
        [("PASSES[name].off for name in lacking", "not PASSES[name].off for name in lacking")],
        {OF_PASSES: "test_a_pass_that_is_said_to_be_off_and_is_on_is_read_back"},
    ),
    in_rows(
        "rows are not corrected for their number",
        [("held = level / max(1, count - rank)", "held = level")],
        {OF_ROWS: "test_all_intervals_hold_together_as_often_as_they_say"},
    ),
    in_rows(
        "step times are taken to be known without error",
        [("wider * float(np.std(second - first))", "0.0")],
        {OF_ROWS: "test_a_against_a_names_nothing_in_nineteen_of_twenty_runs"},
    ),
    in_gap(
        "rows are parts of the faster contender's step on both sides",
        [("return statistics.fmean(part.shares) * side.step_s", "return statistics.fmean(part.shares) * 0.01")],
        {OF_ROWS: "test_what_differs_is_told_apart_and_rows_have_the_gap_as_their_sum"},
    ),
]
