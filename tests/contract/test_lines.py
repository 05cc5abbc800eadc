"""A workload that asks what its arrays are, and does more in one framework, has no certificate there."""

from __future__ import annotations

from pathlib import Path

import pytest
from contract_run import DECLARED, LIMIT_S

from bakeoff.race import conductor
from bakeoff.spec.request import Request

pytestmark = pytest.mark.timeout(LIMIT_S)

MODEL = Path(__file__).parents[2] / "examples" / "my_model.py"
FIRST = "            x = nn.global_avg_pool2d"


@pytest.mark.parametrize("framework", DECLARED)
@pytest.mark.by_turns
def test_work_in_one_framework_alone_is_refused(framework: str, tmp_path: Path) -> None:
    """It has the same result, so that nothing but the line that runs shows it."""
    module = DECLARED[framework].info.module.partition(".")[0]
    asks = f"            if {module!r} in str(type(x)) + type(x).__module__:\n                x = x * 1.0\n"
    text = MODEL.read_text()
    assert text.count(FIRST) == 1
    path = tmp_path / "asks.py"
    path.write_text(text.replace(FIRST, asks + FIRST))
    line = path.read_text().splitlines().index("                x = x * 1.0") + 1
    request = Request(workload=str(path), contenders=(framework,), size="reduced", results=str(tmp_path / "results"))
    (certificate,) = conductor.verify(request)
    assert not certificate.passed
    assert f"line {line} runs here and not where the comparison was fixed" in certificate.reason
