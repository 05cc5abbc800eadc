"""Whether timed trials computed what was certified, from what each has kept of its first steps and of one more."""

from __future__ import annotations

import math
from itertools import cycle
from typing import TYPE_CHECKING

from bakeoff.certify.checksum import farthest
from bakeoff.certify.errors import relative
from bakeoff.certify.tolerances import SCALED, UNIT_ROUNDOFF, Allowed, allowed, is_measured, stream_allowed
from bakeoff.judge.certificate import reference_of
from bakeoff.judge.tied_blocks import BLOCK_OFF, TIMES_ITSELF, leaving_out, other_in_blocks, repeats_itself
from bakeoff.store.results import finished, last, of_contender, of_purpose
from bakeoff.workloads.schedules import rate

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from bakeoff.spec.comparison import Comparison, ContenderPlan
    from bakeoff.spec.evidence import Evidence
    from bakeoff.spec.optimizer import Optimizer
    from bakeoff.spec.record import Record, Tie

EXACT = frozenset({"float32", "tf32", "float64"})
"""Precisions in which two different losses are two different numbers: bfloat16 has 256 between 2 and 4."""

LEAST_LEARNING_RATE = 1e-6
"""With a smaller one in the first steps a loss in float32 may honestly stay what it was."""

FEWEST_STEPS = 10
"""Before so many steps nothing is concluded from a loss that has not moved."""

DRAWN = 2
"""First losses by which a model that draws is told from one that does not: a single one may agree by chance, as one
behind a last layer that begins at zero does."""

SIBLINGS = 64
"""Roundings by which first losses of a contender's rounds may differ. Found in 20 processes each of PyTorch, JAX and
TensorFlow on two threads: none."""

REPEATED = 2
"""Losses from the saved state that are held: the second follows an update, and may be off by what the certificate
allows its second loss. Later ones would magnify the order in which threads have added."""

REPEATED_OFF = BLOCK_OFF / REPEATED
"""Of what two steps change in the parameters: by how much the same two may leave them elsewhere later, in a process
that does not repeat itself. One that does, as all do on a processor, is held as closely as a stream of its steps is: of
52 honest ones every one is at 0 (benchmarks/results/streams-repeated-2026-11-28.md)."""

REFERENCE_MOVES = 1e-4
"""By how much, as a share, the reference's losses of two steps have to differ before equal ones are a finding."""


def why_untied(comparison: Comparison, records: Mapping[str, Record], plan: ContenderPlan) -> str:
    """Return how a contender's timed trials differ from what was certified, in a sentence; empty where they do not."""
    mine = of_contender(records.values(), plan.contender.label)
    certified, found = last(mine, "certify"), reference_of(records, plan)
    tied = [record for record in finished(mine) if record.tie is not None]
    timed = of_purpose(tied, "time")
    # Beside the race first losses and outputs alone are held: a whole run may end where a step is less than a
    # parameter's last bit.
    every = [*timed, *(record for record in tied if record.trial.purpose != "time")]
    evidence, reference = (one.evidence if one else None for one in (certified, found))
    if not timed or evidence is None:
        return ""
    findings = [
        *_standing_still(comparison, plan, timed, _in_order(evidence)),
        *_stopped(comparison, plan, timed),
        *_repeating(plan, timed, reference),
    ]
    # A ready-made model's values are its own draws, and nothing says how far they may be apart.
    is_held = reference is not None and is_measured(reference, plan.contender.precision) and not evidence.ready_made
    repeated = [SIBLINGS * UNIT_ROUNDOFF[plan.contender.precision]]
    if reference is not None and is_held and _in_order(evidence):
        most = _allowed(comparison, reference, plan)
        findings += [
            *_apart(most, plan, every, evidence),
            *_unlike_siblings(most, plan, every),
            *_other_outputs(most, every, evidence),
            *_drawing_nothing(comparison, records, plan),
        ]
        repeated += most.losses[1:REPEATED]
    findings += _other_when_repeated(plan, every, repeated)
    outputs = _allowed(comparison, reference, plan).output if reference is not None and is_held else repeated[0]
    findings += _in_blocks(comparison, plan, timed, outputs)
    return findings[0] if findings else ""


