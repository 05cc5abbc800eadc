"""Legends: as many entries side by side as there is room for, and long names on several lines."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from bakeoff.report.pictures import altair, shortened
from bakeoff.report.pictures.rows import CHARACTER, wrapped

if TYPE_CHECKING:
    from collections.abc import Sequence

_SYMBOL = 50
"""Pixels of an entry beside its name: the mark, and room to the next."""


def legend(labels: Sequence[str], width: int, **look: Any) -> Any:
    """Return a legend of these entries, in which no name is cut; `look` is what altair's Legend takes."""
    longest = max((len(label) for label in labels), default=1)
    columns = max(1, int(width / (CHARACTER * longest + _SYMBOL)))
    if columns == 1 and "labelExpr" not in look:
        names = [shortened(label) for label in labels]
        lines = {name: wrapped(name, int((width - _SYMBOL) / CHARACTER)) for name in names}
        look["labelExpr"] = f"({json.dumps(lines)})[datum.label] || datum.label"
    return altair().Legend(title=None, columns=columns, **look)
