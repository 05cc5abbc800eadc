"""The measurement of TF32, beside an emulation of it: no GPU is here."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bakeoff.frameworks import tf32

CUT = np.uint32(0xFFFFE000)
"""What TF32 keeps of float32: sign, exponent, and 10 bits after the point."""


def cut_off(values: Any) -> Any:
    """Cut operands off as TF32 has them."""
    return (values.view(np.uint32) & CUT).view(np.float32)


def rounded(values: Any) -> Any:
    """Round operands to the nearest of TF32."""
    return cut_off((values.view(np.uint32) + np.uint32(0x1000)).view(np.float32))


def split(values: Any) -> list[Any]:
    """Split into three numbers of bfloat16, whose products together are one of float32."""
    parts = []
    for _ in range(3):
        parts.append((values.view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32))
        values = values - parts[-1]
    return parts


def convolve(image: Any, kernel: Any) -> Any:
    """Convolve in float32, tap by tap."""
    high, wide = image.shape[1:3]
    padded = np.pad(image, ((0, 0), (1, 1), (1, 1), (0, 0)))
    taps = [
        padded[:, row : row + high, column : column + wide] @ kernel[row, column]
        for row in range(3)
        for column in range(3)
    ]
    return sum(taps)


def winograd(image: Any, kernel: Any) -> Any:
    """Convolve as Winograd's F(4, 3) does along one axis, with its factors of 1/6 and 1/24, the middle row alone."""
    points = np.array(
        [
            [1 / 4, 0, 0],
            [-1 / 6] * 3,
            [-1 / 6, 1 / 6, -1 / 6],
            [1 / 24, 1 / 12, 1 / 6],
            [1 / 24, -1 / 12, 1 / 6],
            [0, 0, 1],
        ]
    )
    data = np.array(
        [
            [4, 0, -5, 0, 1, 0],
            [0, -4, -4, 1, 1, 0],
            [0, 4, -4, -1, 1, 0],
            [0, -2, -1, 2, 1, 0],
            [0, 2, -1, -2, 1, 0],
            [0, 4, 0, -5, 0, 1],
        ]
    )
    back = np.array([[1, 1, 1, 1, 1, 0], [0, 1, -1, 2, -2, 0], [0, 1, 1, 4, 4, 0], [0, 1, -1, 8, -8, 1]])
    tiles = np.stack([image[:, :, at : at + 6] for at in range(0, image.shape[2] - 5, 4)])
    taps = np.einsum("pk,kio->pio", points.astype(np.float32), kernel[1])
    inner = np.einsum("pw,tbhwi->ptbhi", data.astype(np.float32), tiles)
    return np.einsum("mp,ptbho->mtbho", back.astype(np.float32), np.einsum("ptbhi,pio->ptbho", inner, taps))


def test_float32_is_told_from_less() -> None:
    """Products of float32 are exact to what is allowed, those of operands that TF32 has rounded are not."""
    assert set(tf32.measured(np.matmul, convolve).values()) == {False}


@pytest.mark.parametrize("reduced", [cut_off, rounded])
@pytest.mark.parametrize("sides", [(0,), (1,), (0, 1)])
def test_each_operand_shows_that_it_was_rounded(reduced: Any, sides: tuple[int, ...]) -> None:
    """One operand in TF32 is enough, cut off or rounded."""

    def less(product: Any) -> Any:
        return lambda *operands: product(*(reduced(one) if side in sides else one for side, one in enumerate(operands)))

    assert set(tf32.measured(less(np.matmul), less(convolve)).values()) == {True}
    assert tf32.measured(np.matmul, less(convolve)) == {
        "tf32_matmul_measured": False,
        "tf32_convolution_measured": True,
    }


def test_what_keeps_float32_by_other_ways_is_float32() -> None:
    """Three products of bfloat16 for one of float32, and Winograd's transforms, are no TF32."""

    def by_parts(left: Any, right: Any) -> Any:
        return sum(a.astype(np.float32) @ b for a in split(left) for b in split(right))

    assert set(tf32.measured(by_parts, winograd).values()) == {False}


def test_what_is_no_number_is_no_float32() -> None:
    """A product that gives NaN is not taken for an exact one."""
    assert tf32.measured(lambda left, _: left * np.nan, convolve)["tf32_matmul_measured"]


def test_the_number_is_one_in_tf32() -> None:
    """What the measurement multiplies is held by float32 exactly, and is 1 in TF32, rounded or cut off."""
    number = np.array([tf32.OPERAND], np.float32)
    assert number.astype(np.float64)[0] == tf32.OPERAND
    assert (cut_off(number)[0], rounded(number)[0]) == (1.0, 1.0)
