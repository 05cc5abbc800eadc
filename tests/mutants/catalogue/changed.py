"""Faults in what keeps a comparison to the sources and packages it was fixed with, and in how float64 is computed."""

from __future__ import annotations

from functools import partial

from catalogue.mutant import Mutant

in_model = partial(Mutant, "", "certificate", "trial/model.py")
in_opened = partial(Mutant, "", "certificate", "trial/opened.py")
in_results = partial(Mutant, "", "certificate", "store/results.py")
in_resuming = partial(Mutant, "", "certificate", "store/resuming.py")
in_rounding = partial(Mutant, "", "certificate", "frameworks/torch/rounding.py")
in_dispatched = partial(Mutant, "", "certificate", "frameworks/torch/dispatched.py")
in_parts = partial(Mutant, "", "certificate", "frameworks/torch/parts.py")
in_windows = partial(Mutant, "", "certificate", "frameworks/torch/windows.py")
in_torch = partial(Mutant, "", "certificate", "frameworks/torch/engine.py")
in_jax = partial(Mutant, "", "certificate", "frameworks/jax/engine.py")
in_convolution = partial(Mutant, "", "certificate", "frameworks/jax/convolution.py")
in_handlers = partial(Mutant, "", "certificate", "trial/handlers.py")
in_blas = partial(Mutant, "", "certificate", "frameworks/mlx/blas.py")
in_trial = partial(Mutant, "", "certificate", "spec/trial.py")
in_lines = partial(Mutant, "", "certificate", "trial/lines.py")
in_evidence = partial(Mutant, "", "certificate", "trial/evidence.py")
in_updates = partial(Mutant, "", "certificate", "trial/updates.py")
in_stage = partial(Mutant, "", "certificate", "race/stages/certify.py")
in_judge = partial(Mutant, "", "certificate", "judge/certificate.py")
in_process = partial(Mutant, "", "certificate", "race/workers/process.py")
in_specs = partial(Mutant, "", "certificate", "race/specs.py")

OF_CHANGED = "unit/tests/race/test_changed.py"
OF_PROCESSES = "unit/tests/race/test_processes.py"
OF_ROUNDING = "unit/tests/frameworks/test_rounding.py"
OF_PARTS = "unit/tests/frameworks/test_parts.py"
OF_HANDLERS = "unit/tests/trial/test_handlers.py"
OF_LINES = "unit/tests/trial/test_lines.py"
OF_WORKER = "unit/tests/trial/test_worker.py"
OF_UPDATES = "unit/tests/trial/test_updates.py"
OF_LEAST = "unit/tests/race/test_least.py"
OF_BEHIND = "unit/tests/race/test_spread_behind.py"
OF_KILLED = "unit/tests/race/test_killed.py"
OF_ARRAYS = "unit/tests/trial/test_named_arrays.py"
OF_JAX = "unit/tests/frameworks/test_jax.py"
OF_MLX = "unit/tests/frameworks/test_mlx.py"

PACKAGES = "test_packages_that_change_after_the_certificate_are_not_timed"
WORKLOAD = "test_a_workload_that_is_edited_after_its_certificate_is_not_timed"
LIKEWISE = "test_a_workload_that_does_something_else_in_another_process_is_not_timed"
FOLDER = "test_a_framework_whose_folder_is_edited_after_its_certificate_is_not_timed"
MALLOC = "test_the_float64_stage_has_a_malloc_for_large_arrays_and_no_other_process"
MOVED = "test_operations_are_moved_and_nothing_else"
PARTS = "test_other_calls_give_the_same_in_less_memory"
EASED = "test_models_with_convolutions_alone_cost_less_in_float64"
WAYS = "test_other_ways_are_convolutions"
BLAS = "test_a_blas_that_is_preloaded_is_named_with_its_threads"

FIRST_AGAIN = "[rows.append(rows[1]) for rows in self._rows.values()]"