def _in_order(evidence: Evidence) -> bool:
    """Return whether timed steps take the batches in the order of the certificate's steps.

    A shuffled pipeline draws an order of its own, by random numbers and threads of its library's, so nothing about its
    losses is held; its samples are (`certify.inputs`).
    """
    return evidence.input_pass is None or evidence.input_pass.in_order


def _standing_still(
    comparison: Comparison,
    plan: ContenderPlan,
    timed: Sequence[Record],
    in_order: bool,  # noqa: FBT001 - private
) -> Iterator[str]:
    """Yield that in every trial the loss on the first batch is to the last bit what it was before all its steps."""
    optimizer = comparison.workload.optimizer
    if optimizer is None or not in_order or not _is_exact(plan):
        return
    if _least_factor(optimizer) * max(rate(optimizer, t) for t in range(1, FEWEST_STEPS + 1)) < LEAST_LEARNING_RATE:
        return
    ties = _ties(timed)
    if all(tie.steps >= FEWEST_STEPS and tie.losses and tie.again and tie.again == tie.losses[0] for tie in ties):
        steps = min(tie.steps for tie in ties)
        yield f"after {steps} and more steps its loss on the first batch is still {ties[0].again!r}: it does not train"


def _least_factor(optimizer: Optimizer) -> float:
    """Return what the rate of the slowest group is multiplied by; all others may hardly move a loss by themselves."""
    return min([1.0, *(factor for _, factor in optimizer.rates)])


def _stopped(comparison: Comparison, plan: ContenderPlan, timed: Sequence[Record]) -> Iterator[str]:
    """Yield that in every trial one more step, after the state was put back and after all others, changes no parameter.

    What draws is held, too, and so is a ready-made model. A loss of 0 or one that is not finite has no gradient to
    follow, and a step in float16 may be skipped.
    """
    optimizer, updates = comparison.workload.optimizer, comparison.workload.sizes[comparison.size].updates
    if optimizer is None or plan.contender.precision == SCALED:
        return
    ties = _ties(timed)
    if any(tie.moved is not False or not tie.again or tie.steps < FEWEST_STEPS for tie in ties):
        return
    least = _least_factor(optimizer) * min(rate(optimizer, updates * (tie.steps + 1)) for tie in ties)
    if least >= LEAST_LEARNING_RATE:
        steps = min(tie.steps for tie in ties)
        yield f"after {steps} and more steps one more changes no parameter: it trains no longer"


def _repeating(plan: ContenderPlan, timed: Sequence[Record], reference: Evidence | None) -> Iterator[str]:
    """Yield that in every trial a step has left, to the last bit, the loss of the step before it, on another batch."""
    if reference is None or not _is_exact(plan):
        return
    for step in range(1, len(reference.losses)):
        before, after = reference.losses[step - 1 : step + 1]
        if before is None or after is None or abs(after - before) <= REFERENCE_MOVES * abs(before):
            continue
        pairs = [tie.losses[step - 1 : step + 1] for tie in _ties(timed)]
        if all(len(pair) == 2 and pair[0] and pair[0] == pair[1] for pair in pairs):  # noqa: PLR2004 - a pair
            yield (
                f"its step {step} leaves the loss of the step before it, {pairs[0][0]!r}, where the reference's goes "
                f"from {before:.6g} to {after:.6g}: it skips steps"
            )


def _apart(most: Allowed, plan: ContenderPlan, timed: Sequence[Record], evidence: Evidence) -> Iterator[str]:
    """Yield the first loss of a timed trial that is not the one of the same contender's certificate.

    Its own, not the reference's: the certificate holds that against the reference. What does not have the same losses
    by its nature is not held: dropout, which every process draws anew in most frameworks and which the evidence leaves
    out.
    """
    held = 1 if plan.contender.precision == SCALED else sum(map(math.isfinite, most.losses))
    for record in timed:
        tie = record.tie
        if tie is None or tie.drops:
            continue
        for step, (found, expected) in enumerate(list(zip(tie.losses, evidence.losses, strict=False))[:held]):
            error = _loss_error(found, expected)
            if not error <= most.losses[step]:
                yield (
                    f"in {record.trial.name} the loss at step {step} is {found}, and in its certificate {expected} "
                    f"(relative {error:.1e}, allowed {most.losses[step]:.0e})"
                )


