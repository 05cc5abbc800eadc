"""Faults in the certificate's own checks."""

from __future__ import annotations

from functools import partial

from catalogue.mutant import Mutant

in_axes = partial(Mutant, "", "certificate", "certify/axes.py")
in_metric = partial(Mutant, "", "certificate", "certify/metric.py")
in_ready_made = partial(Mutant, "", "certificate", "certify/ready_made.py")
in_tied = partial(Mutant, "", "certificate", "judge/tied.py")
in_state = partial(Mutant, "", "certificate", "certify/state.py")
in_stage = partial(Mutant, "", "certificate", "race/stages/certify.py")
in_spread = partial(Mutant, "", "certificate", "certify/spread.py")
in_prepared = partial(Mutant, "", "certificate", "race/prepare.py")
in_remembered = partial(Mutant, "", "certificate", "race/remembered.py")
in_tolerances = partial(Mutant, "", "certificate", "certify/tolerances.py")
in_update = partial(Mutant, "", "certificate", "certify/update.py")
in_report = partial(Mutant, "", "certificate", "report/sections/certificate.py")

OF_AXES = "unit/tests/certify/test_axes.py"
OF_METRIC = "unit/tests/certify/test_metric.py"
OF_READY_MADE = "unit/tests/certify/test_ready_made.py"
OF_TIED = "unit/tests/race/test_tied.py"
OF_STATE = "unit/tests/certify/test_state.py"
OF_STAGE = "unit/tests/race/test_certify.py"
OF_SPREAD = "unit/tests/certify/test_spread.py"
OF_REFERENCE = "unit/tests/race/test_reference_device.py"
OF_SELF_TEST = "unit/tests/race/test_selftest.py"
OF_TOLERANCES = "unit/tests/certify/test_tolerances.py"
OF_UPDATE = "unit/tests/certify/test_update.py"
OF_BLOCKS = "unit/tests/race/test_tied_blocks.py"
OF_REPORT = "unit/tests/report/test_certificate_words.py"

CANCELLED = "test_what_is_left_of_gradients_that_cancel_has_their_rounding"
SMALL = "test_the_rounding_of_a_small_gradient_is_no_fault"
WARM_UP = "test_a_long_warm_up_begins_with_steps_of_few_roundings"
HELD = "test_what_a_block_left_is_held_where_it_has_to"
WEAK = "test_a_certificate_that_holds_little_is_told"

