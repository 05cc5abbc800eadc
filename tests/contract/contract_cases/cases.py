"""All cases of the vocabulary: those of vocabulary.py, and of every names_*.py beside it."""

from __future__ import annotations

import importlib
from pathlib import Path

from contract_cases.vocabulary import CASES as CORE
from contract_cases.vocabulary import Case

_MORE = sorted(path.stem for path in Path(__file__).parent.glob("names_*.py"))

CASES: dict[str, Case] = dict(CORE)
for _name in _MORE:
    CASES |= importlib.import_module(f"contract_cases.{_name}").CASES
