"""Whether blocks as they are timed did what their steps do that are each waited for.

Steps that are waited for are all that the certificate and the other ties see; what is timed is a stream of them.
"""

from __future__ import annotations

from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from bakeoff.certify.tolerances import stream_allowed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bakeoff.spec.record import Record, Tie

JUMP = 100.0
"""Times that a stream may be off more with each further step, as rounding that grows is: in Jittor in resnet50 at
reduced size with one sample, where training diverges, 7 times with each step from two to four."""

MOST_FURTHER = 100
"""Steps for which that is counted: so many powers of JUMP are still a number."""

BLOCK_OFF = 0.25
"""Of what one step changes in the parameters, where a process does not repeat itself: a step left out is at about 1."""

TIMES_ITSELF = 4.0
"""Where a process does not repeat itself, so many times what two runs of fenced steps differ by; and then in every
trial, since a model that magnifies rounding may part two runs by more than two others."""

STILL = 3
"""Steps that leave loss and parameters as they were, on other batches: fewer may be where a rate is nearly zero."""


def other_in_blocks(timed: Sequence[Record], outputs: float) -> Iterator[str]:
    """Yield a timed block that has left something else than its steps do that are each waited for.

    In inference checksums may differ by `outputs` of the largest output.
    """
    held = [record for record in timed if record.tie is not None and record.tie.block_off is not None]
    found = [text for record in held if (text := _of_block(record, outputs))]
    is_exact = all(not record.tie.losses or repeats_itself(record.tie) for record in held if record.tie)
    if found and (len(found) == len(held) or is_exact):
        yield found[0]


def repeats_itself(tie: Tie) -> bool:
    """Return whether the process left the same bits twice, from the same state."""
    return 0.0 in (tie.block_off, tie.fenced_off)


def leaving_out(timed: Sequence[Record]) -> Iterator[str]:
    """Yield a timed trial whose steps behind all others leave the loss of the step before, on another batch."""
    for record in timed:
        if record.tie is not None and record.tie.still >= STILL:
            yield (
                f"in {record.trial.name} {record.tie.still} of {record.tie.block_steps} steps behind all others leave "
                "the loss of the step before and all parameters as they were, on another batch: it skips steps"
            )


def _has_grown(tie: Tie, allowed: float) -> bool:
    """Return whether streams of more and more steps are off by more and more, as rounding is, and not at once."""
    offs = [off for off in accumulate(tie.grown, max) if off > 0.0]  # a longer one may be nearer by chance
    if not offs or offs[0] > allowed or tie.block_off is None:
        return False
    further = min(MOST_FURTHER, max(1, tie.block_steps - len(tie.grown) - 1))
    return all(off <= before * JUMP for before, off in pairwise(offs)) and tie.block_off <= offs[-1] * JUMP**further


def _of_block(record: Record, outputs: float) -> str:
    """Return how a trial's last block differs from its steps one by one, in a sentence; empty where it does not."""
    tie = record.tie
    assert tie is not None
    assert tie.block_off is not None
    where = f"in {record.trial.name} the last timed block, {tie.block_steps} steps without a wait between them, left"
    if not tie.losses:
        if tie.block_off <= outputs:
            return ""
        return (
            f"{where} other outputs than the same steps each waited for (checksums differ by {tie.block_off:.1e} of "
            f"the largest output, allowed {outputs:.0e}): it does not do every step"
        )
    exact = stream_allowed(joins_steps=record.trial.joins_steps)
    allowed = exact if tie.fenced_off == 0.0 else max(BLOCK_OFF, TIMES_ITSELF * (tie.fenced_off or 0.0))
    if tie.block_off <= allowed or _has_grown(tie, exact):
        return ""
    return (
        f"{where} other parameters than the same steps each waited for (off by {tie.block_off:.2g} of what one step "
        f"changes, allowed {allowed:.2g}): it does not do all of every step, or not in that precision"
    )
