"""The conductor: starts workers, runs rounds, stops when the statistics say so, judges from the records alone.

`bakeoff.compare` is this package and, for Python users, also the function that runs a comparison: calling the package
is calling `bakeoff.api.compare`, whichever of the two was imported first.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bakeoff.api import Result


class _CallablePackage(ModuleType):
    """A package that is a function too: importing it puts it in the function's place in the namespace of bakeoff."""

    def __call__(self, *arguments: Any, **options: Any) -> Result:
        """Run a comparison; see bakeoff.api.compare."""
        from bakeoff import api

        return api.compare(*arguments, **options)


sys.modules[__name__].__class__ = _CallablePackage
