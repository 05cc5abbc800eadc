from __future__ import annotations

import math
from typing import Any

import msgspec
import pytest

from bakeoff.certify.tolerances import (
    LATER_ROOM,
    MOST,
    OUTPUTS_MOST,
    PROGRAM,
    ROOM,
    SUMS,
    Allowed,
    UpdateTolerance,
    allowed,
    amplitude,
    diverges_at,
    is_measured,
    of_version_1,
)
from bakeoff.spec.evidence import Evidence, Spread

PRECISIONS = ["float64", "float32", "tf32", "float16", "bfloat16"]


def measured(precision: str = "float32", **changes: float | None) -> Evidence:
    """Give a reference's evidence, of a model that magnifies nothing but what is said."""
    share = amplitude(precision)
    spread = Spread(amplitude=share, draws=2, output=share, losses=[share] * 3, gradient=share, gradient_norm=share)
    fields = {name: getattr(spread, name) for name in spread.__struct_fields__} | changes
    return Evidence(version=2, parameter_shapes={}, spreads={precision: Spread(**fields)})


def in_precision(precision: str, **changes: float | None) -> Allowed:
    """Give what is allowed on a processor."""
    return allowed(measured(precision, **changes), precision, "cpu", 3)


def test_fewer_bits_are_allowed_more() -> None:
    """What a precision may lose is never below what a finer one may, on the same model."""
    found = [in_precision(precision) for precision in PRECISIONS]
    for field in ("output", "gradient", "gradient_norm", "state"):
        fine, single, tf32, float16, bfloat16 = (getattr(one, field) for one in found)
        assert fine < single < tf32 == float16 < bfloat16


def test_a_contender_has_room_for_a_stated_multiple_of_the_spread() -> None:
    """The multiple is the same for all; a spread that is smaller than what moved the reference tightens nothing."""
    assert in_precision("float32", output=1e-3).output == ROOM * 1e-3
    assert in_precision("float32", output=0.0).output == ROOM * amplitude("float32")


def test_a_program_is_held_to_the_same_bound_in_every_model_but_a_chaotic_one() -> None:
    """In float64 there is one bound, unless the model magnifies float64's own roundings beyond it."""
    assert (in_precision("float64").output, in_precision("float64").optimizer) == (PROGRAM, PROGRAM)
    assert in_precision("float64", losses=[0.0, 1e-11, 1e-6]).losses == (PROGRAM, PROGRAM, LATER_ROOM * 1e-6)


def test_a_loss_that_a_draw_met_by_chance_is_allowed_what_its_parameters_say() -> None:
    """Found in resnet50 at reduced size, batch 1: between two losses that a draw moved, one that it did not.

    JAX was off by 1.5e-9 in it. Where parameters are as exact as losses, nothing more is allowed.
    """
    losses = [7.89e-14, 1.02e-11, 4.14e-11, 4.67e-13, 9.21e-10, 4.4e-09]
    spread = Spread(
        amplitude=amplitude("float64"),
        draws=1,
        output=0.0,
        losses=losses,
        gradient=0.0,
        gradient_norm=0.0,
        trajectory=[1.21e-11, 1.67e-10, 1.18e-9, 6.35e-9, 1.73e-8, 7.82e-8],
    )
    reference = Evidence(version=2, parameter_shapes={}, spreads={"float64": spread})
    found = allowed(reference, "float64", "cpu", len(losses)).losses
    assert found[:3] == (PROGRAM, PROGRAM, PROGRAM)
    typical = 4.14e-11 / 1.67e-10  # the median of the shares
    assert found[3:5] == pytest.approx([LATER_ROOM * typical * 1.18e-9, LATER_ROOM * typical * 6.35e-9])
    assert found[5] == LATER_ROOM * 4.4e-9
    exact = in_precision("float64", losses=[1e-16, 1e-16, 1e-16], trajectory=[1e-16, 1e-15, 1e-14])  # type: ignore[arg-type]
    assert exact.losses == (PROGRAM, PROGRAM, PROGRAM)


def test_what_a_model_magnifies_beyond_use_is_not_held() -> None:
    """A bound that nothing could exceed is none: it is infinite, and outputs, first loss and statistics have one."""
    wild = in_precision("float32", output=None, losses=[None, 1.0, 1.0], gradient=1.0, gradient_norm=None, state=9.0)
    assert (wild.output, wild.losses[0], wild.state) == (MOST, MOST, MOST)
    assert all(map(math.isinf, (*wild.losses[1:], wild.gradient, wild.gradient_norm)))


