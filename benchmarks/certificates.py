"""What certificates find: the largest error of each check, with what it may be.

    python benchmarks/certificates.py [--full | --reduced | --size NAME] [--macs N] [--samples N] [--models FILE ...]
                                      [--contenders ...] [--only WORDS ...] [--keep FILE] [--limit 900] [--output STEM]

Each row is a contender against PyTorch in float64: the number is the largest error that a check found, relative as the
check says (docs/certificate.md), "!" marks one beyond what is allowed. It has no clock: a busy machine does not change
it. The cases are those that no race of a report shows: Jittor and MLX, half precision, inference, the workload that
only infers. Batches are the workload's own where none is named. With --full they are every scenario of every workload
at full size and its own batch in all frameworks, the cheapest first, or of the models in these files; --macs halves a
batch until its forward pass has no more multiply-accumulates than that, --samples until it has no more samples. With
--reduced they are the same at reduced size, on one thread, and with --size at another one, of the workloads that have
it. A case is kept in FILE once it is done, and the records of one that was ended in FILE.records, so that a second call
goes on. `program` is the largest error of the stage in float64, of all checks. Where there was nothing to check, as
after a time limit, "passed" is "not made".
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from results import write

from bakeoff.race.conductor import verify
from bakeoff.spec.errors import BakeoffError, UsageError
from bakeoff.spec.request import Request
from bakeoff.workloads.load import load, names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bakeoff.spec.verdict import Certificate
    from bakeoff.spec.workload import Size

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

LIMIT_S = 900.0
"""Of one trial, if --limit does not say another: float64 on two cores takes this long for what is not waited for."""

CHECKS = ("outputs", "ran", "loss", "gradients", "optimizer", "update", "trajectory", "state")

NOT_MADE = "not made"
"""Of a certificate with nothing to check, as after a time limit."""

REASON_CHARACTERS = 200
"""A reason may end with what a process printed."""


def row(case: tuple[str, str, str, int | None, tuple[str, ...]], certificate: Certificate) -> dict[str, Any]:
    """Return a contender's largest errors; a check that is not owed is empty."""
    found = dict.fromkeys(CHECKS, "")
    # Of a check that is made in both stages the second one stands here: that of the settings that are timed.
    found |= {
        check.name: f"{check.error:.1e}{'' if check.passed else ' !'}"
        for check in certificate.checks
        if check.error is not None and check.name in CHECKS
    }
    program = [check.error for check in certificate.checks if check.stage == "program" and check.error is not None]
    passed = "yes" if certificate.passed else "no" if certificate.checks else NOT_MADE
    said = {"contender": certificate.contender, "passed": passed}
    shown = {"program": f"{max(program):.1e}" if program else ""} | found
    return _of_case(case) | said | shown | _because("" if certificate.passed else certificate.reason)


def row_without(case: tuple[str, str, str, int | None, tuple[str, ...]], reason: str) -> dict[str, Any]:
    """Return the row of a contender of which nothing was computed."""
    empty = dict.fromkeys(("program", *CHECKS), "")
    return _of_case(case) | {"contender": case[-1][0], "passed": NOT_MADE} | empty | _because(reason)


def _of_case(case: tuple[str, str, str, int | None, tuple[str, ...]]) -> dict[str, Any]:
    """Return what all rows of a case begin with."""
    workload, scenario, size, batch_size, _ = case
    return {"workload": workload, "scenario": scenario, "size": size, "batch": batch_size or "its own"}


def _because(reason: str) -> dict[str, str]:
    """Return a reason as a cell of a table holds it."""
    return {"why not": " ".join(reason.replace("|", "/").split())[:REASON_CHARACTERS]}


def data_of(workload: str) -> str:
    """Return synthetic data, or the first source of a workload that has none: graphs, and an environment's own."""
    sources = load(workload).workload.data
    return "synthetic" if "synthetic" in sources else sources[0]


def rows_of(
    case: tuple[str, str, str, int | None, tuple[str, ...]], results: str, limit_s: float
) -> list[dict[str, Any]]:
    """Certify the contenders of a case; return a row for each."""
    workload, scenario, size, batch_size, contenders = case
    request = Request(
        workload=workload,
        contenders=contenders,
        scenario=scenario,
        size=size,
        batch_size=batch_size,
        data=data_of(workload),
        threads=1 if size == "reduced" else None,
        trial_limit_s=limit_s,
        results=results,
    )
    try:
        return [row(case, certificate) for certificate in _gone_on(request)]
    except BakeoffError as error:
        if len(contenders) > 1:  # One that is refused beforehand refuses all.
            single = [(workload, scenario, size, batch_size, (one,)) for one in contenders]
            return [found for one in single for found in rows_of(one, results, limit_s)]
        return [row_without(case, str(error))]


