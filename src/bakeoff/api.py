"""The Python interface: `bakeoff.compare` runs a comparison, `bakeoff.load` reads those that were run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from bakeoff.race import conductor
from bakeoff.race.judge import judge
from bakeoff.race.progress import silent
from bakeoff.race.request import Request
from bakeoff.spec.errors import UsageError
from bakeoff.store.results import comparisons, read_records

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd

    from bakeoff.race.outcome import Outcome
    from bakeoff.race.progress import Observer
    from bakeoff.spec.record import Record
    from bakeoff.spec.verdict import Verdict


class Result:
    """One comparison with its verdicts and records; printed, it is the report's text."""

    def __init__(self, outcome: Outcome) -> None:
        """Wrap a judged comparison."""
        self.outcome = outcome

    @property
    def id(self) -> str:
        """The comparison's name, which is its folder's."""
        return self.outcome.comparison.id

    @property
    def path(self) -> Path:
        """The comparison's folder."""
        return Path(self.outcome.path)

    @property
    def verdicts(self) -> list[Verdict]:
        """The verdict on every pair of ranked contenders."""
        return self.outcome.verdicts

    @property
    def records(self) -> dict[str, Record]:
        """Every readable record by the name of its trial, read anew."""
        return read_records(self.path).records

    def to_frame(self) -> pd.DataFrame:
        """Give one row for each contender; seconds and bytes, and what is not known is missing."""
        import pandas as pd

        return pd.DataFrame([self._row(index) for index in range(len(self.outcome.contenders))])

    def _row(self, index: int) -> dict[str, Any]:
        """Give one contender's figures."""
        contender = self.outcome.contenders[index]
        step, memory = contender.step_s, contender.memory
        return {
            "comparison": self.id,
            "workload": self.outcome.comparison.workload.name,
            "scenario": self.outcome.comparison.scenario,
            "batch_size": self.outcome.comparison.batch_size,
            "contender": contender.label,
            "status": contender.status,
            "step_s": step.estimate if step else None,
            "low_s": step.low if step else None,
            "high_s": step.high if step else None,
            "samples_per_s": contender.samples_per_s,
            "first_step_s": contender.first_step_s,
            "compile_s": contender.compile_s,
            "peak_bytes": memory.peak_bytes if memory else None,
            "accuracy": contender.accuracy,
            "rounds": contender.rounds,
        }

    def __repr__(self) -> str:
        """Name the comparison, and every pair with its verdict."""
        pairs = [f"{one.first} / {one.second} {one.ratio or 0:.3g} {one.verdict}" for one in self.verdicts]
        return f"<Result {self.id}: {'; '.join(pairs) or 'no pair is ranked'}>"

    def __str__(self) -> str:
        """Give the report as it is printed on a terminal."""
        import io

        from rich.console import Console

        from bakeoff.report import terminal

        text = io.StringIO()
        terminal.show(self.outcome, Console(file=text, width=120))
        return text.getvalue()


def compare(
    workload: str | Path, contenders: Iterable[str] = (), *, observer: Observer = silent, **options: Any
) -> Result:
    """Race contenders on a workload, as `bakeoff run` does.

    `options` are those of bakeoff.race.request.Request: scenario, batch_size, size, device, threads, data,
    aim, max_rounds, budget_s, epochs, steps, repeats, margin, seed, trial_limit_s, results, resume. `observer` is
    called with every event of bakeoff.race.progress. Raises UsageError for what cannot be, StoreError when results
    cannot be written.
    """
    if isinstance(contenders, str):
        msg = f"contenders is the text {contenders!r}; give a list: [{contenders!r}]"
        raise UsageError(msg)
    known = set(Request.__struct_fields__) - {"workload", "contenders"}
    unknown = sorted(set(options) - known)
    if unknown:
        msg = f"compare() has no option {', '.join(unknown)}; valid: {', '.join(sorted(known))}"
        raise UsageError(msg)
    request = Request(workload=str(workload), contenders=tuple(contenders), **options)
    return Result(conductor.run(request, observer))


def load(results: str | Path = "results") -> list[Result]:
    """Read every comparison in a results directory, oldest first; all is computed from the records again."""
    return [Result(judge(folder)) for folder in comparisons(Path(results))]