@pytest.mark.parametrize(
    ("losses", "precision", "held"),
    [
        ([2.3, 7e5, 5e69], "float32", 2),
        ([2.3, 7e18, 3.0], "float32", 3),
        ([2.3, 7e18, 3e6], "float32", 2),
        ([2.3, None, 3.0], "float32", 1),
        ([2e19, 2e19, 3.0], "float32", 1),
        ([2.3, 7e18, 5e69], "float64", 3),
        ([2.3, 7e18, 5e169], "float64", 2),
        ([0.0, 7e18, 3e19], "float32", 2),
    ],
)
def test_losses_are_held_as_long_as_a_precision_can_hold_them(
    losses: list[float | None], precision: str, held: int
) -> None:
    """Of a training that diverges, by the reference's losses; the first loss is held in any case.

    Found with pictures of 0 to 255 and SGD, where the reference's sixth loss was 4.6e69, and in cnn-cifar10 at full
    size with one sample, where losses of 0 followed one of 1.9e12: every contender was refused.
    """
    reference = msgspec.structs.replace(measured(precision), losses=losses)
    found = allowed(reference, precision, "cpu", 3).losses
    assert [math.isfinite(most) for most in found] == [step < held for step in range(3)]


def test_nothing_behind_a_loss_beyond_use_is_held() -> None:
    """However small it is: numbers within the model may be out of range, as logits of 1e40 were before a loss of 0."""
    assert diverges_at([2.7, 216.0, 1.9e12, 0.0], "float32") == 2
    assert diverges_at([2.7, 216.0, 1.9e12, 0.0], "float64") is None


def test_outputs_that_draws_magnify_are_held_by_little_more_than_they_show() -> None:
    """Never tighter than what is held of all else, and never so that outputs of zeros would do."""
    shown = {0.1: 0.4, 0.2: MOST, 0.3: 0.6, 0.42: 0.84, 5.0: OUTPUTS_MOST}
    assert {spread: in_precision("float32", output=spread).output for spread in shown} == pytest.approx(shown)
    assert {spread: in_precision("bfloat16", output=spread).output for spread in (0.3, 5.0)} == {0.3: MOST, 5.0: MOST}
    assert OUTPUTS_MOST < 1.0


KINKY = Spread(
    amplitude=1e-14, draws=1, output=1e-6, losses=[1e-9, 1e-6, 1e-3], trajectory=[1e-10, 1e-9, 1e-5], gradient=1e-8
)


def in_program(program: Spread, precision: str = "float32", **timed: Any) -> Allowed:
    """Give what is allowed in float64 where draws in a timed precision show so much."""
    spreads = {"float64": program} | ({precision: Spread(amplitude=1e-5, draws=2, **timed)} if timed else {})
    return allowed(Evidence(version=2, parameter_shapes={}, spreads=spreads), "float64", "cpu", 3)


def test_a_program_has_room_for_kinks_that_its_one_draw_did_not_cross() -> None:
    """Where float64's roundings move outputs: gradients by the root of how far, what follows as many times more.

    Up to the farthest that the draw has come. Found in rl-venv-ppo's size policy: see `_with_kinks`.
    """
    alone = in_program(KINKY)
    assert (alone.gradient, alone.trajectory) == (ROOM * 1e-8, (PROGRAM, LATER_ROOM * 1e-9, LATER_ROOM * 1e-5))
    found = in_program(KINKY, output=0.01, losses=[1e-3, 1e-3, 1e-3], gradient=1e-2, gradient_norm=1e-3)
    assert found.gradient == pytest.approx(ROOM * 1e-4), "a root of 1e-4"
    assert found.gradient_norm == pytest.approx(ROOM * 1e-5)
    assert found.losses == pytest.approx((ROOM * 1e-7, LATER_ROOM * 1e-3, LATER_ROOM * 1e-3))
    assert found.trajectory == pytest.approx((LATER_ROOM * 1e-5, LATER_ROOM * 1e-5, LATER_ROOM * 1e-5))
    assert (found.update.median, found.update.norm) == (PROGRAM, PROGRAM)


def test_kinks_are_worth_what_draws_of_whatever_is_timed_show() -> None:
    """One program has one verdict, whoever races beside it; draws that are no numbers hold nothing."""
    shown = {"output": 0.01, "losses": [1e-3, 1e-3, 1e-3], "gradient": 1e-2, "gradient_norm": 1e-3}
    assert in_program(KINKY, "bfloat16", **shown) == in_program(KINKY, **shown)
    wild = in_program(KINKY, output=None, losses=[None, None, None], gradient=None, gradient_norm=None)
    assert all(map(math.isinf, (wild.gradient, wild.gradient_norm)))
    assert wild.trajectory == pytest.approx((LATER_ROOM * 1e-5,) * 3)