MUTANTS = [
    in_axes(
        "arrays of any axes are evidence",
        [("array.ndim == AXES.get(kind, max(array.ndim, 1))", "True")],
        {OF_AXES: "test_what_has_another_form_is_left_out"},
    ),
    in_metric(
        "any metric passes",
        [("passed=error <= most", "passed=True")],
        {OF_METRIC: "test_a_metric_within_the_roundings_passes"},
    ),
    in_ready_made(
        "a ready-made model that does not train passes",
        [("    if changed == 0:\n", "    if False:\n"), ("elif changed < LEAST_CHANGED * arrays", "elif False")],
        {OF_READY_MADE: "test_what_computes_nothing_is_refused"},
    ),
    in_ready_made(
        "a ready-made model of which the head alone is trained passes",
        [("changed < LEAST_CHANGED * arrays", "changed < 1")],
        {OF_READY_MADE: "test_what_computes_nothing_is_refused"},
    ),
    in_spread(
        "one sign alone turns where statistics are off",
        [("    typical *= math.sqrt(signs)\n", "")],
        {OF_SPREAD: "test_where_statistics_are_off_as_many_elements_go_the_other_way_as_the_draws_show"},
    ),
    in_spread(
        "draws of statistics have no mirror",
        [("for sign in (1.0, -1.0):", "for sign in (1.0, 1.0):")],
        {OF_SPREAD: "test_statistics_that_are_off_move_their_normalisations_alone"},
    ),
    in_prepared(
        "the reference on a GPU is one that nobody asked for CUDA",
        [("        candidates = [one for one in candidates if not there or one.info.name in names]\n", "")],
        {OF_REFERENCE: "test_the_reference_on_a_gpu_is_a_contender_that_runs_there"},
    ),
    in_tied(
        "timed outputs that are no numbers pass",
        [
            (
                "        if record.tie is None or record.tie.losses:\n",
                "        if record.tie is None or not record.tie.outputs:\n",
            )
        ],
        {OF_TIED: "test_inference_whose_timed_outputs_are_no_numbers_is_refused"},
    ),
    in_tied(
        "a model whose Dropout drops nothing passes",
        [("    if others:\n", "    if False:\n")],
        {OF_TIED: "test_a_model_whose_dropout_drops_nothing_is_refused"},
    ),
    in_tied(
        "training that stops in timed trials passes",
        [("    if any(tie.moved is not False or ", "    if True or any(tie.moved is not False or ")],
        {OF_TIED: "test_training_that_stops_once_its_state_was_put_back_is_refused"},
    ),
    in_state(
        "statistics that move in the first step alone pass",
        [("    if math.isfinite(later) and _keep_later(evidence, reference):\n", "    if False:\n")],
        {OF_STATE: "test_statistics_that_move_in_the_first_step_alone_are_caught"},
    ),
    in_stage(
        "what another text of the workload has computed is remembered for this one",
        [("sources = [spec.workload_sha256, ", "sources = [")],
        {OF_STAGE: "test_another_text_of_the_workload_is_computed_anew"},
    ),
    in_stage(
        "what another folder of the framework has computed is remembered for this one",
        [("spec.framework_sha256, state", "state")],
        {OF_STAGE: "test_another_folder_of_the_framework_computes_it_anew"},
    ),
    in_stage(
        "what is computed of other batches is remembered for these",
        [
            ("spec.framework_sha256, state.comparison.data.sha256]", "spec.framework_sha256]"),
            ("        spec.seed,\n", ""),
        ],
        {OF_STAGE: "test_what_is_computed_of_something_else_does_not_stand_for_it"},
    ),
    in_stage(
        "contenders of other programs share one's evidence",
        [("if own.runs_as(one))", "if own)")],
        {OF_STAGE: "test_contenders_of_one_program_share_its_evidence"},
    ),
    in_remembered(
        "a self-test on batches of one length holds for those of many",
        [("        trial.pass_steps,\n", "")],
        {OF_SELF_TEST: "test_a_test_on_batches_of_one_length_does_not_hold_for_many"},
    ),
    in_tolerances(
        "AdamW's decay has no rounding of its own",
        [("return 2.5 if", "return 2.0 if")],
        {OF_UPDATE: WARM_UP},
    ),
    in_tolerances(
        "a step may be a rounding of the parameter larger than AdamW's three",
        [("return 2.5 if", "return 12.5 if")],
        {OF_UPDATE: WARM_UP},
    ),
    in_tolerances(
        "a loss that one draw met by chance is held to it",
        [
            (
                "_carried(_followed(found.losses, found.trajectory)[:steps], least)",
                "_carried(found.losses[:steps], least)",
            )
        ],
        {OF_TOLERANCES: "test_a_loss_that_a_draw_met_by_chance_is_allowed_what_its_parameters_say"},
    ),
    in_update(
        "a small gradient's rounding is held by itself alone",
        [("return 0.0 if np.isfinite(error) and error * norm <= rounding else error", "return error")],
        {OF_UPDATE: SMALL},
    ),
    in_update(
        "a gradient of a thousandth of all may be anything",
        [("parameter_rounding(precision) * share * norm", "1e-3 * share * norm")],
        {OF_UPDATE: SMALL},
    ),
    in_update(
        "a small gradient may take the place of a large one",
        [("max(share * float(np.linalg.norm(pair[0])), float(np.linalg.norm(pair[1])))", "np.linalg.norm(pair[1])")],
        {OF_UPDATE: SMALL},
    ),
    in_update(
        "an update whose gradients cancel is held by what they leave alone",
        [("np.maximum(np.maximum(np.abs(expected), np.abs(found)), np.abs(uncancelled))", "np.abs(expected)")],
        {OF_UPDATE: CANCELLED},
    ),
    in_update(
        "an update is held by ten times what gradients of one sign would change",
        [("np.abs(found)), np.abs(uncancelled))", "np.abs(found)), 10.0 * np.abs(uncancelled))")],
        {OF_UPDATE: CANCELLED},
    ),
    in_tolerances(
        "every framework is held as one that joins steps",
        [("JOINED_STREAM if joins_steps else STREAM", "JOINED_STREAM")],
        {OF_BLOCKS: HELD},
    ),
    in_tolerances(
        "a framework that joins steps is held as all others",
        [("JOINED_STREAM if joins_steps else STREAM", "STREAM")],
        {OF_BLOCKS: HELD},
    ),
    in_report(
        "a certificate that holds little is as good as any",
        [("check.allowed is None or check.allowed > WEAK", "False")],
        {OF_REPORT: WEAK},
    ),
    in_report(
        "a certificate that allows anything holds enough",
        [("check.allowed is None or check.allowed > WEAK", "check.allowed and check.allowed > WEAK")],
        {OF_REPORT: WEAK},
    ),
]
