from __future__ import annotations

from bakeoff.spec.workload import Size, Tolerance

TIGHT, WIDE = Tolerance(gradient=1e-4), Tolerance(gradient=1e-1)
SIZE = Size(batch_size=4, input_shape=(5,), classes=3, tolerance=TIGHT, larger_batch_tolerance=WIDE)


def test_a_larger_batch_has_its_own_tolerance() -> None:
    """A size's tolerance holds up to its batch; one for larger batches holds beyond, where there is one."""
    assert [SIZE.at_batch(n).tolerance for n in (1, 4, 5, 64)] == [TIGHT, TIGHT, WIDE, WIDE]
    plain = Size(batch_size=4, input_shape=(5,), classes=3, tolerance=TIGHT)
    assert plain.at_batch(64).tolerance == TIGHT
    assert plain.at_batch(64).batch_size == 64