def test_a_program_whose_outputs_stay_has_no_room_for_kinks() -> None:
    """As nearly every model: what draws in float32 cross is none of its business."""
    still = msgspec.structs.replace(KINKY, output=PROGRAM, gradient=0.0, trajectory=[0.0, 0.0, 0.0], losses=[0.0] * 3)
    found = in_program(still, output=0.4, losses=[1e-3, 1e-3, 1e-3], gradient=1e-2, gradient_norm=1e-2)
    assert (found.gradient, found.gradient_norm, found.trajectory[0]) == (PROGRAM, PROGRAM, PROGRAM)
    assert set(found.losses) == {PROGRAM}


def test_a_precision_is_held_by_its_own_spread() -> None:
    """Evidence says for which precisions it was measured; older evidence has bounds of its own for all."""
    assert is_measured(measured("float32"), "float32")
    assert not is_measured(measured("float32"), "bfloat16")
    older = Evidence(version=1, parameter_shapes={})
    assert is_measured(older, "bfloat16")
    assert allowed(older, "bfloat16", "cpu", 2) == of_version_1("bfloat16", 2)


def test_statistics_are_sums_that_are_longer_than_all_others() -> None:
    """In float32 they have room for sums of equal terms one after another; in float64 as everything else."""
    assert in_precision("float32", state=0.0).state == SUMS
    assert in_precision("float32", state=1e-3).state == ROOM * 1e-3
    assert in_precision("float64", state=0.0).state == PROGRAM


def test_what_later_steps_add_to_statistics_is_held_in_float64_alone() -> None:
    """It follows updates, so that it has the room of later losses; what is beyond use, or no float64, is not held."""
    assert in_precision("float64", later=0.0).later == PROGRAM
    assert in_precision("float64", later=1e-6).later == LATER_ROOM * 1e-6
    assert math.isinf(in_precision("float64", later=1.0).later)
    assert math.isinf(in_precision("float32", later=0.0).later)


def test_an_accelerators_updates_are_held_by_their_median_and_norm() -> None:
    """It need not compute the same gradients twice, so that no more is asked than of these; and never nothing."""
    alike = allowed(measured(gradient_norm=1e-2), "float32", "cuda", 3)
    assert alike.update == (ROOM * 1e-2, 1.0, ROOM * 1e-2)
    exact = allowed(measured(gradient_norm=0.0), "float32", "cuda", 3)
    assert exact.update == (UpdateTolerance().median, 1.0, ROOM * amplitude("float32"))
    assert allowed(measured(gradient_norm=None), "float32", "cuda", 3).update.used == MOST


def test_a_model_that_magnifies_its_outputs_has_a_later_losses_room_for_its_first() -> None:
    """A rollout magnifies before any update does: found in rl-venv-ppo's size policy, where JAX was off by 7.2 draws.

    Where outputs are held, the first loss has no more room than they have.
    """
    losses = [1e-3, 2e-3, 3e-3]
    assert in_precision("float32", output=0.12, losses=losses).losses[0] == ROOM * 1e-3
    assert in_precision("float32", output=0.18, losses=losses).losses[0] == LATER_ROOM * 1e-3


def test_a_metric_is_held_no_closer_than_the_parameters_that_it_is_of() -> None:
    """One draw of float64 may have the reference's metric by chance; where parameters are exact, so is the metric."""
    assert in_precision("float64", metric=1e-5, trajectory=[1e-9, 1e-3, 2e-2]).metric == LATER_ROOM * 2e-2
    assert in_precision("float64", metric=1e-5, trajectory=[1e-12, 1e-12, 1e-12]).metric == LATER_ROOM * 1e-5
    assert in_precision("float64", metric=0.0, trajectory=[1e-12, 1e-12, 1e-12]).metric == PROGRAM


def test_a_program_has_one_bound_in_all_that_is_held_where_its_own_was_not_measured() -> None:
    """Each loss, and the parameters after each of a step's updates: there is no part that nothing bounds."""
    found = allowed(measured("float32"), "float64", "cpu", 3, updates=2)
    assert (found.losses, found.trajectory) == ((PROGRAM,) * 3, (PROGRAM,) * 6)
    others = (found.output, found.gradient, found.gradient_norm, found.state, found.norms, found.metric, found.later)
    assert others == (PROGRAM,) * 7
    assert found.update == UpdateTolerance(PROGRAM, PROGRAM, PROGRAM)
