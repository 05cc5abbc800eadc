"""Pages as JSON, for programs; docs/json.md and its neighbours document every key."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bakeoff.report.page import Page


def to_json(pages: Sequence[Page]) -> str:
    """Return the object of one page, or the list of those of several."""
    told: list[dict[str, Any]] = [page.data for page in pages]
    return json.dumps(told[0] if len(told) == 1 else told, indent=2)
