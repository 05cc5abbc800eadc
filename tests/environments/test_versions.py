from __future__ import annotations

import pytest

from bakeoff.environments.declared import frameworks
from bakeoff.environments.versions import parse, pinned
from bakeoff.spec.errors import UsageError
from bakeoff.spec.framework import FrameworkInfo

REQUIREMENTS = """# The usual environment.
frame-cpu==2.0.0; sys_platform != "darwin"
frame==2.0.0; sys_platform == "darwin"
helper[all]==1.1  # what helps
numpy==2.4.6
msgspec==0.22.0
"""


def test_a_version_pins_the_framework_and_leaves_the_rest_to_pip() -> None:
    """Markers and extras stay; companions lose their pin, to fit the version; bakeoff's own keeps it."""
    info = FrameworkInfo(
        name="frame",
        title="Frame",
        module="frame",
        distributions=("frame",),
        versioned=("frame", "frame-cpu"),
        options={},
    )
    assert pinned(REQUIREMENTS, info, "1.9.0").splitlines() == [
        'frame-cpu==1.9.0; sys_platform != "darwin"',
        'frame==1.9.0; sys_platform == "darwin"',
        "helper[all]",
        "numpy",
        "msgspec==0.22.0",
    ]


def test_a_framework_with_its_version() -> None:
    """FRAMEWORK@VERSION is read; what is no version is an error that names --name."""
    assert parse("frame") == ("frame", None)
    assert parse("frame@1.9.0rc1") == ("frame", "1.9.0rc1")
    for text in ("frame@", "frame@old", "frame@../x"):
        with pytest.raises(UsageError, match="FRAMEWORK@VERSION"):
            parse(text)


@pytest.mark.parametrize("name", [name for name, found in frameworks().items() if found.info.listed])
def test_every_framework_s_pins_can_be_versioned(name: str) -> None:
    """What a framework says to share its version is among what its environment pins."""
    found = frameworks()[name]
    text = (found.path / "requirements.txt").read_text()
    lines = pinned(text, found.info, "0.0.1").splitlines()
    for distribution in found.info.versioned or found.info.distributions[:1]:
        assert any(line.startswith(f"{distribution}==0.0.1") for line in lines)
