"""Faults in how traces become shares, and shares the parts of a gap."""

from __future__ import annotations

from functools import partial

from catalogue.mutant import Mutant

in_sweep = partial(Mutant, "", "explanation", "trial/sweep.py")
in_rows = partial(Mutant, "", "explanation", "stats/rows.py")
in_gap = partial(Mutant, "", "explanation", "judge/gap.py")

in_profile = partial(Mutant, "", "explanation", "judge/profile.py")
in_passes = partial(Mutant, "", "explanation", "frameworks/tensorflow/grappler.py")

in_checked = partial(Mutant, "", "explanation", "judge/checked.py")
in_suspects = partial(Mutant, "", "explanation", "judge/suspects.py")
in_counterfactual = partial(Mutant, "", "explanation", "race/counterfactual.py")
in_memory = partial(Mutant, "", "explanation", "measure/memory.py")
in_torch = partial(Mutant, "", "explanation", "frameworks/torch/traced.py")
in_kernels = partial(Mutant, "", "explanation", "frameworks/torch/kernels.py")
in_nodes = partial(Mutant, "", "explanation", "frameworks/tensorflow/nodes.py")
in_origins = partial(Mutant, "", "explanation", "frameworks/origins.py")
in_xplanes = partial(Mutant, "", "explanation", "frameworks/jax/xplanes.py")
in_operators = partial(Mutant, "", "explanation", "frameworks/jittor/operators.py")

in_inductor = partial(Mutant, "", "explanation", "frameworks/torch/switches.py")
in_xla = partial(Mutant, "", "explanation", "frameworks/jax/switches.py")

OF_CHECKED = "unit/tests/explaining/test_checked.py"
OF_COUNTERFACTUAL = "unit/tests/explaining/test_counterfactual.py"
OF_MEMORY = "unit/tests/measure/test_memory.py"
OF_HLO = "unit/tests/frameworks/test_hlo.py"
OF_SUSPECTS = "unit/tests/explaining/test_suspects.py"
OF_TORCH = "unit/tests/frameworks/test_traced_torch.py"
OF_TENSORFLOW = "unit/tests/frameworks/test_traced_tensorflow.py"
OF_ORIGINS = "unit/tests/frameworks/test_origins.py"
OF_OPERATORS = "unit/tests/frameworks/test_operators.py"
OF_PARTS = "unit/tests/study/test_parts.py"
OF_PASSES = "unit/tests/frameworks/test_tensorflow.py"
OF_GRAPHS_OFF = "unit/tests/frameworks/test_passes.py"
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
    in_checked(
        "a control that has moved by ever so little takes every confirmation away",
        [("NEGLIGIBLE = 0.1", "NEGLIGIBLE = 0.0")],
        {OF_CHECKED: "test_a_control_that_has_moved_a_tenth_of_what_is_saved_takes_nothing_away"},
    ),
    in_xplanes(
        "a batch that XLA's pool copies is idle time",
        [("one.name == _COPIED and not has_gpu", "False")],
        {OF_HLO: "test_a_batch_that_the_pool_copies_is_a_copy"},
    ),
    in_checked(
        "a race is believed whose control has moved",
        [("        if doubt:\n", "        if False:\n")],
        {OF_CHECKED: "test_nothing_is_confirmed_where_the_control_has_moved"},
    ),
    in_checked(
        "a row is refuted that may shrink by half of its difference",
        [("if after.high < LEAST_PART * own_s:", "if after.high < own_s:")],
        {OF_CHECKED: "test_a_row_is_refuted_only_where_it_surely_shrinks_by_less_than_half_of_its_difference"},
    ),
    in_suspects(
        "a layer stands before kinds that have more together",
        [(" - sum(row.gap_s for row in kinds) <= ROUNDING", " <= ROUNDING")],
        {OF_SUSPECTS: "test_a_layer_comes_first_that_has_more_than_all_kinds_that_are_told_apart"},
    ),
    in_torch(
        "operators of the backward pass have no layer",
        [("last = made.get(frame.sequence, Place()) if frame.sequence >= 0 else last", "last = Place()")],
        {OF_TORCH: "test_a_backward_operator_has_the_layer_of_the_forward_one"},
    ),
    in_torch(
        "a scope's span on a GPU is a kernel",
        [("if one.on_device and not one.is_scope]", "if one.on_device]")],
        {OF_TORCH: "test_a_scopes_span_on_a_device_is_no_kernel"},
    ),
    in_torch(
        "a kernel is that of a call of CUDA's runtime with the same number",
        [(" for frame, event in pairs if not frame.seen.started_by}", " for frame, event in pairs}")],
        {OF_TORCH: "test_a_call_of_cudas_runtime_is_no_operator_of_the_same_number"},
    ),
    in_kernels(
        "equal kernels of compiled code are all the first one's",
        [("del ahead[: place + 1]", "pass")],
        {OF_TORCH: "test_kernels_of_compiled_code_are_given_back_in_the_order_of_their_calls"},
    ),
    in_nodes(
        "what Grappler has fused is where its last part was",
        [('if is_fused(operation) and own.phase != "optimiser":', "if False:")],
        {OF_TENSORFLOW: "test_a_fused_node_is_its_weights"},
    ),
    in_nodes(
        "work that XLA has started ends with its event",
        [("end_ns = done_ns.get((_END + one.name, one.link), one.end_ns)", "end_ns = one.end_ns")],
        {OF_TENSORFLOW: "test_work_that_xla_has_started_ends_at_its_own_mark"},
    ),
    in_origins(
        "a weight's gradient without a name is where its users are",
        [("        self._place(WEIGHT, self._weight)\n", "")],
        {OF_ORIGINS: "test_a_product_without_a_name_is_the_gradient_of_the_weight_that_it_updates"},
    ),
    in_origins(
        "copies without a name are nobody's",
        [("self._place(USER, self._user)", "pass")],
        {OF_ORIGINS: "test_copies_are_their_users"},
    ),
    in_operators(
        "an operator that hands its work to oneDNN is counted twice",
        [(" if not _RELAYED.search(one.key)]", "]")],
        {OF_OPERATORS: "test_an_operator_that_hands_its_work_on_is_not_counted_twice"},
    ),
    in_memory(
        "malloc=keep leaves other threads their heaps, which end at 64 MiB",
        [(":glibc.malloc.arena_max=1", "")],
        {OF_MEMORY: "test_an_allocator_that_keeps_has_no_largest_block"},
    ),
    in_counterfactual(
        "a race of suspects that was interrupted is forgotten",
        [("isinstance(event, Prepared)", "False")],
        {OF_COUNTERFACTUAL: "test_a_race_that_was_interrupted_goes_on"},
    ),
    in_inductor(
        "Inductor's passes that are said to be off are on",
        [("torch.compile(function, options=_WITHOUT_PASSES)", "torch.compile(function)")],
        {OF_GRAPHS_OFF: "test_inductor_is_asked_for_no_pass_over_the_graph"},
    ),
    in_xla(
        "XLA's code generator optimises where it is said not to",
        [("compiler_options=self._flags or None", "compiler_options=None")],
        {OF_GRAPHS_OFF: "test_xla_is_asked_for_its_lowest_level"},
    ),
]
