"""Planted faults in the steps of real frameworks' timed trials, which the certificate's own trial does not have."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import bakeoff.frameworks
from bakeoff.environments import declared
from bakeoff.race import conductor
from bakeoff.spec.request import Request

SKIPS = """\
        self._calls = getattr(self, "_calls", 0) + 1
        if "r01-" in str(sys.argv) and self._calls % 2 == 0:
            return
        inputs, targets = batch
        self._optimizer.zero_grad()
"""

FORGETS = """\
        if "r01-" in str(sys.argv):
            parameters, optimizer = state.parameters, state.optimizer
        return State(parameters, optimizer, statistics, key, scale), loss
"""

FUTURE = "from __future__ import annotations\n\nimport sys\n"

FAULTS = {"torch": (SKIPS, "it skips steps"), "jax": (FORGETS, "it does not train")}
"""By framework, what stands in its engine.py where the fault's last lines have stood alone, and what the finding says.

The faults are in timed trials alone, whose folder a worker is started with: in its own trial the certificate sees them.

torch  every second step does nothing
jax    the new parameters are not kept, so that XLA drops the whole backward pass
"""


@pytest.fixture(params=FAULTS)
def faulty(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    """Plant a fault in a copy of all frameworks' folders; return the framework's name and what is to be found."""
    framework = request.param
    fault, says = FAULTS[framework]
    honest = "".join(fault.splitlines(keepends=True)[{"torch": 3, "jax": 2}[framework] :])
    folders = tmp_path / "frameworks"
    shutil.copytree(Path(str(bakeoff.frameworks.__file__)).parent, folders)
    engine = folders / framework / "engine.py"
    text = engine.read_text()
    assert text.count(honest) == 1
    engine.write_text(text.replace(honest, fault).replace("from __future__ import annotations\n", FUTURE))
    monkeypatch.setattr(declared, "_shipped", lambda: folders)
    return framework, says


def test_a_fault_in_a_real_step_takes_the_rank_away(faulty: tuple[str, str], tmp_path: Path) -> None:
    """The certificate passes, and the timed trials' own losses show that training does not go on."""
    framework, says = faulty
    request = Request(
        workload="mlp-mnist",
        contenders=(framework,),
        size="reduced",
        data="synthetic",
        results=str(tmp_path / "results"),
        max_rounds=1,
        self_test=False,
    )
    (only,) = conductor.run(request).contenders
    assert only.certificate is not None
    assert only.certificate.passed, only.certificate.reason
    assert (only.status, only.rounds) == ("refused", 1), only.reason
    assert says in only.reason
