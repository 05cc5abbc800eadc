"""Several devices in each framework: the same work as one device on the joined batch, whatever keeps them equal."""

from __future__ import annotations

import pytest
from contract_run import DECLARED, LIMIT_S
from several_devices import CLIPPED_WAYS, FINETUNED, WAYS, certified, certified_per_sample

from bakeoff.environments.options import resolve_options
from bakeoff.spec.contender import parse_contender
from bakeoff.spec.errors import UsageError

pytestmark = pytest.mark.timeout(LIMIT_S)


@pytest.mark.parametrize(("framework", "sync", "statistics"), WAYS)
@pytest.mark.by_turns
def test_two_devices_compute_what_the_reference_computes_of_their_shards(
    framework: str, sync: str, statistics: str
) -> None:
    """Outputs, loss, gradients, clipped updates, trajectory and running statistics are those of the joined batch."""
    certificate = certified(framework, sync, statistics)
    assert certificate.passed, certificate.reason
    assert {"gradients", "update", "state"} <= {check.name for check in certificate.checks}


@pytest.mark.parametrize(("framework", "sync", "statistics"), WAYS)
@pytest.mark.by_turns
def test_two_devices_leave_frozen_parameters_as_they_are(framework: str, sync: str, statistics: str) -> None:
    """What replicas agree on are gradients of what is trained, clipped by their norm, with the rates of groups."""
    certificate = certified(framework, sync, statistics, model=FINETUNED)
    assert certificate.passed, certificate.reason
    assert {"gradients", "update", "frozen", "state"} <= {check.name for check in certificate.checks}


@pytest.mark.parametrize(("framework", "sync"), CLIPPED_WAYS)
@pytest.mark.by_turns
def test_each_device_clips_its_own_samples_and_noise_is_added_once(framework: str, sync: str) -> None:
    """Norms, the clipped mean, the step and its noise on two devices are those of all samples on one."""
    certificate = certified_per_sample(framework, sync)
    assert certificate.passed, certificate.reason
    assert {"norms", "gradients", "update", "noise"} <= {check.name for check in certificate.checks}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("tensorflow:devices=2,sync=parameter-server", "no certificate could hold"),
        ("jittor:devices=2", "mpicc"),
        ("torch:devices=2,batch_statistics=global", "SyncBatchNorm has kernels for GPUs alone"),
        ("mlx:devices=2,batch_statistics=global", "has no statistics of several processes"),
    ],
)
def test_what_cannot_be_certified_or_is_not_there_is_refused_with_its_reason(text: str, why: str) -> None:
    """A way of several devices that a framework has and bakeoff does not run says why."""
    contender = parse_contender(text)
    with pytest.raises(UsageError, match=why):
        resolve_options(DECLARED[contender.framework].info, contender, {}, 2)
