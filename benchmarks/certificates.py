"""What certificates find: the largest error of each check, with what it may be.

    python benchmarks/certificates.py [--only WORDS ...] [--output benchmarks/results/certificates-of]

Each row is a contender against PyTorch in float64: the number is the largest error that a check found, relative as the
check says (docs/method.md), "!" marks one beyond what is allowed. It has no clock: a busy machine does not change it.
The cases are those that no race of a report shows: Jittor and MLX, half precision, inference, the workload that only
infers. Batches are the workload's own where none is named.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from results import write

from bakeoff.race.conductor import verify
from bakeoff.spec.errors import BakeoffError
from bakeoff.spec.request import Request

if TYPE_CHECKING:
    from bakeoff.spec.verdict import Certificate

ALL = ("torch", "jax", "tensorflow", "jittor", "mlx")
HALF = ("torch:precision=bfloat16", "jax:precision=bfloat16", "tensorflow:precision=bfloat16")
CASES: tuple[tuple[str, str, str, int | None, tuple[str, ...]], ...] = (
    ("mlp-1024", "infer", "full", None, ALL),
    ("mlp-mnist", "train", "full", None, ("jittor", "mlx")),
    ("cnn-cifar10", "train", "reduced", None, ("jittor", "mlx")),
    ("resnet50-cifar10", "train", "reduced", None, ("jittor", "jittor:batch_norm=own", "mlx")),
    ("inceptionv3", "train", "reduced", None, ("jittor", "jittor:batch_norm=own", "mlx")),
    ("vit-b16", "train", "reduced", None, ("jittor", "mlx")),
    ("resnet50", "infer", "reduced", None, ALL),
    ("mlp-mnist", "train", "reduced", None, HALF),
    ("cnn-cifar10", "train", "reduced", None, HALF),
    ("cnn-apx", "train", "reduced", None, HALF),
    ("vit-b16", "train", "reduced", None, HALF),
    ("resnet50", "train", "reduced", None, HALF),
)
"""Workload, scenario, size, batch size (None: the size's own) and contenders: seconds each on two cores."""

CHECKS = ("outputs", "ran", "loss", "gradients", "optimizer", "update", "state")


def row(case: tuple[str, str, str, int | None, tuple[str, ...]], certificate: Certificate) -> dict[str, Any]:
    """Return a contender's largest errors; a check that is not owed is empty."""
    workload, scenario, size, batch_size, _ = case
    known = {check.name: check for check in certificate.checks}
    found = {}
    for name in CHECKS:
        check = known.get(name)  # type: ignore[call-overload]
        error = None if check is None or check.error is None else f"{check.error:.1e}{'' if check.passed else ' !'}"
        found[name] = error or ""
    what = {"workload": workload, "scenario": scenario, "size": size, "batch": batch_size or "its own"}
    return what | {"contender": certificate.contender, "passed": "yes" if certificate.passed else "no"} | found


def rows_of(case: tuple[str, str, str, int | None, tuple[str, ...]], results: str) -> list[dict[str, Any]]:
    """Certify the contenders of a case; return a row for each."""
    workload, scenario, size, batch_size, contenders = case
    request = Request(
        workload=workload,
        contenders=contenders,
        scenario=scenario,
        size=size,
        batch_size=batch_size,
        data="synthetic",
        threads=1,
        results=results,
    )
    try:
        return [row(case, certificate) for certificate in verify(request)]
    except BakeoffError as error:
        sys.stderr.write(f"{workload}, {size}: {error}\n")
        return []


def main() -> None:
    """Certify, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", default=[""], help="cases one of whose words holds one of these")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for case in CASES:
            if any(word in " ".join(map(str, case)) for word in options.only):
                rows += rows_of(case, folder)
                sys.stderr.write(f"{rows[-1:]}\n")
    write(rows, __doc__ or "", options.output)


if __name__ == "__main__":
    main()