def _unlike_siblings(most: Allowed, plan: ContenderPlan, timed: Sequence[Record]) -> Iterator[str]:
    """Yield the first timed trial whose first loss is not that of the first round's, within a few roundings.

    The first loss alone: later ones follow updates, which magnify the order in which threads have added. Nor is it held
    where dropout draws what is different in every process.
    """
    if not _is_same_draw(timed):
        return
    allowed = min(most.losses[0], SIBLINGS * UNIT_ROUNDOFF[plan.contender.precision])
    first, *others = timed
    for record in others:
        found, expected = (one.tie.losses[0] for one in (record, first) if one.tie)
        error = _loss_error(found, expected)
        if not error <= allowed:
            yield (
                f"the first loss is {found} in {record.trial.name}, and {expected} in {first.trial.name} (relative "
                f"{error:.1e}, allowed {allowed:.0e})"
            )


def _other_when_repeated(plan: ContenderPlan, timed: Sequence[Record], most: Sequence[float]) -> Iterator[str]:
    """Yield the first timed trial in which the first steps from the saved state have other losses after all steps.

    One process is held against itself, from the same parameters on the same batches: a step that does less once it is
    warm, and still moves parameters, is found by this alone. What draws at random draws the same again: that state is
    saved, too. Not in float16, where the scale of the loss decides which steps are skipped.
    """
    if plan.contender.precision == SCALED:
        return
    for record in timed:
        tie = record.tie
        if tie is None:
            continue
        for step, (found, expected, bound) in enumerate(zip(tie.repeated, tie.from_saved, most, strict=False)):
            error = _loss_error(found, expected)
            if not error <= bound:
                yield (
                    f"in {record.trial.name} the saved state's loss {'one step on ' if step else ''}is {found} after "
                    f"{tie.steps} steps, and was {expected} in the warm-up (relative {error:.1e}, allowed "
                    f"{bound:.0e}): its later steps do other work"
                )
    # A process that does not repeat itself, as on an accelerator, may have rounded otherwise by then: all have to.
    # Of a training that diverges there is no distance, and what stays as it was is told all the same.
    known = [record for record in timed if record.tie and (record.tie.repeated_off is not None or record.tie.stuck)]
    blocks = [tie for tie in _ties(known) if tie.block_off is not None]
    elsewhere = [list(_left_elsewhere(record)) for record in known]
    if all(elsewhere) or (blocks and all(map(repeats_itself, blocks))):
        yield from (text for texts in elsewhere for text in texts)


def _left_elsewhere(record: Record) -> Iterator[str]:
    """Yield that the first steps from the saved state leave other parameters after all steps than in the warm-up."""
    tie = record.tie
    assert tie is not None
    steps = f"the saved state's first {len(tie.repeated)} steps, run again after {tie.steps} steps,"
    what = f"in {record.trial.name} {steps} "
    if tie.stuck:
        count = len(tie.stuck)
        which = f"{tie.stuck[0]} as it was" if count == 1 else f"{count} arrays as they were, {tie.stuck[0]} among them"
        yield f"{what}leave {which}, which they changed in the warm-up: it trains less by then"
    most = max(REPEATED_OFF, TIMES_ITSELF * (tie.fenced_off or 0.0))
    if repeats_itself(tie):
        most = stream_allowed(joins_steps=record.trial.joins_steps)
    if tie.repeated_off is not None and tie.repeated_off > most:
        yield (
            f"{what}leave other parameters or running statistics than in the warm-up (off by {tie.repeated_off:.2g} of "
            f"what they change, allowed {most:.2g}): its later steps do other work"
        )


def _in_blocks(comparison: Comparison, plan: ContenderPlan, timed: Sequence[Record], outputs: float) -> Iterator[str]:
    """Yield what timed blocks leave out or do otherwise, where that can be seen.

    Steps in float16 may be skipped. Where there is one batch, a loss may honestly move by less than its last bit.
    """
    if plan.contender.precision != SCALED:
        yield from other_in_blocks(timed, outputs)
    if _is_exact(plan) and comparison.data.batches > 1:
        yield from leaving_out(timed)


def _is_same_draw(timed: Sequence[Record]) -> bool:
    """Return whether every trial has kept a first loss that it did not draw."""
    return all(tie.losses and not tie.drops for tie in _ties(timed))


