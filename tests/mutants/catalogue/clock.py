"""Faults in the clock that times all frameworks, and in what holds it against the counters around each block."""

from __future__ import annotations

from functools import partial

from catalogue.mutant import Mutant

in_clock = partial(Mutant, "", "clock", "measure/clock.py")
in_timer = partial(Mutant, "", "clock", "judge/timer.py")
in_blocks = partial(Mutant, "", "clock", "trial/blocks.py")

in_built = partial(Mutant, "", "clock", "trial/built.py")
in_energy = partial(Mutant, "", "clock", "race/stages/energy.py")
in_counters = partial(Mutant, "", "clock", "judge/counters.py")
in_levels = partial(Mutant, "", "clock", "stats/levels.py")
in_rounds = partial(Mutant, "", "clock", "judge/rounds.py")
in_scaling = partial(Mutant, "", "clock", "judge/scaling.py")

ASKED = "unit/tests/measure/test_clock.py"
OF_SHORT = "unit/tests/race/test_short_clock.py"
OF_STREAM = "unit/tests/race/test_stream.py"
OF_ENERGY = "unit/tests/race/test_energy.py"
OF_COUNTERS = "unit/tests/race/test_counters_by_hand.py"
OF_LEVELS = "unit/tests/stats/test_levels.py"
OF_ROUNDS = "unit/tests/race/test_rounds_by_hand.py"
OF_EFFICIENCY = "unit/tests/race/test_efficiency_by_hand.py"

MUTANTS = [
    in_clock(
        "a block's clock is a tenth short",
        [("end - start\n\n\n@contextmanager", "9 * (end - start) // 10\n\n\n@contextmanager")],
        {ASKED: "test_a_block_is_waited_for_once"},
    ),
    in_clock(
        "a block's clock stops before the wait",
        [("        self._step.wait()\n        end = clock()\n", "        end = clock()\n        self._step.wait()\n")],
        {ASKED: "test_a_block_is_waited_for_once"},
    ),
    in_clock(
        "fenced steps are not waited for",
        [("            run(next(batches))\n            wait()\n", "            run(next(batches))\n")],
        {ASKED: "test_a_fenced_step_is_waited_for_by_itself"},
    ),
    in_clock(
        "a fenced step's clock starts after its call",
        [
            (
                "            start = clock()\n            run(next(batches))\n",
                "            run(next(batches))\n            start = clock()\n",
            )
        ],
        {ASKED: "test_a_fenced_step_is_waited_for_by_itself"},
    ),
    in_clock(
        "a block begins with the first batch again",
        [("        first = self.position\n", "        first = 0\n")],
        {ASKED: "test_batches_go_on_where_they_were"},
    ),
    in_clock(
        "taking a batch from a loader is not timed",
        [("return islice(self._feed, steps)", "return list(islice(self._feed, steps))")],
        {ASKED: "test_taking_a_batch_from_a_loader_is_a_part_of_the_step"},
    ),
    in_timer(
        "asking what was compiled counts as time that the clock has missed",
        [(" + block.asked_ns", "")],
        {OF_SHORT: "test_asking_what_was_compiled_makes_no_clock_short"},
    ),
    in_blocks(
        "a block does not keep how long asking took",
        [("        asked_ns=asked_ns,\n", "")],
        {OF_SHORT: "test_a_block_keeps_how_long_asking_took"},
    ),
    in_built(
        "the first step is not waited for",
        [("(first_step_ns,) = stepper.fenced(1)", "first_step_ns = stepper.streamed(1)[0][0]")],
        {OF_STREAM: "test_the_first_step_is_waited_for"},
    ),
    in_energy(
        "of several meters the largest is all of the energy",
        [("joules=sum(joules)", "joules=max(joules)")],
        {OF_ENERGY: "test_energy_is_the_sum_of_all_meters"},
    ),
    in_counters(
        "page faults of lead-ins are those of timed steps alone",
        [(" + block.lead_steps for block", " for block")],
        {OF_COUNTERS: "test_counters_are_those_of_all_blocks_together"},
    ),
    in_scaling(
        "replicas never straggle",
        [("- min(block.replicas_ns))", "- max(block.replicas_ns))")],
        {OF_EFFICIENCY: "test_replicas_straggle_by_the_median_of_what_their_own_times_differ_by"},
    ),
    in_levels(
        "one contender's slow turns are the machine's",
        [("np.where(is_absent, np.inf, ratios).min(axis=axis)", "np.where(is_absent, -np.inf, ratios).max(axis=axis)")],
        {OF_LEVELS: "test_one_contender_alone_is_no_machine"},
    ),
    in_levels(
        "slow processes that coincide by chance are the machine's",
        [("return as_common <= ALLOWED and", "return")],
        {OF_LEVELS: "test_slow_processes_that_coincide_are_a_machine_in_five_percent_at_most"},
    ),
    in_levels(
        "a pair's ratios at both speeds change places",
        [("then=medians[0], otherwise=medians[1]", "then=medians[1], otherwise=medians[0]")],
        {OF_LEVELS: "test_a_machine_with_two_speeds_is_found_with_its_turns_and_ratios"},
    ),
    in_rounds(
        "turns that others disturbed are another speed of the machine",
        [("by_turn.items() if mine}, disturbed)", "by_turn.items() if mine})")],
        {OF_ROUNDS: "test_a_round_that_others_disturbed_is_no_speed_of_the_machine"},
    ),
]
