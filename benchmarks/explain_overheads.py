"""What explanations cost and leave open: the profiler's overhead, and the share of a step that is not attributed.

    python benchmarks/explain_overheads.py RESULTS [RESULTS ...] [--output STEM]

Read from recorded explanations: nothing is run. RESULTS are results directories, or folders of comparisons; races that
checked suspects are read with them. "profiled" is a step under the profiler against a plain one, each waited for, the
median of pairs of blocks; shares are of the step: "unattributed" is host dispatch, idle, and operations that no rule
knows or no layer was found for, "host and idle" the first two of them, "inferred" was placed by a rule, and "mixed" is
of operations that a compiler has fused from several. "calm" is the share of raced blocks that nothing else disturbed.
"""

from __future__ import annotations

import argparse
import statistics
from pathlib import Path
from typing import TYPE_CHECKING, Any

from results import write

from bakeoff.judge.checks import CHECKS_FOLDER
from bakeoff.judge.explained import explain
from bakeoff.judge.profile import traced_rounds
from bakeoff.measure.contention import is_flagged
from bakeoff.spec.errors import StoreError
from bakeoff.store.everywhere import every_comparison
from bakeoff.store.results import finished, of_contender, of_purpose, read_records

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bakeoff.judge.explanation import ContenderProfile
    from bakeoff.spec.record import Record

ABOUT = (__doc__ or "").strip().rpartition("\n\n")[2]
"""What the columns are."""

WITHOUT_OPERATION = ("host dispatch", "idle")


def rows_of(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield a row for each contender with a profile in a comparison's folder."""
    try:
        found = explain(folder)
        records = list(read_records(folder).records.values())
    except StoreError as error:
        print(f"{folder} is left out: {error}")
        return
    comparison = found.outcome.comparison
    plans = {one.label: one.plan for one in found.outcome.contenders}
    for profile in found.profiles:
        if profile.level == "none":
            continue
        options = plans[profile.label].contender.options
        yield {
            "workload": f"{comparison.workload.name}, {comparison.size}",
            "contender": profile.label,
            "mode": options.get("mode", ""),
            "threads": options.get("threads", ""),
            "recorded": comparison.created_at[:10],
            "rounds": profile.rounds,
            "step, ms": f"{profile.step_s * 1e3:.3g}",
            "profiled": f"{profile.profiled_ratio:.2f}" if profile.profiled_ratio else "",
            "events a step": f"{profile.events_per_step:.0f}",
            "level": profile.level,
            **_shares(profile, records),
            "calm": _percent(_calm(of_contender(records, profile.label))),
        }


def _shares(profile: ContenderProfile, records: Sequence[Record]) -> dict[str, str]:
    """Return what is not told of a step, in percent."""
    traced = traced_rounds(records, profile.label).values()
    nowhere = statistics.fmean(
        sum(share.share for share in one.shares if share.kind in WITHOUT_OPERATION) for one in traced
    )
    return {
        "unattributed": _percent(profile.unattributed_share),
        "host and idle": _percent(nowhere),
        "inferred": _percent(profile.inferred_share),
        "mixed": _percent(profile.mixed_share),
    }


def _calm(records: Sequence[Record]) -> float:
    """Return the share of raced blocks that nothing else disturbed."""
    blocks = [block for record in finished(of_purpose(records, "time")) for block in record.blocks]
    return statistics.fmean(not is_flagged(block.signals) for block in blocks) if blocks else 0.0


def _percent(share: float) -> str:
    """Return a share as a text."""
    return f"{share:.1%}"


def folders(places: Sequence[Path]) -> list[Path]:
    """Return the comparisons that lie there, with the races that checked their suspects behind each."""
    found = []
    for folder in every_comparison(places):
        checks = folder / CHECKS_FOLDER
        found += [folder, *(every_comparison([checks]) if checks.is_dir() else [])]
    return list(dict.fromkeys(found))


def main() -> None:
    """Read what is recorded; print and write it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path, nargs="+")
    parser.add_argument("--output", type=Path, default=None)
    asked = parser.parse_args()
    rows = [row for folder in folders(asked.results) for row in rows_of(folder)]
    if not rows:
        parser.error("no contender was traced there: bakeoff explain makes the records that this reads")
    write(rows, f"What explanations cost and leave open, by workload and contender\n\n{ABOUT}", asked.output)


if __name__ == "__main__":
    main()