def _gone_on(request: Request) -> list[Certificate]:
    """Return the certificates of a request, with what an ended call has left of it."""
    try:
        return verify(msgspec.structs.replace(request, resume=True))
    except UsageError:  # Nothing was left; another reason is told again.
        return verify(request)


def full_cases(
    most_macs: float = math.inf,
    models: Sequence[str] = (),
    most_samples: float = math.inf,
    contenders: tuple[str, ...] = ALL,
    size: str = "full",
) -> list[tuple[str, str, str, int | None, tuple[str, ...]]]:
    """Return every scenario of every workload at a size and its batch, in all frameworks, the cheapest first.

    Or of the models in these files, which need not say how many multiply-accumulates they have: then none is halved.
    """
    every = {name: load(name).workload.sizes for name in models or names()}
    found = {name: sizes[size] for name, sizes in every.items() if size in sizes}
    return [
        (name, scenario, size, batch_within(sized, most_macs, most_samples), contenders)
        for name, sized in sorted(found.items(), key=lambda one: _macs(one[1]))
        for scenario in load(name).workload.scenarios
    ]


def _macs(size: Size) -> int:
    """Return the multiply-accumulates of a batch's forward pass; 0 where no sample's are declared."""
    return (size.macs or 0) * size.batch_size


def batch_within(size: Size, most_macs: float, most_samples: float = math.inf) -> int:
    """Return a size's batch, halved until it has no more samples and multiply-accumulates than that, or one sample."""
    batch = size.batch_size
    while batch > 1 and (batch > most_samples or batch * (size.macs or 0) > most_macs):
        batch //= 2
    return batch


def kept(path: Path | None) -> dict[str, list[dict[str, Any]]]:
    """Return what an earlier call has done: rows by the words of their case."""
    lines = path.read_text().splitlines() if path is not None and path.exists() else []
    return dict(json.loads(line) for line in lines)


def main() -> None:
    """Certify, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", default=[""], help="cases one of whose words holds one of these")
    every = parser.add_mutually_exclusive_group()
    every.add_argument("--full", action="store_const", const="full", dest="size", help="all of full size")
    every.add_argument("--reduced", action="store_const", const="reduced", dest="size", help="all of reduced size")
    every.add_argument("--size", help="all of another size, such as full-auxiliary")
    parser.add_argument("--macs", type=float, default=math.inf, help="the most of a batch's forward pass, of all")
    parser.add_argument("--samples", type=float, default=math.inf, help="the most of a batch, of all")
    parser.add_argument("--models", nargs="+", default=[], help="files in place of the workloads, of all")
    parser.add_argument("--contenders", nargs="+", default=ALL, help="in place of all frameworks, of all")
    parser.add_argument("--keep", type=Path, help="where rows are kept between calls")
    parser.add_argument("--limit", type=float, default=LIMIT_S, help="seconds of one trial")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    rows = []
    done = kept(options.keep)
    with tempfile.TemporaryDirectory() as nowhere:
        folder = nowhere if options.keep is None else f"{options.keep}.records"
        bounds = (options.macs, options.models, options.samples, tuple(options.contenders))
        cases = full_cases(*bounds, options.size) if options.size else CASES
        if not cases:
            there = {size for name in options.models or names() for size in load(name).workload.sizes}
            parser.error(f"no workload has the size {options.size!r}; there are {', '.join(sorted(there))}")
        for case in cases:
            words = " ".join(map(str, case))
            if not any(word in words for word in options.only):
                continue
            if words not in done:
                done[words] = rows_of(case, folder, options.limit)
                if options.keep is not None:
                    with options.keep.open("a") as stream:
                        stream.write(json.dumps([words, done[words]]) + "\n")
            rows += [one | _because(one.get("why not", "")) for one in done[words]]  # older files have no such cell
            sys.stderr.write(f"{rows[-1:]}\n")
    write(rows, __doc__ or "", options.output)


if __name__ == "__main__":
    main()