MUTANTS = [
    in_model(
        "no worker looks at the workload's file",
        [("trial.workload_sha256, loaded.sha256", "loaded.sha256, loaded.sha256")],
        {OF_CHANGED: WORKLOAD},
    ),
    in_model(
        "no worker looks at what the workload's file does",
        [("trial.scenario, trial.steps_sha256)", 'trial.scenario, "")')],
        {OF_CHANGED: LIKEWISE},
    ),
    in_lines(
        "no worker looks at the lines that the workload's file runs",
        [("self._why or unlike(self._lines, asked, is_later=self._is_later)", '""')],
        {OF_LINES: "test_a_line_more_is_refused_with_its_file"},
    ),
    in_handlers(
        "nobody looks at the lines that run behind what is timed",
        [("        watch.check()\n", "        pass\n")],
        {OF_LINES: "test_lines_are_noted_behind_what_is_timed"},
    ),
    in_stage(
        "a program is remembered whatever its file reads elsewhere",
        [("        state.comparison.numbers_sha256,\n", "")],
        {"unit/tests/race/test_remembered.py": "test_a_program_in_float64_is_remembered_for_its_own_question_alone"},
    ),
    in_evidence(
        "lines are noted while nothing runs",
        [("found.compute(noting=watch.noting)", "found.compute()")],
        {OF_LINES: "test_the_first_calls_of_evidence_are_looked_at"},
    ),
    in_evidence(
        "gradients that a step has clipped stand for its own",
        [(" and not _clips(model)", "")],
        {OF_UPDATES: "test_gradients_are_computed_again_where_what_a_step_keeps_is_others"},
    ),
    in_evidence(
        "gradients that Nesterov's step has written over stand for its own",
        [(' and not getattr(model.optimizer, "nesterov", False)', "")],
        {OF_UPDATES: "test_gradients_are_computed_again_where_what_a_step_keeps_is_others"},
    ),
    in_evidence(
        "a contender's gradients are those that its own steps have followed",
        [('trial.purpose == "reference" and is_plain', "is_plain")],
        {OF_LEAST: "test_evidence_takes_as_many_steps_as_are_counted"},
    ),
    in_updates(
        "the first step's gradients stand for those of all",
        [('self._note(cast("KeepingStep", self._step).kept_gradients())', FIRST_AGAIN)],
        {OF_UPDATES: "test_gradients_that_a_step_keeps_are_those_that_it_would_compute_again"},
    ),
    in_evidence(
        "what is timed of a large model is held by its first step alone",
        [('trial.purpose == "program" and trial.is_large', "trial.is_large")],
        {OF_ARRAYS: "test_a_large_program_computes_its_first_gradients_alone"},
    ),
    in_evidence(
        "a small program is held by its first step alone",
        [(" and trial.is_large and is_plain", " and is_plain")],
        {OF_ARRAYS: "test_a_large_program_computes_its_first_gradients_alone"},
    ),
    in_stage(
        "what float64 loses in a larger model is never measured",
        [("if any(is_off(", "if not any(is_off(")],
        {OF_BEHIND: "test_what_float64_loses_in_a_large_model_is_measured_where_a_program_is_off"},
    ),
    in_specs(
        "what float64 loses is remembered without what was measured beside it",
        [('tuple(sorted({*spec.spreads, "float64"}))', '("float64",)')],
        {OF_BEHIND: "test_what_was_measured_beside_other_precisions_stands_for_no_other_race"},
    ),
    in_judge(
        "a program that somebody has killed is excused as one that does not fit in memory",
        [(' and program.killed_by != "other"', "")],
        {OF_KILLED: "test_a_program_that_somebody_has_killed_is_not_excused"},
    ),
    in_process(
        "whatever ends by SIGKILL is said to have been ended for want of memory",
        [("counted > self._oom_kills", "counted >= self._oom_kills")],
        {OF_KILLED: "test_a_batch_is_too_large_whose_process_the_kernel_has_killed"},
    ),
    in_trial(
        "a large step's memory is read before the optimiser has a state",
        [("self.certify_steps - 1)", "self.certify_steps - 2)")],
        {OF_WORKER: "test_the_state_is_saved_among_the_certificates_steps"},
    ),
    in_trial(
        "what is repeated of a large step lies behind its certificate's",
        [("min(SNAPSHOT_STEPS, self.certify_steps - 1)", "SNAPSHOT_STEPS")],
        {OF_WORKER: "test_the_state_is_saved_among_the_certificates_steps"},
    ),
    in_handlers(
        "a short warm-up ends before the steps that are repeated",
        [("max(steps, REPEATED_STEPS), max(limit, REPEATED_STEPS)", "steps, limit")],
        {OF_WORKER: "test_a_short_warm_up_holds_what_is_repeated_in_the_end"},
    ),
    in_opened(
        "no worker looks at the framework's folder",
        [("trial.framework_sha256, folder_sha256(folder)", "trial.framework_sha256, trial.framework_sha256")],
        {OF_CHANGED: FOLDER},
    ),
    in_opened(
        "no worker looks at the packages beside its interpreter",
        [("packages_sha256(trial.interpreter))", "trial.packages_sha256)")],
        {OF_CHANGED: PACKAGES},
    ),
    in_resuming(
        "a comparison goes on with other packages",
        [("(packages_now.get(plan.interpreter) or plan.packages_sha256)", "plan.packages_sha256")],
        {OF_CHANGED: PACKAGES},
    ),
    in_results(
        "what was refused for a change stays refused",
        [('"unavailable", "changed"})', '"unavailable"})')],
        {OF_CHANGED: WORKLOAD},
    ),
    in_results(
        "a round that was refused for a change is a lost one",
        [('AGAIN - {"changed"}', "AGAIN")],
        {OF_CHANGED: PACKAGES},
    ),
    in_trial(
        "what is timed has the malloc of float64",
        [('"time": Kind(tied=True', '"time": Kind(large_arrays=True, tied=True')],
        {OF_PROCESSES: MALLOC},
    ),
    in_specs(
        "a malloc for large arrays takes the place of a user's own tunables",
        [("for_large_arrays(os.environ) if", "for_large_arrays({}) if")],
        {OF_PROCESSES: MALLOC},
    ),
    in_dispatched(
        "in evaluation only the end of a whole layer is moved",
        [("        if _is_composite(function):\n", "        if False:\n")],
        {OF_ROUNDING: MOVED, OF_PARTS: PARTS},
    ),
    in_parts(
        "of a convolution in parts the last one's gradient by the weight stands for all",
        [("[_added(*both) for both in zip(of_all, sums, strict=True)] if of_all else sums", "sums")],
        {OF_PARTS: PARTS},
    ),
    in_windows(
        "of windows that share a point the last one's gradient by the input stands for all",
        [(".add_(each[(..., *place)])", ".copy_(each[(..., *place)])")],
        {OF_PARTS: PARTS},
    ),
    in_torch(
        "a contender's own program is computed in parts, too",
        [('Parts() if purpose == "reference" else nullcontext()', "Parts()")],
        {OF_PARTS: PARTS},
    ),
    in_jax(
        "what is timed has the convolutions of its program",
        [('if purpose in {"program", "reference"} else nullcontext()', "")],
        {OF_JAX: WAYS},
    ),
    in_convolution(
        "of a program the gradient by the input has the kernel the wrong way round",
        [("jnp.flip(kernel, range(kernel.ndim - 2))", "kernel")],
        {OF_JAX: WAYS},
    ),
    in_handlers(
        "a model without draws, whose weights are gone, has no convolutions",
        [("plan.parameters(unrun.model.build, unrun.model.size)", "unrun.model.weights")],
        {OF_HANDLERS: EASED},
    ),
    in_blas(
        "a BLAS that is preloaded counts as the package's",
        [("    if hasattr(everywhere, _PRODUCT):\n        return everywhere\n", "")],
        {OF_MLX: BLAS},
    ),
    in_rounding(
        "the gradient of a sample that is all but solved has no rounding of probabilities",
        [("if _name(function) == _LOG_SOFTMAX_GRADIENT else", "if False else")],
        {OF_ROUNDING: MOVED},
    ),
    in_rounding(
        "what shares its memory with an argument is moved",
        [("if _place(result) in taken or not", "if not")],
        {OF_ROUNDING: MOVED},
    ),
    in_rounding(
        "each draw is moved alike",
        [("manual_seed(seed)", "manual_seed(0)"), ("random.Random(seed)", "random.Random(0)")],
        {OF_ROUNDING: MOVED},
    ),
]
