"""The Python interface: `compare` and `sweep` run comparisons, `explain` says why one is slower, `load` reads."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from bakeoff.api.asking import check_names, checked_bytes, parted, request_of
from bakeoff.api.results import ExplainedResult, Result, StudyResult
from bakeoff.api.watching import observing
from bakeoff.judge import explained
from bakeoff.judge.comparison import judge_comparison
from bakeoff.race import conductor, explaining
from bakeoff.race.pairs import check_pair
from bakeoff.spec.errors import BakeoffError, StoreError, UnknownNameError, UsageError
from bakeoff.store.everywhere import every_comparison
from bakeoff.store.files import COMPARISON_FILE
from bakeoff.study.run import run_study
from bakeoff.study.sweep import sweep_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bakeoff.judge.search import SearchOutcome
    from bakeoff.race.progress import Observer, StudyObserver

__all__ = [
    "BakeoffError",
    "ExplainedResult",
    "Result",
    "StoreError",
    "StudyResult",
    "UnknownNameError",
    "UsageError",
    "compare",
    "explain",
    "load",
    "max_batch",
    "sweep",
]
"""What is public: docs/python.md documents it, a test holds them together, and it changes only with a note."""


def compare(
    workload: str | Path,
    contenders: Iterable[str] = (),
    *,
    progress: bool | None = None,
    observer: Observer | None = None,
    **options: Any,
) -> Result:
    """Race contenders on a workload, as `bakeoff run` does.

    `progress` shows how far it is: None in a terminal and in a notebook unless there is an observer, True everywhere,
    False nowhere. `observer` is called with every event of bakeoff.race.progress. `options` are those that
    bakeoff.api.asking.OPTIONS names, such as batch_size or budget_s; docs/python.md has them all.
    Raises UsageError for what cannot be, StoreError when results cannot be written.
    """
    request = request_of("compare", workload, contenders, options)
    with observing(progress, observer) as observe:
        return Result(conductor.run(request, observe))


def sweep(
    workload: str | Path,
    contenders: Iterable[str] = (),
    *,
    progress: bool | None = None,
    observer: StudyObserver | None = None,
    **options: Any,
) -> StudyResult:
    """Race every combination of the options that are given as lists, as `bakeoff run` does for several values.

    `progress` and `observer` are as in `compare`; `options` are those of `compare`, of which batch_size, device,
    threads, and each value in `options`, may be lists. This races six combinations:

        bakeoff.sweep("mlp-mnist", contenders, batch_size=[8, 16, 32], options={"precision": ["float32", "bfloat16"]})

    Raises UsageError for what cannot be, StoreError when results cannot be written.
    """
    check_names("sweep", options)
    axes, single = parted(options)
    request = request_of("sweep", workload, contenders, single)
    if not axes:
        msg = "sweep() varies nothing: give a list of values, such as batch_size=[8, 16], or call compare()"
        raise UsageError(msg)
    study = sweep_of(request, axes)
    with observing(progress, observer) as observe:
        return StudyResult(run_study(study, observe, results=request.results, resume=request.resume))


def load(results: str | Path = "results") -> list[Result]:
    """Read every comparison in a results directory, oldest first, then those of its studies; all from records.

    The folder of one comparison, or of a study, gives its own. Raises UsageError where there is no such folder,
    StoreError for records that cannot be read.
    """
    place = Path(results)
    if not place.is_dir():
        msg = f"there is no folder {place.absolute()} to load: name a results directory, or the folder of a comparison"
        raise UsageError(msg)
    return [Result(judge_comparison(folder)) for folder in every_comparison([place])]


def explain(
    what: str | Path,
    contenders: Iterable[str] = (),
    *,
    recorded: bool = False,
    progress: bool | None = None,
    observer: Observer | None = None,
    **options: Any,
) -> ExplainedResult:
    """Return why one contender is slower than another, as `bakeoff explain` says it.

    `what` is the folder of a comparison that was run, in which trials that are missing are run now, unless `recorded`,
    and which takes the options budget_s and data alone; or a workload, which is raced with its contenders first.
    `progress`, `observer` and `options` are those of `compare`. Raises UsageError for what cannot be, StoreError when
    results cannot be written or read.
    """
    if contenders or not (Path(what) / COMPARISON_FILE).exists():
        if recorded:
            msg = f"recorded=True reads a comparison that was run, and {what} is no folder of one"
            raise UsageError(msg)
        request = request_of("explain", what, contenders, options)
        check_pair(request)
        with observing(progress, observer) as observe:
            return ExplainedResult(explaining.race(request, observe))
    folder, strange = Path(what), sorted(set(options) - {"budget_s", "data"})
    if strange:
        msg = f"explain() of a comparison has its file's options: leave out {', '.join(strange)}"
        raise UsageError(msg)
    if not recorded:
        with observing(progress, observer) as observe:
            explaining.complete(folder, observe, **options)
    return ExplainedResult(explained.explain(folder))


def max_batch(
    workload: str | Path,
    contenders: Iterable[str] = (),
    *,
    memory_bytes: int | None = None,
    progress: bool | None = None,
    observer: Observer | None = None,
    **options: Any,
) -> SearchOutcome:
    """Search each contender's largest batch within a limit of memory, as `bakeoff run --max-batch` does.

    `progress`, `observer` and `options` are those of `compare`, but for what only a race has. `memory_bytes` is
    resident memory beyond the import, on CUDA that of the GPU; None: a share of what is available. Raises
    UsageError for what cannot be, StoreError when results cannot be written.
    """
    strange = sorted(conductor.RACE_ONLY & set(options))
    if strange:
        msg = f"max_batch() searches a batch size and races nothing: leave out {', '.join(strange)}"
        raise UsageError(msg)
    limit_bytes = checked_bytes(memory_bytes)
    request = request_of("max_batch", workload, contenders, options)
    with observing(progress, observer) as observe:
        return conductor.search_batches(request, observe, limit_bytes=limit_bytes)
