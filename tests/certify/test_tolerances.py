from __future__ import annotations

import msgspec

from bakeoff.certify.tolerances import tolerance
from bakeoff.spec.workload import Size, Tolerance, Workload

PRECISIONS = ["float32", "tf32", "float16", "bfloat16"]
SIZE = Size(batch_size=8, input_shape=(4,), classes=3)
OWN = Tolerance(loss=1e-5, gradient=1e-4, output=1e-5)
WORKLOAD = Workload(name="mine", summary="", source="", sizes={"full": SIZE}, tolerance=OWN)


def test_fewer_bits_are_allowed_more() -> None:
    """The tolerances of a precision are never below those of a finer one, and the workload's own hold in float32."""
    allowed = [tolerance(WORKLOAD, SIZE, precision) for precision in PRECISIONS]
    assert allowed[0] == OWN
    for field in ("loss", "gradient", "gradient_norm", "output"):
        fine, tf32, float16, bfloat16 = (getattr(one, field) for one in allowed)
        assert fine < tf32 == float16 < bfloat16


def test_a_workload_that_allows_more_is_not_tightened() -> None:
    """What a workload or one of its sizes allows in float32 it allows in every precision."""
    wide = Tolerance(loss=0.9, gradient=0.9, gradient_norm=0.9, output=0.9)
    assert tolerance(WORKLOAD, msgspec.structs.replace(SIZE, tolerance=wide), "bfloat16") == wide


def test_all_gradients_together_are_held_more_tightly_than_one_element() -> None:
    """Where single elements may be off by much, the norm of all gradients may not, in every precision."""
    wide = Size(batch_size=8, input_shape=(4,), classes=3, tolerance=Tolerance(gradient=0.5))
    for precision in PRECISIONS:
        allowed = tolerance(WORKLOAD, wide, precision)
        assert allowed.gradient_norm < allowed.gradient
