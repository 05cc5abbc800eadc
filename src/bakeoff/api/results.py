"""What a comparison or a study gave: verdicts, records, tables and pictures; it reads well wherever it is shown."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bakeoff.api.frames import BLOCKS, CONTENDERS, exported_frame, frame_of, polars_frame
from bakeoff.spec.errors import UsageError
from bakeoff.store.results import read_records

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

    from bakeoff.judge.explanation import Explanation, Gap, Suspect
    from bakeoff.judge.outcome import Outcome
    from bakeoff.judge.study import StudyOutcome
    from bakeoff.report.page import Page
    from bakeoff.spec.record import Record
    from bakeoff.spec.verdict import Verdict

WIDTH = 120
"""Columns of the report as text, where no terminal says how many there are."""


class _Shown:
    """What has a page: the same answer, picture and text as the report's."""

    outcome: Any

    @cached_property
    def _page(self) -> Page:
        """All that is said of it."""
        from bakeoff.report.pages import page_of

        return page_of(self.outcome)

    @property
    def headline(self) -> str:
        """The answer in a sentence."""
        return self._page.headline

    @property
    def path(self) -> Path:
        """The folder of its records and reports."""
        return Path(self.outcome.path)

    def plot(self) -> Any:
        """Return the report's charts, one below the other, as one chart of altair; raise UsageError without any."""
        from bakeoff.report.pictures import WIDE, altair, themed

        charts = [section.picture.draw(WIDE) for section in self._page.sections if section.picture]
        if not charts:
            msg = "nothing was timed, so there is nothing to draw"
            raise UsageError(msg)
        apart = dict.fromkeys(("color", "shape", "strokeDash", "fill", "stroke"), "independent")
        whole = altair().vconcat(*charts, spacing=28).resolve_scale(**apart)
        # Colours for white paper, which every viewer of altair's knows.
        return altair().VConcatChart.from_dict(themed(whole, is_on_page=False))

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the answer, its tables, and where the whole report is."""
        from bakeoff.report.forms.notebook import to_fragment

        return to_fragment(self._page)

    def __str__(self) -> str:
        """Return the report as it is printed on a terminal."""
        import io

        from bakeoff.report.forms.consoles import console
        from bakeoff.report.forms.terminal import show

        text = io.StringIO()
        show(self._page, console(text, WIDTH))
        return text.getvalue()


class ExplainedResult(_Shown):
    """Why one contender of a comparison is slower; printed, it is the report's text."""

    outcome: Explanation

    def __init__(self, explanation: Explanation) -> None:
        """Wrap an explanation."""
        self.outcome = explanation

    @property
    def path(self) -> Path:
        """The folder of the comparison that is explained."""
        return Path(self.outcome.outcome.path)

    @property
    def gaps(self) -> list[Gap]:
        """Every pair of contenders with a profile, the faster first, and the parts of their difference."""
        return self.outcome.gaps

    @property
    def suspects(self) -> list[Suspect]:
        """What was suspected, with its switch, and what a race said of it."""
        return self.outcome.suspects

    @property
    def data(self) -> dict[str, Any]:
        """The JSON object, as `bakeoff explain --json` prints it (docs/json-explain.md)."""
        return self._page.data

    def __repr__(self) -> str:
        """Return what was explained and the answer."""
        return f"<ExplainedResult {self.path.name}: {self.headline}>"


class Result(_Shown):
    """One comparison with its verdicts and records; printed, it is the report's text."""

    outcome: Outcome

    def __init__(self, outcome: Outcome) -> None:
        """Wrap a judged comparison."""
        self.outcome = outcome

    @property
    def id(self) -> str:
        """The comparison's name, which is its folder's."""
        return self.outcome.comparison.id

    @property
    def verdicts(self) -> list[Verdict]:
        """The verdict on every pair of ranked contenders."""
        return self.outcome.verdicts

    @property
    def records(self) -> dict[str, Record]:
        """Every readable record by the name of its trial, read anew."""
        return read_records(self.path).records

    @property
    def data(self) -> dict[str, Any]:
        """The JSON object, as `bakeoff report --json` prints it (docs/json.md)."""
        return self._page.data

    def to_frame(self, of: str = CONTENDERS) -> pd.DataFrame:
        """Return one row for each contender, or for each object of another list of the JSON object, such as "verdicts".

        Seconds and bytes; what is not known is missing. Columns are all keys of docs/json.md, keys of keys joined by
        dots; a contender's row has those of the comparison and the machine, too. "blocks" is every timed block, with
        the columns of docs/export.md. Raises UnknownNameError.
        """
        if of == BLOCKS:
            return exported_frame(self.outcome, self.records.values(), of)
        return frame_of(self.outcome, self.data, of)

    def to_polars(self, of: str = BLOCKS) -> pl.DataFrame:
        """Return a table of docs/export.md, "blocks" or "verdicts", with its types; integers in nanoseconds.

        Raises UnknownNameError, and UsageError where polars is not there.
        """
        return polars_frame(self.outcome, self.records.values(), of)

    def __repr__(self) -> str:
        """Name the comparison, with its answer."""
        return f"<Result {self.id}: {self.headline}>"


class StudyResult(_Shown):
    """A study with its points; printed, it is the report's text."""

    outcome: StudyOutcome

    def __init__(self, outcome: StudyOutcome) -> None:
        """Wrap a judged study."""
        self.outcome = outcome

    @property
    def id(self) -> str:
        """The study's name, which is its folder's."""
        return self.outcome.id

    @property
    def results(self) -> list[Result]:
        """The comparison of every point that was begun."""
        return [Result(outcome) for outcome in self.outcome.outcomes]

    def to_frame(self, of: str = CONTENDERS) -> pd.DataFrame:
        """Return the rows of all points, as Result.to_frame gives them, with the point's coordinates as columns."""
        import pandas as pd

        frames = [
            Result(point.outcome).to_frame(of).assign(**point.point.coordinates)
            for point in self.outcome.points
            if point.outcome is not None
        ]
        return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()

    def __repr__(self) -> str:
        """Name the study, how many of its points have a comparison, and the answer."""
        done = f"{len(self.outcome.outcomes)} of {len(self.outcome.points)} points"
        return f"<Study {self.id}: {done}; {self.headline}>"
