"""The Python interface: `bakeoff.compare` and `bakeoff.sweep` run comparisons, `bakeoff.load` reads those that were."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from bakeoff.judge.comparison import judge_comparison
from bakeoff.race import conductor
from bakeoff.race.progress import silent
from bakeoff.spec.errors import UsageError
from bakeoff.spec.request import Request
from bakeoff.store.results import comparisons, read_records
from bakeoff.store.studies import studies
from bakeoff.study.run import run_study
from bakeoff.study.sweep import BATCH_SIZE, Axis, checked_values, sweep_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd

    from bakeoff.judge.outcome import Outcome
    from bakeoff.judge.search import SearchOutcome
    from bakeoff.judge.study import StudyOutcome
    from bakeoff.race.progress import Observer, StudyObserver
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
        """Return one row for each contender; seconds and bytes, and what is not known is missing.

        Columns are what was compared, the step time's interval (`step_s`, `low_s`, `high_s`), and every figure of a
        contender in the JSON object (docs/json.md), those of `memory`, `energy` and `light` by their own names.
        """
        import pandas as pd

        from bakeoff.report.pages import page_of

        told = page_of(self.outcome).data["contenders"]
        return pd.DataFrame([self._row(index, fields) for index, fields in enumerate(told)])

    def _row(self, index: int, fields: dict[str, Any]) -> dict[str, Any]:
        """Return one contender's figures, from its fields in the JSON object."""
        step, comparison = self.outcome.contenders[index].step_s, self.outcome.comparison
        inner = {name: value for key in ("memory", "energy", "light") for name, value in (fields[key] or {}).items()}
        figures = {name: value for name, value in (fields | inner).items() if not isinstance(value, dict | list)}
        return {
            "comparison": self.id,
            "workload": comparison.workload.name,
            "scenario": comparison.scenario,
            "batch_size": comparison.batch_size,
            "contender": figures.pop("label"),
            "status": figures.pop("status"),
            "step_s": step.estimate if step else None,
            "low_s": step.low if step else None,
            "high_s": step.high if step else None,
        } | {name: value for name, value in figures.items() if name != "step_s"}

    def __repr__(self) -> str:
        """Name the comparison, and every pair with its verdict."""
        pairs = [f"{one.first} / {one.second} {one.ratio or 0:.3g} {one.verdict}" for one in self.verdicts]
        return f"<Result {self.id}: {'; '.join(pairs) or 'no pair is ranked'}>"

    def __str__(self) -> str:
        """Return the report as it is printed on a terminal."""
        return _printed(self.outcome)


class StudyResult:
    """A study with its points; printed, it is the report's text."""

    def __init__(self, outcome: StudyOutcome) -> None:
        """Wrap a judged study."""
        self.outcome = outcome

    @property
    def id(self) -> str:
        """The study's name, which is its folder's."""
        return self.outcome.id

    @property
    def path(self) -> Path:
        """The study's folder, with a folder for each comparison."""
        return Path(self.outcome.path)

    @property
    def results(self) -> list[Result]:
        """The comparison of every point that was begun."""
        return [Result(outcome) for outcome in self.outcome.outcomes]

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each contender at each point, as Result.to_frame does, with the point's coordinates."""
        import pandas as pd

        frames = [
            Result(point.outcome).to_frame().assign(**point.point.coordinates)
            for point in self.outcome.points
            if point.outcome is not None
        ]
        return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()

    def __repr__(self) -> str:
        """Name the study and how many of its points have a comparison."""
        return f"<Study {self.id}: {len(self.outcome.outcomes)} of {len(self.outcome.points)} points>"

    def __str__(self) -> str:
        """Return the report as it is printed on a terminal."""
        return _printed(self.outcome)


def _printed(outcome: Outcome | StudyOutcome) -> str:
    """Return what a report prints on a wide terminal."""
    import io

    from rich.console import Console

    from bakeoff.report.forms.terminal import show
    from bakeoff.report.pages import page_of

    text = io.StringIO()
    show(page_of(outcome), Console(file=text, width=120))
    return text.getvalue()


