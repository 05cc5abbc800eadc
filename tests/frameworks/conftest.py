from __future__ import annotations

import sys
from pathlib import Path

# The files beside this one import asking.py by its name.
sys.path.insert(0, str(Path(__file__).parent))
