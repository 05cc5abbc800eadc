from __future__ import annotations

import msgspec
import numpy as np
import pytest

from bakeoff.certify.checks import Exhibit
from bakeoff.certify.ready_made import certify_ready_made
from bakeoff.spec.evidence import Evidence
from bakeoff.spec.scenario import Scenario
from bakeoff.spec.verdict import Certificate
from bakeoff.spec.workload import Size

SIZE = Size(batch_size=3, input_shape=(4,), classes=2, parameters=10)
OUTPUT = np.arange(6.0).reshape(3, 2)


def certified(
    scenario: Scenario = "train", output: object = OUTPUT, precision: str = "float32", **changes: object
) -> Certificate:
    """Certify a ready-made model of 12 parameters, batch 3."""
    evidence = Evidence(
        parameter_shapes={"w": (4, 2), "b": (4,)}, losses=[2.0, 1.9], outputs=2, ready_made="library.models.small"
    )
    arrays = {"output/0": np.asarray(output), "output/1": OUTPUT}
    evidence = msgspec.structs.replace(evidence, **changes)
    exhibit = Exhibit(label="one", evidence=evidence, arrays=arrays, precision=precision)
    return certify_ready_made(exhibit, size=SIZE, scenario=scenario, batch_size=3)


def test_another_number_of_parameters_is_told_and_passes() -> None:
    """A ready-made model may differ from the workload's; how far is told, and that nothing was its reference."""
    found = certified()
    assert (found.passed, found.reference, found.ready_made) == (True, "", "library.models.small")
    assert found.checks[0].detail == "12 parameters where the workload has 10"
    assert certified(parameter_shapes={"w": (5, 2)}).checks[0].detail == "10 parameters, as many as the workload has"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"output": OUTPUT.T}, r"output 0 is \(2, 3\) instead of \(3, 2\)"),
        ({"output": OUTPUT * np.nan}, "output 0 is not finite"),
        ({"output": np.where(OUTPUT == 1.0, np.inf, OUTPUT)}, "output 0 is not finite"),
        ({"output": np.ones((3, 2))}, "output 0 is the same for every sample"),
        ({"outputs": 3}, "output 2 is None"),
        ({"losses": [2.0, None]}, "losses are missing, not finite"),
        ({"losses": [2.0, 2.0]}, "do not change"),
        ({"losses": []}, "losses are missing"),
        ({"changed": 0}, "its 2 steps change none of its 2 arrays of parameters: it does not train"),
        ({"changed": 1, "parameter_shapes": dict.fromkeys("abcde", (2,))}, "its 2 steps change 1 of its 5 arrays"),
        ({"parameter_shapes": {}}, "0 parameters"),
    ],
)
def test_what_computes_nothing_is_refused(changes: dict[str, object], reason: str) -> None:
    """Outputs of another shape, constant or not finite, and losses that do not change, get no certificate."""
    found = certified(**changes)  # type: ignore[arg-type]
    assert not found.passed
    assert msgspec.json.encode(found)
    with pytest.raises(AssertionError, match=reason):
        raise AssertionError(found.reason)


def test_steps_that_change_a_parameter_are_seen() -> None:
    """A quarter of the arrays is enough, and the others are told; older records do not tell, and float16 may skip."""
    some = certified(changed=1, parameter_shapes=dict.fromkeys("abcd", (3,)))
    assert some.passed
    assert some.checks[-1].detail.endswith("; 2 steps leave 3 of its 4 arrays of parameters as they were")
    assert certified(changed=2).checks[-1].detail.endswith("nothing is constant or NaN")
    assert certified(changed=None).passed
    assert certified(changed=0, precision="float16").passed


def test_without_training_there_are_no_losses_to_see() -> None:
    """In the scenario infer the outputs alone are looked at."""
    assert certified("infer", losses=[]).passed


def test_a_scenario_that_is_not_in_the_table_is_refused() -> None:
    """Nothing certifies a ready-made model in a scenario that nobody knows."""
    found = certified("sideways")  # type: ignore[arg-type]
    assert not found.passed
    assert "nothing says which evidence the scenario 'sideways' owes" in found.reason