def _other_outputs(most: Allowed, timed: Sequence[Record], evidence: Evidence) -> Iterator[str]:
    """Yield the first timed trial that kept other outputs than the same contender's certificate has: first, or last."""
    if not evidence.checksums:
        return
    for record in timed:
        if record.tie is None or record.tie.losses:
            continue
        if not record.tie.outputs:
            yield f"in {record.trial.name} the outputs of the first step are missing, or not finite"
            continue
        errors = {"the first step": farthest(record.tie.outputs, evidence.checksums)}
        if record.tie.later and evidence.others:
            kept = zip(record.tie.later, cycle((evidence.others, evidence.checksums)), strict=False)
            errors["a step after all others"] = max(farthest(found, expected) for found, expected in kept)
        for which, error in errors.items():
            if not error <= most.output:
                yield (
                    f"in {record.trial.name} the outputs of {which} are not those of its certificate (checksums "
                    f"differ by {error:.1e} of the largest output, allowed {most.output:.0e})"
                )


def _drawing_nothing(comparison: Comparison, records: Mapping[str, Record], plan: ContenderPlan) -> Iterator[str]:
    """Yield that a model which draws at random has the losses of its certificate, in which nothing is drawn.

    Where another contender's are not those of its own certificate: a model may hold a layer that it does not call.
    """
    ties, certified = _drawn(records, plan)
    if not ties or not _is_exact(plan) or len(certified) < DRAWN:
        return
    if _loss_error(certified[1], certified[0]) <= REFERENCE_MOVES:
        return
    most = SIBLINGS * UNIT_ROUNDOFF[plan.contender.precision]
    if any(_farthest(tie, certified[:DRAWN]) > most for tie in ties):
        return
    others = [one.contender.label for one in comparison.contenders if _draws(comparison, records, one)]
    if others:
        yield (
            f"in training its model draws at random, as Dropout does, and its first {DRAWN} losses are those of its "
            f"certificate, in which nothing is drawn; {others[0]}'s are not: it leaves the draws out"
        )


def _draws(comparison: Comparison, records: Mapping[str, Record], plan: ContenderPlan) -> bool:
    """Return whether the first loss of each timed trial is farther from the certificate's than that allows."""
    ties, certified = _drawn(records, plan)
    reference = reference_of(records, plan)
    evidence = reference.evidence if reference else None
    if not ties or not certified or evidence is None or not is_measured(evidence, plan.contender.precision):
        return False
    most = _allowed(comparison, evidence, plan).losses[0]
    return all(_farthest(tie, certified[:1]) > most for tie in ties)


def _drawn(records: Mapping[str, Record], plan: ContenderPlan) -> tuple[list[Tie], list[float | None]]:
    """Return what ties a contender whose model draws, and its certificate's losses; nothing where it is ready-made."""
    mine = of_contender(records.values(), plan.contender.label)
    certified = last(mine, "certify")
    evidence = certified.evidence if certified else None
    if evidence is None or evidence.ready_made or not _in_order(evidence):
        return [], []
    return [tie for tie in _ties(finished(of_purpose(mine, "time"))) if tie.drops], evidence.losses


def _farthest(tie: Tie, certified: Sequence[float | None]) -> float:
    """Return how far the first losses are from a certificate's at most; infinite where there are fewer."""
    if len(tie.losses) < len(certified):
        return math.inf
    return max(_loss_error(*pair) for pair in zip(tie.losses, certified, strict=False))


def _ties(timed: Iterable[Record]) -> list[Tie]:
    """Return what the trials have kept."""
    return [record.tie for record in timed if record.tie is not None]


def _is_exact(plan: ContenderPlan) -> bool:
    """Return whether equal losses mean that nothing has changed."""
    return plan.contender.precision in EXACT


def _allowed(comparison: Comparison, reference: Evidence, plan: ContenderPlan) -> Allowed:
    """Return how far the certificate lets this contender be from the reference."""
    noisy = comparison.per_sample is not None and comparison.per_sample.is_noisy
    return allowed(reference, plan.contender.precision, plan.contender.device, len(reference.losses), noisy=noisy)


def _loss_error(found: float | None, expected: float | None) -> float:
    """Return the relative error of a loss; 0 where both are not finite, and infinite where one side alone is."""
    return 0.0 if found == expected else relative(found, expected)
