from __future__ import annotations

MUTANTS: list = []
