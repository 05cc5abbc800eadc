"""The JSON object of a page as tables: every key is a column, and keys of keys are joined by dots."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bakeoff.report.export.tables import rows_of, table_named
from bakeoff.spec.errors import UnknownNameError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd
    import polars as pl

    from bakeoff.judge.outcome import Outcome
    from bakeoff.spec.record import Record

CONTENDERS, BLOCKS = "contenders", "blocks"

BY_OWN_NAMES = ("memory", "energy", "light")
"""Objects of a contender whose figures are columns by their own names, too, where it has no field of that name."""


def frame_of(outcome: Outcome, data: dict[str, Any], of: str) -> pd.DataFrame:
    """Return one row for each contender, or for each object of another list of the JSON object.

    Raises UnknownNameError for what is no list of objects.
    """
    import pandas as pd

    if of == CONTENDERS:
        shared = flat({name: value for name, value in data.items() if not is_objects(value)})
        told = enumerate(data[CONTENDERS])
        return pd.DataFrame([_contender(outcome, index, fields) | shared for index, fields in told])
    lists = [name for name, value in data.items() if is_objects(value) or (isinstance(value, list) and not value)]
    if of not in lists:
        kind = "table of a result"
        raise UnknownNameError(kind, of, [name for name, value in data.items() if is_objects(value)])
    return pd.DataFrame([{"comparison": outcome.comparison.id} | flat(one) for one in data[of]])


def exported_frame(outcome: Outcome, records: Iterable[Record], of: str) -> pd.DataFrame:
    """Return a table of docs/export.md as pandas has it, with types that know missing values: integers stay integers.

    Raises UnknownNameError for a table that there is not.
    """
    import pandas as pd

    types = {"text": "string", "integer": "Int64", "number": "Float64", "boolean": "boolean"}
    rows = rows_of(of, outcome, records)
    columns = table_named(of).columns
    return pd.DataFrame({one.name: pd.array([row[one.name] for row in rows], dtype=types[one.kind]) for one in columns})


def polars_frame(outcome: Outcome, records: Iterable[Record], of: str) -> pl.DataFrame:
    """Return a table of docs/export.md as polars has it.

    Raises UnknownNameError for a table that there is not, and UsageError where polars is not there.
    """
    columns = table_named(of).columns
    try:
        import polars as pl
    except ImportError as error:
        msg = "polars is not here: pip install 'bakeoff[export]', or take to_frame(), which is pandas'"
        raise UsageError(msg) from error
    types = {"text": pl.String, "integer": pl.Int64, "number": pl.Float64, "boolean": pl.Boolean}
    return pl.DataFrame(rows_of(of, outcome, records), schema={one.name: types[one.kind] for one in columns})


def is_objects(value: Any) -> bool:
    """Return whether a value is a list of objects, each of which is a row."""
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict)


def flat(value: dict[str, Any], before: str = "") -> dict[str, Any]:
    """Return an object with its inner objects' keys joined by dots; lists stay as they are."""
    found: dict[str, Any] = {}
    for name, item in value.items():
        if isinstance(item, dict):
            found |= flat(item, f"{before}{name}.")
        else:
            found[f"{before}{name}"] = item
    return found


def _contender(outcome: Outcome, index: int, fields: dict[str, Any]) -> dict[str, Any]:
    """Return one contender's row: what was compared, its step time, then every field."""
    step, comparison = outcome.contenders[index].step_s, outcome.comparison
    own = {name: value for key in BY_OWN_NAMES for name, value in (fields[key] or {}).items()}
    told = flat(fields)
    return (
        {
            "comparison": comparison.id,
            "workload": comparison.workload.name,
            "scenario": comparison.scenario,
            "batch_size": comparison.batch_size,
            "contender": told.pop("label"),
            "status": told.pop("status"),
            "step_s": told.pop("step_s"),
            "low_s": step.low if step else None,
            "high_s": step.high if step else None,
        }
        | told
        | {name: value for name, value in own.items() if name not in told and not isinstance(value, dict | list)}
    )