def compare(
    workload: str | Path, contenders: Iterable[str] = (), *, observer: Observer = silent, **options: Any
) -> Result:
    """Race contenders on a workload, as `bakeoff run` does.

    `options` are those of bakeoff.spec.request.Request: scenario, batch_size, size, device, threads, options, data,
    aim, max_rounds, budget_s, calm_wait_s, epochs, steps, repeats, margin, seed, trial_limit_s, results, resume.
    `observer` is called with every event of bakeoff.race.progress. Raises UsageError for what cannot be, StoreError
    when results cannot be written.
    """
    return Result(conductor.run(_request("compare", workload, contenders, options), observer))


def sweep(
    workload: str | Path,
    contenders: Iterable[str] = (),
    *,
    observer: StudyObserver = silent,
    **options: Any,
) -> StudyResult:
    """Race every combination of the options that are given as lists, as `bakeoff run` does for several values.

    `options` are those of `compare`; batch_size, device, threads, and each value in `options`, may be lists:
    sweep("mlp-mnist", ["torch", "jax"], batch_size=[8, 16, 32], options={"precision": ["float32", "bfloat16"]}).
    Raises UsageError for what cannot be, StoreError when results cannot be written.
    """
    axes, single = _parted(options)
    request = _request("sweep", workload, contenders, single)
    if not axes:
        msg = "sweep() varies nothing: give a list of values, such as batch_size=[8, 16], or call compare()"
        raise UsageError(msg)
    study = sweep_of(request, axes)
    return StudyResult(run_study(study, observer, results=request.results, resume=request.resume))


def load(results: str | Path = "results") -> list[Result]:
    """Read every comparison in a results directory, oldest first, then those of its studies; all from records."""
    folders = [Path(results), *studies(Path(results))]
    return [Result(judge_comparison(comparison)) for folder in folders for comparison in comparisons(folder)]


def max_batch(
    workload: str | Path,
    contenders: Iterable[str] = (),
    *,
    memory_bytes: int | None = None,
    observer: Observer = silent,
    **options: Any,
) -> SearchOutcome:
    """Search each contender's largest batch within a limit of memory, as `bakeoff run --max-batch` does.

    `options` are those of `compare` but for what only a race has. `memory_bytes` is resident memory beyond the import;
    None: a share of what is available. Raises UsageError for what cannot be, StoreError when results cannot be written.
    """
    strange = sorted(conductor.RACE_ONLY & set(options))
    if strange:
        msg = f"max_batch() searches a batch size and races nothing: leave out {', '.join(strange)}"
        raise UsageError(msg)
    request = _request("max_batch", workload, contenders, options)
    return conductor.search_batches(request, observer, limit_bytes=memory_bytes)


def _request(function: str, workload: str | Path, contenders: Iterable[str], options: dict[str, Any]) -> Request:
    """Return a request; raise UsageError for an option that there is not."""
    if isinstance(contenders, str):
        msg = f"contenders is the text {contenders!r}; give a list: [{contenders!r}]"
        raise UsageError(msg)
    known = set(Request.__struct_fields__) - {"workload", "contenders"}
    unknown = sorted(set(options) - known)
    if unknown:
        msg = f"{function}() has no option {', '.join(unknown)}; valid: {', '.join(sorted(known))}"
        raise UsageError(msg)
    return Request(workload=str(workload), contenders=tuple(contenders), **options)


def _parted(options: dict[str, Any]) -> tuple[list[Axis], dict[str, Any]]:
    """Return options as axes, which are given as lists, and the others."""
    of_contenders = options.get("options", {}) | {
        name: options[name] for name in ("device", "threads") if options.get(name) is not None
    }
    asked = {BATCH_SIZE: options.get("batch_size")} | of_contenders
    lists = {name: [f"{value}" for value in values] for name, values in asked.items() if isinstance(values, list)}
    axes = [Axis(name=name, values=checked_values(values, name)) for name, values in lists.items()]
    single = {name: f"{value}" for name, value in of_contenders.items() if name not in lists}
    others = {name: value for name, value in options.items() if name not in ("options", "device", "threads")}
    if BATCH_SIZE in lists:
        del others["batch_size"]
    return axes, others | {"options": single}
